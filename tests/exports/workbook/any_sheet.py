"""Sheets of every shape that XML and the rules of XLSX allow, for property tests."""

from collections.abc import Callable

from hypothesis import strategies as st

from batchui.exports.workbook.tags import column_letters
from tests.exports.workbook.xml_by_hand import sheet

LAST_COLUMN, LAST_ROW = 7, 14

NOISE = ["", "", "", "\n  ", "<!-- <row> - ->-->", "<?pi <c r='Z9'> ?>"]
FILLINGS = [
    "<v>{value}</v>",
    "<is><t>{value}</t></is>",
    '<is><r><rPr><color rgb="FF"/><charset val="1"/></rPr><t>{value}</t></r></is>',
    "<f>A1+{value}</f>",
    "<f>A1</f><v>{value}</v>",
    "<v><![CDATA[</v></c>{value}]]></v>",
    "<v>{value}<!-- </v></c> --></v>",
    "<v/>",
    "<v>{value}</v><extLst><ext><o xmlns='o'><c r='ZZ9'/></o></ext></extLst>",
]
EMPTY = ["/>", " />", "></c>", "> </c >", "><!-- nothing --></c>"]
ATTRIBUTES = ["", "", ' s="3"', " s='4'", ' x=">"', " x='/>'", " x=' r=\"Q7\"'", "\n"]

Draw = Callable[[st.SearchStrategy[str]], str]


@st.composite
def any_sheet(draw: Draw) -> str:
    """The XML of a sheet with up to 14 rows of up to 7 columns."""
    rows = []
    before = 0
    for number in sorted(draw(st.sets(st.integers(1, LAST_ROW), max_size=6))):  # type: ignore[arg-type]
        rows.append(_row(draw, int(number), before))
        before = int(number)
    prefix = draw(st.sampled_from(["", "x", "é-1"]))
    dimension = draw(st.sampled_from(["", '<dimension ref="A1"/>', "<dimension ref = 'B2:C9' />"]))
    xml = sheet("".join(rows) + _pick(draw, NOISE), before=dimension)
    return _prefixed(xml, prefix) if prefix else xml


def _row(draw: Draw, number: int, before: int) -> str:
    columns = sorted(draw(st.sets(st.integers(1, LAST_COLUMN), max_size=5)))  # type: ignore[arg-type]
    has_place = number != before + 1 or draw(st.booleans())
    attributes = _pick(draw, ["", ' spans="1:3"', " ht='9'", " x='/row>'"])
    if has_place:
        attributes = draw(
            st.sampled_from([f' r="{number}"{attributes}', f"{attributes} r='{number}'"])
        )
    cells = ""
    last = 0
    for column in map(int, columns):
        cells += _pick(draw, NOISE) + _cell(draw, number, column, last)
        last = column
    noise, extensions = (
        _pick(draw, NOISE),
        _pick(draw, ["", "", "<extLst/>", "<extLst><c/></extLst>"]),
    )
    if not columns and draw(st.booleans()):
        return f"{noise}<row{attributes}/>"
    return f"{noise}<row{attributes}>{cells}{extensions}</row>"


def _cell(draw: Draw, row: int, column: int, last: int) -> str:
    letters = column_letters(column)
    place = draw(st.sampled_from([f' r="{letters}{row}"', f" r='{letters.lower()}{row}'"]))
    is_empty = draw(st.integers(0, 3)) == 0  # type: ignore[arg-type]
    if column == last + 1 and not is_empty and draw(st.integers(0, 4)) == 0:  # type: ignore[arg-type]
        place = ""
    attributes = _pick(draw, ATTRIBUTES)
    start = draw(st.sampled_from([f"<c{place}{attributes}", f"<c{attributes}{place}"]))
    if is_empty:
        return start + _pick(draw, EMPTY)
    return f"{start}>{_pick(draw, FILLINGS).format(value=row * 100 + column)}</c>"


def _pick(draw: Draw, choices: list[str]) -> str:
    return draw(st.sampled_from(choices))


def _prefixed(xml: str, prefix: str) -> str:
    """The sheet with a prefix before each element of its own namespace."""
    for name in ("worksheet", "dimension", "sheetData", "row", "c", "v", "f", "is", "t", "r"):
        xml = _with_prefix(xml, name, prefix)
    for name in ("rPr", "color", "charset", "extLst", "ext"):
        xml = _with_prefix(xml, name, prefix)
    return xml.replace(' xmlns="', f' xmlns:{prefix}="')


def _with_prefix(xml: str, name: str, prefix: str) -> str:
    for end in (" ", ">", "/", "\n"):
        xml = xml.replace(f"<{name}{end}", f"<{prefix}:{name}{end}")
        xml = xml.replace(f"</{name}{end}", f"</{prefix}:{name}{end}")
    return xml
