"""A draft is its author's: colleagues read and copy it, and change nothing."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from batchui.batches import saved_questions, tries
from batchui.batches.models import Batch, Event, Export, SavedQuestion, TriedRow, Try
from batchui.batches.states import BatchStatus
from batchui.teams.models import Team, User
from tests.batches.conftest import MODEL, on_record, rows
from tests.teams.people import join, outsider
from tests.web.visiting import HTMX, answers, drafted, html, said, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(web: Client) -> Batch:
    """Ana's."""
    batch = drafted(web, rows(3))
    Batch.objects.update(template="Rate {{text}}", model=MODEL)
    batch.refresh_from_db()
    return batch


@pytest.fixture
def ben(ana: User) -> Client:
    return signed_in(join(ana))


def as_it_is() -> list[dict[str, object]]:
    return list(Batch.objects.values())


def test_a_colleague_reads_it_and_is_told_whose_it_is(ben: Client, draft: Batch) -> None:
    page = ben.get(draft.get_absolute_url())
    assert "This is a draft of Ana," in said(page)
    assert "Rate {{text}}" in said(page)
    assert "text number 1" in said(page)
    assert reverse("start", args=[draft.pk]) not in html(page)
    assert reverse("discard", args=[draft.pk]) not in html(page)


@pytest.mark.parametrize("name", ["preview", "read_as", "start"])
def test_a_colleague_changes_nothing(ben: Client, draft: Batch, name: str) -> None:
    before = as_it_is()
    filled = answers(draft, template="Other {{text}}", encoding="latin-1")
    told = ben.post(reverse(name, args=[draft.pk]), filled, follow=True)
    assert "This draft is Ana’s, so nothing was changed." in html(told)
    fragment = ben.post(reverse(name, args=[draft.pk]), filled, headers=HTMX)
    assert fragment["HX-Redirect"] == draft.get_absolute_url()
    assert as_it_is() == before


# For each kind of place in an address, something that fits it.
FILLED = {"int": 1, "uuid": uuid4(), "slug": "summarise", "str": "csv"}


def draft_addresses(
    resolver: URLResolver | None = None, before: str = ""
) -> Iterator[tuple[str, dict[str, str]]]:
    """Every address of a batch: its route, and the kinds of its places by their names."""
    for one in (resolver or get_resolver()).url_patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from draft_addresses(one, route)
        elif isinstance(one, URLPattern) and route.startswith("batches/<uuid:pk>/"):
            yield route, {name: kind for kind, name in re.findall(r"<(\w+):(\w+)>", route)}


def all_that_is_known() -> list[dict[str, Any]]:
    """What people decide about batches. A survey is taken when a page is looked at."""
    tables: tuple[type[Model], ...] = (Batch, Try, TriedRow, SavedQuestion, Event, Export)
    found = [one for table in tables for one in table._default_manager.order_by("pk").values()]
    return [{name: row[name] for name in row if not name.startswith("survey")} for row in found]


@pytest.mark.usefixtures("every_file_is_small")
def test_a_colleague_changes_nothing_at_any_address_but_copies_it(
    ben: Client, web: Client, draft: Batch, ana: User
) -> None:
    tries.begin(draft, by=ana, ask=draft.ask)
    saved_questions.save(draft, "Rating", by=ana)
    FILLED["saved"] = SavedQuestion.objects.get().pk
    before, addresses = all_that_is_known(), dict(draft_addresses())
    assert len(addresses) > 40
    for route, places in addresses.items():
        address = "/" + route
        for name, kind in places.items():
            value = draft.pk if name == "pk" else FILLED.get(name, FILLED[kind])
            address = address.replace(f"<{kind}:{name}>", str(value))
        filled = answers(draft, template="Other {{id}}", name="Other", question_name="Other")
        response = ben.post(address, filled)
        assert response.status_code < 500, route
        b"".join(response)  # what is streamed is closed at its end
        if route.endswith("/run-again/"):
            Batch.objects.exclude(pk=draft.pk).delete()
        assert all_that_is_known() == before, route
    # The same with her own draft changes something, so that what is sent does fit.
    web.post(reverse("use_saved", args=[draft.pk, FILLED["saved"]]), answers(draft))
    assert all_that_is_known() != before


def test_only_an_administrator_besides_discards_it(ben: Client, web: Client, ana: User) -> None:
    bens = drafted(ben, rows(3))
    cem = signed_in(join(ana, name="Cem", email="cem@example.com"))
    cem.post(reverse("discard", args=[bens.pk]))
    bens.refresh_from_db()
    assert bens.deleted_at is None
    assert reverse("discard", args=[bens.pk]) in html(web.get(bens.get_absolute_url()))
    web.post(reverse("discard", args=[bens.pk]))
    bens.refresh_from_db()
    assert bens.deleted_at is not None


def test_a_corrected_file_does_not_replace_a_colleagues_draft(ben: Client, draft: Batch) -> None:
    file = SimpleUploadedFile("texts.csv", rows(4))
    ben.post(f"{reverse('new')}?instead={draft.pk}", {"file": file})
    draft.refresh_from_db()
    assert draft.deleted_at is None
    assert Batch.objects.exclude(pk=draft.pk).get().template == ""


def test_a_colleague_copies_it_to_a_draft_of_their_own(ben: Client, draft: Batch) -> None:
    page = html(ben.get(draft.get_absolute_url()))
    assert f'action="{reverse("run_again", args=[draft.pk])}"' in page
    assert "Copy to a draft of mine" in page
    ben.post(reverse("run_again", args=[draft.pk]))
    copy = Batch.objects.exclude(pk=draft.pk).get()
    assert (copy.template, copy.created_by) == (draft.template, User.objects.get(name="Ben"))
    assert "This is a draft of" not in said(ben.get(copy.get_absolute_url()))


def test_the_author_and_who_finds_one_of_the_terminal_change_it(
    web: Client, ben: Client, draft: Batch
) -> None:
    for browser in (web, ben):
        ask = browser.post(
            reverse("preview", args=[draft.pk]), answers(draft, template="New"), headers=HTMX
        )
        assert ask.status_code == 200
        assert Batch.objects.get().template == "New"
        Batch.objects.update(created_by=None, template="")


# -- in the history -----------------------------------------------------------------------------


def fold(web: Client, whose: str) -> str:
    """The markup of a fold; "" if there is none."""
    page = html(web.get(reverse("batches")))
    found = re.search(rf'<details[^>]*id="drafts-{whose}".*?</details>', page, re.DOTALL)
    return found[0] if found else ""


def test_drafts_stand_in_folds_and_not_in_the_history(
    web: Client, ben: Client, draft: Batch, team: Team
) -> None:
    ended = on_record(team, status=BatchStatus.FINISHED, name="ended")
    assert (f"batch-{draft.pk}" in fold(web, "mine"), fold(web, "theirs")) == (True, "")
    assert (fold(ben, "mine"), f"batch-{draft.pk}" in fold(ben, "theirs")) == ("", True)
    page = html(web.get(reverse("batches")))
    assert page.count(f'id="batch-{draft.pk}"') == 1
    assert f'id="batch-{ended.pk}"' not in fold(web, "mine")
    found = html(web.get(reverse("batches"), {"status": "draft"}))
    assert f'id="batch-{draft.pk}"' in found
    assert 'id="drafts-mine"' not in found
    assert 'id="drafts' not in html(signed_in(outsider()).get(reverse("batches")))


def test_few_drafts_of_ones_own_are_unfolded(web: Client, ben: Client, draft: Batch) -> None:
    assert " open" in fold(web, "mine")[:80]
    assert " open" not in fold(ben, "theirs")[:80]
    for _ in range(3):
        on_record(draft.team, status=BatchStatus.DRAFT, created_by=draft.created_by, parts=0)
    assert " open" not in fold(web, "mine")[:80]


def test_a_fold_shows_the_newest_and_leads_to_all(web: Client, ana: User, team: Team) -> None:
    for _ in range(30):
        on_record(team, status=BatchStatus.DRAFT, created_by=ana, parts=0)
    shown = fold(web, "mine")
    assert shown.count('id="batch-') == 50  # a line and its link
    assert "All drafts of the team" in shown
    assert ">30</span>" in shown


def test_a_draft_that_is_being_read_follows_in_its_fold(web: Client, draft: Batch) -> None:
    Batch.objects.update(status=BatchStatus.CHECKING)
    assert f"seen={draft.pk}." in html(web.get(reverse("batches")))
