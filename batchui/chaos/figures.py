"""The figures of a campaign, and the table that is printed."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from batchui.doctor.findings import Finding

# By the word in the table: the invariants that it counts.
COUNTED = {"lost": (1,), "wrong": (2,), "twice unasked": (3, 4), "stuck": (7,)}
COLUMNS = (
    *("campaign", "database", "seed", "kills", "batches", "rows", "requests accepted", "unsure"),
    *("lost", "wrong", "twice unasked", "stuck", "anything else"),
)


@dataclass
class Figures:
    """What a campaign counted.

    wanted: how many kills were asked for. worker: whether batches went through a Worker. kills:
    processes that were ended. frozen: how often some were stopped for a while. survived: steps that
    came to their end before their trigger. pressed: buttons over HTTP that a page took. unsure:
    requests whose receipt was lost, and of which a person was asked. wrong_answers: rows with the
    answer to another row. escaped: errors that nobody caught. stuck: a sentence about each part or
    batch that goes on without an end.
    minutes_to_rest: the most that passed, without faults, until all was quiet.
    """

    campaign: str
    database: str
    seed: int
    wanted: int = 0
    worker: bool = False
    kills: int = 0
    frozen: int = 0
    survived: int = 0
    batches: int = 0
    rows: int = 0
    accepted: int = 0
    unsure: int = 0
    wrong_answers: int = 0
    pressed: int = 0
    minutes_to_rest: float = 0.0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    escaped: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.findings or self.escaped or self.wrong_answers or self.stuck)

    def count(self, word: str) -> int:
        """The number of faults in a column of the table."""
        found = sum(one.invariant in COUNTED[word] for one in self.findings)
        if word == "wrong":
            return found + self.wrong_answers
        return found + len(self.stuck) if word == "stuck" else found

    @property
    def others(self) -> int:
        """The number of faults that have no column of their own."""
        counted = {number for numbers in COUNTED.values() for number in numbers}
        return sum(one.invariant not in counted for one in self.findings) + len(self.escaped)

    def cells(self) -> list[str]:
        """The line of the table."""
        counts = (self.kills, self.batches, self.rows, self.accepted, self.unsure)
        faults = [*map(self.count, COUNTED), self.others]
        return [
            f"{self.campaign}, Worker" if self.worker else self.campaign,
            self.database,
            str(self.seed),
            *(f"{number:,}" for number in counts),
            *(f"{number:,}" for number in faults),
        ]


def table(campaigns: Iterable[Figures]) -> str:
    """The figures as a table in Markdown, ready to be pasted."""
    lines = [list(COLUMNS), ["---"] * len(COLUMNS), *(one.cells() for one in campaigns)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
