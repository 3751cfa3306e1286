"""Sheets as only somebody's own program would write them, all well-formed and allowed."""

from dataclasses import dataclass

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"


@dataclass(frozen=True)
class Made:
    """A sheet's XML; first, header_row, rows, readers: see `samples.Sample`."""

    xml: str | bytes
    first: str = "D"
    header_row: int = 1
    rows: tuple[int, ...] = (2, 3, 4)
    strict: bool = False
    readers: tuple[str, ...] = ("calamine", "openpyxl")


def text(reference: str, value: str) -> str:
    return f'<c r="{reference}" t="inlineStr"><is><t>{value}</t></is></c>'


def number(reference: str, value: float) -> str:
    return f'<c r="{reference}"><v>{value}</v></c>'


HEADER = "".join(text(f"{letter}1", f"name {letter}") for letter in "ABC")
ROWS = "".join(
    f'<row r="{row}" spans="1:3">{number(f"A{row}", row)}{text(f"B{row}", "b")}'
    f'<c r="C{row}"><f>A{row}*2</f><v>{row * 2}</v></c></row>'
    for row in (2, 3, 4)
)
DIMENSION = '<dimension ref="A1:C4"/>'


def sheet(
    rows: str = f'<row r="1" spans="1:3">{HEADER}</row>{ROWS}',
    *,
    before: str = DIMENSION,
    after: str = "",
    declaration: str = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n',
    main: str = MAIN,
) -> str:
    return (
        f'{declaration}<worksheet xmlns="{main}">{before}<sheetData>{rows}</sheetData>{after}'
        "</worksheet>"
    )


def prefixed(xml: str, prefix: str) -> str:
    """The sheet with a prefix before the name of each of its elements."""
    xml = xml.replace("</", "\1").replace("<?", "\2")
    xml = xml.replace("<", f"<{prefix}:").replace("\1", f"</{prefix}:").replace("\2", "<?")
    return xml.replace("xmlns=", f"xmlns:{prefix}=")


PRETTY = f"""<?xml version='1.0' encoding='utf-8'?>
<worksheet xmlns='{MAIN}'>
  <dimension  ref = 'A1:C4' />
  <sheetData >
    <row
        spans='1:3'
        r='1' >
      <c t='inlineStr' r='A1' ><is><t>a</t></is></c>
      <c
         r='B1' s='2'
         t='inlineStr'><is><t>b</t></is></c >
      <c r='C1' t='inlineStr'><is><t>c</t></is></c>
    </row >
    <row r = "2"><c r = "A2"><v>1</v></c></row>
    <row  r="4" ><c r="A4" ><v>3</v></c><c r="C4" s='5'></c></row>
  </sheetData >
</worksheet>"""

COMMENTS = sheet(
    f"<!-- <row r='9'> --><row r='1'><!-- <c r='Z1'><v>1</v></c> -->{HEADER}<!-- </row> --></row>"
    "<?odd <row r='8'> ?>"
    '<row r="2"><c r="A2"><v>2<!-- </v></c></row> --></v></c>'
    '<c r="B2" t="inlineStr"><is><t><![CDATA[</t></is></c></row><c r="X2"><v>]]></t></is></c></row>'
    '<row r="3"><c r="A3"><v>3</v></c><c r="E3" s="1"><!-- nothing --></c></row>'
    '<row r="4"/><!-- </sheetData> -->'
)
EXTENSIONS = sheet(
    f"<row r='1'>{HEADER}</row>"
    '<row r="2"><c r="A2"><v>1</v></c><extLst><ext uri="a"><o xmlns="b"><c r="Z9"/></o></ext>'
    "</extLst></row><row r='3'><extLst/></row><row r='4'><c r='A4'><v>1</v><extLst/></c><extLst>"
    "<ext uri='a'/></extLst></row>"
)

XML_BY_HAND = {
    "plain": Made(sheet()),
    "no dimension": Made(sheet(before="")),
    "a stale dimension": Made(sheet(before='<dimension ref="A1"/>')),
    "a prefix": Made(prefixed(sheet(), "x")),
    "strict": Made(sheet(main=STRICT), strict=True, readers=("calamine",)),
    "a strict prefix": Made(
        prefixed(sheet(main=STRICT), "s.s-ß"), strict=True, readers=("calamine",)
    ),
    "a byte order mark": Made("\ufeff" + sheet()),
    "no declaration": Made(sheet(declaration="")),
    "no places": Made(
        sheet("<row>" + "<c><v>1</v></c>" * 3 + "</row>" + "<row><c><v>2</v></c></row>" * 3)
    ),
    "places of cells alone": Made(
        sheet(f"<row>{HEADER}</row><row>{number('A3', 3)}</row><row>{number('B4', 4)}</row>")
    ),
    "rows alone have places": Made(
        sheet('<row r="1"><c><v>1</v></c><c r="C1"><v>3</v></c></row><row r="3"><c/><c/></row>')
    ),
    "rows that end themselves": Made(
        sheet(f'<row r="1">{HEADER}</row><row r="2"/><row spans="1:3" r="3" ht="20" /><row r="4"/>')
    ),
    "missing rows": Made(
        sheet(f'<row r="1">{HEADER}</row><row r="4">{number("A4", 4)}</row>'), rows=(2, 4, 6, 9)
    ),
    "no rows": Made(sheet("").replace("<sheetData></sheetData>", "<sheetData/>"), "A", rows=(2, 5)),
    "no rows and a prefix": Made(
        prefixed(sheet("").replace("<sheetData></sheetData>", "<sheetData />"), "x"), "A", rows=(2,)
    ),
    "no header": Made(sheet(), header_row=0, rows=(1, 2, 3, 4)),
    "a title": Made(
        sheet(
            f'<row r="1">{text("A1", "Title")}</row><row r="2">{number("C2", 2)}</row>',
            after='<mergeCells><mergeCell ref="A1:H1"/></mergeCells>',
        ),
        header_row=2,
        rows=(3, 4),
    ),
    "pretty": Made(PRETTY),
    "comments": Made(COMMENTS),
    "extensions": Made(EXTENSIONS, readers=("openpyxl",)),
    "a greater-than in attributes": Made(
        sheet(
            f"<row r='1' a='/>\"' b=\"/row>'\">{HEADER}</row><row a=' r=\"7\"' r='2'>"
            "<c a='>' r='A2' s='1'><v>1</v></c><c a=' r=\"ZZ2\"/>' r='B2'/></row>"
            "<row r='3'><c r='A3' a='>'/></row>"
        ),
        readers=("calamine",),
    ),
    "small letters": Made(sheet('<row r="1"><c r="a1"><v>1</v></c><c r="c1"><v>3</v></c></row>')),
    "rows of forms behind": Made(
        sheet(after='<controls xmlns:o="urn:o"><o:row>7</o:row><row r="1"/></controls>'),
        readers=("calamine",),
    ),
    "styled blanks": Made(
        sheet(
            '<row r="1"><c r="A1" s="4" t="inlineStr"><is><t>a</t></is></c><c r="C1" s="7"/></row>'
            '<row r="2"><c r="A2"><v>1</v></c><c r="B2" s="1"/><c r="C2"></c><c r="E2" s="2"/>'
            '</row><row r="3"><c r="D3"/></row><row r="4"><c r="B4" s="3" t="s"/></row>'
        ),
        "B",
    ),
}
