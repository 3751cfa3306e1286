"""Ten example rows that a model makes: from what somebody writes to a file."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import call_limit, example_rows
from batchui.batches.catalogues import catalogue_of
from batchui.batches.example_rows import NO_TABLE, as_csv, item_of
from batchui.cloudflare.catalogue import find, models
from batchui.prompts.problems import BadInput
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team
from tests.batches.conftest import MODEL
from tests.cloudflare.server import ScriptedServer, error, reply

pytestmark = pytest.mark.django_db

TABLE = {"columns": ["name", "text"], "rows": [["Ana", "Good, “very” good"], ["Ben", "1\n2"]]}
LINES = [["name", "text"], ["Ana", "Good, “very” good"], ["Ben", "1\n2"]]


def lines(made: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(made.decode(), newline="")))


def result(answer: Any) -> bytes:
    return json.dumps({"response": answer}).encode()


@pytest.mark.parametrize(
    "answer",
    [
        TABLE,
        json.dumps(TABLE),
        f"Here you are:\n```json\n{json.dumps(TABLE, indent=2)}\n```\nEnjoy!",
        {"rows": [dict(zip(TABLE["columns"], row, strict=True)) for row in TABLE["rows"]]},
        [dict(zip(TABLE["columns"], row, strict=True)) for row in TABLE["rows"]],
    ],
)
def test_a_table_is_read_however_the_model_writes_it(answer: Any) -> None:
    assert lines(as_csv(result(answer))) == LINES


def test_what_does_not_fit_is_made_to() -> None:
    odd = {"columns": ["a", "a", " "], "rows": [["1"], ["1", None, 3, "too many"]]}
    assert lines(as_csv(result(odd))) == [["a", "a 2", "column 3"], ["1", "", ""], ["1", "", "3"]]


@pytest.mark.parametrize(
    "answer",
    ["I cannot do that.", "", None, {"rows": []}, {"columns": ["a"]}, {"rows": ["a", "b"]}, [1]],
)
def test_what_is_no_table_is_said_to_be_none(answer: Any) -> None:
    with pytest.raises(BadInput, match="no table"):
        as_csv(result(answer))


@pytest.mark.parametrize("name", [model.name for model in models() if model.task == "chat"])
def test_each_model_is_asked_in_its_own_shape(name: str) -> None:
    model = find(name)
    item = json.loads(item_of(model, "hotel reviews"))
    assert "hotel reviews" in json.dumps(item)
    assert "made-up example data" in json.dumps(item)
    wanted = item.get("response_format", {}).get("json_schema", {})
    assert ("schema" in wanted, bool(wanted)) == (
        model.schema_nesting == "named",
        bool(model.schema_nesting),
    )


def test_the_sandbox_makes_ten_rows(sandbox: RunningSandbox, team: Team) -> None:
    connection = ensure_connection(team)
    model = catalogue_of(connection).find("@cf/meta/llama-3.3-70b-instruct-fp8-fast")
    made = lines(example_rows.make(connection, model=model, about="hotel reviews"))
    assert len(made) == 1 + example_rows.ROWS
    assert {len(row) for row in made} == {len(made[0])}
    assert len({tuple(row) for row in made[1:]}) == example_rows.ROWS  # no two are the same
    assert len(sandbox.calls("run")) == 1


def test_what_goes_wrong_is_said_and_a_lost_answer_may_have_been_charged(
    api: ScriptedServer, team: Team
) -> None:
    connection = ensure_connection(team)
    model = find(MODEL)
    for act, said, charged in (
        (error(3040, 429), "", False),
        (error(5007, 400), "", False),
        (error(8008, 500), "", True),
        (reply(200, {"result": {"response": "no"}, "success": True}), NO_TABLE, False),
    ):
        api.script(act)
        with pytest.raises(BadInput) as problem:
            example_rows.make(connection, model=model, about="x")
        assert said in str(problem.value)
        assert (example_rows.MAYBE_CHARGED in str(problem.value)) == charged


def test_nothing_is_asked_through_a_paused_connection_or_beyond_the_call_limit(
    api: ScriptedServer, team: Team, settings: Any
) -> None:
    connection = ensure_connection(team)
    settings.CALLS_PER_5_MINUTES = 2
    assert call_limit.take(connection, 5) == 1
    with pytest.raises(BadInput, match="Too many calls"):
        example_rows.make(connection, model=find(MODEL), about="x")
    call_limit.pause(connection, until=timezone.now() + timedelta(hours=1), reason="It is full.")
    with pytest.raises(BadInput, match="It is full"):
        example_rows.make(connection, model=find(MODEL), about="x")
    assert api.received == []
