"""What became of a row, in words."""

from typing import Any

import pytest

from batchui.batches import decisions, one_row
from batchui.batches.models import Batch, Part
from batchui.batches.one_row import OneRow
from batchui.batches.results import Result
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from batchui.web.sheet.became import Became, Tokens, became_of
from tests.batches.conftest import (
    MakeBatch,
    attempt_on_record,
    on_record,
    rows,
    send_all,
    work,
)

pytestmark = pytest.mark.django_db


def became(batch: Batch, number: int) -> Became:
    row = one_row.find(batch, number)
    assert row is not None
    return became_of(batch, row)


def on_part(part: Part, status: str = "answered", usage: bytes | None = None) -> Became:
    """Of the first row of a part that is on record alone."""
    result = Result(1, ["a"], status, b'"b"', None, usage)
    return became_of(part.batch, OneRow(part, 0, result))


def test_a_row_waits_for_its_part(sandbox: RunningSandbox, batch: Batch) -> None:
    assert became(batch, 30).sentence == "Part 2 of 3: Queued. Not sent yet."
    send_all()
    assert became(batch, 30).sentence == (
        "Part 2 of 3: Queued. Sent. It waits for its turn in the sandbox."
    )
    assert became(batch, 30).tokens is None


def test_the_try_that_answered_is_said(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "failed", "items": [3], "times": 1})
    batch = work(start(rows(10)))
    assert became(batch, 2).sentence == "Answered at the first try."
    assert became(batch, 5).sentence == "Failed at the first try."
    decisions.retry(batch, by=None)
    assert became(batch, 5).sentence.endswith("Not sent yet. It is asked again.")
    work(batch)
    assert became(batch, 5).sentence == "Answered at the second try."
    assert became(batch, 5).tries == 2
    assert became(batch, 2).tries == 1


def test_a_late_try_is_a_number(team: Team) -> None:
    part = on_record(team).parts.get()
    for _ in range(6):
        attempt_on_record(part, status="answered")
    assert on_part(part).sentence == "Answered at try 6."


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("empty", "Came back empty at the first try."),
        ("unfit", "Came back with something that does not fit at the first try."),
        ("skipped", "It was not sent."),
        ("missing", "Came back without this row at the first try."),
        ("unsent", "It was not sent."),
        ("invalid", "It was not sent."),
    ],
)
def test_rows_without_an_answer(team: Team, status: str, sentence: str) -> None:
    part = on_record(team).parts.get()
    attempt_on_record(part, status="answered")
    assert on_part(part, status).sentence == sentence


def test_a_row_that_no_request_answered_says_no_try(team: Team) -> None:
    part = on_record(team).parts.get()
    attempt_on_record(part, status="lost")
    assert on_part(part, "missing").sentence == "Came back without this row."


def test_a_row_that_another_asks_for_names_it(sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = work(start(b"id,text\n1,same\n2,same\n", ask_once=True))
    assert became(batch, 3).sentence == (
        "Row 2 asks the same. It was asked once, and both have its answer."
    )
    assert became(batch, 3).tokens is None
    assert became(batch, 2).sentence == "Answered at the first try."


# -- tokens and cost ----------------------------------------------------------------------------


def paid(team: Team, **fields: Any) -> Part:
    """A part of ten rows of a batch with an account, whose model costs 0.293 and 2.253 dollars."""
    model = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
    batch = on_record(team, **{"model": model} | fields)
    Connection.objects.update(kind="rest")
    batch.connection.refresh_from_db()
    part = batch.parts.get()
    part.batch = batch
    return part


def test_the_tokens_of_a_row_are_its_own(team: Team) -> None:
    part = paid(team)
    for usage in (
        b'{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}',
        b'{"input_tokens":1000,"output_tokens":100}',
    ):
        assert on_part(part, usage=usage).tokens == Tokens(1000, 100, False, "$0.00052")


@pytest.mark.parametrize(
    "usage",
    [None, b"[]", b"7", b"no json", b'{"prompt_tokens":"x"}', b'{"prompt_tokens":-1}', b"{}"],
)
def test_strange_usage_is_as_none(team: Team, usage: bytes | None) -> None:
    assert on_part(paid(team), usage=usage).tokens is None


def test_else_it_is_the_average_of_the_part(team: Team) -> None:
    part = paid(team)
    part.prompt_tokens, part.completion_tokens, part.answered, part.empty = 1_000, 91, 9, 1
    assert on_part(part).tokens == Tokens(100, 9, True, "$0.000050")
    assert on_part(part, "failed").tokens is None


def test_the_sandbox_is_free(team: Team) -> None:
    part = on_record(team).parts.get()
    tokens = on_part(part, usage=b'{"prompt_tokens":5,"completion_tokens":6}').tokens
    assert tokens == Tokens(5, 6, False, "free in the sandbox")


def test_an_unknown_price_is_not_said(team: Team) -> None:
    part = paid(team, model="@cf/nobody/knows")
    tokens = on_part(part, usage=b'{"prompt_tokens":5,"completion_tokens":6}').tokens
    assert tokens == Tokens(5, 6, False, "")
