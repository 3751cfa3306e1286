"""Which batch somebody at the terminal means."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.prompts.problems import BadInput
from batchui.teams.models import Team
from batchui.web.finding import find_batch
from tests.batches.conftest import on_record
from tests.teams.people import outsider

pytestmark = pytest.mark.django_db

MAY = UUID("abcdef00-0000-4000-8000-0000000000ff")
DAY = datetime(2026, 5, 12, 12, tzinfo=UTC)


@pytest.fixture
def may(team: Team) -> Batch:
    return on_record(team, id=MAY, name="May", created_at=DAY)


@pytest.mark.parametrize(
    "called",
    [
        "May",
        str(MAY),
        MAY.hex.upper(),
        "a",
        "abcdef00-0000-4",
        f"http://127.0.0.1:8000/batches/{MAY}/",
        f"/batches/{MAY}",
    ],
)
def test_a_batch_is_known_by_its_name_its_id_and_its_address(may: Batch, called: str) -> None:
    on_record(may.team, id=UUID(int=0xB << 124), name="maybe")
    assert find_batch(may.team, called) == may


@pytest.mark.parametrize("called", ["may", "abcdef01", "abcdee", "", "/", f"{MAY}0", "Mayor"])
def test_nothing_else_is_taken_for_it(may: Batch, called: str) -> None:
    with pytest.raises(BadInput) as raised:
        find_batch(may.team, called)
    assert str(raised.value) == (
        f"There is no batch “{called}”. Write its name as the Batches page shows it, or the "
        "address of its page."
    )


@pytest.mark.parametrize(("low", "high"), [("0" * 32, "f" * 32), ("abc0" + "0" * 28, "abcf" * 8)])
def test_every_id_that_begins_so_is_found(team: Team, low: str, high: str) -> None:
    batches = [on_record(team, id=UUID(end)) for end in (low, high)]
    for batch in batches:
        assert find_batch(team, batch.pk.hex[:4]) == batch


def test_several_are_listed_with_the_beginnings_of_their_ids(may: Batch) -> None:
    other = UUID("abcd0000-0000-4000-8000-000000000000")
    on_record(may.team, id=other, name="May", created_at=DAY.replace(month=6))
    listed = "abcd0000 (“May”, 2026-06-12) and abcdef00 (“May”, 2026-05-12)"
    for called in ("May", "abcd"):
        with pytest.raises(BadInput) as raised:
            find_batch(may.team, called)
        assert str(raised.value) == (
            f"Several batches can be meant by “{called}”: {listed}. Write the beginning of the id "
            "of one of them."
        )
    assert find_batch(may.team, "abcd0").pk == other


def test_neither_another_teams_batch_is_found_nor_a_deleted_one(may: Batch) -> None:
    with pytest.raises(BadInput):
        find_batch(outsider().membership.team, "May")
    Batch.objects.update(deleted_at=timezone.now())
    with pytest.raises(BadInput):
        find_batch(may.team, str(MAY))
