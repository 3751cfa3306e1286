"""No cell runs as a formula in a real LibreOffice, whatever separator it reads the file with."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from batchui.exports.csv import csv_chunks
from batchui.exports.formulas import SIGNS
from batchui.exports.table import Table
from tests.conftest import required_program
from tests.exports.rows import row

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


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> "Office":
    return Office(
        required_program("soffice", package="libreoffice-calc"), tmp_path_factory.mktemp("office")
    )


class Office:
    """LibreOffice without a window."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program, self._folder = program, folder

    def formulas(self, files: dict[str, bytes], *, separator: str) -> dict[str, list[str]]:
        """The formulas that LibreOffice finds in each file, read with this separator."""
        shutil.rmtree(self._folder / "files", ignore_errors=True)
        (self._folder / "files").mkdir()
        for name, content in files.items():
            (self._folder / "files" / f"{name}.csv").write_bytes(content)
        # Separator, quotation mark, UTF-8, from line 1 on; the last one: formulas are evaluated.
        how = f"CSV:{ord(separator)},34,76,1,,0,false,true,false,false,false,-1,true"
        subprocess.run(
            [
                self._program,
                f"-env:UserInstallation={(self._folder / 'profile').as_uri()}",
                *("--headless", f"--infilter={how}", "--convert-to", "fods", "--outdir", "."),
                *(f"{name}.csv" for name in files),
            ],
            cwd=self._folder / "files",
            capture_output=True,
            check=True,
            timeout=120,
        )
        sheets = {name: (self._folder / "files" / f"{name}.fods").read_text() for name in files}
        return {name: re.findall(r'table:formula="([^"]*)"', xml) for name, xml in sheets.items()}


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
    office: Office, separator: str
) -> None:
    files = {name: exported(delimiter, plain=False) for name, delimiter in DELIMITERS.items()}
    plain = {f"plain-{name}": exported(d, plain=True) for name, d in DELIMITERS.items()}
    found = office.formulas(files | plain, separator=DELIMITERS[separator])
    assert {name: found[name] for name in files} == {name: [] for name in files}
    # The same cells as they are do run, so that the line above says something.
    assert all(len(found[name]) > 5 for name in plain), found
