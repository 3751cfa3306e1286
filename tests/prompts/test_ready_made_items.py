"""Ready-made items are sent as they are, if their model takes them."""

import json
from decimal import Decimal
from typing import Any

import pytest

from batchui.prompts.ask import Ask
from batchui.prompts.items import ItemWriter
from batchui.prompts.problems import BadInput
from batchui.prompts.ready_items import kind_of
from tests.prompts.asking import item


def ready(item_format: str, cells: Any, **changes: Any) -> Any:
    return item(item_format, cells, ("prompt",), template="", as_items=True, **changes)


def test_a_ready_made_item_is_sent_as_it_is() -> None:
    made = {"prompt": "Hi {{x}}", "max_tokens": 5, "external_reference": "a", "seed": 1}
    assert ready("prompt", made, max_tokens=100, temperature=None) == made


def test_settings_fill_in_only_what_an_item_does_not_say() -> None:
    made = ready("messages", {"messages": [{"role": "user", "content": "Hi"}]}, temperature=0.5)
    assert (made["max_tokens"], made["temperature"]) == (1024, 0.5)
    assert made["external_reference"] == "42"
    assert "max_tokens" not in ready("prompt", {"prompt": "Hi", "max_completion_tokens": 5})
    assert "max_tokens" not in ready("text", {"text": ["a", "b"]})
    assert ready("input", {"input": "Hi"})["max_output_tokens"] == 1024


def test_numbers_of_a_ready_made_item_keep_their_digits() -> None:
    writer = ItemWriter("prompt", Ask(as_items=True), ("prompt",))
    made = writer.encode(1, {"prompt": "x", "top_p": Decimal("0.10")})
    assert b'"top_p":0.10' in made


def test_a_number_as_reference_is_sent_as_text() -> None:
    assert ready("prompt", {"prompt": "x", "external_reference": 17})["external_reference"] == "17"


@pytest.mark.parametrize(
    ("item_format", "cells", "said"),
    [
        (
            "prompt",
            {"text": "x"},
            "the object has no “prompt” or “messages”, which the model needs",
        ),
        ("input", {"prompt": "x"}, "the object has no “input”"),
        ("prompt", {"prompt": " "}, "column “prompt”: the cell is blank"),
        ("messages", {"messages": []}, "column “messages”: the cell is blank"),
        ("prompt", ["x"], "a ready-made item is a JSON object"),
    ],
)
def test_an_object_that_is_no_item_is_refused_by_row(
    item_format: str, cells: Any, said: str
) -> None:
    with pytest.raises(BadInput, match=rf"^Row 42.*{said}"):
        ready(item_format, cells)


ONE, MESSAGES = "a text", "a list of messages"

TEXTS = "a text, or a list of texts with something in each"

CONTEXTS = "a list of objects that have a “text” each"


@pytest.mark.parametrize(
    ("item_format", "field", "value", "needed"),
    [
        ("prompt", "prompt", ["x"], ONE),
        ("prompt", "prompt", 17, ONE),
        ("prompt", "messages", "x", MESSAGES),
        ("messages", "messages", [{"role": "user", "content": "x"}, "x"], MESSAGES),
        ("input", "input", {"text": "x"}, "a text or a list of messages"),
        ("input", "input", ["x"], "a text or a list of messages"),
        ("text", "text", 17, TEXTS),
        ("text", "text", {"a": "x"}, TEXTS),
        ("text", "text", ["a", 17], TEXTS),
        ("text", "text", ["a", " "], TEXTS),
        ("contexts", "text", [["a"]], TEXTS),
        ("contexts", "contexts", "x", CONTEXTS),
        ("contexts", "contexts", [{"text": "x"}, {"text": 1}], CONTEXTS),
        ("contexts", "contexts", ["x"], CONTEXTS),
        ("translation", "text", ["x"], ONE),
    ],
)
def test_a_question_that_no_model_takes_is_refused_by_row_and_field(
    item_format: str, field: str, value: Any, needed: str
) -> None:
    with pytest.raises(BadInput) as caught:
        ready(item_format, {field: value, "target_lang": "fr"})
    assert str(caught.value) == (
        f"Row 42, column “{field}”: the model needs {needed} here, and this is something else. "
        "Correct it, or skip the row."
    )


@pytest.mark.parametrize(
    ("item_format", "made"),
    [
        ("text", {"text": ["a"]}),
        ("contexts", {"text": ["a", "b"]}),
        ("input", {"input": [{"role": "user", "content": "x"}]}),
        ("translation", {"text": "x", "target_lang": "fr"}),
    ],
)
def test_a_question_of_any_shape_that_its_model_takes_is_sent(
    item_format: str, made: dict[str, Any]
) -> None:
    sent = ready(item_format, made)
    assert {name: sent[name] for name in made} == made


def test_the_reference_of_a_ready_made_item_is_its_own_before_the_chosen_column() -> None:
    made = {"prompt": "x", "external_reference": "mine", "id": "r-1"}
    columns = ("prompt", "external_reference", "id")
    own = ItemWriter("prompt", Ask(as_items=True, reference_column="id"), columns)
    assert json.loads(own.encode(42, made))["external_reference"] == "mine"
    assert json.loads(own.encode(42, {"prompt": "x", "id": "r-1"}))["external_reference"] == "r-1"


def test_a_column_that_is_called_like_the_reference_is_one_like_any_other() -> None:
    writer = ItemWriter("prompt", Ask(template="{{review}}"), ("review", "external_reference"))
    assert writer.reference(42, {"review": "x", "external_reference": "r-1"}) == "42"


def test_a_ready_made_translation_needs_a_language_of_its_own_or_of_all() -> None:
    with pytest.raises(BadInput, match=r"^Row 42: the object has no “target_lang”, which the mod"):
        ready("translation", {"text": "x", "target_lang": ""})
    made = ready("translation", {"text": "x", "target_lang": "fr"}, target_lang="de")
    assert made["target_lang"] == "fr"
    assert ready("translation", {"text": "x"}, target_lang="de")["target_lang"] == "de"


def test_contexts_are_for_the_one_format_that_has_them() -> None:
    made = {"query": "Rain?", "contexts": [{"text": "It pours."}]}
    assert ready("contexts", made) == {**made, "external_reference": "42"}
    assert item("contexts", template="{{review}}").keys() == item("text").keys()
    with pytest.raises(BadInput, match="the object has no “text”, which"):
        ready("text", made)


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        ([{"prompt": "x", "target_lang": "fr"}], "chat"),
        ([{"messages": []}, {"prompt": "x"}], "chat"),
        ([{"input": "x", "text": {}}], "input"),
        ([{"text": "x"}], "text"),
        ([{"text": "x", "target_lang": "fr"}], "translation"),
        ([{"text": "x", "contexts": []}], "contexts"),
        ([{"text": "x"}, {"prompt": "x"}], None),
        ([], None),
    ],
)
def test_what_items_ask_for_is_seen_by_their_fields(made: Any, kind: str | None) -> None:
    assert kind_of(made) == kind
