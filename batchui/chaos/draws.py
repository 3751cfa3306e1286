"""Files, faults and decisions, drawn from a seed."""

import io
import random
import zipfile
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.ask import Ask

T = TypeVar("T")

MODELS = ("@cf/meta/llama-4-scout-17b-16e-instruct", "@cf/moonshotai/kimi-k2.6")
TEMPLATE = "Summarise: {{text}}"
# Who is asked for columns is asked for nothing else: what does not fit would be a text's answer.
MODEL_OF_COLUMNS = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
# The sandbox writes the mark of a row into a text.
COLUMNS = (AnswerColumn("subject"), AnswerColumn("tone", "one_of", ("good", "bad")))
FEWEST_ROWS, MOST_ROWS = 3, 120
# What may go wrong with a submission, a poll or a row that is tried, each with its weight.
FAULTS: Sequence[tuple[int, Mapping[str, Any]]] = (
    (4, {"fault": "cut_after", "call": "submit"}),
    (2, {"fault": "cut_after", "call": "submit", "reset": True}),
    (2, {"fault": "cut_before", "call": "submit"}),
    (2, {"fault": "truncated", "call": "submit"}),
    (2, {"fault": "garbage", "call": "submit"}),
    (1, {"fault": "no_request_id", "call": "submit"}),
    (1, {"fault": "no_model", "call": "submit"}),
    (1, {"fault": "other_status", "call": "submit"}),
    (1, {"fault": "forgotten", "call": "submit"}),
    (2, {"fault": "error", "call": "submit", "code": 3040}),
    (1, {"fault": "error", "call": "submit", "code": 3021}),
    (1, {"fault": "error", "call": "submit", "code": 3036}),
    (1, {"fault": "error", "call": "submit", "code": 10000}),
    (2, {"fault": "error", "call": "submit", "code": 3006}),
    (1, {"fault": "error", "call": "submit", "code": 8007}),
    (2, {"fault": "error", "call": "submit", "status": 502}),
    (1, {"fault": "error", "call": "submit", "status": 503, "retry_after": 1}),
    (2, {"fault": "cut_before", "call": "poll"}),
    (2, {"fault": "truncated", "call": "poll"}),
    (2, {"fault": "garbage", "call": "poll"}),
    (2, {"fault": "error", "call": "poll", "status": 500}),
    (1, {"fault": "error", "call": "poll", "code": 5504}),
    (1, {"fault": "error", "call": "poll", "code": 5006}),
    (1, {"fault": "batch_failed", "call": "poll"}),
    (2, {"fault": "running", "call": "poll"}),
    (2, {"fault": "missing", "every": 3}),
    (2, {"fault": "failed", "every": 4}),
    (2, {"fault": "empty", "every": 5}),
    (1, {"fault": "empty", "every": 3, "form": "empties"}),
    (2, {"fault": "unfit", "every": 3, "model": MODEL_OF_COLUMNS}),
    (1, {"fault": "unfit", "form": "cut", "model": MODEL_OF_COLUMNS}),
    (1, {"fault": "duplicate", "every": 2}),
    (1, {"fault": "contradiction"}),
    (1, {"fault": "unknown_id"}),
    (1, {"fault": "wrong_reference"}),
    (1, {"fault": "cut_after", "call": "run"}),
    (1, {"fault": "cut_before", "call": "run"}),
    (1, {"fault": "garbage", "call": "run"}),
    (1, {"fault": "error", "call": "run", "code": 3040}),
    (1, {"fault": "error", "call": "run", "code": 5006}),
    (1, {"fault": "error", "call": "run", "status": 502}),
)


# One point, white.
PICTURE_NAME = "photo.png"
PICTURE = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=="
)
# Under the names of the columns.
FIRST_ROW = 2


class File(NamedTuple):
    """A file to upload, and what is asked of it.

    Each row's text begins with a mark: its own, or, where the same is asked once, perhaps that of a
    row before it.
    """

    name: str
    content: bytes
    rows: int
    ask: Ask


class Draws:
    """Everything that is left to chance. Two of the same seed draw the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self._files = 0

    def chance(self, probability: float) -> bool:
        """Whether something with this probability happens."""
        return self._random.random() < probability

    def share(self) -> float:
        """A number from 0 to 1."""
        return self._random.random()

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`; small ones are as likely as large ones."""
        return int(low * (high / low) ** self._random.random())

    def one_of(self, weighted: Mapping[T, float]) -> T:
        """One of the keys, by weight."""
        return self._random.choices(list(weighted), list(weighted.values()))[0]

    def faults(self) -> list[dict[str, Any]]:
        """A script for the sandbox: up to three faults, each for up to three calls."""
        weights = [weight for weight, _ in FAULTS]
        chosen = self._random.choices(FAULTS, weights, k=self._random.randint(1, 3))
        return [
            {**fault, "nth": self._random.randint(1, 3), "times": self._random.randint(1, 3)}
            for _, fault in chosen
        ]

    def file(self) -> File:
        """A file that nobody has uploaded before, and a question."""
        self._files += 1
        name, rows = f"f{self._files}", self.number(FEWEST_ROWS, MOST_ROWS)
        once, in_columns = self.chance(0.3), self.chance(0.4)
        sees = not in_columns and self.chance(0.3)
        lines = ["id,text,photo" if sees else "id,text"]
        for row in range(FIRST_ROW, FIRST_ROW + rows):
            repeats = once and self.chance(0.5)
            asked = self.number(FIRST_ROW, row) if repeats else row
            photo = f",{'lost.png' if self.chance(0.05) else PICTURE_NAME}" if sees else ""
            lines.append(f"{row},{mark_of(name, asked)} of the file{photo}")
        ask = Ask(
            model=MODEL_OF_COLUMNS if in_columns else self._random.choice(MODELS),
            template=TEMPLATE,
            answer_columns=COLUMNS if in_columns else (),
            resend_once=self.chance(0.2),
            ask_once=once,
            picture_column="photo" if sees else "",
        )
        table = "\r\n".join([*lines, ""]).encode()
        if sees:
            return File(f"{name}.zip", _packed(f"{name}.csv", table), rows, ask)
        return File(f"{name}.csv", table, rows, ask)

    def seed(self) -> int:
        """A seed for something that draws by itself."""
        return self._random.getrandbits(32)


def _packed(name: str, table: bytes) -> bytes:
    """A ZIP archive with a table, and the picture that most of its rows name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, table)
        archive.writestr(PICTURE_NAME, PICTURE)
    return packed.getvalue()


def mark_of(name: str, row: int) -> str:
    """The text that no other row of any file has. row: its number, as a spreadsheet shows it."""
    return f"Row-{name}-{row}-"


def chosen(candidates: Sequence[T], share: float) -> T | None:
    """The candidate at this share of the way through them; None if there are none."""
    return candidates[int(share * len(candidates))] if candidates else None
