"""A workbook goes in; what comes out is that workbook, or any other kind, cell by cell."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pyarrow.parquet
import pytest
from python_calamine import CalamineWorkbook

from tests.stories.hotel import (
    ANSWER_COLUMNS,
    BLANK,
    BLANK_ROW,
    FIRST_ROW,
    HEADER_ROW,
    LAST_ROW,
    NAMES,
    SHEETS,
    SHOWN,
    TITLE,
    answer_of,
    typed,
    write_hotel,
)
from tests.stories.product import Product
from tests.stories.visitors import MODEL, Visitor, batch_id

pytestmark = [pytest.mark.browser, pytest.mark.processes]

ASK = "Translate to German: {{review}}"
ADDED = ["answer", "status", "error"]
PLAIN = "CSV, every cell exactly as it is"
# Why the blank row was not asked.
EMPTY = "the row is empty"


@pytest.fixture(scope="module")
def hotel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_hotel(tmp_path_factory.mktemp("files") / "hotel.xlsx")


def read(ana: Visitor, file: Path) -> None:
    """Upload a file, and wait until the whole of it is read."""
    ana.upload(file)
    ana.start_button().wait_for()


def column_names(ana: Visitor) -> list[str]:
    """The names over the first rows of a draft."""
    return ana.page.locator("#grid thead th:not(.n, .answer)").all_inner_texts()


def test_she_sees_every_sheet_and_the_right_one_is_chosen(ana: Visitor, hotel: Path) -> None:
    read(ana, hotel)
    page = ana.page
    page.get_by_role("button", name="sheet “May”").click()
    sheets = page.locator(".sheet-choice")
    assert sheets.locator("strong").all_inner_texts() == SHEETS
    assert sheets.locator(".field-help").all_inner_texts() == [
        "2 rows, 1 column",
        "15 rows, 7 columns",
        "2 rows, 3 columns",
    ]
    first_rows = sheets.nth(2).locator(".sheet-rows").inner_text().split()
    assert first_rows == ["id", "review", "1", "June", "was", "quiet", "2"]
    assert sheets.nth(1).get_by_role("radio").is_checked()
    page.get_by_role("radio", name="June").click()
    page.get_by_role("button", name="sheet “June”").wait_for()
    assert column_names(ana) == ["id", "review", "Column 3"]


def test_the_row_of_the_names_is_found_and_changed_with_a_click_and_back(
    ana: Visitor, hotel: Path
) -> None:
    read(ana, hotel)
    page = ana.page
    assert column_names(ana) == NAMES
    page.get_by_role("button", name="column names in row 3").click()
    assert page.get_by_role("radio", name="which are in row 3").is_checked()
    page.get_by_role("button", name="1", exact=True).click()
    page.locator("#grid").get_by_role("columnheader", name=TITLE).wait_for()
    assert column_names(ana)[:2] == [TITLE, "Column 2"]
    page.get_by_role("button", name="column names in row 1").click()
    page.get_by_role("button", name="3", exact=True).click()
    page.get_by_role("button", name="column names in row 3").wait_for()
    assert column_names(ana) == NAMES


@pytest.fixture(scope="module")
def answered(product: Product, ana: Visitor, hotel: Path) -> str:
    """The batch of the workbook, with an answer to every row but the blank one."""
    product.timings(queued=0, running=0)
    ana.upload(hotel)
    page = ana.page
    ana.choose_model(MODEL)
    page.locator("#id_template").fill(ASK)
    tried = page.locator("#prompt-preview .prose")
    tried.first.filter(has_text=f"Translate to German: {SHOWN[FIRST_ROW][2]}").wait_for()
    page.get_by_role("button", name="1 row is skipped").wait_for()
    ana.start_button().click()
    ana.has_status("finished")
    return batch_id(page.url)


def saved(ana: Visitor, press: Callable[[], None]) -> tuple[str, bytes]:
    """The name and the content of the file that comes when something is pressed."""
    with ana.page.expect_download() as download:
        press()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_her_own_workbook_comes_back_with_the_answers_beside_her_columns(
    ana: Visitor, answered: str, hotel: Path
) -> None:
    page = ana.page
    page.goto(f"/batches/{answered}/")
    page.get_by_role("button", name="Download").click()
    name, content = saved(ana, page.get_by_role("button", name="My workbook").click)
    assert re.fullmatch(r"hotel.* \d{4}-\d\d-\d\d\.xlsx", name)
    page.get_by_text("The answers are in the columns H to J of the sheet “May”.").wait_for()
    before, after = everything(hotel.read_bytes()), everything(content)
    added = {
        ("May", f"{column}{row}"): cell
        for row in range(HEADER_ROW, LAST_ROW + 1)
        for column, cell in zip(ANSWER_COLUMNS, added_cells(after, row), strict=True)
        if cell.value is not None
    }
    assert after == {**before, **added}
    head = added_cells(after, HEADER_ROW)
    assert [cell.value for cell in head] == ADDED
    assert {cell.style for cell in head} == {before["May", f"A{HEADER_ROW}"].style}
    for row in range(FIRST_ROW, LAST_ROW + 1):
        assert_answered(row, [cell.value for cell in added_cells(after, row)])
    assert untouched(content) == untouched(hotel.read_bytes())


class Seen(NamedTuple):
    """A cell as openpyxl reads it: the value of one with a formula is the formula."""

    value: Any
    style: str


Cells = dict[tuple[str, str], Seen]


def added_cells(cells: Cells, row: int) -> list[Seen]:
    """The cells of a row beside hers."""
    return [cells.get(("May", f"{column}{row}"), Seen(None, "")) for column in ANSWER_COLUMNS]


def everything(workbook: bytes) -> Cells:
    """Every cell of every sheet that has a value or a style."""
    book = openpyxl.load_workbook(io.BytesIO(workbook))
    return {
        (sheet.title, cell.coordinate): Seen(
            cell.value, repr((cell.font, cell.fill, cell.border, cell.number_format))
        )
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if cell.value is not None or cell.has_style
    }


def untouched(workbook: bytes) -> dict[str, bytes]:
    """The parts of a workbook but its second sheet: the chart, the styles, the other sheets."""
    with zipfile.ZipFile(io.BytesIO(workbook)) as parts:
        return {
            name: parts.read(name)
            for name in parts.namelist()
            if name != "xl/worksheets/sheet2.xml"
        }


def assert_answered(row: int, added: list[Any]) -> None:
    """Fail unless these are the answer, status and error of this row of the sheet."""
    answer, status, error = added
    if row == BLANK_ROW:
        assert (answer or None, status) == (None, "skipped")
        assert EMPTY in error
    else:
        assert (answer, status, error or None) == (answer_of(SHOWN[row][2]), "answered", None)


def chosen(
    ana: Visitor, batch: str, kind: str, *, rows: str = "All rows", packed: bool = False
) -> bytes:
    """What comes when this is chosen on the page for downloads."""
    page = ana.page
    page.goto(f"/batches/{batch}/download/")
    # What a kind is meant for may follow its name, in brackets.
    page.get_by_role("radio", name=re.compile(rf"^{re.escape(kind)}( \(|$)")).check()
    page.get_by_role("radio", name=rows, exact=True).check()
    page.get_by_label("Packed as a ZIP").set_checked(packed)
    return saved(ana, page.locator("main form button.primary").click)[1]


def texts(row: int) -> list[Any]:
    """The cells of a row of the sheet as a person sees them."""
    return SHOWN.get(row, BLANK)


def inert(row: int) -> list[Any]:
    """The same, with none that Excel would run as a formula."""
    return [f"'{text}" if text.startswith("=") else text for text in texts(row)]


def values(row: int) -> list[Any]:
    """The cells of a row as dates and numbers."""
    return typed(row) if row in SHOWN else [None] * len(NAMES)


def assert_same_rows(table: list[list[Any]], cells: Callable[[int], list[Any]]) -> None:
    """Fail unless a table has the rows of the sheet in their order, and what came back for each."""
    width = len(NAMES)
    assert [row[:width] for row in table] == list(map(cells, range(FIRST_ROW, LAST_ROW + 1)))
    for row, line in enumerate(table, FIRST_ROW):
        assert_answered(row, line[width : width + 3])


def of_csv(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))


@pytest.mark.parametrize(
    ("kind", "cells", "mark"),
    [
        ("CSV for Excel and Sheets", inert, b"\xef\xbb\xbf"),
        (PLAIN, texts, b""),
    ],
)
def test_csv_has_her_title_her_columns_and_the_answers(
    ana: Visitor, answered: str, kind: str, cells: Callable[[int], list[Any]], mark: bytes
) -> None:
    content = chosen(ana, answered, kind)
    assert content[:3] == mark + content[len(mark) : 3]
    table = of_csv(content)
    assert table[: HEADER_ROW - 1] == [[TITLE, *BLANK[1:]], BLANK]
    assert table[HEADER_ROW - 1] == [*NAMES, *ADDED]
    assert_same_rows(table[HEADER_ROW:], cells)


def test_a_zip_has_the_same_csv_in_it(ana: Visitor, answered: str) -> None:
    with zipfile.ZipFile(io.BytesIO(chosen(ana, answered, PLAIN, packed=True))) as packed:
        [name] = packed.namelist()
        assert name.endswith(".plain.csv")
        assert packed.read(name) == chosen(ana, answered, PLAIN)


@pytest.mark.parametrize("kind", ["JSON", "JSONL, one row on each line"])
def test_json_has_her_columns_with_numbers(ana: Visitor, answered: str, kind: str) -> None:
    content = chosen(ana, answered, kind)
    found = json.loads(content) if kind == "JSON" else list(map(json.loads, content.splitlines()))
    assert [one["row"] for one in found] == list(range(FIRST_ROW, LAST_ROW + 1))
    assert {tuple(one["columns"]) for one in found} == {tuple(NAMES)}
    table = [[*one["columns"].values(), *(one[name] for name in ADDED)] for one in found]
    assert_same_rows(table, in_json)


def in_json(row: int) -> list[Any]:
    """The cells of a row as JSON has them: numbers, and everything else as a person sees it."""
    number, day, review, stars, share, points, note = texts(row)
    numbers = (int(stars), share, int(points)) if row in SHOWN else (stars, share, points)
    return [number, day, review, *numbers, note]


def test_a_new_workbook_has_typed_cells_at_their_rows(ana: Visitor, answered: str) -> None:
    book = openpyxl.load_workbook(io.BytesIO(chosen(ana, answered, "Excel workbook")))
    table = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
    assert (table[0][0], table[HEADER_ROW - 1]) == (TITLE, [*NAMES, *ADDED])
    for row in table[HEADER_ROW:]:
        if row[1] is not None:
            row[1] = row[1].date()
    assert_same_rows(table[HEADER_ROW:], values)


def test_an_opendocument_spreadsheet_has_typed_cells_at_their_rows(
    ana: Visitor, answered: str
) -> None:
    content = chosen(ana, answered, "OpenDocument spreadsheet")
    book = CalamineWorkbook.from_filelike(io.BytesIO(content))
    table = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    assert (table[0][0], table[HEADER_ROW - 1]) == (TITLE, [*NAMES, *ADDED])
    assert_same_rows(blanks_are_none(table[HEADER_ROW:]), values)


def blanks_are_none(rows: list[list[Any]]) -> list[list[Any]]:
    """The rows, as programs differ in what they read of a blank cell."""
    return [[None if cell == "" else cell for cell in row] for row in rows]


def test_parquet_has_typed_columns(ana: Visitor, answered: str) -> None:
    table = pyarrow.parquet.read_table(io.BytesIO(chosen(ana, answered, "Parquet")))
    assert table.column_names == [*NAMES, *ADDED]
    rows = [list(row.values()) for row in table.to_pylist()]
    assert_same_rows(blanks_are_none(rows), values)


def test_only_the_rows_and_columns_that_she_chose_go_out_one_after_another(
    ana: Visitor, answered: str
) -> None:
    page = ana.page
    page.goto(f"/batches/{answered}/download/")
    page.get_by_text("Columns", exact=True).click()
    for name in NAMES[1:]:
        page.get_by_role("checkbox", name=name, exact=True).uncheck()
    page.get_by_label("Name of the answer column").fill("in German")
    page.get_by_role("radio", name=PLAIN).check()
    for rows, expected in {
        "Only answered rows": [
            [cells[0], answer_of(cells[2]), "answered"] for cells in SHOWN.values()
        ],
        "Only rows that need attention": [],
    }.items():
        page.get_by_role("radio", name=rows).check()
        table = of_csv(saved(ana, page.locator("main form button.primary").click)[1])
        assert table[HEADER_ROW - 1] == ["id", "in German", "status", "error"]
        assert [line[:3] for line in table[HEADER_ROW:]] == expected
    page.reload()
    assert page.get_by_label("Name of the answer column").input_value() == "in German"
    assert page.get_by_role("radio", name="Only rows that need attention").is_checked()


def test_a_second_question_asks_about_the_first_answer(ana: Visitor, answered: str) -> None:
    page = ana.page
    page.goto(f"/batches/{answered}/")
    first = page.locator("h1").inner_text()
    page.get_by_role("button", name="Ask a further question").first.click()
    ana.start_button().wait_for()
    draft = batch_id(page.url)
    page.locator("#id_template").fill("Summarise: ")
    page.get_by_role("button", name="answer", exact=True).click()
    assert page.locator("#id_template").input_value() == "Summarise: {{answer}}"
    page.locator("#prompt-preview .prose").first.filter(has_text="[sandbox] [German]").wait_for()
    ana.start_button().click()
    ana.has_status("finished")  # the blank row has no answer to ask about, and is skipped
    assert page.get_by_role("link", name=first, exact=True).get_attribute("href") == (
        f"/batches/{answered}/"
    )
    page.goto("/")
    assert f"Asks further about “{first}”" in page.locator(f"#batch-{draft}").inner_text()
    page.goto(f"/batches/{draft}/")
    page.get_by_role("button", name="Download").click()
    after = everything(saved(ana, page.get_by_role("button", name="My workbook").click)[1])
    for row, cells in SHOWN.items():
        answer = answer_of(cells[2])
        assert after["May", f"H{row}"].value == answer
        assert after["May", f"K{row}"].value == f"[sandbox] Summary: {answer}"


def test_no_page_complained(ana: Visitor) -> None:
    assert ana.complaints == []
