"""The rows of a draft that cannot be asked: all of them kept, and given back with the reason."""

import csv
import io

import pytest

from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch
from batchui.batches.row_problems import SHOWN, RowProblem, bad_rows_csv, problems_of
from tests.batches.conftest import MakeBatch

pytestmark = pytest.mark.django_db

MISSING = "the cell is missing. The row has 2 cells where the header has 3 columns. Add what is"
MISSING_2 = f"{MISSING} missing, or skip the row."
TOO_MANY = (
    "4 cells where the header has 3 columns. If the text of a cell contains a comma, put the cell "
    "in quotation marks, or skip the row."
)


def read(batch: Batch, delimiter: str = ",") -> list[list[str]]:
    text = b"".join(bad_rows_csv(batch)).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


@pytest.fixture
def bad(receive: MakeBatch) -> Batch:
    return receive(b'id,,text\n=1,a,b\n2,"y\nz"\n3,c,d,=e\n4,x,y\n')


def test_each_problem_has_its_place_as_data(bad: Batch) -> None:
    found = list(problems_of(bad))
    assert found == [RowProblem(3, 3, "text", MISSING_2), RowProblem(4, 5, None, TOO_MANY)]
    assert bad.problem_count == 2
    assert bad.problem_rows == [
        {"row": 3, "sentence": f"Row 3, column “text”: {MISSING_2}"},
        {"row": 4, "sentence": f"Row 4 (line 5): {TOO_MANY}"},
    ]


def test_the_rows_come_back_with_their_numbers_and_the_reasons(bad: Batch) -> None:
    assert read(bad) == [
        ["row", "id", "", "text", "problem"],
        ["3", "2", "y\nz", "", f"Column “text”: {MISSING_2}"],
        ["4", "3", "c", "d", TOO_MANY, "'=e"],
    ]


@pytest.mark.parametrize(("delimiter", "written"), [("\t", ","), ("|", ","), (";", ";")])
def test_excel_splits_them_as_it_does_the_file(
    receive: MakeBatch, delimiter: str, written: str
) -> None:
    batch = receive(b"ROW;problem;x\n1;a;b\n2\n".replace(b";", delimiter.encode()))
    header, row = read(batch, written)
    assert header == ["row_2", "ROW", "problem", "x", "problem_2"]
    assert row[:4] == ["3", "2", "", ""]


def test_of_a_file_without_names_the_columns_have_those_that_they_are_called(
    receive: MakeBatch,
) -> None:
    batch = receive(b'{"a": 1, "b": "x"}\nno object\n', "things.jsonl")
    assert read(batch)[0] == ["row", "a", "b", "problem"]
    assert read(batch)[1][:3] == ["2", "", ""]
    assert read(batch)[1][4:] == ["no object"]


@pytest.mark.parametrize(
    ("first", "most", "rows"),
    [
        (0, None, range(3, 103, 2)),
        (0, 2, range(3, 7, 2)),
        (48, 5, range(99, 103, 2)),
        (1, 1, range(5, 7, 2)),
        (7, None, range(17, 103, 2)),
        (50, 5, range(0)),
    ],
)
def test_a_page_of_them_can_be_read(
    receive: MakeBatch, first: int, most: int | None, rows: range
) -> None:
    batch = receive(b"id,text\n" + b"1,x\n2\n" * 50)
    assert [found.row for found in problems_of(batch, first=first, most=most)] == list(rows)
    assert [shown["row"] for shown in batch.problem_rows] == list(range(3, 3 + 2 * SHOWN, 2))
    assert [row[0] for row in read(batch)[1:]] == [str(row) for row in range(3, 103, 2)]


def test_where_every_row_can_be_asked_there_are_none(receive: MakeBatch) -> None:
    batch = receive(b"id,text\n1,x\n")
    assert (batch.problem_count, batch.problem_rows, batch.problems_file) == (0, [], "")
    assert list(problems_of(batch)) == []
    assert read(batch) == [["row", "id", "text", "problem"]]


def test_a_list_that_is_cut_short_is_damaged(bad: Batch) -> None:
    bad.problem_count = 3
    with pytest.raises(DamagedFile):
        list(problems_of(bad))
