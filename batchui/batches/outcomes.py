"""The outcomes of a POST or a poll, as values.

The steps return them. `apply_outcome` in `sending` and in `polling` changes the part accordingly.
A message says what happened. What batchui does next is decided, and said, where it is applied.
`raw` is the beginning of a reply that was not recognised, as it came; "" if it was.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from batchui.batches.changes import PartChanges

# Codes by which Cloudflare refuses one model to an account, until a person has corrected something.
OF_ONE_MODEL = frozenset({3041, 5016, 5018, 5035})


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
    raw: str = ""


@dataclass(frozen=True)
class TooLarge:
    """The request was too large; one with fewer rows may be accepted."""

    message: str
    code: int | None
    raw: str = ""


@dataclass(frozen=True)
class RefusedForGood:
    """Cloudflare refused the request, and would refuse it again."""

    kind: ClassVar = "refused"
    message: str
    code: int | None
    raw: str = ""


@dataclass(frozen=True)
class Unsure:
    """The request may have reached Cloudflare, or not. It may be charged.

    wait: seconds before anything more is sent. None: Cloudflare named no time.
    """

    message: str
    code: int | None = None
    wait: float | None = None
    raw: str = ""


@dataclass(frozen=True)
class StillUnderWay:
    """Cloudflare has no answers yet; `status` is "queued" or "running"."""

    status: str


@dataclass(frozen=True)
class Answered:
    """A whole reply was decoded and stored. With `changes`, the part points to its answers.

    in_vain: the number of rows that are charged and have no answer that can be used.
    """

    changes: PartChanges
    reply_file: str
    in_vain: int


@dataclass(frozen=True)
class Later:
    """This poll failed; a later one may succeed.

    wait: seconds until the next poll. None: Cloudflare named no time. patient: nobody answered, or
    Cloudflare asked to wait. needs_person: so will every other poll, until a person has corrected
    something, such as the token; `everywhere`: whatever the model. reply_file: the raw reply, if it
    is kept; "" if not.
    """

    message: str
    wait: float | None
    patient: bool = False
    needs_person: bool = False
    everywhere: bool = True
    reply_file: str = ""
    raw: str = ""


# -- what is looked at again before it is believed; `kind` is one of `patience.ODD` ---------------


@dataclass(frozen=True)
class Incomplete:
    """The reply has no usable answer for `missing` rows.

    With `changes`, the part points to the others, if there are any.
    """

    kind: ClassVar = "incomplete"
    changes: PartChanges
    missing: int


@dataclass(frozen=True)
class Quarantined:
    """The reply does not fit what was sent. Nothing of it is used; the last one is kept raw."""

    kind: ClassVar = "mismatch"
    message: str
    reply_file: str


@dataclass(frozen=True)
class Unusable:
    """A stored file of the part is lost or damaged. The message names it."""

    kind: ClassVar = "damaged"
    message: str
    reply_file: str = ""


@dataclass(frozen=True)
class TooLong:
    """The reply is larger than batchui can read."""

    kind: ClassVar = "oversized"
    message: str
    reply_file: str = ""


@dataclass(frozen=True)
class CutOff:
    """The worker that polled the part before has ended without any outcome."""

    kind: ClassVar = "cut off"
    message: str
    reply_file: str = ""


@dataclass(frozen=True)
class GoneNow:
    """Cloudflare does not know the request (5504)."""

    kind: ClassVar = "gone"
    message: str


Doubtful = Quarantined | Unusable | TooLong | CutOff | GoneNow | RefusedForGood
SendOutcome = Accepted | CertainlyNotSent | OnHold | TooLarge | RefusedForGood | Unsure
PollOutcome = StillUnderWay | Answered | Later | Incomplete | Doubtful
