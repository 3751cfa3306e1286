"""The page of a batch: how it goes, its rows, and what a person may do with it."""

import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import call_limit, checking, due, lifecycle, sending
from batchui.batches.exporting import KINDS
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, User
from batchui.web import pages
from batchui.worker.heartbeat import beat
from batchui.worker.sweep import sweep
from tests.batches.conftest import (
    CHAT_COMPLETIONS,
    MakeBatch,
    another_account,
    rows,
    send_all,
    work,
)
from tests.teams.people import join, outsider
from tests.web.visiting import HTMX, element, html, said, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(start: MakeBatch) -> Batch:
    """Sixty rows in three parts, nothing sent yet."""
    return start(rows(60))


def page(web: Client, batch: Batch, name: str = "batch", query: str = "", *args: object) -> str:
    return said(web.get(f"{reverse(name, args=[batch.pk, *args])}{query}"))


def press(web: Client, batch: Batch, name: str, *args: object) -> str:
    """Press a button; returns the page it leads to, messages included."""
    response = web.post(reverse(name, args=[batch.pk, *args]), follow=True)
    assert response.status_code == 200
    return html(response)


# -- how it goes --------------------------------------------------------------------------------


def test_the_page_shows_status_counts_parts_rows_and_events(web: Client, batch: Batch) -> None:
    shown = page(web, batch)
    assert "Queued" in shown
    assert "0 of 60 answered" in shown
    assert "60 waiting" in shown.replace("waiting 60", "60 waiting")
    assert "3 of 3 Ready 51–60 0 of 10" in shown
    assert "Summarise: text number 1" in shown
    assert "Cut into 3 parts." in shown
    assert "1–25 of 60 rows" in shown


def test_everything_that_was_asked_shows(web: Client, start: MakeBatch) -> None:
    batch = start(
        rows(3),
        instruction="Be brief.",
        temperature=0,
        max_tokens=2_000,
        reference_column="id",
        options={"top_p": 0.9},
        skip_invalid=True,
        resend_once=True,
    )
    asked = page(web, batch).split("What was asked")[1]
    for shown in (
        "What to ask of every row Summarise: {{text}}",
        "Instruction for all rows Be brief.",
        "Longest answer 2,000 tokens",
        "Temperature 0 ",
        "Reference id",
        'Further options {"top_p": 0.9}',
        "Skip rows that cannot be asked Yes",
        "send it again once Yes",
    ):
        assert shown in asked


def test_what_was_not_asked_does_not_show(web: Client, start: MakeBatch) -> None:
    asked = page(web, start(rows(3), source_lang="en")).split("What was asked")[1]
    for label in ("Instruction", "Temperature", "Reference", "options", "again", "Language"):
        assert label not in asked
    lines = start(b'{"prompt": "one"}\n', "items.jsonl", as_items=True, model=CHAT_COMPLETIONS)
    asked = page(web, lines).split("What was asked")[1]
    assert "send them as they are Yes" in asked
    assert "What to ask of every row" not in asked


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_download_is_offered(web: Client, batch: Batch, kind: str) -> None:
    shown = html(web.get(batch.get_absolute_url()))
    link = shown.split(f'href="{reverse("download", args=[batch.pk, kind])}"')[1].split("</a>")[0]
    assert KINDS[kind].label in link


MADE_UP = "the answers are made up"


def test_answers_of_the_sandbox_are_called_made_up_after_an_account_is_connected(
    web: Client, sandbox: RunningSandbox, batch: Batch, settings: Any
) -> None:
    assert "How to get real answers" in html(web.get(batch.get_absolute_url()))
    another_account(settings)
    shown = html(web.get(batch.get_absolute_url()))
    assert MADE_UP in shown
    assert "To get real answers, run this batch again." in shown
    assert "How to get real answers" not in shown
    assert MADE_UP not in html(web.get(reverse("new")))


def test_answers_of_an_account_are_not_called_made_up_after_it_is_gone(
    web: Client, sandbox: RunningSandbox, start: MakeBatch, settings: Any
) -> None:
    another_account(settings)
    batch = start(rows(3))
    settings.CLOUDFLARE_ACCOUNT_ID = ""
    assert MADE_UP not in html(web.get(batch.get_absolute_url()))
    assert MADE_UP in html(web.get(reverse("new")))


def test_a_draft_is_told_by_the_account_to_which_start_would_send_it(
    web: Client, receive: MakeBatch, settings: Any
) -> None:
    draft = receive(rows(3))
    assert MADE_UP in html(web.get(draft.get_absolute_url()))
    another_account(settings)
    shown = html(web.get(draft.get_absolute_url()))
    assert MADE_UP not in shown
    assert "Your Cloudflare account is charged" in shown


def test_the_live_part_says_nothing_while_nothing_changed(web: Client, batch: Batch) -> None:
    live = reverse("live", args=[batch.pk])
    response = web.get(f"{live}?seen={batch.version}", headers=HTMX)
    assert (response.status_code, response.content) == (204, b"")
    send_all()
    changed = web.get(f"{live}?seen={batch.version}&was=queued", headers=HTMX)
    assert changed.status_code == 200
    assert "batch-changed" in changed["HX-Trigger"]
    batch.refresh_from_db()
    assert f"seen={batch.version}&amp;was={batch.status}" in element(html(changed), "live")


def test_the_title_says_how_far_it_is_and_the_end_is_announced(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    live = f"{reverse('live', args=[batch.pk])}?seen=0&was=queued"
    under_way = html(web.get(live, headers=HTMX))
    assert "<title>0% · texts · batchui</title>" in under_way
    assert "announcement" not in under_way
    work(batch)
    ended = html(web.get(live, headers=HTMX))
    assert "<title>Finished: texts · batchui</title>" in ended
    assert "Finished: 60 of 60 answered" in ended.split('id="announcement"')[1]
    assert "<title>Finished: texts · batchui</title>" in html(web.get(batch.get_absolute_url()))


def test_it_says_when_nobody_works(web: Client, batch: Batch) -> None:
    assert "Background work is not running" in page(web, batch)
    beat()
    assert "Background work is not running" not in page(web, batch)


def test_parts_have_pages(web: Client, batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PARTS_PAGE", 2)
    first = page(web, batch, "parts")
    assert "1 of 3" in first
    assert "3 of 3" not in first
    assert "1–2 of 3 parts" in first
    assert "3 of 3" in page(web, batch, "parts", "?parts=2")
    assert "parts=2" in element(
        html(web.get(f"{reverse('parts', args=[batch.pk])}?parts=2")), "parts"
    )


def test_technical_details_of_a_part(web: Client, sandbox: RunningSandbox, batch: Batch) -> None:
    assert "Not sent yet." in page(web, batch, "part", "", 1)
    work(batch)
    shown = page(web, batch, "part", "", 1)
    attempt = batch.parts.get(number=1).attempts.get()
    assert attempt.request_id in shown
    reply = web.get(reverse("raw_reply", args=[batch.pk, 1, 1]))
    assert b'"responses"' in b"".join(reply.streaming_content)  # type: ignore[attr-defined]
    assert web.get(reverse("part", args=[batch.pk, 99])).status_code == 404


# -- rows ---------------------------------------------------------------------------------------


def test_rows_have_filters_and_pages(web: Client, sandbox: RunningSandbox, batch: Batch) -> None:
    sandbox.script({"fault": "failed", "items": [0], "times": 3})
    batch = work(batch)
    assert batch.failed == 3
    assert "All 60 Answered 57 Needs attention 3" in page(web, batch, "rows")
    attention = html(web.get(f"{reverse('rows', args=[batch.pk])}?shown=attention"))
    assert attention.count("<tr>") == 1 + 3
    assert attention.count('data-status="failed"') == 3
    second = page(web, batch, "rows", "?shown=answered&rows=3")
    assert "51–57 of 57 rows" in second
    assert 'aria-current="true"' in element(attention, "show-attention")
    assert "All 60" in page(web, batch, "rows", "?shown=nonsense&rows=x")


def test_a_filter_without_rows_says_so(web: Client, batch: Batch) -> None:
    assert "No row is answered yet." in page(web, batch, "rows", "?shown=answered")
    assert "No row needs attention." in page(web, batch, "rows", "?shown=attention")


def test_a_long_answer_is_cut_in_the_table_and_opens_in_full(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    long = "a word and " * 200
    batch = work(start(f"id,text\n1,{long}the end\n2,short\n".encode()))
    table = page(web, batch, "rows")
    assert "the end" not in table
    assert table.count("Show in full") == 1
    row = page(web, batch, "row", "", 1)
    assert f"Summarise: {long}the end" in row
    assert "The row in the file" in row
    assert "Row 2" in row
    assert "Row 1" in page(web, batch, "row", "", 2)


@pytest.mark.parametrize("number", [0, 61, 10**12])
def test_a_row_that_is_not_there_is_not_found(web: Client, batch: Batch, number: int) -> None:
    response = web.get(reverse("row", args=[batch.pk, number]))
    assert response.status_code == 404
    assert f"This batch has no row {number:,}." in said(response)


def test_a_skipped_row_says_why(web: Client, sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = work(start(b"id,text\n1,a\n2,\n", skip_invalid=True))
    shown = page(web, batch, "rows", "?shown=attention")
    assert "Row 2 (line 3), column “text”: the cell is blank" in shown
    assert "Row 2 (line 3), column “text”" in page(web, batch, "row", "", 2)


# -- what a person may do -----------------------------------------------------------------------


def test_stop_sends_nothing_more(web: Client, batch: Batch) -> None:
    shown = page(web, batch)
    assert "were already sent cannot be called back" in shown
    assert "Stopped. Answers to rows that were already sent still come in." in press(
        web, batch, "stop"
    )
    batch.refresh_from_db()
    assert (batch.status, batch.unsent) == (BatchStatus.STOPPED, 60)
    assert due.ready_parts(10) == []


def test_a_stale_stop_says_that_a_colleague_was_quicker(
    web: Client, ana: User, batch: Batch
) -> None:
    press(signed_in(join(ana)), batch, "stop")
    assert "There was nothing to stop. A colleague may have been quicker." in press(
        web, batch, "stop"
    )
    assert batch.events.filter(text__startswith="Stop was pressed").count() == 1


def test_retry_sends_only_rows_without_an_answer(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "failed", "items": [4]})
    batch = work(batch)
    assert "Retry 1 row without an answer" in page(web, batch)
    assert "1 row is sent again." in press(web, batch, "retry")
    batch = work(Batch.objects.get(pk=batch.pk))
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 60)
    assert [a.items for p in batch.parts.all() for a in p.attempts.all()] == [25, 1, 25, 10]
    assert "There was nothing to retry" in press(web, batch, "retry")


def test_run_again_makes_a_draft_that_can_be_changed(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    batch = work(batch)
    shown = press(web, batch, "run_again")
    assert "This is a new draft with the same file and settings." in shown
    copy = Batch.objects.exclude(pk=batch.pk).get()
    assert (copy.name, copy.template, copy.model) == ("texts (2)", batch.template, batch.model)
    checking.check_file(copy.pk)
    assert "Start: 60 rows" in page(web, copy)


def test_delete_asks_first_and_then_says_who_did_it(
    web: Client, ana: User, sandbox: RunningSandbox, batch: Batch
) -> None:
    assert "This batch has not ended yet. Stop it first, then delete it." in press(
        web, batch, "delete"
    )
    batch = work(batch)
    assert "Delete this batch?" in page(web, batch)
    assert "“texts” was deleted." in press(signed_in(join(ana)), batch, "delete")
    gone = web.get(batch.get_absolute_url())
    assert gone.status_code == 410
    assert "Ben deleted “texts” on" in said(gone)
    for address in ("rows", "live", "source"):
        assert web.get(reverse(address, args=[batch.pk])).status_code == 410
    assert web.post(reverse("retry", args=[batch.pk])).status_code == 410
    assert web.get(reverse("live", args=[batch.pk]), headers=HTMX)["HX-Refresh"] == "true"


@pytest.mark.parametrize(
    "name",
    [
        *("batch", "live", "parts", "timeline", "rows", "rows_filter"),
        *("checking", "source"),
    ],
)
def test_another_teams_batch_is_not_found(batch: Batch, name: str) -> None:
    stranger = signed_in(outsider())
    response = stranger.get(reverse(name, args=[batch.pk]))
    assert response.status_code == 404
    assert "There is no such batch in your team." in said(response)


@pytest.mark.parametrize("name", ["stop", "retry", "run_again", "delete", "try_now", "start"])
def test_another_team_changes_nothing(batch: Batch, name: str) -> None:
    stranger = signed_in(outsider())
    assert stranger.post(reverse(name, args=[batch.pk])).status_code == 404
    assert stranger.get(reverse(name, args=[batch.pk])).status_code == 405
    batch.refresh_from_db()
    assert (batch.status, Batch.objects.count()) == (BatchStatus.QUEUED, 1)


# -- undecided, on hold -------------------------------------------------------------------------


@pytest.fixture
def undecided(sandbox: RunningSandbox, batch: Batch) -> Batch:
    """Part 1 was sent, and no receipt came."""
    sandbox.script({"fault": "cut_after"})
    part = next(part for part in due.ready_parts(10) if part.number == 1)
    sending.send(part)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.ATTENTION
    return batch


def test_an_undecided_part_says_what_it_may_cost(web: Client, undecided: Batch) -> None:
    shown = page(web, undecided)
    assert "Part 1 (rows 1 to 25) needs your decision." in shown
    assert "If Cloudflare has it already and you send it again, 25 rows are charged twice." in shown


def test_send_again_and_leave_out_are_decided_once(web: Client, undecided: Batch) -> None:
    press(web, undecided, "leave_out", 1)
    part = undecided.parts.get(number=1)
    assert (part.status, part.missing) == (PartStatus.DONE, 25)
    late = press(web, undecided, "send_again", 1)
    assert "Part 1 no longer needs a decision." in late
    part.refresh_from_db()
    assert part.status == PartStatus.DONE


def test_send_again_sends_the_part_and_says_so(web: Client, undecided: Batch) -> None:
    shown = press(web, undecided, "send_again", 1)
    assert "Part 1 is sent again. Its rows may be charged twice." in shown
    assert undecided.parts.get(number=1).status == PartStatus.READY
    assert web.post(reverse("leave_out", args=[undecided.pk, 99])).status_code == 404


def test_a_pause_of_the_connection_shows_and_ends_on_the_pages_of_its_other_batches(
    web: Client, batch: Batch, start: MakeBatch
) -> None:
    other = start(rows(3))

    def changed(batch: Batch) -> str:
        """What the page of a batch asks for every two seconds; "" while nothing changed."""
        response = web.get(addresses[batch.pk], headers=HTMX)
        if response.status_code == 204:
            return ""
        addresses[batch.pk] = watched(html(response))
        return said(response)

    def watched(shown: str) -> str:
        return unescape(re.search(r'hx-get="([^"]*/live/[^"]*)"', shown)[1])  # type: ignore[index]

    both = (batch, other)
    addresses = {each.pk: watched(html(web.get(each.get_absolute_url()))) for each in both}
    assert not changed(other)
    until = timezone.now() + timedelta(hours=2)
    call_limit.pause(batch.connection, until=until, reason="The free allocation is used up.")
    assert "On hold. The free allocation is used up." in changed(other)
    assert not changed(other)
    press(web, batch, "try_now")
    assert "On hold" not in changed(other)
    assert not changed(other)
    Connection.objects.update(calls_left=0, calls_counted_at=timezone.now())
    reached = "The limit of 600 calls to Cloudflare in five minutes is reached."
    shown = changed(other)
    assert reached in shown
    assert "Try now" not in shown  # nobody can end it
    assert not changed(other)
    pressed = press(web, other, "try_now")
    assert reached in pressed
    assert "batchui tries again now." not in pressed
    Connection.objects.update(calls_left=5)
    assert "On hold" not in changed(other)


def test_a_part_on_hold_says_why_until_when_and_can_be_tried_now(web: Client, batch: Batch) -> None:
    part = batch.parts.get(number=1)
    lifecycle.move_part(part, PartStatus.SENDING)
    until = timezone.now() + timedelta(hours=2)
    why = "The free allocation of today is used up."
    lifecycle.move_part(part, PartStatus.HELD, resume_at=until, message=why)
    shown = page(web, batch)
    assert f"On hold. {why} Next try: {until:%-d %b %Y, %H:%M} UTC." in shown
    assert "batchui tries again now." in press(web, batch, "try_now")
    part.refresh_from_db()
    assert part.status == PartStatus.READY
    assert "Nothing is on hold any more." in press(web, batch, "try_now")


def test_files_of_a_deleted_batch_are_not_needed_for_its_page(
    web: Client, sandbox: RunningSandbox, batch: Batch, files_in: Path
) -> None:
    batch = work(batch)
    press(web, batch, "delete")
    Batch.objects.update(deleted_at=timezone.now() - timedelta(hours=2))
    sweep()
    assert list(files_in.rglob("*.zst")) == []
    assert web.get(batch.get_absolute_url()).status_code == 410
