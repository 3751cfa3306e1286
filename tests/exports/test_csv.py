"""CSV: the file as it came, and three more columns."""

import csv
import io
import random

import pytest

from batchui.exports.csv import csv_chunks, spreadsheet_delimiter
from batchui.exports.table import Table
from tests.exports.rows import row, table_of

COLUMNS = ["id", "review"]


def test_the_original_columns_stand_first_and_the_answers_behind_them() -> None:
    chunks = csv_chunks(
        [row(1), row(2, ["2", "bad"], answer=None, status="failed", error="Too long.")],
        Table(COLUMNS),
    )
    assert b"".join(chunks).decode() == (
        "\ufeffid,review,answer,status,error\r\n1,good,yes,answered,\r\n2,bad,,failed,Too long.\r\n"
    )


def test_the_plain_variant_has_no_byte_order_mark() -> None:
    assert b"".join(csv_chunks([], Table(["a"]), plain=True)) == b"a,answer,status,error\r\n"


def test_columns_that_the_file_has_already_are_not_shadowed() -> None:
    columns = ["Answer", "status", "status_2", "x"]
    [header, values] = table_of(csv_chunks([row(1, "abcd")], Table(columns)))
    assert header == [*columns, "answer_2", "status_3", "error"]
    assert values == ["a", "b", "c", "d", "yes", "answered", ""]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_plain_csv_is_byte_for_byte_what_the_csv_module_writes(seed: int, delimiter: str) -> None:
    dice = random.Random(seed)
    letters = ["a", " ", ",", ";", "\t", '"', "\n", "\r", "é", "日", "=", "-", "'", "\0", "\u2028"]

    def cell() -> str:
        return "".join(dice.choices(letters, k=dice.randrange(5)))

    rows = [[cell() for _ in range(3)] for _ in range(dice.randrange(1, 30))]
    written = io.StringIO()
    writer = csv.writer(written, delimiter=delimiter)
    writer.writerow(["a", "b", "c", "answer", "status", "error"])
    writer.writerows([*cells, "yes", "answered", ""] for cells in rows)
    exported = csv_chunks(
        [row(at, cells) for at, cells in enumerate(rows, 1)],
        Table(["a", "b", "c"]),
        delimiter=delimiter,
        plain=True,
    )
    assert b"".join(exported).decode() == written.getvalue()


def test_a_file_without_a_delimiter_gets_commas() -> None:
    assert table_of(csv_chunks([row(1, ["a,b"])], Table(["x"]), delimiter=None))[1][0] == "a,b"


@pytest.mark.parametrize(
    ("of_the_file", "made"), [(",", ","), (";", ";"), ("\t", ","), ("|", ","), (None, ",")]
)
def test_spreadsheets_get_commas_or_the_semicolons_of_the_file(
    of_the_file: str | None, made: str
) -> None:
    assert spreadsheet_delimiter(of_the_file) == made


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b'"plain"', "plain"),
        (b'"two\\nlines \\"quoted\\" \\u00e9"', 'two\nlines "quoted" é'),
        (b'"{\\"a\\": 1}"', '{"a": 1}'),
        (b'{"a": 1.10,\n "b": [true, "x"]}', '{"a":1.10,"b":[true,"x"]}'),
        (b"[]", "[]"),
        (b"0.10", "0.10"),
        (b"null", ""),
        (None, ""),
        (b'"cut \\ud83d"', "cut ?"),
        (b'"cut \xf0\x9f"', "cut \ufffd"),
        (b"not json", "not json"),
    ],
)
def test_a_text_answer_is_its_text_and_any_other_is_compact_json(
    answer: bytes | None, text: str
) -> None:
    assert table_of(csv_chunks([row(answer=answer)], Table(COLUMNS)))[1][2] == text


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    made = table_of(csv_chunks([row(1, ["cut \ud83d", "é"])], Table(["a", "\udc00"])))
    assert [cells[:2] for cells in made] == [["a", "?"], ["cut ?", "é"]]


def test_cells_beyond_the_header_come_behind_the_error() -> None:
    rows = [row(1, extras=["x,y", "z"], status="invalid", answer=None, error="Row 1: bad."), row(2)]
    assert table_of(csv_chunks(rows, Table(COLUMNS)))[1:] == [
        ["1", "good", "", "invalid", "Row 1: bad.", "x,y", "z"],
        ["1", "good", "yes", "answered", ""],
    ]


def test_cells_that_do_not_fit_the_columns_are_never_dropped_silently() -> None:
    with pytest.raises(ValueError, match="zip"):
        list(csv_chunks([row(1, "abc"), row(2, "ab")], Table(COLUMNS)))
    with pytest.raises(ValueError, match="3 cells a row for 2 columns"):
        list(csv_chunks([row(1, "abc")], Table(COLUMNS)))
