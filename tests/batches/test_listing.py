"""The models of an account are read from it, kept, and told of when they change."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches.catalogues import NO_LONGER, TYPED_IN, catalogue_of
from batchui.batches.known_models import KnownModel, ModelListing
from batchui.batches.listing import add_model, refresh_due, refresh_models
from batchui.cloudflare import catalogue
from batchui.prompts.problems import BadInput
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team, User

pytestmark = pytest.mark.django_db

LLAMA, SCOUT = catalogue.DEFAULT_MODEL, "@cf/meta/llama-4-scout-17b-16e-instruct"
BGE_M3, NEW = "@cf/baai/bge-m3", "@cf/acme/brand-new-7b"


@pytest.fixture
def connection(sandbox: RunningSandbox, team: Team) -> Any:
    yield ensure_connection(team)
    sandbox.change_models()


def read(sandbox: RunningSandbox, connection: Connection, *changes: dict[str, Any]) -> Any:
    """Let the sandbox list these models, and read them; returns the catalogue then."""
    sandbox.change_models(*changes)
    assert refresh_models(connection) == ""
    return catalogue_of(connection)


def test_before_the_first_reading_the_bundled_facts_answer(connection: Connection) -> None:
    known = catalogue_of(connection)
    assert known.models() == catalogue.models()
    assert known.find(LLAMA) == catalogue.find(LLAMA)
    assert known.remark(LLAMA) == ""


def test_the_listing_of_the_sandbox_is_that_of_the_catalogue(
    sandbox: RunningSandbox, connection: Connection
) -> None:
    known = read(sandbox, connection)
    assert {one.name for one in known.models()} == {one.name for one in catalogue.models()}
    assert not any(known.remark(one.name) for one in known.models())
    assert not KnownModel.objects.filter(name__contains="whisper").exists()


def test_a_price_that_changes_is_used_and_told_of(
    sandbox: RunningSandbox, connection: Connection
) -> None:
    read(sandbox, connection)
    known = read(sandbox, connection, {"name": LLAMA, "usd_input": 9.5})
    assert known.find(LLAMA).usd_per_m_input == 9.5
    assert known.remark(LLAMA) == (
        "Its price has changed; it was $0.29 and $2.25 for a million tokens."
    )
    later = timezone.now() + timedelta(days=15)
    assert known.remark(LLAMA, now=later) == ""


@pytest.mark.parametrize("change", [{"gone": True}, {"flagged": False}])
def test_a_model_that_is_gone_is_not_offered_any_more_and_told_of(
    sandbox: RunningSandbox, connection: Connection, change: dict[str, bool]
) -> None:
    read(sandbox, connection)
    known = read(sandbox, connection, {"name": SCOUT, **change})
    assert SCOUT not in {one.name for one in known.models()}
    assert known.remark(SCOUT) == NO_LONGER
    assert known.find(SCOUT).label == "Llama 4 Scout"
    assert read(sandbox, connection).remark(SCOUT) == ""


def test_a_model_that_the_first_listing_lacks_is_told_of(
    sandbox: RunningSandbox, connection: Connection
) -> None:
    known = read(sandbox, connection, {"name": SCOUT, "gone": True})
    assert known.remark(SCOUT) == NO_LONGER
    assert known.remark(BGE_M3) == ""


def test_a_planned_end_is_told_of(sandbox: RunningSandbox, connection: Connection) -> None:
    known = read(sandbox, connection, {"name": SCOUT, "withdrawn_on": "2099-03-04T10:00:00Z"})
    assert known.remark(SCOUT).startswith("Cloudflare withdraws it on 4 March 2099: choose")
    past = read(sandbox, connection, {"name": SCOUT, "withdrawn_on": "2020-03-04"})
    assert "planned to withdraw it on 4 March 2020" in past.remark(SCOUT)


def test_a_new_model_is_offered_with_what_its_schema_says(
    sandbox: RunningSandbox, connection: Connection
) -> None:
    read(sandbox, connection)
    known = read(sandbox, connection, {"name": NEW, "like": LLAMA})
    model = known.find(NEW)
    assert model in known.models()
    assert (model.label, model.task, model.item_format) == ("brand-new-7b", "chat", "messages")
    assert model.usd_per_m_output == 2.253
    assert known.remark(NEW) == "New in Cloudflare's list."
    assert len(sandbox.calls("schema")) == 1
    read(sandbox, connection, {"name": NEW, "like": LLAMA})
    assert len(sandbox.calls("schema")) == 1


def test_a_listing_that_does_not_come_changes_nothing(
    sandbox: RunningSandbox, connection: Connection
) -> None:
    read(sandbox, connection)
    sandbox.script({"fault": "error", "code": 10000, "call": "search", "times": 0})
    why = refresh_models(connection)
    assert why != ""
    assert ModelListing.objects.get().problem == why
    assert catalogue_of(connection).find(LLAMA).listed


def test_it_is_read_daily_and_soon_again_where_it_did_not_come(
    sandbox: RunningSandbox, connection: Connection
) -> None:
    assert refresh_due()
    assert len(searches := sandbox.calls("search")) > 0
    assert not refresh_due()
    assert len(sandbox.calls("search")) == len(searches)
    a_day_ago = timezone.now() - timedelta(hours=25)
    ModelListing.objects.update(read_at=a_day_ago)
    refresh_due()
    assert len(sandbox.calls("search")) == len(searches)  # asked for within the hour
    ModelListing.objects.update(tried_at=a_day_ago)
    refresh_due()
    assert len(sandbox.calls("search")) > len(searches)


def test_the_list_of_a_connection_that_takes_no_new_batches_is_left_alone(
    sandbox: RunningSandbox, connection: Connection
) -> None:
    Connection.objects.update(removed_at=timezone.now())
    assert not refresh_due()
    assert sandbox.calls("search") == []
    Connection.objects.update(removed_at=None)
    assert refresh_due()


def test_an_administrator_types_a_model_in(
    sandbox: RunningSandbox, connection: Connection, ana: User
) -> None:
    read(sandbox, connection)
    add_model(connection, BGE_M3, task="", by=ana)
    add_model(connection, f" {NEW} ", task="chat", by=ana)
    known = catalogue_of(connection)
    assert {BGE_M3, NEW} <= {one.name for one in known.models()}
    assert known.remark(NEW) == known.remark(BGE_M3) == TYPED_IN
    assert not known.find(NEW).has_price
    assert known.find(BGE_M3).item_format == "contexts"
    assert {BGE_M3, NEW} <= {one.name for one in read(sandbox, connection).models()}


@pytest.mark.parametrize(("name", "task"), [("no name!", "chat"), (NEW, "sing"), ("", "chat")])
def test_what_is_no_model_is_not_added(
    connection: Connection, ana: User, name: str, task: str
) -> None:
    with pytest.raises(BadInput):
        add_model(connection, name, task=task, by=ana)
    assert not KnownModel.objects.exists()
