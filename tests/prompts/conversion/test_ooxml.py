"""The parts of a workbook, wherever they lie and whatever is left out of their lists."""

import io
import zipfile
from pathlib import Path

import pytest

from batchui.prompts.conversion import outputs
from batchui.prompts.conversion.converted import Progress
from batchui.prompts.conversion.ooxml import MOST_BYTES, number_styles, sheet_parts
from batchui.prompts.problems import BadInput
from tests.prompts.conversion.conversions import MAIN, hand_written, made_of, workbook

ROW = '<row r="1"><c r="A1" s="{style}"><v>7</v></c></row>'


def archive(**parts: str) -> zipfile.ZipFile:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as written:
        for name, text in parts.items():
            written.writestr(name, text)
    return zipfile.ZipFile(made)


def relations(*each: str) -> str:
    return f"<Relationships>{''.join(f'<Relationship {one}/>' for one in each)}</Relationships>"


def test_parts_are_found_from_the_folder_of_the_part_that_names_them() -> None:
    book = '<sheets xmlns:r="r"><sheet name="S" r:id="r2"/><sheet name="Gone" r:id="r3"/></sheets>'
    parts = {
        "_rels/.rels": relations(
            'Id="r1" Type="x/other" Target="other.xml"',
            'Id="r2"',
            'Id="r3" Type="x/y/officeDocument" Target="a/b/book.xml"',
            'Id="r4" Type="x/y/officeDocument" Target="second.xml"',
        ),
        "a/b/book.xml": book,
        "a/b/_rels/book.xml.rels": relations(
            'Type="x/theme" Target="/theme.xml"',
            'Id="r2" Type="x/worksheet" Target="../sheets/s.xml"',
            'Id="r3" Type="x/worksheet" Target="gone.xml"',
            'Id="r4" Type="x/styles" Target="/st/styles.xml"',
        ),
        "a/sheets/s.xml": "<x/>",
        "st/styles.xml": '<x><cellXfs><xf numFmtId="0"/><xf numFmtId="10"/></cellXfs></x>',
    }
    with archive(**parts) as made:
        assert sheet_parts(made) == {"S": "a/sheets/s.xml"}
        assert list(number_styles(made)) == [1]
    with archive(other="x") as made:
        assert (sheet_parts(made), number_styles(made)) == ({}, {})


def test_a_format_without_its_code_shows_plain_numbers(tmp_path: Path) -> None:
    styles = '<numFmts><numFmt numFmtId="164"/></numFmts><cellXfs><xf numFmtId="164"/><xf/>'
    styles += "</cellXfs>"
    for style in (0, 1):
        rows = ROW.format(style=style)
        assert made_of(hand_written(tmp_path / "x.xlsx", rows, styles=styles)).lines == ["[7]"]


@pytest.mark.parametrize(
    "xml", [b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', b"<a><!ENTITY b 'c'></a>"]
)
def test_a_document_type_and_an_entity_are_each_refused(tmp_path: Path, xml: bytes) -> None:
    path = hand_written(tmp_path / "x.xlsx", ROW.format(style=0), more={"xl/styles.xml": xml})
    with pytest.raises(BadInput, match=r"^In this workbook, “xl/styles.xml” defines entities, wh"):
        made_of(path)


def test_a_part_is_as_large_as_allowed_and_no_larger(tmp_path: Path) -> None:
    for more in (0, 1):
        start, end = f'<styleSheet xmlns="{MAIN}">'.encode(), b"</styleSheet>"
        styles = start.ljust(MOST_BYTES + more - len(end)) + end
        path = hand_written(
            tmp_path / "x.xlsx", ROW.format(style=0), more={"xl/styles.xml": styles}
        )
        if not more:
            assert made_of(path).lines == ["[7]"]
            continue
        with pytest.raises(BadInput, match=r"^In this workbook, “xl/styles.xml” is far too large"):
            made_of(path)


def test_what_is_at_the_edge_of_a_block_of_rows_stands_in_its_row(tmp_path: Path) -> None:
    """A block of one column has 20,000 rows."""
    rows = [f'<row r="{at}"><c r="B{at}"><v>1</v></c></row>' for at in range(1, 40_001)]
    for at in (1, 20_000, 20_001, 40_000):
        rows[at - 1] = f'<row r="{at}"><c r="B{at}"><v>123456789012345678</v></c></row>'
    found = made_of(hand_written(tmp_path / "x.xlsx", "".join(rows))).lines
    long = [at for at, line in enumerate(found, 1) if line == '["",123456789012345678]']
    assert long == [1, 20_000, 20_001, 40_000]


def test_the_news_of_a_sheet_have_its_rows_and_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "SECONDS_BETWEEN_NEWS", 0)
    made = made_of(workbook(tmp_path / "x.xlsx", [[at] for at in range(20_001)]))
    assert made.news == [
        Progress(0, 0, "Data"),
        Progress(20_000, 20_001, "Data"),
        Progress(20_001, 20_001, "Data"),
    ]


def test_a_sheet_without_a_name_or_a_part_is_left_out_of_the_parts() -> None:
    parts = {
        "_rels/.rels": relations('Type="x/officeDocument" Target="book.xml"'),
        "book.xml": '<sheets xmlns:r="r"><sheet/><sheet r:id="r1"/></sheets>',
        "_rels/book.xml.rels": relations('Id="r1" Target="s.xml"'),
        "s.xml": "<x/>",
    }
    with archive(**parts) as made:
        assert sheet_parts(made) == {"": "s.xml"}
