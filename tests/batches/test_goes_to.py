"""Which connection a draft goes to, and which one a batch stays with."""

from dataclasses import replace
from typing import Any

import pytest

from batchui.batches import decisions, goes_to, intake, listing, tries
from batchui.batches.catalogues import of_batch
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.cloudflare.catalogue import UnknownModel
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams import connecting
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Membership, Role, Team, User
from tests.batches.conftest import MODEL, TEMPLATE, MakeBatch, rows, work

pytestmark = pytest.mark.django_db
ASK = Ask(model=MODEL, template=TEMPLATE)
NEW = "@cf/acme/brand-new-7b"


@pytest.fixture
def admin(ana: User, team: Team) -> User:
    Membership.objects.create(user=ana, team=team, role=Role.ADMIN)
    return ana


@pytest.fixture
def accounts(sandbox: RunningSandbox, admin: User, team: Team) -> list[Connection]:
    """Two accounts, whose Cloudflare is the sandbox. New batches go to the first."""
    return [
        connecting.connect(
            connecting.unsaved(
                team,
                kind=Connection.Kind.REST,
                account_id=letter * 32,
                token=f"token-{letter}",
                base_url=sandbox.base_url,
            ),
            by=admin,
        )
        for letter in "ab"
    ]


def started(batch: Batch) -> Connection:
    assert decisions.start(batch, by=None, ask=ASK, prepare_now=True)
    batch.refresh_from_db()
    return batch.connection


def test_a_draft_follows_the_default_until_start(
    receive: MakeBatch, accounts: list[Connection], admin: User
) -> None:
    draft = receive(rows(3))
    assert goes_to.connection_of(draft) == accounts[0]
    connecting.make_default(accounts[1], by=admin)
    assert goes_to.connection_of(draft) == accounts[1]
    assert started(draft) == accounts[1]
    connecting.make_default(accounts[0], by=admin)
    assert work(draft).connection == accounts[1]


def test_a_draft_knows_the_models_of_where_it_goes(
    receive: MakeBatch, accounts: list[Connection], admin: User, sandbox: RunningSandbox
) -> None:
    sandbox.change_models({"name": NEW, "like": MODEL})
    draft = receive(rows(3))
    listing.add_model(accounts[1], NEW, task="chat", by=admin)
    assert goes_to.choose(draft, accounts[1])
    draft.refresh_from_db()
    assert of_batch(draft).find(NEW).name == NEW
    assert goes_to.choose(draft, accounts[0])
    draft.refresh_from_db()
    with pytest.raises(UnknownModel):
        of_batch(draft).find(NEW)
    assert goes_to.choose(draft, None)
    connecting.make_default(accounts[1], by=admin)
    draft.refresh_from_db()
    assert of_batch(draft).connection == accounts[1]
    assert decisions.start(draft, by=None, ask=replace(ASK, model=NEW), prepare_now=True)
    assert work(draft).answered == 3
    sandbox.change_models()


def test_a_chosen_connection_is_used_at_start_and_for_tries(
    receive: MakeBatch, accounts: list[Connection], admin: User
) -> None:
    draft = receive(rows(3))
    assert goes_to.choose(draft, accounts[1])
    draft.refresh_from_db()
    assert tries.begin(draft, by=None, ask=ASK).connection == accounts[1]
    connecting.make_default(ensure_sandbox(draft), by=admin)
    assert started(draft) == accounts[1]
    assert not goes_to.choose(draft, accounts[0])


def ensure_sandbox(draft: Batch) -> Connection:
    return Connection.objects.get(team=draft.team, kind=Connection.Kind.SANDBOX)


def test_a_choice_can_be_taken_back(receive: MakeBatch, accounts: list[Connection]) -> None:
    draft = receive(rows(3))
    goes_to.choose(draft, accounts[1])
    goes_to.choose(draft, None)
    draft.refresh_from_db()
    assert goes_to.connection_of(draft) == accounts[0]


def test_a_chosen_connection_that_was_removed_counts_as_not_chosen(
    receive: MakeBatch, accounts: list[Connection], admin: User
) -> None:
    draft = receive(rows(3))
    goes_to.choose(draft, accounts[1])
    draft.refresh_from_db()
    connecting.remove(accounts[1], by=admin)
    assert goes_to.connection_of(draft) == accounts[0]
    assert not goes_to.choose(draft, accounts[1])


def test_nobody_chooses_among_one_account(
    receive: MakeBatch, accounts: list[Connection], admin: User
) -> None:
    draft = receive(rows(3))
    assert len(goes_to.choices(draft, accounts[0])) == 3
    connecting.remove(accounts[1], by=admin)
    assert goes_to.choices(draft, accounts[0]) == []
    assert len(goes_to.choices(draft, ensure_sandbox(draft))) == 2


def test_what_runs_on_a_removed_connection_is_answered(
    receive: MakeBatch, accounts: list[Connection], admin: User, team: Team
) -> None:
    draft = receive(rows(3))
    started(draft)
    connecting.remove(accounts[0], by=admin)
    assert work(draft).status == BatchStatus.FINISHED
    assert intake.run_again(draft, by=None).connection == ensure_connection(team) == accounts[1]


def test_a_retry_stays_with_its_connection_while_that_is_there(
    receive: MakeBatch, accounts: list[Connection], admin: User, sandbox: RunningSandbox
) -> None:
    draft = receive(rows(3))
    started(draft)
    sandbox.script({"fault": "error", "code": 8007, "call": "submit", "times": 9})
    assert work(draft).status == BatchStatus.FAILED
    sandbox.script()
    connecting.make_default(accounts[1], by=admin)
    assert goes_to.connection_for_retry(draft) == accounts[0]
    connecting.remove(accounts[0], by=admin)
    draft.refresh_from_db()
    assert decisions.retry(draft, by=None)
    draft.refresh_from_db()
    assert draft.connection == accounts[1]


def test_a_connection_of_another_team_cannot_be_chosen(
    receive: MakeBatch, accounts: list[Connection], settings: Any
) -> None:
    draft = receive(rows(3))
    theirs = ensure_connection(Team.objects.create(name="Others"))
    assert not goes_to.choose(draft, theirs)
