"""Workbooks of many kinds, as programs write them and as only a person would."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import openpyxl
import xlsxwriter
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.table import Table
from xlsxwriter.worksheet import Worksheet

from batchui.exports.workbook.writer import Added
from tests.exports.workbook.sample_workbooks import (
    STRICT,
    STRICT_RELATIONS,
    by_hand,
    with_descriptors,
)
from tests.exports.workbook.splice import add, answers_for
from tests.exports.workbook.xml_by_hand import XML_BY_HAND


@dataclass(frozen=True)
class Sample:
    """A workbook, and where answers go in it.

    first: the letters of the first free column. rows: those that have answers. readers: the
    libraries that can read it.
    """

    content: bytes
    first: str
    sheet: str = "Data"
    header_row: int = 1
    rows: tuple[int, ...] = (2, 3, 4)
    readers: tuple[str, ...] = ("calamine", "openpyxl")


def add_to_sample(sample: Sample) -> tuple[bytes, Added]:
    """The sample with its answers; see `answers_for`."""
    return add(
        sample.content,
        sheet=sample.sheet,
        header_row=sample.header_row,
        rows=[(row, answers_for(row)) for row in sample.rows],
        last_row=sample.rows[-1],
    )


Fill = Callable[[xlsxwriter.Workbook, Worksheet], None]


def by_xlsxwriter(fill: Fill, *, name: str = "Data", **options: object) -> bytes:
    """A workbook with three columns and three rows, and what `fill` adds to it."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True, **options}) as book:
        sheet = book.add_worksheet(name)
        bold = book.add_format({"bold": True, "bg_color": "#DDEEFF"})
        sheet.write_row(0, 0, ["id", "review", "stars"], bold)
        for row in range(1, 4):
            sheet.write_row(row, 0, [row, f"review {row}", row * 1.5])
        fill(book, sheet)
    return buffer.getvalue()


def by_openpyxl(fill: Callable[[openpyxl.Workbook], None]) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Data"
    sheet.append(["id", "review", "stars"])
    for row in range(1, 4):
        sheet.append([row, f"review {row}", row * 1.5])
    fill(book)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def png() -> io.BytesIO:
    """A picture of one point."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    return io.BytesIO(b"\x89PNG\r\n\x1a\n" + head + body + chunk(b"IEND", b""))


def nothing(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    """Add nothing."""


def pictures(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    chart = book.add_chart({"type": "column"})
    chart.add_series({"values": "=Data!$C$2:$C$4", "categories": "=Data!$B$2:$B$4"})
    sheet.insert_chart("A8", chart)
    sheet.insert_image("A30", "point.png", {"image_data": png()})
    sheet.write_comment("B2", "somebody said this")
    sheet.write_url("A6", "https://example.com/?a=1&b=2")


def table(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    sheet.add_table(
        "A1:D4", {"columns": [{"header": name} for name in ("id", "review", "stars", "note")]}
    )


def filtered(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    sheet.autofilter("A1:C4")
    sheet.freeze_panes(1, 1)
    sheet.set_row(2, None, None, {"hidden": True})
    sheet.set_column("B:B", 40)
    sheet.set_column("D:XFD", None, None, {"hidden": True})


def titled(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    """A title over more columns than the table has, and one under it."""
    sheet.merge_range("A6:B6", "the title of another table")
    sheet.merge_range("E7:F8", "")


def checked(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    sheet.data_validation("C2:C4", {"validate": "integer", "criteria": ">", "value": 0})
    sheet.conditional_format("A1:C4", {"type": "data_bar", "data_bar_2010": True})
    sheet.conditional_format("A1:Z9", {"type": "cell", "criteria": ">", "value": 2, "format": None})
    sheet.protect("secret")


def styled_blanks(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    yellow = book.add_format({"bg_color": "yellow", "num_format": "0.00"})
    for row in range(6):
        for column in range(3, 12):
            sheet.write_blank(row, column, None, yellow)


def sparklines(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    sheet.conditional_format("A1:J4", {"type": "data_bar", "data_bar_2010": True})
    sheet.add_sparkline("D2", {"range": "Data!A2:C2"})
    sheet.add_sparkline("E3", {"range": "Data!A3:C3"})


def several_sheets(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    other = book.add_worksheet("Totals & <more>")
    other.write_formula("A1", "=SUM(Data!C2:C4)", None, 9)
    other.write("B1", "text of another sheet")
    book.define_name("Stars", "=Data!$C$2:$C$4")


def kinds(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    red = book.add_format({"font_color": "red"})
    sheet.write_number("A5", 45000, day)
    sheet.write_boolean("B5", True)
    sheet.write_formula("C5", "=NA()", None, "#N/A")
    sheet.write_rich_string("D5", "plain ", red, "red", " plain")
    sheet.write_string("D2", " blanks and\nlines ")


def arrays(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    sheet.write_array_formula("C5:E5", "{=A2:C2*2}", None, 2)
    sheet.write_dynamic_array_formula("A8:F9", "=A2:F3", None, 1)


def macros(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    book.add_vba_project(io.BytesIO(bytes(range(256)) * 40), is_stream=True)


def chart_first(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    chart = book.add_chart({"type": "line"})
    chart.add_series({"values": "=Data!$C$2:$C$4"})
    leaf = book.add_chartsheet("Picture")
    leaf.set_chart(chart)
    leaf.set_first_sheet()


def far_away(book: xlsxwriter.Workbook, sheet: Worksheet) -> None:
    sheet.write("AZ20", "far away")


def formulas_without_values(book: openpyxl.Workbook) -> None:
    for row in range(2, 5):
        book["Data"].cell(row, 4).value = f"=C{row}*2"
    book["Data"]["F3"] = "=SUM(C2:C4)"


def openpyxl_things(book: openpyxl.Workbook) -> None:
    sheet = book["Data"]
    sheet["B2"].comment = Comment("said", "somebody")
    sheet["C1"].font = Font(bold=True)
    for row in range(1, 5):
        sheet.cell(row, 5).fill = PatternFill("solid", fgColor="FFFF00")
    sheet.add_table(Table(displayName="T", ref="A1:C4"))
    sheet.merge_cells("A6:B7")
    book.create_sheet("Other")["A1"] = "=Data!A2"


def openpyxl_streamed(book: openpyxl.Workbook) -> None:
    book["Data"].sheet_view.showGridLines = False


SAMPLES: dict[str, Sample] = {
    "plain": Sample(by_xlsxwriter(nothing), "D"),
    "text in cells": Sample(by_xlsxwriter(nothing, constant_memory=True), "D"),
    "pictures": Sample(by_xlsxwriter(pictures), "D"),
    "table": Sample(by_xlsxwriter(table), "E"),
    "filtered": Sample(by_xlsxwriter(filtered), "D"),
    "titled": Sample(by_xlsxwriter(titled), "G"),
    "checked": Sample(by_xlsxwriter(checked), "D"),
    "styled blanks": Sample(by_xlsxwriter(styled_blanks), "D", rows=(2, 3, 4, 6)),
    "sparklines": Sample(by_xlsxwriter(sparklines), "F"),
    "several sheets": Sample(by_xlsxwriter(several_sheets), "D"),
    "a sheet with an odd name": Sample(
        by_xlsxwriter(nothing, name="a & <b> “c” é"), "D", sheet="a & <b> “c” é"
    ),
    "kinds": Sample(by_xlsxwriter(kinds), "E", rows=(2, 3, 5)),
    "arrays": Sample(by_xlsxwriter(arrays), "G"),
    "macros": Sample(by_xlsxwriter(macros), "D"),
    "chart first": Sample(by_xlsxwriter(chart_first), "D"),
    "far away": Sample(by_xlsxwriter(far_away), "BA"),
    "zip64": Sample(by_xlsxwriter(nothing, use_zip64=True), "D"),
    "openpyxl": Sample(by_openpyxl(lambda book: None), "D"),
    "openpyxl formulas": Sample(by_openpyxl(formulas_without_values), "G"),
    "openpyxl things": Sample(by_openpyxl(openpyxl_things), "D"),
    "openpyxl view": Sample(by_openpyxl(openpyxl_streamed), "D"),
}

PLAIN_XML = XML_BY_HAND["plain"].xml
SAMPLES |= {
    **{
        f"by hand: {name}": Sample(
            by_hand(made.xml, main=STRICT, relations=STRICT_RELATIONS)
            if made.strict
            else by_hand(made.xml),
            made.first,
            header_row=made.header_row,
            rows=made.rows,
            readers=made.readers,
        )
        for name, made in XML_BY_HAND.items()
    },
    "an absolute target": Sample(by_hand(PLAIN_XML, place="/xl/worksheets/sheet1.xml"), "D"),
    "another folder": Sample(
        by_hand(PLAIN_XML, place="../my%20sheets/S.XML", member="my sheets/s.xml"),
        "D",
        readers=(),
    ),
    "stored": Sample(by_hand(PLAIN_XML, compression=zipfile.ZIP_STORED), "D"),
    "descriptors": Sample(with_descriptors(by_hand(PLAIN_XML)), "D"),
    "bytes before the zip file": Sample(b"#!/bin/sh\n" * 9 + by_hand(PLAIN_XML), "D"),
}
