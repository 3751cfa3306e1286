"""Files for the tests of conversions, and what becomes of them."""

import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import xlsxwriter

from batchui.prompts.conversion.converted import Jsonl, Progress, Result, Sheet, Text, open_lines
from batchui.prompts.conversion.kinds import convert
from batchui.prompts.conversion.outputs import Output

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
ODS = "application/vnd.oasis.opendocument.spreadsheet"


class Made(NamedTuple):
    """The result of a conversion, the bytes of each file that it made, and its news."""

    result: Result
    files: list[bytes]
    news: list[Progress]

    @property
    def sheet(self) -> Sheet:
        """The only sheet."""
        assert isinstance(self.result, tuple)
        [sheet] = self.result
        return sheet

    @property
    def lines(self) -> list[str]:
        """The lines of the first file."""
        return self.files[0].decode().splitlines()

    @property
    def rows(self) -> list[Any]:
        """What is in these lines."""
        return [json.loads(line) for line in self.lines]


def made_of(path: Path, name: str | None = None, *, most_bytes: int = 10**8) -> Made:
    """What becomes of a file, converted in this process."""
    news: list[Progress] = []
    with TemporaryDirectory() as folder:
        out = Output(Path(folder), most_bytes=most_bytes, tell=news.append)
        result = convert(path, path.name if name is None else name, out)
        files = [open_lines(Path(folder) / file).read() for file in files_of(result)]
        assert len(list(Path(folder).iterdir())) == len(files), "nothing else is left behind"
    return Made(result, files, news)


def files_of(result: Result) -> list[str]:
    """The names of the files that a conversion made."""
    if isinstance(result, (Text, Jsonl)):
        return [result.file]
    return [sheet.file for sheet in result]


def made_of_bytes(folder: Path, data: bytes, name: str, **more: Any) -> Made:
    """What becomes of a file with these bytes."""
    path = folder / "upload"
    path.write_bytes(data)
    return made_of(path, name, **more)


def workbook(path: Path, rows: Iterable[Iterable[Any]]) -> Path:
    """An XLSX file with a sheet “Data”, as xlsxwriter makes it."""
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"}) as book:
        sheet = book.add_worksheet("Data")
        for at, row in enumerate(rows):
            sheet.write_row(at, 0, row)
    return path


def hand_written(
    path: Path, rows: str, *, styles: str = "", texts: str = "", more: Mapping[str, bytes] = {}
) -> Path:
    """An XLSX file with these rows of XML in its only sheet."""
    related = f'<Relationships xmlns="{PACKAGE}">%s</Relationships>'
    one = '<Relationship Id="{0}" Type="' + OFFICE + '/{1}" Target="{2}"/>'
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": related % one.format("r1", "officeDocument", "xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": related
        % (
            one.format("r1", "worksheet", "worksheets/data.xml")
            + one.format("r2", "styles", "/xl/styles.xml")
            + one.format("r3", "sharedStrings", "sharedStrings.xml")
        ),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="Data" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/worksheets/data.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData>'
        "</worksheet>",
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{texts}</sst>',
    }
    made = {name: text.encode() for name, text in parts.items()} | dict(more)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in made.items():
            archive.writestr(name, data)
    return path


def open_document(path: Path, tables: str, *, styles: str = "") -> Path:
    """An ODS file with these tables of XML."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text", "number")
    )
    content = (
        f"<office:document-content {spaces}><office:automatic-styles>{styles}"
        f"</office:automatic-styles><office:body><office:spreadsheet>{tables}"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", ODS, zipfile.ZIP_STORED)
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", content)
    return path
