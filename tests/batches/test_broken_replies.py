"""What is broken in a reply costs its row, in the files and on the page, and no more."""

import csv
import io
import json

import pytest

from batchui.batches import exporting
from batchui.batches.compressed import read_compressed
from batchui.batches.models import Batch
from batchui.batches.replies import MOST_TIMES
from batchui.batches.sheet import pages
from batchui.batches.sheet.selection import parse
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from tests.batches.conftest import MakeBatch, counted, in_files, polled, rows, send_all
from tests.cloudflare.conftest import queued
from tests.cloudflare.server import ScriptedServer, reply

pytestmark = pytest.mark.django_db

DEEP = "[" * 5_000 + "]" * 5_000
BROKEN = (
    "Cloudflare's answer for this row cannot be read: it is damaged, or nested too deep. Retry "
    "this row."
)


def item(number: int, response: str = '"Yes"') -> str:
    return f'{{"id": {number}, "result": {{"response": {response}}}, "success": true}}'


def body(*items: str) -> bytes:
    return f'{{"result": {{"responses": [{", ".join(items)}]}}, "success": true}}'.encode()


def sent(api: ScriptedServer, start: MakeBatch, number: int = 25) -> Batch:
    """A batch of one part, accepted."""
    api.script(reply(200, queued()))
    batch = start(rows(number))
    send_all()
    return batch


def answers(batch: Batch) -> list[str]:
    """The answers in a download, as text."""
    text = b"".join(exporting.csv_plain(batch)).decode()
    return [line["answer"] for line in csv.DictReader(io.StringIO(text))]


def test_a_number_that_is_none_is_null_in_its_row_and_nothing_in_the_others(
    api: ScriptedServer, start: MakeBatch
) -> None:
    batch = sent(api, start)
    many = [item(number) for number in range(25) if number != 7]
    api.script(reply(200, body(*many, item(7, "[0.5, NaN]"))))
    assert polled(batch).status == PartStatus.DONE
    assert batch.status == BatchStatus.FINISHED
    assert answers(batch) == ["Yes"] * 7 + ["[0.5,null]"] + ["Yes"] * 17
    assert json.loads(b"".join(exporting.json(batch)))[7]["answer"] == [0.5, None]


@pytest.mark.parametrize("broken", [DEEP, "tru"])
def test_a_broken_answer_is_looked_at_again_and_then_costs_its_row(
    api: ScriptedServer, start: MakeBatch, broken: str
) -> None:
    batch = sent(api, start)
    content = body(*(item(number, broken if number == 7 else '"Yes"') for number in range(25)))
    api.script(reply(200, content))
    part = polled(batch)
    assert (part.status, part.message) == (
        PartStatus.RUNNING,
        "Cloudflare's reply has no answer for 1 row yet. batchui asks again.",
    )
    assert counted(batch) == in_files(batch) == {"answered": 24}
    part = polled(batch)
    assert part.status == PartStatus.DONE
    assert counted(batch) == in_files(batch) == {"answered": 24, "failed": 1}
    [failed] = pages.page(batch, parse("attention"), offset=0, limit=10)
    assert (failed.row, failed.status, failed.answer, failed.error) == (9, "failed", None, BROKEN)
    raw = b"".join(read_compressed(part.attempts.get().reply_file))
    assert raw == content


def test_an_answer_that_was_broken_once_is_taken_when_it_is_whole(
    api: ScriptedServer, start: MakeBatch
) -> None:
    batch = sent(api, start, 2)
    api.script(reply(200, body(item(0), item(1, "tru"))), reply(200, body(item(0), item(1))))
    polled(batch, 2)
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 2)


def test_a_reply_with_far_more_answers_than_rows_is_not_used(
    api: ScriptedServer, start: MakeBatch
) -> None:
    assert MOST_TIMES == 4
    batch = sent(api, start, 2)
    api.script(reply(200, body(*[item(0), item(1)] * 4)))
    assert polled(batch).status == PartStatus.DONE
    batch = sent(api, start, 2)
    flood = body(*[item(0), item(1)] * 4, item(0))
    api.script(reply(200, flood))
    part = polled(batch, 3)
    assert (part.status, part.question) == (PartStatus.UNSURE, Question.MISMATCH)
    assert part.message == "Cloudflare's reply has more than 8 answers to 2 rows."
    attempt = part.attempts.get()
    assert attempt.status == AttemptStatus.QUARANTINED
    assert b"".join(read_compressed(attempt.reply_file)) == flood
