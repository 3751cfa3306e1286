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


def test_ods_cells_that_say_how_they_are_shown(tmp_path: Path) -> None:
    styles = '<number:percentage-style/><number:number number:min-integer-digits="5"/>'
    value = 'office:value-type="{}" office:value="{}"'
    cells = (
        CELL.format(value.format("percentage", "0.2512"), "<text:p>25.1%</text:p>")
        + CELL.format(value.format("percentage", "0.25"), "<text:p>25 %</text:p>")
        + CELL.format(value.format("float", "123"), "<text:p>00123</text:p>")
        + CELL.format('office:value-type="string"', "<text:p>00123</text:p>")
        + CELL.format(value.format("float", "123456789012345678"), "")
        + time("PT30H05M01.5S")
        + time("-PT01H00M00S")
        + time("PT12H30M00S")
        + CELL.format('office:value-type="boolean" office:boolean-value="true"', "")
    )
    assert made_of(open_document(tmp_path / "x.ods", table(row(cells)), styles=styles)).lines == [
        '[{"percent":"25.1%"},{"percent":"25%"},{"shown":"00123","number":123},"00123",'
        '123456789012345678,{"duration":"30:05:01.5"},{"duration":"-01:00:00"},'
        '{"time":"12:30:00"},true]'
    ]


MARKED = (
    '<number:number number:decimal-places="0" number:min-integer-digits="9">'
    '<number:embedded-text number:position="6">-</number:embedded-text></number:number>'
)


@pytest.mark.parametrize(
    ("shown", "value", "cell"),
    [
        ("123-45-6789", "123456789", '{"shown":"123-45-6789","number":123456789}'),
        ("(012) 345-6789", "123456789", '{"shown":"(012) 345-6789","number":123456789}'),
        ("+49 171", "49171", '{"shown":"+49 171","number":49171}'),
        ("001 234", "1234", '{"shown":"001 234","number":1234}'),
        ("1 234", "1234", "1234"),
        ("12-34", "1.234", "1.234"),
        ("12-34", "1235", "1235"),
        ("0 ", "0", "0"),
        ("2-", "-2", "-2"),
        ("5", "5", "5"),
    ],
)
def test_an_ods_number_keeps_the_marks_that_it_is_shown_with(
    tmp_path: Path, shown: str, value: str, cell: str
) -> None:
    number = f'office:value-type="float" office:value="{value}"'
    sheet = table(row(CELL.format(number, f"<text:p>{shown}</text:p>")))
    assert made_of(open_document(tmp_path / "x.ods", sheet, styles=MARKED)).lines == [f"[{cell}]"]


def test_ods_texts_keep_their_tabs_and_line_breaks(tmp_path: Path) -> None:
    cells = [
        'a<text:tab/>b<text:s text:c="3"/>c<text:s/>d<text:span text:style-name="T">e &amp; ü'
        "</text:span></text:p><text:p/><text:p>f<text:line-break/>g",
        "h<text:line-break/>i",
        "j",
    ]
    written = "".join(
        f'<table:table-cell office:value-type="string">{note}<text:p>{cell}</text:p>'
        "</table:table-cell>"
        for cell, note in zip(
            cells,
            ["", "<office:annotation><text:p>no<text:tab/>te</text:p></office:annotation>", ""],
            strict=True,
        )
    )
    made = made_of(open_document(tmp_path / "x.ods", table(row(written))))
    assert made.rows == [["a\tb   c de & ü\n\nf\ng", "h\ni", "j"]]


def test_ods_rows_and_cells_that_are_repeated(tmp_path: Path) -> None:
    percent = CELL.format(
        'table:number-columns-repeated="2" office:value-type="percentage" office:value="0.5"',
        "<text:p>50%</text:p>",
    )
    error = CELL.format(
        'office:value-type="string" office:string-value="" calcext:value-type="error"',
        "<text:p>#N/A</text:p>",
    )
    sheet = (
        '<table:table table:name="{}"><table:table-row table:number-rows-repeated="2">'
        f"{ONE}</table:table-row>"
        f'<table:table-row table:number-rows-repeated="3" table:visibility="collapse">{ONE}'
        f'<table:table-cell table:number-columns-repeated="3"/>{percent}{error}</table:table-row>'
        f"<table:table-row>{ONE}{error}</table:table-row></table:table>"
    )
    sheets = sheet.format("A") + '<table:table table:name="B"/>' + sheet.format("C")
    made = made_of(open_document(tmp_path / "x.ods", sheets, styles=PERCENT))
    half = '{"percent":"50%"}'
    lines = ["[1]", "[1]", *[f'[1,"","","",{half},{half}]'] * 3, "[1]"]
    assert [file.decode().splitlines() for file in made.files] == [lines, [], lines]
    assert isinstance(made.result, tuple)
    facts = [
        (one.name, one.hidden_rows, one.first_hidden_row, one.errors, one.first_error)
        for one in made.result
    ]
    assert facts == [("A", 3, 3, 4, "G3"), ("B", 0, None, 0, None), ("C", 3, 3, 4, "G3")]
    assert made.result[0].merged is None


def test_an_ods_file_whose_rows_are_longer_than_a_piece(tmp_path: Path) -> None:
    text = CELL.format('office:value-type="string"', f"<text:p>{'x' * 3_000_000}</text:p>")
    sheet = table(*[row(text, HALF)] * 3)
    made = made_of(open_document(tmp_path / "x.ods", sheet, styles=PERCENT))
    assert [row[1] for row in made.rows] == [{"percent": "50%"}] * 3
