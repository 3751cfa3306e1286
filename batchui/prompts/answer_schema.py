"""Answer columns as a JSON Schema, and as words for the model; and back from a pasted schema."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from batchui.prompts.answer_columns import AnswerColumn, checked
from batchui.prompts.problems import BadInput, quoted

# In characters: of a schema that is pasted.
LONGEST_SCHEMA = 50_000
# Options that say themselves which JSON is wanted.
JSON_OPTIONS = ("response_format", "guided_json")

_PLAIN = {"string": "text", "number": "number", "integer": "number", "boolean": "yes_no"}


def schema_of(columns: Iterable[AnswerColumn]) -> dict[str, Any]:
    """The schema of an object with a property for each column. All of them are required."""
    properties = {column.name: _property(column) for column in columns}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def response_format(columns: Iterable[AnswerColumn], *, named: bool = False) -> dict[str, Any]:
    """The `response_format` for these columns.

    Workers AI's JSON mode has the schema itself. The models that speak OpenAI's chat completions
    publish {"name", "schema"}, of which the name is required: named.
    """
    schema = schema_of(columns)
    wrapped = {"name": "answer", "schema": schema, "strict": True}
    return {"type": "json_schema", "json_schema": wrapped if named else schema}


def _property(column: AnswerColumn) -> dict[str, Any]:
    described = {"description": column.meaning} if column.meaning else {}
    match column.kind:
        case "number":
            return {"type": "number", **described}
        case "yes_no":
            return {"type": "boolean", **described}
        case "one_of":
            return {"type": "string", "enum": list(column.choices), **described}
        case "several_of":
            items = {"type": "string", "enum": list(column.choices)}
            return {"type": "array", "items": items, **described}
    return {"type": "string", **described}


def in_words(columns: Sequence[AnswerColumn]) -> str:
    """What is added to the instruction: which fields to write, and what each means.

    A model that is held to a schema does not see it, and others do not take one.
    """
    lines = [
        "Answer with one JSON object and nothing else. It has exactly these fields:",
        *(f"- {_quoted(column.name)}: {_wanted(column)}" for column in columns),
    ]
    return "\n".join(lines)


def _wanted(column: AnswerColumn) -> str:
    match column.kind:
        case "number":
            kind = "a number"
        case "yes_no":
            kind = "true or false"
        case "one_of":
            kind = f"one of {', '.join(map(_quoted, column.choices))}"
        case "several_of":
            kind = f"a list of any of {', '.join(map(_quoted, column.choices))}"
        case _:
            kind = "a text"
    return f"{kind}. {column.meaning}" if column.meaning else kind


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


def columns_of(text: str) -> tuple[AnswerColumn, ...]:
    """The columns of a JSON Schema that a person pasted: an object with flat properties.

    The schema may stand within {"schema"}, {"json_schema"} or a whole `response_format`. Raises
    BadInput, with the place, for what cannot become columns.
    """
    if len(text) > LONGEST_SCHEMA:
        raise BadInput(f"This schema is too long. Use at most {LONGEST_SCHEMA:,} characters.")
    try:
        found = msgspec.json.decode(text.encode())
    except (ValueError, RecursionError):
        raise BadInput("This is not JSON. Paste a JSON Schema, from { to }.") from None
    schema = _unwrapped(found)
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise BadInput(
            "This schema has no “properties”, from which the columns are made. Paste the schema of "
            "an object."
        )
    return checked(_column(name, part) for name, part in properties.items())


def _unwrapped(found: Any) -> Mapping[str, Any]:
    for _ in range(4):
        if not isinstance(found, Mapping):
            raise BadInput("This is no JSON Schema: it is not an object. Paste it from { to }.")
        inner = [found.get(name) for name in ("response_format", "json_schema", "schema")]
        wrapped = next((one for one in inner if isinstance(one, Mapping)), None)
        if wrapped is None or isinstance(found.get("properties"), Mapping):
            break
        found = wrapped
    return found if isinstance(found, Mapping) else {}


def _column(name: str, schema: Any) -> AnswerColumn:
    """The column for one property. Raises BadInput."""
    if not isinstance(schema, Mapping):
        raise BadInput(f"properties.{name}: this is no schema. Write it like {{'type': 'string'}}.")
    meaning = schema.get("description") or schema.get("title") or ""
    choices = _choices(schema)
    if choices is not None:
        return AnswerColumn(name, "one_of", choices, str(meaning))
    kind = _type(schema)
    if kind in _PLAIN:
        return msgspec.convert(
            {"name": name, "kind": _PLAIN[kind], "meaning": str(meaning)}, AnswerColumn
        )
    items = schema.get("items")
    listed = _choices(items) if isinstance(items, Mapping) else None
    if kind == "array" and listed is not None:
        return AnswerColumn(name, "several_of", listed, str(meaning))
    what = {"object": "an object inside the answer", "array": "a list of anything"}
    raise BadInput(
        f"properties.{name}: {what.get(kind, f'the type {quoted(kind)}')} cannot be a column. Use "
        "string, number, integer, boolean, a string with “enum”, or an array of such strings."
    )


def _type(schema: Mapping[str, Any]) -> str:
    """The type; of a list of types, the first that is not null."""
    kind = schema.get("type", "")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "")
    return str(kind)


def _choices(schema: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The texts of an `enum`; None if there is none, or one of something else."""
    listed = schema.get("enum")
    if not isinstance(listed, list):
        return None
    texts = [one for one in listed if one is not None]
    return tuple(texts) if texts and all(isinstance(one, str) for one in texts) else None
