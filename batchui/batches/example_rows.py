"""Lets a model make example rows to try with: one prompt, answered at once, becomes a file."""

import csv
import io
from contextlib import closing
from typing import Any

import msgspec

from batchui.batches import call_limit
from batchui.batches.trying import why_paused
from batchui.cloudflare import errors
from batchui.cloudflare.catalogue import Model
from batchui.cloudflare.json_in_text import unwrapped
from batchui.cloudflare.replies import read_result
from batchui.cloudflare.waiting import FOR_EXAMPLES
from batchui.prompts.ask import Ask
from batchui.prompts.items import ItemWriter
from batchui.prompts.problems import BadInput
from batchui.teams.connections import client_for
from batchui.teams.models import Connection
from batchui.teams.problems import TeamProblem

ROWS = 10
# In characters, of what somebody writes about the rows.
LONGEST = 500
# In tokens: ten rows of a paragraph each.
LONGEST_ANSWER = 4_000
MOST_COLUMNS = 12

_INSTRUCTION = f"""Make a table of {ROWS} rows of made-up example data about what you are told. \
Let the rows differ, as real ones do: in length, in tone, in what they are about. Answer with JSON \
alone: an object with "columns", a list of the names of two to five columns, and "rows", a list of \
{ROWS} lists of texts, one text for each column."""
_TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 2}
_SCHEMA = {
    "type": "object",
    "properties": {
        "columns": _TEXTS,
        "rows": {"type": "array", "items": _TEXTS, "minItems": ROWS, "maxItems": ROWS},
    },
    "required": ["columns", "rows"],
}
NO_TABLE = (
    "The model's answer was no table. Try again, say more plainly what the rows are about, or "
    "choose another model."
)
USED_UP = "Too many calls were made in the last minutes. Try again in a moment."
MAYBE_CHARGED = "It may have been charged."


def make(connection: Connection, *, model: Model, about: str) -> bytes:
    """Ask for rows about something. Returns them as CSV, with their names in the first line.

    It takes up to 40 seconds, and costs what one row does. Raises BadInput, with a sentence.
    """
    if reason := why_paused(connection):
        raise BadInput(reason)
    if not call_limit.take(connection, 1):
        raise BadInput(USED_UP)
    try:
        with closing(client_for(connection, FOR_EXAMPLES)) as client:
            result = client.run(model.name, item_of(model, about))
    except TeamProblem as problem:
        raise BadInput(str(problem)) from problem
    except (errors.NotSent, errors.Busy, errors.Refused) as problem:
        raise BadInput(problem.user_message) from problem
    except errors.CloudflareError as problem:
        raise BadInput(f"{problem.user_message} {MAYBE_CHARGED}") from problem
    return as_csv(result)


def item_of(model: Model, about: str) -> bytes:
    """The request for rows about something, as the model takes it."""
    options: dict[str, Any] = {}
    if model.schema_nesting:
        named = {"name": "table", "schema": _SCHEMA}
        schema = named if model.schema_nesting == "named" else _SCHEMA
        options["response_format"] = {"type": "json_schema", "json_schema": schema}
    asked = Ask(
        model=model.name,
        template="{{about}}",
        instruction=_INSTRUCTION,
        max_tokens=LONGEST_ANSWER,
        options=options,
    )
    return ItemWriter(model.item_format, asked, ["about"], model=model).encode(1, [about])


def as_csv(result: bytes) -> bytes:
    """The table in the result of a run, as CSV. Raises BadInput where there is none."""
    answer = read_result(result).answer
    try:
        found = msgspec.json.decode(unwrapped(answer or b"null", anywhere=True))
    except msgspec.DecodeError:
        raise BadInput(NO_TABLE) from None
    columns, rows = _table(found)
    written = io.StringIO(newline="")
    csv.writer(written).writerows([columns, *rows])
    return written.getvalue().encode("utf-8", "replace")


def _table(found: Any) -> tuple[list[str], list[list[str]]]:
    """Columns and rows, as a list of lists or of objects. What fits no column is left out."""
    rows = found.get("rows") if isinstance(found, dict) else found
    columns = found.get("columns") if isinstance(found, dict) else None
    if not isinstance(rows, list) or not rows:
        raise BadInput(NO_TABLE)
    if all(isinstance(row, dict) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        table = [[row.get(name) for name in names] for row in rows]
    elif isinstance(columns, list) and all(isinstance(row, list) for row in rows):
        names, table = columns, rows
    else:
        raise BadInput(NO_TABLE)
    if not names:
        raise BadInput(NO_TABLE)
    names = _told_apart([_text(name) for name in names[:MOST_COLUMNS]])
    width = len(names)
    return names, [[_text(cell) for cell in (row + [""] * width)[:width]] for row in table]


def _told_apart(names: list[str]) -> list[str]:
    """The names, each once: a second one gets its number."""
    told: list[str] = []
    for at, name in enumerate(names, 1):
        name = name.strip() or f"column {at}"
        told.append(name if name not in told else f"{name} {at}")
    return told


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else msgspec.json.encode(cell).decode()
