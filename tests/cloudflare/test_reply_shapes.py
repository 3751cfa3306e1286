"""Every shape an answer comes in, through the real client: polled, spooled and decoded."""

import json
from typing import Any

import pytest

from tests.cloudflare.shapes import VECTORS, chat, responses_object, said

SCORES = [{"id": 1, "score": 0.9}, {"id": 0, "score": 0.1}]
FUNCTION_CALL = {"type": "function_call", "name": "look_up", "arguments": "{}", "call_id": "c"}
CALL = [{"name": "look_up", "arguments": {"city": "Oslo"}}]

ANSWERED: dict[str, tuple[object, object]] = {
    "a text": ({"response": "Grüße 👋"}, "Grüße 👋"),
    "a text with blanks around it": ({"response": " \n yes \n"}, " \n yes \n"),
    "a text that is JSON stays a text": ({"response": '{"a": 1}'}, '{"a": 1}'),
    "a parsed object": ({"response": {"names": ["Ada"], "n": 1}}, {"names": ["Ada"], "n": 1}),
    "a parsed list": ({"response": ["a", "b"]}, ["a", "b"]),
    "a number": ({"response": 0}, 0),
    "a boolean": ({"response": False}, False),
    "an object with a nought in it": ({"response": {"n": 0, "s": ""}}, {"n": 0, "s": ""}),
    "older nesting": ({"result": {"response": "Yes"}}, "Yes"),
    "older nesting, twice": ({"result": {"result": {"response": "Yes"}}}, "Yes"),
    "a chat completion": (chat("Yes", reasoning_content="Hm."), "Yes"),
    "a chat completion in parts": (
        chat([{"type": "text", "text": "Yes, "}, {"type": "text", "text": "no"}]),
        "Yes, no",
    ),
    "a chat completion in bare texts": (chat(["Yes, ", "no"]), "Yes, no"),
    "a nested chat completion": ({"result": chat("Yes")}, "Yes"),
    "a text completion": ({"object": "text_completion", "choices": [{"text": "Yes"}]}, "Yes"),
    "a Responses object": (
        responses_object({"type": "reasoning", "content": [{"text": "Hm."}]}, said("Yes")),
        "Yes",
    ),
    "a Responses object in pieces": (responses_object(said("Yes, ", "no"), said("!")), "Yes, no!"),
    "a translation": ({"translated_text": "Oui"}, "Oui"),
    "an embedding": ({"data": VECTORS[:1], "shape": [1, 3], "pooling": "mean"}, VECTORS[0]),
    "embeddings": ({"data": VECTORS, "shape": [2, 3], "pooling": "mean"}, VECTORS),
    "scores of contexts": ({"response": SCORES}, SCORES),
    "vectors of contexts": ({"response": VECTORS, "shape": [2, 3], "pooling": "cls"}, VECTORS),
    "the vector of one context": ({"response": VECTORS[:1], "shape": [1, 3]}, VECTORS[0]),
    "tool calls instead of a text": ({"response": None, "tool_calls": CALL}, CALL),
    "tool calls in a chat": (chat(None, tool_calls=CALL), CALL),
    "tool calls of a Responses object": (
        responses_object({"type": "reasoning"}, FUNCTION_CALL, said(" "), FUNCTION_CALL),
        [FUNCTION_CALL, FUNCTION_CALL],
    ),
    "a text beside the calls of a Responses object": (
        responses_object(FUNCTION_CALL, said("Yes")),
        "Yes",
    ),
    "null beside a chat completion": ({"response": None} | chat("Yes"), "Yes"),
    "a text beside a chat completion": ({"response": "Yes"} | chat("No"), "Yes"),
    "null beside a translation": ({"response": None, "translated_text": "Oui"}, "Oui"),
    "null beside an embedding": ({"response": None, "data": VECTORS, "shape": [2, 3]}, VECTORS),
    "null around older nesting": ({"response": None, "result": {"response": "Yes"}}, "Yes"),
    "true beside a chat completion": ({"response": True} | chat("No"), True),
    "a text beside no tool calls": ({"response": "Yes", "tool_calls": []}, "Yes"),
    "an unknown object": ({"summary": "Short"}, {"summary": "Short"}),
    "an unknown object with known names": (
        {"output": ["a"], "data": 1},
        {"output": ["a"], "data": 1},
    ),
    "output without types": ({"output": [{"text": "Yes"}]}, {"output": [{"text": "Yes"}]}),
    "choices that are no completion": ({"choices": ["a", "b"]}, {"choices": ["a", "b"]}),
    "a text beside tool calls": ({"response": "Yes", "tool_calls": CALL}, "Yes"),
    "a list of one": ({"response": ["a"]}, ["a"]),
    "a text that calls itself a vector": ({"response": "Yes", "shape": [1]}, "Yes"),
    "an embedding without a shape": ({"data": VECTORS[:1]}, VECTORS[0]),
    "a text in another result": ({"result": "Yes"}, "Yes"),
    "a chat of no text at all": (chat([{"type": "image", "id": 7}]), [{"type": "image", "id": 7}]),
    "a bare text": ("Yes", "Yes"),
    "a bare list": ([1, 2], [1, 2]),
    "a bare number": (7, 7),
}


def test_an_answer_is_looked_for_within_four_results_and_no_deeper(polled: Any) -> None:
    four: object = {"response": "Yes"}
    for _ in range(4):
        four = {"result": four}
    items = polled({"id": 0, "result": four}, {"id": 1, "result": {"result": four}}).items
    assert [json.loads(item.answer) for item in items] == ["Yes", {"result": {"response": "Yes"}}]


@pytest.mark.parametrize("container", ["responses", "results"])
@pytest.mark.parametrize(("result", "answer"), ANSWERED.values(), ids=ANSWERED)
def test_every_shape_of_an_answer_is_understood_in_both_containers(
    polled: Any, container: str, result: object, answer: object
) -> None:
    key = "id" if container == "responses" else "index"
    [item] = polled({key: 4, "result": result, "success": True}, container=container).items
    assert (item.index, item.status, item.error) == (4, "answered", None)
    assert json.loads(item.answer) == answer


FENCED = '```json\n{"a": null}\n```'
EMPTY: dict[str, tuple[object, object]] = {
    "null": ({"response": None}, None),
    "a blank text": ({"response": " \n\t"}, " \n\t"),
    "an ideographic blank": ({"response": "\u3000"}, "\u3000"),
    "no text": ({"response": ""}, ""),
    "an empty list": ({"response": []}, []),
    "an empty object": ({"response": {}}, {}),
    "an object of nothing": (
        {"response": {"names": [], "city": "", "more": {"x": None, "y": [" "]}}},
        {"names": [], "city": "", "more": {"x": None, "y": [" "]}},
    ),
    "nothing and no tool calls": ({"response": None, "tool_calls": []}, None),
    "a chat without content": (chat(None, reasoning_content="Hm, hm."), None),
    "a chat with blank content": (chat(""), ""),
    "a chat without choices": ({"choices": [], "usage": {}}, None),
    "a blank text completion": ({"choices": [{"text": ""}]}, ""),
    "a Responses object with reasoning only": (responses_object({"type": "reasoning"}), None),
    "a Responses object without output": (responses_object(), None),
    "a blank translation": ({"translated_text": ""}, ""),
    "no embeddings": ({"data": [], "shape": [0, 384]}, []),
    "no result": (None, None),
    "an empty result": ({}, {}),
    "nested nothing": ({"result": {"response": ""}}, ""),
    "the text of JSON without content": ({"response": '{"a": [], "b": ""}'}, '{"a": [], "b": ""}'),
    "the same in a code fence": (chat('```json\n{"a": null}\n```'), '```json\n{"a": null}\n```'),
    "the same with blanks before it": ({"response": "\n []"}, "\n []"),
}


@pytest.mark.parametrize(("result", "answer"), EMPTY.values(), ids=EMPTY)
def test_a_success_with_nothing_in_it_is_empty_and_says_what_to_do(
    polled: Any, result: object, answer: object
) -> None:
    given = {"id": 0, "result": result, "success": True, "external_reference": "row 7"}
    [item] = polled(given).items
    assert (item.status, item.reference) == ("empty", "row 7")
    assert "etry this row" in item.error
    if answer is None:
        assert item.answer is None
    else:
        assert json.loads(item.answer) == answer


def test_a_success_without_any_result_is_empty(polled: Any) -> None:
    [item] = polled({"id": 0, "success": True}).items
    assert (item.status, item.answer) == ("empty", None)


@pytest.mark.parametrize(
    "result",
    [
        chat(None) | {"choices": [{"finish_reason": "length", "message": {"content": None}}]},
        {"choices": [{"finish_reason": "length", "text": ""}]},
        responses_object({"type": "reasoning"}, incomplete_details={"reason": "max_output_tokens"}),
    ],
)
def test_an_answer_cut_off_before_its_first_word_says_to_allow_a_longer_one(
    polled: Any, result: object
) -> None:
    [item] = polled({"id": 0, "result": result, "success": True}).items
    assert item.status == "empty"
    assert "Allow a longer answer" in item.error


@pytest.mark.parametrize(
    "result",
    [
        chat(None),
        chat(None, refusal=" "),
        {"choices": [{"finish_reason": "stop", "text": ""}]},
        responses_object(status="completed"),
        responses_object(incomplete_details={"reason": "content_filter"}),
    ],
)
def test_an_answer_that_is_empty_for_no_known_reason_blames_nothing(
    polled: Any, result: object
) -> None:
    [item] = polled({"id": 0, "result": result, "success": True}).items
    assert item.error == "The model's answer is empty. Retry this row, or ask more plainly."


def reasoned(finish_reason: str | None, **message: object) -> dict[str, object]:
    choice = {"finish_reason": finish_reason, "message": {"content": None} | message}
    return {"choices": [choice]}


ALL_ROOM = "All the room for the answer went into the model's reasoning"
ONLY_REASONED = "The model only reasoned, and wrote no answer."


@pytest.mark.parametrize(
    ("result", "said", "cut"),
    [
        (reasoned("length", reasoning_content="Hm."), ALL_ROOM, True),
        (reasoned("length", reasoning="Hm."), ALL_ROOM, True),
        (reasoned("length", reasoning_content=None, reasoning="Hm."), ALL_ROOM, True),
        (reasoned("length", reasoning_content=None, content=" " * 99), "The model reached", True),
        (reasoned("stop", reasoning_content="Hm."), f"{ONLY_REASONED} Retry this row", False),
        (reasoned(None, reasoning_content="Hm."), f"{ONLY_REASONED} Allow a longer answer", None),
        (responses_object({"type": "reasoning"}), f"{ONLY_REASONED} Allow a longer answer", None),
        (
            responses_object({"type": "reasoning"}, status="completed"),
            f"{ONLY_REASONED} Retry this row",
            False,
        ),
        (
            responses_object({"type": "reasoning"}, incomplete_details={"reason": "filter"}),
            f"{ONLY_REASONED} Retry this row",
            False,
        ),
        (
            responses_object(
                {"type": "reasoning"}, incomplete_details={"reason": "max_output_tokens"}
            ),
            ALL_ROOM,
            True,
        ),
    ],
)
def test_reasoning_without_an_answer_says_whether_a_longer_answer_helps(
    polled: Any, result: object, said: str, cut: bool | None
) -> None:
    [item] = polled({"id": 0, "result": result, "success": True}).items
    assert (item.status, item.cut) == ("empty", cut)
    assert item.error.startswith(said)


@pytest.mark.parametrize(
    ("result", "cut"),
    [
        ({"response": "Ye"}, None),
        (chat("Ye"), False),
        ({"choices": [{"finish_reason": "length", "message": {"content": "Ye"}}]}, True),
        ({"choices": [{"finish_reason": "length", "text": "Ye"}]}, True),
        ({"choices": [{"finish_reason": None, "text": "Ye"}]}, None),
        ({"response": "Ye", "choices": [{"finish_reason": "length"}]}, True),
        ({"result": {"choices": [{"finish_reason": "length", "text": "Ye"}]}}, True),
        (responses_object(said("Ye"), incomplete_details={"reason": "max_output_tokens"}), True),
        (responses_object(said("Ye"), status="incomplete"), None),
        (responses_object(said("Ye"), status="completed"), False),
        ({"translated_text": "Ou"}, None),
    ],
)
def test_an_answer_says_whether_it_was_cut_off_at_the_limit_of_its_length(
    polled: Any, result: object, cut: bool | None
) -> None:
    [item] = polled({"id": 0, "result": result, "success": True}).items
    assert (item.status, item.cut) == ("answered", cut)


@pytest.mark.parametrize(
    "result",
    [
        chat(None, refusal="I cannot."),
        responses_object(
            {"type": "message", "content": [{"type": "refusal", "refusal": "I cannot."}]}
        ),
    ],
)
def test_a_model_that_declines_is_quoted(polled: Any, result: object) -> None:
    [item] = polled({"id": 0, "result": result, "success": True}).items
    assert item.status == "empty"
    assert "The model declined to answer: “I cannot”." in item.error
