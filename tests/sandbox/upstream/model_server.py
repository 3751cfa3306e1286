"""A server that speaks OpenAI's wire, answers with what it was asked, and misbehaves on request."""

import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any

from tests.cloudflare.server import Act, Handler, reply

# Names and windows as llama.cpp, vLLM and Ollama list them.
MODELS: list[dict[str, Any]] = [
    {"id": "small", "object": "model", "meta": {"n_ctx": 4096, "n_ctx_train": 8192}},
    {"id": "org/large:latest", "object": "model", "max_model_len": 32_768},
    {"id": "nomic-embed-text", "object": "model"},
]


class ModelServer(ThreadingHTTPServer):
    """A server with three models.

    key: that it wants; "": none. free: how many chats are answered before all others wait for the
    `gate`; None: all. bodies: what was posted for items. asked, answered: the last message of each
    chat. moments: when each was asked. at_once: most chats at one time. listing: the answer to GET
    /models, instead of the usual one. every: instead of every answer.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.lock = threading.Lock()
        self.connections = 0  # which the handler counts
        self.key = ""
        self.free: int | None = None
        self.gate = threading.Event()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.asked: list[str] = []
        self.answered: list[str] = []
        self.moments: list[float] = []
        self.at_once = 0
        self.under_way = 0
        self.listing: Act | None = None
        self.every: Act | None = None
        self._acts: defaultdict[str, deque[Act]] = defaultdict(deque)

    @property
    def url(self) -> str:
        """The address, without the version."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def first(self, prompt: str, *acts: Act) -> None:
        """What happens instead of an answer, the first times that a text with `prompt` is asked."""
        self._acts[prompt].extend(acts)

    def act_for(self, text: str) -> Act | None:
        """What happens instead of an answer to a text."""
        with self.lock:
            for prompt, acts in self._acts.items():
                if acts and prompt in text:
                    return acts.popleft()
        return self.every

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections are cut on purpose here: nothing to print."""


class _Handler(Handler):
    server: ModelServer  # type: ignore[assignment]

    def list_models(self) -> None:
        if self._is_let_in():
            (self.server.listing or reply(200, {"object": "list", "data": MODELS}))(self)

    def answer(self) -> None:
        server = self.server
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._is_let_in():
            return
        if not asked.get("messages") and not asked.get("input"):
            reply(400, {"error": {"message": "'messages' is required"}})(self)
            return
        with server.lock:
            server.bodies.append({"path": self.path, **asked})
            server.headers.append(dict(self.headers))
        if "input" in asked:
            self._embed(asked)
        else:
            self._chat(asked)

    do_GET = list_models  # noqa: N815
    do_POST = answer  # noqa: N815

    def _is_let_in(self) -> bool:
        given = self.headers.get("Authorization", "nothing")
        if not self.server.key or given == f"Bearer {self.server.key}":
            return True
        # As OpenAI's own server does, it repeats what it was given.
        reply(401, {"error": {"message": f"Incorrect API key provided: {given}."}})(self)
        return False

    def _chat(self, asked: dict[str, Any]) -> None:
        server, text = self.server, str(asked["messages"][-1]["content"])
        with server.lock:
            server.asked.append(text)
            server.moments.append(time.monotonic())
            waits = server.free is not None and len(server.asked) > server.free
            server.under_way += 1
            server.at_once = max(server.at_once, server.under_way)
        act = server.act_for(text)
        if waits:
            server.gate.wait(30)
        with server.lock:
            server.under_way -= 1
        if act:
            act(self)
        else:
            reply(200, completion(f"About {text}", model=asked["model"]))(self)
            with server.lock:
                server.answered.append(text)

    def _embed(self, asked: dict[str, Any]) -> None:
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        vectors = [
            {"object": "embedding", "index": n, "embedding": [len(text), 0.5, -0.25]}
            for n, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 3 * len(texts), "total_tokens": 3 * len(texts)}
        reply(200, {"data": vectors[::-1], "model": asked["model"], "usage": usage})(self)


def completion(text: str | None, *, model: str = "small", **more: Any) -> dict[str, Any]:
    """A chat completion."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
        **more,
    }


def told(status: int, message: str = "Something", **headers: str) -> Act:
    """An error as servers of OpenAI's wire write it."""
    return reply(status, {"error": {"message": message, "type": "error"}}, **headers)


@contextmanager
def model_server(port: int = 0) -> Iterator[ModelServer]:
    """A running server on 127.0.0.1. Where it ends, nobody listens any more."""
    server = ModelServer(port)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.gate.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
