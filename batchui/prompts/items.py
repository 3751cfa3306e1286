"""Turns a row into one item of the Batch API's `requests`, as compact UTF-8 JSON.

The fields of an item depend on the item format of the model:

    messages     {"messages": [{"role", "content"}, …], "max_tokens", …}
    prompt       {"prompt", "max_tokens", …}
    input        {"input", "max_output_tokens", …}            (the Responses shape, gpt-oss)
    text         {"text", …}                                  (embeddings)
    contexts     {"text", …}; ready-made ones may be {"query", "contexts": [{"text"}, …]}
    translation  {"text", "source_lang", "target_lang", …}

Every item has an `external_reference` too. What a picture adds is put in when it is sent
(`pictures.py`). Where the answer is wanted in columns, these are added
to the instruction, and sent as a `response_format` to models that take one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

import msgspec

from batchui.prompts.ask import Ask
from batchui.prompts.item_settings import (
    LONGEST,
    LONGEST_FIELDS,
    REFERENCE,
    ItemFormat,
    settings_of,
    whole_instruction,
)
from batchui.prompts.model_facts import Takes, check_sees, misfit
from batchui.prompts.pictures import PICTURE_BYTES
from batchui.prompts.problems import FILL_IN, OR_SKIP, BadInput, listed, quoted
from batchui.prompts.reading.blocks import Cells
from batchui.prompts.reading.rows import as_list, cell_text, shown_text
from batchui.prompts.ready_items import (
    ONE_TEXT,
    SHAPES,
    reference_in_contexts,
    with_moved_reference,
)
from batchui.prompts.template import LONGEST_TEXT, Filler, Template, too_long

_encoder = msgspec.json.Encoder(decimal_format="number")
_encode, _encode_lines = _encoder.encode, _encoder.encode_lines

# The fields that can hold the question of a ready-made item.
CARRIERS: dict[str, tuple[str, ...]] = {
    "messages": ("messages", "prompt"),
    "prompt": ("prompt", "messages"),
    "input": ("input",),
    "text": ("text",),
    "contexts": ("text", "contexts"),
    "translation": ("text",),
}
MOST_CHARACTERS = 10_000_000  # more than any request has
NO_PICTURES = "This model takes no pictures. Choose another, or no column of pictures."
ROW_NUMBER_BYTES = 24  # with its quotation marks and the closing brace


class ItemWriter:
    """Makes the items of one batch. What is the same in every item is encoded only once.

    Raises BadInput for a mistake that concerns every row: a template without a column, a name that
    is not a column, a text that is too long, pictures for a model that sees none, a translation
    without a language, an option that would overwrite a field of OURS, answer columns that the
    model or the options have no room for.

    model: what it takes. Without it, every setting is sent, and no schema. checks_items: whether
    ready-made items are held against it.
    """

    def __init__(
        self,
        item_format: str,
        ask: Ask,
        columns: Sequence[str],
        *,
        model: Takes | None = None,
        checks_items: bool = False,
    ) -> None:
        if item_format not in get_args(ItemFormat):
            raise ValueError(
                f"the item format is {item_format!r}, which is none of {get_args(ItemFormat)}"
            )
        self.item_format = cast(ItemFormat, item_format)
        self.ask = ask
        self.columns = tuple(columns)
        self._model = model if checks_items else None
        self.settings = settings_of(self.item_format, ask, model)
        self._setting_bytes = {name: _field_bytes(name, v) for name, v in self.settings.items()}
        self._referred = _position_of(ask.reference_column, self.columns, what="references")
        self._pictured = self._position_of_picture(model)
        self._filler: Filler | None = None
        if len(ask.instruction) > LONGEST_TEXT:
            raise BadInput(too_long("instruction", ask.instruction))
        instruction = whole_instruction(ask)
        if not ask.as_items:
            before = f"{instruction}\n\n" if instruction and item_format == "prompt" else ""
            self._filler = Template(ask.template).bind(
                self.columns, before=before, needs_name=self._pictured is None
            )
        self._head, self._tail = _around_the_prompt(self.item_format, instruction, self.settings)
        # No item is longer than `_constant` and `_uses` times its row as JSON.
        self._constant = len(self._head) + len(self._tail) + ROW_NUMBER_BYTES
        self._uses = 0 if self._referred is None else 1
        if self._filler:
            self._constant += self._filler.constant_bytes
            self._uses += self._filler.uses

    def _position_of_picture(self, model: Takes | None) -> int | None:
        if not self.ask.shows_pictures:
            return None
        if model is not None:
            check_sees(model)
        if self.item_format != "messages":
            raise BadInput(
                "This model takes no pictures. Choose another, or no column of pictures."
            )
        return _position_of(self.ask.picture_column, self.columns, what="pictures")

    @property
    def picture_bytes(self) -> int:
        """The most bytes that a picture adds to each item, besides its `size`; 0 without one."""
        return 0 if self._pictured is None else PICTURE_BYTES

    def picture(self, cells: Cells) -> str:
        """What a row says of its picture: an address, or the name of a file; "" if it is blank."""
        if self._pictured is None:
            return ""
        return shown_text(as_list(cells, self.columns)[self._pictured]).strip()

    @property
    def least_bytes(self) -> int:
        """No item is shorter. A ready-made one may be as short as its row."""
        return self._constant - ROW_NUMBER_BYTES if self._filler else 0

    def encode(self, row_number: int, cells: Cells, line: int | None = None) -> bytes:
        """The item for one row. Raises BadInput, with the place, if the row cannot be asked."""
        filler = self._filler
        if filler is None:
            return self._ready_made(row_number, cells, line)
        prompt = self._prompt(filler, cells)
        if prompt is None:
            raise self._nothing_to_ask(filler, row=row_number, line=line)
        if self._referred is None:
            return b'%b%b%b"%d"}' % (self._head, _encode(prompt), self._tail, row_number)
        reference = _encode(self.reference(row_number, cells))
        return b"%b%b%b%b}" % (self._head, _encode(prompt), self._tail, reference)

    def encode_many(self, first_row: int, rows: Sequence[Cells]) -> list[bytes]:
        """The items for consecutive rows. Raises what `encode` raises."""
        filler = self._filler
        prompts: list[str | None] = [None]
        if filler and self._referred is None and self._pictured is None:
            prompts = list(map(filler.prompt_of, rows))
        if None in prompts:  # it has to be looked at each
            return [self.encode(row, cells) for row, cells in enumerate(rows, first_row)]
        head, tail = self._head, self._tail
        # No JSON string has a line break.
        texts = _encode_lines(prompts).splitlines()
        return [
            b'%b%b%b"%d"}' % (head, text, tail, row) for row, text in enumerate(texts, first_row)
        ]

    def question(self, cells: Cells) -> bytes | None:
        """What a row asks; None if it cannot be asked. Rows with the same are answered alike."""
        if self._filler is not None:
            prompt = self._prompt(self._filler, cells)
            if prompt is None:
                return None
            picture = self.picture(cells)
            question = f"{prompt}\0{picture}" if picture else prompt
            return question.encode("utf-8", "surrogatepass")
        try:
            asked = self._asked(1, cells, None)
        except BadInput:
            return None
        return _encode({name: asked[name] for name in sorted(asked) if name != REFERENCE})

    def size(
        self,
        row_number: int,
        cells: Cells,
        line: int | None = None,
        *,
        stored: int,
        enough: int,
    ) -> int:
        """The size of the item in bytes, or an upper bound of it that is not more than `enough`.

        The item is not built: it may be a thousand times as long as its row. stored: the length of
        `encode_row(cells)`. Raises what `encode` raises.
        """
        filler = self._filler
        if filler is None:
            return self._ready_made_size(row_number, cells, line, stored)
        is_blank = filler.is_blank(cells) if self._pictured is None else not self.picture(cells)
        if is_blank:
            raise self._nothing_to_ask(filler, row=row_number, line=line)
        # A value that is not text becomes JSON inside a JSON string, where each quotation mark
        # takes two bytes.
        most = self._constant + self._uses * (stored if type(cells) is list else 2 * stored)
        if most <= enough:
            return most
        reference = len(_encode(self.reference(row_number, cells))) + 1
        return self._constant - ROW_NUMBER_BYTES + filler.cell_bytes(cells) + reference

    def bound(self, rows: Sequence[Cells]) -> tuple[int, int] | None:
        """How many bytes the item of each of these rows has at most: so many, and a row's own bytes
        (of `encode_row`) so many times.

        None where one of them may be blank, or each has to be looked at: a ready-made item, a
        picture.
        """
        filler = self._filler
        if filler is None or self._pictured is not None or not filler.none_is_blank(rows):
            return None
        # As in `size`.
        return self._constant, self._uses if set(map(type, rows)) == {list} else 2 * self._uses

    def reference(self, row_number: int, cells: Cells) -> str:
        """The external_reference of the item: the text of the chosen column, or the row number."""
        text = ""
        if self._filler is None and isinstance(cells, dict):
            text = cell_text(cells.get(REFERENCE))
            if not text and self.ask.move_references:
                text = reference_in_contexts(cells)
        if not text and self._referred is not None:
            text = shown_text(as_list(cells, self.columns)[self._referred])
        return text if text and not text.isspace() else str(row_number)

    def longest(self, cells: Cells) -> int | None:
        """The longest answer that the item for a row asks for, in tokens; None if it names none."""
        named: Mapping[str, Any] = self.settings
        if self._filler is None and isinstance(cells, dict):
            named = {name: named[name] for name in self._left(cells)} | cells
        return _longest(named)

    def _prompt(self, filler: Filler, cells: Cells) -> str | None:
        """The text for a row; None if it has nothing to ask about. A picture alone is enough."""
        if self._pictured is None:
            return filler.prompt_of(cells)
        return filler.fill(cells, MOST_CHARACTERS) if self.picture(cells) else None

    def _nothing_to_ask(self, filler: Filler, *, row: int, line: int | None) -> BadInput:
        used = filler.used if self._pictured is None else [self.ask.picture_column]
        return _blank(used, row=row, line=line)

    def _ready_made(self, row: int, cells: Cells, line: int | None) -> bytes:
        asked = self._asked(row, cells, line)
        kept = {name: self.settings[name] for name in self._left(asked)}
        return _encode({**kept, **asked, REFERENCE: self.reference(row, asked)})

    def _ready_made_size(self, row: int, cells: Cells, line: int | None, stored: int) -> int:
        """The size of what `_ready_made` makes."""
        asked = self._asked(row, cells, line)
        if self.ask.move_references:
            stored = len(_encode(asked))
        replaced = _field_bytes(REFERENCE, asked[REFERENCE]) if REFERENCE in asked else 0
        added = _field_bytes(REFERENCE, self.reference(row, asked))
        settings = sum(map(self._setting_bytes.__getitem__, self._left(asked)))
        return stored - replaced + added + settings

    def _left(self, asked: dict[str, Any]) -> list[str]:
        """The settings for an object, which are those that it does not have."""
        left = [name for name in self.settings if name not in asked]
        longest = LONGEST.get(self.item_format)
        if longest in left and not LONGEST_FIELDS.isdisjoint(asked):
            left.remove(longest)
        return left

    def _asked(self, row: int, cells: Cells, line: int | None) -> dict[str, Any]:
        """The object, if it can be asked. Raises BadInput, with the place, if it cannot."""
        if not isinstance(cells, dict):
            raise BadInput.at(
                "a ready-made item is a JSON object, which only a JSONL file can contain. Write a "
                "question with a column in it instead.",
                row=row,
                line=line,
            )
        carriers = CARRIERS[self.item_format]
        carrier = next((name for name in carriers if cells.get(name) is not None), None)
        if carrier is None:
            raise _lacks(carriers, row=row, line=line)
        if self.item_format == "translation" and not (
            cells.get("target_lang") or "target_lang" in self.settings
        ):
            raise _lacks(("target_lang",), row=row, line=line)
        question = cells[carrier]
        if not (question.strip() if isinstance(question, str) else question):
            raise _blank([carrier], row=row, line=line)
        shape = ONE_TEXT if self.item_format == "translation" else SHAPES[carrier]
        if not shape.fits(question):
            raise BadInput.at(
                f"the model needs {shape.words} here, and this is something else. Correct it"
                f"{OR_SKIP}",
                row=row,
                line=line,
                column=carrier,
            )
        self._check_fields(cells, row=row, line=line)
        return with_moved_reference(cells) if self.ask.move_references else cells

    def _check_fields(self, cells: Mapping[str, Any], *, row: int, line: int | None) -> None:
        """Raise BadInput for a field that the model does not take so."""
        if self._model is None:
            return
        for name, value in cells.items():
            if problem := misfit(self._model, name, value):
                what = problem.removesuffix(".")
                raise BadInput.at(f"{what}{OR_SKIP}", row=row, line=line, column=name)


def longest_in(item: bytes) -> int | None:
    """The longest answer that an item (JSON) asks for, in tokens; None if it names none."""
    return _longest(msgspec.json.decode(item))


def _longest(named: Mapping[str, Any]) -> int | None:
    limits = [named[name] for name in LONGEST_FIELDS if type(named.get(name)) is int]
    return min(limits, default=None)


def _field_bytes(name: str, value: Any) -> int:
    """The size of a field of an object, with a comma."""
    return len(_encode(name)) + len(_encode(value)) + 2


def _around_the_prompt(
    item_format: ItemFormat, instruction: str, settings: Mapping[str, Any]
) -> tuple[bytes, bytes]:
    """The JSON before the prompt, and the JSON between the prompt and the external_reference."""
    name = "text" if item_format in ("contexts", "translation") else item_format
    head, close = b'{"%b":' % name.encode(), b""
    if item_format == "messages" or (item_format == "input" and instruction):
        system = b""
        if instruction:
            system = _encode({"role": "system", "content": instruction}) + b","
        head, close = head + b"[" + system + b'{"role":"user","content":', b"}]"
    fixed = _encode(settings)[1:-1]
    return head, close + (b"," + fixed if fixed else b"") + b',"%b":' % REFERENCE.encode()


def _position_of(column: str, columns: Sequence[str], *, what: str) -> int | None:
    if not column:
        return None
    if column not in columns:
        those = f"whose columns are {listed(columns)}" if columns else "which has none"
        raise BadInput(
            f"The column for {what}, {quoted(column)}, is not in the file, {those}. Choose one of "
            "those, or none."
        )
    return columns.index(column)


def _lacks(names: Sequence[str], *, row: int, line: int | None) -> BadInput:
    """The error for an object without any of these fields."""
    return BadInput.at(
        f"the object has no {' or '.join(map(quoted, names))}, which the model needs. Add it"
        f"{OR_SKIP}",
        row=row,
        line=line,
    )


def _blank(columns: Sequence[str], *, row: int, line: int | None) -> BadInput:
    """The error for a row whose cells in all of these columns are blank."""
    column = columns[0] if len(columns) == 1 else None
    both = "both blank" if len(columns) == 2 else "blank"
    what = "the cell is blank" if column else f"the cells of {listed(columns)} are {both}"
    return BadInput.at(
        f"{what}, so there is nothing to ask{FILL_IN}{OR_SKIP}",
        row=row,
        line=line,
        column=column,
        blank=True,
    )
