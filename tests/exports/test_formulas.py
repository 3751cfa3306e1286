"""No cell of a CSV runs as a formula in a spreadsheet, unless the plain variant is asked for."""

import csv
import io
import random

import pytest

from batchui.exports.csv import csv_chunks
from batchui.exports.formulas import BLANKS, SIGNS, Changed, numbers_that_go_on
from batchui.exports.rows import ExportRow
from batchui.exports.table import Table
from tests.exports.rows import row, table_of

DANGEROUS = [
    "=1+1",
    '=HYPERLINK("http://127.0.0.1/?"&A1,"ok")',
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "-",
    "+49 171 5550",
    "-3.5; DROP",
    "＝1+1",
    "＋1+1",
    "－1+1",
    "＠SUM(A1:A9)",
    "\ttab",
    "\rreturn",
    "\nfeed",
]
HARMLESS = ["-3.5", "+49", "-1.000,50", "-1e-5", "+5%", "a=1", " =1", "'=1", "1-2", "", "–5", "٣"]


@pytest.mark.parametrize("text", DANGEROUS)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_formula_gets_an_apostrophe_wherever_it_stands(text: str, at: int) -> None:
    rows = [row(number, ["x", "y"], error="none") for number in range(3)]
    rows[at].cells[at % 2] = text
    rows[at].error = text
    cells = table_of(csv_chunks(rows, Table(["a", "b"])))[1 + at]
    assert cells[at % 2] == f"'{text}"
    assert cells[4] == f"'{text}"
    others = table_of(csv_chunks(rows, Table(["a", "b"])))[1 + (at + 1) % 3]
    assert others == ["x", "y", "yes", "answered", "none"]


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_and_everything_else_stay_as_they_are(text: str) -> None:
    [cells] = table_of(csv_chunks([row(1, [text, "=1"])], Table(["a", "b"])))[1:]
    assert cells[0] == text


def test_an_answer_can_be_a_formula_too() -> None:
    [cells] = table_of(csv_chunks([row(answer=b'"=1+1"')], Table(["a", "b"])))[1:]
    assert cells[2] == "'=1+1"
    [cells] = table_of(csv_chunks([row(answer=b"-12")], Table(["a", "b"])))[1:]
    assert cells[2] == "-12"


def test_a_column_name_and_cells_beyond_the_header_can_be_formulas_too() -> None:
    [header, cells] = table_of(csv_chunks([row(extras=["=1"])], Table(["=a", "-b"])))
    assert header[:2] == ["'=a", "'-b"]
    assert cells[-1] == "'=1"


@pytest.mark.parametrize("text", DANGEROUS)
def test_the_plain_variant_changes_nothing(text: str) -> None:
    [_, cells] = table_of(csv_chunks([row(1, [text, "x"])], Table(["a", "b"]), plain=True))
    assert cells[0] == text


@pytest.mark.parametrize(
    ("text", "held_off"),
    [
        ("x;=1+1;y", "x;'=1+1;y"),
        ("x\n=1+1\ny", "x\n'=1+1\ny"),
        ("x\r@SUM(A1)", "x\r'@SUM(A1)"),
        ("x\t+1+1", "x\t'+1+1"),
        ("x,=1+1", "x,'=1+1"),
        ("x;＝1+1;－1", "x;'＝1+1;'－1"),
        ("\t=1+1", "'\t'=1+1"),
        ('x;"=1+1;y', "x;\"'=1+1;y"),
        ('x;"-1+1;y', 'x;" -1+1;y'),
        ("Pros:\n- cheap\n- fast\n---", "Pros:\n - cheap\n - fast\n ---"),
        ("fine ;-)", "fine ; -)"),
        # A number is left alone where the same separator, the line or the list ends it.
        ("[0.1,-0.25,-3e-05,-1]", "[0.1,-0.25,-3e-05,-1]"),
        ('{"a":[1,-2],"b":"x"}', '{"a":[1,-2],"b":"x"}'),
        ("1\n-2\n3", "1\n-2\n3"),
        ("1;-5,5+cmd|' /C calc'!A0", "1; -5,5+cmd|' /C calc'!A0"),
        ("1\n-5;5+cmd|' /C calc'!A0", "1\n -5;5+cmd|' /C calc'!A0"),
        ("1;-5", "1; -5"),
        # Nothing begins here.
        ("a = b; c - d, e + f @ g", "a = b; c - d, e + f @ g"),
        ("well-known, a@example.com", "well-known, a@example.com"),
        ("| a | b |\n|---|---|", "| a | b |\n|---|---|"),
    ],
)
def test_what_another_separator_would_make_a_formula_is_held_off_within_a_cell(
    text: str, held_off: str
) -> None:
    [cells] = table_of(csv_chunks([row(1, ["1", text])], Table(["a", "b"])))[1:]
    assert cells[1] == held_off
    [cells] = table_of(csv_chunks([row(1, ["1", text])], Table(["a", "b"]), plain=True))[1:]
    assert cells[1] == text


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("seed", range(30))
def test_no_cell_is_a_formula_whatever_separator_the_file_is_read_with(
    delimiter: str, seed: int
) -> None:
    dice = random.Random(seed)
    letters = ["a", " ", ",", ";", "\t", '"', "\n", "\r", "=", "-", "+", "@", "＝", "'", "(", "é"]

    def cell() -> str:
        return "".join(dice.choices(letters, k=dice.randrange(8)))

    rows = [row(at, [cell(), cell()], error=cell(), extras=[cell()]) for at in range(1, 200)]
    chunks = csv_chunks(rows, Table([cell(), cell()]), delimiter=delimiter)
    text = b"".join(chunks).decode("utf-8-sig")
    for separator in (",", ";", "\t"):
        for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            for found in line:
                assert not found.lstrip(BLANKS).startswith(tuple(SIGNS)), (separator, found)


@pytest.mark.parametrize("number", ["-5", "+5"])
@pytest.mark.parametrize(
    ("following", "delimiter"),
    [
        (["5+cmd|' /C calc'!A0"], ","),
        (["*cmd|' /C calc'!A0"], "\t"),
        (["", "*cmd|' /C calc'!A0"], "\t"),
        ([" (cmd|' /C calc'!A0)"], "\t"),
        (["5*WEBSERVICE(1)"], ","),
    ],
)
def test_a_number_that_the_next_cell_makes_a_formula_gets_an_apostrophe(
    number: str, following: list[str], delimiter: str
) -> None:
    columns = [f"c{at}" for at in range(1 + len(following))]
    rows = [row(1, [number, *following]), row(2, [number, *("good" for _ in following)])]
    table = table_of(csv_chunks(rows, Table(columns), delimiter=delimiter), delimiter)
    assert [cells[0] for cells in table[1:]] == [f"'{number}", number]


@pytest.mark.parametrize("following", ["good", "2026-11-22", "12.50", "1,000", "", "7 days", "-3"])
def test_a_number_before_an_ordinary_cell_stays_a_number(following: str) -> None:
    rows = [row(1, ["-5", following]), row(2, ["+1.5", following])]
    table = table_of(csv_chunks(rows, Table(["a", "b"])))
    assert [cells[0] for cells in table[1:]] == ["-5", "+1.5"]


def test_a_number_with_nothing_behind_it_stays_a_number() -> None:
    assert numbers_that_go_on([["-5", "+1"], ["", ""]]) == []
    assert numbers_that_go_on([["-5", "+1"]]) == []


def changed_cells(rows: list[ExportRow], columns: list[str], *, plain: bool = False) -> int:
    changed = Changed()
    list(csv_chunks(rows, Table(columns), plain=plain, changed=changed))
    return changed.cells


def test_the_cells_that_were_changed_are_counted_each_once() -> None:
    rows = [row(1, ["=1;=1", "fine"], error="=1"), row(2, ["-5", "*2"], extras=["@x", "-5"])]
    assert changed_cells(rows, ["=a", "b"]) == 5
    assert changed_cells(rows, ["=a", "b"], plain=True) == 0
    assert changed_cells([row(1, ["-5", "a;b"])], ["a", "b"]) == 0
