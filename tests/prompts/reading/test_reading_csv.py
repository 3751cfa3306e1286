"""CSV: the same rows, in the same order, every cell exactly as it was."""

import csv
import io
import itertools
import random
import re
from typing import BinaryIO, cast

import pytest

from batchui.prompts.problems import CELL_LIMIT, BadInput
from batchui.prompts.reading.format import Format
from batchui.prompts.reading.quotes import QuoteFault, find_fault
from batchui.prompts.reading.readers import read
from tests.prompts.files import Dribble, Endless, cells_of, report_of, rows_of

LETTERS = [
    "a",
    "B",
    " ",
    ",",
    ";",
    '"',
    '""',
    "\n",
    "\r",
    "\r\n",
    "é",
    "日",
    "\t",
    "'",
    "\x0b",
    "\u2028",
]


def random_rows(dice: random.Random, *, width: int) -> list[list[str]]:
    def cell() -> str:
        return "".join(dice.choices(LETTERS, k=dice.randrange(6)))

    return [[cell() for _ in range(width)] for _ in range(dice.randrange(1, 12))]


def named_in(row: int) -> Format:
    """The format of a CSV with the columns a and b, and their names in a row."""
    return Format("csv", "utf-8", ",", ("a", "b"), header_row=row, first_row=row + 1)


def read_pieces(data: bytes, fmt: Format, size: int) -> list[tuple[int, int, object, str | None]]:
    return [tuple(row) for row in read(Dribble(data, size), fmt)]  # type: ignore[arg-type,misc]


@pytest.mark.parametrize("seed", range(60))
def test_whatever_a_csv_writer_writes_comes_back_cell_for_cell(seed: int) -> None:
    dice = random.Random(seed)
    width = dice.randrange(1, 4)
    rows = random_rows(dice, width=width)
    end = dice.choice(["\n", "\r\n", "\r"])
    delimiter = dice.choice([",", ";", "\t"])
    written = io.StringIO()
    writer = csv.writer(
        written,
        delimiter=delimiter,
        lineterminator=end,
        # With another line end than CR LF, Python's writer leaves some line breaks unquoted.
        quoting=csv.QUOTE_MINIMAL if end == "\r\n" else csv.QUOTE_ALL,
    )
    names = tuple(f"column {at}" for at in range(width))
    writer.writerow(names)
    starts = []
    for row in rows:
        starts.append(1 + len(re.findall(r"\r\n|\r|\n", written.getvalue())))
        writer.writerow(row)
    fmt = Format("csv", "utf-8", delimiter, names, header_row=1, first_row=2)
    data = written.getvalue().encode()
    for size in (1, 7, 1 << 20):
        read_back = read_pieces(data, fmt, size)
        assert [row[2] for row in read_back] == rows
        assert [row[0] for row in read_back] == list(range(2, len(rows) + 2))
        assert [row[1] for row in read_back] == starts
        assert not any(row[3] for row in read_back)


@pytest.mark.parametrize("seed", range(60))
def test_the_pieces_that_a_file_comes_in_make_no_difference(seed: int) -> None:
    dice = random.Random(seed)
    text = "a,b\n" + "".join(dice.choices(["x", ",", '"', '""', "\n", "\r\n", "\r"], k=60))
    fmt = named_in(1)

    def outcome(size: int) -> object:
        try:
            return read_pieces(text.encode(), fmt, size)
        except ValueError as exc:
            return str(exc)

    assert outcome(1) == outcome(3) == outcome(1 << 20)


def test_quotation_marks_line_breaks_and_spaces_stay() -> None:
    data = (
        b'a,b\n1,"say ""hi"""\n2,"two\r\nlines\n"\n3,  spaced  \n4,"semi;colon, comma"\n5,5" disk\n'
    )
    assert [cells[1] for cells in cells_of(data)] == [
        'say "hi"',
        "two\r\nlines\n",
        "  spaced  ",
        "semi;colon, comma",
        '5" disk',
    ]


def test_numbers_and_dates_stay_text() -> None:
    data = b"a,b,c\n007,1.10,2026-01-02\n+49,1e5,TRUE\n"
    assert cells_of(data) == [["007", "1.10", "2026-01-02"], ["+49", "1e5", "TRUE"]]


def test_a_row_knows_the_line_it_starts_in() -> None:
    rows = rows_of(b'a,"b\nb"\n1,x\n2,"y\n\ny"\n3,z\n')
    assert [(row.number, row.line) for row in rows] == [(2, 3), (3, 4), (4, 7)]


def test_rows_above_the_names_are_counted_but_not_the_line_that_names_the_separator() -> None:
    rows = rows_of(b"sep=;\n\na;b\n1;2\n", names_in=2)
    assert [(row.number, row.line, row.cells) for row in rows] == [(3, 4, ["1", "2"])]


def test_empty_lines_at_the_end_are_no_rows() -> None:
    assert cells_of(b"a,b\n1,2\n\n\r\n\n") == [["1", "2"]]
    assert cells_of(b"a\n1\n\n\n") == [["1"]]


def test_an_empty_line_in_the_middle_is_a_row_with_a_problem() -> None:
    rows = rows_of(b"a,b\n1,2\n\n3,4\n")
    assert [(row.number, row.line) for row in rows] == [(2, 2), (3, 3), (4, 4)]
    assert rows[1].problem == (
        "Row 3: the line is empty. Fill it in, or remove it if it is not a row."
    )


def test_an_empty_line_of_a_single_column_is_an_empty_cell() -> None:
    rows = rows_of(b'a\nx\n\n""\ny\n')
    assert [(row.cells, row.problem) for row in rows] == [
        (["x"], None),
        ([""], None),
        ([""], None),
        (["y"], None),
    ]


def test_many_empty_lines_keep_their_numbers() -> None:
    rows = rows_of(b"a,b\n1,2\n" + b"\n" * 2500 + b"3,4\n", piece=97)
    assert [row.number for row in rows] == list(range(2, 2504))
    assert [row.line for row in rows] == list(range(2, 2504))
    assert rows[-1].cells == ["3", "4"]
    for row in rows[1:-1]:
        assert row.cells == []
        assert row.problem is not None
        assert row.problem.startswith(f"Row {row.number:,}: the line is empty.")


def test_a_row_with_too_many_cells_keeps_them_all() -> None:
    [row] = rows_of(b"a,b\n1,2,3,4\n")
    assert row.cells == ["1", "2", "3", "4"]
    assert row.problem == (
        "Row 2: 4 cells where the header has 2 columns. If the text of a cell contains a "
        "comma, put the cell in quotation marks, or skip the row."
    )


def test_a_row_with_too_many_cells_knows_its_line() -> None:
    [_, row] = rows_of(b'a,b\n"1\n",2\n1,2,3\n')
    assert row.problem is not None
    assert (row.problem.row, row.problem.line, row.problem.column) == (3, 4, None)
    assert row.problem.startswith("Row 3 (line 4): 3 cells where the header has 2 columns.")


def test_a_tab_between_cells_is_called_by_its_name() -> None:
    [row] = rows_of(b"a\tb\n1\t2\t3\n")
    assert row.problem is not None
    assert "If the text of a cell contains a tab, put the cell in quotation marks" in row.problem


def test_a_row_with_too_few_cells_names_the_column_that_is_missing() -> None:
    rows = rows_of(b"a,b,c\n1,2,3\n1\n")
    assert rows[1].cells == ["1"]
    assert rows[1].problem == (
        "Row 3, column “b”: the cell is missing. The row has 1 cell where the header has 3 "
        "columns. Add what is missing, or skip the row."
    )
    assert rows[1].problem.column == "b"


def test_text_behind_a_closing_quotation_mark_is_a_problem_of_that_row_alone() -> None:
    rows = rows_of(b'a,b\n1,"he said "hi" to me"\n2,ok\n3,"fine"\n')
    assert [row.cells for row in rows] == [
        ["1", '"he said "hi" to me"'],
        ["2", "ok"],
        ["3", "fine"],
    ]
    assert rows[0].problem == (
        "Row 2, column “b”: text follows the quotation mark that closes the cell. Double "
        'the quotation marks inside the text (""), or skip the row.'
    )
    assert not rows[1].problem
    assert not rows[2].problem


def test_nothing_is_lost_of_a_row_with_a_stray_quotation_mark() -> None:
    line = '"a "quoted" word, and","more"'
    [row] = rows_of(f"x,y\n{line}\n".encode())
    assert ",".join(row.cells) == line


def test_a_single_column_is_never_split() -> None:
    assert cells_of(b'review\n"Good, cheap"\nBad; but, hm\tok\n') == [
        ["Good, cheap"],
        ["Bad; but, hm\tok"],
    ]


def test_a_long_cell_over_many_lines_is_read_whole() -> None:
    cell = "line of a long text\n" * 40_000
    data = f'a,b\n1,"{cell}"\n2,x\n'.encode()
    rows = rows_of(data, piece=65_536)
    assert rows[0].cells == ["1", cell]
    assert (rows[1].number, rows[1].line) == (3, 40_003)


@pytest.mark.parametrize("piece", [1, 2, 5, 1 << 20])
def test_the_line_that_names_the_separator_and_empty_lines_may_come_in_pieces(piece: int) -> None:
    rows = rows_of(b"sep=;\r\n\r\n\na;b\r\n1;2\n", piece=piece, names_in=3)
    assert [(row.number, row.line, row.cells) for row in rows] == [(4, 5, ["1", "2"])]


@pytest.mark.parametrize("piece", [1, 1 << 20])
def test_a_row_that_looks_like_the_separators_line_is_a_row(piece: int) -> None:
    rows = rows_of(b"a\nx\nsep=;\nsep=,\ny\n", piece=piece)
    assert [row.cells for row in rows] == [["x"], ["sep=;"], ["sep=,"], ["y"]]


def test_a_stray_quotation_mark_is_found_below_empty_lines_and_a_header() -> None:
    rows = rows_of(b'\n\na,b\n1,ok\n2,"x"y\n3,ok\n', names_in=3)
    assert [bool(row.problem) for row in rows] == [False, True, False]
    assert rows[1].problem is not None
    assert rows[1].problem.startswith("Row 5, column “b”: text follows")


def test_a_stray_quotation_mark_in_the_header_is_no_problem_of_a_row() -> None:
    fmt = named_in(1)
    rows = list(read(Dribble(b'"a"x,b\n1,2\n3,4\n', 1 << 20), fmt))  # type: ignore[arg-type]
    assert [(row.number, row.cells, row.problem) for row in rows] == [
        (2, ["1", "2"], None),
        (3, ["3", "4"], None),
    ]


@pytest.mark.parametrize(
    ("data", "names_in", "place"),
    [
        (b'\n\na,b\n1,2\n3,"x\n', 3, "Row 5, column “b”"),
        (b'\n"a,b\n1,2\n', 2, "Row 2"),
        (b'a,b\n1,2\n"x\n"y,5\n', 1, "Row 3, column “a”"),
        (b'\n\na,b\n1,2\n3,"x\n4,"y"\n', 3, "Row 5, column “b”"),
        (b'a,"b\nb"\n1,2\n3,"x\n4,"y"\n', 1, "Row 3 (line 4), column “b”"),
        (b"a,b\n" + b"1,2\n" * 50_000 + b'3,"x\n', 1, "Row 50,002, column “b”"),
        (b"a,b\n" + b"1,2\n" * 50_000 + b'3,"x\n4,"y"\n', 1, "Row 50,002, column “b”"),
        (b"a,b\n" + b'1,"2"\n' * 50_000 + b'3,"x\n', 1, "Row 50,002, column “b”"),
    ],
)
def test_a_row_that_ends_the_reading_is_named_wherever_it_stands(
    data: bytes, names_in: int, place: str
) -> None:
    with pytest.raises(BadInput) as caught:
        list(read(Dribble(data, 1 << 16), named_in(names_in)))  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"{place}: a quotation mark opens the cell here")


def test_an_empty_cell_of_a_single_column_is_no_bad_row() -> None:
    report = report_of(b"text\nx\n\ny\n")
    assert (report.rows, report.bad_rows, report.problems) == (3, 0, [])


def test_one_column_and_one_cell_are_said_as_one() -> None:
    [row] = rows_of(b"sep=,\na\n1,2\n")
    assert row.problem is not None
    assert "2 cells where the header has 1 column." in row.problem


def test_a_fault_far_into_a_text_is_still_a_stray_mark() -> None:
    before = "x\n" * CELL_LIMIT
    fault = find_fault(f'{before}a,"b"c\n', start=len(before), delimiter=",")
    assert fault == QuoteFault("stray", 1, len(before) + 2, len(before) + 5)


def test_a_file_whose_lines_end_in_cr_alone_is_read_chunk_by_chunk() -> None:
    lines = itertools.repeat(b"1,2\r" * 10_000, 1_000)
    stream = Endless(itertools.chain([b"a,b\r"], lines))
    rows = read(cast(BinaryIO, stream), named_in(1))
    assert [next(rows).cells for _ in range(1_000)] == [["1", "2"]] * 1_000
    assert stream.taken < 200_000
