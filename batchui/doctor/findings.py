"""What a check finds."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

INVARIANTS: dict[int, str] = {
    1: "Each row of a file has one fate, and files, parts, batch and downloads agree",
    2: "An answer belongs to its row, and a good one stays",
    3: "Every request that was billed is on record as sent, or as unsure",
    4: "What was billed twice says so",
    5: "A receipt is never lost and never changes",
    6: "What is done reopens only by a recorded Retry",
    7: "Nothing stays in motion beyond its lease",
    8: "Every stored file belongs to something",
    9: "Every status is explained by the timeline",
    10: "No secret is in plain text on the disk",
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that is off.

    kind: a short name for it; with the place it tells one finding from another. what: a sentence.
    do: a sentence about what to do. since: when it began, as far as is known. where: a file or a
    request, if the place is not a batch. name: of the batch; it is no part of the place.
    """

    invariant: int
    kind: str
    what: str
    do: str
    batch: UUID | None = None
    part: int | None = None
    row: int | None = None
    where: str = ""
    since: datetime | None = None
    name: str = ""

    @property
    def place(self) -> tuple[int, str, UUID | None, int | None, int | None, str]:
        """What is the same when it is found a second time."""
        return self.invariant, self.kind, self.batch, self.part, self.row, self.where

    def __str__(self) -> str:
        # Somebody typed the name: nothing in it may steer the terminal.
        name = "".join(filter(str.isprintable, self.name))
        named = [
            f"batch {f'“{name}” ' if name else ''}{self.batch}" if self.batch else "",
            f"part {self.part}" if self.part else "",
            f"row {self.row:,}" if self.row else "",
            self.where,
        ]
        place = ", ".join(filter(None, named))
        since = f" Since {self.since:%Y-%m-%d %H:%M:%S} UTC." if self.since else ""
        return f"{place[:1].upper()}{place[1:]}: {self.what}{since} What to do: {self.do}"


LOOK_AT_LOG = "Look into the log of that time, and report it as a bug of batchui, with this line."
FROM_BACKUP = (
    "Put the file back from a backup; without one, leave the rows out on the batch's page, and "
    "upload them again."
)
