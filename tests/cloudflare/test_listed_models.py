"""What a listing and a schema say is read as they are; what is strange is left out."""

from datetime import date
from typing import Any

import pytest

from batchui.cloudflare.listed_models import listed, schema_facts

TEXT = {"name": "Text Generation"}


def entry(*properties: tuple[str, Any], task: Any = TEXT) -> dict[str, Any]:
    pairs = [{"property_id": name, "value": value} for name, value in properties]
    return {"name": "@cf/a/b", "task": task, "description": "Words", "properties": pairs}


def test_the_properties_of_a_model_are_read() -> None:
    price = [
        {"unit": "per M input tokens", "price": 0.1, "currency": "USD"},
        {"unit": "per M output tokens", "price": "0.3"},
        {"unit": "per M cached input tokens", "price": 0.05, "currency": "EUR"},
        {"unit": "per M audio tokens", "price": None},
    ]
    found = listed(
        entry(
            ("async_queue", "true"),
            ("context_window", "256000"),
            ("reasoning", True),
            ("vision", "true"),
            ("planned_deprecation_date", "2026-12-31T00:00:00.000Z"),
            ("price", price),
        )
    )
    assert found is not None
    assert (found.takes_batches, found.reasons, found.needs_paid_plan) == (True, True, False)
    assert (found.usd_read, found.usd_written, found.context_window) == (0.1, 0.3, 256_000)
    assert found.sees
    assert found.withdrawn_on == date(2026, 12, 31)


def test_what_cannot_be_read_is_left_out() -> None:
    found = listed(
        entry(("context_window", "many"), ("planned_deprecation_date", "soon"), ("price", "free"))
    )
    assert found is not None
    assert (found.context_window, found.withdrawn_on, found.usd_read) == (None, None, None)
    assert not found.takes_batches
    assert not found.sees
    bare = listed({"name": "@cf/a/b", "task": TEXT, "properties": "none"})
    assert bare is not None
    assert bare.description == ""


@pytest.mark.parametrize("figure", [10**400, float("inf"), "9" * 5_000, [], {}])
def test_a_figure_that_no_computer_has_is_left_out(figure: Any) -> None:
    prices = [{"unit": "per M input tokens", "price": figure}]
    found = listed(entry(("context_window", figure), ("price", prices)))
    assert found is not None
    assert (found.context_window, found.usd_read) == (None, None)
    schema = {"input": variant(prompt={}, top_k={"type": "integer", "maximum": figure})}
    [option] = schema_facts(schema, "chat").options
    assert option.most in (None, float("inf"))


@pytest.mark.parametrize("name", ["@cf/a/" + "b" * 195, "@cf/a/b\0", "@cf/a/b\n"])
def test_a_name_that_cannot_be_stored_is_left_out(name: str) -> None:
    assert listed(entry() | {"name": name}) is None
    assert listed(entry() | {"name": "@cf/a/" + "b" * 194}) is not None
    found = listed(entry() | {"description": "a\0b"})
    assert found is not None
    assert found.description == "ab"


@pytest.mark.parametrize("task", [{"name": "Text-to-Image"}, None, "Text Generation"])
def test_models_for_something_else_are_none(task: Any) -> None:
    assert listed(entry(task=task)) is None
    assert listed({"task": TEXT}) is None


def variant(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


NAMED = {"oneOf": [variant(json_schema={"type": "object", "required": ["name"]})]}
PLAIN = variant(json_schema={})


@pytest.mark.parametrize(("form", "nesting"), [(NAMED, "named"), (PLAIN, "plain"), (None, "")])
def test_a_schema_says_bounds_and_nesting(form: Any, nesting: str) -> None:
    number = {"anyOf": [{"type": "number", "minimum": 0, "maximum": 2}, {"type": "null"}]}
    chat = variant(
        messages={},
        temperature=number,
        stop={"anyOf": [{"type": "string"}, {"type": "array"}]},
        effort={"type": "string", "enum": ["low", "high"]},
        stream={"type": "boolean"},
        **({"response_format": form} if form else {}),
    )
    schema = {"input": {"anyOf": [{"oneOf": [variant(prompt={}), chat]}]}}
    facts = schema_facts(schema, "chat")
    assert (facts.item_format, facts.schema_nesting) == ("messages", nesting)
    options = {option.name: option for option in facts.options}
    assert set(options) - {"response_format"} == {"temperature", "stop", "effort"}
    assert (options["temperature"].least, options["temperature"].most) == (0, 2)
    assert (options["stop"].kind, options["effort"].choices) == ("any", ("low", "high"))


def test_items_of_batches_count_before_those_of_single_runs() -> None:
    requests = {"type": "array", "items": variant(input={}, reasoning={"type": "object"})}
    schema = {"input": {"oneOf": [variant(prompt={}), variant(requests=requests)]}}
    facts = schema_facts(schema, "chat")
    assert (facts.item_format, [option.name for option in facts.options]) == (
        "input",
        ["reasoning"],
    )


@pytest.mark.parametrize("schema", [{}, {"input": "x"}, {"input": variant(image={})}])
def test_a_schema_without_a_known_form_says_nothing(schema: dict[str, Any]) -> None:
    assert schema_facts(schema, "chat").item_format == ""
    assert schema_facts(schema, "translation").item_format == "translation"
