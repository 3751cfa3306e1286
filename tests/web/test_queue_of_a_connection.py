"""An administrator names the queue that tells an account's events."""

import pytest
from django.test import Client
from django.urls import reverse

from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, User
from tests.teams.people import join, outsider
from tests.web.test_connections_page import LIST, cloudflare, connected, listed
from tests.web.visiting import HTMX, html, said, signed_in

__all__ = ["cloudflare"]
pytestmark = pytest.mark.django_db


def test_a_queue_is_named_once_it_can_be_looked_into_and_taken_away(
    web: Client, ana: User, cloudflare: RunningSandbox
) -> None:
    connection = connected(ana, cloudflare.base_url)
    address = reverse("connection_queue", args=[connection.pk])

    def says(queue_id: str) -> str:
        return html(web.post(address, {"queue_id": queue_id}, follow=True))

    assert "letters, digits and hyphens only" in says("../../ai/run")
    away = {"fault": "error", "code": 10000, "status": 403, "call": "pull"}
    cloudflare.script(away)
    assert "cannot be looked into" in says("queue-1")
    cloudflare.script(away)
    there = web.post(address, {"queue_id": "queue-1"}, headers=HTMX)  # what was typed stays
    assert there.status_code == 422
    assert 'value="queue-1"' in html(there)
    assert "cannot be looked into" in said(there)
    connection.refresh_from_db()
    assert connection.queue_id == ""
    cloudflare.script()
    assert web.post(address, {"queue_id": "q"}, headers=HTMX)["HX-Redirect"] == LIST
    assert "The queue can be looked into" in says(" queue-1 ")
    assert "A queue tells when answers are there." in listed(web)
    Connection.objects.update(events_problem="It is away.")
    assert "asks from time to time: It is away." in listed(web)
    assert "No queue is used." in says("")
    connection.refresh_from_db()
    assert (connection.queue_id, connection.events_problem) == ("", "")


def test_only_an_administrator_names_a_queue_and_only_for_an_account(
    web: Client, ana: User, cloudflare: RunningSandbox
) -> None:
    connection = connected(ana, cloudflare.base_url)
    address = reverse("connection_queue", args=[connection.pk])
    assert signed_in(join(ana)).post(address, {"queue_id": "q"}).status_code == 403
    assert signed_in(outsider()).post(address, {"queue_id": "q"}).status_code == 404
    Connection.objects.filter(pk=connection.pk).update(kind="worker")
    page = html(web.post(address, {"queue_id": ""}, follow=True))
    assert "Only an account that is called by its API token" in page
    Connection.objects.filter(pk=connection.pk).update(kind="rest")
    assert f'data-opens="queue-{connection.pk}"' in html(web.get(LIST))
