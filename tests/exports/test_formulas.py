"""No cell of a CSV runs as a formula in a spreadsheet, unless the plain variant is asked for."""

import pytest

from batchui.exports.csv import csv_chunks
from tests.exports.rows import row, table_of

DANGEROUS = [
    "=1+1",
    '=HYPERLINK("http://127.0.0.1/?"&A1,"ok")',
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "-",
    "+49 171 5550",
    "-3.5; DROP",
]
HARMLESS = ["-3.5", "+49", "-1.000,50", "-1e-5", "+5%", "a=1", " =1", "'=1", "1-2", "", "–5", "٣"]


@pytest.mark.parametrize("text", DANGEROUS)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_formula_gets_an_apostrophe_wherever_it_stands(text: str, at: int) -> None:
    rows = [row(number, ["x", "y"], error="none") for number in range(3)]
    rows[at].cells[at % 2] = text
    rows[at].error = text
    cells = table_of(csv_chunks(rows, columns=["a", "b"]))[1 + at]
    assert cells[at % 2] == f"'{text}"
    assert cells[4] == f"'{text}"
    others = table_of(csv_chunks(rows, columns=["a", "b"]))[1 + (at + 1) % 3]
    assert others == ["x", "y", "yes", "answered", "none"]


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_and_everything_else_stay_as_they_are(text: str) -> None:
    [cells] = table_of(csv_chunks([row(1, [text, "=1"])], columns=["a", "b"]))[1:]
    assert cells[0] == text


def test_an_answer_can_be_a_formula_too() -> None:
    [cells] = table_of(csv_chunks([row(answer=b'"=1+1"')], columns=["a", "b"]))[1:]
    assert cells[2] == "'=1+1"
    [cells] = table_of(csv_chunks([row(answer=b"-12")], columns=["a", "b"]))[1:]
    assert cells[2] == "-12"


def test_a_column_name_and_cells_beyond_the_header_can_be_formulas_too() -> None:
    [header, cells] = table_of(csv_chunks([row(extras=["=1"])], columns=["=a", "-b"]))
    assert header[:2] == ["'=a", "'-b"]
    assert cells[-1] == "'=1"


@pytest.mark.parametrize("text", DANGEROUS)
def test_the_plain_variant_changes_nothing(text: str) -> None:
    [_, cells] = table_of(csv_chunks([row(1, [text, "x"])], columns=["a", "b"], plain=True))
    assert cells[0] == text
