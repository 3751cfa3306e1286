"""One decision for all parts with the same question: on the page of a batch, and for the team."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from batchui.batches import decisions, due, sending
from batchui.batches.look_up_models import ReportedRequest
from batchui.batches.models import MOST_FAILURES, Batch, Part
from batchui.batches.questions import CHOICES
from batchui.batches.states import BatchStatus, PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team, User
from batchui.web import open_questions
from batchui.worker.heartbeat import beat
from tests.batches.conftest import MakeBatch, posts, rows, statuses, work
from tests.teams.people import join, outsider
from tests.web.deciding import SEND_AGAIN, asked, confirmed, opens, recorded, storm
from tests.web.visiting import HTMX, element, html, page, press, said, signed_in

pytestmark = pytest.mark.django_db


# -- a storm is one decision --------------------------------------------------------------------


def test_a_storm_of_errors_is_one_question_with_rows_and_one_button_for_each_answer(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    storm(batch, sandbox)
    shown = html(web.get(batch.get_absolute_url()))
    assert shown.count('class="banner question') == 1
    words = said(web.get(batch.get_absolute_url()))
    assert "It is unclear whether 3 parts (60 rows) were sent." in words
    assert "At stake: 60 rows, and no money: it is free in the sandbox." in words
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
    told = page(web, batch, "timeline")
    assert "Parts 1 to 3 are sent again. Their 60 rows may be charged twice." in told
    assert posts(sandbox) == 0
    assert "charged twice: it was sent" not in shown
    batch = work(batch)
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 60)
    assert posts(sandbox) == 3
    assert page(web, batch, "parts").count("It was sent more than once.") == 3
    assert "Perhaps charged" not in page(web, batch, "parts")  # it is the sandbox
    Connection.objects.update(kind=Connection.Kind.REST)
    assert "60 rows were perhaps charged twice: see the parts." in page(web, batch, "live")
    ended = page(web, batch, "parts")
    assert ended.count("Perhaps charged twice: it was sent more than once.") == 3
    assert "Perhaps charged twice 3 parts, 60 rows" in page(web, batch, "asked")


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
    [shown] = open_questions.of_parts(batch.parts.all())
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
    web: Client, team: Team
) -> None:
    beat()
    web.get(reverse("batches"))
    taken = []
    batch = recorded(team, parts=1)
    for parts in (1, 12, 40):  # one alone is shown, and needs two queries more
        batch.delete()
        batch = recorded(team, parts=parts)
        batch.parts.update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
        web.get(reverse("batches"))  # what is counted once is counted now
        web.get(reverse("live", args=[batch.pk]), headers=HTMX)
        with CaptureQueriesContext(connection) as history:
            web.get(reverse("batches"))
        with CaptureQueriesContext(connection) as live:
            web.get(reverse("live", args=[batch.pk]), headers=HTMX)
        taken.append((len(history), len(live)))
    assert taken[1] == taken[2]
    assert taken[0] <= (18, 20)


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
            assert web.get(address).status_code == 302
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


def test_an_unclear_send_offers_the_requests_that_events_told_of(web: Client, team: Team) -> None:
    batch = asked(team, Question.UNCLEAR)
    page = batch.get_absolute_url()
    ReportedRequest.objects.create(
        connection=batch.connection, request_id="abc-123", model=batch.model
    )
    assert "abc-123" not in html(web.get(page))  # it has no queue
    Connection.objects.update(queue_id="q")
    shown = html(web.get(page))
    assert "request_id=abc-123" in shown
    assert "One of them may be this one" in shown
    form = html(web.get(f"{reverse('begin_look_up')}?request_id=abc-123&connection=1"))
    assert 'value="abc-123"' in form
