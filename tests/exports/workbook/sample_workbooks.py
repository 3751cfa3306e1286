"""Makes workbooks by hand, with what a program may leave out left out."""

import io
import zipfile

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
STRICT_RELATIONS = "http://purl.oclc.org/ooxml/officeDocument/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def by_hand(
    sheet: str | bytes,
    *,
    main: str = MAIN,
    relations: str = RELATIONS,
    place: str = "worksheets/sheet1.xml",
    member: str = "xl/worksheets/sheet1.xml",
    kind: str = "worksheet",
    more: dict[str, bytes] | None = None,
    compression: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    """A workbook with one sheet, "Data", of this XML, and nothing that could be left out."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="{_TYPES}.worksheet+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets>'
        '<sheet name="Data" sheetId="1" r:id="rId7"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId7" Type="{relations}/{kind}" Target="{place}"/>'
        f'<Relationship Id="rId8" Type="{relations}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{main}"><fonts><font/></fonts>'
        "<fills><fill><patternFill/></fill></fills>"
        f"<borders><border/></borders><cellStyleXfs><xf/></cellStyleXfs><cellXfs>{'<xf/>' * 9}"
        "</cellXfs></styleSheet>",
        member: sheet,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in {**parts, **(more or {})}.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_descriptors(content: bytes) -> bytes:
    """The same workbook, written as a stream: sizes follow each member."""

    class Stream(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: object) -> int:
            raise io.UnsupportedOperation

    buffer = Stream()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        for info in old.infolist():
            new.writestr(info.filename, old.read(info), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
