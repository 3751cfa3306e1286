"""The XML of a sheet is read piece by piece, and tidied only where it has to be."""

import io
import re
from pathlib import Path

import pytest

from batchui.prompts.conversion.ods_xml import OdsXml
from batchui.prompts.conversion.sheet_xml import CHUNK_BYTES, SheetXml
from batchui.prompts.problems import BadInput
from tests.prompts.conversion.conversions import MAIN, hand_written, made_of

LONG = "123456789012345678"
STYLES = '<cellXfs><xf numFmtId="0"/><xf numFmtId="9"/></cellXfs>'


@pytest.mark.parametrize("prefix", ["", "x:"])
def test_a_cell_is_told_before_the_rest_of_the_sheet_is_read(prefix: str) -> None:
    rows = "".join(f'<row r="{at}"><c r="A{at}"><v>{LONG}</v></c></row>' for at in range(1, 30_000))
    xml = re.sub("<(/?)", rf"<\1{prefix}", f"<worksheet><sheetData>{rows}</sheetData></worksheet>")
    stream = io.BytesIO(xml.encode())
    found = SheetXml(stream, {}).corrections()
    assert [next(found)[:2] for _ in range(3)] == [(0, 0), (1, 0), (2, 0)]
    assert stream.tell() == CHUNK_BYTES


def test_a_cell_of_an_ods_is_told_before_the_rest_is_read() -> None:
    cell = f'<table:table-cell office:value-type="float" office:value="{LONG}"/>'
    rows = f"<table:table-row>{cell}</table:table-row>" * 10_000
    opened: list[io.BytesIO] = []

    def content() -> io.BytesIO:
        opened.append(io.BytesIO(f"<office:spreadsheet><table:table >{rows}".encode()))
        return opened[-1]

    found = OdsXml(content, b"").corrections()
    assert [next(found)[:2] for _ in range(3)] == [(0, 0), (1, 0), (2, 0)]
    assert opened[-1].tell() == CHUNK_BYTES


def test_rows_without_any_number_begin_with_the_first(tmp_path: Path) -> None:
    rows = "<row><c><v>1</v></c><c s='1'><v>0.5</v></c></row>" * 2
    made = made_of(hand_written(tmp_path / "x.xlsx", rows, styles=STYLES))
    assert made.lines == ['[1,{"percent":"50%"}]'] * 2


def test_strange_values_are_found_below_a_beginning_without_rows(tmp_path: Path) -> None:
    text = f'<c r="A1" t="inlineStr"><is><t>{"x" * CHUNK_BYTES}</t></is></c>'
    cell = '<c r="B{}" s="1"><v xml:space="preserve">0.5</v></c>'
    rows = f'<row r="1">{text}{cell.format(1)}</row><row r="2">{cell.format(2)}</row>'
    made = made_of(hand_written(tmp_path / "x.xlsx", rows, styles=STYLES))
    assert [row[1] for row in made.rows] == [{"percent": "50%"}] * 2


def test_a_sheet_without_a_place_for_rows_is_empty(tmp_path: Path) -> None:
    more = {"xl/worksheets/data.xml": f'<worksheet xmlns="{MAIN}"></worksheet>'.encode()}
    with pytest.raises(BadInput, match=r"^There is nothing in this workbook\."):
        made_of(hand_written(tmp_path / "x.xlsx", "", more=more))
