"""Answers where a JSON Schema is asked for."""

import json
from typing import Any

import pytest

from batchui.sandbox.schemas import instance
from tests.sandbox.conftest import GPT_OSS, KIMI, LLAMA, Caller

COMPANIES = {
    "type": "object",
    "properties": {"companies": {"type": "array", "items": {"type": "string"}}},
    "required": ["companies"],
}
PROMPT = "Extract the companies: Globex bought Initech on Friday"


def value(response: Any) -> Any:
    return json.loads(response) if isinstance(response, str) else response


@pytest.mark.parametrize(
    "asked",
    [
        {"response_format": {"type": "json_schema", "json_schema": COMPANIES}},
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "x", "schema": COMPANIES},
            }
        },
        {"guided_json": COMPANIES},
        {"guided_json": json.dumps(COMPANIES)},
    ],
)
def test_every_way_to_ask_for_a_schema_is_understood(caller: Caller, asked: dict[str, Any]) -> None:
    (result,) = caller.results(LLAMA, {"prompt": PROMPT, **asked})
    assert value(result["response"]) == {"companies": ["[sandbox] Globex", "[sandbox] Initech"]}


def test_gpt_oss_takes_the_schema_as_text_format(caller: Caller) -> None:
    form = {"format": {"type": "json_schema", "name": "x", "schema": COMPANIES}}
    (result,) = caller.results(GPT_OSS, {"input": PROMPT, "text": form})
    text = result["output"][1]["content"][0]["text"]
    assert set(json.loads(text)) == {"companies"}


def test_kimi_puts_the_json_into_the_message(caller: Caller) -> None:
    form = {"type": "json_schema", "json_schema": COMPANIES}
    (result,) = caller.results(KIMI, {"prompt": PROMPT, "response_format": form})
    assert set(json.loads(result["choices"][0]["message"]["content"])) == {"companies"}


def test_parsed_and_unparsed_answers_are_mixed_in_one_reply(caller: Caller) -> None:
    form = {"type": "json_schema", "json_schema": COMPANIES}
    results = caller.results(
        LLAMA, *({"prompt": f"Company {n}", "response_format": form} for n in range(20))
    )
    kinds = [type(result["response"]) for result in results]
    assert {dict, str} == set(kinds)
    assert all(set(value(result["response"])) == {"companies"} for result in results)


def test_a_json_object_can_be_asked_for_without_a_schema(caller: Caller) -> None:
    form = {"type": "json_object"}
    (result,) = caller.results(LLAMA, {"prompt": PROMPT, "response_format": form})
    assert value(result["response"])["sandbox"] == "No AI model ran."


def test_json_that_does_not_fit_max_tokens_is_cut_short(caller: Caller) -> None:
    form = {"type": "json_schema", "json_schema": COMPANIES}
    (result,) = caller.results(LLAMA, {"prompt": PROMPT, "response_format": form, "max_tokens": 4})
    assert result["response"] == '{"companies":["['


def test_a_schema_that_makes_no_sense_fails_its_item(caller: Caller) -> None:
    form = {"type": "json_schema", "json_schema": {"type": "array", "minItems": "many"}}
    (entry,) = caller.finished(LLAMA, {"prompt": "Hi", "response_format": form})["responses"]
    assert entry["success"] is False
    assert "JSON Mode couldn't be met" in entry["error"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"const": 7}, 7),
        ({"enum": ["ugly", "lovely"]}, "lovely"),
        ({"type": "number", "minimum": -1, "maximum": -1}, -1),
        ({"type": "integer", "maximum": -7, "minimum": -7}, -7),
        ({"type": "null"}, None),
        ({"type": "integer", "minimum": 5, "maximum": 5}, 5),
        ({"type": "string", "maxLength": 13}, "[sandbox] a l"),
        ({"type": "array", "maxItems": 0}, []),
        ({"type": "array", "items": {"const": 1}, "minItems": 4}, [1, 1, 1, 1]),
        ({"type": ["null", "object"], "properties": {"a": {"const": 1}}}, {"a": 1}),
        ({"anyOf": [{"const": "x"}, {"type": "null"}]}, "x"),
        ({"oneOf": [{"const": "y"}, {"const": "x"}]}, "y"),
        ({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"const": 5}}}, 5),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"const": 3}}}, 3),
        ({"$ref": "#/definitions/a~1b", "definitions": {"a/b": {"const": 4}}}, 4),
        ({"properties": {"a": {"const": 1}}, "required": ["a"]}, {"a": 1}),
    ],
)
def test_an_instance_fits_its_schema(schema: Any, expected: Any) -> None:
    assert instance(schema, "a lovely one") == expected


def test_numbers_stay_within_their_bounds() -> None:
    schema = {"type": "number", "minimum": -1.5, "maximum": 2}
    made = [instance(schema, f"Prompt {n}") for n in range(50)]
    assert all(-1.5 <= value <= 2 for value in made)
    assert len(set(made)) > 10


def test_a_rating_is_a_whole_number_of_its_scale() -> None:
    schema = {"type": "integer", "minimum": 1, "maximum": 5}
    assert {instance(schema, f"Prompt {n}") for n in range(100)} == {1, 2, 3, 4, 5}


def test_a_boolean_is_true_for_some_prompts() -> None:
    assert {instance({"type": "boolean"}, f"Prompt {n}") for n in range(20)} == {True, False}


def test_free_text_is_marked_and_taken_from_the_prompt() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": {}}},
    }
    made = instance(schema, "Review: The Globex printer broke twice")
    assert made == {
        "name": "[sandbox] Globex",
        "parts": ["[sandbox] Globex", "[sandbox] printer"],
    }


def test_texts_that_are_no_names_are_sentences_of_the_row() -> None:
    fields = {name: {"type": "string"} for name in ("summary", "because", "more")}
    asked = (
        "Judge the tone of this text.\n\nText: The lift was broken. The staff carried\nour bags!"
    )
    assert instance({"type": "object", "properties": fields}, asked) == {
        "summary": "[sandbox] The lift was broken.",
        "because": "[sandbox] The staff carried our bags!",
        "more": "[sandbox] The lift was broken.",
    }


def test_each_name_is_another_word() -> None:
    fields = {name: {"type": "string"} for name in ("people", "places")}
    asked = "Find the names in this text.\n\nText: Ana saw Globex in Porto"
    assert instance({"type": "object", "properties": fields}, asked) == {
        "people": "[sandbox] Globex",
        "places": "[sandbox] Porto",
    }


def test_a_recursive_schema_comes_to_an_end() -> None:
    node = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "left": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
            "children": {"type": "array", "items": {"$ref": "#"}},
        },
        "required": ["name", "left", "children"],
    }
    made = instance(node, "A tree")
    assert made["left"]["left"]["name"]
    assert len(json.dumps(made)) < 20_000


def test_an_impossible_recursion_ends_too() -> None:
    instance({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}, "required": ["a", "b"]}, "x")
    instance({"$ref": "#"}, "x")


def test_a_prompt_that_names_the_fields_in_words_gets_them_too(caller: Caller) -> None:
    asked = 'Answer with one JSON object. It has these fields:\n- "ok": true or false\n\nA room.'
    (result,) = caller.results(LLAMA, {"prompt": asked})
    response = result["response"]
    answer = json.loads(response) if isinstance(response, str) else response
    assert isinstance(answer["ok"], bool)
