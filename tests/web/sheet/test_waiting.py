"""Which cells of a page wait, and which of them have changed."""

from typing import Any

import pytest

from batchui.batches import decisions
from batchui.batches.models import Batch, Part
from batchui.sandbox.testing import RunningSandbox
from batchui.web.sheet import waiting
from batchui.web.sheet.waiting import Changed, Waiting
from tests.batches.conftest import MakeBatch, rows, send_all, work

pytestmark = pytest.mark.django_db


def of_page(batch: Batch, first: int, last: int) -> list[Waiting]:
    """What a page with these rows waits for, if all of them do."""
    found: list[Waiting] = []
    for part in batch.parts.order_by("number"):
        here = [row for row in range(first, last + 1) if part.first_row <= row <= part.last_row]
        found += waiting.entries(part, here)
    return found


def told(changed: Changed) -> list[tuple[int, str]]:
    return [(cells.result.row, cells.result.status) for cells in changed.rows]


def test_a_text_and_back() -> None:
    entries = [Waiting(7, "c", 1, 152, 177), Waiting(8, "a", 0, 178, 178)]
    assert waiting.as_text(entries) == "7c1_152_177.8a0_178_178"
    assert waiting.read("7c1_152_177.8a0_178_178") == entries
    assert waiting.read("") == []


@pytest.mark.parametrize(
    "text",
    [
        *("x", "7c1_5_4", "7z1_1_2", "7c1_1", "7c1_1_2_3", "-7c1_1_2", "７c1_1_2", "7c1_1_2 "),
        *("7c1_1_101", "7c1_0_999999999", "9999999c1_1_2", "7c1_1_9999999999"),
    ],
)
def test_nonsense_is_left_out(text: str) -> None:
    assert waiting.read(f"{text}.1a0_1_2") == [Waiting(1, "a", 0, 1, 2)]


def test_a_poll_asks_about_so_many_rows_at_most() -> None:
    read = waiting.read(".".join(f"{n}a0_{n}_{n}" for n in range(1, 500)))
    assert len(read) == waiting.MOST_ROWS
    read = waiting.read("1a0_1_60.2a0_61_120.3a0_121_130")
    assert [entry.part for entry in read] == [1, 3]


def test_rows_that_do_not_follow_one_another_are_entries_of_their_own(batch: Batch) -> None:
    part = batch.parts.get(number=1)
    assert waiting.as_text(waiting.entries(part, [2, 3, 4, 7, 9, 10])) == (
        "1a0_2_4.1a0_7_7.1a0_9_10"
    )


def test_while_nothing_changes_no_file_is_opened(
    batch: Batch, django_assert_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = of_page(batch, 2, 40)
    monkeypatch.delattr(waiting, "some_rows")
    with django_assert_num_queries(1):
        assert waiting.changes(batch, page) == Changed([], page)


def test_a_part_that_moves_changes_what_its_rows_wait_for(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    page = of_page(batch, 25, 28)
    send_all()
    changed = waiting.changes(batch, page)
    assert told(changed) == [(25, ""), (26, ""), (27, ""), (28, "")]
    assert {cells.status for cells in changed.rows} == {"queued"}
    assert waiting.as_text(changed.waiting) == "1e0_25_26.2e0_27_28"
    assert waiting.changes(batch, changed.waiting) == Changed([], changed.waiting)


def test_answers_arrive_once(sandbox: RunningSandbox, batch: Batch) -> None:
    page = of_page(batch, 25, 28)
    work(batch)
    changed = waiting.changes(batch, page)
    assert told(changed) == [(row, "answered") for row in range(25, 29)]
    assert changed.rows[0].result.answer is not None
    assert changed.waiting == []


def test_only_the_rows_of_the_page_that_waited_are_told(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [3], "times": 1})
    batch = work(start(rows(10)))
    assert decisions.retry(batch, by=None)
    page = waiting.entries(batch.parts.get(), [5])
    work(batch)
    assert told(waiting.changes(batch, page)) == [(5, "answered")]


def test_a_new_version_of_the_answers_is_looked_at_while_the_part_is_where_it_was(
    batch: Batch,
) -> None:
    page = of_page(batch, 2, 3)
    Part.objects.filter(number=1).update(answers_version=1)
    changed = waiting.changes(batch, page)
    assert told(changed) == [(2, ""), (3, "")]
    assert waiting.as_text(changed.waiting) == "1a1_2_3"


def test_parts_that_are_not_there_are_left_out(batch: Batch) -> None:
    assert waiting.changes(batch, [Waiting(99, "a", 0, 2, 3)]) == Changed([], [])
    # A row that the part does not have: somebody changed the address.
    assert waiting.changes(batch, [Waiting(1, "b", 0, 40, 41)]) == Changed([], [])
