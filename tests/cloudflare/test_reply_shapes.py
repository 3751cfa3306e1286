"""Every shape an answer comes in, through the real client: polled, spooled and decoded."""

import io
import json
from typing import Any

import pytest

from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import BadReply
from batchui.cloudflare.replies import Reply, Usage, decode
from tests.cloudflare.conftest import MODEL, REQUEST_ID, finished, queued
from tests.cloudflare.server import ScriptedServer, reply


@pytest.fixture
def polled(server: ScriptedServer, client: RestClient) -> Any:
    """The decoded reply to a poll that the server answers with these items."""

    def poll(*items: object, **more: Any) -> Reply:
        server.script(reply(200, finished(*items, **more)))
        spool = io.BytesIO()
        assert client.poll(MODEL, REQUEST_ID, spool) is None
        return decode(spool.read(), request_id=REQUEST_ID)

    return poll


def chat(content: object, **message: object) -> dict[str, object]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": content} | message}
    return {"object": "chat.completion", "choices": [choice], "usage": {"total_tokens": 5}}


def responses_object(*output: object, **more: object) -> dict[str, object]:
    return {"object": "response", "output": list(output), "usage": {"input_tokens": 3}} | more


def said(*texts: str) -> dict[str, object]:
    pieces = [{"type": "output_text", "text": text} for text in texts]
    return {"type": "message", "role": "assistant", "content": pieces}


SCORES = [{"id": 1, "score": 0.9}, {"id": 0, "score": 0.1}]
VECTORS = [[0.25, -0.5, 1e-7], [0.0, 1.0, 2.0]]
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
        responses_object({"type": "reasoning"}),
        responses_object({"type": "reasoning"}, incomplete_details={"reason": "content_filter"}),
    ],
)
def test_an_answer_that_is_empty_for_no_known_reason_blames_nothing(
    polled: Any, result: object
) -> None:
    [item] = polled({"id": 0, "result": result, "success": True}).items
    assert item.error == "The model's answer is empty. Retry this row, or ask more plainly."


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
    assert "The model declined to answer: “I cannot.”" in item.error


@pytest.mark.parametrize(
    "fields",
    [
        {"error": "Context too long"},
        {"error": {"code": 8007, "message": "AiError: Context too long"}},
        {"error": {"error": {"message": "Context too long"}}},
        {"errors": [{"message": "Context too long"}]},
        {"errors": ["", "Context too long"]},
        {"message": "Context too long"},
        {"result": {"error": "Context too long"}},
        {"result": "Context too long", "error": None},
    ],
)
@pytest.mark.parametrize("success", [False, None])
def test_a_failed_item_quotes_its_reason_in_whatever_field_it_comes(
    polled: Any, fields: dict[str, object], success: bool | None
) -> None:
    if success is None and "result" in fields:
        fields = {"error": "Context too long"}
    [item] = polled({"id": 2, "success": success, "external_reference": "r"} | fields).items
    assert (item.index, item.status, item.answer, item.reference) == (2, "failed", None, "r")
    assert "“Context too long”" in item.error
    assert item.error.endswith("Retry it, or shorten its text.")


def test_a_failed_item_without_a_reason_says_so(polled: Any) -> None:
    for item in polled({"success": False}, {"success": False, "result": {}}).items:
        assert item.status == "failed"
        assert "gives no reason" in item.error


def test_an_item_that_does_not_say_whether_it_succeeded_is_judged_by_what_it_has(
    polled: Any,
) -> None:
    answer = {"response": "Yes"}
    items = polled(
        {"id": 0, "result": answer},
        {"id": 1, "result": answer, "error": "A warning"},
        {"id": 2, "error": "Context too long"},
        {"id": 3, "result": answer, "success": False, "error": "Context too long"},
    ).items
    assert [item.status for item in items] == ["answered", "answered", "failed", "failed"]


def test_a_long_reason_is_kept_short(polled: Any) -> None:
    [item] = polled({"success": False, "error": {"odd": "x" * 10_000}}).items
    assert len(item.error) < 400
    assert '{"odd":"xxx' in item.error


@pytest.mark.parametrize(
    ("fields", "index"),
    [
        ({"id": 3}, 3),
        ({"index": 3}, 3),
        ({"id": "3"}, 3),
        ({"id": "chatcmpl-7", "index": 3}, 3),
        ({"id": 9, "index": 3}, 3),
        ({"id": 3, "index": None}, 3),
        ({"id": "6f1d"}, None),
        ({"id": "9" * 9}, 999_999_999),
        ({"id": "9" * 10}, None),
        ({"id": "9" * 5_000}, None),
        ({"id": True}, None),
        ({"id": 3.5}, None),
        ({"id": "٣"}, None),
        ({}, None),
    ],
)
def test_an_items_position_is_its_index_or_its_id(
    polled: Any, fields: dict[str, object], index: int | None
) -> None:
    [item] = polled({"result": {"response": "Yes"}, "success": True} | fields).items
    assert item.index == index


@pytest.mark.parametrize(
    ("echo", "reference"),
    [("row 7", "row 7"), ("", ""), (None, None), (7, "7"), ({"a": 1}, '{"a":1}')],
)
def test_the_reference_is_echoed_as_text(polled: Any, echo: object, reference: str | None) -> None:
    [item] = polled({"id": 0, "result": {"response": "Yes"}, "external_reference": echo}).items
    assert item.reference == reference


def test_the_order_of_the_reply_and_its_doubles_are_left_to_the_caller(polled: Any) -> None:
    items = [{"id": i, "result": {"response": str(i)}, "success": True} for i in (2, 0, 2, 99)]
    assert [item.index for item in polled(*items).items] == [2, 0, 2, 99]


def test_strings_and_parsed_objects_mix_in_one_reply(polled: Any) -> None:
    reply = polled(
        {"id": 0, "result": {"response": '{"a":1}'}, "success": True},
        {"id": 1, "result": {"response": {"a": 1}}, "success": True},
    )
    assert [item.answer for item in reply.items] == [b'"{\\"a\\":1}"', b'{"a": 1}']


@pytest.mark.parametrize("junk", [None, 7, "text", [], True])
def test_what_is_no_item_is_a_failure_without_a_position(polled: Any, junk: object) -> None:
    good = {"id": 0, "result": {"response": "Yes"}, "success": True}
    bad, fine = polled(junk, good).items
    assert (bad.index, bad.status) == (None, "failed")
    assert "Cloudflare gives no reason." in bad.error
    assert fine.status == "answered"


def test_tokens_are_counted_for_the_reply_and_for_chat_items(polled: Any) -> None:
    reply = polled({"index": 0, "result": chat("Yes"), "success": True}, container="results")
    assert reply.usage == Usage(prompt_tokens=11, completion_tokens=7)
    assert reply.items[0].usage == b'{"total_tokens": 5}'
    for result in ({"response": "Yes", "usage": None}, {"response": "Yes"}, "Yes"):
        [nothing] = polled({"index": 0, "result": result, "success": True}).items
        assert nothing.usage is None


@pytest.mark.parametrize(
    "result",
    [
        {"response": "Yes"},
        chat("Yes"),
        chat(None),
        {"choices": [{"text": "Yes"}]},
        {"choices": []},
        responses_object(said("Yes")),
        {"translated_text": "Oui"},
        {"data": VECTORS, "shape": [2, 3]},
        {"summary": "Short"},
        {"result": chat("Yes")},
        {"result": "Yes"},
    ],
)
def test_tokens_of_an_item_are_kept_whatever_shape_its_answer_has(
    polled: Any, result: dict[str, Any]
) -> None:
    usage = {"usage": {"total_tokens": 5}}
    inner = result.get("result")
    counted = {"result": inner | usage} if isinstance(inner, dict) else result | usage
    [item] = polled({"id": 0, "result": counted, "success": True}).items
    assert item.usage == b'{"total_tokens": 5}'


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4, "more": {"x": 1}}, Usage(3, 4)),
        ({"input_tokens": 3, "output_tokens": 4, "total_tokens": 8}, Usage(3, 4)),
        ({"prompt_tokens": 1, "completion_tokens": 1}, Usage(1, 1)),
        ({"prompt_tokens": None, "completion_tokens": "many"}, Usage(0, 0)),
        ({"prompt_tokens": -3, "completion_tokens": 2.0}, Usage(0, 2)),
        ({"prompt_tokens": 0, "input_tokens": 3}, Usage(3, 0)),
        (None, None),
        ([1], None),
    ],
)
def test_usage_of_odd_shapes_is_read_as_far_as_it_goes(
    polled: Any, usage: object, counted: Usage | None
) -> None:
    assert polled(usage=usage).usage == counted


def test_a_reply_through_a_workers_binding_has_no_envelope() -> None:
    inner = finished({"id": 0, "result": {"response": "Yes"}, "success": True})["result"]
    [item] = decode(json.dumps(inner).encode()).items
    assert item.answer == b'"Yes"'


def test_of_two_containers_the_one_with_items_counts(polled: Any) -> None:
    item = {"index": 0, "result": chat("Yes"), "success": True}
    assert len(polled(results=[item]).items) == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_answer_is_one_line_whatever_the_layout_of_the_reply(end: str) -> None:
    item = {"id": 0, "result": {"response": {"a": [1, {"b": "x\ny"}]}}, "success": True}
    body = json.dumps(finished(item), indent=2).replace("\n", end).encode()
    [read] = decode(body).items
    assert read.answer == b'{"a":[1,{"b":"x\\ny"}]}'


def test_a_vector_is_found_in_its_list_whatever_the_layout_of_the_reply() -> None:
    item = {"id": 0, "result": {"response": VECTORS[:1], "shape": [1, 3]}, "success": True}
    [read] = decode(json.dumps(finished(item), indent=2).encode()).items
    assert json.loads(read.answer or b"") == VECTORS[0]


def test_half_an_emoji_costs_its_character_and_not_the_reply(
    server: ScriptedServer, client: RestClient
) -> None:
    body = (
        rb'{"result":{"responses":[{"id":0,"result":{"response":"cut \ud83d"},"success":true},'
        rb'{"id":1,"result":{"response":"\udc4b \\ud83d \ud83d\udc4b"},"success":true}]}}'
    )
    server.script(reply(200, body))
    spool = io.BytesIO()
    assert client.poll(MODEL, REQUEST_ID, spool) is None
    answers = [json.loads(item.answer or b"") for item in decode(spool.read()).items]
    assert answers == ["cut \ufffd", "\ufffd \\ud83d 👋"]


def test_bytes_that_are_not_utf8_cost_their_character_and_not_the_reply() -> None:
    body = b'{"result":{"responses":[{"id":0,"result":{"response":"a\xffb"},"success":true}]}}'
    [item] = decode(body).items
    assert json.loads(item.answer or b"") == "a\ufffdb"


def test_numbers_no_computer_holds_are_kept_as_they_are(polled: Any) -> None:
    body = b'{"result":{"responses":[{"id":0,"result":{"response":{"n":1e999}},"success":true}]}}'
    [item] = decode(body).items
    assert (item.status, item.answer) == ("answered", b'{"n":1e999}')


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "truncated"),
        (b"<html>", "malformed"),
        (b'{"result": {"responses": [', "truncated"),
        (b'{"result": {"responses": []}} {}', "trailing"),
        (b'{"result":{"x":' + b"[" * 100_000, "recursion"),
        (b"[]", "Expected `object`"),
        (json.dumps(queued()).encode(), "status 'queued'"),
        (json.dumps(finished(status="running")).encode(), "status 'running'"),
        (b'{"success":false,"errors":[{"message":"Oh"}],"result":null}', "reason 'Oh'"),
    ],
)
def test_what_is_not_a_finished_reply_says_why(body: bytes, why: str) -> None:
    with pytest.raises(BadReply, match=why) as caught:
        decode(body)
    assert caught.value.__context__ is None


def test_a_reply_that_names_another_request_is_not_taken() -> None:
    body = json.dumps(finished(request_id="another")).encode()
    assert decode(body).items == []
    with pytest.raises(BadReply, match=f"^asked for {REQUEST_ID}, was told about another$"):
        decode(body, request_id=REQUEST_ID)
