"""Items that rank passages against a question: `{"query", "contexts": [{"text"}, …]}` (BGE M3).

The query is a text, the same for every row or with columns in it. The passages are the cells of the
columns that the template names, in its order; a cell that is a list of texts is that many passages.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from batchui.prompts.ask import Ask
from batchui.prompts.item_settings import REFERENCE
from batchui.prompts.items import ItemWriter
from batchui.prompts.model_facts import Takes
from batchui.prompts.problems import FILL_IN, OR_SKIP, BadInput, listed
from batchui.prompts.reading.blocks import Cells
from batchui.prompts.reading.rows import cell_text, shown_text
from batchui.prompts.template import Template

NO_QUERY = "Write what to rank the passages against: a question, or a column that has one."
ONLY_COLUMNS = (
    "Each passage is the text of one column, so only names of columns can stand here, like "
    "{{passage}}. Remove the other words."
)
_encode = msgspec.json.Encoder(decimal_format="number").encode


class RankWriter(ItemWriter):
    """Makes the items of a batch that ranks. Raises BadInput for what concerns every row."""

    def __init__(
        self,
        item_format: str,
        ask: Ask,
        columns: Sequence[str],
        *,
        model: Takes | None = None,
        checks_items: bool = False,
    ) -> None:
        super().__init__(item_format, ask, columns, model=model, checks_items=checks_items)
        check_passages(ask.template)
        self._query = query_of(ask.query, self.columns)
        passages = Template(ask.template)
        self._passages = [
            Template("{{" + name + "}}").bind(self.columns) for name in passages.names
        ]

    @property
    def least_bytes(self) -> int:
        """No item is shorter."""
        return len(b'{"query":"","contexts":[]}')

    def encode(self, row_number: int, cells: Cells, line: int | None = None) -> bytes:
        """The item for one row. Raises BadInput, with the place, if it has nothing to rank."""
        reference = {REFERENCE: self.reference(row_number, cells)}
        return _encode(self._ranked(row_number, cells, line) | self.settings | reference)

    def encode_many(self, first_row: int, rows: Sequence[Cells]) -> list[bytes]:
        """The items for consecutive rows. Raises what `encode` raises."""
        return [self.encode(row, cells) for row, cells in enumerate(rows, first_row)]

    def bound(self, rows: Sequence[Cells]) -> None:
        """Nothing is known of many rows at once."""

    def question(self, cells: Cells) -> bytes | None:
        """What a row asks; None if it cannot be asked."""
        try:
            return _encode(self._ranked(1, cells, None))
        except BadInput:
            return None

    def size(
        self,
        row_number: int,
        cells: Cells,
        line: int | None = None,
        *,
        stored: int,
        enough: int,
    ) -> int:
        """The size of the item in bytes. Raises what `encode` raises."""
        return len(self.encode(row_number, cells, line))

    def _ranked(self, row: int, cells: Cells, line: int | None) -> dict[str, Any]:
        query = self._query if isinstance(self._query, str) else self._query.prompt_of(cells)
        if not query or not query.strip():
            raise BadInput.at(
                f"there is no question to rank against{FILL_IN}{OR_SKIP}",
                row=row,
                line=line,
                blank=True,
            )
        contexts = [{"text": text} for text in self.passages(cells)]
        if not contexts:
            names = listed([filler.used[0] for filler in self._passages])
            raise BadInput.at(
                f"{names} has no passage to rank{FILL_IN}{OR_SKIP}",
                row=row,
                line=line,
                blank=True,
            )
        return {"query": query, "contexts": contexts}

    def passages(self, cells: Cells) -> list[str]:
        """The passages of a row, in the order in which they are sent: without blank ones."""
        found: list[str] = []
        for filler in self._passages:
            [name] = filler.used
            value = _cell(cells, name, self.columns)
            if isinstance(value, list) and all(isinstance(one, str) for one in value):
                found += value
            else:
                found.append(cell_text(value))
        return [text for text in found if text.strip()]


def _cell(cells: Cells, name: str, columns: Sequence[str]) -> Any:
    """The value of a cell of an object, or the text of one of a table."""
    if isinstance(cells, dict):
        value = cells.get(name)
        return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value
    at = columns.index(name)
    return shown_text(cells[at]) if at < len(cells) else ""


def query_of(query: str, columns: Sequence[str]) -> Any:
    """The query: a text, or a Filler where it names columns. Raises BadInput."""
    if not query.strip():
        raise BadInput(NO_QUERY)
    template = Template(query)
    return template.bind(columns) if template.names else query


def check_passages(template: str) -> None:
    """Raise BadInput where something else than columns is named as passages."""
    found = Template(template)
    rest = found.text
    for name in found.names:
        rest = rest.replace("{{" + name + "}}", "")
    if rest.strip():
        raise BadInput(ONLY_COLUMNS)
