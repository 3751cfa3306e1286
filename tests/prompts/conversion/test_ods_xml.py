"""ODS cells whose XML says more than calamine does, wherever they stand in a long file."""

import zipfile
from pathlib import Path

import pytest

from batchui.prompts.conversion.ods_xml import ERROR, LONGEST_SIGN
from batchui.prompts.conversion.sheet_xml import CHUNK_BYTES
from tests.prompts.conversion.conversions import made_of, open_document

CELL = "<table:table-cell {}>{}</table:table-cell>"
ONE = CELL.format('office:value-type="float" office:value="1"', "")
ERROR_CELL = CELL.format(
    f'office:value-type="string" office:string-value="" {ERROR.decode()}', "<text:p>#N/A</text:p>"
)
HALF = CELL.format('office:value-type="percentage" office:value="0.5"', "<text:p>50%</text:p>")
PERCENT = "<number:percentage-style/>"


def row(*cells: str, more: str = "") -> str:
    return f"<table:table-row{more}>{''.join(cells)}</table:table-row>"


def table(*rows: str) -> str:
    return f'<table:table table:name="A">{"".join(rows)}</table:table>'


def time(value: str) -> str:
    return CELL.format(f'office:value-type="time" office:time-value="{value}"', "")


def test_what_is_found_far_down_stands_in_its_row(tmp_path: Path) -> None:
    twice = row(ONE, more=' table:number-rows-repeated="2"')
    hidden = row(ONE, HALF, ERROR_CELL, more=' table:visibility="filter"')
    rows = [*[row(ONE)] * 5_000, twice, *[row(ONE)] * 5_000, hidden, row(ONE), hidden]
    made = made_of(open_document(tmp_path / "x.ods", table(*rows), styles=PERCENT))
    half = '[1,{"percent":"50%"}]'
    assert made.lines == [*["[1]"] * 10_002, half, "[1]", half]
    found = made.sheet
    assert (found.hidden_rows, found.first_hidden_row) == (2, 10_003)
    assert (found.errors, found.first_error) == (2, "C10003")


@pytest.mark.parametrize("before", [1, 10, len(ERROR) - 1])
def test_the_only_sign_may_be_cut_by_the_end_of_a_piece(tmp_path: Path, before: int) -> None:
    assert len(ERROR) < LONGEST_SIGN

    def written(filler: int) -> Path:
        text = CELL.format('office:value-type="string"', f"<text:p>{'x' * filler}</text:p>")
        return open_document(tmp_path / "x.ods", table(row(text), row(ONE, ERROR_CELL)))

    with zipfile.ZipFile(written(0)) as archive:
        at = archive.read("content.xml").index(ERROR)
    made = made_of(written(CHUNK_BYTES - before - at))
    with zipfile.ZipFile(tmp_path / "x.ods") as archive:
        assert archive.read("content.xml").index(ERROR) == CHUNK_BYTES - before
    assert (made.sheet.errors, made.sheet.first_error) == (1, "B2")


@pytest.mark.parametrize("where", ["first", "last"])
def test_a_style_is_found_among_many(tmp_path: Path, where: str) -> None:
    others = "<number:date-style/>" * (2 * CHUNK_BYTES // 20)
    styles = PERCENT + others if where == "first" else others + PERCENT
    made = made_of(open_document(tmp_path / "x.ods", table(row(HALF)), styles=styles))
    assert made.rows == [[{"percent": "50%"}]]


def test_a_time_of_a_day_or_more_is_a_duration(tmp_path: Path) -> None:
    cells = [time(f"PT{value}") for value in ("23H59M59S", "24H00M00S", "100H00M00.25S")]
    made = made_of(open_document(tmp_path / "x.ods", table(row(*cells))))
    assert made.rows == [
        [{"time": "23:59:59"}, {"duration": "24:00:00"}, {"duration": "100:00:00.25"}]
    ]
