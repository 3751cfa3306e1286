"""The tries of a draft as columns of its sheet, beside one another."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from batchui.batches import tries
from batchui.batches.catalogues import of_batch
from batchui.batches.models import Batch, TriedRow, Try
from batchui.batches.money import Prices, precise, usd_of
from batchui.batches.phrases import rows_phrase
from batchui.batches.try_models import UNDER_WAY, TriedStatus
from batchui.exports.answers import answer_text
from batchui.prompts.answer_fitting import fields_of
from batchui.prompts.ask import Ask
from batchui.web.sheet.cells import cut, value_text
from batchui.web.sheet.columns import TAGGED
from batchui.web.trying.prices import price_before

WIDTH = 300
# Rows that were tried and are not on the page of the sheet: so many are shown above it.
ROWS_BEYOND = 20
# The head of a try shows about two lines of its wording. Of what it has alike with another one, so
# much stands before the place where they part.
ALIKE, BEFORE = 50, 20
WORDS = {
    TriedStatus.WAITING: "Waiting",
    TriedStatus.ASKING: "Asking …",
    TriedStatus.ANSWERED: "Answered",
    TriedStatus.EMPTY: "Empty",
    TriedStatus.UNFIT: "Does not fit",
    TriedStatus.FAILED: "Failed",
    TriedStatus.UNCLEAR: "No answer",
    TriedStatus.NOT_ASKED: "Not asked",
}


class TryField(NamedTuple):
    """An answer column in the cell of a try. is_tag: its values are out of a list."""

    name: str
    text: str
    is_tag: bool


@dataclass(frozen=True)
class TryCell:
    """A row of a try in the sheet. `row` is None if that try did not ask this row."""

    number: int
    column: "TryColumn"

    @property
    def row(self) -> TriedRow | None:
        """What is known of the row."""
        return self.column.rows.get(self.number)

    @property
    def is_under_way(self) -> bool:
        """Whether its answer may still come."""
        return self.row is not None and self.row.is_under_way

    @property
    def whole(self) -> str:
        """The answer as text."""
        return answer_text(self.row.answer.encode()) if self.row and self.row.answer else ""

    @property
    def text(self) -> str:
        """The answer as its cell shows it; "" where `fields` has it."""
        return "" if self.fields else cut(self.whole)

    @property
    def fields(self) -> list["TryField"]:
        """The answer columns with their values as the cell shows them; [] if it is one text."""
        return [field._replace(text=cut(field.text)) for field in self.whole_fields]

    @cached_property
    def whole_fields(self) -> list["TryField"]:
        """The answer columns with their values; [] if the answer is one text."""
        columns = self.column.ask.answer_columns
        if not columns or not self.row or self.row.status != TriedStatus.ANSWERED:
            return []
        values = fields_of(self.row.answer.encode(), columns)
        return [
            TryField(one.name, value_text(value), one.kind in TAGGED)
            for one, value in zip(columns, values, strict=True)
        ]

    @property
    def word(self) -> str:
        """What became of it, in a word or two; "" for an answer, which speaks for itself."""
        if self.row is None or self.row.status == TriedStatus.ANSWERED:
            return ""
        return WORDS[TriedStatus(self.row.status)]

    @property
    def why(self) -> str:
        """Why there is no answer; "" where the head of the column says it of all its rows."""
        return "" if self.row is None or self.column.failed_because else self.row.error


@dataclass(frozen=True)
class TryColumn:
    """A try: what stands at the head of its column, and its rows by number.

    wording: as much of it as tells it from the other tries. prices: of its model.
    """

    one: Try
    rows: Mapping[int, TriedRow]
    wording: str
    prices: Prices

    @property
    def number(self) -> int:
        """Its number among the tries of its draft."""
        return self.one.number

    @property
    def key(self) -> str:
        """Its class in the page, and its name in what a browser keeps (see `SheetColumn`)."""
        return f"t{self.number}"

    @property
    def classes(self) -> str:
        """The classes of its cells: it is one of the answers."""
        return f"{self.key} answer tried"

    @property
    def width(self) -> int:
        """Its width before somebody drags it, in CSS pixels."""
        return WIDTH

    @property
    def ask(self) -> Ask:
        """The question as it was tried."""
        return self.one.ask

    @property
    def is_under_way(self) -> bool:
        """Whether answers may still come."""
        return any(row.is_under_way for row in self.rows.values())

    @property
    def told(self) -> str:
        """“4 of 5 rows answered”."""
        answered = sum(row.status == TriedStatus.ANSWERED for row in self.rows.values())
        whole = rows_phrase(len(self.rows))
        return (
            f"{answered} of {whole} answered" if answered < len(self.rows) else f"{whole} answered"
        )

    @property
    def facts(self) -> str:
        """“$0.0004 · 4 of 5 rows answered”."""
        return " · ".join(filter(None, (self._price(), self.told)))

    def _price(self) -> str:
        if self.one.connection.is_free:
            return ""
        read = sum(row.prompt_tokens for row in self.rows.values())
        written = sum(row.completion_tokens for row in self.rows.values())
        if not read:
            return ""
        usd = usd_of(self.ask.model, read=read, written=written, prices=self.prices)
        return "" if usd is None else precise(usd)

    @cached_property
    def failed_because(self) -> str:
        """Why no row was answered, if it was for one reason; "" otherwise."""
        reasons = {row.error for row in self.rows.values()}
        ended = not any(
            row.status in (*UNDER_WAY, TriedStatus.ANSWERED) for row in self.rows.values()
        )
        return reasons.pop() if ended and len(reasons) == 1 and len(self.rows) > 1 else ""

    def cell(self, number: int) -> TryCell:
        """Its cell in the row with this number."""
        return TryCell(number, self)


def columns_of(batch: Batch) -> list[TryColumn]:
    """The tries of a batch, in order. It takes four queries at most, whatever was tried."""
    found = tries.of(batch).select_related("connection", "created_by").prefetch_related("rows")
    wordings, known = told_apart([one.ask for one in found]), of_batch(batch)
    return [
        TryColumn(
            one,
            {row.number: row for row in one.rows.all()},
            wording,
            known.prices_of(one.ask.model),
        )
        for one, wording in zip(found, wordings, strict=True)
    ]


def told_apart(asked: Sequence[Ask]) -> list[str]:
    """The wording of each question; of a long one that begins as another does, where they part.

    Where another has the same wording with another instruction, the instruction.
    """
    instructions: dict[str, set[str]] = {}
    for ask in asked:
        instructions.setdefault(ask.template, set()).add(ask.instruction)
    words = [
        f"Instruction: {ask.instruction or 'none'}"
        if len(instructions[ask.template]) > 1
        else ask.template
        for ask in asked
    ]
    return [
        _from_where_it_differs(one, [other for other in words if other != one]) for one in words
    ]


def _from_where_it_differs(words: str, others: Sequence[str]) -> str:
    alike = max((_alike(words, other) for other in others), default=0)
    if alike < ALIKE:
        return words
    begins = words.rfind(" ", 0, alike - BEFORE) + 1
    return f"… {words[begins:]}" if begins else words


def _alike(one: str, other: str) -> int:
    """So many signs of both are the same."""
    shorter = min(len(one), len(other))
    return next((n for n in range(shorter) if one[n] != other[n]), shorter)


@dataclass(frozen=True)
class TryColumns:
    """All tries of a draft. price: what the next one costs, in words. is_free: nothing."""

    batch: Batch
    columns: Sequence[TryColumn]
    price: str
    is_free: bool

    @classmethod
    def of(cls, batch: Batch, *, is_free: bool, model: str = "") -> "TryColumns":
        """The tries of a draft.

        is_free: whether it would cost nothing. model: the one that is chosen, where the draft
        does not say it yet.
        """
        asked = replace(batch.ask, model=batch.ask.model or model)
        price = "" if is_free else price_before(batch, asked)
        return cls(batch, columns_of(batch), price, is_free)

    @property
    def under_way(self) -> TryColumn | None:
        """The try whose answers come in now."""
        return next((column for column in self.columns if column.is_under_way), None)

    @property
    def latest(self) -> TryColumn | None:
        """The latest try."""
        return self.columns[-1] if self.columns else None

    @property
    def width(self) -> int:
        """The least width of all of them together, in CSS pixels."""
        return sum(column.width for column in self.columns)

    @property
    def usual_rows(self) -> str:
        """“5 rows”: what the button tries."""
        return rows_phrase(min(tries.USUAL_ROWS, self.batch.rows))

    @property
    def button_words(self) -> str:
        """“Try 5 rows”; “Try again” once there is a column to compare with."""
        return "Try again" if self.columns else f"Try {self.usual_rows}"

    @property
    def replaces(self) -> str:
        """What the next try takes away; "" while there is room for it."""
        if len(self.columns) < tries.KEPT:
            return ""
        return f"The next try takes the place of try {self.columns[0].number}."

    @property
    def price_told(self) -> str:
        """“, under $0.01”, behind the words of the button; "" if it is not known, or nothing."""
        return f", {self.price}" if self.price else ""

    @property
    def first_words(self) -> str:
        """“The first 5 rows”."""
        return f"The first {self.usual_rows}" if self.batch.rows > 1 else "The only row"

    @property
    def random_words(self) -> str:
        """“5 rows at random”."""
        return f"{self.usual_rows} at random"

    @property
    def seen(self) -> str:
        """What the page knows of the latest try, for the address that it asks again."""
        return ",".join(self._tokens())

    def is_of_the_same_try(self, seen: str) -> bool:
        """Whether `seen` is of the latest try; so is "", which is of none."""
        number = seen.partition(".")[0]
        return not seen or (self.latest is not None and number == str(self.latest.number))

    def cells_since(self, seen: str) -> list[TryCell]:
        """The cells of the latest try that look otherwise than `seen` says."""
        known = set(seen.split(","))
        return [cell for token, cell in self._tokens().items() if token not in known]

    def _tokens(self) -> dict[str, TryCell]:
        if self.latest is None:
            return {}
        return {
            f"{self.latest.number}.{number}.{row.status}": self.latest.cell(number)
            for number, row in self.latest.rows.items()
        }

    def beyond(self, shown: Collection[int]) -> list[int]:
        """The numbers of tried rows that are not among those shown: the latest, ROWS_BEYOND."""
        found: list[int] = []
        for column in reversed(self.columns):
            found += [n for n in column.rows if n not in shown and n not in found]
        return sorted(found[:ROWS_BEYOND])

    def cells_of(self, number: int) -> list[TryCell]:
        """The cells of one row of the sheet, a column each."""
        return [column.cell(number) for column in self.columns]
