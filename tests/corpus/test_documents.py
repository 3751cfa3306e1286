"""JSON documents and ready-made payloads of the Batch API."""

import json
from typing import Any

import pytest

from batchui.prompts.ask import Ask
from batchui.prompts.items import ItemWriter
from batchui.prompts.problems import BadInput
from tests.batches.conftest import MakeBatch
from tests.corpus.entries import Entry, Table, each, found_in, lines

pytestmark = pytest.mark.django_db

ONE = {"id": 1, "text": "one"}
TWO = Table(("id", "text"), 2, ONE)
ROWS = [ONE, {"id": 2, "text": "two"}]
REQUESTS = [
    {"prompt": "Name a town.", "external_reference": "a"},
    {"prompt": "Name a river.", "external_reference": "b"},
]


def made(value: Any, **how: Any) -> bytes:
    return json.dumps(value, **how).encode()


ENTRIES = [
    Entry("a list of objects", "r.json", made(ROWS), TWO),
    Entry("a list of objects over many lines", "r.json", made(ROWS, indent=2), TWO),
    Entry("a list of objects with a mark", "r.json", b"\xef\xbb\xbf" + made(ROWS), TWO),
    Entry("a list of objects in UTF-16", "r.json", made(ROWS).decode().encode("utf-16"), TWO),
    Entry(
        "a list of objects in Windows-1252",
        "r.json",
        '[{"text": "größer"}]'.encode("cp1252"),
        Table(("text",), 1, {"text": "größer"}),
    ),
    Entry("an object with one list", "r.json", made({"count": 2, "data": ROWS}), TWO),
    Entry(
        "an object with two lists",
        "r.json",
        made({"a": ROWS, "b": ROWS}),
        "This JSON document has two lists of objects, “a” and “b”. Save the one that has your …",
    ),
    Entry("an object on each line", "r.jsonl", lines(*map(json.dumps, ROWS)), TWO),
    Entry("an object on each line, named .json", "r.json", lines(*map(json.dumps, ROWS)), TWO),
    Entry("an object on each line, named .ndjson", "r.ndjson", lines(*map(json.dumps, ROWS)), TWO),
    Entry("an object on each line, named .txt", "r.txt", lines(*map(json.dumps, ROWS)), TWO),
    Entry(
        "an object on each line, CR LF", "r.jsonl", lines(*map(json.dumps, ROWS), end="\r\n"), TWO
    ),
    Entry(
        "objects one after the other",
        "r.json",
        made(ROWS[0], indent=1) + made(ROWS[1], indent=1),
        TWO,
    ),
    Entry("a list, named .jsonl", "r.jsonl", made(ROWS), TWO),
    Entry("a single object", "r.json", made(ONE), Table(("id", "text"), 1, ONE)),
    Entry(
        "objects within objects",
        "r.json",
        made([{"id": 1, "by": {"name": "Ann", "town": {"name": "Rome"}}}]),
        Table(
            ("id", "by.name", "by.town.name"),
            1,
            {"id": 1, "by.name": "Ann", "by.town.name": "Rome"},
        ),
    ),
    Entry(
        "objects with different keys",
        "r.json",
        made([{"a": 1}, {"b": 2}, {"a": 3, "c": None}]),
        Table(("a", "b"), 3, {"a": 1}),
    ),
    Entry(
        "a list of lists",
        "r.json",
        made([["id", "text"], [1, "one"], [2, "two"]]),
        Table(("id", "text"), 2, [1, "one"]),
    ),
    Entry(
        "a list of texts",
        "r.json",
        made(["Name a town.", "Name a river."]),
        Table(("Column 1",), 2, ["Name a town."]),
    ),
    Entry(
        "a list of mixed values",
        "r.json",
        made([{"a": 1}, 2]),
        "Item 2 is a number, while the first is an object. …",
    ),
    Entry(
        "an empty list",
        "r.json",
        b"[]",
        "The list in this JSON document is empty. Choose a file with rows.",
    ),
    Entry(
        "an empty object",
        "r.json",
        b"{}",
        "All objects in the file are empty. Choose a file whose objects have texts.",
    ),
    Entry(
        "a list of empty objects",
        "r.json",
        b"[{}, {}]",
        "All objects in the file are empty. Choose a file whose objects have texts.",
    ),
    Entry(
        "an object with an empty list",
        "r.json",
        b'{"data": []}',
        "The list in this JSON document is empty. Choose a file with rows.",
    ),
    Entry(
        "a number alone",
        "r.json",
        b"17",
        "The name says that this is JSON, but its lines are not JSON objects. …",
    ),
    Entry(
        "a text alone",
        "r.json",
        b'"Name a town."',
        "The name says that this is JSON, but its lines are not JSON objects. …",
    ),
    Entry(
        "a trailing comma",
        "r.json",
        b'[{"a": 1},]',
        "Item 2 (line 1): this is no JSON (expecting value). Correct it, and upload the file …",
    ),
    Entry(
        "a missing comma",
        "r.json",
        b'[{"a": 1} {"a": 2}]',
        "Item 1 (line 1): this is no JSON (“,” or “]” is expected here, not “{”). Correct it, …",
    ),
    Entry(
        "single quotation marks",
        "r.json",
        b"[{'a': 1}]",
        "Item 1 (line 1): this is no JSON (expecting property name enclosed in double quotes). …",
    ),
    Entry(
        "a comment",
        "r.json",
        b'[{"a": 1}, // two\n{"a": 2}]',
        "Item 2 (line 1): this is no JSON (expecting value). Correct it, and upload the file …",
    ),
    Entry(
        "NaN",
        "r.json",
        b'[{"a": NaN}]',
        "Item 1 (line 1): this is no JSON (NaN is no number; write null, or leave it out). …",
    ),
    Entry("a key twice", "r.json", b'[{"a": 1, "a": 2}]', Table(("a",), 1, {"a": 2})),
    Entry(
        "a number of 30 digits",
        "r.json",
        b'[{"a": 123456789012345678901234567890}]',
        Table(("a",), 1, {"a": 123456789012345678901234567890}),
    ),
    Entry(
        "half of a character",
        "r.json",
        b'[{"a": "\\ud83d"}]',
        "The name says that this is JSON, but its lines are not JSON objects. …",
    ),
    Entry("a NUL character", "r.json", b'[{"a": "x\\u0000y"}]', Table(("a",), 1, {"a": "x\0y"})),
    Entry(
        "a NUL character in a name",
        "r.json",
        b'[{"a\\u0000": "x"}]',
        "The name of the column “a ” contains a NUL character. Rename it and upload the file …",
    ),
    Entry(
        "text after the end",
        "r.json",
        b'[{"a": 1}] and more',
        "Line 1: this is no JSON (the document has ended, and “a” follows). Correct it, and …",
    ),
    Entry(
        "a list that is cut",
        "r.json",
        made(ROWS)[:-10],
        "Item 2 (line 1): the file ends in the middle. It was not copied or downloaded whole. …",
    ),
    Entry(
        "a wrong line",
        "r.jsonl",
        lines('{"a": 1}', "oops", '{"a": 2}'),
        Table(("a",), 3, {"a": 1}, bad=1),
    ),
    Entry(
        "a line that is cut",
        "r.jsonl",
        b'{"a": 1}\n{"a": 2}\n{"a": ',
        Table(("a",), 3, {"a": 1}, bad=1),
    ),
    Entry(
        "a line with a list", "r.jsonl", lines('{"a": 1}', "[2]"), Table(("a",), 2, {"a": 1}, bad=1)
    ),
    Entry(
        "no line with an object",
        "r.jsonl",
        lines("one", "two"),
        "The name says that this is JSON, but its lines are not JSON objects. …",
    ),
    Entry(
        "no JSON, named .json",
        "r.json",
        b"id,text\n1,one\n",
        "The name says that this is JSON, but its lines are not JSON objects. …",
    ),
    Entry(
        "GeoJSON",
        "r.geojson",
        made(
            {
                "type": "FeatureCollection",
                "features": [{"type": "Feature", "properties": {"name": "Rome"}, "geometry": None}],
            }
        ),
        Table(
            ("type", "properties.name"),
            1,
            {"type": "Feature", "properties.name": "Rome", "geometry": None},
        ),
    ),
    Entry(
        "a notebook of Jupyter",
        "r.ipynb",
        made({"cells": [{"cell_type": "code", "source": ["1"]}], "nbformat": 4}, indent=1),
        Table(("prompt",), 11, ["{"]),
    ),
    # Ready-made payloads, as Cloudflare's documents show them.
    Entry(
        "a body with prompts",
        "r.json",
        made({"requests": REQUESTS}),
        Table(("prompt", "external_reference"), 2, REQUESTS[0]),
    ),
    Entry(
        "a body with prompts over many lines",
        "r.json",
        made({"requests": REQUESTS}, indent=2),
        Table(("prompt", "external_reference"), 2, REQUESTS[0]),
    ),
    Entry(
        "a body named .txt",
        "r.txt",
        made({"requests": REQUESTS}),
        Table(("prompt", "external_reference"), 2, REQUESTS[0]),
    ),
    Entry(
        "a body without requests",
        "r.json",
        made({"requests": []}),
        "The list in this JSON document is empty. Choose a file with rows.",
    ),
    Entry(
        "a body with a query and contexts",
        "r.json",
        made(
            {
                "requests": [
                    {
                        "query": "Is it raining?",
                        "contexts": [{"text": "It pours."}, {"text": "Sun."}],
                    }
                ]
            }
        ),
        Table(
            ("query", "contexts"),
            1,
            {"query": "Is it raining?", "contexts": [{"text": "It pours."}, {"text": "Sun."}]},
        ),
    ),
    Entry(
        "a body with texts and a language",
        "r.json",
        made(
            {
                "requests": [
                    {"text": "Good morning", "source_lang": "english", "target_lang": "spanish"}
                ]
            }
        ),
        Table(
            ("text", "source_lang", "target_lang"),
            1,
            {"text": "Good morning", "source_lang": "english", "target_lang": "spanish"},
        ),
    ),
    Entry(
        "a body with a response_format",
        "r.json",
        made(
            {
                "requests": [
                    {
                        "prompt": "Who?",
                        "response_format": {
                            "type": "json_schema",
                            "json_schema": {"type": "object"},
                        },
                    }
                ]
            }
        ),
        Table(
            ("prompt", "response_format"),
            1,
            {
                "prompt": "Who?",
                "response_format": {"type": "json_schema", "json_schema": {"type": "object"}},
            },
        ),
    ),
    Entry(
        "items with messages on lines of their own",
        "r.jsonl",
        lines(
            *[
                json.dumps({"messages": [{"role": "user", "content": text}], "max_tokens": 9})
                for text in ("Hi", "Bye")
            ]
        ),
        Table(
            ("messages", "max_tokens"),
            2,
            {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9},
        ),
    ),
    Entry(
        "a batch file of another company",
        "r.jsonl",
        lines(
            json.dumps(
                {
                    "custom_id": "a",
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": {"model": "x", "messages": [{"role": "user", "content": "Hi"}]},
                }
            )
        ),
        Table(
            ("custom_id", "method", "url", "body.model", "body.messages"),
            1,
            {
                "custom_id": "a",
                "method": "POST",
                "url": "/v1/chat/completions",
                "body.model": "x",
                "body.messages": [{"role": "user", "content": "Hi"}],
            },
        ),
    ),
]


@each(ENTRIES)
def test_a_document_is_read(receive: MakeBatch, entry: Entry) -> None:
    assert found_in(receive, entry) == entry.expected


@pytest.mark.parametrize(
    ("title", "fits", "other", "missing"),
    [
        ("a body with prompts", "prompt", "input", "“input”"),
        ("a body with a query and contexts", "contexts", "messages", "“messages” or “prompt”"),
        ("a body with texts and a language", "translation", "prompt", "“prompt” or “messages”"),
        ("a body with a response_format", "messages", "text", "“text”"),
        ("items with messages on lines of their own", "messages", "translation", "“text”"),
    ],
)
def test_a_ready_made_item_is_sent_as_it_is_to_a_model_of_its_shape_alone(
    receive: MakeBatch, title: str, fits: str, other: str, missing: str
) -> None:
    [entry] = [entry for entry in ENTRIES if entry.title == title]
    batch = receive(entry.content, entry.name)
    assert batch.format.items
    item = batch.first_rows[0]
    sent = json.loads(ItemWriter(fits, Ask(as_items=True), batch.columns).encode(1, item))
    assert sent == {**sent, "external_reference": "1", **item}
    assert sent.keys() - item.keys() <= {"external_reference", "max_tokens"}
    with pytest.raises(BadInput, match=f"Row 1: the object has no {missing}, which the model"):
        ItemWriter(other, Ask(as_items=True), batch.columns).encode(1, item)
