"""Digests: what a part's answers come to, for the version of the answers that there is."""

from datetime import timedelta

import msgspec
import pytest
from django.utils import timezone

from batchui.batches import part_answers
from batchui.batches.long_tasks import StoppedError
from batchui.batches.models import Batch, Counting, Digest, Part
from batchui.batches.part_answers import Answer
from batchui.batches.sheet import digesting, digests
from batchui.batches.sheet.digesting import (
    MOST_REASONS,
    MOST_VALUES,
    OTHER_REASONS,
    Summary,
    as_number,
    summary_of,
)
from batchui.batches.sheet.spread import POINTS, Spread, Together, spread_of
from batchui.teams.models import Team
from tests.batches.sheet.made import WAITS, damage, made, no, put, yes

pytestmark = pytest.mark.django_db


KINDS = {
    "tone": "one_of",
    "topics": "several_of",
    "score": "number",
    "refund": "yes_no",
    "why": "text",
}


def as_json(answer: str) -> Answer:
    """A row that is answered with this JSON."""
    return Answer("answered", msgspec.Raw(answer.encode()))


def first(batch: Batch) -> Part:
    return batch.parts.order_by("number")[0]


# -- what a digest says -------------------------------------------------------------------------


def test_a_digest_counts_reasons_values_and_words(team: Team) -> None:
    batch = made(team, [yes("good"), yes("good"), yes("very bad"), no(), no("empty"), WAITS])
    summary = summary_of(batch, first(batch))
    assert sorted(one.rows for one in summary.reasons.values()) == [1, 1]
    [answers] = summary.fields
    assert answers.rows == 3
    assert {one.text: one.rows for one in (answers.values or {}).values()} == {
        "good": 2,
        "very bad": 1,
    }
    assert answers.words == Spread(3, 1, 2, 4, [1, 1, 2])
    assert answers.numbers is None


def test_every_answer_column_has_a_digest_of_its_own(team: Team) -> None:
    columns = [{"name": name, "kind": kind, "choices": ["a", "b"]} for name, kind in KINDS.items()]
    answer = '{"tone":"A","topics":["b","a"],"score":"3.50","refund":%s,"why":"too late"}'
    batch = made(team, [as_json(answer % yes_no) for yes_no in ("true", "false", "null")])
    Batch.objects.update(answer_columns=columns)
    batch.refresh_from_db()
    fields = summary_of(batch, first(batch)).fields
    values = [{one.text: one.rows for one in (field.values or {}).values()} for field in fields]
    assert values == [
        {"a": 3},
        {"b": 3, "a": 3},
        {"3.50": 3},
        {"yes": 1, "no": 1},
        {"too late": 3},
    ]
    assert [field.rows for field in fields] == [3, 3, 3, 2, 3]
    assert fields[2].numbers == Spread(3, 3.5, 3.5, 10.5, [3.5] * 3)


def test_numbers_have_their_ends_and_their_sum(team: Team) -> None:
    batch = made(team, [yes("3"), yes(" 4.5 "), yes("-1")])
    [answers] = summary_of(batch, first(batch)).fields
    assert answers.numbers == Spread(3, -1, 4.5, 6.5, [-1, 3, 4.5])


@pytest.mark.parametrize("text", ["", "nan", "inf", "1e999", "12 apples", "1" * 31])
def test_what_is_no_number_is_none(text: str) -> None:
    assert as_number(text) is None


def test_too_many_values_are_no_values(team: Team) -> None:
    batch = made(team, [yes(f"value {at}") for at in range(MOST_VALUES + 1)])
    assert summary_of(batch, first(batch)).fields[0].values is None
    batch = made(team, [yes(f"value {at}") for at in range(MOST_VALUES)])
    assert len(summary_of(batch, first(batch)).fields[0].values or {}) == MOST_VALUES


def test_a_long_text_is_no_value(team: Team) -> None:
    batch = made(team, [yes("x" * (digesting.LONGEST_VALUE + 1))])
    assert summary_of(batch, first(batch)).fields[0].values is None
    batch = made(team, [yes("x" * digesting.LONGEST_VALUE)])
    assert len(summary_of(batch, first(batch)).fields[0].values or {}) == 1


def test_reasons_that_are_too_many_are_counted_together(team: Team) -> None:
    letters = [f"{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(MOST_REASONS + 5)]
    batch = made(team, [no("failed", f"Gate {letter} is shut.") for letter in letters])
    reasons = summary_of(batch, first(batch)).reasons
    assert len(reasons) == MOST_REASONS + 1
    assert reasons[OTHER_REASONS].rows == 5
    assert reasons[OTHER_REASONS].reason(OTHER_REASONS).words == "other reasons"


def test_of_damaged_answers_a_digest_says_nothing(team: Team) -> None:
    batch = made(team, [no(), yes()])
    damage(first(batch), lines=1)
    assert summary_of(batch, first(batch)) == Summary()


# -- which version it is of ---------------------------------------------------------------------


def test_a_digest_is_made_once_for_a_version_of_the_answers(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = made(team, [yes()], [yes()])
    assert digests.of(batch).is_whole
    monkeypatch.setattr(digests, "summary_of", None)  # would fail
    assert len(digests.of(batch).fields) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"waiting_became": "missing"},
        {"waiting_error": "why"},
        {"forget_unanswered": True},
        {"answers_file": "another"},
    ],
)
def test_a_digest_of_other_answers_does_not_count(team: Team, change: dict[str, object]) -> None:
    batch = made(team, [yes()], [yes()])
    digests.of(batch)
    Part.objects.filter(pk=first(batch).pk).update(**change)
    assert list(digests._without(batch)) == [first(batch)]


def test_a_digest_of_an_older_format_is_made_again(team: Team) -> None:
    batch = made(team, [yes()])
    digests.of(batch)
    Digest.objects.update(format=0, fields="nonsense")
    assert digests.of(batch).fields[0][0].rows == 1


def test_a_digest_that_comes_after_new_answers_does_not_hide_them(team: Team) -> None:
    """One worker makes a digest; before it stores it, new answers come and have theirs."""
    batch = made(team, [yes("old")])
    as_read = first(batch)
    put(first(batch), [yes("new")])
    digests.of(batch)
    digests.store(batch, as_read)
    [answers] = digests.of(batch).fields[0]
    assert [one.text for one in (answers.values or {}).values()] == ["new"]


def test_a_part_without_any_fate_needs_no_digest(team: Team) -> None:
    found = digests.of(made(team, [WAITS, WAITS]))
    assert (found.fields, found.reasons, found.is_whole) == ((), (), True)


# -- by a worker --------------------------------------------------------------------------------


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request has no time for any digest."""
    monkeypatch.setattr(digests, "SECONDS_IN_A_REQUEST", -1)


def test_what_a_request_does_not_make_a_worker_makes(team: Team, no_time: None) -> None:
    batch = made(team, [yes()], [no()])
    for _ in range(2):  # it is asked for once
        found = digests.of(batch)
        assert (found.fields, found.reasons, found.is_whole) == ((), (), False)
    [wanted] = Counting.objects.all()
    assert digests.next_wanted() == wanted
    digests.make_all(wanted, beat=lambda: None)
    assert digests.next_wanted() is None
    assert len(digests.of(batch).fields) == 2


def test_two_workers_do_not_count_the_same_batch(team: Team, no_time: None) -> None:
    digests.of(made(team, [yes()]))
    wanted = Counting.objects.get()

    def meanwhile() -> None:
        assert digests.next_wanted() is None
        seen = Digest.objects.count()
        digests.make_all(wanted, beat=pytest.fail)  # type: ignore[arg-type]
        assert Digest.objects.count() == seen

    digests.make_all(wanted, beat=meanwhile)
    assert not Counting.objects.exists()


def test_a_batch_that_is_being_counted_is_left_alone_until_the_lease_ends(
    team: Team, no_time: None
) -> None:
    digests.of(made(team, [yes()]))
    wanted = Counting.objects.get()
    Counting.objects.update(lease_until=timezone.now() + timedelta(seconds=5))
    digests.make_all(wanted, beat=pytest.fail)  # type: ignore[arg-type]
    Counting.objects.update(lease_until=timezone.now() - timedelta(seconds=5))
    digests.make_all(wanted, beat=lambda: None)
    assert not Counting.objects.exists()


def test_a_worker_that_is_asked_to_stop_leaves_the_rest_to_another(
    team: Team, no_time: None
) -> None:
    batch = made(team, [yes()], [yes()])
    digests.of(batch)

    def stop() -> None:
        raise StoppedError

    digests.make_all(Counting.objects.get(), beat=stop)
    again = digests.next_wanted()
    assert again is not None
    assert again.begun == 0
    digests.make_all(again, beat=lambda: None)
    assert digests.of(batch).is_whole


def test_counting_that_was_cut_off_too_often_is_left_alone(team: Team, no_time: None) -> None:
    digests.of(made(team, [yes()]))
    Counting.objects.update(begun=3)
    assert digests.next_wanted() is None


def test_nobody_counts_a_deleted_batch(team: Team, no_time: None) -> None:
    digests.of(made(team, [yes()]))
    Batch.objects.update(deleted_at="2026-01-01T00:00:00Z")
    assert digests.next_wanted() is None


# -- numbers together ---------------------------------------------------------------------------


def test_few_numbers_are_all_kept() -> None:
    assert spread_of(list(range(POINTS))) == Spread(
        POINTS, 0, POINTS - 1, sum(range(POINTS)), list(range(POINTS))
    )
    assert spread_of([]) is None


def test_of_many_numbers_points_at_even_distances_are_kept() -> None:
    spread = spread_of(list(range(1_001)))
    assert spread is not None
    assert len(spread.points) == POINTS
    assert (spread.points[0], spread.points[16], spread.points[-1]) == (0, 500, 1_000)


def test_the_middle_of_two_parts_is_that_of_both() -> None:
    low, high = spread_of(list(range(3_000))), spread_of(list(range(3_000, 4_000)))
    assert low is not None
    assert high is not None
    both = Together([low, high])
    assert (both.count, both.least, both.most) == (4_000, 0, 3_999)
    assert both.mean == sum(range(4_000)) / 4_000
    assert both.middle == pytest.approx(2_000, rel=0.05)


def test_a_histogram_has_every_number_in_one_bar() -> None:
    spread = spread_of([1, 1, 2, 9, 10])
    assert spread is not None
    bars = Together([spread]).histogram(3)
    assert [bar.rows for bar in bars] == [3, 0, 2]
    assert (bars[0].start, bars[-1].end) == (1, 10)


@pytest.mark.parametrize(
    ("numbers", "bars"),
    [
        ([3, 3, 5], [(3, 3, 2), (4, 4, 0), (5, 5, 1)]),
        ([1, 2, 3, 4, 5, 6, 7], [(1, 3, 3), (4, 6, 3), (7, 9, 1)]),
        ([0], [(0, 0, 1)]),
    ],
)
def test_whole_numbers_have_bars_with_whole_ends(
    numbers: list[float], bars: list[tuple[int, int, int]]
) -> None:
    spread = spread_of(numbers)
    assert spread is not None
    assert Together([spread]).whole_histogram(3) == bars


def test_equal_numbers_are_one_bar() -> None:
    spread = spread_of([7.0, 7.0])
    assert spread is not None
    assert Together([spread]).histogram(5) == [(7.0, 7.0, 2)]


def test_no_numbers_are_no_picture() -> None:
    nothing = Together([])
    assert (nothing.count, nothing.mean, nothing.middle) == (0, 0.0, 0.0)


def test_the_answers_that_a_digest_reads_are_those_that_are_stored(team: Team) -> None:
    batch = made(team, [yes("a"), WAITS])
    assert [one and one.status for one in part_answers.read_answers(first(batch))] == [
        "answered",
        None,
    ]


@pytest.mark.parametrize("status", ["empty", "unfit", "failed", "missing", "unsent", "invalid"])
def test_a_part_with_one_kind_of_problem_alone_has_a_digest(team: Team, status: str) -> None:
    batch = made(team, [no(status), no(status)])
    [reasons] = digests.of(batch).reasons
    [reason] = reasons.values()
    assert (reason.rows, reason.status) == (2, status)
