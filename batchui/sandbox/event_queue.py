"""The Cloudflare Queues of an account, for batch events: pulled and acknowledged over HTTP.

Each queue has an event for every request of its account that was queued, and one when it has ended.
They are delivered at least once: again, when a lease ends that nobody has acknowledged.
"""

import base64
import json
import threading
import uuid
from typing import Any

from batchui.sandbox.errors import ApiError
from batchui.sandbox.http_messages import Request, Response
from batchui.sandbox.store import Store

MOST = 100
_QUEUED, _ENDED = "queued", "succeeded"
# In milliseconds, as Cloudflare's default.
VISIBLE_AGAIN = 30_000


class EventQueues:
    """All of them. Safe to use from many threads. clock: as that of the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._done: set[tuple[str, str, str]] = set()  # queue, request, kind
        self._leased: dict[str, tuple[tuple[str, str, str], float]] = {}

    def pull(self, request: Request, *, account: str, queue: str, now: float) -> Response:
        """Some events that nobody else has at the moment."""
        asked = _object(request)
        most = min(MOST, int(asked.get("batch_size", 5)))
        hidden = float(asked.get("visibility_timeout_ms", VISIBLE_AGAIN)) / 1000
        with self._lock:
            self._leased = {key: one for key, one in self._leased.items() if one[1] > now}
            taken = {event for event, _ in self._leased.values()} | self._done
            messages: list[dict[str, Any]] = []
            for found in self._store.of_account(account):
                for kind in (_QUEUED, _ENDED):
                    event = (queue, found.id, kind)
                    is_there = kind == _QUEUED or found.done_at <= now
                    if event in taken or not is_there or len(messages) >= most:
                        continue
                    lease = uuid.uuid4().hex
                    self._leased[lease] = (event, now + hidden)
                    messages.append(_message(lease, kind, found.id, found.model, account))
        return Response(body=_success({"messages": messages}))

    def acknowledge(self, request: Request) -> Response:
        """Deliver these events no more."""
        leases = [one.get("lease_id") for one in _object(request).get("acks", [])]
        with self._lock:
            known = [self._leased.pop(lease) for lease in leases if lease in self._leased]
            self._done |= {event for event, _ in known}
        return Response(body=_success({"ackCount": len(known), "retryCount": 0}))


def _message(lease: str, kind: str, request_id: str, model: str, account: str) -> dict[str, Any]:
    event = {
        "type": f"cf.workersAi.model.batch.{kind}",
        "source": {"type": "workersAi.model", "modelName": model},
        "payload": {"requestId": request_id},
        "metadata": {"accountId": account, "eventSchemaVersion": 1},
    }
    body = base64.b64encode(json.dumps(event).encode()).decode()
    return {"id": uuid.uuid4().hex, "body": body, "lease_id": lease, "attempts": 1}


def _object(request: Request) -> dict[str, Any]:
    try:
        found = json.loads(request.body or b"{}")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ApiError(5006, "The body is no JSON object.")
    return found


def _success(result: dict[str, Any]) -> bytes:
    found = {"result": result, "success": True, "errors": [], "messages": []}
    return json.dumps(found).encode()
