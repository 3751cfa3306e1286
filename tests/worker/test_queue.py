"""The queue of a worker: what django-q2's own broker gives, for less."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.conf import Conf
from django_q.models import OrmQ

from batchui.worker.queue import LOOKS, CalmBroker

pytestmark = pytest.mark.django_db


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> CalmBroker:
    monkeypatch.setattr(Conf, "POLL", 0.01)
    return CalmBroker("worker:one")


def enqueue(key: str = "worker:one", *, lock: timedelta = timedelta()) -> OrmQ:
    return OrmQ.objects.create(key=key, payload="x", lock=timezone.now() + lock)


def test_the_cluster_uses_it() -> None:
    assert isinstance(get_broker(), CalmBroker)
    assert settings.Q_CLUSTER["poll"] == 0.2


def test_a_task_is_taken_once(broker: CalmBroker) -> None:
    task = enqueue()
    assert broker.dequeue() == [(task.pk, "x")]
    assert broker.dequeue() is None
    task.refresh_from_db()
    assert task.lock > timezone.now() + timedelta(seconds=Conf.RETRY - 60)


def test_tasks_of_others_and_those_that_are_taken_stay(broker: CalmBroker) -> None:
    enqueue("worker:other")
    enqueue(lock=timedelta(minutes=1))
    assert [broker.dequeue() for _ in range(LOOKS + 1)] == [None] * (LOOKS + 1)


def test_an_empty_queue_is_waited_for(broker: CalmBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Conf, "POLL", 0.2)
    began = time.monotonic()
    assert broker.dequeue() is None
    assert time.monotonic() - began >= 0.2


def test_an_empty_queue_is_asked_django_qs_own_question_now_and_then(broker: CalmBroker) -> None:
    with CaptureQueriesContext(connection) as asked:
        for _ in range(LOOKS):
            broker.dequeue()
    own = [query["sql"] for query in asked if "payload" in query["sql"]]
    assert (len(own), len(asked)) == (1, LOOKS)


@pytest.mark.django_db(transaction=True)
def test_a_task_is_found_although_the_database_was_away_a_moment_ago(broker: CalmBroker) -> None:
    def away(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith("SELECT 1"):
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, *rest)

    task = enqueue()
    with connection.execute_wrapper(away):
        assert broker.dequeue() == [(task.pk, "x")]
