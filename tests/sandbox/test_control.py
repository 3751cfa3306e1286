"""The control address."""

import httpx
import pytest

from batchui.sandbox.http_messages import Request
from batchui.sandbox.options import Timings
from batchui.sandbox.testing import RunningSandbox
from tests.sandbox.conftest import KIMI, LLAMA, Caller


def test_a_script_is_set_added_to_shown_and_ended(control: httpx.Client, caller: Caller) -> None:
    control.put("/script", json=[{"fault": "error", "code": 3040, "call": "submit"}])
    control.post("/script", json={"fault": "missing"})
    control.post("/script", json=[{"fault": "queued"}])
    assert caller.post(LLAMA, {"requests": [{"prompt": "Hello"}]}).status_code == 429
    shown = control.get("/script").json()
    assert [(step["fault"], step["seen"], step["used"]) for step in shown] == [
        ("error", 1, 1),
        ("missing", 0, 0),
        ("queued", 0, 0),
    ]
    assert control.delete("/script").json() == control.get("/script").json() == []


@pytest.mark.parametrize(
    ("step", "word"),
    [
        ({"fault": "earthquake"}, "no fault 'earthquake'"),
        ({"fault": "missing", "call": "submit"}, "is for poll"),
        ({"fault": "empty", "form": "purple"}, "no form 'purple'"),
        ({"fault": "error", "status": 99}, "99 is no HTTP status"),
        ({"fault": "error", "cod": 3040}, "cod"),
        ({"fault": "delay", "nth": 0}, "nth"),
        ({}, "fault"),
        ("error", "Expected"),
    ],
)
def test_a_step_that_makes_no_sense_is_refused_in_a_sentence(
    control: httpx.Client, step: object, word: str
) -> None:
    reply = control.put("/script", json=[step])
    assert reply.status_code == 400
    assert word in reply.json()["error"]


def test_a_script_that_is_not_json_is_refused(control: httpx.Client) -> None:
    assert control.put("/script", content=b"{").status_code == 400


def test_calls_are_listed_with_what_they_were(control: httpx.Client, caller: Caller) -> None:
    request_id = caller.submit(LLAMA, {"prompt": "One"}, {"prompt": "Two"})
    caller.poll(LLAMA, request_id)
    caller.post(KIMI, {"prompt": "Hello"}, queue=False)
    caller.http.get(f"{caller.account_url}/models/search")
    caller.http.get(f"{caller.account_url}/models/schema", params={"model": LLAMA})
    calls = control.get("/calls").json()
    assert [call["kind"] for call in calls] == ["submit", "poll", "run", "search", "schema"]
    assert calls[0]["time"] == pytest.approx(calls[1]["time"], abs=5)
    assert {**calls[0], "time": 0, "bytes": 0} == {
        "method": "POST",
        "kind": "submit",
        "model": LLAMA,
        "request_id": request_id,
        "items": 2,
        "bytes": 0,
        "time": 0,
        "status": 200,
        "fault": "",
        "sha256": "",
    }
    assert [len(call["sha256"]) for call in calls] == [0, 0, 64, 0, 0]  # of single rows alone
    assert len(control.get("/calls", params={"kind": "poll"}).json()) == 1
    assert control.delete("/calls").json() == control.get("/calls").json() == []


def test_calls_never_show_a_token(control: httpx.Client, sandbox: RunningSandbox) -> None:
    secret = Caller(sandbox.base_url, token="s3cret-token")
    with secret.http:
        secret.submit(LLAMA, {"prompt": "Hello"})
    assert "s3cret" not in control.get("/calls").text


def test_timings_change_for_requests_to_come(control: httpx.Client, caller: Caller) -> None:
    assert control.put("/timings", json={"queued": 3_600}).json()["queued"] == 3_600
    request_id = caller.submit(LLAMA, {"prompt": "Hello"})
    assert caller.poll(LLAMA, request_id).json()["result"]["status"] == "queued"
    assert control.put("/timings", json={"speed": 1}).status_code == 400
    assert control.get("/timings").json()["queued"] == 3_600


def test_an_unknown_control_address_is_not_found(control: httpx.Client) -> None:
    assert control.get("/weather").status_code == 404


def test_other_machines_are_kept_out(sandbox: RunningSandbox) -> None:
    for host, status in [("192.0.2.7", 403), ("", 403), ("127.0.0.1", 200)]:
        request = Request(method="GET", path="/control/script", host=host)
        assert sandbox.sandbox.respond(request).status == status


def test_the_helper_for_tests_does_the_same(sandbox: RunningSandbox, caller: Caller) -> None:
    sandbox.set_timings(Timings(queued=3_600))
    caller.submit(LLAMA, {"prompt": "Hello"})
    assert [call.items for call in sandbox.calls("submit")] == [1]
    with pytest.raises(ValueError, match="no fault"):
        sandbox.script({"fault": "earthquake"})
