"""Where the wrong quotation mark of a row is, told by cell and place."""

import pytest

from batchui.prompts.problems import CELL_LIMIT
from batchui.prompts.reading.quotes import QuoteFault, find_fault


@pytest.mark.parametrize("after", ["", ",b", "\r\n", "\n", "\r"])
def test_what_may_follow_a_quoted_cell_is_no_fault(after: str) -> None:
    assert find_fault(f'"a"{after}', start=0, delimiter=",") is None


@pytest.mark.parametrize("cell", [0, 1, 2, 3])
def test_a_fault_is_in_its_cell_and_at_its_place(cell: int) -> None:
    before = "x," * cell
    start = len(before)
    assert find_fault(f'{before}"a"b', start=0, delimiter=",") == QuoteFault(
        "stray", cell, start, start + 3
    )
    assert find_fault(f'{before}"a', start=0, delimiter=",") == QuoteFault(
        "unclosed", cell, start, start + 2
    )


def test_the_longest_cell_that_can_be_read_is_no_fault() -> None:
    longest = "x" * CELL_LIMIT
    assert find_fault(f"a,{longest},b", start=0, delimiter=",") is None
    fault = find_fault(f"a,{longest}x,b", start=0, delimiter=",")
    assert fault == QuoteFault("long", 1, 2, 2 + CELL_LIMIT + 1)
