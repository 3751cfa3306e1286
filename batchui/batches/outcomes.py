"""The outcomes of a POST or a poll, as values.

The steps return them. `apply_outcome` in `sending` and in `polling` changes the part accordingly.
"""

from dataclasses import dataclass
from datetime import datetime

from batchui.batches.changes import PartChanges


@dataclass(frozen=True)
class Accepted:
    """Cloudflare accepted the request and gave it an id."""

    request_id: str


@dataclass(frozen=True)
class CertainlyNotSent:
    """Nothing reached Cloudflare: it can be sent again without being paid for twice."""

    message: str


@dataclass(frozen=True)
class OnHold:
    """Cloudflare does not take the request now. `resume_at` None: a person must act first.

    `everywhere`: this is about the whole connection, so its other parts wait too.
    """

    message: str
    code: int | None
    resume_at: datetime | None
    everywhere: bool


@dataclass(frozen=True)
class TooLarge:
    """The request was too large; one with fewer rows may be accepted."""

    message: str
    code: int | None


@dataclass(frozen=True)
class RefusedForGood:
    """Cloudflare refused the request, and would refuse it again."""

    message: str
    code: int | None


@dataclass(frozen=True)
class Unsure:
    """The request may have reached Cloudflare, or not. It may be charged."""

    message: str
    code: int | None = None


@dataclass(frozen=True)
class StillUnderWay:
    """Cloudflare has no answers yet; `status` is "queued" or "running"."""

    status: str


@dataclass(frozen=True)
class Answered:
    """A whole reply was decoded and stored. With `changes`, the part points to its answers."""

    changes: PartChanges
    reply_file: str


@dataclass(frozen=True)
class Quarantined:
    """The reply does not fit what was sent. It is kept raw, and nothing of it is used."""

    message: str
    reply_file: str


@dataclass(frozen=True)
class Later:
    """This poll failed; a later one may succeed.

    wait: seconds until the next poll. None: Cloudflare named no time.
    """

    message: str
    wait: float | None


@dataclass(frozen=True)
class GoneNow:
    """Cloudflare does not know the request (5504)."""

    message: str


SendOutcome = Accepted | CertainlyNotSent | OnHold | TooLarge | RefusedForGood | Unsure
PollOutcome = StillUnderWay | Answered | Quarantined | Later | GoneNow | RefusedForGood
