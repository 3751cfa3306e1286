"""A draft's question, held against all its rows before anything is sent."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from batchui.batches import checking, decisions, intake, long_tasks, progress, surveys
from batchui.batches.long_tasks import StoppedError
from batchui.batches.models import Batch
from batchui.batches.progress import Progress
from batchui.batches.states import BatchStatus
from batchui.batches.surveys import Survey
from batchui.prompts.ask import Ask
from batchui.prompts.reading.format import Choices
from batchui.worker import reading
from tests.batches.books import book, reviews
from tests.batches.conftest import MODEL, MakeBatch, rows

pytestmark = pytest.mark.django_db

CONTENT = b"id,text\n" + b"".join(b"%d,text %d\n" % (at, at % 3) for at in range(9)) + b"9,\n10,\n"


def asked(batch: Batch, template: str = "{{text}}", **ask: Any) -> Batch:
    decisions.edit(batch, ask=Ask(**{"model": MODEL, "template": template} | ask))
    batch.refresh_from_db()
    return batch


@pytest.fixture
def large(receive: MakeBatch, monkeypatch: pytest.MonkeyPatch) -> Batch:
    """A draft whose file is too large to be read in a request."""
    batch = receive(CONTENT)
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", 10)
    return asked(batch)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row is told, and its time has come."""
    monkeypatch.setattr(progress, "TOLD_ROWS", 1)
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)


def settle(batch: Batch) -> None:
    """Let the question have been left alone for a while."""
    earlier = timezone.now() - 2 * surveys.SETTLED
    Batch.objects.filter(pk=batch.pk).update(survey_wanted_at=earlier)


def test_of_a_small_file_it_is_known_at_once(receive: MakeBatch) -> None:
    assert surveys.survey_of(asked(receive(CONTENT))) == Survey(6, 2, 0, None, [11, 12])


def test_a_file_of_just_the_size_is_small_and_one_byte_more_is_not(
    receive: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = receive(CONTENT)
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", len(CONTENT) - 1)
    assert surveys.survey_of(asked(batch)) is None
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", len(CONTENT))
    assert surveys.survey_of(asked(batch, "{{text}}!")) == Survey(6, 2, 0, None, [11, 12])


def test_the_whole_question_counts_and_not_a_cell(receive: MakeBatch) -> None:
    assert surveys.survey_of(asked(receive(CONTENT), "{{id}}: {{text}}")) == Survey(0, 0, 0, None)


def test_the_first_rows_with_nothing_to_ask_are_named(receive: MakeBatch) -> None:
    batch = receive(b"id,text\n" + b"1,x\n2,\n" * 40)
    survey = surveys.survey_of(asked(batch))
    assert survey is not None
    assert (survey.blank, survey.blank_rows) == (40, list(range(3, 43, 2)))


def test_rows_that_are_too_long_for_the_model_are_counted(
    receive: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", 10**8)
    long = b"word " * 150_000
    batch = receive(b"id,text\n1,x\n2,%b\n3,%b\n" % (long, long))
    assert surveys.survey_of(asked(batch)) == Survey(1, 0, 2, 3)


def test_of_a_large_file_a_worker_finds_out_once_the_question_is_left_alone(large: Batch) -> None:
    assert surveys.survey_of(large) is None
    assert surveys.next_wanted() is None
    settle(large)
    assert surveys.next_wanted() == large
    assert reading._is_something_there()
    surveys.find_out(large.pk)
    large.refresh_from_db()
    assert surveys.survey_of(large) == Survey(6, 2, 0, None, [11, 12])
    assert surveys.next_wanted() is None


def test_another_question_is_held_against_the_rows_anew(large: Batch) -> None:
    surveys.survey_of(large)
    surveys.find_out(large.pk)
    again = asked(large, "{{id}}")
    assert surveys.survey_of(again) is None
    settle(again)
    surveys.find_out(again.pk)
    again.refresh_from_db()
    assert surveys.survey_of(again) == Survey(0, 0, 0, None)


def test_another_sheet_with_the_same_columns_is_looked_at_anew(receive: MakeBatch) -> None:
    names = ["id", "text"]
    content = book(
        ("May", [names, ["1", "same"], ["2", "same"]]), ("June", [names, ["1", ""], ["2", "one"]])
    )
    batch = asked(receive(content, name="reviews.xlsx"))
    assert surveys.survey_of(batch) == Survey(1, 0, 0, None)
    before = batch.format_key
    assert intake.read_differently(batch, Choices(sheet="June"), by=None)
    checking.check_file(batch.pk)  # if it took too long for the request
    batch.refresh_from_db()
    assert batch.format_key != before
    assert surveys.survey_of(batch) == Survey(0, 1, 0, None, [2])


def test_who_goes_back_to_a_question_that_is_known_keeps_no_worker_busy(large: Batch) -> None:
    surveys.survey_of(large)
    surveys.find_out(large.pk)
    surveys.survey_of(asked(large, "{{id}}"))
    again = asked(large)
    assert surveys.survey_of(again) == Survey(6, 2, 0, None, [11, 12])
    settle(again)
    surveys.find_out(again.pk)
    assert surveys.next_wanted() is None


def test_one_worker_at_a_time_and_a_dead_one_holds_nothing_up(large: Batch) -> None:
    surveys.survey_of(large)
    settle(large)
    Batch.objects.update(survey_lease=timezone.now() + timedelta(minutes=1))
    assert surveys.next_wanted() is None
    surveys.find_out(large.pk)
    large.refresh_from_db()
    assert large.survey == {}
    Batch.objects.update(survey_lease=timezone.now() - timedelta(minutes=1))
    assert surveys.next_wanted() == large


def test_a_worker_that_is_to_stop_leaves_it_to_another(large: Batch, hurried: None) -> None:
    surveys.survey_of(large)
    settle(large)

    def stop() -> None:
        raise StoppedError

    surveys.find_out(large.pk, beat=stop)
    assert surveys.next_wanted() == large


def test_before_anything_is_asked_nobody_looks_at_the_rows(large: Batch) -> None:
    batch = asked(large, "")
    assert surveys.survey_of(batch) is None
    assert batch.survey_wanted == ""


@pytest.mark.parametrize("changes", [{"rows": 0}, {"status": BatchStatus.PREPARING}])
def test_nobody_looks_at_a_file_without_rows_or_at_what_is_started(
    large: Batch, changes: dict[str, Any]
) -> None:
    Batch.objects.update(**changes)
    large.refresh_from_db()
    assert surveys.survey_of(large) is None
    assert large.survey_wanted == ""


def test_ready_made_items_are_compared_without_a_question(receive: MakeBatch) -> None:
    batch = receive(b'{"prompt": "one"}\n{"prompt": "one"}\n{"prompt": ""}\n', "items.jsonl")
    survey = surveys.survey_of(asked(batch, "", as_items=True))
    assert survey is not None
    assert survey.same == 1


def test_the_first_request_that_the_model_does_not_take_is_named(receive: MakeBatch) -> None:
    lines = b'{"prompt": "one"}\n{"prompt": ["two"]}\n{"prompt": ["three"]}\n'
    survey = surveys.survey_of(asked(receive(lines, "items.jsonl"), "", as_items=True))
    assert survey is not None
    assert (survey.unusable, survey.first_unusable) == (2, 2)


@pytest.mark.parametrize("template", ["no column", "{{nothing}}"])
def test_a_question_that_cannot_be_asked_is_looked_at_once(large: Batch, template: str) -> None:
    batch = asked(large, template)
    assert surveys.survey_of(batch) is None
    surveys.find_out(batch.pk)
    batch.refresh_from_db()
    assert surveys.survey_of(batch) is None
    assert batch.survey_wanted == ""


def test_a_small_file_that_takes_long_is_left_to_a_worker(
    receive: MakeBatch, monkeypatch: pytest.MonkeyPatch, woken: list[Batch]
) -> None:
    batch = asked(receive(CONTENT))
    with monkeypatch.context() as hurried:
        hurried.setattr(progress, "TOLD_ROWS", 1)
        hurried.setattr(long_tasks, "PROGRESS_SECONDS", 0)
        assert surveys.survey_of(batch) is None
        assert surveys.survey_of(batch) is None  # and it is not begun again meanwhile
    assert woken == [batch]
    settle(batch)
    assert surveys.next_wanted() == batch
    surveys.find_out(batch.pk)
    batch.refresh_from_db()
    assert surveys.survey_of(batch) == Survey(6, 2, 0, None, [11, 12])


def test_who_starts_a_batch_waits_for_nobodys_survey(
    receive: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at, started = asked(receive(CONTENT)), asked(receive(rows(3)))
    take = surveys.take

    def take_while_somebody_starts(batch: Batch, *, progress: Progress) -> Survey:
        assert decisions.start(started, by=None, ask=started.ask)
        return take(batch, progress=progress)

    monkeypatch.setattr(surveys, "take", take_while_somebody_starts)
    assert surveys.survey_of(looked_at) == Survey(6, 2, 0, None, [11, 12])
    started.refresh_from_db()
    assert started.status == BatchStatus.QUEUED, "its small file was cut in the request"


def test_a_long_survey_keeps_its_lease(large: Batch, hurried: None) -> None:
    surveys.survey_of(large)
    left: list[bool] = []

    def let_time_pass() -> None:
        left.append(Batch.objects.filter(survey_lease__gt=timezone.now()).exists())
        Batch.objects.update(survey_lease=timezone.now())

    surveys.find_out(large.pk, beat=let_time_pass)
    assert left == [True] * 10
    large.refresh_from_db()
    assert surveys.survey_of(large) == Survey(6, 2, 0, None, [11, 12])


def test_a_question_that_is_asked_meanwhile_still_waits(large: Batch, hurried: None) -> None:
    surveys.survey_of(large)

    def ask_something_else() -> None:
        if (draft := Batch.objects.get()).ask.template == large.ask.template:
            surveys.survey_of(asked(draft, "{{id}}"))

    surveys.find_out(large.pk, beat=ask_something_else)
    settle(large)
    assert surveys.next_wanted() == large
    surveys.find_out(large.pk)
    large.refresh_from_db()
    assert surveys.survey_of(large) == Survey(0, 0, 0, None)


def test_the_survey_of_a_draft_that_was_discarded_ends(large: Batch, hurried: None) -> None:
    surveys.survey_of(large)
    beats: list[int] = []

    def discard() -> None:
        beats.append(1)
        Batch.objects.all().delete()

    surveys.find_out(large.pk, beat=discard)
    assert beats == [1]


def test_what_cannot_be_found_out_is_not_tried_for_ever(large: Batch) -> None:
    surveys.survey_of(large)
    settle(large)
    default_storage.delete(large.draft_rows_file)
    surveys.find_out(large.pk)
    assert surveys.next_wanted() is None
    large.refresh_from_db()
    assert surveys.survey_of(large) is None
    assert large.survey_wanted == ""


@pytest.mark.parametrize("is_small", [True, False])
def test_a_damaged_file_of_a_draft_breaks_neither_its_page_nor_a_worker(
    receive: MakeBatch, monkeypatch: pytest.MonkeyPatch, is_small: bool
) -> None:
    batch = asked(receive(reviews(), "reviews.xlsx"))
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", 10**6 if is_small else 10)
    with default_storage.open(batch.draft_rows_file, "wb") as stored:
        stored.write(b"no zstd")
    assert surveys.survey_of(batch) is None
    surveys.find_out(batch.pk)
    batch.refresh_from_db()
    assert (batch.survey_lease, batch.survey_wanted) == (None, "")
    assert surveys.survey_of(batch) is None
    assert batch.survey_wanted == ""


class Killed(BaseException):
    """What ends a process, which no code of ours sees."""


def test_a_question_at_which_workers_die_is_left_alone(large: Batch, hurried: None) -> None:
    surveys.survey_of(large)
    settle(large)

    def end_with(error: BaseException) -> None:
        def die() -> None:
            raise error

        with suppress(Killed):
            surveys.find_out(large.pk, beat=die)
        over = timezone.now() - timedelta(minutes=1)
        Batch.objects.exclude(survey_lease=None).update(survey_lease=over)

    for error in (Killed(), StoppedError(), Killed(), StoppedError(), Killed()):
        assert surveys.next_wanted() == large
        end_with(error)
    assert surveys.next_wanted() == large
    surveys.find_out(large.pk)
    assert surveys.next_wanted() is None
    large.refresh_from_db()
    assert surveys.survey_of(large) is None
    assert large.survey_wanted == ""


def test_nothing_is_told_more_often_than_a_worker_must(
    large: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "TOLD_ROWS", 1)
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 3_600)
    beats: list[None] = []
    surveys.find_out(large.pk, beat=lambda: beats.append(None))
    assert beats == []


def test_a_worker_is_asked_from_the_moment_at_which_the_question_was_changed(
    large: Batch, woken: list[Batch]
) -> None:
    before = timezone.now()
    woken.clear()
    assert surveys.survey_of(large) is None
    assert woken == [large]
    stored = Batch.objects.get()
    assert stored.survey_wanted == large.survey_wanted != ""
    assert before <= stored.survey_wanted_at <= timezone.now()
    assert stored.survey_wanted_at == large.survey_wanted_at


def test_only_a_draft_with_rows_is_surveyed(receive: MakeBatch, start: MakeBatch) -> None:
    started = start(rows(3), template="{{text}}")
    assert surveys.survey_of(started) is None
    empty = asked(receive(b"id,text\n1,x\n"))
    empty.rows = 0
    assert surveys.survey_of(empty) is None
    assert not Batch.objects.exclude(survey={}).exists()


def test_another_draft_is_left_alone(large: Batch, receive: MakeBatch) -> None:
    other = asked(receive(CONTENT))
    surveys.find_out(large.pk)
    other.refresh_from_db()
    assert (other.survey_lease, other.survey) == (None, {})
