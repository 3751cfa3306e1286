"""Submit, poll and synchronous run for an account whose requests an upstream works off."""

import msgspec

from batchui.sandbox.errors import ITEM_FAILED, UPSTREAM_AWAY, UPSTREAM_REFUSES, ApiError
from batchui.sandbox.upstream.crew import Crew
from batchui.sandbox.upstream.crews import unknown
from batchui.sandbox.upstream.outcomes import (
    Answered,
    Away,
    Failed,
    Faulty,
    NoModel,
    Refusing,
    Unanswered,
    Unaskable,
)


def submit(crew: Crew, *, account: str, model: str, body: bytes, requests: bytes) -> str:
    """Accept a batch, and begin with it. Returns its id. requests: its items, a JSON array."""
    items = [bytes(item) for item in msgspec.json.decode(requests, type=list[msgspec.Raw])]
    request_id = crew.store.add(account=account, model=model, body=body, items=items)
    crew.add(request_id, model=model, left=range(len(items)))
    return request_id


def check_under_way(crew: Crew | None, *, account: str) -> None:
    """Raise ApiError if a request of this account will not go on until somebody does something."""
    if crew is None:
        raise unknown(account)
    if reason := crew.trouble():
        raise ApiError(UPSTREAM_REFUSES, reason)


def run(crew: Crew, item: bytes, *, model: str) -> msgspec.Raw:
    """The result of a single item that is asked at once. Raises ApiError."""
    outcome = crew.run(item, model=model)
    if isinstance(outcome, Answered):
        return msgspec.Raw(outcome.result)
    raise _error(outcome)


def _error(outcome: Unanswered) -> ApiError:
    """The error of a run that got no answer."""
    match outcome:
        case Away(reason, wait):
            return ApiError(UPSTREAM_AWAY, reason, wait=wait)
        case Refusing(reason):
            return ApiError(UPSTREAM_REFUSES, reason)
        case NoModel(reason):
            return ApiError(5007, reason)
        case Unaskable(reason) | Failed(reason) | Faulty(reason):
            return ApiError(ITEM_FAILED, reason)
