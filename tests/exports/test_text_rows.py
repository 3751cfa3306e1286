"""Many rows of texts at once become the same CSV as one after the other."""

from typing import Any

import pytest

from batchui.exports.csv import csv_chunks
from batchui.exports.formulas import Changed
from batchui.exports.rows import ExportRow, TextRows
from batchui.exports.table import Table

TABLE = Table(("id", "text"))
CELLS = [["1", "one"], ["2", 'a "quoted", text'], ["3", "=1+1"], ["-4", "*2"]]
ANSWERS = [b'"yes"', b'{"a": 1}', None, b'"\\ud83d"']
STATUSES = ["answered", "unfit", "failed", "answered"]
ERRORS = [None, "It does not fit.", "No; not now.", None]
TOGETHER = TextRows(CELLS, ANSWERS, STATUSES, ERRORS)
EACH = [
    ExportRow(number, cells, [], None, answer, status, error, str(number), None)
    for number, (cells, answer, status, error) in enumerate(
        zip(CELLS, ANSWERS, STATUSES, ERRORS, strict=True), 2
    )
]


def csv(rows: list[Any], **options: Any) -> tuple[bytes, int]:
    changed = Changed()
    made = b"".join(csv_chunks(rows, TABLE, changed=changed, **options))
    return made, changed.cells


@pytest.mark.parametrize("options", [{}, {"plain": True}, {"delimiter": ";"}])
def test_both_are_written_alike(options: dict[str, Any]) -> None:
    assert csv([TOGETHER], **options) == csv(EACH, **options)
    mixed = [*EACH[:2], TOGETHER, *EACH[2:], TOGETHER]
    assert csv(mixed, **options) == csv([*EACH[:2], *EACH, *EACH[2:], *EACH], **options)


def test_rows_of_other_widths_are_no_text_rows() -> None:
    with pytest.raises(ValueError, match="shorter"):
        csv([TOGETHER._replace(cells=[*CELLS[:3], ["4"]])])
