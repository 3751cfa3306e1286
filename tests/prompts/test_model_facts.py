"""What a model takes is checked before anything is sent, and only that is sent."""

import json
from decimal import Decimal
from typing import Any

import pytest

from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_schema import schema_of
from batchui.prompts.ask import Ask
from batchui.prompts.items import ItemWriter
from batchui.prompts.model_facts import ROOM, check_room, check_settings, longest_written, misfit
from batchui.prompts.problems import BadInput
from tests.prompts.files import place_of
from tests.prompts.model_facts import Facts, OneEffort, OneOption

MODEL = Facts(
    options=(
        OneOption("temperature", "number", 0, 2),
        OneOption("seed", "integer", 1),
        OneOption("n", "integer"),
        OneOption("raw", "boolean"),
        OneOption("user", "text"),
        OneOption("tools", "list"),
        OneOption("logit_bias", "object"),
        OneOption("stop", "any"),
        OneOption("pooling", "text", choices=("mean", "cls")),
    )
)


@pytest.mark.parametrize(
    ("name", "fitting", "wrong", "words"),
    [
        ("temperature", 2, 2.1, "a number from 0 to 2 here, and this is 2.1."),
        ("temperature", 0, -0.1, "a number from 0 to 2 here, and this is -0.1."),
        ("temperature", Decimal("0.5"), Decimal("2.5"), "from 0 to 2 here, and this is 2.5."),
        ("temperature", 0.5, "1", "a number from 0 to 2 here, and this is something else."),
        ("temperature", 1, True, "and this is something else."),
        ("seed", 1, 0, "a whole number of 1 or more here, and this is 0."),
        ("seed", 7, 1.5, "a whole number of 1 or more here, and this is 1.5."),
        ("n", -3, "3", "a whole number here,"),
        ("raw", False, 0, "true or false here, and this is 0."),
        ("user", "", 3, "a text here,"),
        ("tools", [], {}, "a list here,"),
        ("logit_bias", {}, [], "an object in braces here,"),
        ("pooling", "cls", "max", "a text, “mean” or “cls”, here,"),
    ],
)
def test_a_value_is_held_against_its_kind_and_bounds(
    name: str, fitting: Any, wrong: Any, words: str
) -> None:
    assert misfit(MODEL, name, fitting) == misfit(MODEL, name, None) == ""
    sentence = misfit(MODEL, name, wrong)
    assert sentence.startswith("Test 1B takes ")
    assert words in sentence


def test_anything_may_stand_where_the_schema_says_nothing() -> None:
    for value in ("x", ["x"], 3):
        assert misfit(MODEL, "stop", value) == misfit(MODEL, "unheard_of", value) == ""


def test_an_option_that_the_model_does_not_take_is_named_with_those_that_it_takes() -> None:
    with pytest.raises(BadInput, match=r"^Test 1B takes no option “top_q”. It takes “temper"):
        check_settings(MODEL, Ask(options={"seed": 2, "top_q": 1}))
    with pytest.raises(BadInput, match=r"takes no option “seed”\. It takes none\. Remove it\."):
        check_settings(Facts(), Ask(options={"seed": 2}))
    with pytest.raises(BadInput, match=r"^The option “seed”: Test 1B takes a whole number"):
        check_settings(MODEL, Ask(options={"seed": 0}))
    check_settings(MODEL, Ask(options={"seed": 2, "temperature": None}))


def test_an_answer_must_leave_room_for_the_question() -> None:
    model = Facts(context_window=2_000, reasons=True)
    check_room(Facts(context_window=2_000), Ask(max_tokens=1_999))
    with pytest.raises(BadInput, match=r"room for 2,000 tokens.* up to 2,000 leaves none"):
        check_room(Facts(context_window=2_000), Ask(max_tokens=2_000))
    with pytest.raises(BadInput, match=r"up to 4,097, 4,096 of them for thinking, leaves"):
        check_room(model, Ask(max_tokens=1))


@pytest.mark.parametrize(
    ("effort", "asked", "room", "field"),
    [
        (OneEffort("reasoning_effort"), "low", ROOM["low"], {"reasoning_effort": "low"}),
        (OneEffort("reasoning_effort"), "", ROOM["medium"], {}),
        (OneEffort("reasoning_effort", high="xhigh", usual="high"), "", ROOM["high"], {}),
        (
            OneEffort("reasoning_effort", high="xhigh"),
            *("high", ROOM["high"], {"reasoning_effort": "xhigh"}),
        ),
        (
            OneEffort("reasoning", "effort"),
            *("medium", ROOM["medium"], {"reasoning": {"effort": "medium"}}),
        ),
        (
            OneEffort("chat_template_kwargs", "thinking", low=False),
            *("low", 0, {"chat_template_kwargs": {"thinking": False}}),
        ),
        (None, "high", ROOM["medium"], {}),
    ],
)
def test_an_effort_is_asked_for_as_the_model_wants_it_and_has_its_room(
    effort: Any, asked: str, room: int, field: dict[str, Any]
) -> None:
    model = Facts(reasons=True, effort=effort)
    ask = Ask(template="{{a}}", effort=asked, max_tokens=100)
    assert longest_written(model, ask) == 100 + room
    sent = json.loads(ItemWriter("prompt", ask, ["a"], model=model).encode(1, ["x"]))
    usual = {"prompt": "x", "max_tokens": 100 + room, "external_reference": "1"}
    assert sent == usual | field


def test_a_model_that_does_not_think_gets_no_effort_and_no_room() -> None:
    ask = Ask(template="{{a}}", effort="high", max_tokens=100)
    for model in (None, Facts()):
        sent = json.loads(ItemWriter("prompt", ask, ["a"], model=model).encode(1, ["x"]))
        assert sent == {"prompt": "x", "max_tokens": 100, "external_reference": "1"}


def test_a_temperature_is_sent_only_where_the_model_takes_one() -> None:
    ask = Ask(template="{{a}}", temperature=0.5)
    for model, sent in ((MODEL, 0.5), (Facts(), None)):
        item = json.loads(ItemWriter("input", ask, ["a"], model=model).encode(1, ["x"]))
        assert item.get("temperature") == sent


def test_a_schema_is_sent_in_the_nesting_that_the_model_wants() -> None:
    tone = AnswerColumn("tone")
    ask = Ask(template="{{a}}", answer_columns=(tone,))
    sent = {}
    for nesting in ("plain", "named", ""):
        model = Facts(schema_nesting=nesting)  # type: ignore[arg-type]
        item = json.loads(ItemWriter("messages", ask, ["a"], model=model).encode(1, ["x"]))
        sent[nesting] = item.get("response_format")
    schema = schema_of([tone])
    named = {"name": "answer", "schema": schema, "strict": True}
    assert sent == {
        "plain": {"type": "json_schema", "json_schema": schema},
        "named": {"type": "json_schema", "json_schema": named},
        "": None,
    }


def test_a_ready_made_item_is_held_against_the_model_only_before_it_is_sent() -> None:
    item = {"prompt": "Hello", "temperature": 9}
    ask = Ask(as_items=True)
    checking = ItemWriter("prompt", ask, ("prompt",), model=MODEL, checks_items=True)
    with pytest.raises(BadInput) as caught:
        checking.encode(4, item)
    assert place_of(caught.value) == (4, None, "temperature")
    assert str(caught.value).endswith("here, and this is 9. Change it, or skip the row.")
    sending = ItemWriter("prompt", ask, ("prompt",), model=MODEL)
    assert json.loads(sending.encode(4, item))["temperature"] == 9
