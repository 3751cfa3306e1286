"""The imitation of the API: what it answers, and that it never makes a client wait for nothing."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from batchui.bench.echo import Api as Imitation
from batchui.bench.echo import Handler, Server
from batchui.bench.surroundings import Api, running_api
from batchui.bench.texts import Answers

QUESTIONS = ["How was it?", 'A "quiet"\nroom in the café?', "And the bed?"]


def item(question: str, **more: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question}], "max_tokens": 9, **more}


@pytest.fixture
def web(api: Api) -> Iterator[httpx.Client]:
    with httpx.Client(timeout=20, trust_env=False) as web:
        yield web


def submit(web: httpx.Client, api: Api, *items: dict[str, Any]) -> str:
    reply = web.post(f"{api.model_address}?queueRequest=true", json={"requests": items})
    assert reply.json()["result"]["status"] == "queued"
    return str(reply.json()["result"]["request_id"])


def poll(web: httpx.Client, api: Api, request_id: str) -> httpx.Response:
    return web.post(f"{api.model_address}?queueRequest=true", json={"request_id": request_id})


def test_every_item_is_answered_by_its_question(
    web: httpx.Client, api: Api, answers: Answers
) -> None:
    request_id = submit(web, api, *map(item, QUESTIONS))
    found = poll(web, api, request_id).json()["result"]["responses"]
    by_id = {one["id"]: one["result"]["response"] for one in found}
    assert by_id == {place: answers.to(question) for place, question in enumerate(QUESTIONS)}


def test_answers_come_in_another_order_than_they_were_sent(web: httpx.Client, api: Api) -> None:
    request_id = submit(web, api, *map(item, QUESTIONS))
    found = poll(web, api, request_id).json()["result"]["responses"]
    assert [one["id"] for one in found] != sorted(one["id"] for one in found)


def test_a_reference_comes_back(web: httpx.Client, api: Api) -> None:
    request_id = submit(web, api, item("a", external_reference="row 7"), item("b"))
    found = poll(web, api, request_id).json()["result"]["responses"]
    references = {one["id"]: one["external_reference"] for one in found}
    assert references == {0: "row 7", 1: None}


def test_a_reply_is_there_once(web: httpx.Client, api: Api) -> None:
    request_id = submit(web, api, item("a"))
    assert poll(web, api, request_id).status_code == 200
    again = poll(web, api, request_id)
    assert (again.status_code, again.json()["errors"][0]["code"]) == (404, 5504)


def test_a_request_is_running_until_its_time_has_come() -> None:
    imitation = Imitation(seconds=0.2)
    imitation.submit(b'{"requests":[{"messages":[{"role":"user","content":"a"}]}]}')
    assert b'"status":"running","request_id":"1"' in (imitation.reply(1) or b"")
    time.sleep(0.25)
    assert b'"responses"' in (imitation.reply(1) or b"")
    assert imitation.polled == 2


def test_a_request_that_runs_is_not_forgotten() -> None:
    with running_api(0.3) as slow, httpx.Client(timeout=20, trust_env=False) as web:
        request_id = submit(web, slow, item("a"))
        assert poll(web, slow, request_id).json()["result"]["status"] == "running"
        time.sleep(0.4)
        assert len(poll(web, slow, request_id).json()["result"]["responses"]) == 1


def test_calls_are_counted(web: httpx.Client, api: Api) -> None:
    submitted, polled = api.calls()
    poll(web, api, submit(web, api, item("a")))
    assert api.calls() == (submitted + 1, polled + 1)


def test_its_work_is_measured(web: httpx.Client, api: Api) -> None:
    before = api.cpu_seconds()
    for _ in range(5):
        poll(web, api, submit(web, api, *[item(f"room {number}?") for number in range(5_000)]))
    assert api.cpu_seconds() > before


def test_no_segment_waits_for_the_acknowledgement_of_another() -> None:
    """Nagle's algorithm would, 40 ms a call, for the clients alone that keep their connection."""

    no_delay: list[int] = []

    class Telling(Handler):
        api = Imitation()

        def setup(self) -> None:
            super().setup()
            no_delay.append(self.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    with Server(("127.0.0.1", 0), Telling) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        httpx.get(f"http://127.0.0.1:{server.server_address[1]}", trust_env=False)
        server.shutdown()
        thread.join()
    assert no_delay == [1]
