"""What is corrected by hand is known in retries, searches, the timeline and downloads."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.utils import timezone

from batchui.batches import corrections, decisions, exporting, part_answers
from batchui.batches.corrections import UNDER_WAY
from batchui.batches.models import Batch, Event, Part
from batchui.batches.part_answers import Answer
from batchui.batches.sheet import asking_again, digests, pages, searches
from batchui.batches.sheet.asking_again import AskAgain
from batchui.batches.sheet.selection import Selection, parse
from batchui.batches.states import AnswerStatus, BatchStatus, PartStatus
from batchui.doctor.examine import look
from batchui.doctor.records import Scope
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from tests.batches.conftest import MakeBatch, send_all, work
from tests.batches.correcting import (
    all_is_well,
    batch,
    bob,
    correct,
    put_back,
    row,
    some,
    with_columns,
)
from tests.batches.read_back import by_calamine, by_openpyxl, csv_lines, downloads, of_parquet
from tests.batches.sheet.made import no, yes

__all__ = ["batch", "bob", "some", "with_columns"]

pytestmark = pytest.mark.django_db


def test_nothing_is_corrected_while_its_part_is_under_way(batch: Batch) -> None:
    for status in PartStatus:
        Part.objects.update(status=status)
        ended = status in (PartStatus.DONE, PartStatus.STOPPED)
        assert correct(batch, 2, f"{status}") == ("" if ended else UNDER_WAY), status


def test_a_deleted_batch_is_left_alone(some: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corrections, "PAUSE", 0)
    Batch.objects.update(deleted_at=timezone.now())
    assert correct(some, 1, "mine") != ""
    assert row(some, 1).edit is None


def test_a_retry_leaves_corrected_rows_alone(batch: Batch, ana: User) -> None:
    assert correct(batch, 3, "corrected", ana) == ""
    assert correct(batch, 6, "given", ana) == ""
    all_is_well(batch)
    batch.refresh_from_db()
    assert batch.unanswered == 1
    assert decisions.retry(batch, by=None)
    send_all()
    batch = work(batch)
    assert (batch.status, batch.answered, batch.edited) == (BatchStatus.FINISHED, 10, 2)
    assert [row(batch, n).answer for n in (3, 6)] == [b'"corrected"', b'"given"']
    all_is_well(batch)


def test_asked_again_on_purpose_an_edit_stays_until_another_answer_has_come(
    batch: Batch, sandbox: RunningSandbox, ana: User
) -> None:
    correct(batch, 3, "mine", ana)
    assert asking_again.meaning_of(batch, chosen=[3]) == AskAgain(0, 1, edited=1)
    sandbox.script({"fault": "failed", "items": [0]})
    asking_again.ask_again(batch, chosen=[3], by=ana)
    send_all()
    batch = work(batch)
    assert row(batch, 3).answer == b'"mine"'  # what has come is no answer
    all_is_well(batch)
    asking_again.ask_again(batch, chosen=[3], by=ana)
    send_all()
    batch = work(batch)
    found = row(batch, 3)
    assert (found.edit, found.status) == (None, "answered")
    assert found.answer != b'"mine"'
    all_is_well(batch)


def test_an_answer_that_comes_late_becomes_the_models_own(part: Part, ana: User) -> None:
    edited = yes("mine")
    edit = part_answers.Edit(ana.pk, 1.0, "missing", error="lost")
    edited = Answer(edited.status, edited.answer, edit=edit)
    changes: Any = part_answers.new_answers(part, [edited, *[yes("own")] * (part.rows - 1)]).store()
    Part.objects.filter(pk=part.pk).update(**changes)
    part.refresh_from_db()
    late = part_answers.merge(part, {0: yes("late"), 1: no()}, missing=lambda _: None)
    Part.objects.filter(pk=part.pk).update(**late.store())
    part.refresh_from_db()
    first, *_ = part_answers.read_answers(part)
    assert first is not None
    assert (bytes(first.answer), bytes(first.own.answer)) == (b'"mine"', b'"late"')
    assert part.edited == 1
    failed = part_answers.merge(part, {0: no()}, missing=lambda _: None)
    Part.objects.filter(pk=part.pk).update(**failed.store())
    part.refresh_from_db()
    first = next(part_answers.read_answers(part))
    assert first is not None
    assert bytes(first.own.answer) == b'"late"'  # a failure is nothing to keep in its place


def test_rows_that_ask_the_same_get_what_the_model_answered(
    sandbox: RunningSandbox, start: MakeBatch, ana: User
) -> None:
    table = b"id,text\n" + b"".join(b"%d,same\n" % n for n in range(3))
    batch = work(start(table, ask_once=True))
    correct(batch, 2, "mine", ana)
    asking_again.ask_again(batch, chosen=[3], by=None)
    all_is_well(work(batch))
    own = row(batch, 2).own_answer
    Part.objects.update(asked_again=None)
    assert row(batch, 4).answer == own


def test_what_one_person_corrects_within_minutes_is_one_line(
    some: Batch, ana: User, bob: User
) -> None:
    for number in (1, 2, 3):
        correct(some, number, "mine", ana)
    correct(some, 1, "other", bob)
    told = list(some.events.filter(kind="corrected").order_by("id").values_list("text", "actor"))
    assert told == [
        ("3 answers corrected by hand.", ana.pk),
        ("1 answer corrected by hand.", bob.pk),
    ]
    Event.objects.update(at=timezone.now() - timedelta(minutes=11))
    correct(some, 2, "again", ana)
    put_back(some, 2, ana)
    assert some.events.filter(kind="corrected", actor=ana).count() == 2
    [back] = some.events.filter(kind="put back")
    assert back.text == "1 answer put back to what the model had answered."


def test_filters_digests_and_searches_know_it(some: Batch, ana: User) -> None:
    tone = parse("value:answer:mine")
    digests.make_some(some)
    assert pages.count(some, tone) == 0
    words = Selection(words="mine")
    assert searches.search_for(some, words).hits == {}
    correct(some, 3, "mine", ana)
    some.refresh_from_db()
    assert [one.row for one in pages.page(some, parse("edited"), offset=0, limit=9)] == [3]
    assert pages.count(some, tone) == 1
    assert list(searches.search_for(some, words).hits.values()) == [[2]]


def test_the_doctor_counts_edits(some: Batch, batch: Batch) -> None:
    correct(batch, 3, "mine")
    all_is_well(batch)
    Part.objects.filter(batch=batch).update(edited=2)
    found = [str(one) for one in look(Scope(batch=batch.pk)).findings]
    assert any("2 rows count as “edited”, and the stored files have 1." in one for one in found)


def test_downloads_have_the_edited_value_and_json_says_so(batch: Batch, ana: User) -> None:
    own = row(batch, 3).answer
    correct(batch, 3, "Mine, by hand.", ana)
    lines = [json.loads(line) for line in b"".join(exporting.jsonl(batch)).splitlines()]
    assert lines[1]["answer"] == "Mine, by hand."
    assert lines[1]["edited"] is True
    assert lines[1]["own_answer"] == json.loads(own or b"")
    assert all("edited" not in line and "own_answer" not in line for line in lines[2:])
    assert json.loads(b"".join(exporting.json(batch))) == lines
    for chunks in (exporting.csv, exporting.csv_plain):
        assert b"Mine, by hand." in b"".join(chunks(batch))


def test_every_kind_of_download_has_the_edited_value(batch: Batch, tmp_path: Path) -> None:
    own = json.loads(row(batch, 3).answer or b"")
    correct(batch, 3, "Mine, by hand.")
    made_of = downloads(batch, tmp_path)
    assert {"csv", "xlsx", "ods", "parquet"} <= made_of.keys()
    read = {
        "csv": csv_lines(made_of["csv"], ","),
        "xlsx": by_openpyxl(made_of["xlsx"]),
        "ods": by_calamine(made_of["ods"]),
        "parquet": [[one.answer] for one in of_parquet(made_of["parquet"], 2)],
    }
    for kind, table in read.items():
        cells = [cell for line in table for cell in line]
        assert "Mine, by hand." in cells, kind
        assert own not in cells, kind


def test_old_lines_have_no_edit() -> None:
    old = msgspec.json.decode(b'["answered","yes",null,null]', type=Answer)
    assert (old.status, old.edit, old.own) == (AnswerStatus.ANSWERED, None, old)
