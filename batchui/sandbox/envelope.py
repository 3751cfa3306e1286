"""The REST API's envelope around the result of a call. (A Worker's binding has none.)"""

from collections.abc import Iterator
from typing import Any

import msgspec

from batchui.sandbox.errors import ApiError

# The reference has both {} and null as the result of an error. Here, these have null.
_NULL_RESULT = frozenset({1000, 6002, 7001, 7003, 9109, 10000})


def success(result: Any, **more: Any) -> bytes:
    """The envelope of a result; `more` adds fields beside it (`result_info`)."""
    return msgspec.json.encode(
        {"result": result, "success": True, "errors": [], "messages": [], **more}
    )


def success_in_chunks(result: Iterator[bytes]) -> Iterator[bytes]:
    """The envelope of a result that comes as JSON in chunks."""
    yield b'{"result":'
    yield from result
    yield b',"success":true,"errors":[],"messages":[]}'


def failure(error: ApiError) -> bytes:
    """The envelope of an error."""
    return msgspec.json.encode(
        {
            "success": False,
            "errors": [{"code": error.code, "message": error.message}],
            "result": None if error.code in _NULL_RESULT else {},
            "messages": [],
        }
    )


def failed_as_a_whole(request_id: str, model: str, form: str, error: ApiError) -> bytes:
    """The reply to a poll for a request that failed as a whole, in one of the forms of the script.

    It comes with HTTP 200. What the real API answers then is not documented; clients handle these.
    """
    told = {"code": error.code, "message": error.message}
    known = {"request_id": request_id, "model": model}
    match form:
        case "errors":
            return success({"status": "failed", **known, "errors": [told]})
        case "no_result":
            return msgspec.json.encode({"success": False, "errors": [told], "messages": []})
        case "null_result":
            return msgspec.json.encode({"result": None, "success": False, "errors": [told]})
        case "no_array":
            return success({**known, "usage": {"prompt_tokens": 0, "completion_tokens": 0}})
        case "bare":
            return msgspec.json.encode({"success": True, "errors": [], "messages": []})
    return success({"status": form, **known})
