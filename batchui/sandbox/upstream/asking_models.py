"""What an upstream tells of itself at no cost: its models, and whether it accepts the key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from batchui.sandbox.upstream.http_calls import Broken, HttpReply, Line, Unreached
from batchui.sandbox.upstream.outcomes import Away, Faulty, Refusing, meaning
from batchui.sandbox.upstream.settings import Upstream

SECONDS = 20.0
Problem = Literal["", "away", "refuses", "no api", "no model"]


class _Model(msgspec.Struct):
    """A model as servers list it. Each kind of server has another name for the window."""

    id: str
    max_model_len: Any = None  # vLLM
    context_length: Any = None  # OpenRouter and others
    context_window: Any = None  # Groq
    max_context_length: Any = None  # LM Studio
    meta: Any = None  # llama.cpp: {"n_ctx", "n_ctx_train"}


class _Listing(msgspec.Struct):
    data: list[_Model] | None


@dataclass(frozen=True, slots=True)
class UpstreamModel:
    """A model of an upstream. context: its window in tokens, None if that is not said."""

    name: str
    context: int | None


class NoListing(Exception):
    """The models cannot be listed. problem: the kind. str() says why."""

    def __init__(self, problem: Problem, reason: str) -> None:
        self.problem = problem
        super().__init__(reason)


def models(line: Line) -> list[UpstreamModel]:
    """The models of an upstream, in its order. Raises NoListing."""
    reply = _called(line, "GET", "/models")
    try:
        listing = msgspec.json.decode(reply.body, type=_Listing)
    except (msgspec.MsgspecError, RecursionError):
        server, url = line.upstream.server, line.upstream.url
        raise NoListing("no api", f"{server} has no API like OpenAI's at {url}") from None
    return [UpstreamModel(one.id, _context(one)) for one in listing.data or []]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a test of an upstream found. problem: "" if all is well. reason: in words."""

    problem: Problem = ""
    reason: str = ""
    server: str
    models: Sequence[str] = ()


def trial(upstream: Upstream) -> Trial:
    """Ask for the models, and whether the key is accepted.

    Some servers list their models to everybody (llama.cpp did), so a chat without any message is
    asked for, too: the key is looked at first, and nothing is there to be answered.
    """
    line = Line(upstream)
    try:
        names = [model.name for model in models(line)]
        _check_key(line)
    except NoListing as exc:
        return Trial(problem=exc.problem, reason=str(exc), server=upstream.server)
    # Ollama lists “llama3.2:latest”, and calls it “llama3.2”, too.
    if not {upstream.model, f"{upstream.model}:latest"} & set(names):
        reason = f"{upstream.server} has no model {upstream.model}"
        return Trial(problem="no model", reason=reason, server=upstream.server, models=names)
    return Trial(server=upstream.server, models=names)


def _check_key(line: Line) -> None:
    try:
        _called(line, "POST", "/chat/completions", b"{}")
    except NoListing as exc:
        if exc.problem == "refuses":
            raise


def _called(line: Line, method: str, path: str, body: bytes | None = None) -> HttpReply:
    """The reply with success. Raises NoListing."""
    seconds = min(SECONDS, line.upstream.seconds)
    try:
        reply = line.call(method, path, body, seconds=seconds)
    except (Unreached, Broken) as exc:
        raise NoListing("away", str(exc)) from None
    if 200 <= reply.status < 300:
        return reply
    means = meaning(line, reply)
    if isinstance(means, Refusing):
        is_missing = reply.status in {404, 405} or reply.status < 400
        raise NoListing("no api" if is_missing else "refuses", means.reason)
    raise NoListing("away" if isinstance(means, Away | Faulty) else "no api", means.reason)


def _context(model: _Model) -> int | None:
    meta = model.meta if isinstance(model.meta, dict) else {}
    for value in (
        *(model.max_model_len, model.context_length, model.context_window),
        *(model.max_context_length, meta.get("n_ctx"), meta.get("n_ctx_train")),
    ):
        if isinstance(value, int) and value > 0:
            return value
    return None
