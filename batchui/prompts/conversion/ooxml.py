"""The parts of a workbook in a zip (ECMA-376): which are its sheets, and which styles it has."""

import re
import zipfile
from collections.abc import Iterable, Iterator
from posixpath import dirname, join, normpath
from xml.etree import ElementTree

from batchui.prompts.conversion.number_formats import BUILT_IN, Show, show
from batchui.prompts.problems import BadInput, quoted

# Of a part that is read whole: the list of sheets, the styles.
MOST_BYTES = 16_000_000
HEAD_BYTES = 4_096
SAVE_AGAIN = "Open it in Excel or LibreOffice, save it again as XLSX, and upload that."
NOT_UTF8 = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")

Element = ElementTree.Element


def refuse_strange_xml(archive: zipfile.ZipFile, parts: Iterable[str]) -> None:
    """Raise BadInput for a part that defines entities, or is not in UTF-8.

    No spreadsheet program writes either. Entities may name each other until they fill the memory,
    and calamine takes a sheet in UTF-16 for an empty one.
    """
    for part in parts:
        with archive.open(part) as stream:
            _refuse(stream.read(HEAD_BYTES), part)


def _refuse(xml: bytes, part: str) -> None:
    if xml.startswith(NOT_UTF8):
        raise BadInput(f"In this workbook, {quoted(part)} is not in UTF-8. {SAVE_AGAIN}")
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise BadInput(
            f"In this workbook, {quoted(part)} defines entities, which no spreadsheet program "
            f"does. It is not safe to read. {SAVE_AGAIN}"
        )


def sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """The part of each worksheet, by the sheet's name. Those without one are left out."""
    workbook = _related(archive, "", "officeDocument")
    targets = {name: target for kind, name, target in _relations(archive, workbook)}
    found: dict[str, str] = {}
    for element in _elements(archive, workbook, "sheet"):
        ids = [value for key, value in element.items() if key.endswith("}id")]
        part = targets.get(ids[0]) if ids else None
        if part in archive.NameToInfo:
            found[element.get("name", "")] = str(part)
    return found


def number_styles(archive: zipfile.ZipFile) -> dict[int, Show]:
    """The styles of cells that show numbers in their own way, by the number in a cell's `s`."""
    part = _related(archive, _related(archive, "", "officeDocument"), "styles")
    codes = dict(BUILT_IN)
    for element in _elements(archive, part, "numFmt"):
        codes[_whole(element.get("numFmtId"))] = element.get("formatCode", "")
    styles = {}
    for group in _elements(archive, part, "cellXfs"):
        for at, style in enumerate(group):
            how = show(codes.get(_whole(style.get("numFmtId")), ""))
            if how:
                styles[at] = how
    return styles


def _whole(text: str | None) -> int:
    return int(text) if text and re.fullmatch(r"\d{1,9}", text) else -1


def _related(archive: zipfile.ZipFile, part: str, kind: str) -> str:
    """The part that is the first of its kind to another one; empty if there is none."""
    targets = (target for of_kind, _, target in _relations(archive, part) if of_kind == kind)
    return next(targets, "")


def _relations(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[str, str, str]]:
    """The last word of the type, the id and the target of each relation of a part."""
    folder, _, name = part.rpartition("/")
    for element in _elements(archive, join(folder, "_rels", f"{name}.rels"), "Relationship"):
        target = normpath(join("/", dirname(part), element.get("Target", "")))
        yield element.get("Type", "").rpartition("/")[2], element.get("Id", ""), target[1:]


def _elements(archive: zipfile.ZipFile, part: str, name: str) -> Iterator[Element]:
    """The elements of a part with a local name; none if the part is missing."""
    if part not in archive.NameToInfo:
        return
    with archive.open(part) as stream:
        xml = stream.read(MOST_BYTES + 1)
    _refuse(xml, part)
    if len(xml) > MOST_BYTES:
        raise BadInput(f"In this workbook, {quoted(part)} is far too large. {SAVE_AGAIN}")
    for element in _parsed(xml).iter():
        if element.tag.rpartition("}")[2] == name:
            yield element


def _parsed(xml: bytes) -> Element:
    """The root of a text without entities. Raises ParseError, also for an unknown encoding."""
    try:
        return ElementTree.fromstring(xml)  # noqa: S314
    except (LookupError, ValueError) as exc:
        raise ElementTree.ParseError(str(exc)) from None
