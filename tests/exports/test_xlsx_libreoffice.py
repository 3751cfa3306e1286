"""LibreOffice shows every cell of a new workbook as the file had it."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from batchui.exports.rows import cell_text
from batchui.exports.table import Table
from tests.exports.rows import row
from tests.exports.workbook.workbooks import by_libreoffice, workbook

pytestmark = pytest.mark.processes

TEXTS = ["=1+1", "{=1+1}", "00123", "1.10", "1e5", "http://127.0.0.1/", "<r>x</r>", "_x0041_x0042_"]
CELLS: list[Any] = [
    *TEXTS,
    *("a\nb", "日本語 😀", '"', "'", "  blanks ", "TRUE", "2026-05-01", "x" * 32_767),
    *(5, -7, 12345678901234567890, 123456789012, 123456789012345, 0, Decimal("1.10"), 0.5, True),
    *(False, Decimal("0.12345678901234"), Decimal("-1234567.80"), Decimal("0.1234567890123456789")),
    *({"date": "2026-05-01"}, {"date": "1900-02-28"}, {"date": "9999-12-31"}),
    *({"datetime": "2026-05-01 12:30:15"}, {"datetime": "2026-05-01 00:00:00"}),
    *({"datetime": "2026-05-01 12:30:15.250"}, {"time": "12:30:00"}, {"time": "00:00:00"}),
    *({"duration": "30:00:00"}, {"duration": "0:00:01"}, {"percent": "25%"}, {"percent": "12.50%"}),
    *({"shown": "00123", "number": 123}, {"shown": "-00123.50", "number": Decimal("-123.5")}),
]


def test_libreoffice_shows_each_cell_as_the_file_did(tmp_path: Path) -> None:
    table = Table(["a", "b"], header=["", "=b"], above=[["Title"]], typed=True)
    rows = [row(at, ["x", cell], answer=b'"=1+1"') for at, cell in enumerate(CELLS)]
    found = by_libreoffice(workbook(tmp_path, rows, table))
    assert found[:2] == [["Title", "", "", "", ""], ["", "=b", "answer", "status", "error"]]
    assert [cells[1] for cells in found[2:]] == [cell_text(cell) for cell in CELLS]
    assert {(cells[0], *cells[2:]) for cells in found[2:]} == {("x", "=1+1", "answered", "")}
