"""The pages with which a request that was sent elsewhere is looked up."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import checking, intake, look_ups
from batchui.batches.look_up_models import LookUp
from batchui.batches.models import Batch
from batchui.prompts.problems import BadInput
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from tests.batches.conftest import MODEL
from tests.batches.test_look_ups import ASKED, ID, begun, kept, looked, sent
from tests.teams.people import join, outsider
from tests.web.visiting import HTMX, html, said, signed_in

pytestmark = pytest.mark.django_db

FORM = "begin_look_up"


@pytest.fixture
def answered(sandbox: RunningSandbox, team: Team, ana: User) -> Batch:
    """The batch of a request that was looked up."""
    return kept(looked(begun(team, ana, sent(sandbox, team, *ASKED))))


def test_the_form_is_reached_from_a_new_batch_and_leads_to_how_far_it_is(web: Client) -> None:
    assert reverse(FORM) in html(web.get(reverse("new")))
    assert MODEL in html(web.get(reverse(FORM)))  # offered
    pasted = json.dumps({"result": {"request_id": ID, "model": MODEL, "status": "queued"}})
    answer = web.post(reverse(FORM), {"request_id": pasted}, headers=HTMX)
    look_up = LookUp.objects.get()
    assert (look_up.request_id, look_up.model) == (ID, MODEL)
    page = reverse("look_up", args=[look_up.pk])
    assert answer["HX-Redirect"] == page
    shown = said(web.get(page))
    assert "Looking" in shown
    assert "You can close this page" in shown
    assert ID in shown
    assert web.post(reverse(FORM), {"request_id": ID, "model": MODEL})["Location"] == page


def test_what_is_wrong_stands_at_its_field_and_what_was_written_stays(web: Client) -> None:
    answer = web.post(reverse(FORM), {"request_id": ID}, headers=HTMX)
    assert answer.status_code == 422
    assert "Write the model that was asked" in said(answer)
    assert f'value="{ID}"' in html(answer)
    assert "Paste the request id" in said(web.post(reverse(FORM), {"model": MODEL}))
    refused = json.dumps({"success": False, "errors": [{"code": 10000, "message": "no"}]})
    answer = web.post(reverse(FORM), {"request_id": refused, "model": MODEL}, headers=HTMX)
    assert "This reply has no request_id" in said(answer)
    assert not LookUp.objects.exists()


@pytest.mark.parametrize("name", ["responses", "results"])
def test_a_reply_with_the_answers_is_not_said_to_be_refused(web: Client, name: str) -> None:
    reply = json.dumps({"success": True, "result": {name: [{"id": 0, "success": True}]}})
    page = said(web.post(reverse(FORM), {"request_id": reply, "model": MODEL}, headers=HTMX))
    assert "This reply has the answers, but not the id of its request." in page
    assert "Nothing needs to be sent again." in page


def test_how_far_it_is_follows_until_it_is_a_batch(
    web: Client, sandbox: RunningSandbox, team: Team
) -> None:
    look_up = begun(team, request_id=sent(sandbox, team, *ASKED))
    page = reverse("look_up", args=[look_up.pk])
    LookUp.objects.update(status="running", looks=3, looked_at=timezone.now())
    shown = web.get(page, headers=HTMX)
    assert "Running" in said(shown)
    assert "asked 3 times" in said(shown)
    assert f'hx-get="{page}"' in html(shown)
    batch = kept(looked(look_up))
    assert web.get(page, headers=HTMX)["HX-Redirect"] == batch.get_absolute_url()
    assert web.get(page)["Location"] == batch.get_absolute_url()


def test_one_that_is_not_there_says_so_and_can_be_corrected_looked_up_again_or_forgotten(
    web: Client, sandbox: RunningSandbox, team: Team
) -> None:
    look_up = looked(begun(team))
    shown = web.get(reverse("look_up", args=[look_up.pk]))
    assert "No answers" in said(shown)
    assert look_up.message in said(shown)
    assert "hx-trigger" not in html(shown).split('id="look-up-state"')[1].split(">")[0]
    again = f"{reverse(FORM)}?request_id={ID}&model={MODEL}"
    form = html(web.get(again))
    assert f'value="{ID}"' in form
    assert f'value="{MODEL}"' in form
    web.post(reverse("look_again", args=[look_up.pk]))
    look_up.refresh_from_db()
    assert look_up.is_open
    web.post(reverse("forget_look_up", args=[look_up.pk]))
    assert not LookUp.objects.exists()


def test_a_team_sees_those_under_way_above_its_history(
    web: Client, sandbox: RunningSandbox, team: Team, ana: User
) -> None:
    look_up = begun(team, ana, sent(sandbox, team, *ASKED))
    page = html(signed_in(join(ana)).get(reverse("batches")))
    assert reverse("look_up", args=[look_up.pk]) in page
    assert f"seen={look_up.pk}" in page
    kept(looked(look_up))
    seen = {"seen": [str(look_up.pk), "nonsense"]}
    ended = web.get(reverse("look_ups"), seen, headers=HTMX)
    assert "its answers are there" in said(ended)
    assert "hx-get" not in html(ended)  # nothing is under way any more
    another = begun(team, ana)
    both = html(web.get(reverse("look_ups"), seen, headers=HTMX))
    assert f"?seen={another.pk}&amp;seen={look_up.pk}" in both


def test_its_batch_has_a_sheet_and_offers_nothing_that_would_send_it(
    web: Client, answered: Batch
) -> None:
    here = answered.get_absolute_url()
    sheet = html(web.get(here))
    assert "external_reference" in sheet
    assert "[sandbox]" in sheet
    for action in ("run_again", "retry", "confirm_ask_again"):
        assert reverse(action, args=[answered.pk]) not in sheet
    assert 'class="ticked"' not in sheet
    first = answered.first_row
    row = html(web.get(reverse("row", args=[answered.pk, first])))
    assert "row-again" not in row
    asked = said(web.get(reverse("asked", args=[answered.pk])))
    assert "It was sent elsewhere" in asked
    assert answered.look_up.request_id in asked
    assert "was looked up" in said(web.get(reverse("timeline", args=[answered.pk])))
    for tab in ("attention", "parts", "choose_run", "choose_download", "glance"):
        assert web.get(reverse(tab, args=[answered.pk])).status_code == 200
    assert web.get(reverse("row_reply", args=[answered.pk, first]), headers=HTMX).status_code == 200
    with pytest.raises(BadInput, match="only its answers are known"):
        intake.run_again(answered, by=None)
    assert "only its answers are known" in html(
        web.post(reverse("run_again", args=[answered.pk]), follow=True)
    )


def test_a_further_question_can_be_asked_of_its_answers(web: Client, answered: Batch) -> None:
    shown = web.post(reverse("ask_further", args=[answered.pk]), follow=True)
    draft = Batch.objects.get(asked_after=answered)
    checking.check_file(draft.pk)
    draft.refresh_from_db()
    assert "answer" in draft.format.columns
    assert not draft.is_looked_up
    assert draft.name in said(shown)


def test_another_team_finds_nothing_of_it(sandbox: RunningSandbox, team: Team, ana: User) -> None:
    look_up = begun(team, ana)
    stranger = signed_in(outsider())
    assert stranger.get(reverse("look_up", args=[look_up.pk])).status_code == 404
    for action in ("look_again", "forget_look_up"):
        assert stranger.post(reverse(action, args=[look_up.pk])).status_code == 404
    seen: dict[str, Any] = {"seen": str(look_up.pk)}
    assert ID[:8] not in html(stranger.get(reverse("look_ups"), seen, headers=HTMX))
    assert ID[:8] not in html(stranger.get(reverse("batches")))
    assert look_ups.open_of(team).count() == 1
