"""What the forms of the pages send that somebody presses in the sheet: addresses and fields.

What is drawn comes from a generator of its own, so that what is pressed next does not depend on it.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from batchui.batches import tries
from batchui.batches.answer_editing import seen_of
from batchui.batches.models import Batch
from batchui.chaos import sheet_moves
from batchui.chaos.draws import MODELS, File
from batchui.prompts.answer_columns import to_json

Fields = dict[str, str | Sequence[str]]


class Form(NamedTuple):
    """What is sent. address: below that of the batch."""

    address: str
    fields: Fields


Make = Callable[[Batch, random.Random], Form | None]


def start(file: File) -> Fields:
    """The fields of the page before Start."""
    ask = file.ask
    fields: Fields = {"name": file.name, "model": ask.model, "template": ask.template}
    fields["max_tokens"] = str(ask.max_tokens)
    fields["picture_column"] = ask.picture_column
    fields["answer_columns"] = msgspec.json.encode(to_json(ask.answer_columns)).decode()
    ticked = {"resend_once": ask.resend_once, "ask_once": ask.ask_once}
    return fields | {name: "on" for name, is_ticked in ticked.items() if is_ticked}


def _try_rows(draft: Batch, draw: random.Random) -> Form:
    template = f"Try {draw.getrandbits(64):x}, {{{{id}}}}: {{{{text}}}}"
    which = draw.choice(["first", "random", "same"])
    fields: Fields = {"model": MODELS[0], "template": template, "max_tokens": "64"}
    return Form("tries/", fields | {"name": draft.name, "which": which})


def _stop_try(draft: Batch, draw: random.Random) -> Form | None:
    latest = tries.of(draft).last()
    if latest is None:
        return None
    return Form(f"tries/{latest.number}/{draw.choice(['stop', 'remove'])}/", {})


def _ask_a_reason_again(batch: Batch, draw: random.Random) -> Form | None:
    keys = sheet_moves.reasons_of(batch)
    return Form("ask-again/", {"reason": draw.choice(keys)}) if keys else None


def _ask_ticked_again(batch: Batch, draw: random.Random) -> Form:
    return Form("ask-again/", {"rows": list(map(str, sheet_moves.ticked(batch, draw)))})


def _rename(_: Batch, draw: random.Random) -> Form:
    return Form("name/", {"name": f"Named {draw.getrandbits(32):x}"})


def _correct(batch: Batch, draw: random.Random) -> Form | None:
    row = sheet_moves.some_row(batch, draw)
    if row is None:
        return None
    if row.edit is not None and draw.random() < 0.5:
        return Form(f"rows/{row.row}/own-answer/", {"seen": seen_of(row.answer, (), 0)})
    seen = seen_of(row.answer, batch.ask.answer_columns, 0)
    fields: Fields = {"value": sheet_moves.CORRECTED, "seen": seen}
    return Form(f"rows/{row.row}/answers/0/", fields)


FORMS: Mapping[str, Make] = {
    "try rows": _try_rows,
    "stop try": _stop_try,
    "ask a reason again": _ask_a_reason_again,
    "ask ticked again": _ask_ticked_again,
    "count empty": lambda *_: Form("count-empty/", {}),
    "rename": _rename,
    "correct": _correct,
}
# Pages that somebody looks at: they make digests, and search.
LOOKS: Mapping[str, str] = {"search": "?q=good"}
