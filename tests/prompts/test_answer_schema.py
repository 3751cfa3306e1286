"""Answer columns as a JSON Schema and in words, and back from a schema that was pasted."""

import json
from typing import Any

import pytest

from batchui.prompts.answer_columns import AnswerColumn, Kind
from batchui.prompts.answer_schema import (
    LONGEST_SCHEMA,
    columns_of,
    in_words,
    response_format,
    schema_of,
)
from batchui.prompts.problems import BadInput

COLUMNS = (
    AnswerColumn("summary", "text", (), "One sentence."),
    AnswerColumn("score", "number"),
    AnswerColumn("refund", "yes_no"),
    AnswerColumn("tone", "one_of", ("good", "bad")),
    AnswerColumn("topics", "several_of", ("price", "staff"), "What it is about"),
)


def test_the_schema_of_columns() -> None:
    assert schema_of(COLUMNS) == {
        "type": "object",
        "properties": {
            "summary": {"type": "string", "description": "One sentence."},
            "score": {"type": "number"},
            "refund": {"type": "boolean"},
            "tone": {"type": "string", "enum": ["good", "bad"]},
            "topics": {
                "type": "array",
                "items": {"type": "string", "enum": ["price", "staff"]},
                "description": "What it is about",
            },
        },
        "required": ["summary", "score", "refund", "tone", "topics"],
        "additionalProperties": False,
    }


def test_the_words_name_every_field_and_what_it_means() -> None:
    assert in_words(COLUMNS).splitlines() == [
        "Answer with one JSON object and nothing else. It has exactly these fields:",
        '- "summary": a text. One sentence.',
        '- "score": a number',
        '- "refund": true or false',
        '- "tone": one of "good", "bad"',
        '- "topics": a list of any of "price", "staff". What it is about',
    ]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda schema: schema,
        lambda schema: {"name": "answer", "strict": True, "schema": schema},
        lambda schema: {"type": "json_schema", "json_schema": schema},
        lambda schema: {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
        lambda schema: {"response_format": {"type": "json_schema", "json_schema": schema}},
    ],
)
def test_a_schema_becomes_its_columns_again(wrap: Any) -> None:
    assert columns_of(json.dumps(wrap(schema_of(COLUMNS)))) == COLUMNS
    assert response_format(COLUMNS)["type"] == "json_schema"


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "integer"}, "number"),
        ({"type": ["null", "string"]}, "text"),
        ({"enum": ["a", "b", None]}, "one_of"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "several_of"),
    ],
)
def test_what_a_property_becomes(schema: dict[str, Any], kind: Kind) -> None:
    [column] = columns_of(json.dumps({"properties": {"a": schema}}))
    assert column.kind == kind


def test_a_title_says_what_it_means_where_there_is_no_description() -> None:
    [column] = columns_of('{"properties": {"a": {"type": "string", "title": "The name"}}}')
    assert column.meaning == "The name"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "This is not JSON"),
        ("[]", "it is not an object"),
        ('"text"', "it is not an object"),
        ("{}", "no “properties”"),
        ('{"properties": {}}', "no “properties”"),
        ('{"properties": {"a": 1}}', "properties.a: this is no schema"),
        ('{"properties": {"a": {"type": "object"}}}', "properties.a: an object inside the answer"),
        ('{"properties": {"a": {"type": "array"}}}', "properties.a: a list of anything"),
        ('{"properties": {"a": {"enum": [1, 2]}}}', "properties.a: the type “”"),
        ('{"properties": {" ": {"type": "string"}}}', "has no name"),
        ('{"properties": {"a": {"enum": ["x"]}}}', "two values or more"),
        (" " * (LONGEST_SCHEMA + 1), "too long"),
        ("[" * 5_000, "This is not JSON"),
    ],
)
def test_what_cannot_become_columns_is_said_with_its_place(text: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        columns_of(text)
