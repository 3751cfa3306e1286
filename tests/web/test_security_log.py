"""The security log: what it tells, in which form, and what is never in it."""

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from batchui import logs, security_log
from batchui.batches import making
from batchui.batches.exporting import Choice
from batchui.batches.models import Batch
from batchui.environment import Environment
from batchui.sandbox.testing import RunningSandbox
from batchui.teams import connections, invitations, members
from batchui.teams.models import Role, User
from tests.batches.conftest import MakeBatch, rows, work
from tests.teams.people import PASSWORD, join, outsider, set_up
from tests.web.visiting import signed_in

pytestmark = pytest.mark.django_db
Noted = Callable[[], list[dict[str, str]]]


@pytest.fixture
def noted(caplog: pytest.LogCaptureFixture) -> Noted:
    """The events since the last call, each with its facts."""
    caplog.set_level(logging.INFO, "batchui.security")

    def read() -> list[dict[str, str]]:
        found = [
            {"event": record.getMessage(), **record.__dict__["facts"]}
            for record in caplog.records
            if record.name == "batchui.security"
        ]
        caplog.clear()
        return found

    return read


def test_who_comes_in_and_who_does_not(noted: Noted) -> None:
    ana = set_up()
    noted()
    browser = Client(REMOTE_ADDR="198.51.100.7")
    page = reverse("account_login")
    for attempt in ("wrong", PASSWORD):
        browser.post(page, {"login": "Ana@example.com", "password": attempt})
    browser.post(reverse("account_logout"))
    here = {"address": "198.51.100.7"}
    assert noted() == [
        {"event": "sign-in failed", "whom": "ana@example.com", **here},
        {"event": "signed in", "who": f"{ana.pk} ana@example.com", **here},
        {"event": "signed out", "who": f"{ana.pk} ana@example.com", **here},
    ]
    for _ in range(6):
        browser.post(page, {"login": "ana@example.com", "password": "wrong"})
    assert noted()[-1] == {"event": "sign-in throttled", "whom": "ana@example.com", **here}


def test_links_and_what_became_of_them(noted: Noted) -> None:
    ana = set_up()
    team = ana.membership.team
    noted()
    _, token = invitations.create(team, by=ana, role=Role.MEMBER)
    ben = invitations.accept(token, name="Ben", email="ben@example.com", password=PASSWORD)
    _, for_ben = invitations.create_password_link(ben.membership, by=ana)
    invitations.choose_password(for_ben, password="slate-harbour-31")
    other, _ = invitations.create(team, by=ana, role=Role.ADMIN)
    invitations.withdraw(other, by=ana)
    assert Client().get(reverse("join", args=[token])).status_code == 410
    told = noted()
    assert [one["event"] for one in told] == [
        "invitation made",
        "joined",
        "password link made",
        "password chosen by a link",
        "invitation made",
        "link withdrawn",
        "link refused",
    ]
    made, joined, for_password = told[:3]
    assert made["who"] == ana.in_log
    assert joined["who"] == ben.in_log
    assert made["link"] == joined["link"]
    assert (for_password["who"], for_password["whom"]) == (ana.in_log, ben.in_log)
    assert token not in json.dumps(told)


def test_what_is_changed_about_people(noted: Noted) -> None:
    ana = set_up()
    ben = join(ana)
    browser = signed_in(ben)
    noted()
    new = {"oldpassword": PASSWORD, "password1": "slate-harbour-31"}
    browser.post(reverse("account_change_password"), new | {"password2": "slate-harbour-31"})
    members.change_role(ben.membership, role=Role.ADMIN, by=ana)
    members.remove(ben.membership, by=ana)
    events = [(one["event"], one.get("who"), one.get("role")) for one in noted()]
    assert ("password changed", ben.in_log, None) in events
    assert ("role changed", ana.in_log, "admin") in events
    assert ("removed", ana.in_log, None) in events


def test_who_took_what_and_who_was_not_allowed_to(
    noted: Noted,
    ana: User,
    web: Client,
    sandbox: RunningSandbox,
    start: MakeBatch,
    receive: MakeBatch,
) -> None:
    batch, draft = work(start(rows(3))), receive(b"id,text\n1,x\n2\n")
    export = making.ask_for(batch, "ods", Choice(), by=ana)
    noted()
    for address in (
        reverse("download", args=[batch.pk, "csv"]),
        reverse("export_file", args=[batch.pk, export.pk]),
        reverse("row_problems_download", args=[draft.pk]),
        reverse("source", args=[batch.pk]),
        reverse("raw_reply", args=[batch.pk, 1, 1]),
    ):
        response: Any = web.get(address)
        assert b"".join(response.streaming_content)
    stranger = outsider()
    assert signed_in(stranger).get(batch.get_absolute_url()).status_code == 404
    ben = join(ana)
    assert signed_in(ben).post(reverse("people_invite"), {"role": "admin"}).status_code == 403
    web.post(reverse("delete", args=[batch.pk]))
    events = [(one["event"], one.get("who"), one.get("what")) for one in noted()]
    taken = ("csv", "ods", "bad rows", "upload", "raw reply")
    for expected in [
        *(("downloaded", ana.in_log, what) for what in taken),
        ("batch of another team", stranger.in_log, None),
        ("not allowed", ben.in_log, None),
        ("batch deleted", ana.in_log, None),
    ]:
        assert expected in events
    assert Batch.objects.get(pk=batch.pk).deleted_by == ana


def test_a_connection_that_is_made_or_changed(noted: Noted, ana: User, settings: Settings) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID = "0123456789abcdef0123456789abcdef"
    for token in ("first-token-0123456789", "second-token-0123456789"):
        settings.CLOUDFLARE_API_TOKEN = token
        connections.ensure_connection(ana.membership.team)
    told = [one for one in noted() if one.get("kind") == "rest"]
    assert [one["event"] for one in told] == ["connection made", "connection changed"]
    assert "token-0123456789" not in json.dumps(told)


# -- the lines ----------------------------------------------------------------------------------


def record(message: str, **extra: Any) -> logging.LogRecord:
    made = logging.makeLogRecord({"name": "batchui.security", "levelname": "INFO", "msg": message})
    made.created = datetime(2026, 11, 22, 8, 30, tzinfo=UTC).timestamp()
    made.__dict__.update(extra)
    return made


def test_a_plain_line_has_the_time_and_keeps_strangers_texts_in_quotes() -> None:
    line = logs.PlainLines().format(
        record("sign-in failed", facts={"whom": 'x" INFO batchui\n2026 INFO: all is well'})
    )
    assert line == (
        "2026-11-22T08:30:00Z INFO batchui.security: sign-in failed "
        'whom="x\\" INFO batchui\\n2026 INFO: all is well"'
    )
    assert logs.PlainLines().format(record("a\nb")).endswith(": a b")


def test_a_json_line_is_one_object() -> None:
    line = logs.JsonLines().format(record("signed in", facts={"who": "3 ana@example.com"}))
    assert json.loads(line) == {
        "time": "2026-11-22T08:30:00Z",
        "level": "INFO",
        "logger": "batchui.security",
        "message": "signed in",
        "who": "3 ana@example.com",
    }


@pytest.mark.parametrize("formatter", [logs.PlainLines(), logs.JsonLines()])
def test_an_error_is_logged_with_where_it_happened(formatter: logging.Formatter) -> None:
    try:
        raise ValueError("here")
    except ValueError as error:
        found = (type(error), error, error.__traceback__)
    line = formatter.format(record("oh", exc_info=found))
    assert "ValueError: here" in line
    assert "test_security_log" in line


def test_the_form_of_the_log_is_chosen_by_a_setting() -> None:
    chosen = Environment({"BATCHUI_LOG_FORMAT": "JSON"})
    assert chosen.choice("BATCHUI_LOG_FORMAT", "plain", "json") == "json"
    assert Environment({}).choice("BATCHUI_LOG_FORMAT", "plain", "json") == "plain"
    wrong = Environment({"BATCHUI_LOG_FORMAT": "xml"})
    assert wrong.choice("BATCHUI_LOG_FORMAT", "plain", "json") == "plain"
    assert wrong.problems[0].sentence.endswith("which is none of: plain, json.")


def test_a_long_fact_is_cut_and_an_absent_one_left_out(noted: Noted) -> None:
    security_log.record("tried", whom="x" * 5_000, who=None)
    assert noted() == [{"event": "tried", "whom": "x" * security_log.LONGEST_FACT}]
