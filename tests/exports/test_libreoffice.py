"""No cell runs as a formula in a real LibreOffice, whatever separator it reads the file with."""

from pathlib import Path

import pytest

from batchui.exports.csv import csv_chunks
from batchui.exports.formulas import SIGNS
from batchui.exports.table import Table
from tests.exports.rows import row
from tests.office import formulas

pytestmark = pytest.mark.processes

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t"}
LINK = '=HYPERLINK("http://127.0.0.1/?"&A1;"look")'
BETWEEN = ("\n", "\r", ";", "\t", ",")
CELLS = [
    *(f"{sign}1+1{after}" for sign in SIGNS for after in ("", ";x")),
    *(f"\n{sign}1+1" for sign in SIGNS),
    *(f"x{between}{sign}1+1{between}y" for sign in SIGNS for between in BETWEEN),
    *(f'x{between}"=1+1{between}y' for between in BETWEEN),
    *(LINK, f"x;{LINK};y", f"x\n{LINK}\ny"),
]


def exported(delimiter: str, *, plain: bool) -> bytes:
    """A file whose cells, header, answers and errors try to be formulas."""
    rows = [
        row(at, [text, "x", text], answer=None, error=text, extras=[text])
        for at, text in enumerate(CELLS, 1)
    ]
    columns = ["=1+1", "b;=1+1;c", "d\n=1+1\ne"]
    return b"".join(csv_chunks(rows, Table(columns), delimiter=delimiter, plain=plain))


@pytest.mark.parametrize("separator", DELIMITERS)
def test_libreoffice_finds_no_formula_whatever_separator_it_reads_with(
    tmp_path: Path, separator: str
) -> None:
    files = {name: exported(delimiter, plain=False) for name, delimiter in DELIMITERS.items()}
    plain = {f"plain-{name}": exported(d, plain=True) for name, d in DELIMITERS.items()}
    found = formulas(tmp_path, files | plain, separator=DELIMITERS[separator])
    assert {name: found[name] for name in files} == {name: [] for name in files}
    # The same cells as they are do run, so that the line above says something.
    assert all(len(found[name]) > 5 for name in plain), found
