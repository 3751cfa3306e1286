"""Batches whose answers are wanted in columns: what is sent, what comes back, what fits."""

import json
from typing import Any

import pytest

from batchui.batches import decisions, intake
from batchui.batches.answer_reading import read
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.results import Result
from batchui.batches.sheet import pages
from batchui.batches.sheet.selection import parse
from batchui.batches.states import BatchStatus
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_fitting import fields_of
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import CHAT_COMPLETIONS, MakeBatch, accepted, rows, send_all, work

TONE = AnswerColumn("tone", "one_of", ("good", "mixed", "bad"))
SCORE = AnswerColumn("score", "number", (), "From 0 to 10")
TOPICS = AnswerColumn("topics", "several_of", ("price", "staff", "room"))
COLUMNS = (TONE, SCORE, TOPICS, AnswerColumn("refund", "yes_no"), AnswerColumn("why"))
GPT_OSS = "@cf/openai/gpt-oss-20b"


def all_rows(batch: Batch) -> list[Result]:
    return pages.page(batch, offset=0, limit=100)


@pytest.mark.django_db
def test_the_columns_are_kept_with_the_batch(start: MakeBatch) -> None:
    batch = start(rows(3), answer_columns=COLUMNS)
    assert Batch.objects.get(pk=batch.pk).ask.answer_columns == COLUMNS
    assert start(rows(3)).ask.answer_columns == ()


@pytest.mark.django_db
@pytest.mark.parametrize("model", ["@cf/meta/llama-3.3-70b-instruct-fp8-fast", CHAT_COMPLETIONS])
def test_answers_come_back_as_values_of_their_columns(
    sandbox: RunningSandbox, start: MakeBatch, model: str
) -> None:
    batch = work(accepted(start, model=model, answer_columns=COLUMNS))
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 10)
    for row in all_rows(batch):
        tone, score, topics, refund, why = fields_of(row.answer, COLUMNS)
        assert tone in TONE.choices
        assert set(topics) <= set(TOPICS.choices) if isinstance(topics, list) else False
        assert isinstance(score, int | float) or score is not None
        assert isinstance(refund, bool)
        assert isinstance(why, str)
        assert (row.answer or b"").startswith(b"{")


@pytest.mark.django_db
def test_a_model_without_a_schema_is_told_in_words(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(accepted(start, model=GPT_OSS, answer_columns=COLUMNS))
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 10)


@pytest.mark.django_db
@pytest.mark.parametrize("model", ["@cf/meta/llama-4-scout-17b-16e-instruct", CHAT_COMPLETIONS])
@pytest.mark.parametrize(
    ("form", "why"),
    [
        ("words", "The answer is not the JSON object"),
        ("cut", "The answer ends in the middle"),
        ("other", "The answer has no “tone”, “score”, “topics”, “refund” and “why”."),
    ],
)
def test_an_answer_that_does_not_fit_is_kept_and_says_why(
    sandbox: RunningSandbox, start: MakeBatch, model: str, form: str, why: str
) -> None:
    sandbox.script({"fault": "unfit", "form": form, "items": [2]})
    batch = work(accepted(start, model=model, answer_columns=COLUMNS))
    assert (batch.status, batch.answered, batch.unfit) == (BatchStatus.PROBLEMS, 9, 1)
    [row] = pages.page(batch, parse("attention"), offset=0, limit=10)
    assert (row.row, row.status) == (4, "unfit")
    assert (row.error or "").startswith(why)
    assert row.answer
    assert Attempt.objects.get().in_vain == 1


@pytest.mark.django_db
def test_json_in_a_code_fence_fits(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "unfit", "form": "fenced", "every": 1})
    batch = work(accepted(start, answer_columns=COLUMNS))
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 10)
    assert all(json.loads(row.answer or b"")["tone"] in TONE.choices for row in all_rows(batch))


@pytest.mark.django_db
@pytest.mark.parametrize("columns", [(), COLUMNS])
def test_json_whose_every_field_is_blank_is_empty(
    sandbox: RunningSandbox, start: MakeBatch, columns: tuple[AnswerColumn, ...]
) -> None:
    sandbox.script({"fault": "empty", "form": "text", "items": [0, 5]})
    batch = work(accepted(start, answer_columns=columns))
    assert (batch.answered, batch.empty) == (8, 2)


@pytest.mark.django_db
def test_answers_that_do_not_fit_are_asked_again(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "unfit", "items": [2, 3]})
    batch = work(accepted(start, answer_columns=COLUMNS))
    assert batch.can_retry
    assert decisions.retry(batch, by=None)
    assert Part.objects.get().unfit == 0
    send_all()
    batch = work(batch)
    assert (batch.status, batch.answered, batch.unfit) == (BatchStatus.FINISHED, 10, 0)
    assert Attempt.objects.get(number=2).positions == [2, 3]


@pytest.mark.django_db
def test_rows_that_ask_the_same_get_the_answer_that_does_not_fit_too(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "unfit", "form": "words", "items": [0]})
    batch = start(b"id,text\n1,same\n2,same\n", answer_columns=COLUMNS, ask_once=True)
    batch = work(batch)
    first, copy = all_rows(batch)
    assert (first.status, copy.status, batch.unfit) == ("unfit", "unfit", 2)
    assert copy.answer == first.answer
    assert (copy.error or "").startswith("Asked once, with row 2: The answer is not the JSON")


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"tone": "good", "score": 3}, "answered"),
        ({"tone": "", "score": None}, "empty"),
        ({"tone": None, "score": " "}, "empty"),
        ({"tone": "good", "score": None}, "answered"),
        ({"tone": "angry", "score": 3}, "unfit"),
        ({}, "unfit"),
        ('{"tone": "Good", "score": "3"}', "answered"),
        ('Here:\n```\n{"tone": "bad",\n"score": 1}\n```', "answered"),
        ('I think {"tone": "bad", "score": 1} is right', "answered"),
        ("no idea", "unfit"),
        (3, "unfit"),
    ],
)
def test_what_an_answer_comes_to(answer: Any, status: str) -> None:
    raw = json.dumps(answer).encode()
    found, kept, error = read(raw, (TONE, SCORE))
    assert found == status
    assert bool(error) == (status != "answered")
    assert b"\n" not in kept
    if found == "unfit" and isinstance(answer, str):
        assert kept == raw


@pytest.mark.django_db
def test_a_further_run_asks_for_the_same_columns(start: MakeBatch, team: Team) -> None:
    again = intake.run_again(start(rows(3), answer_columns=COLUMNS), by=None)
    assert again.ask.answer_columns == COLUMNS
