"""Takes a batch through sending and polling with replies in any order, as the API sends them.

Everything but the network is the product's own: requests, attempts, replies, decisions.
"""

import io
import json
from collections.abc import Callable
from random import Random
from typing import Any

from batchui.batches import lifecycle, polling, replies, sending
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.outcomes import Accepted, TooLarge
from batchui.batches.states import PartStatus

# What may come back for a row instead of an answer, and the status that it then has.
FAILURES = {"failed": {"success": False, "error": "The model is ill."}, "empty": {"result": None}}
Sent = tuple[Part, Attempt, bytes]


class AnyReplies:
    """What Cloudflare answers. answers: each row's answer by its number, once it has one.

    without: what became of each other row that was asked. say: what the model says to a row.
    """

    def __init__(self, seed: int, say: Callable[[int], str]) -> None:
        self.answers: dict[int, str] = {}
        self.without: dict[int, str] = {}
        self._say = say
        self._chance = Random(seed)

    def answer(self, batch: Batch, *, failing: float = 0) -> None:
        """Send all that is ready and take the replies, until nothing is open.

        failing: how likely a row has no answer. Some requests are refused as too large, so that
        their part is sent in halves.
        """
        while ready := list(batch.parts.filter(status=PartStatus.READY)):
            self._chance.shuffle(ready)
            sent = [sent for part in ready if (sent := self._sent(batch, part))]
            self._chance.shuffle(sent)
            for one in sent:
                self._take_reply(*one, failing=failing)
        batch.refresh_from_db()

    def _sent(self, batch: Batch, part: Part) -> Sent | None:
        part.batch = batch
        assert lifecycle.move_part(part, PartStatus.SENDING)
        prepared = sending.write_attempt(part)
        if prepared is None:
            assert lifecycle.move_part(part, PartStatus.DONE)  # all of its rows are invalid
            return None
        attempt, body = prepared
        if attempt.items > 1 and self._chance.random() < 0.2:
            sending.apply_outcome(part, attempt, TooLarge("The request is too large.", 3036))
            return None
        sending.apply_outcome(part, attempt, Accepted(f"request-{attempt.pk}"))
        return part, attempt, body

    def _take_reply(self, part: Part, attempt: Attempt, body: bytes, *, failing: float) -> None:
        items = [
            self._item(position, int(sent["external_reference"]), failing)
            for position, sent in enumerate(json.loads(body)["requests"])
        ]
        self._chance.shuffle(items)
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        result = {"responses": [item for item in items if item], "usage": usage}
        envelope = {"success": True, "errors": [], "messages": [], "result": result}
        spool = io.BytesIO(json.dumps(envelope).encode())
        part.refresh_from_db(fields=["epoch"])
        outcome = replies.absorb(part, attempt, spool, is_last=True)
        polling.apply_outcome(part, attempt, outcome)

    def _item(self, position: int, row: int, failing: float) -> dict[str, Any] | None:
        assert row not in self.answers, "a row that has its answer is never asked again"
        item = {"id": position, "external_reference": str(row)}
        if self._chance.random() < failing:
            self.without[row] = self._chance.choice(["missing", *FAILURES])
            status = self.without[row]
            return None if status == "missing" else {"success": True, **item, **FAILURES[status]}
        self.without.pop(row, None)
        self.answers[row] = self._say(row)
        return {"success": True, "result": {"response": self.answers[row]}, **item}
