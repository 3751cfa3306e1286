"""Cells whose XML says more than calamine does, written by hand."""

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from batchui.prompts.problems import BadInput
from tests.prompts.conversion.conversions import MAIN, OFFICE, hand_written, made_of

STYLES = (
    '<numFmts count="1"><numFmt numFmtId="164" formatCode="00000"/>'
    '<numFmt numFmtId="165" formatCode="&quot;no. &quot;000\\-000"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="9"/><xf numFmtId="10"/><xf numFmtId="164"/>'
    '<xf numFmtId="165"/><xf numFmtId="2"/></cellXfs>'
)


def line_of(path: Path, cells: str, **more: str) -> str:
    made = made_of(hand_written(path / "x.xlsx", f'<row r="1">{cells}</row>', **more))
    [line] = made.lines
    return line


def test_whole_numbers_of_any_length_are_exact(tmp_path: Path) -> None:
    digits = ["999999999999999", "9007199254740993", "123456789012345678", "1" * 30]
    cells = "".join(
        f'<c r="{letter}1"><v>{it}</v></c>' for letter, it in zip("ABCD", digits, strict=True)
    )
    cells += '<c r="E1" t="n"><v>-123456789012345678</v></c>'
    assert line_of(tmp_path, cells) == f"[{','.join(digits)},-123456789012345678]"


def test_a_long_number_in_a_text_or_behind_a_formula(tmp_path: Path) -> None:
    cells = (
        '<c r="A1" t="str"><f>"x"</f><v>123456789012345678</v></c>'
        '<c r="B1"><f t="shared" si="0">A1*1</f><v>123456789012345678</v></c>'
        '<c r="C1"><f t="shared" si="0"/><v>223456789012345678</v></c>'
    )
    assert (
        line_of(tmp_path, cells) == '["123456789012345678",123456789012345678,223456789012345678]'
    )


def test_numbers_have_the_digits_that_a_spreadsheet_shows(tmp_path: Path) -> None:
    values = [
        "0.30000000000000004",
        "1.1000000000000001",
        "1e300",
        "1E-7",
        "1.5E+17",
        "-0.5",
        "2.0",
    ]
    cells = "".join(
        f'<c r="{letter}1"><v>{it}</v></c>' for letter, it in zip("ABCDEFG", values, strict=True)
    )
    assert line_of(tmp_path, cells) == "[0.3,1.1,1E+300,1e-7,150000000000000000,-0.5,2]"


def test_the_largest_numbers_stay_numbers_that_can_be_read(tmp_path: Path) -> None:
    values = ["1.7976931348623157E+308", "-1.7976931348623157E+308", "9" * 308, "9" * 309]
    cells = "".join(
        f'<c r="{letter}1"><v>{it}</v></c>' for letter, it in zip("ABCD", values, strict=True)
    )
    line = line_of(tmp_path, cells)
    assert json.loads(line) == msgspec.json.decode(line)
    largest = "1.7976931348623157e308"
    assert line == f'[{largest},-{largest},{"9" * 308},"{"9" * 309}"]'


def test_styles_decide_how_a_number_is_shown(tmp_path: Path) -> None:
    cells = (
        '<c r="A1" s="1"><v>0.25</v></c><c r="B1" s="2" t="n"><v>0.12345</v></c>'
        '<c r="C1" s="3"><v>123</v></c><c r="D1" t="n" s="4"><v>1234</v></c>'
        '<c r="E1" s="5"><v>1.5</v></c><c r="F1" s="1" t="str"><v>text</v></c>'
        '<c r="G1" s="3"><v>1.5</v></c><c r="H1" s="1"><f>A1</f><v>1</v></c><c r="I1" s="1"/>'
    )
    assert line_of(tmp_path, cells, styles=STYLES) == (
        '[{"percent":"25%"},{"percent":"12.35%"},{"shown":"00123","number":123},'
        '{"shown":"no. 001-234","number":1234},1.5,"text",1.5,{"percent":"100%"}]'
    )


@pytest.mark.parametrize("number", ["", "x", "-1", "1" * 10])
def test_a_format_without_its_number_is_that_of_no_style(tmp_path: Path, number: str) -> None:
    styles = f'<numFmts><numFmt numFmtId="{number}" formatCode="0%"/><numFmt formatCode="00"/>'
    styles += '</numFmts><cellXfs><xf numFmtId="1"/><xf numFmtId="0"/></cellXfs>'
    cells = '<c r="A1" s="0"><v>7</v></c><c r="B1" s="1"><v>7</v></c>'
    assert line_of(tmp_path, cells, styles=styles) == "[7,7]"


def test_tags_may_have_a_prefix(tmp_path: Path) -> None:
    sheet = (
        '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        '<x:sheetData><x:row r="1" hidden="1"><x:c r="A1"><x:v>123456789012345678</x:v></x:c>'
        '<x:c r="B1" s="1"><x:v>0.5</x:v></x:c></x:row><x:row r="2" hidden="true">'
        '<x:c r="A2" t="e"><x:v>#N/A</x:v></x:c><x:c r="B2"><x:f>A1</x:f></x:c></x:row>'
        "</x:sheetData></x:worksheet>"
    )
    path = tmp_path / "x.xlsx"
    more = {"xl/worksheets/data.xml": sheet.encode()}
    made = made_of(hand_written(path, "", styles=STYLES, more=more))
    assert made.lines == ['[123456789012345678,{"percent":"50%"}]', "[]"]
    sheet_made = made.sheet
    assert (sheet_made.hidden_rows, sheet_made.first_hidden_row) == (2, 1)
    assert (sheet_made.errors, sheet_made.first_error) == (1, "A2")
    assert (sheet_made.uncalculated, sheet_made.first_uncalculated) == (1, "B2")


def test_formulas_without_a_value_are_counted_in_all_their_forms(tmp_path: Path) -> None:
    forms = ["<f>1</f>", "<f>1</f><v/>", "<f>1</f><v></v>", "<f>1</f><v />", '<f t="shared"/>']
    rows = "".join(f'<row r="{at}"><c r="B{at}">{it}</c></row>' for at, it in enumerate(forms, 2))
    rows += '<row r="9"><c r="B9"><f>1</f><v>1</v></c></row>'
    made = made_of(hand_written(tmp_path / "x.xlsx", rows))
    assert (made.sheet.uncalculated, made.sheet.first_uncalculated) == (5, "B2")


def test_what_is_found_far_down_stands_in_its_row(tmp_path: Path) -> None:
    """Beyond the first piece of the XML, and of the rows."""
    rows = [f'<row r="{at}"><c r="C{at}"><v>{at}</v></c></row>' for at in range(1, 40_001)]
    rows[39_990] = '<row r="39991"><c r="C39991"><v>123456789012345678</v></c></row>'
    rows[39_995] = '<row r="39996" hidden="1"><c r="C39996" t="e"><v>#N/A</v></c></row>'
    made = made_of(hand_written(tmp_path / "x.xlsx", "".join(rows)))
    assert made.lines[39_989:39_997] == [
        *('["","",39990]', '["","",123456789012345678]', '["","",39992]', '["","",39993]'),
        *('["","",39994]', '["","",39995]', "[]", '["","",39997]'),
    ]
    assert (made.sheet.first_hidden_row, made.sheet.first_error) == (39_996, "C39996")


@pytest.mark.parametrize("prefix", ["", "x:"])
def test_a_row_longer_than_a_piece_of_the_xml_is_searched_as_a_whole(
    tmp_path: Path, prefix: str
) -> None:
    text = f'<c r="A{{at}}" t="inlineStr"><is><t>{"x" * 600_000}</t></is></c>'
    row = f'<row r="{{at}}">{text}<c r="B{{at}}" s="1"><v>0.5</v></c></row>'
    rows = "".join(row.replace("{at}", str(at)) for at in range(1, 5))
    space = f"xmlns{':x' if prefix else ''}"
    sheet = f'<worksheet {space}="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    named = re.sub("<(/?)", rf"<\1{prefix}", sheet).encode()
    more = {"xl/worksheets/data.xml": named}
    made = made_of(hand_written(tmp_path / "x.xlsx", "", styles=STYLES, more=more))
    assert [row[1] for row in made.rows] == [{"percent": "50%"}] * 4


USUAL = (
    '<row r="3" hidden="1"><c r="B3" s="1"><v>0.5</v></c><c r="C3" s="3" t="n"><v>7</v></c></row>'
    '<row r="4"><c r="A4"><v>123456789012345678</v></c><c r="B4" t="e"><v>#N/A</v></c>'
    '<c r="C4"><f>1</f></c><c r="D4" s="1"/></row>'
)
WRITTEN_OTHERWISE: dict[str, tuple[str, str | Callable[[re.Match[str]], str]]] = {
    "other order": (r'r="(\w+)" s="(\d)"', r's="\2" r="\1"'),
    "type first": (r'r="(\w+)" t="e"', r't="e" r="\1"'),
    "single quotes": ('"', "'"),
    "blanks in tags": (" ", "\n  "),
    "blanks between tags": ("><", ">\n  <"),
    "attributes of values": ("<v>", '<v xml:space="preserve">'),
    "other attributes": ("<c ", '<c cm="1" '),
    "small letters": (r'"[A-D]\d"', lambda found: found[0].lower()),
    "no cell of a row with its place but the first": (r'(?<=</c><c) r="\w+"', ""),
    "no row with its number": (r'(?<=</row><row) r="\d"', ""),
}


@pytest.mark.parametrize(
    ("pattern", "new"), WRITTEN_OTHERWISE.values(), ids=WRITTEN_OTHERWISE.keys()
)
def test_xml_says_the_same_however_it_is_written(
    tmp_path: Path, pattern: str, new: str | Callable[[re.Match[str]], str]
) -> None:
    rows = re.sub(pattern, new, USUAL)
    assert rows != USUAL
    made = made_of(hand_written(tmp_path / "x.xlsx", rows, styles=STYLES))
    assert made.lines[2:] == [
        '["",{"percent":"50%"},{"shown":"00007","number":7}]',
        "[123456789012345678]",
    ]
    found = made.sheet
    assert (found.hidden_rows, found.first_hidden_row) == (1, 3)
    assert (found.errors, found.first_error) == (1, "B4")
    assert (found.uncalculated, found.first_uncalculated) == (1, "C4")


def test_places_are_counted_over_all_pieces_of_the_xml(tmp_path: Path) -> None:
    usual = [f'<row r="{at}"><c r="A{at}"><v>1</v></c></row>' for at in range(1, 40_001)]
    rows = ["<row><c><v>1</v></c><c s='1'><v>0.5</v></c></row>"] * 20_000
    made = made_of(hand_written(tmp_path / "x.xlsx", "".join([*usual, *rows]), styles=STYLES))
    assert made.lines == ["[1]"] * 40_000 + ['[1,{"percent":"50%"}]'] * 20_000


PLAIN = (
    '<row r="{0}" spans="1:3" ht="15" customHeight="1" hidden="0"><c r="A{0}"><v>{0}</v></c>'
    '<c r="B{0}" s="5" t="inlineStr"><is><t xml:space="preserve"> b</t></is></c>'
    '<c r="C{0}" s="5"/></row>'
)
NUMBERS = re.sub(r'<c r="B.*?</c>', "", PLAIN)
IN_A_PLAIN_SHEET: dict[str, tuple[str, str, tuple[object, ...]]] = {
    "hidden": ('hidden="0"', 'hidden="1"', (1, 2_501, 0, None, 0, None)),
    "hidden, in words": ('hidden="0"', 'hidden="true"', (1, 2_501, 0, None, 0, None)),
    "error": (
        '<c r="C2501" s="5"/>',
        '<c r="C2501" s="5" t="e"><v>#N/A</v></c>',
        (0, None, 1, "C2501", 0, None),
    ),
    "formula": (
        '<c r="C2501" s="5"/>',
        '<c r="C2501" s="5"><f>A1</f></c>',
        (0, None, 0, None, 1, "C2501"),
    ),
}


@pytest.mark.parametrize(
    ("plain", "line"), [(PLAIN, '[{0}," b"]'), (NUMBERS, "[{0}]")], ids=["texts", "numbers"]
)
@pytest.mark.parametrize(
    ("usual", "other", "found"), IN_A_PLAIN_SHEET.values(), ids=IN_A_PLAIN_SHEET.keys()
)
def test_one_strange_cell_is_found_between_thousands_of_plain_ones(
    tmp_path: Path, plain: str, line: str, usual: str, other: str, found: tuple[object, ...]
) -> None:
    rows = [plain.format(at) for at in range(1, 5_001)]
    assert usual in rows[2_500]
    rows[2_500] = rows[2_500].replace(usual, other)
    made = made_of(hand_written(tmp_path / "x.xlsx", "".join(rows)))
    assert made.lines == [line.format(at) for at in range(1, 5_001)]
    sheet = made.sheet
    assert found == (
        *(sheet.hidden_rows, sheet.first_hidden_row, sheet.errors, sheet.first_error),
        *(sheet.uncalculated, sheet.first_uncalculated),
    )


@pytest.mark.parametrize(
    ("usual", "other", "shown"),
    [
        ("<v>2501</v>", "<v>9007199254740993</v>", "9007199254740993"),
        ("<v>2501</v>", "<v>-12345678901234567</v>", "-12345678901234567"),
        ('"A2501">', '"A2501" s="1">', '{"percent":"250100%"}'),
        ('"A2501">', '"A2501" s="1" cm="1">', '{"percent":"250100%"}'),
    ],
)
def test_one_number_is_exact_between_thousands_of_plain_ones(
    tmp_path: Path, usual: str, other: str, shown: str
) -> None:
    rows = [PLAIN.format(at) for at in range(1, 5_001)]
    rows[2_500] = rows[2_500].replace(usual, other)
    made = made_of(hand_written(tmp_path / "x.xlsx", "".join(rows), styles=STYLES))
    assert made.lines[2_499:2_502] == ['[2500," b"]', f'[{shown}," b"]', '[2502," b"]']


@pytest.mark.parametrize("value", ["<v>1</v>", "<f>1</f><v>1</v>"], ids=["plain", "formulas"])
@pytest.mark.parametrize("between", ["", "\n"])
def test_a_row_without_its_number_follows_thousands_with_theirs(
    tmp_path: Path, value: str, between: str
) -> None:
    rows = [f'<row r="{at}"><c r="A{at}">{value}</c></row>' for at in range(1, 5_001)]
    rows.append(f'<row>{between}<c s="1"><v>0.5</v></c></row>')
    made = made_of(hand_written(tmp_path / "x.xlsx", "".join(rows), styles=STYLES))
    assert made.lines[4_999:] == ["[1]", '[{"percent":"50%"}]']


@pytest.mark.parametrize(
    "part", ["xl/worksheets/data.xml", "xl/sharedStrings.xml", "xl/workbook.xml", "xl/styles.xml"]
)
def test_entities_are_refused_wherever_they_are(tmp_path: Path, part: str) -> None:
    xml = b'<!DOCTYPE a [<!ENTITY a "aaa"><!ENTITY b "&a;&a;&a;">]><a>&b;</a>'
    path = hand_written(tmp_path / "x.xlsx", '<row r="1"><c r="A1"/></row>', more={part: xml})
    with pytest.raises(BadInput, match=rf"^In this workbook, “{part}” defines entities, which no"):
        made_of(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_sheet_in_utf_16_is_not_taken_for_an_empty_one(tmp_path: Path, encoding: str) -> None:
    sheet = '<worksheet><sheetData><row r="1"/></sheetData></worksheet>'.encode(encoding)
    more = {"xl/worksheets/data.xml": sheet}
    with pytest.raises(
        BadInput, match=r"^In this workbook, “xl/worksheets/data.xml” is not in UTF"
    ):
        made_of(hand_written(tmp_path / "x.xlsx", "", more=more))


def test_a_part_that_is_far_too_large_to_be_read_whole(tmp_path: Path) -> None:
    styles = b"<a>" + b" " * 16_000_000 + b"</a>"
    path = hand_written(tmp_path / "x.xlsx", "", more={"xl/styles.xml": styles})
    with pytest.raises(
        BadInput, match=r"^In this workbook, “xl/styles.xml” is far too large\. Open"
    ):
        made_of(path)


def test_strict_workbooks_have_other_names_for_the_same(tmp_path: Path) -> None:
    path = hand_written(
        tmp_path / "x.xlsx", '<row r="1"><c r="A1" s="1"><v>0.5</v></c></row>', styles=STYLES
    )
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "strict.xlsx", "w") as new:
        for name in old.namelist():
            text = old.read(name).decode().replace(MAIN, "http://purl.oclc.org/ooxml/main")
            new.writestr(name, text.replace(OFFICE, "http://purl.oclc.org/ooxml/relationships"))
    assert made_of(tmp_path / "strict.xlsx").lines == ['[{"percent":"50%"}]']
