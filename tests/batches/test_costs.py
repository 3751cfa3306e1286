"""What it costs to send rows again, as far as that can be known."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from batchui.batches import costs
from batchui.batches.costs import Cost
from batchui.batches.models import Attempt, Batch
from batchui.cloudflare import catalogue
from batchui.prompts.model_facts import ROOM
from batchui.teams.models import Connection, Team
from tests.batches.conftest import MODEL, another_account, attempt_on_record, on_record

pytestmark = pytest.mark.django_db

PRICE = catalogue.find(MODEL)
MILLION = 1_000_000


@pytest.fixture(autouse=True)
def account(settings: Any) -> None:
    """An account answers, and costs money."""
    another_account(settings)


def cost(batch: Batch, rows: int = 100) -> Cost:
    return costs.cost_of({batch.pk: rows})


def test_the_rows_that_were_answered_tell_what_others_cost(team: Team) -> None:
    batch = on_record(team, answered=10, prompt_tokens=10 * MILLION, completion_tokens=5 * MILLION)
    assert PRICE.usd_per_m_output is not None
    expected = 100 * (PRICE.usd_per_m_input + PRICE.usd_per_m_output / 2)
    assert cost(batch) == Cost(pytest.approx(expected), is_measured=True, is_free=False)
    assert str(cost(batch)) == f"about ${expected:,.2f}"


def test_before_the_first_answer_the_requests_and_the_longest_answer_tell(team: Team) -> None:
    batch = on_record(team, max_tokens=MILLION, source_size=1)
    part = batch.parts.get()
    for _ in range(2):
        attempt_on_record(part, items=1, payload_size=3 * MILLION)
    # What a restored database puts on record is no request.
    attempt_on_record(part, payload_size=0)
    assert PRICE.usd_per_m_output is not None
    expected = 100 * (PRICE.usd_per_m_input + PRICE.usd_per_m_output)
    found = cost(batch)
    assert found == Cost(pytest.approx(expected), is_measured=False, is_free=False)
    assert str(found).startswith("up to about $")


def test_longer_answers_are_reckoned_with_what_the_model_may_think_besides(team: Team) -> None:
    thinks = catalogue.find("@cf/openai/gpt-oss-20b")
    batch = on_record(
        team, model=thinks.name, answered=10, prompt_tokens=10 * MILLION, completion_tokens=MILLION
    )
    found = costs.cost_of({batch.pk: 100}, longest=MILLION)
    assert thinks.usd_per_m_output is not None
    written = 1 + ROOM["medium"] / MILLION
    expected = 100 * (thinks.usd_per_m_input + written * thinks.usd_per_m_output)
    assert found == Cost(pytest.approx(expected), is_measured=False, is_free=False)


@pytest.mark.parametrize("in_file", [1, 10])
def test_before_the_first_request_the_file_and_what_is_asked_of_each_row_tell(
    team: Team, in_file: int
) -> None:
    batch = on_record(
        team,
        rows=in_file,
        source_size=in_file * MILLION,
        template="t" * 2 * MILLION,
        instruction="i" * 3 * MILLION,
        max_tokens=MILLION,
    )
    assert PRICE.usd_per_m_output is not None
    expected = 100 * (2 * PRICE.usd_per_m_input + PRICE.usd_per_m_output)
    assert cost(batch) == Cost(pytest.approx(expected, rel=1e-9), is_measured=False, is_free=False)


def test_answers_without_their_tokens_tell_nothing_and_tokens_without_answers_neither(
    team: Team,
) -> None:
    fields: dict[str, Any] = {"source_size": 30 * MILLION, "max_tokens": MILLION}
    new = cost(on_record(team, **fields))
    assert not new.is_measured
    assert cost(on_record(team, answered=10, **fields)) == new
    assert cost(on_record(team, failed=10, prompt_tokens=MILLION, **fields)) == new


def test_a_model_whose_answers_have_no_price_costs_what_it_reads(team: Team) -> None:
    embeds = catalogue.find("@cf/baai/bge-base-en-v1.5")
    assert embeds.usd_per_m_output is None
    batch = on_record(team, model=embeds.name, source_size=30 * MILLION, max_tokens=MILLION)
    assert cost(batch).usd == pytest.approx(100 * embeds.usd_per_m_input)


def test_many_batches_take_as_many_queries_as_one(
    team: Team, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    batches = [on_record(team) for _ in range(3)]
    for some in (batches[:1], batches):
        with django_assert_num_queries(2):
            costs.cost_of({batch.pk: 100 for batch in some})


def test_several_batches_cost_their_sum(team: Team) -> None:
    answered: dict[str, Any] = {"answered": 10, "prompt_tokens": 10 * MILLION}
    one, other = on_record(team, **answered), on_record(team, **answered)
    both = costs.cost_of({one.pk: 100, other.pk: 50})
    assert both.usd == pytest.approx(150 * PRICE.usd_per_m_input)
    new = on_record(team)
    assert not costs.cost_of({one.pk: 1, new.pk: 1}).is_measured


def test_the_sandbox_costs_nothing(team: Team) -> None:
    batch, charged = on_record(team), on_record(team, answered=10, prompt_tokens=10 * MILLION)
    sandbox = Connection.objects.create(team=team, kind=Connection.Kind.SANDBOX, account_id="x")
    Batch.objects.filter(pk=batch.pk).update(connection=sandbox)
    assert str(cost(batch)) == "free in the sandbox"
    both = costs.cost_of({batch.pk: 100, charged.pk: 100})
    assert both.usd == pytest.approx(100 * PRICE.usd_per_m_input)
    assert not both.is_free


def test_a_model_that_is_not_known_has_no_price(team: Team) -> None:
    known = on_record(team, answered=10, prompt_tokens=10 * MILLION)
    unknown = on_record(team, model="@cf/nobody/knows")
    assert costs.cost_of({known.pk: 1, unknown.pk: 1}).usd is None
    assert str(cost(unknown)) == "a price that batchui does not know"


def test_what_costs_next_to_nothing_is_not_called_nothing() -> None:
    assert str(Cost(0.0099, is_measured=True, is_free=False)) == "less than $0.01"
    assert str(Cost(0.01, is_measured=True, is_free=False)) == "about $0.01"
    assert str(Cost(1234.5, is_measured=True, is_free=False)) == "about $1,234.50"


# -- charged twice ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attempts", "twice"),
    [
        (["unsure", "answered"], True),
        (["unsure", "accepted"], True),
        (["unsure", "unsure"], True),
        (["quarantined", "answered"], True),
        (["lost", "busy", "answered"], True),
        (["unsure"], False),
        (["quarantined", "busy"], False),
        (["unsure", "not sent", "refused"], False),
        (["answered", "unsure"], False),
        (["answered", "answered"], False),
        (["not sent", "busy", "answered"], False),
    ],
)
def test_a_part_shows_that_it_was_charged_twice_or_may_have_been(
    team: Team, attempts: list[str], twice: bool
) -> None:
    batch = on_record(team, parts=2)
    part, other = batch.parts.order_by("number")
    for number, status in enumerate(attempts, 1):
        made = Attempt(part=part, number=number, items=10, payload_size=1, status=status)
        made.save()
    attempt_on_record(other, number=9, status="answered")
    found = costs.charged_twice(batch.parts.all())
    assert list(found) == ([part] if twice else [])
