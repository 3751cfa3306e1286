"""The forms of a reply that the script can ask for."""

from typing import Any

import pytest

from batchui.sandbox.testing import RunningSandbox
from tests.sandbox.conftest import BGE_SMALL, GPT_OSS, KIMI, LLAMA, M2M100, QWEN, Caller

ASKED = {
    LLAMA: {"prompt": "Hello", "max_tokens": 40},
    KIMI: {"prompt": "Hello", "max_tokens": 40},
    QWEN: {"prompt": "Hello", "max_tokens": 40},
    GPT_OSS: {"input": "Hello", "max_output_tokens": 40},
    M2M100: {"text": "Hello", "target_lang": "fr"},
    BGE_SMALL: {"text": "Hello"},
}
WRITE_NO_TEXT = (M2M100, BGE_SMALL)


def answered(caller: Caller, model: str) -> Any:
    (result,) = caller.results(model, ASKED[model])
    return result


def text_of(result: Any) -> Any:
    if "choices" in result:
        choice = result["choices"][0]
        return choice["text"] if "text" in choice else choice["message"]["content"]
    if "output" in result:
        return result["output"][-1]["content"][0]["text"]
    return result["response"]


@pytest.mark.parametrize("model", [LLAMA, KIMI, QWEN, GPT_OSS])
def test_an_answer_can_be_cut_off_and_says_so_as_its_shape_does(
    sandbox: RunningSandbox, caller: Caller, model: str
) -> None:
    whole = answered(caller, model)
    sandbox.script({"fault": "cut_off", "times": 0})
    cut = answered(caller, model)
    assert text_of(cut) == text_of(whole)[: len(text_of(whole)) // 2]
    match model:
        case "@cf/openai/gpt-oss-20b":
            assert cut["status"] == "incomplete"
            assert cut["incomplete_details"] == {"reason": "max_output_tokens"}
        case "@cf/meta/llama-3.3-70b-instruct-fp8-fast":
            assert cut["usage"]["completion_tokens"] == 40
        case _:
            assert cut["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize("form", ["length", "stop"])
def test_a_model_can_reason_and_write_nothing(
    sandbox: RunningSandbox, caller: Caller, form: str
) -> None:
    sandbox.script({"fault": "reasoning", "form": form, "times": 0})
    chat, text = (answered(caller, model)["choices"][0] for model in (KIMI, QWEN))
    assert chat["message"]["content"] is None
    assert chat["message"]["reasoning_content"]
    assert (chat["finish_reason"], text["finish_reason"], text["text"]) == (form, form, None)
    spoken = answered(caller, GPT_OSS)
    assert [entry["type"] for entry in spoken["output"]] == ["reasoning"]
    assert spoken["status"] == ("incomplete" if form == "length" else "completed")
    plain = answered(caller, LLAMA)
    assert plain["response"] is None
    assert (plain["usage"]["completion_tokens"] == 40) == (form == "length")


def test_a_model_can_call_a_tool_in_place_of_a_text(
    sandbox: RunningSandbox, caller: Caller
) -> None:
    sandbox.script({"fault": "tool_calls", "times": 0})
    chat = answered(caller, KIMI)["choices"][0]
    assert chat["message"]["content"] is None
    assert chat["message"]["tool_calls"][0]["function"]["name"] == "look_up"
    assert chat["finish_reason"] == "tool_calls"
    assert answered(caller, LLAMA)["tool_calls"][0]["name"] == "look_up"
    assert answered(caller, GPT_OSS)["output"][-1]["type"] == "function_call"
    assert answered(caller, QWEN)["choices"][0]["text"]  # a text completion has no tools


@pytest.mark.parametrize("fault", ["cut_off", "tool_calls", "reasoning"])
@pytest.mark.parametrize("model", WRITE_NO_TEXT)
def test_models_that_write_no_text_answer_as_always(
    sandbox: RunningSandbox, caller: Caller, fault: str, model: str
) -> None:
    usual = answered(caller, model)
    sandbox.script({"fault": fault})
    assert answered(caller, model) == usual


def test_the_same_can_come_at_once(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.script({"fault": "cut_off", "call": "run"}, {"fault": "reasoning", "call": "run"})
    replies = [caller.post(KIMI, ASKED[KIMI], queue=False).json()["result"] for _ in range(2)]
    assert [one["choices"][0]["finish_reason"] for one in replies] == ["length", "stop"]


@pytest.mark.parametrize(
    ("form", "numbers"),
    [
        ("text", [{"id": "0"}, {"index": "0"}]),
        ("both", [{"id": "item-0", "index": 0}] * 2),
        ("own", [{"id": "item-0"}] * 2),
        ("none", [{}, {}]),
    ],
)
def test_items_can_be_numbered_in_another_way(
    sandbox: RunningSandbox, caller: Caller, form: str, numbers: list[dict[str, Any]]
) -> None:
    sandbox.script({"fault": "numbering", "form": form, "times": 0})
    replies = [caller.finished(model, ASKED[model]) for model in (LLAMA, KIMI)]
    entries = [(reply.get("responses") or reply["results"])[0] for reply in replies]
    assert [
        {name: entry[name] for name in ("id", "index") if name in entry} for entry in entries
    ] == numbers


ERROR = {"code": 5001, "message": "It fell over"}
KNOWN = {"request_id": "<id>", "model": LLAMA}
EMPTY = {"errors": [], "messages": []}
FORMS: dict[str, dict[str, Any]] = {
    "failed": {"result": {"status": "failed", **KNOWN}, "success": True, **EMPTY},
    "error": {"result": {"status": "error", **KNOWN}, "success": True, **EMPTY},
    "errors": {
        "result": {"status": "failed", **KNOWN, "errors": [ERROR]},
        "success": True,
        **EMPTY,
    },
    "no_result": {"success": False, "errors": [ERROR], "messages": []},
    "null_result": {"result": None, "success": False, "errors": [ERROR]},
    "no_array": {
        "result": {**KNOWN, "usage": {"prompt_tokens": 0, "completion_tokens": 0}},
        "success": True,
        **EMPTY,
    },
    "bare": {"success": True, **EMPTY},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_request_can_fail_in_every_form(
    sandbox: RunningSandbox, caller: Caller, form: str
) -> None:
    sandbox.script({"fault": "batch_failed", "form": form, **ERROR})
    request_id = caller.submit(LLAMA, ASKED[LLAMA])
    reply = caller.poll(LLAMA, request_id)
    assert reply.status_code == 200
    found = reply.json()
    if found.get("result"):
        assert found["result"].pop("request_id") == request_id
        found["result"]["request_id"] = "<id>"
    assert found == FORMS[form]
    assert caller.poll(LLAMA, request_id).json()["result"]["responses"]
