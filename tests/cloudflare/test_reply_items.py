"""The items of a reply: why they failed, which rows they belong to, and what they used."""

from typing import Any

import pytest

from batchui.cloudflare.replies import Usage
from tests.cloudflare.shapes import VECTORS, chat, responses_object, said


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


def test_tokens_of_an_item_may_stand_around_its_result(polled: Any) -> None:
    usage = {"usage": {"total_tokens": 5}}
    items = polled(
        {"id": 0, "result": {"response": "Yes"}} | usage,
        {"id": 1, "result": {"result": {"response": "Yes"}} | usage},
        {"id": 2, "result": {"result": {"response": "Yes"} | usage, "usage": {"total_tokens": 9}}},
        {"id": 3, "result": {"response": "Yes", "usage": None}} | usage,
    ).items
    assert [item.usage for item in items] == [b'{"total_tokens": 5}'] * 4


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
