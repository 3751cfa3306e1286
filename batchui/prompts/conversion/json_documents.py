"""JSON documents -> objects, one on each line; or cells, where the items of a list are no objects.

A document is a list, an object with one list of objects in it, or values one after the other.
"""

import re
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, BinaryIO

import msgspec

from batchui.prompts.conversion.converted import Jsonl, Sheet
from batchui.prompts.conversion.json_text import JsonText, Value
from batchui.prompts.conversion.looking import File
from batchui.prompts.conversion.outputs import Output
from batchui.prompts.problems import BadInput, quoted

FORMATS: tuple[str, ...] = ("JSON",)
# A list of objects, or the body of a request with all its items.
SURELY = re.compile(rb'\[\s*\{|\{\s*"requests"\s*:')
TABLE_ENDINGS, LINE_ENDINGS = {".csv", ".tsv"}, {".jsonl", ".ndjson"}
DOCUMENT_ENDINGS = {".json", ".geojson"}
# Of the first value, to see whether another follows it.
FIRST_LIMIT = 1_000_000
WRITTEN_AT_ONCE = 256  # single values
KINDS = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    type(None): "null",
}
# Most programs, and the JSON of our own stores, know none beyond.
LARGEST = int(sys.float_info.max)
ROWS = "rows.jsonl.zst"
EMPTY = "The list in this JSON document is empty. Choose a file with rows."

_exactly = msgspec.json.Decoder(float_hook=Decimal).decode
_encode = msgspec.json.Encoder(decimal_format="number").encode


def is_of(file: File) -> bool:
    """Whether the file is a list, or an object. Objects on lines of their own are a text table."""
    if file.ending in TABLE_ENDINGS:
        return False
    if SURELY.match(file.start):
        return True
    if file.ending in LINE_ENDINGS:
        return file.start.startswith(b"[")
    begins = file.start[:1] in (b"[", b"{")
    return file.ending in DOCUMENT_ENDINGS and begins and not _has_lines(file)


def _has_lines(file: File) -> bool:
    """Whether the first line is an object, and another line follows."""
    first, _, rest = file.head.strip().partition(b"\n")
    try:
        return bool(rest) and isinstance(msgspec.json.decode(first), dict)
    except (ValueError, RecursionError):
        return False


def convert(file: File, out: Output) -> Jsonl | tuple[Sheet, ...]:
    """The items of a JSON document. Raises BadInput with the item's number and line."""
    size = file.path.stat().st_size
    with file.path.open("rb") as stream:
        first, is_alone = _first(stream)
        stream.seek(0)
        text = JsonText(stream)
        if not is_alone:
            return _written(text.several(), text, out, size)
        if text.peek() == "[":
            return _written(_then_end(text.items(), text), text, out, size)
        if first is not None and _is_empty(first.value):
            raise BadInput(EMPTY)
        if first is not None and not any(map(_is_list_of_objects, first.value.values())):
            return _written(_then_end(iter([text.value()]), text), text, out, size)
        inside: list[str] = []
        made = _written(_then_end(_in_object(text, inside), text), text, out, size)
        return msgspec.structs.replace(made, inside=inside[0]) if type(made) is Jsonl else made


def _first(stream: BinaryIO) -> tuple[Value | None, bool]:
    """The first value, or None if it is long; and whether no other follows it."""
    text = JsonText(stream)
    if text.peek() not in ("[", "{"):
        raise BadInput(
            "This is no JSON document: it has to begin with [ or {. Write a list of objects, like "
            '[{"text": "…"}, {"text": "…"}], or one object on each line.'
        )
    try:
        first = text.value(FIRST_LIMIT)
    except BadInput:  # it is too long, or wrong: whoever reads its items says where
        return None, True
    return first, text.peek() not in ("[", "{")


def _is_empty(value: dict[str, Any]) -> bool:
    """Whether there is nothing but empty lists in an object."""
    return bool(value) and all(item == [] for item in value.values())


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _then_end(items: Iterator[Value], text: JsonText) -> Iterator[Value]:
    """The items, and BadInput if the document does not end after them."""
    yield from items
    text.end()


def _in_object(text: JsonText, inside: list[str]) -> Iterator[Value]:
    """The items of the only list of objects in an object, whose key is put into `inside`."""
    text.take("{")
    closed = text.peek() == "}" and text.take("}") == "}"
    while not closed:
        key = text.value().value
        text.take(":")
        if text.peek() == "[":
            yield from _objects(text, key, inside)
        else:
            text.value()
        closed = text.take(",}") == "}"
    if not inside:
        raise BadInput(
            "There is no list of objects in this JSON document. Write the rows as a list: "
            '[{"text": "…"}, {"text": "…"}].'
        )


def _objects(text: JsonText, key: str, inside: list[str]) -> Iterator[Value]:
    """The items of a list if they are objects. Raises BadInput if there was such a list before."""
    wanted = False
    for item in text.items():
        if text.item == 1 and isinstance(item.value, dict):
            wanted = True
            inside.append(key)
            if len(inside) > 1:
                raise BadInput(
                    f"This JSON document has two lists of objects, {quoted(inside[0])} and "
                    f"{quoted(key)}. Save the one that has your rows as a file of its own."
                )
        if wanted:
            yield item


def _written(
    items: Iterator[Value], text: JsonText, out: Output, size: int
) -> Jsonl | tuple[Sheet, ...]:
    """The file with these items; what the first of them is decides which kind of file."""
    rows = columns = 0
    kind: type | None = None
    waiting: list[bytes] = []
    with out.file(ROWS) as write:
        for value, line, lines in items:
            rows += lines
            kind = kind or type(value)
            if kind is dict:
                if type(value) is not dict:
                    raise _mixed(text, rows, kind, value)
            else:
                if (type(value) is list) != (kind is list) or type(value) is dict:
                    raise _mixed(text, rows, kind, value)
                cells = _exactly(line)
                line, width = _cells(cells if kind is list else [cells])
                columns = max(columns, width)
            waiting.append(line)
            if lines > 1 or len(waiting) == WRITTEN_AT_ONCE:
                write(b"\n".join([*waiting, b""]))
                waiting.clear()
                out.progress(text.done, size)
        write(b"\n".join([*waiting, b""]))
    if not rows:
        raise BadInput(EMPTY)
    if kind is dict:
        return Jsonl(ROWS, rows)
    # Of a list of texts, each is a row.
    header = None if kind is list else False
    return (Sheet(file=ROWS, name="", rows=rows, columns=columns, header=header),)


def _cells(values: list[Any]) -> tuple[bytes, int]:
    """A line of cells, and how many there are.

    null is a blank. What is nested is JSON as text, and so is a number that no program can hold.
    """
    made = [
        "" if value is None else _as_text(value) if _is_text(value) else value for value in values
    ]
    while made and made[-1] == "":
        made.pop()
    return _encode(made), len(made)


def _is_text(value: Any) -> bool:
    if type(value) in (int, Decimal):
        return not -LARGEST <= value <= LARGEST
    return type(value) in (list, dict)


def _as_text(value: object) -> str:
    return _encode(value).decode()


def _mixed(text: JsonText, row: int, first: type, value: object) -> BadInput:
    before = KINDS.get(first, "a number")
    return BadInput(
        f"Item {text.item or row:,} is {KINDS.get(type(value), 'a number')}, while the first is "
        f"{before}. Make all items alike: objects are best."
    )
