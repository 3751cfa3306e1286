"""The calls about an upstream itself: registering one, testing one, and the list of its models."""

import re

from batchui.sandbox import listing
from batchui.sandbox.envelope import ENVELOPE
from batchui.sandbox.errors import UPSTREAM_AWAY, UPSTREAM_REFUSES, WRONG_UPSTREAM, ApiError
from batchui.sandbox.http_messages import Request, Response
from batchui.sandbox.models import Kind, Model
from batchui.sandbox.upstream.asking_models import NoListing, UpstreamModel, models, trial
from batchui.sandbox.upstream.crew import Crew
from batchui.sandbox.upstream.crews import LOCAL, Crews
from batchui.sandbox.upstream.settings import Upstream, from_json

# No server tells what a model is for, but those for embeddings usually say so in their name.
_EMBEDS = re.compile(r"embed|\b(bge|e5|gte|minilm)\b", re.I)


def register(crews: Crews, request: Request, *, account: str) -> Response:
    """Keep the upstream in the body for this account. Raises ApiError WRONG_UPSTREAM."""
    if not account.startswith(LOCAL):
        raise ApiError(
            WRONG_UPSTREAM, f"Only an account named {LOCAL}… has a model server of its own."
        )
    upstream = _told(request)
    crews.register(account, upstream)
    return Response(body=ENVELOPE.success({"server": upstream.server, "model": upstream.model}))


def test(request: Request) -> Response:
    """What the upstream in the body tells of itself. Nothing is kept. Raises ApiError."""
    return Response(body=ENVELOPE.success(trial(_told(request))))


def search(crew: Crew, request: Request) -> Response:
    """The upstream's models, as the catalogue lists models. Raises ApiError."""
    server = crew.line.upstream.server
    try:
        found = [_model(model) for model in models(crew.line)]
    except NoListing as exc:
        code = UPSTREAM_AWAY if exc.problem == "away" else UPSTREAM_REFUSES
        raise ApiError(code, str(exc)) from None
    return Response(body=listing.search(request.query, found, description=f"A model at {server}."))


def _model(model: UpstreamModel) -> Model:
    if _EMBEDS.search(model.name):
        return Model(model.name, Kind.EMBEDDING, model.context, task="Text Embeddings")
    return Model(model.name, Kind.CHAT, model.context)


def _told(request: Request) -> Upstream:
    try:
        return from_json(request.body or b"")
    except ValueError as exc:
        raise ApiError(WRONG_UPSTREAM, str(exc)) from None
