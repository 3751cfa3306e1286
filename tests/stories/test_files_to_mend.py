"""Files that are not quite right, and a table without a file: mended on the page, then answered."""

import csv
import io
import re
from pathlib import Path

import pytest

from tests.stories.hotel import answer_of
from tests.stories.product import Product
from tests.stories.visitors import MODEL, PHONE, Visitor, gets_the_focus, sticks_out

pytestmark = [pytest.mark.browser, pytest.mark.processes]

ASK = "Translate to German: {{review}}"
PLAIN = "CSV, every cell exactly as it is"
ADDED = ["answer", "status", "error"]


@pytest.fixture(scope="module", autouse=True)
def answered_at_once(product: Product) -> None:
    product.timings(queued=0, running=0)


def first_rows(ana: Visitor) -> list[list[str]]:
    """What the draft's page shows of the file: the names of the columns, and the first rows."""
    rows = ana.page.locator("#grid tr")
    return [row.locator(":is(th, td):not(.n, .answer)").all_inner_texts() for row in rows.all()]


def answers(ana: Visitor) -> list[list[str]]:
    """Start the draft that is shown; returns the CSV with its answers."""
    page = ana.page
    ana.start_button().click()
    page.locator("#live .status").and_(page.locator("[data-status^=finished]")).wait_for()
    return of_csv(saved(ana, PLAIN))


def saved(ana: Visitor, link: str) -> bytes:
    """The file behind a link of the page, or of its menu of downloads."""
    page = ana.page
    if page.locator("#downloads").count():
        page.get_by_role("button", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("link", name=link).click()
    return download.value.path().read_bytes()


def of_csv(content: bytes) -> list[list[str]]:
    text = content.decode("utf-8-sig")
    dialect = csv.Sniffer().sniff(text.splitlines()[0], delimiters=",;\t")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter, strict=True))


def ask(ana: Visitor, *, of_first: str) -> None:
    """Say what to ask, and wait for the prompt of the first row: then it is saved, too."""
    ana.choose_model(MODEL)
    ana.page.locator("#id_template").fill(ASK)
    prompt = f"Translate to German: {of_first}"
    ana.page.locator("#prompt-preview .prose").first.filter(has_text=prompt).wait_for()


def test_a_wrong_encoding_is_corrected_with_one_click(ana: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "guests.csv"
    file.write_bytes("id;guest;review\n1;René;Café froid\n2;Zoé;Bien\n".encode("mac-roman"))
    ana.upload(file)
    page = ana.page
    about = page.locator("#choose-encoding-button")
    page.locator("#grid").get_by_role("gridcell", name="CafŽ froid").wait_for()
    assert about.inner_text().strip() == "recognised as Windows-1252 (Western European)"
    ask(ana, of_first="CafŽ froid")
    encoding = page.get_by_label("Read the text as")
    about.click()
    encoding.focus()
    encoding.select_option("Mac Roman (Western European)")
    page.locator("#grid").get_by_role("gridcell", name="Café froid").wait_for()
    assert "read as Mac Roman (Western European)" in about.inner_text()
    assert page.locator("#id_template").input_value() == ASK
    gets_the_focus(about)
    assert answers(ana) == [
        ["id", "guest", "review", *ADDED],
        ["1", "René", "Café froid", answer_of("Café froid"), "answered", ""],
        ["2", "Zoé", "Bien", answer_of("Bien"), "answered", ""],
    ]


def test_another_encoding_can_be_chosen_before_anything_is_asked(
    ana: Visitor, tmp_path: Path
) -> None:
    file = tmp_path / "guests.csv"
    file.write_bytes("id;guest\n1;René\n2;Zoé\n".encode("mac-roman"))
    ana.upload(file)
    page = ana.page
    page.locator("#choose-encoding-button").click()
    page.get_by_label("Read the text as").select_option("Mac Roman (Western European)")
    page.locator("#grid").get_by_role("gridcell", name="René").wait_for()


# Row 3 has a line break in a cell, so that below it lines have other numbers than rows.
BAD = b"""id,review,note
1,Fine,
2,Nice,"two
lines"
3,Lift, stairs, noise
4
5,Good,
"""
MANY = (
    "4 cells where the header has 3 columns. If the text of a cell contains a comma, put the cell "
    "in quotation marks, or skip the row."
)
FEW = (
    "the cell is missing. The row has 1 cell where the header has 3 columns. Add what is missing, "
    "or skip the row."
)


def test_bad_rows_are_listed_downloaded_and_skipped(ana: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "reviews.csv"
    file.write_bytes(BAD)
    ana.upload(file)
    ana.start_button().wait_for()
    ask(ana, of_first="Fine")
    page = ana.page
    draft = page.url
    found = page.locator("#skips li").all_inner_texts()
    assert found == [f"Row 4 (line 5): {MANY}", f"Row 5 (line 6), column “review”: {FEW}"]
    page.get_by_role("button", name="2 rows cannot be asked").click()
    page.get_by_role("link", name="See 2 in a list").click()
    listed = page.locator("#problems tbody tr")
    assert [row.locator("th, td").all_inner_texts() for row in listed.all()] == [
        ["4", "", MANY],
        ["5", "review", f"T{FEW[1:]}"],
    ]
    assert of_csv(saved(ana, "Download them")) == [
        ["row", "id", "review", "note", "problem"],
        ["4", "3", "Lift", " stairs", MANY, " noise"],
        ["5", "4", "", "", f"Column “review”: {FEW}"],
    ]
    page.goto(draft)
    assert page.locator("#id_template").input_value() == ASK
    page.get_by_role("button", name="2 rows cannot be asked").click()
    page.get_by_label("Skip rows that cannot be asked").check()
    assert page.get_by_role("button", name="Start: 3 rows").is_visible()
    table = answers(ana)
    assert table[0] == ["id", "review", "note", *ADDED]
    assert [row[:5] for row in table[1:]] == [
        ["1", "Fine", "", answer_of("Fine"), "answered"],
        ["2", "Nice", "two\nlines", answer_of("Nice"), "answered"],
        ["3", "Lift", " stairs", "", "invalid"],
        ["4", "", "", "", "invalid"],
        ["5", "Good", "", answer_of("Good"), "answered"],
    ]
    skipped = MANY.replace(", or skip the row.", ".")
    assert table[3][5:] == [f"Row 4 (line 5): {skipped}", " noise"]


def test_long_names_fit_a_phone(ana: Visitor, tmp_path: Path) -> None:
    long = "exported_from_a_database_" * 4
    file = tmp_path / f"{long}.csv"
    file.write_text(f"{long}1,{long}2\n{long}\n" + f"{long},{long}\n" * 9)
    ana.upload(file)
    ana.start_button().wait_for()
    page = ana.page
    desk = page.viewport_size
    assert desk is not None
    page.set_viewport_size(PHONE)
    assert sticks_out(page) == []
    page.get_by_role("button", name="1 row cannot be asked").click()
    page.get_by_role("link", name="See it in a list").click()
    page.get_by_role("heading", name="Rows that cannot be asked").wait_for()
    assert sticks_out(page) == []
    page.set_viewport_size(desk)


def copy_cells(ana: Visitor, cells: list[list[str]]) -> None:
    """Put cells into the clipboard as a spreadsheet does: as text, and as a table in HTML."""
    quoted = [[f'"{cell}"' if "\n" in cell else cell for cell in row] for row in cells]
    text = "\n".join(map("\t".join, quoted)) + "\n"
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    ana.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ana.page.evaluate(
        """([text, html]) => navigator.clipboard.write([new ClipboardItem({
            "text/plain": new Blob([text], {type: "text/plain"}),
            "text/html": new Blob([html], {type: "text/html"}),
        })])""",
        [text, f"<table>{rows}</table>"],
    )


COLUMN = [["review"], ["Fine"], ["Nice,\nbut loud"], ["Good"]]
TABLE = [["id", "review"], ["007", "Fine"], ["008", "Nice,\nbut loud"]]


@pytest.mark.parametrize("cells", [COLUMN, TABLE])
def test_cells_pasted_from_a_spreadsheet_are_a_table(ana: Visitor, cells: list[list[str]]) -> None:
    page = ana.page
    page.goto("/new/")
    copy_cells(ana, cells)
    page.keyboard.press("Control+v")  # anywhere on the page
    pasted = page.get_by_label("Cells copied from a spreadsheet")
    assert pasted.input_value().splitlines()[0] == "\t".join(cells[0])
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/batches/[0-9a-f-]+/$"))
    ana.start_button().wait_for()
    shown = [[" ".join(cell.split()) for cell in row] for row in first_rows(ana)]
    assert shown == [[" ".join(cell.split()) for cell in row] for row in cells[:4]]
    page.locator("#id_template").fill("Reverse {{review}}")
    table = answers(ana)
    assert [row[: len(cells[0])] for row in table] == cells
    assert {row[-2] for row in table[1:]} == {"answered"}


def test_a_pasted_list_has_a_row_for_each_line(ana: Visitor) -> None:
    page = ana.page
    page.goto("/new/")
    page.get_by_text("Or paste a table or a list").click()
    pasted = page.get_by_label("Cells copied from a spreadsheet")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('Where is my parcel?\\nIt is late.')")
    pasted.focus()
    page.keyboard.press("Control+v")
    page.get_by_role("button", name="Use this").click()
    page.wait_for_url(re.compile(r"/batches/[0-9a-f-]+/$"))
    ana.start_button().wait_for()
    assert first_rows(ana) == [["prompt"], ["Where is my parcel?"], ["It is late."]]


def test_no_page_complained(ana: Visitor) -> None:
    assert ana.complaints == []
