"""Two runs of one file, held against each other."""

from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import compared_rows, comparing
from batchui.batches.comparison_models import Comparison
from batchui.batches.compressed import IF_DAMAGED
from batchui.batches.long_tasks import MOST_READINGS, READING_LEASE, StoppedError
from batchui.batches.models import Batch
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team
from batchui.worker import reading
from tests.batches.sheet.made import WAITS, damage, made, no, yes
from tests.teams.people import outsider

pytestmark = pytest.mark.django_db

FILE = {"source_sha256": "a" * 64}
COLUMNS = [{"name": "tone"}, {"name": "score", "kind": "number"}]


@pytest.fixture
def one(team: Team) -> Batch:
    """Rows 1 to 6: answered, but for the last two."""
    return made(team, [yes("a"), yes("b"), yes("3")], [yes("d"), no(), WAITS], **FILE)


@pytest.fixture
def other(team: Team) -> Batch:
    """The same rows: of four that both answered, 2 differs; 5 only this one answered."""
    return made(team, [yes(" a "), yes("x"), yes(3.0), yes("d")], [yes("e"), no()], **FILE)


def numbers(comparison: Comparison, *, only_different: bool = True, **which: int) -> list[int]:
    where = {"offset": 0, "limit": 100} | which
    found = compared_rows.page(comparison, only_different=only_different, **where)
    return [pair.number for pair in found]


def test_rows_that_differ_are_found_and_those_that_agree_are_counted(
    one: Batch, other: Batch
) -> None:
    found = comparing.compare(one, other)
    assert (found.status, found.rows, found.rows_done) == ("done", 6, 6)
    assert (found.answered, found.agree, found.different) == (4, 3, 2)
    assert numbers(found) == [2, 5]
    assert numbers(found, offset=1) == [5]
    assert numbers(found, limit=1) == [2]
    assert numbers(found, only_different=False, offset=4) == [5, 6]
    pair = compared_rows.page(found, only_different=True, offset=1, limit=1)[0]
    assert pair.one is not None
    assert pair.one.status == "failed"
    assert pair.other is not None
    assert pair.other.answer == b'"e"'


def test_all_rows_of_a_file_say_the_same_as_the_pages(one: Batch, other: Batch) -> None:
    found = comparing.compare(one, other)
    pages = compared_rows.page(found, only_different=False, offset=0, limit=100)
    assert list(compared_rows.pairs(one, other)) == pages
    assert [pair.differs for pair in pages] == [False, True, False, False, True, False]


def test_columns_are_compared_one_by_one(team: Team) -> None:
    fields = FILE | {"answer_columns": COLUMNS}
    one = made(
        team, [yes({"tone": "good", "score": 1}), yes({"tone": "bad", "score": 2})], **fields
    )
    other = made(team, [yes({"tone": "good", "score": 1.0}), yes({"tone": "bad"})], **fields)
    found = comparing.compare(one, other)
    assert found.columns == [["tone", 2, 2], ["score", 2, 1]]
    assert (found.agree, numbers(found)) == (1, [2])


def test_rows_are_matched_by_their_numbers(team: Team) -> None:
    one = made(team, [yes("a"), yes("b"), yes("c")], **FILE)
    other = made(team, [yes("b"), yes("c"), yes("d")], **FILE)
    other.parts.update(first_row=2)
    found = comparing.compare(one, other)
    assert (found.rows, found.agree) == (4, 2)
    assert numbers(found) == [1, 4]
    one_sided = compared_rows.page(found, only_different=True, offset=0, limit=9)
    assert [(pair.one is None, pair.other is None) for pair in one_sided] == [
        (False, True),
        (True, False),
    ]
    assert [pair.differs for pair in compared_rows.pairs(one, other)] == [True, False, False, True]


def test_pages_of_many_rows_begin_where_the_last_one_ended(team: Team) -> None:
    rows = 3 * 8 * compared_rows.CHUNK
    bits = bytearray(rows // 8)
    wanted = [number for number in range(1, rows + 1) if number % 1000 == 7]
    for number in wanted:
        bits[(number - 1) // 8] |= 1 << ((number - 1) % 8)
    found = [place + 1 for place in compared_rows._set_bits(bytes(bits), 0)]
    assert found == wanted
    assert [place + 1 for place in compared_rows._set_bits(bytes(bits), 7)] == wanted[7:]


def test_a_comparison_is_kept_until_an_answer_changes(one: Batch, other: Batch) -> None:
    found = comparing.compare(one, other)
    assert comparing.compare(one, other) == found
    assert comparing.compare(other, one) != found
    other.version += 1
    assert comparing.compare(one, other) != found


def test_old_ones_go(one: Batch, other: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "MOST_KEPT", 2)
    for version in range(5):
        other.version = version
        comparing.compare(one, other)
    kept = Comparison.objects.order_by("other_version")
    assert list(kept.values_list("other_version", flat=True)) == [3, 4]


# -- by a worker --------------------------------------------------------------------------------


@pytest.fixture
def waiting(one: Batch, other: Batch, monkeypatch: pytest.MonkeyPatch) -> Comparison:
    """A comparison that a worker is to make."""
    monkeypatch.setattr(comparing, "AT_ONCE_ROWS", 5)
    return comparing.compare(one, other)


def test_a_large_one_waits_for_a_worker(waiting: Comparison) -> None:
    assert waiting.is_running
    assert comparing.next_wanted() == waiting
    assert reading._is_something_there()
    comparing.carry_out(waiting, beat=lambda: None)
    waiting.refresh_from_db()
    assert (waiting.status, waiting.different) == ("done", 2)
    assert comparing.next_wanted() is None


def test_one_that_goes_on_is_not_begun_twice(waiting: Comparison, one: Batch, other: Batch) -> None:
    one.version += 1
    assert comparing.compare(one, other) == waiting
    Comparison.objects.update(lease_until=timezone.now() + timezone.timedelta(minutes=1))
    assert comparing.next_wanted() is None
    comparing.carry_out(waiting, beat=lambda: None)
    waiting.refresh_from_db()
    assert waiting.is_running


def test_while_it_goes_on_it_is_claimed_once(
    waiting: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "PROGRESS_SECONDS", -1)
    monkeypatch.setattr(comparing, "ROWS_BETWEEN", 2)
    seen: list[bool] = []

    def meanwhile() -> None:
        now = Comparison.objects.get()
        assert now.begun == 1
        assert now.lease_until is not None
        seen.append(timezone.now() < now.lease_until <= timezone.now() + READING_LEASE)
        comparing.carry_out(now, beat=pytest.fail)  # type: ignore[arg-type]

    comparing.carry_out(waiting, beat=meanwhile)
    assert seen == [True] * 3  # of six rows


def test_one_that_was_begun_and_let_go_of_meanwhile_is_left_to_who_sees_that(
    waiting: Comparison,
) -> None:
    Comparison.objects.update(begun=1)
    comparing.carry_out(waiting, beat=lambda: None)
    assert Comparison.objects.get().is_running
    comparing.carry_out(Comparison.objects.get(), beat=lambda: None)
    assert not Comparison.objects.get().is_running


@pytest.mark.parametrize(("at_once", "waits"), [(5, True), (6, False)])
def test_a_worker_is_woken_for_what_is_not_done_at_once(
    one: Batch,
    other: Batch,
    woken: list[Batch],
    monkeypatch: pytest.MonkeyPatch,
    at_once: int,
    waits: bool,
) -> None:
    monkeypatch.setattr(comparing, "AT_ONCE_ROWS", at_once)
    assert comparing.compare(one, other).is_running is waits
    assert woken == ([one] if waits else [])


def test_one_that_is_stopped_is_begun_again(
    waiting: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        raise StoppedError

    monkeypatch.setattr(comparing, "PROGRESS_SECONDS", -1)
    comparing.carry_out(waiting, beat=stop)
    waiting.refresh_from_db()
    assert (waiting.is_running, waiting.begun, waiting.lease_until) == (True, 0, None)


def test_one_that_was_cut_off_again_and_again_is_given_up(waiting: Comparison) -> None:
    Comparison.objects.update(begun=MOST_READINGS)
    wanted = comparing.next_wanted()
    assert wanted is not None
    comparing.carry_out(wanted, beat=lambda: None)
    waiting.refresh_from_db()
    assert (waiting.status, waiting.problem) == ("failed", comparing.ENDLESS)


def test_one_of_damaged_answers_fails(waiting: Comparison, one: Batch) -> None:
    part = one.parts.first()
    assert part is not None
    damage(part, lines=1)
    comparing.carry_out(waiting, beat=lambda: None)
    waiting.refresh_from_db()
    assert waiting.status == "failed"
    assert waiting.problem.startswith("The stored file ")
    assert waiting.problem.endswith(f" {IF_DAMAGED}")


def test_that_of_a_deleted_batch_waits_no_more(waiting: Comparison, other: Batch) -> None:
    Batch.objects.filter(pk=other.pk).update(deleted_at=timezone.now())
    assert comparing.next_wanted() is None


# -- which batches ------------------------------------------------------------------------------


def test_other_runs_are_those_of_the_same_file(team: Team, one: Batch, other: Batch) -> None:
    def again(team: Team, **fields: Any) -> Batch:
        return made(team, [yes()], **FILE | fields)

    again(team, source_sha256="b" * 64)
    again(team, deleted_at=timezone.now())
    Batch.objects.filter(pk=again(team).pk).update(part_count=0)
    theirs = outsider().membership.team
    ensure_connection(theirs)
    again(theirs)
    assert list(comparing.other_runs(one)) == [other]
    Batch.objects.update(source_sha256="")
    one.refresh_from_db()
    assert list(comparing.other_runs(one)) == []
