"""The protocol of a client: all that the product needs to reach a Batch API.

`client.RestClient` calls an account, `worker_client.WorkerClient` a Worker of the team's own, and
`local_client.LocalClient` a model server of the team. Another one is one more class with these
methods, and one more line in
`teams.connections`. Only that module names the classes; everything else uses `BatchClient`.
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
    """One account at one Batch API. Many threads may use it at once.

    No method retries. All raise errors of `cloudflare.errors`, which say whether a second try is
    safe. No error contains the secret of the account.
    """

    def submit(self, model: str, body: bytes) -> Receipt:
        """Put a request with many items, `{"requests": […]}` as JSON, into the queue of `model`.

        Raises NotSent and Busy if it was certainly not accepted, Refused (TooLarge) if it never
        will be, and MaybeSent if that is unclear: a second try may then be paid for twice.
        """

    def poll(self, model: str, request_id: str, spool: BinaryIO) -> str | None:
        """Ask for the reply to a request. Returns None if it is in `spool` now, else its status.

        The status is "queued" or "running". The spool is emptied, filled and rewound;
        `replies.decode` reads it. After an error, the spool has what came of the reply.

        Raises NotSent, Busy and BadReply if a later poll may succeed, Oversized if the reply is
        larger than can be read, Gone if the API does not have the request or no longer has it,
        Refused if the request failed as a whole, and the OSError of a spool that cannot be written.
        Never MaybeSent, because a poll costs nothing.
        """

    def run(self, model: str, item: bytes) -> bytes:
        """Ask `model` a single item (JSON) and wait for its `result`, as raw JSON.

        `answers.read_answer` reads the result. Raises what `submit` raises. No page uses it yet:
        it is for trying a question on a few rows.
        """

    def models(self) -> Iterator[dict[str, Any]]:
        """The models that the account may use, each once, as objects with at least a "name".

        Raises NotSent, Busy or BadReply, also half-way.
        """

    def schema(self, model: str) -> dict[str, Any]:
        """The JSON Schemas of a model's `input` and `output`; {} where there are none to be had.

        Raises what `models` raises.
        """

    def test_connection(self) -> None:
        """Make a call that costs nothing, to prove address, account, secret and permissions.

        Raises NotSent if the server cannot be reached, Busy with `needs_person` if it does not let
        this account in, BadReply if something else answers. No page uses it yet: it is for the page
        about a connection.
        """

    def close(self) -> None:
        """Close every connection. No call may be under way."""
