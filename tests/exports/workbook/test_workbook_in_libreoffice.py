"""LibreOffice opens what comes out with everything in it, and what it saved can be added to."""

import html
import io
import re
import zipfile
from collections import Counter

import pytest

from tests.exports.samples import SAMPLES, Sample, add_to_sample
from tests.exports.workbook.splice import (
    answers_for,
    cells_in,
    compressed,
    number_of,
    sheet_member,
    sheet_xml,
    without_columns,
)
from tests.office import convert

pytestmark = pytest.mark.processes

NAMES = [
    *("plain", "text in cells", "pictures", "table", "filtered", "titled", "checked", "kinds"),
    *("styled blanks", "sparklines", "several sheets", "arrays", "macros", "openpyxl things"),
    *("by hand: a prefix", "by hand: strict", "by hand: comments", "by hand: pretty"),
    *("by hand: no rows", "by hand: no places", "descriptors"),
]
CHOSEN = {name.replace(": ", "-").replace(" ", "-"): SAMPLES[name] for name in NAMES}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Each sample, and each with its answers ("-added"), as LibreOffice saves it."""
    files = {}
    for name, sample in CHOSEN.items():
        ending = "xlsm" if name == "macros" else "xlsx"
        files[f"{name}.{ending}"] = sample.content
        files[f"{name}-added.{ending}"] = add_to_sample(sample)[0]
    return convert(tmp_path_factory.mktemp("office"), files, to="xlsx")


def shown(content: bytes, sheet: str) -> dict[tuple[int, int], str]:
    """The text or value of each cell of a sheet that LibreOffice saved, without its formula."""
    texts = []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if "xl/sharedStrings.xml" in archive.namelist():
            shared = archive.read("xl/sharedStrings.xml").decode()
            items = re.findall("<si>(.*?)</si>", shared, re.DOTALL)
            texts = ["".join(re.findall("<t[^>]*>([^<]*)</t>", item)) for item in items]
    return {
        place: texts[int(text)] if kind == "s" else text.rpartition("|")[2]
        for place, (kind, text) in cells_in(sheet_xml(content, sheet)).items()
    }


@pytest.mark.parametrize("name", CHOSEN)
def test_libreoffice_reads_the_old_cells_and_the_new_ones(
    name: str, saved: dict[str, bytes]
) -> None:
    sample = CHOSEN[name]
    first = number_of(sample.first)
    expected = {
        (sample.header_row, first + at): column
        for at, column in enumerate(("answer", "score", "sure"))
    }
    for row in sample.rows:
        text, number, truth = answers_for(row)
        expected |= {
            (row, first): html.escape(text),
            (row, first + 1): str(number),
            (row, first + 2): f"{truth:d}",
        }
    old, new = shown(saved[name], sample.sheet), shown(saved[f"{name}-added"], sample.sheet)
    assert not set(old) & set(expected)
    assert new == old | expected


@pytest.mark.parametrize("name", CHOSEN)
def test_libreoffice_finds_everything_that_was_there(name: str, saved: dict[str, bytes]) -> None:
    """The same other sheets; as many charts, pictures, comments, tables, filters, formats."""
    before, after = kinds_of_parts(saved[name]), kinds_of_parts(saved[f"{name}-added"])
    assert before == after
    sheet = CHOSEN[name].sheet
    assert elements(sheet_xml(saved[name], sheet)) == elements(
        sheet_xml(saved[f"{name}-added"], sheet)
    )
    for other in set(sheets_of(saved[name])) - {sheet}:
        assert shown(saved[name], other) == shown(saved[f"{name}-added"], other)


def kinds_of_parts(content: bytes) -> Counter[tuple[str, bytes]]:
    """How many parts of each kind there are; pictures and tables with their content."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return Counter(
            (
                re.sub("[0-9]", "", part),
                archive.read(part) if part.startswith(("xl/media/", "xl/tables/")) else b"",
            )
            for part in archive.namelist()
            if part != "xl/sharedStrings.xml"
        )


def sheets_of(content: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = re.findall('<sheet name="([^"]*)"', archive.read("xl/workbook.xml").decode())
    return [html.unescape(name) for name in found]


def elements(xml: str) -> Counter[str]:
    """How often each kind of element is there, without those of cells."""
    counted = Counter(re.findall("<([A-Za-z0-9:]+)", xml))
    for name in ("c", "v", "row", "f", "col", "cols"):
        del counted[name]
    return counted


@pytest.mark.parametrize("name", CHOSEN)
def test_what_libreoffice_saved_can_be_added_to(name: str, saved: dict[str, bytes]) -> None:
    sheet = CHOSEN[name].sheet
    sample = Sample(saved[name], "?", sheet, header_row=1, rows=(2, 3))
    content, added = add_to_sample(sample)
    old, new = compressed(sample.content), compressed(content)
    assert list(old) == list(new)
    assert {part for part in old if old[part] != new[part]} == {sheet_member(content, sheet)}
    before, after = sheet_xml(sample.content, sheet), sheet_xml(content, sheet)
    assert without_columns(after, added.letters) == without_columns(before, added.letters)
    first = number_of(added.letters[0])
    assert first == max((column for _, column in cells_in(before)), default=0) + 1 or name in (
        *("table", "titled", "arrays", "sparklines"),
    )
    assert cells_in(after)[2, first] == ("inlineStr", answers_for(2)[0])
    assert {p: v for p, v in cells_in(after).items() if p[1] < first} == cells_in(before)
