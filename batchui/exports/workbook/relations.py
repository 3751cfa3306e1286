"""Finds the parts of a workbook as programs do: by their relations, never by the names of files.

ECMA-376 part 2 (Open Packaging Conventions): a part's relations are in `_rels/<name>.rels` beside
it; each has an id, a type and a target.
"""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote
from zipfile import ZipInfo

from batchui.exports.workbook.cannot_write import CannotWrite, another_kind, unreadable
from batchui.exports.workbook.elements import MAIN, RELATIONS, read_elements
from batchui.exports.workbook.package import Package


@dataclass(frozen=True)
class Relation:
    """kind: the last word of its type, for example "worksheet". target: None if it is outside."""

    id: str
    kind: str
    target: ZipInfo | None


@dataclass(frozen=True)
class SheetEntry:
    """A sheet as the workbook lists it. part: None for a chart sheet and the like."""

    name: str
    part: ZipInfo | None


def sheets(package: Package) -> list[SheetEntry]:
    """The sheets of a workbook, in the order of their tabs.

    Raises CannotWrite if the file is not a workbook of this kind, or is signed.
    """
    _refuse_signed(package)
    workbook = _workbook_part(package)
    worksheets = {
        relation.id: relation.target
        for relation in relations(package, workbook.filename)
        if relation.kind == "worksheet"
    }
    found: list[SheetEntry] = []

    def look(namespace: str, name: str, attributes: Mapping[str, str]) -> None:
        if name == "sheet" and namespace in MAIN:
            ids = [attributes[f"{space} id"] for space in RELATIONS if f"{space} id" in attributes]
            part = worksheets.get(ids[0]) if ids else None
            found.append(SheetEntry(attributes["name"], part))

    read_elements([package.read(workbook)], look)
    return found


def worksheet(package: Package, name: str) -> ZipInfo:
    """The part of the sheet of this name. Raises CannotWrite if there is none to write to."""
    entries = sheets(package)
    named = [entry for entry in entries if entry.name == name]
    if not named:
        raise CannotWrite(f"The workbook has no sheet “{name}”.")
    if len(named) > 1:
        raise unreadable(f"Two sheets have the name “{name}”.")
    part = named[0].part
    if part is None:
        raise CannotWrite(f"The sheet “{name}” has no cells: it is a chart, or of an old kind.")
    if sum(entry.part is part for entry in entries) > 1:
        raise unreadable(f"The sheet “{name}” is listed twice.")
    return part


def relations(package: Package, part: str) -> list[Relation]:
    """The relations of a part, or of the whole package (""); none if it has no list of them."""
    folder, name = posixpath.split(part)
    listed = package.find(posixpath.join(folder, f"_rels/{name}.rels"))
    found: list[Relation] = []

    def look(_: str, name: str, attributes: Mapping[str, str]) -> None:
        if name == "Relationship":
            is_outside = attributes["TargetMode"] == "External"
            target = None if is_outside else _part(package, folder, attributes["Target"])
            kind = attributes["Type"].rpartition("/")[2]
            found.append(Relation(attributes["Id"], kind, target))

    if listed is not None:
        read_elements([package.read(listed)], look)
    return found


def _part(package: Package, folder: str, target: str) -> ZipInfo | None:
    """The part that a target means: from the root if it begins with a slash, else from the folder.

    Names in the zip file should be percent-encoded as targets are; some programs decode them.
    """
    path = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
    return package.find(path) or package.find(unquote(path))


def _workbook_part(package: Package) -> ZipInfo:
    for relation in relations(package, ""):
        if relation.kind == "officeDocument" and relation.target is not None:
            if relation.target.filename.lower().endswith(".bin"):
                raise another_kind("an XLSB")
            return relation.target
    raise another_kind("something else")


def _refuse_signed(package: Package) -> None:
    if any(name.startswith("_xmlsignatures/") for name in package.members):
        raise CannotWrite(
            "The workbook is signed, and any change would make the signature invalid. Remove the "
            "signature in Excel (File, Info), or take a new workbook."
        )
