"""A child process dies exactly where its trigger says, and leaves what a killed one would."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection, connections, transaction

from batchui.batches.phrases import rows_phrase
from batchui.chaos.triggers import KILLED, Trigger, arm
from batchui.teams.models import Team

pytestmark = pytest.mark.django_db(transaction=True)


def died(act: Callable[[], object], trigger: Trigger) -> bool:
    """Whether a child that does `act` dies by this trigger."""
    connections.close_all()
    child = os.fork()
    if not child:
        try:
            arm(trigger)
            act()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED


def how_many(act: Callable[[], object], kind: str, most: int = 200) -> int:
    """At how many places of a kind a child can die."""
    places = [nth for nth in range(1, most) if died(act, Trigger(kind, nth))]
    assert places == list(range(1, len(places) + 1))
    return len(places)


def two_teams() -> None:
    with transaction.atomic():
        Team.objects.create(name="first")
        Team.objects.create(name="second")


def test_before_each_statement_and_after_it() -> None:
    """Begin, two inserts and the commit: only what is after the commit leaves anything."""
    left = []
    statements = how_many(two_teams, "statement", most=20)
    for nth in range(1, statements + 1):
        for after in (False, True):
            Team.objects.all().delete()
            assert died(two_teams, Trigger("statement", nth, after=after))
            left.append(Team.objects.count())
    assert left == [0] * (2 * statements - 1) + [2]


def test_at_each_line_of_the_product_and_at_no_other() -> None:
    assert how_many(lambda: rows_phrase(2), "line", most=20) >= 2
    assert how_many(lambda: sorted([2, 1]), "line", most=5) == 0


def test_at_each_file_operation(files_in: Path, settings: object) -> None:
    settings.DATA = files_in.parent  # type: ignore[attr-defined]

    def store() -> None:
        default_storage.save("batches/x/file", ContentFile(b"content"))

    whole = files_in / "batches/x/file"
    before = []
    for nth in range(1, 30):
        whole.unlink(missing_ok=True)
        if not died(store, Trigger("file", nth)):
            break
        before.append(whole.exists())
        assert not whole.exists() or whole.read_bytes() == b"content"
    # It appears at once, and after that its folder is synced.
    assert before[0] is False
    assert before[-1] is True
    assert len(before) >= 4


def test_a_trigger_beyond_the_end_leaves_the_step_alone() -> None:
    assert not died(two_teams, Trigger("statement", 50))
    assert Team.objects.count() == 2


def test_this_process_is_not_armed() -> None:
    assert connection.execute_wrappers == []
