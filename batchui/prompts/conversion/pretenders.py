"""Files that look like a workbook and cannot be read as one: each is called by its name."""

from typing import NoReturn

from batchui.prompts.conversion import ole
from batchui.prompts.conversion.looking import File
from batchui.prompts.conversion.outputs import Output
from batchui.prompts.problems import BadInput

FORMATS: tuple[str, ...] = ()  # that can be read
WORKBOOK_ENDINGS = {".xlsx", ".xlsm", ".xltx", ".xltm", ".xlsb", ".xls", ".ods", ".fods", ".xml"}
HTML = (b"<!doctype html", b"<html", b"<table", b"<head", b"<body", b"<meta", b"<style")
MHTML = b"mime-version:"
MARKUP = {
    b"urn:schemas-microsoft-com:office:spreadsheet": "an Excel 2003 workbook in XML",
    b"application/vnd.oasis.opendocument.spreadsheet": "a spreadsheet in flat XML (.fods)",
}
OTHERS = {
    "EncryptedPackage": "a password",
    "WordDocument": "a Word document (.doc)",
    "PowerPoint Document": "a presentation (.ppt)",
    "word/document.xml": "a Word document",
    "ppt/presentation.xml": "a presentation",
    "Index/Document.iwa": "a document of Apple Numbers, Pages or Keynote",
    "Index.zip": "a document of Apple Numbers, Pages or Keynote",
    "META-INF/container.xml": "a book (EPUB)",
    "META-INF/MANIFEST.MF": "a Java program",
    "AndroidManifest.xml": "an Android app",
    "[Content_Types].xml": "an Office file without a workbook in it, or a damaged one",
}
PROTECTED = (
    "This workbook is protected by a password. Open it, save it without the password (in Excel: "
    "File, Info, Protect Workbook, Encrypt with Password), and upload that."
)
SAVE = "Open it in Excel, LibreOffice or the program it comes from, save its table as XLSX or CSV"


def is_of(file: File) -> bool:
    """Whether the file is none of ours, and `convert` knows what it is."""
    return _what(file) is not None


def convert(file: File, out: Output) -> NoReturn:
    """Raises BadInput: what the file is, and what to do."""
    what = _what(file)
    if what == OTHERS["EncryptedPackage"]:
        raise BadInput(PROTECTED)
    raise BadInput(f"This file is {what}, not a workbook. {SAVE}, and upload that.")


def _what(file: File) -> str | None:
    for name, what in OTHERS.items():
        if name in file.holds:
            return what
    if file.head.startswith(ole.MAGIC):
        return "an old Office file without a workbook in it, or a part of one"
    if file.mimetype.startswith("application/vnd.oasis.opendocument."):
        return "an OpenDocument text or drawing"
    if file.ending not in WORKBOOK_ENDINGS:
        return None
    if file.start.lower().startswith(MHTML):
        return "a web page in a single file (MHTML)"
    if not file.start.startswith(b"<"):
        return None
    for sign, what in MARKUP.items():
        if sign in file.start:
            return what
    return "a web page (HTML)" if file.start.lower().startswith(HTML) else "an XML document"
