"""One run of a side: what is measured, and that a wrong result gives no figure."""

from pathlib import Path

import pytest

from batchui.bench.check import Check
from batchui.bench.disk import KINDS
from batchui.bench.sides import BARE, PRODUCT, SIDES, TUNED, Side, run_side
from batchui.bench.surroundings import Api, BenchFailed
from batchui.bench.texts import Answers
from tests.bench.command import by_turns


@pytest.fixture(scope="session")
def check(reviews: Path, answers: Answers) -> Check:
    return Check(reviews, answers)


@by_turns
@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
def test_a_side_answers_every_row_and_is_measured(
    side: Side, reviews: Path, api: Api, check: Check
) -> None:
    run = run_side(side, reviews, api=api, check=check)
    assert run.seconds > 0
    assert run.cpu_seconds > 0
    assert 10_000_000 < run.peak_bytes < 300_000_000


@by_turns
@pytest.mark.parametrize("side", [BARE, TUNED], ids=lambda side: side.name)
def test_a_script_sends_a_small_file_at_once_and_keeps_nothing(
    side: Side, reviews: Path, api: Api, check: Check
) -> None:
    run = run_side(side, reviews, api=api, check=check)
    assert (run.calls, run.steps, run.disk) == (2, {}, {})


@by_turns
def test_the_product_is_measured_step_by_step_with_what_it_keeps(
    reviews: Path, api: Api, check: Check
) -> None:
    run = run_side(PRODUCT, reviews, api=api, check=check)
    assert list(run.steps) == ["intake", "cutting", "sending and storing", "export"]
    assert run.seconds / 2 < sum(run.steps.values()) <= run.seconds
    ended, hour_later, days_later = run.disk.values()
    assert list(run.disk) == ["when it has ended", "an hour later", "three days later"]
    assert all(ended[kind] > 0 for kind in KINDS)
    assert ended["upload"] < reviews.stat().st_size / 2
    gone = {"draft rows": 0, "replies": 0, "database": 0, "other": 0}
    assert hour_later | gone == ended | gone
    assert (hour_later["draft rows"], hour_later["replies"]) == (0, ended["replies"])
    assert days_later | gone == ended | gone
    assert (days_later["draft rows"], days_later["replies"]) == (0, 0)
    assert run.calls >= 2


def test_one_spoiled_row_and_there_is_no_figure(reviews: Path, api: Api, check: Check) -> None:
    spoiling = Side("s", "spoiling script", "tests.bench.spoiling_script", "spoils its last line")
    with pytest.raises(BenchFailed, match=r"The result of the spoiling script is wrong in row "):
        run_side(spoiling, reviews, api=api, check=check)


def test_a_side_that_breaks_says_why(tmp_path: Path, api: Api, check: Check) -> None:
    with pytest.raises(BenchFailed, match=r"The streaming script failed:[^$]*FileNotFoundError"):
        run_side(BARE, tmp_path / "nothing.csv", api=api, check=check)
