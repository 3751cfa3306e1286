"""What batchui does not recognise of Cloudflare is kept as it came, for whoever asks for it."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches import trying
from batchui.batches.models import Attempt, Batch
from batchui.batches.states import AttemptStatus, PartStatus
from batchui.batches.try_models import TriedStatus
from batchui.cloudflare.errors import error_for
from batchui.cloudflare.redaction import LONGEST_RAW, as_it_came
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, accepted, poll_all, rows, send_all
from tests.web.visiting import HTMX, html

pytestmark = pytest.mark.django_db

ODD = {"fault": "error", "code": 4711, "message": "The <dog> ate it", "times": 0}


def technical_details(web: Client, batch: Batch, address: str, *args: Any) -> str:
    return html(web.get(reverse(address, args=[batch.pk, *args]), headers=HTMX))


def test_a_code_nobody_knows_is_kept_when_sending(
    sandbox: RunningSandbox, start: MakeBatch, web: Client
) -> None:
    sandbox.script({**ODD, "call": "submit", "status": 418})
    batch = start(rows(1))
    send_all()
    attempt = Attempt.objects.get()
    assert (attempt.status, attempt.code) == (AttemptStatus.REFUSED, 4711)
    assert json.loads(attempt.raw)["errors"] == [{"code": 4711, "message": "The <dog> ate it"}]
    for shown in (
        technical_details(web, batch, "part", 1),
        technical_details(web, batch, "row_reply", 2),
    ):
        assert "<dd>4711</dd>" in shown
        assert "The &lt;dog&gt; ate it" in shown
        assert "did not recognise" in shown


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        ({**ODD, "status": 400}, "The <dog> ate it"),
        ({"fault": "error", "status": 502}, "<h1>502</h1>"),
        ({"fault": "batch_failed", "form": "no_array"}, '"usage"'),
        ({"fault": "batch_failed", "form": "bare"}, '{"success":true,"errors":[],"messages":[]}'),
        ({"fault": "garbage", "body": "<p>Gone\nfishing</p>"}, "<p>Gone\nfishing</p>"),
    ],
)
def test_a_poll_that_is_not_recognised_is_kept_and_made_again(
    sandbox: RunningSandbox, start: MakeBatch, web: Client, step: dict[str, Any], kept: str
) -> None:
    batch = accepted(start)
    sandbox.script({**step, "call": "poll"})
    poll_all()
    attempt = Attempt.objects.get()
    assert kept in attempt.raw
    assert (attempt.status, attempt.part.status) == (AttemptStatus.ACCEPTED, PartStatus.QUEUED)
    assert "did not recognise" in technical_details(web, batch, "part", 1)
    sandbox.script()
    poll_all()
    attempt.refresh_from_db()
    assert attempt.status == AttemptStatus.ANSWERED
    assert kept in attempt.raw  # for whoever asks later what that was


@pytest.mark.parametrize("form", ["failed", "error", "errors"])
def test_a_request_that_failed_as_a_whole_is_kept_as_it_came(
    sandbox: RunningSandbox, start: MakeBatch, form: str
) -> None:
    accepted(start)
    sandbox.script({"fault": "batch_failed", "form": form, "message": "It fell over"})
    poll_all()
    attempt = Attempt.objects.get()
    assert (attempt.status, attempt.part.failed) == (AttemptStatus.REFUSED, 10)
    assert json.loads(attempt.raw)["result"]["status"] == ("error" if form == "error" else "failed")


@pytest.mark.parametrize("code", [3021, 3036, 3040, 10000, 5001])
def test_of_what_is_recognised_nothing_is_kept(
    sandbox: RunningSandbox, start: MakeBatch, web: Client, code: int
) -> None:
    batch = accepted(start)
    sandbox.script({"fault": "error", "code": code, "call": "poll"})
    poll_all()
    assert Attempt.objects.get().raw == ""
    assert "did not recognise" not in technical_details(web, batch, "part", 1)


def test_what_holds_parts_up_is_kept_too(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({**ODD, "call": "submit", "status": 403})
    start(rows(1))
    send_all()
    attempt = Attempt.objects.get()
    assert attempt.status == AttemptStatus.BUSY
    assert "ate it" in attempt.raw


def test_a_try_names_the_code_that_nobody_knows(sandbox: RunningSandbox) -> None:
    class Odd:
        def run(self, model: str, item: bytes) -> bytes:
            body = b'{"errors":[{"code":4711,"message":"The dog ate it"}]}'
            raise error_for(self.status, body, None, submitting=True)

        status = 400

    client: Any = Odd()
    refused = trying.post(client, model="", item=b"{}")
    Odd.status = 500
    unclear = trying.post(client, model="", item=b"{}")
    assert isinstance(refused, trying.Told)
    assert isinstance(unclear, trying.Told)
    assert [refused.status, unclear.status] == [TriedStatus.FAILED, TriedStatus.UNCLEAR]
    assert all(told.error.endswith("Cloudflare's code: 4711.") for told in (refused, unclear))


def test_a_long_reply_is_kept_by_its_beginning_and_without_tokens() -> None:
    long = as_it_came(b"x" * (LONGEST_RAW + 1))
    assert long == "x" * LONGEST_RAW + " …"
    token = b'{"authorization": "Bearer abcdef", "other": "cfat_0123456789abcdefgh"}\n\tso\x00'
    assert as_it_came(token) == '{"authorization": "[token]", "other": "[token]"}\n\tso'
    assert as_it_came(b"\xff\xfe") == "��"
