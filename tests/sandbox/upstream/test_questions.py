"""An item of each form becomes the call that OpenAI's wire has for it."""

import json
from typing import Any

import pytest

from batchui.sandbox.upstream.questions import CannotAsk, question, read

SCHEMA = {"type": "object", "properties": {"tone": {"type": "string"}}}
NAMED = {"name": "answer", "schema": SCHEMA}
USER = {"role": "user", "content": "Hello"}


def asked(item: dict[str, Any]) -> dict[str, Any]:
    """The body of the call for an item."""
    return dict(json.loads(question(read(json.dumps(item).encode()), model="m").body))


def test_messages_are_passed_on_as_they_are() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    messages = [{"role": "system", "content": "Be brief"}, {"role": "user", "content": [picture]}]
    assert asked({"messages": messages}) == {"model": "m", "messages": messages}


def test_a_prompt_is_a_message_of_the_user() -> None:
    assert asked({"prompt": "Hello", "external_reference": "r"}) == {
        "model": "m",
        "messages": [USER],
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("max_tokens", 9), ("max_completion_tokens", 9), ("temperature", 0), ("top_p", 0.5)),
        *(("top_k", 3), ("seed", 1), ("stop", ["x"]), ("frequency_penalty", 0.1)),
        *(("presence_penalty", 0.1), ("repetition_penalty", 1.1), ("tools", [{}])),
        *(("tool_choice", "auto"), ("reasoning_effort", "low")),
        *(("chat_template_kwargs", {"thinking": False}), ("response_format", {"type": "text"})),
    ],
)
def test_options_are_passed_on(name: str, value: Any) -> None:
    assert asked({"prompt": "Hello", name: value})[name] == value


@pytest.mark.parametrize("name", ["stream", "model", "raw", "lora", "n", "max_output_tokenz"])
def test_what_means_something_else_there_is_left_out(name: str) -> None:
    assert asked({"prompt": "Hello", name: True}) == {"model": "m", "messages": [USER]}


def test_what_is_null_is_left_out() -> None:
    assert "seed" not in asked({"prompt": "Hello", "seed": None})


@pytest.mark.parametrize(
    "item",
    [
        {"response_format": {"type": "json_schema", "json_schema": SCHEMA}},
        {"response_format": {"type": "json_schema", "json_schema": NAMED}},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
        {"guided_json": SCHEMA},
        {"guided_json": json.dumps(SCHEMA)},
        {"text": {"format": {"type": "json_schema", **NAMED}}},
    ],
)
def test_a_schema_is_named_as_openai_wants_it(item: dict[str, Any]) -> None:
    form = asked({"prompt": "Hello", **item})["response_format"]
    assert form == {"type": "json_schema", "json_schema": NAMED}


def test_a_name_and_strictness_stay() -> None:
    named = {"name": "mine", "strict": True, "schema": SCHEMA}
    form = {"type": "json_schema", "json_schema": named}
    assert asked({"prompt": "Hello", "response_format": form})["response_format"] == form


def test_any_json_stays_any_json() -> None:
    form = {"type": "json_object"}
    assert asked({"prompt": "Hello", "response_format": form})["response_format"] == form


def test_a_responses_request_becomes_messages() -> None:
    body = asked(
        {
            "instructions": "Be brief",
            "input": [
                {"role": "developer", "content": "Mind the tone"},
                {
                    "type": "message",
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "Hello"},
                        {"type": "input_image", "image_url": "data:image/png;base64,AA"},
                    ],
                },
            ],
            "max_output_tokens": 50,
            "reasoning": {"effort": "high"},
        }
    )
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief"},
            {"role": "system", "content": "Mind the tone"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Hello"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
                ],
            },
        ],
        "max_tokens": 50,
        "reasoning_effort": "high",
    }
    assert asked({"input": "Hello"})["messages"] == [USER]


def test_texts_are_embedded() -> None:
    assert question({"text": ["a", "b"]}, model="m").path == "/embeddings"
    assert asked({"text": ["a", "b"]}) == {"model": "m", "input": ["a", "b"]}
    assert question({"prompt": "a"}, model="m").path == "/chat/completions"


def test_a_translation_without_its_source_does_not_name_one() -> None:
    [system, user] = asked({"text": "Hello", "target_lang": "fr"})["messages"]
    assert system["content"].startswith("Translate what the user writes into the language “fr”.")
    assert user == USER


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"[1]", "not a JSON object"),
        (b"{", "not a JSON object"),
        (b"{}", "none of messages, prompt, input and text"),
        (b'{"text": [1]}', "none of messages"),
        (b'{"query": "x", "contexts": [{"text": "a"}]}', "cannot score contexts"),
        (b'{"input": 5}', "neither a text nor a list of messages"),
        (b'{"input": []}', "neither a text nor a list of messages"),
        (b'{"input": [{"type": "function_call_output", "output": "x"}]}', "neither a text nor"),
        (b'{"input": [{"role": "user"}]}', "neither a text nor"),
        (b'{"prompt": "x", "guided_json": "{"}', "guided_json is not JSON"),
    ],
)
def test_what_cannot_be_asked_is_said(raw: bytes, said: str) -> None:
    with pytest.raises(CannotAsk, match=said):
        question(read(raw), model="m")
