"""The calls that `env.AI`, the binding of a Worker, makes below itself.

As the module `cloudflare-internal:ai-api` in workerd 1.20261117.1 makes them:

    POST /run?version=3          {"inputs": {…}, "options": {"queueRequest": true}}, with the model
                                 in the header `cf-consn-model-id`
    GET  /ai-api/models/search   as in the REST API
"""

from typing import Any

import msgspec

from batchui.sandbox.errors import ApiError
from batchui.sandbox.http_messages import Request

# The host that these calls name.
HOST = "workers-binding.ai"
RUN = "/run"
SEARCH = "/ai-api/models/search"
# Requests that come through a binding are kept under this name instead of an account id.
ACCOUNT = "binding"


class _Body(msgspec.Struct):
    inputs: msgspec.Raw
    options: dict[str, Any] = {}


def model_of(request: Request) -> str:
    """The model that a call to RUN is for."""
    return request.headers.get("cf-consn-model-id", "")


def unwrapped(request: Request) -> Request:
    """A call to RUN as the REST API would get it. Raises ApiError 5006 for another body.

    It has no body (None) if that was larger than the sandbox accepts.
    """
    if request.body is None:
        return request
    try:
        body = msgspec.json.decode(request.body, type=_Body)
    except msgspec.MsgspecError as exc:
        raise ApiError(5006, f"AiError: Bad input: {exc}") from None
    queued = body.options.get("queueRequest") is True
    query = {"queueRequest": "true"} if queued else {}
    return Request(method=request.method, path=RUN, query=query, body=bytes(body.inputs))
