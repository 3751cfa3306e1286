"""Rows for these tests."""

import csv
import io
from collections.abc import Iterable
from typing import Any

from batchui.exports.rows import Cell, ExportRow


def row(number: int = 1, cells: Iterable[Cell] = ("1", "good"), **changes: Any) -> ExportRow:
    values: dict[str, Any] = {
        "row": number,
        "cells": list(cells),
        "extras": [],
        "columns": None,
        "answer": b'"yes"',
        "status": "answered",
        "error": None,
        "external_reference": str(number),
        "usage": None,
        **changes,
    }
    return ExportRow(**values)


def table_of(chunks: Iterable[bytes], delimiter: str = ",") -> list[list[str]]:
    """CSV read back by the standard library."""
    text = b"".join(chunks).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
