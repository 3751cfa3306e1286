"""The script of faults, one by one, as a client meets them."""

import json
import time
from typing import Any

import httpx
import pytest

from batchui.sandbox.errors import CODES
from batchui.sandbox.options import Timings
from batchui.sandbox.testing import RunningSandbox
from tests.sandbox.conftest import BGE_SMALL, GPT_OSS, KIMI, LLAMA, M2M100, QWEN, Caller

ITEMS = [{"prompt": f"Row {n}", "external_reference": f"r{n}"} for n in range(6)]
BATCH = {"requests": ITEMS}


def entries(caller: Caller, model: str = LLAMA) -> list[dict[str, Any]]:
    reply = caller.finished(model, *ITEMS)
    return list(reply.get("responses") or reply["results"])


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_can_be_answered_with_its_status(
    sandbox: RunningSandbox, caller: Caller, code: int
) -> None:
    sandbox.script({"fault": "error", "call": "submit", "code": code, "retry_after": 7})
    reply = caller.post(LLAMA, BATCH)
    assert (reply.status_code, reply.json()["errors"][0]["code"]) == (CODES[code][0], code)
    assert reply.headers["retry-after"] == "7"
    assert sandbox.calls("submit")[0].request_id == ""


def test_an_error_can_have_another_status_and_message(
    sandbox: RunningSandbox, caller: Caller
) -> None:
    sandbox.script({"fault": "error", "code": 99, "status": 522, "message": "Odd"})
    reply = caller.post(LLAMA, BATCH)
    assert reply.status_code == 522
    assert reply.json()["errors"] == [{"code": 99, "message": "Odd"}]


def test_an_error_without_a_code_is_a_page_of_html(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "error", "status": 503})
    reply = caller.post(LLAMA, BATCH)
    assert reply.status_code == 503
    assert reply.headers["content-type"] == "text/html"


@pytest.mark.parametrize("fault", ["cut_before", "cut_after"])
@pytest.mark.parametrize(
    ("reset", "error"), [(False, httpx.RemoteProtocolError), (True, httpx.ReadError)]
)
def test_a_cut_leaves_the_request_stored_or_not(
    sandbox: RunningSandbox, caller: Caller, fault: str, reset: bool, error: type[Exception]
) -> None:
    sandbox.script({"fault": fault, "call": "submit", "reset": reset})
    with pytest.raises(error):
        caller.post(LLAMA, BATCH)
    (call,) = sandbox.calls("submit")
    assert (call.status, call.fault, call.items) == (0, fault, 6)
    stored = caller.poll(LLAMA, call.request_id).status_code == 200
    assert stored == (fault == "cut_after")
    assert caller.post(LLAMA, BATCH).status_code == 200


def test_garbage_comes_with_status_200_after_acceptance(
    sandbox: RunningSandbox, caller: Caller
) -> None:
    sandbox.script({"fault": "garbage", "body": "<oops>"})
    reply = caller.post(LLAMA, BATCH)
    assert (reply.status_code, reply.text) == (200, "<oops>")
    assert caller.poll(LLAMA, sandbox.calls("submit")[0].request_id).status_code == 200


@pytest.mark.parametrize("count", [1, 5_000])
def test_a_truncated_body_is_shorter_than_announced(
    sandbox: RunningSandbox, caller: Caller, count: int
) -> None:
    request_id = caller.submit(LLAMA, *({"prompt": f"Row {n}"} for n in range(count)))
    sandbox.script({"fault": "truncated", "call": "poll"})
    with pytest.raises(httpx.RemoteProtocolError, match="without sending complete"):
        caller.poll(LLAMA, request_id)
    assert len(caller.poll(LLAMA, request_id).json()["result"]["responses"]) == count


def test_another_success_status_can_be_used(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "other_status"}, {"fault": "other_status", "status": 201})
    assert caller.post(LLAMA, BATCH).status_code == 202
    assert caller.post(LLAMA, BATCH).status_code == 201


@pytest.mark.parametrize(
    ("fault", "left"), [("no_model", "request_id"), ("no_request_id", "model")]
)
def test_an_acknowledgement_can_lack_a_field(
    sandbox: RunningSandbox, caller: Caller, fault: str, left: str
) -> None:
    sandbox.script({"fault": fault})
    assert set(caller.post(LLAMA, BATCH).json()["result"]) == {"status", left}


def test_a_forgotten_request_is_never_found(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "forgotten"})
    request_id = caller.submit(LLAMA, *ITEMS)
    assert caller.poll(LLAMA, request_id).json()["errors"][0]["code"] == 5504


def test_a_delay_only_makes_the_answer_late(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "delay", "seconds": 0.2})
    began = time.monotonic()
    assert caller.post(LLAMA, BATCH).status_code == 200
    assert time.monotonic() - began >= 0.2


def test_states_can_be_told_whatever_the_clock_says(
    sandbox: RunningSandbox, caller: Caller
) -> None:
    sandbox.script({"fault": "queued", "times": 2}, {"fault": "running"})
    request_id = caller.submit(LLAMA, *ITEMS)
    seen = [caller.poll(LLAMA, request_id).json()["result"].get("status") for _ in range(4)]
    assert seen == ["queued", "queued", "running", None]


@pytest.mark.parametrize("form", ["failed", "error"])
def test_a_whole_batch_can_fail(sandbox: RunningSandbox, caller: Caller, form: str) -> None:
    sandbox.script({"fault": "batch_failed", "form": form, "times": 0})
    reply = caller.poll(LLAMA, caller.submit(LLAMA, *ITEMS))
    assert reply.json()["result"]["status"] == form


def test_items_can_be_missing(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "missing", "items": [1, 4]})
    assert {entry["id"] for entry in entries(caller)} == {0, 2, 3, 5}
    assert len(entries(caller)) == 6


def test_every_nth_item_can_be_chosen(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "missing", "every": 2})
    assert {entry["id"] for entry in entries(caller)} == {1, 3, 5}


@pytest.mark.parametrize("model", [LLAMA, KIMI])
@pytest.mark.parametrize(("fault", "agree"), [("duplicate", True), ("contradiction", False)])
def test_items_can_be_there_twice(
    sandbox: RunningSandbox, caller: Caller, model: str, fault: str, agree: bool
) -> None:
    sandbox.script({"fault": fault, "items": [3]})
    found = entries(caller, model)
    twice = [entry for entry in found if entry.get("id", entry.get("index")) == 3]
    assert len(found) == 7
    assert (twice[0] == twice[1]) is agree


def test_a_contradiction_shows_in_structured_answers_too(
    sandbox: RunningSandbox, caller: Caller
) -> None:
    sandbox.script({"fault": "contradiction", "every": 1})
    form = {"type": "json_schema", "json_schema": {"type": "object", "required": ["a"]}}
    items = [{"prompt": f"Row {n}", "response_format": form} for n in range(8)]
    results = caller.results(LLAMA, *items)
    assert {type(result["response"]) for result in results} == {dict, str}
    assert all(one != other for one, other in zip(results[::2], results[1::2], strict=True))


def test_an_id_can_be_unknown(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "unknown_id", "items": [2]})
    assert {entry["id"] for entry in entries(caller)} == {0, 1, 1_000_002, 3, 4, 5}


@pytest.mark.parametrize("model", [LLAMA, KIMI])
def test_a_reference_can_be_wrong(sandbox: RunningSandbox, caller: Caller, model: str) -> None:
    sandbox.script({"fault": "wrong_reference", "items": [2]})
    by_id = {entry.get("id", entry.get("index")): entry for entry in entries(caller, model)}
    assert str(by_id[2]["external_reference"]).startswith("not ")
    assert by_id[1].get("external_reference") == ("r1" if model == LLAMA else None)


def test_items_can_fail_with_either_kind_of_error(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script(
        {"fault": "failed", "items": [0]}, {"fault": "failed", "items": [1], "form": "object"}
    )
    by_id = {entry["id"]: entry for entry in entries(caller)}
    assert by_id[0]["success"] is by_id[1]["success"] is False
    assert isinstance(by_id[0]["error"], str)
    assert by_id[1]["error"]["code"] == 8008
    assert "result" not in by_id[0]


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("null", None),
        ("blank", "  "),
        ("list", []),
        ("object", {}),
        ("empties", {"names": [], "note": "", "more": {"left": None}}),
    ],
)
def test_answers_can_be_empty(
    sandbox: RunningSandbox, caller: Caller, form: str, value: Any
) -> None:
    sandbox.script({"fault": "empty", "form": form, "every": 1, "times": 0})
    assert [entry["result"] for entry in entries(caller)] == [{"response": value}] * 6
    run = caller.post(LLAMA, {"prompt": "Hello"}, queue=False).json()
    assert run["result"]["response"] == value


@pytest.mark.parametrize("form", ["null", "blank", "list", "object", "empties", "result"])
def test_every_model_can_answer_nothing(sandbox: RunningSandbox, caller: Caller, form: str) -> None:
    sandbox.script({"fault": "empty", "form": form, "every": 1, "times": 0})
    nothing = "  " if form == "blank" else None
    (chat,) = caller.results(KIMI, {"prompt": "Hello"})
    (text,) = caller.results(QWEN, {"prompt": "Hello"})
    (spoken,) = caller.results(GPT_OSS, {"input": "Hello"})
    (translated,) = caller.results(M2M100, {"text": "Hello", "target_lang": "fr"})
    (embedded,) = caller.results(BGE_SMALL, {"text": "Hello"})
    if form == "result":
        assert [chat, text, spoken, translated, embedded] == [None] * 5
        return
    assert chat["choices"][0]["message"]["content"] == nothing
    assert text["choices"][0]["text"] == nothing
    assert [part["type"] for part in spoken["output"]][1:] == (["message"] if nothing else [])
    assert translated == {"translated_text": nothing}
    assert embedded["data"] == []


TONE = {"type": "object", "properties": {"tone": {"enum": ["good", "bad"]}}}
TONE_WANTED = {"response_format": {"type": "json_schema", "json_schema": TONE}}


@pytest.mark.parametrize("form", ["words", "other", "cut", "fenced"])
def test_every_model_can_answer_what_no_schema_asks_for(
    sandbox: RunningSandbox, caller: Caller, form: str
) -> None:
    sandbox.script({"fault": "unfit", "form": form, "every": 1, "times": 0})
    (chat,) = caller.results(KIMI, {"prompt": "Hello", **TONE_WANTED})
    (text,) = caller.results(QWEN, {"prompt": "Hello", **TONE_WANTED})
    (plain,) = caller.results(LLAMA, {"prompt": "Hello", **TONE_WANTED})
    (spoken,) = caller.results(GPT_OSS, {"input": "Hello"})
    run = caller.post(LLAMA, {"prompt": "Hello", **TONE_WANTED}, queue=False).json()
    texts = [
        chat["choices"][0]["message"]["content"],
        text["choices"][0]["text"],
        plain["response"],
        run["result"]["response"],
        spoken["output"][-1]["content"][0]["text"],
    ]
    begins = {"words": "[sandbox]", "other": '{"something', "cut": "```json", "fenced": "Here it"}
    assert all(one.startswith(begins[form]) for one in texts)
    asked = (
        [json.loads(one.split("```json")[1].split("```")[0]) for one in texts[:4]]
        if (form == "fenced")
        else []
    )
    assert all(one["tone"] in ("good", "bad") for one in asked)


def test_a_step_waits_for_its_turn(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "error", "code": 3040, "call": "submit", "nth": 2, "times": 2})
    assert [caller.post(LLAMA, BATCH).status_code for _ in range(4)] == [200, 429, 429, 200]


def test_steps_are_used_one_after_another(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "error", "code": 3021}, {"fault": "error", "code": 5001})
    assert [caller.post(LLAMA, BATCH).status_code for _ in range(3)] == [429, 500, 200]


def test_a_step_can_concern_one_model_only(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "error", "code": 3040, "model": KIMI, "times": 0})
    assert caller.post(LLAMA, BATCH).status_code == 200
    assert caller.post(KIMI, BATCH).status_code == 429


def test_a_step_can_wait_for_a_state(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "garbage", "state": "finished"})
    finished = caller.submit(LLAMA, *ITEMS)
    sandbox.set_timings(Timings(queued=3_600))
    queued = caller.submit(LLAMA, *ITEMS)
    assert caller.poll(LLAMA, queued).json()["result"]["status"] == "queued"
    assert "<html>" in caller.poll(LLAMA, finished).text


def test_items_are_not_used_up_by_polls_without_any(
    sandbox: RunningSandbox, caller: Caller
) -> None:
    sandbox.script({"fault": "queued"}, {"fault": "missing", "items": [0]})
    request_id = caller.submit(LLAMA, *ITEMS)
    assert caller.poll(LLAMA, request_id).json()["result"]["status"] == "queued"
    assert len(caller.poll(LLAMA, request_id).json()["result"]["responses"]) == 5


def test_searching_can_fail_too(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "error", "code": 10000, "call": "search"})
    url = f"{caller.account_url}/models/search"
    assert [caller.http.get(url).status_code for _ in range(2)] == [401, 200]


def test_a_fault_can_be_for_calls_with_a_certain_text(
    sandbox: RunningSandbox, caller: Caller
) -> None:
    sandbox.script({"fault": "error", "code": 5006, "containing": "Row 3", "times": 0})
    assert caller.post(LLAMA, BATCH).status_code == 400
    assert caller.post(LLAMA, {"requests": ITEMS[:3]}).status_code == 200
    assert caller.post(LLAMA, {"requests": ITEMS[4:]}).status_code == 200
    assert caller.post(LLAMA, {"requests": ITEMS[3:4]}).status_code == 400
    (step,) = sandbox.sandbox.context.script.shown()
    assert (step["seen"], step["used"]) == (2, 2)  # it counts the calls that it is for
