"""One decision for all parts with the same question: on the page of a batch, and for the team."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from batchui.backup.making import came_from
from batchui.batches import decisions, due, files, sending
from batchui.batches.models import MOST_FAILURES, Batch, Part
from batchui.batches.questions import CHOICES
from batchui.batches.states import BatchStatus, PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team, User
from batchui.web.undecided import undecided
from batchui.worker.heartbeat import beat
from tests.batches.conftest import (
    MakeBatch,
    another_account,
    on_record,
    poll_all,
    posts,
    rows,
    work,
)
from tests.batches.test_questions import STANDS
from tests.teams.people import join, outsider
from tests.web.visiting import HTMX, element, html, page, press, said, signed_in

pytestmark = pytest.mark.django_db

SEND_AGAIN = ("unclear", "send-again")
MILLION = 1_000_000


def recorded(team: Team, **fields: Any) -> Batch:
    """A batch on record alone, which pages can show."""
    form = {"kind": "txt", "encoding": "utf-8", "delimiter": None, "columns": ["text"]}
    return on_record(team, source_format=form, template="{{text}}", **fields)


def asked(team: Team, question: Question, *, parts: int = 1) -> Batch:
    """The same, and this is asked about all of its parts."""
    stopped = timezone.now() if question == Question.STOPPING else None
    batch = recorded(team, parts=parts, stop_requested_at=stopped)
    batch.parts.update(message="Error 500.", **STANDS[question])
    return batch


def storm(batch: Batch, sandbox: RunningSandbox) -> None:
    """Cloudflare answers every part of a batch with an error, and people have waited it out."""
    sandbox.script({"fault": "error", "status": 500, "call": "submit", "times": 0})
    for _ in range(batch.part_count):
        Connection.objects.update(paused_until=None)
        for part in due.ready_parts(10):
            sending.send(part)
    sandbox.script()
    sandbox.sandbox.calls.clear()
    Connection.objects.update(paused_until=None, failures_in_a_row=0)
    assert batch.parts.filter(status=PartStatus.UNSURE).count() == batch.part_count


def confirmed(web: Client, opened: str) -> Any:
    """Press the second button of a dialog; the page it leads to."""
    dialog = html(web.get(opened, headers=HTMX))
    action = re.search(r'action="([^"]*)"', dialog)
    parts = re.search(r'name="parts" value="([^"]*)"', dialog)
    assert action, dialog
    assert parts, dialog
    return web.post(action[1], {"parts": parts[1]}, follow=True)


def opens(batch: Batch, question: str, choice: str) -> str:
    return reverse("confirm_all", args=[batch.pk, question, choice])


# -- a storm is one decision --------------------------------------------------------------------


def test_a_storm_of_errors_is_one_question_with_rows_and_one_button_for_each_answer(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    storm(batch, sandbox)
    shown = html(web.get(batch.get_absolute_url()))
    assert shown.count('class="banner question') == 1
    words = said(web.get(batch.get_absolute_url()))
    assert "It is unclear whether 3 parts (60 rows) were sent." in words
    assert "At stake: 60 rows, and no money, because the sandbox answers." in words
    assert "Sends 60 rows again. Leave out" in words
    assert "charged" not in words
    assert "60 rows have no answer, and are marked as missing. Retry can send them later." in words
    for choice in CHOICES[Question.UNCLEAR]:
        button = element(shown, f"{choice}-unclear")
        assert f'hx-get="{opens(batch, "unclear", choice)}"' in button
        assert f'aria-describedby="{choice}-unclear-effect"' in button


def test_one_decision_sends_every_part_of_a_storm_again(
    web: Client, ana: User, sandbox: RunningSandbox, batch: Batch
) -> None:
    storm(batch, sandbox)
    shown = html(confirmed(web, opens(batch, *SEND_AGAIN)))
    assert "3 parts are sent now." in shown
    assert "Parts 1 to 3 are sent again. Their 60 rows may be charged twice." in shown
    assert posts(sandbox) == 0
    assert "charged twice: it was sent" not in shown
    batch = work(batch)
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 60)
    assert posts(sandbox) == 3
    assert page(web, batch).count("It was sent more than once.") == 3
    assert "Perhaps charged" not in page(web, batch)  # it is the sandbox
    Connection.objects.update(kind=Connection.Kind.REST)
    ended = page(web, batch)
    assert "60 rows were perhaps charged twice: see the parts below." in page(web, batch, "live")
    assert ended.count("Perhaps charged twice: it was sent more than once.") == 3
    assert "Perhaps charged twice 3 parts, 60 rows" in ended


def test_the_dialog_says_what_is_done_before_it_is_done(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    storm(batch, sandbox)
    for choice, heading, button in (
        ("send-again", "Send 3 parts again?", "Send 60 rows again"),
        ("leave-out", "Leave 3 parts out?", "Leave 60 rows out"),
    ):
        words = said(web.get(opens(batch, "unclear", choice), headers=HTMX))
        assert heading in words
        assert words.endswith(f"Cancel {button}")
    one = said(web.get(reverse("confirm", args=[batch.pk, 3, "send-again"]), headers=HTMX))
    assert "Send part 3 again?" in one
    assert one.endswith("Cancel Send 10 rows again")
    assert set(batch.parts.values_list("status", flat=True)) == {PartStatus.UNSURE}


@pytest.mark.parametrize("question", [Question.TROUBLE, Question.STOPPING])
def test_a_part_that_a_worker_moves_while_its_question_is_shown_is_still_named(
    team: Team, question: Question
) -> None:
    batch = asked(team, question)
    [shown] = undecided(batch.parts.all())
    batch.parts.update(status=PartStatus.DONE)
    assert "part 1" in shown.title


def test_parts_that_became_undecided_after_the_dialog_opened_are_not_decided_with_it(
    web: Client, team: Team
) -> None:
    batch = recorded(team, parts=3)
    batch.parts.filter(number__lt=3).update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
    dialog = html(web.get(opens(batch, *SEND_AGAIN), headers=HTMX))
    batch.parts.filter(number=3).update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
    named = re.search(r'name="parts" value="([^"]*)"', dialog)
    assert named
    web.post(reverse("decide_all", args=[batch.pk, *SEND_AGAIN]), {"parts": named[1]})
    assert statuses(batch) == [PartStatus.READY, PartStatus.READY, PartStatus.UNSURE]


def statuses(batch: Batch) -> list[str]:
    return list(batch.parts.order_by("number").values_list("status", flat=True))


@pytest.mark.parametrize("parts", ["", "none", "-1", "9" * 40, "1,,x", "²"])
def test_parts_that_a_form_cannot_mean_are_not_decided(web: Client, team: Team, parts: str) -> None:
    batch = recorded(team)
    batch.parts.update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
    Part.objects.filter(batch=batch).update(number=7)
    address = reverse("decide_all", args=[batch.pk, *SEND_AGAIN])
    pk = str(batch.parts.get().pk)
    answer = web.post(address, {"parts": parts if pk not in parts.split(",") else "x"}, follow=True)
    assert answer.status_code == 200
    assert "This was decided already" in html(answer)
    assert statuses(batch) == [PartStatus.UNSURE]


def test_a_part_is_decided_by_itself(web: Client, team: Team) -> None:
    batch = recorded(team, parts=12)
    batch.parts.update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
    shown = html(web.get(batch.get_absolute_url() + "?"))
    assert 'id="leave-out-10"' in shown
    assert 'id="leave-out-11"' not in shown
    assert "And 2 more parts: they move up as these are decided." in " ".join(shown.split())
    confirmed(web, reverse("confirm", args=[batch.pk, 10, "leave-out"]))
    assert batch.parts.filter(status=PartStatus.DONE).get().number == 10


# -- two people ---------------------------------------------------------------------------------


def test_of_two_people_who_decide_the_first_counts_and_the_second_is_told(
    web: Client, ana: User, team: Team
) -> None:
    ben = signed_in(join(ana))
    batch = recorded(team, parts=3)
    batch.parts.update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
    dialogs = {
        choice: html(web.get(opens(batch, "unclear", choice), headers=HTMX))
        for choice in ("send-again", "leave-out")
    }
    named = {c: re.search(r'value="([\d,]*)"', dialog) for c, dialog in dialogs.items()}
    first, second = (
        (
            who,
            reverse("decide_all", args=[batch.pk, "unclear", choice]),
            {"parts": named[choice][1]},  # type: ignore[index]
        )
        for who, choice in ((ben, "leave-out"), (web, "send-again"))
    )
    assert "3 parts are left out." in html(first[0].post(*first[1:], follow=True))
    told = html(second[0].post(*second[1:], follow=True))
    assert "This was decided already, perhaps by a colleague. Nothing was changed" in told
    assert statuses(batch) == [PartStatus.DONE] * 3
    assert [event.actor.name for event in batch.events.filter(text__contains="Parts")] == ["Ben"]
    opened = said(web.get(opens(batch, *SEND_AGAIN), headers=HTMX))
    assert "Nothing left to decide" in opened


def test_who_decides_after_a_colleague_decided_some_is_told_of_how_many(
    web: Client, team: Team
) -> None:
    batch = recorded(team, parts=3)
    batch.parts.update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
    dialog = html(web.get(opens(batch, *SEND_AGAIN), headers=HTMX))
    named = re.search(r'name="parts" value="([^"]*)"', dialog)
    assert named
    decisions.leave_out(batch.parts.get(number=2), by=None)
    address = reverse("decide_all", args=[batch.pk, *SEND_AGAIN])
    told = html(web.post(address, {"parts": named[1]}, follow=True))
    assert "2 parts are sent now. 1 part no longer needed it." in told


# -- the whole team -----------------------------------------------------------------------------


def test_the_history_asks_about_the_parts_of_all_batches_at_once(
    web: Client, ana: User, sandbox: RunningSandbox, batch: Batch, start: MakeBatch
) -> None:
    other = start(rows(30), name="others.csv")
    for each in (batch, other):
        storm(each, sandbox)
    shown = said(web.get(reverse("batches")))
    assert "It is unclear whether 5 parts (90 rows) were sent." in shown
    assert "texts: 3 parts, 60 rows" in shown
    assert "others: 2 parts, 30 rows" in shown
    opened = reverse("confirm_everywhere", args=SEND_AGAIN)
    dialog = said(web.get(opened, headers=HTMX))
    assert "They belong to 2 batches of your team." in dialog
    told = html(confirmed(web, opened))
    assert "5 parts are sent now." in told
    assert "It is unclear" not in told
    for each in (batch, other):
        assert work(each).status == BatchStatus.FINISHED
        assert each.events.get(text__startswith="Parts").actor == ana


def test_the_history_brings_a_question_to_those_who_watch_and_takes_it_away(
    web: Client, team: Team
) -> None:
    batch = recorded(team)

    def changed() -> str:
        """What the history asks for every two seconds."""
        return said(web.get(reverse("history"), {"seen": f"{batch.pk}.0"}, headers=HTMX))

    assert "It is unclear" not in changed()
    batch.parts.update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
    markup = html(web.get(reverse("history"), {"seen": f"{batch.pk}.0"}, headers=HTMX))
    assert 'hx-swap-oob="true"' in element(markup, "questions")
    assert "It is unclear whether part 1 (rows 1 to 10) was sent." in changed()
    decisions.leave_out(batch.parts.get(), by=None)
    assert "It is unclear" not in changed()
    assert element(html(web.get(reverse("batches"))), "questions") == '<div id="questions">'


def test_what_goes_on_by_itself_is_not_asked_of_the_whole_team(web: Client, team: Team) -> None:
    recorded(team).parts.update(status=PartStatus.QUEUED, failures_in_a_row=MOST_FAILURES)
    stopping = recorded(team, stop_requested_at=timezone.now(), status=BatchStatus.STOPPING)
    stopping.parts.update(status=PartStatus.QUEUED)
    assert "banner question" not in html(web.get(reverse("batches")))


def test_the_history_asks_about_many_parts_in_as_many_queries_as_about_few(
    web: Client, team: Team, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    beat()
    web.get(reverse("batches"))
    for parts in (1, 40):
        batch = recorded(team, parts=parts)
        batch.parts.update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
        with django_assert_max_num_queries(14):
            web.get(reverse("batches"))
        with django_assert_max_num_queries(19):
            web.get(reverse("live", args=[batch.pk]), headers=HTMX)


# -- nothing for others, nothing by looking ------------------------------------------------------


@pytest.mark.parametrize("question", Question)
def test_another_team_sees_no_question_and_decides_nothing(team: Team, question: Question) -> None:
    batch = asked(team, question)
    before = statuses(batch)
    stranger = signed_in(outsider())
    assert "banner question" not in html(stranger.get(reverse("batches")))
    parts = {"parts": str(batch.parts.get().pk)}
    for choice in CHOICES[question]:
        for name, args in (
            ("decide_all", [batch.pk, question, choice]),
            (choice.replace("-", "_"), [batch.pk, 1]),
        ):
            assert stranger.post(reverse(name, args=args), parts).status_code == 404
        for name, args in (
            ("confirm_all", [batch.pk, question, choice]),
            ("confirm", [batch.pk, 1, choice]),
            ("confirm_retry", [batch.pk]),
        ):
            assert stranger.get(reverse(name, args=args)).status_code == 404
        address = reverse("decide_everywhere", args=[question, choice])
        assert "This was decided already" in html(stranger.post(address, parts, follow=True))
        opened = reverse("confirm_everywhere", args=[question, choice])
        assert "Nothing left to decide" in said(stranger.get(opened, headers=HTMX))
    assert statuses(batch) == before


@pytest.mark.parametrize("question", Question)
def test_looking_decides_nothing(web: Client, team: Team, question: Question) -> None:
    batch = asked(team, question)
    before = statuses(batch)
    for choice in CHOICES[question]:
        for address in (
            reverse("decide_all", args=[batch.pk, question, choice]),
            reverse("decide_everywhere", args=[question, choice]),
            reverse(choice.replace("-", "_"), args=[batch.pk, 1]),
        ):
            assert web.get(address).status_code == 405
            assert web.get(f"{address}confirm/").status_code == 200
    assert statuses(batch) == before


@pytest.mark.parametrize(
    ("question", "choice"),
    [
        ("unclear", "ask-again"),
        ("unreadable", "send-again"),
        ("nothing", "send-again"),
        ("unclear", "x"),
    ],
)
def test_there_is_no_answer_that_the_question_does_not_have(
    web: Client, team: Team, question: str, choice: str
) -> None:
    batch = recorded(team)
    batch.parts.update(status=PartStatus.UNSURE, question=question)
    for name, args in (("decide_all", [batch.pk]), ("decide_everywhere", [])):
        assert web.post(reverse(name, args=[*args, question, choice])).status_code == 404
    for name, args in (("confirm_all", [batch.pk]), ("confirm_everywhere", [])):
        assert web.get(reverse(name, args=[*args, question, choice])).status_code == 404
    assert statuses(batch) == [PartStatus.UNSURE]


def test_a_dialog_about_a_part_that_is_not_there_or_a_choice_nobody_has_is_not_found(
    web: Client, team: Team
) -> None:
    batch = recorded(team)
    assert web.get(reverse("confirm", args=[batch.pk, 2, "leave-out"])).status_code == 404
    assert web.get(reverse("confirm", args=[batch.pk, 1, "buy"])).status_code == 404


def test_a_part_is_not_sent_again_whose_question_has_no_such_answer(
    web: Client, team: Team
) -> None:
    batch = recorded(team)
    batch.parts.update(status=PartStatus.UNSURE, question=Question.UNREADABLE)
    told = press(web, batch, "send_again", 1)
    assert "Part 1 no longer needs this decision." in told
    assert statuses(batch) == [PartStatus.UNSURE]


def test_what_was_sent_in_vain_before_says_so_and_that_it_may_wait(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "status": 500, "call": "submit", "times": 0})
    for times in (1, 2):
        Connection.objects.update(paused_until=None)
        for part in due.ready_parts(1):
            sending.send(part)
        Connection.objects.update(kind=Connection.Kind.REST)  # not the sandbox, which is free
        shown = page(web, batch)
        assert ("Sent 2 times already; each time may be charged." in shown) is (times == 2)
        assert ("confirms nothing at the moment: to wait costs nothing." in shown) is (times == 2)
        assert "everything else goes on" not in shown  # as the banner below says
        told = html(confirmed(web, opens(batch, *SEND_AGAIN)))
        assert "1 part will be sent, one at a time until Cloudflare confirms one." in told
    Connection.objects.update(paused_until=None, failures_in_a_row=0)
    batch.parts.filter(number=1).update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
    shown = page(web, batch)
    assert "Sent 2 times already; each time may be charged. Cloudflare finds" in shown
    assert "everything else goes on" in shown


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
                "If it still cannot be read, batchui asks you again after 6 hours (24 if nobody",
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
                "Try again If the file is whole now, part 1 goes on as planned.",
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
    for part in due.ready_parts(10):
        sending.send(part)
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
    for part in due.ready_parts(10):
        sending.send(part)
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
    retried = press(web, batch, "retry")
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
    told = press(web, batch, "retry")
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
    assert "batchui cannot go on with part 1 (rows 1 to 25)." in shown
    row = web.get(reverse("row", args=[batch.pk, 1]))
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
        for part in due.ready_parts(10):
            sending.send(part)
    shown = page(web, batch)
    assert "2 parts (50 rows). A stored file is not there any more." in shown
    assert "Part 1 could not be sent: A stored file is not there any more." in shown
    assert names[0] not in shown
    assert names[0] in page(web, batch, "part", "", 1)


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


# -- what holds a batch -------------------------------------------------------------------------


def watch(web: Client, batch: Batch) -> Callable[[], str]:
    """Polls the page of a batch as a browser does; "" while nothing changed."""
    address = [_polled(html(web.get(batch.get_absolute_url())))]

    def poll() -> str:
        response = web.get(address[0], headers=HTMX)
        if response.status_code == 204:
            return ""
        address[0] = _polled(html(response))
        return said(response)

    return poll


def _polled(markup: str) -> str:
    found = re.search(r'hx-get="([^"]*/live/[^"]*)"', markup)
    assert found
    return unescape(found[1])


def test_the_limit_of_requests_under_way_shows_when_another_batch_reaches_it_and_goes(
    web: Client, team: Team
) -> None:
    batch = recorded(team)
    changed = watch(web, batch)
    other = recorded(team, parts=due.MOST_UNDER_WAY)
    other.parts.update(status=PartStatus.QUEUED)
    told = changed()
    assert "On hold. 50 requests are under way at Cloudflare, the most at one time." in told
    assert "Try now" not in told
    assert not changed()
    other.parts.filter(number=1).update(status=PartStatus.DONE)
    assert "On hold" not in changed()


def test_a_pause_after_errors_says_what_went_wrong_when_the_next_try_is_and_what_it_is(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "status": 503, "retry_after": 600, "call": "submit"})
    sending.send(due.ready_parts(10)[0])
    until = Connection.objects.get().paused_until
    assert until is not None
    shown = page(web, batch)
    when = f"{until:%-d %b %Y, %H:%M} UTC"
    assert (
        f"On hold. Cloudflare did not confirm the last request. batchui sends one part {when}. If "
        "Cloudflare accepts it, the others follow. Try one part now"
    ) in shown
    assert "batchui sends one part now." in press(web, batch, "try_now")
    assert len(due.ready_parts(10)) == 1


def test_parts_that_wait_for_a_token_say_when_it_is_tried_again(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "code": 10000, "call": "submit", "times": 0})
    for part in due.ready_parts(10):
        sending.send(part)
    until = Connection.objects.get().paused_until
    assert until is not None
    assert f"batchui sends one part {until:%-d %b %Y, %H:%M} UTC." in page(web, batch)
