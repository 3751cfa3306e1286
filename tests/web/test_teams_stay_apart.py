"""What belongs to one batch or team neither shows nor changes on the pages of another."""

from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import decisions, due, intake, sending
from batchui.batches.models import Batch, Part
from batchui.batches.questions import Choice
from batchui.batches.states import BatchStatus, PartStatus
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, User
from tests.batches.conftest import MODEL, TEMPLATE, MakeBatch, poll_all, rows
from tests.teams.people import join, outsider
from tests.web.visiting import HTMX, STREAMED

pytestmark = pytest.mark.django_db

# In every text of the other team, and in none of ours.
THEIRS = "Wolpertinger"
ACTIONS = (
    *("start", "discard", "stop", "retry", "run_again", "ask_further", "delete", "try_now"),
    *("preview", "read_as"),
)


@pytest.fixture
def theirs(ana: User, sandbox: RunningSandbox) -> Batch:
    """A batch of another team: a part answered, one on hold, one failed, one nobody is sure of."""
    zoe = outsider()
    file = ContentFile(rows(100).replace(b"text number", THEIRS.encode()), f"{THEIRS}.csv")
    batch = intake.receive(file, team=zoe.membership.team, by=zoe, check_now=True)
    asked = Ask(model=MODEL, template=TEMPLATE)
    assert decisions.start(batch, by=zoe, ask=asked, prepare_now=True)
    for part in due.ready_parts(4)[::3]:
        sending.send(part)
    poll_all()
    for number, status in ((2, PartStatus.HELD), (3, PartStatus.DONE), (4, PartStatus.UNSURE)):
        batch.parts.filter(number=number).update(status=status, message=THEIRS)
    batch.parts.filter(number=3).update(failed=25)
    batch.events.update(text=THEIRS)
    Connection.objects.filter(team=zoe.membership.team).update(
        name=THEIRS, kind=Connection.Kind.REST, refused_since=timezone.now(), refused_reason=THEIRS
    )
    return batch


@pytest.fixture
def ours(theirs: Batch, start: MakeBatch) -> Batch:
    """Sixty rows in three parts, nothing sent yet."""
    return start(rows(60))


def content(response: Any) -> str:
    return (b"".join(response) if response.streaming else response.content).decode()


@pytest.mark.parametrize("status", [BatchStatus.QUEUED, BatchStatus.FAILED])
def test_nothing_of_another_batch_shows_on_any_page(
    web: Client, ours: Batch, status: BatchStatus
) -> None:
    Batch.objects.filter(pk=ours.pk).update(status=status)
    names = ("batch", "live", "attention", "parts", "timeline", "asked", "source")
    pages: list[tuple[str, list[Any]]] = [(name, []) for name in names]
    pages += [("row", [2]), ("part", [1]), *(("download", [kind]) for kind in STREAMED)]
    for name, rest in pages:
        headers = HTMX if name == "part" else {}
        response: Any = web.get(reverse(name, args=[ours.pk, *rest]), headers=headers)
        assert response.status_code == 200, name
        shown = content(response)
        assert THEIRS not in shown, name
        assert "banner question" not in shown, name
    for name in ("batches", "people", "connections"):
        assert "banner question" not in content(web.get(reverse(name)))
        assert THEIRS not in content(web.get(reverse(name)))
        assert "Zoe" not in content(web.get(reverse(name)))


def test_a_batch_is_sent_through_a_connection_of_its_team(ours: Batch, theirs: Batch) -> None:
    assert ours.connection.team == ours.team
    assert theirs.connection.team == theirs.team


def test_a_part_is_that_of_the_batch_in_the_address(web: Client, ours: Batch) -> None:
    # Only the other batch has a part 4, and replies to that and to part 1.
    addresses: list[tuple[str, list[int]]] = [("part", [4])]
    addresses += [("raw_reply", [number, 1]) for number in (1, 4)]
    for name, numbers in addresses:
        assert web.get(reverse(name, args=[ours.pk, *numbers])).status_code == 404
    for choice in Choice:
        name = choice.replace("-", "_")
        assert web.post(reverse(name, args=[ours.pk, 4])).status_code == 404
        assert web.get(reverse("confirm", args=[ours.pk, 4, choice])).status_code == 404
    assert Part.objects.get(number=4).status == PartStatus.UNSURE


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("stop", PartStatus.READY),
        ("try_now", PartStatus.HELD),
        ("retry", PartStatus.DONE),
        ("delete", PartStatus.DONE),
        ("run_again", PartStatus.DONE),
    ],
)
def test_what_is_decided_of_one_batch_changes_nothing_of_another(
    web: Client, theirs: Batch, ours: Batch, name: str, status: PartStatus
) -> None:
    def as_it_is() -> list[Any]:
        batch = Batch.objects.filter(pk=theirs.pk).values()
        return [*batch, *theirs.parts.values(), *theirs.events.values()]

    if status == PartStatus.DONE:
        ours.parts.update(status=status, failed=1, answered=9, rows=10)
        Batch.objects.filter(pk=ours.pk).update(status=BatchStatus.PROBLEMS, failed=3)
    ours.parts.update(status=status)
    before = as_it_is()
    assert web.post(reverse(name, args=[ours.pk])).status_code == 302
    assert as_it_is() == before
    assert theirs.team.batches.count() == 1


@pytest.mark.parametrize("name", ACTIONS)
def test_an_address_that_changes_a_batch_is_for_buttons_only(
    web: Client, ours: Batch, name: str
) -> None:
    before = list(Batch.objects.values())
    assert web.get(reverse(name, args=[ours.pk]))["Location"] == ours.get_absolute_url()
    assert list(Batch.objects.values()) == before


@pytest.mark.parametrize("name", [choice.replace("-", "_") for choice in Choice])
def test_an_address_that_decides_about_a_part_is_for_buttons_only(
    web: Client, ours: Batch, name: str
) -> None:
    ours.parts.filter(number=1).update(status=PartStatus.UNSURE)
    assert web.get(reverse(name, args=[ours.pk, 1]))["Location"] == ours.get_absolute_url()
    assert ours.parts.get(number=1).status == PartStatus.UNSURE


@pytest.mark.parametrize(
    "name", ["people_change_role", "people_password_link", "people_remove", "people_withdraw"]
)
def test_an_address_that_changes_people_is_for_buttons_only(
    web: Client, ana: User, name: str
) -> None:
    ben = join(ana)
    assert web.get(reverse(name, args=[ben.membership.pk]))["Location"] == reverse("people")
    ben.refresh_from_db()
    assert ben.is_active
