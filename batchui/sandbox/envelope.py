"""What stands around the result of a call: the envelope of the REST API, or nothing."""

from collections.abc import Iterator
from typing import Any

import msgspec

from batchui.sandbox.errors import ApiError

# Not of Workers AI, but of the gateway before it. The reference has both {} and null as the result
# of an error; here, these have null.
_OF_THE_GATEWAY = frozenset({1000, 6002, 7001, 7003, 9109, 10000})


class Envelope:
    """The REST API's envelope."""

    def success(self, result: Any, **more: Any) -> bytes:
        """The envelope of a result; `more` adds fields beside it (`result_info`)."""
        return msgspec.json.encode(
            {"result": result, "success": True, "errors": [], "messages": [], **more}
        )

    def success_in_chunks(self, result: Iterator[bytes]) -> Iterator[bytes]:
        """The envelope of a result that comes as JSON in chunks."""
        yield b'{"result":'
        yield from result
        yield b',"success":true,"errors":[],"messages":[]}'

    def failure(self, error: ApiError) -> bytes:
        """The envelope of an error."""
        return msgspec.json.encode(
            {
                "success": False,
                "errors": [{"code": error.code, "message": error.message}],
                "result": None if error.code in _OF_THE_GATEWAY else {},
                "messages": [],
            }
        )

    def failed_as_a_whole(self, request_id: str, model: str, form: str, error: ApiError) -> bytes:
        """The reply to a poll for a request that failed as a whole, in a form of the script.

        It comes with HTTP 200. What the real API answers then is not documented; clients handle
        these.
        """
        told = {"code": error.code, "message": error.message}
        known = {"request_id": request_id, "model": model}
        match form:
            case "errors":
                return self.success({"status": "failed", **known, "errors": [told]})
            case "no_result":
                return msgspec.json.encode({"success": False, "errors": [told], "messages": []})
            case "null_result":
                return msgspec.json.encode({"result": None, "success": False, "errors": [told]})
            case "no_array":
                usage = {"prompt_tokens": 0, "completion_tokens": 0}
                return self.success({**known, "usage": usage})
            case "bare":
                return msgspec.json.encode({"success": True, "errors": [], "messages": []})
        return self.success({"status": form, **known})


class Bare(Envelope):
    """What the binding of a Worker is answered: results have no envelope.

    An error of Workers AI is `{internalCode, name, description}`, as the binding's own tests have
    it; one of the gateway `{errors: […]}`, which the binding reads too.
    """

    def success(self, result: Any, **more: Any) -> bytes:
        """The result alone."""
        return msgspec.json.encode(result)

    def success_in_chunks(self, result: Iterator[bytes]) -> Iterator[bytes]:
        """The chunks alone."""
        return result

    def failure(self, error: ApiError) -> bytes:
        """The error without an envelope."""
        if error.code in _OF_THE_GATEWAY:
            return super().failure(error)
        return msgspec.json.encode(
            {
                "internalCode": error.code,
                "name": "AiError",
                "message": error.message,
                "description": error.message.removeprefix("AiError: "),
            }
        )


ENVELOPE, BARE = Envelope(), Bare()
