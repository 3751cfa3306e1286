"""What came of a POST or a poll, as values.

The steps return these; `apply_outcome` in `sending` and in `polling` changes the part as they ask.
"""

from dataclasses import dataclass
from datetime import datetime

from batchui.batches.changes import PartChanges


@dataclass(frozen=True)
class Accepted:
    """Cloudflare took the request and gave it a number."""

    request_id: str


@dataclass(frozen=True)
class CertainlyNotSent:
    """Nothing reached Cloudflare; the same may be sent again without being paid for twice."""

    message: str


@dataclass(frozen=True)
class OnHold:
    """Cloudflare said not now. `resume_at` None: a person must act first.

    `everywhere`: the whole connection is meant, so its other parts wait as well.
    """

    message: str
    code: int | None
    resume_at: datetime | None
    everywhere: bool


@dataclass(frozen=True)
class TooLarge:
    """The request was too large; fewer rows at a time may pass."""

    message: str
    code: int | None


@dataclass(frozen=True)
class RefusedForGood:
    """The same request would be refused again."""

    message: str
    code: int | None


@dataclass(frozen=True)
class Unsure:
    """The request may or may not have reached Cloudflare, and may be charged."""

    message: str
    code: int | None = None


@dataclass(frozen=True)
class StillUnderWay:
    """Cloudflare is not done; `status` is "queued" or "running"."""

    status: str


@dataclass(frozen=True)
class Answered:
    """A whole reply was understood and stored; `changes` point the part at it."""

    changes: PartChanges
    reply_file: str


@dataclass(frozen=True)
class Quarantined:
    """The reply does not fit what was sent; it is kept raw and nothing of it was used."""

    message: str
    reply_file: str


@dataclass(frozen=True)
class Later:
    """This poll brought nothing; a later one may. wait: in seconds, None where nobody said."""

    message: str
    wait: float | None


@dataclass(frozen=True)
class GoneNow:
    """Cloudflare does not know the request (5504)."""

    message: str


SendOutcome = Accepted | CertainlyNotSent | OnHold | TooLarge | RefusedForGood | Unsure
PollOutcome = StillUnderWay | Answered | Quarantined | Later | GoneNow | RefusedForGood
