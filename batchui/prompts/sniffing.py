"""Finds out from the first 256 KiB what kind of file it is.

The content decides, and the ending of the name is a hint. But `.csv` and `.tsv` always mean CSV.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import msgspec

from batchui.prompts.code_pages import CODE_PAGES, NAMES
from batchui.prompts.decoding import Decoder, detect, refuse_binary
from batchui.prompts.headers import (
    COLUMN_LIMIT,
    FILLED_LINE,
    NO_DELIMITER,
    best_delimiter,
    check_header,
    head_rows,
)
from batchui.prompts.problems import NAME_LIMIT, BadInput, listed

Kind = Literal["csv", "jsonl", "txt"]

HEAD_BYTES = 256 * 1024
HTML = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)

# The fields of items of the Batch API, and those of them that can hold the question.
ITEM_CARRIERS = frozenset({"prompt", "messages", "input", "text", "contexts"})
ITEM_FIELDS = ITEM_CARRIERS | {
    "query",
    "external_reference",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "repetition_penalty",
    "frequency_penalty",
    "presence_penalty",
    "response_format",
    "stream",
    "raw",
    "lora",
    "tools",
    "tool_choice",
    "functions",
    "guided_json",
    "stop",
    "n",
    "reasoning",
    "reasoning_effort",
    "chat_template_kwargs",
    "source_lang",
    "target_lang",
    "pooling",
    "truncate_inputs",
}


@dataclass(frozen=True)
class Format:
    """How to read a file.

    encoding: a key of `code_pages.NAMES`. encoding_chosen: a person chose it, so it is never
    guessed again; no page asks for one yet.
    delimiter: None for JSONL, TXT, and a CSV of one column, whose text may have commas.
    columns: unique and never blank in a CSV; `("prompt",)` for TXT; the keys of JSONL, in the
    order in which they were found.
    items: the JSONL objects look like ready-made items of the Batch API.
    """

    kind: Kind
    encoding: str
    delimiter: str | None
    columns: tuple[str, ...]
    items: bool = False
    encoding_chosen: bool = False

    @property
    def encoding_name(self) -> str:
        """The usual name of the encoding: “Windows-1251 (Cyrillic)”."""
        return NAMES[self.encoding]

    @property
    def encoding_guessed(self) -> bool:
        """Whether the encoding is only the most likely one for this text."""
        return self.encoding in CODE_PAGES and not self.encoding_chosen

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON, for the database."""
        return {**asdict(self), "columns": list(self.columns)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Format":
        """The format that `to_dict` wrote."""
        return cls(**{**stored, "columns": tuple(stored["columns"])})


def sniff(head: bytes, *, name: str, whole: bool, encoding: str | None = None) -> Format:
    """The format of the file `name`, according to its first HEAD_BYTES.

    whole: `head` is the whole file. encoding: chosen by a person, a key of `code_pages.NAMES`; no
    page passes it yet: it is for correcting the encoding.
    Raises BadInput for mistakes that can be seen at once: an empty file, a header without rows, no
    text, duplicate or blank column names, NUL bytes, damaged text.
    """
    if len(head) > HEAD_BYTES:
        head, whole = head[:HEAD_BYTES], False
    refuse_binary(head, name)
    chosen = encoding is not None
    encoding = encoding or detect(head, whole=whole)
    text = Decoder(encoding).decode(head, final=whole, rest="", line=1)
    if not text.strip():
        raise _nothing_in_it(whole=whole)
    if HTML.match(text):
        raise BadInput(
            "This file is a web page (HTML), not a table. Perhaps a sign-in page was saved instead "
            "of the table. Download the table again and upload that."
        )
    kind = _kind(text, ending=_ending(name), whole=whole)
    if kind == "jsonl":
        objects = _objects(text, whole=whole)
        items = _are_items(objects)
        return Format(kind, encoding, None, _keys(objects), items, encoding_chosen=chosen)
    if kind == "txt":
        return Format(kind, encoding, None, ("prompt",), encoding_chosen=chosen)
    delimiter, columns, rows = best_delimiter(text, whole=whole)
    check_header(text, delimiter=delimiter, columns=columns)
    if whole and rows == 0:
        raise BadInput(
            f"The file has a first line with column names ({listed(columns)}) but no rows under "
            "it. Add the rows, or, if that line is already a row, put column names above it."
        )
    return Format(kind, encoding, delimiter, columns, encoding_chosen=chosen)


def in_encoding(fmt: Format, encoding: str, *, head: bytes) -> Format:
    """The same format in another encoding, with the names of its columns read again.

    `head` is the beginning of the file, HEAD_BYTES or all of it. Raises what `sniff` raises.
    """
    columns = fmt.columns
    if fmt.kind != "txt":
        text = Decoder(encoding).decode(head, final=False, rest="", line=1)
        if fmt.kind == "jsonl":
            columns = _keys(_objects(text, whole=False))
        else:
            columns = tuple(head_rows(text, fmt.delimiter or NO_DELIMITER, whole=True)[0])
            check_header(text, delimiter=fmt.delimiter, columns=columns)
    return replace(fmt, encoding=encoding, columns=columns)


def _nothing_in_it(*, whole: bool) -> BadInput:
    if whole:
        return BadInput("The file is empty. Choose a file with at least one row.")
    return BadInput(
        "The first 256 KB of the file are blank. Remove the blank lines at its beginning and "
        "upload it again."
    )


def _ending(name: str) -> str:
    return name.lower().rpartition(".")[2] if "." in name else ""


def _kind(text: str, *, ending: str, whole: bool) -> Kind:
    if ending in {"csv", "tsv"}:
        return "csv"
    first = FILLED_LINE.search(text)
    if ending in {"jsonl", "ndjson", "json"} or (first and first[0].lstrip()[:1] == "{"):
        if _is_jsonl(text, ending=ending, whole=whole):
            return "jsonl"
        if ending in {"jsonl", "ndjson", "json"}:
            raise BadInput(
                "The name says that this is JSON, but its lines are not JSON objects. Write one "
                'object on each line, like {"text": "…"}: not one long list, and no object over '
                "several lines."
            )
    return "csv" if _is_table(text, ending=ending, whole=whole) else "txt"


def _is_jsonl(text: str, *, ending: str, whole: bool) -> bool:
    lines = _lines(text, whole=whole)
    if not lines:  # a first line longer than the head
        return text.lstrip().startswith("{")
    found = len(_objects(text, whole=whole))
    if ending in {"jsonl", "ndjson"}:
        return found > 0
    return found == sum(1 for line in lines if line.strip())


def _is_table(text: str, *, ending: str, whole: bool) -> bool:
    """Whether a text is a table although its name does not say so. A prompt may have commas, too.

    It is a table if every row has as many cells as the header and the header looks like names. A
    `.txt` must also have tabs, as Excel's "Unicode Text" has.
    """
    delimiter, columns, rows = best_delimiter(text, whole=whole)
    if delimiter is None or rows < 1 or (ending == "txt" and delimiter != "\t"):
        return False
    widths = {len(row) for row in head_rows(text, delimiter, whole=whole)}
    names = {
        name
        for name in columns
        if name and name[0] != " " and not name.isdigit() and len(name) <= NAME_LIMIT
    }
    return widths == {len(columns)} == {len(names)}


def _lines(text: str, *, whole: bool) -> list[str]:
    """The complete lines of the head that are not empty."""
    end = len(text) if whole else max(text.rfind("\n"), text.rfind("\r")) + 1
    return FILLED_LINE.findall(text[:end])


def _objects(text: str, *, whole: bool) -> list[dict[str, Any]]:
    objects = []
    for line in _lines(text, whole=whole):
        try:
            value = msgspec.json.decode(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            objects.append(value)
    return objects


def _keys(objects: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The keys of these objects; the check finds the others, and says which are too long."""
    found = dict.fromkeys(key for item in objects for key in item if len(key) <= NAME_LIMIT)
    return tuple(found)[:COLUMN_LIMIT]


def _are_items(objects: Sequence[dict[str, Any]]) -> bool:
    return bool(objects) and all(
        ITEM_FIELDS.issuperset(item) and not ITEM_CARRIERS.isdisjoint(item) for item in objects
    )
