"""Batches whose answers a test says, row by row, with real files behind them."""

from collections.abc import Sequence
from typing import Any

import msgspec
from django.db.models import Sum

from batchui.batches import part_answers
from batchui.batches.compressed import Compressed
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import CUT_OFF, Answer
from batchui.batches.settling import ANSWER_FIELDS
from batchui.batches.states import BatchStatus, PartStatus
from batchui.prompts.reading.rows import encode_row
from batchui.teams.models import Team
from tests.batches.conftest import TEMPLATE, on_record

FORM = {"kind": "csv", "encoding": "utf-8", "delimiter": ",", "columns": ["id", "text"]}
# A row that has no line of its own yet.
WAITS = None


def yes(said: Any = "yes") -> Answer:
    """An answered row."""
    return Answer("answered", msgspec.Raw(msgspec.json.encode(said)))


def cut(said: Any = "It begins well, and th") -> Answer:
    """An answered row whose answer was cut off."""
    return Answer("answered", msgspec.Raw(msgspec.json.encode(said)), CUT_OFF)


def no(status: str = "failed", error: str = "broken") -> Answer:
    """A row without an answer."""
    return Answer(status, error=error)


def made(team: Team, *parts: Sequence[Answer | None], **fields: Any) -> Batch:
    """A batch that has ended, with these answers; row 1 is the first, and says "text 1"."""
    batch = on_record(
        team,
        **{
            "parts": len(parts),
            "status": BatchStatus.PROBLEMS,
            "source_format": FORM,
            "template": TEMPLATE,
        }
        | fields,
    )
    number = 1
    for part, answers in zip(batch.parts.order_by("number"), parts, strict=True):
        lines = [encode_row([str(n), f"text {n}"]) for n in range(number, number + len(answers))]
        Part.objects.filter(pk=part.pk).update(
            first_row=number,
            rows=len(answers),
            status=PartStatus.DONE,
            rows_file=Compressed.of_lines(lines).store(f"{part.pk}-rows"),
        )
        part.refresh_from_db()
        put(part, answers)
        number += len(answers)
    Batch.objects.filter(pk=batch.pk).update(rows=number - 1)
    return summed(batch)


def put(part: Part, answers: Sequence[Answer | None]) -> None:
    """A new version of a part's answers."""
    changes: Any = part_answers.new_answers(part, answers).store()
    Part.objects.filter(pk=part.pk).update(**changes)
    part.refresh_from_db()


def summed(batch: Batch) -> Batch:
    """The batch with the sums of its parts."""
    sums = batch.parts.aggregate(**{name: Sum(name) for name in (*ANSWER_FIELDS, "cut")})
    Batch.objects.filter(pk=batch.pk).update(**sums)
    batch.refresh_from_db()
    return batch


def damage(part: Part, *, lines: int) -> None:
    """Let the file of a part's answers end after so many lines."""
    kept = list(part_answers.read_answers(part))[:lines]
    part.answers_file = Compressed.of_lines(map(msgspec.json.encode, kept)).store(
        f"{part.answers_file}-cut"
    )
    part.save(update_fields=["answers_file"])
