"""References inside `contexts`, where Cloudflare answers null, can be moved to their request."""

import json
from typing import Any

import pytest

from batchui.prompts.ask import Ask
from batchui.prompts.items import ItemWriter
from batchui.prompts.reading.rows import encode_row

INSIDE = {
    "query": "Rain?",
    "contexts": [
        {"text": "It pours.", "external_reference": "a"},
        {"text": "It shines.", "external_reference": 2},
        {"text": "Fog.", "external_reference": None},
    ],
}


def made(item: dict[str, Any], **asked: Any) -> Any:
    writer = ItemWriter("contexts", Ask(as_items=True, **asked), tuple(item))
    encoded = writer.encode(7, item)
    stored = len(encode_row(item))
    assert writer.size(7, item, stored=stored, enough=0) >= len(encoded)
    assert json.loads(encoded)["external_reference"] == writer.reference(7, item)
    return json.loads(encoded)


def test_they_stay_unless_that_is_chosen() -> None:
    sent = made(INSIDE)
    assert sent["contexts"] == INSIDE["contexts"]
    assert sent["external_reference"] == "7"


def test_moved_they_are_the_reference_of_the_request() -> None:
    assert made(INSIDE, move_references=True) == {
        "query": "Rain?",
        "contexts": [{"text": "It pours."}, {"text": "It shines."}, {"text": "Fog."}],
        "external_reference": "a, 2",
    }


@pytest.mark.parametrize("item", [INSIDE | {"external_reference": "own"}, {"text": "Hi"}])
def test_a_request_with_its_own_reference_or_without_contexts_stays(item: dict[str, Any]) -> None:
    sent = made(item, move_references=True)
    assert sent == item | {"external_reference": item.get("external_reference", "7")}
