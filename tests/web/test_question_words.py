"""What each question says of the parts it is about, on the page and in its dialogs."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.backup.making import came_from
from batchui.batches import decisions, due, files, sending
from batchui.batches.models import MOST_FAILURES, Batch, Part
from batchui.batches.states import BatchStatus, PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from tests.batches.conftest import MakeBatch, another_account, poll_all, posts, rows, send_all, work
from tests.web.deciding import asked, confirmed, opens, recorded, storm
from tests.web.visiting import HTMX, element, html, page, press, said

pytestmark = pytest.mark.django_db

MILLION = 1_000_000


# -- the words of each question -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "sentences"),
    [
        (
            Question.UNCLEAR,
            [
                "It is unclear whether part 1 (rows 1 to 10) was sent.",
                "At stake: 10 rows, and about $0.20 if they are charged twice.",
                "Sends 10 rows again. If Cloudflare has them already, they are charged twice (",
                "Retry can send them later, and then they may be charged twice.",
                "This part waits until you decide; everything else goes on.",
            ],
        ),
        (
            Question.UNREADABLE,
            [
                "Part 1 (rows 1 to 10) was sent, but no answer could be read.",
                "At stake: 10 rows, and about $0.20 that is probably charged already.",
                "Free. If the answers still cannot be read, batchui asks you again after 6 hours "
                "(24 if Cloudflare does not answer).",
                "Retry looks for the answers again first, free of charge.",
            ],
        ),
        (
            Question.MISMATCH,
            [
                "Cloudflare's reply to part 1 (rows 1 to 10) does not fit what was sent.",
                "Ask Cloudflare again Free. Perhaps the reply is whole this time.",
                "Sends 10 rows again. They are charged a second time (about $0.20).",
            ],
        ),
        (
            Question.DAMAGED,
            [
                "batchui cannot go on with part 1 (rows 1 to 10). Because.",
                "Try again If the cause is gone now, part 1 goes on as planned.",
                "Retry can send them once the cause is gone.",
            ],
        ),
        (
            Question.RESTORED,
            [
                "put back to an earlier state, and part 1 (rows 1 to 10) may have been sent since.",
                "If your team worked after that time, they probably were.",
                "If they were sent since then, they are charged twice (about $0.20).",
                "Retry can send them later, and then they may be charged twice.",
            ],
        ),
    ],
)
def test_each_question_says_what_happened_what_is_at_stake_and_what_each_answer_does(
    web: Client, team: Team, settings: Any, question: Question, sentences: list[str]
) -> None:
    another_account(settings)
    # Ten rows cost 20 cents: a million tokens each, at 2 cents a row.
    price = {"answered": 10, "prompt_tokens": int(10 * MILLION * 0.02 / 0.27)}
    batch = recorded(team, parts=2, **price)
    batch.parts.filter(number=1).update(
        status=PartStatus.UNSURE, question=question, message="Because."
    )
    shown = page(web, batch)
    for sentence in sentences:
        assert sentence in shown


def test_the_time_of_a_backup_is_shown_in_the_time_zone_of_the_reader(
    web: Client, team: Team
) -> None:
    batch = asked(team, Question.RESTORED)
    made = came_from("2026-11-22T10:26:00+00:00")
    batch.parts.update(message=f"<b> {made} Or of 31 Foo 2026, 10:26 UTC.")
    shown = html(web.get(batch.get_absolute_url()))
    assert '<time datetime="2026-11-22T10:26:00+00:00" data-local>22 Nov 2026, 10:26 UTC' in shown
    assert "&lt;b&gt; It is the backup of " in shown
    assert "Or of 31 Foo 2026, 10:26 UTC." in shown


def test_reasons_are_told_once_each_with_their_number_of_parts(web: Client, team: Team) -> None:
    batch = recorded(team, parts=9)
    batch.parts.update(status=PartStatus.UNSURE, question=Question.UNCLEAR, message="Error 500.")
    batch.parts.filter(number__in=(2, 3)).update(message="The line was cut.")
    for number in (4, 5):
        batch.parts.filter(number=number).update(message=f"Odd reason {number}.")
    shown = page(web, batch)
    assert "5 parts: Error 500. 2 parts: The line was cut. 1 part: Odd reason 4." in shown
    assert "1 part: other reasons." in shown
    assert shown.count("Error 500.") == 1


# -- parts that were sent -----------------------------------------------------------------------


def test_a_part_whose_polls_fail_says_since_when_and_when_the_next_one_is(
    web: Client, team: Team
) -> None:
    batch = recorded(team)
    now = timezone.now()
    since, next_poll = now - timedelta(hours=2), now + timedelta(minutes=2)
    batch.parts.update(
        status=PartStatus.QUEUED,
        failures_in_a_row=MOST_FAILURES,
        failing_since=since,
        next_poll_at=next_poll,
        message="Error 502.",
    )
    shown = page(web, batch)
    assert "to part 1 (rows 1 to 10) cannot be fetched at the moment. Error 502." in shown
    assert f"No answer since {since:%-d %b %Y, %H:%M} UTC" in shown
    assert f"Next try: {next_poll:%-d %b %Y, %H:%M} UTC" in shown
    assert "At stake" not in shown


def test_a_part_whose_polls_fail_can_be_asked_about_at_once(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    send_all()
    later = timezone.now() + timedelta(minutes=50)
    since = timezone.now() - timedelta(hours=2)
    fields = {"next_poll_at": later, "failures_in_a_row": MOST_FAILURES, "failing_since": since}
    batch.parts.update(status=PartStatus.RUNNING, **fields)
    assert due.due_parts(10) == []
    assert "Ask now Free." in page(web, batch)
    asked_now = web.post(
        reverse("decide_all", args=[batch.pk, "trouble", "ask-again"]), follow=True
    )
    assert "Cloudflare is asked again about 3 parts." in html(asked_now)
    assert len(due.due_parts(10)) == 3
    part = batch.parts.first()
    assert part is not None
    assert (part.status, part.failing_since) == (PartStatus.RUNNING, since)
    poll_all()
    batch.refresh_from_db()
    assert batch.status == BatchStatus.FINISHED


def test_stop_offers_not_to_wait_for_what_was_sent(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "queued", "call": "poll", "times": 0})
    send_all()
    press(web, batch, "stop")
    shown = page(web, batch)
    assert "Waiting for the answers to 3 parts (60 rows), sent before Stop." in shown
    told = html(confirmed(web, opens(batch, "stopping", "leave-out")))
    assert "3 parts are left out." in told
    batch.refresh_from_db()
    assert batch.has_ended
    # Nothing is paid twice by a Retry: it asks for these answers first.
    shown = page(web, batch)
    assert "Retry 60 rows without an answer, free" in shown
    looks = "batchui looks for the answers to 60 rows first, free of charge."
    assert f"All 60 rows were left out. Retry: {looks}" in shown
    assert "This row" not in page(web, batch, "live")
    sandbox.script()
    sandbox.sandbox.calls.clear()
    press(web, batch, "retry")
    retried = page(web, batch, "timeline")
    assert f"Retry: {looks}" in retried
    assert "sent again" not in retried
    assert work(batch).status == BatchStatus.FINISHED
    assert posts(sandbox) == 0


# -- retry --------------------------------------------------------------------------------------


def test_retry_asks_first_where_rows_may_be_charged_twice(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    storm(batch, sandbox)
    confirmed(web, opens(batch, "unclear", "leave-out"))
    assert "hx-get" not in element(html(web.get(batch.get_absolute_url())), "retry-button")
    Connection.objects.update(kind=Connection.Kind.REST)  # and not the sandbox, which is free
    shown = html(web.get(batch.get_absolute_url()))
    assert "Retry may charge up to 60 rows twice." in " ".join(shown.split())
    opened = reverse("confirm_retry", args=[batch.pk])
    assert f'hx-get="{opened}"' in element(shown, "retry-button")
    dialog = said(web.get(opened, headers=HTMX))
    assert "Retry 60 rows?" in dialog
    assert "Up to 60 of these rows were sent before, or may have been." in dialog
    assert "Sent again, they may be charged twice (up to about $" in dialog
    assert posts(sandbox) == 0
    press(web, batch, "retry")
    told = page(web, batch, "timeline")
    assert "Retry: 60 rows are sent again. Up to 60 of these rows may be charged twice." in told


def test_retry_asks_nothing_where_nothing_is_charged_twice(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    decisions.stop(batch, by=None)
    shown = html(web.get(batch.get_absolute_url()))
    assert "hx-get" not in element(shown, "retry-button")
    assert "charged twice" not in page(web, batch)


# -- damaged files ------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", ["rows_file", "answers_file"])
def test_a_batch_with_a_damaged_file_shows_its_page_and_can_be_decided(
    web: Client, sandbox: RunningSandbox, batch: Batch, lost: str
) -> None:
    work(batch)
    part = batch.parts.get(number=1)
    files.default_storage.delete(getattr(part, lost))
    batch.parts.filter(pk=part.pk).update(status=PartStatus.UNSURE, question=Question.DAMAGED)
    Batch.objects.update(status=BatchStatus.ATTENTION)
    shown = page(web, batch)
    assert "batchui cannot go on with part 1 (rows 2 to 26)." in shown
    row = web.get(reverse("row", args=[batch.pk, 2]))
    assert "A stored file is not there any more." in said(row)
    for kind in ("csv", "csv-plain", "json", "jsonl"):
        response: Any = web.get(reverse("download", args=[batch.pk, kind]))
        content = b"".join(response).decode()
        assert "NOT COMPLETE" not in content
        assert "text number 60" in content


def test_parts_with_damaged_files_have_one_reason_and_the_names_of_the_files_are_in_details(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    names = list(batch.parts.order_by("number").values_list("rows_file", flat=True))
    for name in names[:2]:
        files.default_storage.delete(name)
    for _ in range(3):
        Part.objects.update(resume_at=None)
        send_all()
    shown = page(web, batch)
    assert "2 parts (50 rows). A stored file is not there any more." in shown
    shown += page(web, batch, "timeline") + page(web, batch, "parts")
    assert names[0] not in shown
    # What happened to a part is told with the part.
    told = said(web.get(reverse("part", args=[batch.pk, 1]), headers=HTMX))
    assert "Part 1 could not be sent: A stored file is not there any more." in told
    assert names[0] in told


def test_answers_that_cannot_be_read_are_at_stake_with_the_rows_that_wait(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [0]})
    batch = work(start(rows(25)))
    assert batch.answered == 24
    assert decisions.retry(batch, by=None)
    files.default_storage.delete(batch.parts.get().answers_file)
    for _ in range(3):
        Part.objects.update(resume_at=None)
        sending.send(due.ready_parts(1)[0])
    shown = page(web, batch)
    assert "At stake: 25 rows; 24 answers that are paid for cannot be read." in shown
    dialog = said(web.get(opens(batch, "damaged", "leave-out"), headers=HTMX))
    assert "1 row has no answer, and is marked as missing. So are up to 24 rows more" in dialog
    assert "Retry can send them all. To keep their answers" in dialog  # the sandbox costs nothing
