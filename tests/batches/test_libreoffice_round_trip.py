"""What LibreOffice saved is asked like the CSV it was made from, and it opens what comes back."""

import csv
import io
import zipfile
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from django.core.files.base import ContentFile
from xlsxwriter import Workbook

from batchui.batches import decisions, exporting, intake, references, sources
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.exports.formulas import SIGNS
from batchui.prompts.ask import Ask
from batchui.prompts.reading.format import Choices
from batchui.prompts.reading.readers import read
from batchui.teams.models import Team
from tests.batches.any_replies import AnyReplies
from tests.batches.conftest import MODEL
from tests.batches.read_back import downloads
from tests.exports.workbook.splice import compressed, sheet_member
from tests.office import convert, formulas

pytestmark = [pytest.mark.processes, pytest.mark.django_db]

# What each column has, and how LibreOffice reads it: 1 is as it likes, 2 text, 5 a day.
COLUMNS: dict[str, tuple[int, list[str]]] = {
    "id": (1, [str(number) for number in range(1, 41)]),
    "text": (
        2,
        ["Grüße, „Ümläute“", "two\nlines", ' a "quoted" text; ', "日本 😀", "", "=1+1", "'x"],
    ),
    "amount": (1, ["1.1", "-0.5", "1000000", "", "0.001", "0", "12345.678"]),
    "share": (1, ["25.00%", "12.50%", "100.00%", "0.00%", ""]),
    "day": (5, ["2026-05-01", "1999-12-31", "", "2028-02-29"]),
    "moment": (1, ["2026-05-01 12:30:15", "2026-01-02 00:00:01", "2024-02-29 00:00:00"]),
    "paid": (1, ["TRUE", "FALSE", ""]),
    "code": (2, ["00123", "007", "1.10", "", "1e5"]),
    "long": (2, ["123456789012345678", "999999999999999999"]),
}


def in_csv(header: list[str], rows: list[list[str]], delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([header, *rows])
    return text.getvalue().encode()


def varied() -> bytes:
    """A CSV of 40 rows."""
    columns = [islice(cycle(cells), 40) for _, cells in COLUMNS.values()]
    return in_csv([*COLUMNS], [list(row) for row in zip(*columns, strict=True)])


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what LibreOffice does."""
    return tmp_path_factory.mktemp("office")


def uploaded(team: Team, content: bytes, name: str, ask: Ask, **chosen: Any) -> Batch:
    upload = ContentFile(content, name)
    choices = Choices(**chosen)
    batch = intake.receive(upload, team=team, by=None, ask=ask, choices=choices, check_now=True)
    assert (batch.status, batch.problem) == (BatchStatus.DRAFT, "")
    return batch


def answered(batch: Batch, say: Callable[[int], str]) -> Batch:
    """The batch, started and answered."""
    assert decisions.start(batch, by=None, ask=batch.ask, prepare_now=True)
    batch.refresh_from_db()
    AnyReplies(7, say).answer(batch)
    assert batch.status == BatchStatus.FINISHED
    return batch


def items(batch: Batch) -> list[bytes]:
    """What is sent for each row of a draft."""
    writer = references.item_writer(batch)
    with sources.open_rows(batch) as stream:
        return [writer.encode(row.number, row.cells) for row in read(stream, batch.format)]


@pytest.mark.parametrize("ending", ["xlsx", "xls", "ods"])
def test_a_workbook_is_asked_like_the_csv_it_was_made_from(
    team: Team, office: Path, ending: str
) -> None:
    kinds = "/".join(f"{at}/{kind}" for at, (kind, _) in enumerate(COLUMNS.values(), 1))
    # Separated by commas, quoted by ", in UTF-8, from line 1; special numbers are understood.
    how = [f"--infilter=CSV:44,34,76,1,{kinds},1033,false,true"]
    made = convert(office / ending, {"rows.csv": varied()}, to=ending, how=how)
    # An XLS does not say which numbers are percentages.
    asked = [name for name in COLUMNS if (ending, name) != ("xls", "share")]
    ask = Ask(model=MODEL, template="; ".join(f"{name}: {{{{{name}}}}}" for name in asked))
    expected = items(uploaded(team, varied(), "rows.csv", ask))
    assert len(expected) == 40
    assert items(uploaded(team, made["rows"], f"rows.{ending}", ask)) == expected


def rich_workbook() -> bytes:
    """Three sheets, with formulas, styles, a chart, comments and conditional formats."""
    made = io.BytesIO()
    with Workbook(made) as book:
        bold = book.add_format({"bold": True, "bg_color": "#DDEEFF"})
        money = book.add_format({"num_format": '#,##0.00 "EUR"'})
        sums, sheet, notes = (book.add_worksheet(name) for name in ("Sums", "Rows", "Notes"))
        sheet.write_row(0, 0, ["id", "text", "price", "double"], bold)
        for row in range(1, 6):
            sheet.write_row(row, 0, [row, f"text {row}"])
            sheet.write_number(row, 2, row * 1.5, money)
            sheet.write_formula(row, 3, f"=C{row + 1}*2", money, row * 3)
        sheet.write_comment("B2", "Somebody said this")
        sheet.conditional_format("C2:C6", {"type": "3_color_scale"})
        sheet.conditional_format(
            "D2:D6", {"type": "cell", "criteria": ">", "value": 6, "format": bold}
        )
        sums.write_formula("A1", "=SUM(Rows!C2:C6)", money, 22.5)
        chart = book.add_chart({"type": "column"})
        chart.add_series({"values": "=Rows!$C$2:$C$6", "categories": "=Rows!$B$2:$B$6"})
        sums.insert_chart("B3", chart)
        notes.write_string("A1", "Nothing is asked of this", bold)
        notes.write_comment("A1", "Nor of this")
    return made.getvalue()


@pytest.mark.parametrize("saved_by", ["xlsxwriter", "libreoffice"])
def test_the_workbook_that_comes_back_opens_with_everything_in_it(
    team: Team, office: Path, tmp_path: Path, saved_by: str
) -> None:
    before = rich_workbook()
    if saved_by == "libreoffice":
        before = convert(office / "saved", {"rich.xlsx": before}, to="xlsx")["rich"]
    batch = uploaded(team, before, "rich.xlsx", Ask(model=MODEL, template="{{text}}"), sheet="Rows")
    after = downloads(answered(batch, "=answer {}".format), tmp_path)["workbook"]
    # Every other part of the file is the same, byte for byte.
    old, new = compressed(before), compressed(after)
    assert list(old) == list(new)
    assert {part for part in old if old[part] != new[part]} == {sheet_member(before, "Rows")}
    # LibreOffice finds all that it found before, and the answers.
    files = {"before.xlsx": before, "after.xlsx": after}
    opened = convert(office / f"opened-{saved_by}", files, to="xlsx")
    was, found = facts(opened["before"]), facts(opened["after"])
    assert found.pop("answers") == [
        ["answer", "status", "error"],
        *[[f"=answer {row}", "answered", None] for row in range(2, 7)],
    ]
    assert was.pop("answers") == [[None] * 3] * 6
    assert found == was
    assert (found["sheets"], found["charts"]) == (["Sums", "Rows", "Notes"], 1)
    assert (found["comments"], found["conditions"]) == (2, ["C2:C6", "D2:D6"])
    assert found["formulas"] == ["=SUM(Rows!C2:C6)", *[f"=C{row}*2" for row in range(2, 7)]]
    assert found["bold"] == ["A1", "B1", "C1", "D1", "A1"]


def facts(content: bytes) -> dict[str, Any]:
    """What openpyxl finds in the workbook, the answers apart."""
    book = openpyxl.load_workbook(io.BytesIO(content))
    rows = book["Rows"]
    answers = [[rows.cell(row, column).value for column in (5, 6, 7)] for row in range(1, 7)]
    rows.delete_cols(5, 3)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
    return {
        "answers": answers,
        "sheets": book.sheetnames,
        "charts": sum(name.startswith("xl/charts/chart") for name in names),
        "comments": sum(cell.comment is not None for cell in cells),
        "conditions": sorted(str(found.sqref) for found in rows.conditional_formatting),
        "formulas": [cell.value for cell in cells if cell.data_type == "f"],
        "bold": [cell.coordinate for cell in cells if cell.font.bold],
        "formats": [cell.number_format for cell in cells],
        "values": [cell.value for cell in cells],
    }


BODIES = [
    *("1+1", "SUM(A1:A9)", "cmd|'/C calc'!A0", 'HYPERLINK("http://127.0.0.1/";"x")', "2*3,4"),
    *('WEBSERVICE("http://127.0.0.1/")', 'DDE("soffice";"a";"b")', "A1&B1", "1;1+1", "-1-1"),
]
STARTS = ["", "\t", "\r\n", "x;", "x,", "x\t", "x\n", 'x;"', 'x\n"', "5;-"]
# LibreOffice takes most of them for formulas only with the first sign.
BEGINS = [*SIGNS[:4], *["="] * 6]
PAYLOADS = [
    f"{start}{sign}{body}" for start in STARTS for sign, body in zip(BEGINS, BODIES, strict=True)
]


@pytest.mark.parametrize("separator", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
def test_no_formula_of_a_hundred_runs_when_the_csv_for_excel_is_opened(
    team: Team, office: Path, separator: str
) -> None:
    assert len(set(PAYLOADS)) == 100
    rows = [[f"r{at}", payload, payload] for at, payload in enumerate(PAYLOADS)]
    files = {}
    for name, delimiter in {"comma": ",", "semicolon": ";", "tab": "\t"}.items():
        content = in_csv(["id", "=1+1", "b"], rows, delimiter)
        chosen = {"delimiter": delimiter, "header_row": 1}
        batch = uploaded(team, content, "rows.csv", Ask(model=MODEL, template="{{id}}"), **chosen)
        answered(batch, lambda row: PAYLOADS[row - 2])
        files[name] = b"".join(exporting.csv(batch))
        files[f"{name}-plain"] = b"".join(exporting.csv_plain(batch))
    found = formulas(office / f"formulas-{ord(separator)}", files, separator=separator)
    assert {name: found[name] for name in ("comma", "semicolon", "tab")} == {
        name: [] for name in ("comma", "semicolon", "tab")
    }
    # As they were uploaded they do run, so that the line above says something.
    assert all(len(found[f"{name}-plain"]) > 15 for name in ("comma", "semicolon", "tab")), {
        name: len(formulas) for name, formulas in found.items()
    }
