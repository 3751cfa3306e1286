"""Reads the start tags of XML that a stranger made."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from xml.parsers import expat

from batchui.exports.workbook.cannot_write import DOCTYPE, NOT_WELL_FORMED, unreadable

# Strict files have other namespaces than transitional ones, with the same local names.
MAIN = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
)
RELATIONS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "http://purl.oclc.org/ooxml/officeDocument/relationships",
)
# Elements within elements. Each costs memory as long as it is open.
DEEPEST = 100
_BETWEEN = " "

Found = Callable[[str, str, Mapping[str, str]], None]
Text = Callable[[str, str], None]


class Elements:
    """Calls `found(namespace, name, attributes)` where an element begins.

    And `text(name, text)` where it ends, with what stands between its end tag and the tag before.
    Attributes of a namespace are called "namespace name"; one that is not there reads as "".
    `feed` and `close` raise CannotWrite for XML that is not well-formed, for a DOCTYPE (it could
    define what elements hold) and, with `found`, for elements DEEPEST deep.
    """

    def __init__(self, found: Found | None = None, text: Text | None = None) -> None:
        self._parser = expat.ParserCreate(namespace_separator=_BETWEEN)
        self._parser.StartDoctypeDeclHandler = _refuse_doctype
        self._found, self._text = found, text
        self._depth = 0
        self._pieces: list[str] = []
        if found is not None:
            self._parser.StartElementHandler = self._start
            self._parser.EndElementHandler = self._end
        if text is not None:
            self._parser.buffer_text = True  # or a million line ends are a million pieces
            self._parser.CharacterDataHandler = self._pieces.append

    def feed(self, data: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(data, last)
        except expat.ExpatError as error:
            raise unreadable(NOT_WELL_FORMED) from error

    def close(self) -> None:
        self.feed(b"", last=True)

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth >= DEEPEST:
            raise unreadable("Its XML is nested too deep.")
        self._pieces.clear()
        namespace, _, name = tag.rpartition(_BETWEEN)
        if self._found is not None:
            self._found(namespace, name, defaultdict(str, attributes))

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if self._text is not None:
            self._text(tag.rpartition(_BETWEEN)[2], "".join(self._pieces))
            self._pieces.clear()


def read_elements(
    chunks: Iterable[bytes], found: Found | None = None, text: Text | None = None
) -> None:
    """Call `found` and `text` for each element of a document. Raises CannotWrite as `Elements`."""
    elements = Elements(found, text)
    for chunk in chunks:
        elements.feed(chunk)
    elements.close()


def _refuse_doctype(*_: object) -> None:
    raise unreadable(DOCTYPE)
