"""What the product needs of a way to a Batch API, whatever it speaks underneath.

`client.RestClient` is the one way there is. Another (a Worker with a binding, a model on this
machine) is one more class with these methods, and one more branch in `teams.connections`, which
alone names the classes. Everything else is written against `BatchClient`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol


@dataclass(frozen=True)
class Receipt:
    """The proof that a submission was accepted.

    request_id: the name to poll it by. status: as acknowledged, usually "queued".
    """

    request_id: str
    status: str


class BatchClient(Protocol):
    """One account at one Batch API, to be used from many threads at once.

    No method tries anything twice. All raise errors of `cloudflare.errors`, which say whether a
    second try is safe; no error holds the account's secret.
    """

    def submit(self, model: str, body: bytes) -> Receipt:
        """Put a request with many items, `{"requests": […]}` as JSON, into the queue of `model`.

        Raises NotSent and Busy when it was certainly not taken, Refused (TooLarge) when it never
        will be, and MaybeSent when nobody knows: a second try may then be paid for twice.
        """

    def poll(self, model: str, request_id: str, spool: BinaryIO) -> str | None:
        """Ask for the reply to a request: its status while it is under way, None when it is here.

        The status is "queued" or "running". The reply is in `spool`, which was emptied, filled and
        rewound; `replies.decode` reads it. After an error the spool holds nothing of use.

        Raises NotSent, Busy and BadReply when it is to be asked again later, Gone when the API
        does not have the request (any more), Refused when the request failed as a whole; never
        MaybeSent, as a poll costs nothing. What the spool raises (OSError) passes.
        """

    def run(self, model: str, item: bytes) -> bytes:
        """Ask `model` a single item (JSON) and wait for its `result`, as raw JSON.

        `answers.read_answer` reads the result. Raises what `submit` raises. No page uses it yet:
        it is for trying a question on a few rows.
        """

    def models(self) -> Iterator[dict[str, Any]]:
        """The models that the account may use, each once, as objects with at least a "name".

        Raises NotSent, Busy or BadReply, also half-way. No page uses it yet: it is for the page
        about a connection, as is `schema`.
        """

    def schema(self, model: str) -> dict[str, Any]:
        """The JSON Schemas of a model's `input` and `output`; {} for a model without any.

        Raises what `models` raises.
        """

    def test_connection(self) -> None:
        """Do nothing when address, account, secret and permissions are right together.

        Costs nothing. Else raises what is wrong: NotSent when the server cannot be reached, Busy
        with `needs_admin` when it does not let this account in, BadReply when something else
        answers. No page uses it yet: it is for the page about a connection.
        """

    def close(self) -> None:
        """Close every connection. No call may be under way."""
