"""The cells of answers."""

from collections.abc import Sequence

import pytest
from django.utils.html import strip_tags

from batchui.batches.results import Result
from batchui.batches.states import PartStatus
from batchui.prompts.answer_columns import AnswerColumn
from batchui.web.sheet import row_html
from batchui.web.sheet.cells import (
    LONGEST_CELL,
    MOST_TAGS,
    AnswerCell,
    answer_cells,
    cut,
    said_once,
)
from batchui.web.sheet.columns import NUMBERS, SheetColumn, of_answers

TONE = AnswerColumn("tone", "one_of", ("good", "mixed", "bad"))
WANTED = (
    AnswerColumn("summary"),
    TONE,
    AnswerColumn("score", "number"),
    AnswerColumn("again", "yes_no"),
    AnswerColumn("topics", "several_of", ("bed", "food")),
)
ONE = [SheetColumn("a1", "answer", 0, 400)]


def cells(
    answer: bytes | None = None,
    status: str = "answered",
    *,
    error: str | None = None,
    wanted: Sequence[AnswerColumn] = (),
    waits_in: PartStatus | None = None,
) -> list[AnswerCell]:
    result = Result(7, ["x"], status, answer, error, None)
    columns = of_answers(wanted) if wanted else ONE
    return answer_cells(result, columns, wanted, waits_in)


@pytest.mark.parametrize(
    ("answer", "text"),
    [(b'"two\\nlines"', "two\nlines"), (b'{"a":1}', '{"a":1}'), (b"3", "3"), (b"null", "")],
)
def test_without_answer_columns_there_is_one_cell_with_the_answer(answer: bytes, text: str) -> None:
    (cell,) = cells(answer)
    assert (cell.number, cell.at, cell.text, cell.status) == (7, 0, text, "answered")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"[0.25,-0.5,1,2,3]", "5 numbers: 0.250, -0.500, 1.000, 2.000, …"),
        (b"[0.25,-0.5]", "2 numbers: 0.250, -0.500"),
        (b'[{"id":0,"score":0.25}]', "0.250"),
        (b'[{"id":0,"score":0.2},{"id":1,"score":0.9}]', "passage 2: 0.900, passage 1: 0.200"),
        (b'"corrected by hand"', "corrected by hand"),
        (b"[]", "[]"),
        (b"[[1]]", "[[1]]"),
        (b"null", ""),
    ],
)
def test_numbers_and_rankings_are_said_in_short(answer: bytes, text: str) -> None:
    result = Result(7, ["x"], "answered", answer, None, None)
    (cell,) = answer_cells(result, [SheetColumn("a1", "answer", 0, 400, kind=NUMBERS)], (), None)
    assert cell.text == text


def test_each_answer_column_has_its_value() -> None:
    answer = b'{"topics":["bed","food"],"again":true,"score":1.50,"tone":"bad","summary":"Fine"}'
    found = cells(answer, wanted=WANTED)
    assert [cell.at for cell in found] == [0, 1, 2, 3, 4]
    assert [cell.text for cell in found] == ["Fine", "", "1.50", "", ""]
    assert [list(cell.tags) for cell in found] == [[], ["bad"], [], ["yes"], ["bed", "food"]]


def test_a_value_that_does_not_fit_is_left_blank_and_the_first_cell_says_why() -> None:
    why = "“tone” is “angry”, which is not one of good, mixed, bad."
    found = cells(b'{"summary":"Fine","tone":"angry"}', "unfit", error=why, wanted=WANTED)
    assert [cell.note for cell in found] == [why, "", "", "", ""]
    assert list(found[1].tags) == []


@pytest.mark.parametrize(
    ("status", "note", "moves"),
    [
        (PartStatus.READY, "waits", False),
        (PartStatus.SENDING, "on its way", True),
        (PartStatus.QUEUED, "queued", True),
        (PartStatus.RUNNING, "on its way", True),
        (PartStatus.HELD, "paused", False),
        (PartStatus.UNSURE, "needs a decision", False),
    ],
)
def test_a_row_that_waits_says_what_for(status: PartStatus, note: str, moves: bool) -> None:
    first, second = cells(status="", wanted=WANTED[:2], waits_in=status)
    assert (first.note, first.moves) == (note, moves)
    assert second.note == ""


@pytest.mark.parametrize(
    ("status", "is_marked"), [(PartStatus.RUNNING, True), (PartStatus.READY, False)]
)
def test_every_cell_of_a_row_under_way_is_marked(status: PartStatus, *, is_marked: bool) -> None:
    found = cells(status="", wanted=WANTED[:2], waits_in=status)
    first, second = row_html.answer_cells(found).split("<td ")[1:]
    assert "waits" in first
    assert ("waits moves" in second) is is_marked


def test_a_row_without_an_answer_says_why_without_the_names_of_stored_files() -> None:
    error = "The stored file batches/1/parts/2/rows.zst is not there any more."
    (cell,) = cells(status="missing", error=error)
    assert cell.note == "A stored file is not there any more."


def test_long_cells_are_cut() -> None:
    assert cut("x" * LONGEST_CELL) == "x" * LONGEST_CELL
    assert cut("x" * (LONGEST_CELL + 1)) == "x" * (LONGEST_CELL - 1) + "…"
    assert len(cells(b'"' + b"x" * 5_000 + b'"')[0].text) == LONGEST_CELL
    assert len(cells(status="failed", error="x" * 5_000)[0].note) == LONGEST_CELL


def test_of_a_long_list_a_cell_has_the_first() -> None:
    choices = tuple(f"topic {number}" for number in range(40))
    wanted = [AnswerColumn("topics", "several_of", choices)]
    answer = ('{"topics":["' + '","'.join(choices) + '"]}').encode()
    (cell,) = cells(answer, wanted=wanted)
    assert list(cell.tags) == [*choices[:MOST_TAGS], "and 28 more"]


def test_a_reason_stands_once_on_a_page() -> None:
    failed = [cells(status="failed", error=why) for why in ("Too long.", "Busy.", "Too long.")]
    waits = [cells(status="", waits_in=PartStatus.HELD) for _ in range(2)]
    shown = list(said_once([*failed, cells(b'"Fine"'), *waits]))
    assert [first.note for first, *_ in shown] == ["Too long.", "Busy.", "", "", "paused", "paused"]
    assert {first.status for first, *_ in shown[:3]} == {"failed"}


def test_a_skipped_row_says_so_in_a_word_and_why_on_hover() -> None:
    error = "Row 7, line 9: “text” is blank."
    first, second = said_once([cells(status="skipped", error=error)] * 2)
    assert first == second
    markup = row_html.answer_cells(first)
    assert f'title="{error}"' in markup
    assert strip_tags(markup) == "Skipped"


def test_a_reason_that_names_its_row_stands_once_too() -> None:
    shown = said_once(
        answer_cells(
            Result(row, ["x"], "failed", None, f"Row {row:,}, blank.", None), ONE, (), None
        )
        for row in (7, 1_008)
    )
    assert [first.note for first, *_ in shown] == ["Row 7, blank.", ""]
