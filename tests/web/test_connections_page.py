"""The page Connections: who sees what, what an administrator changes, and what is never shown."""

import logging
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams import connecting, crypto
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team, User
from batchui.teams.testing import FINE
from tests.batches.conftest import MakeBatch, rows, send_all, work
from tests.teams.people import join, outsider
from tests.web.visiting import HTMX, drafted, html, press_start, said, signed_in

pytestmark = pytest.mark.django_db

ACCOUNT = "0123456789abcdef0123456789abcdef"
TOKEN = "Canary-Xk7_zP2mQ9vR4tY8wB1nC6dF3gH5jK0lS"
NEXT = "Second-Xk7_zP2mQ9vR4tY8wB1nC6dF3gH5jK0LT"
REFUSED = {"fault": "error", "code": 10000}
LIST = "/connections/"


@pytest.fixture
def cloudflare(sandbox: RunningSandbox, settings: Any) -> RunningSandbox:
    """The sandbox in the place of Cloudflare."""
    settings.CLOUDFLARE_API_URL = sandbox.base_url
    return sandbox


def post(web: Client, does: str = "save", **typed: str) -> Any:
    filled = {"account_id": ACCOUNT, "token": TOKEN, "does": does} | typed
    return web.post(reverse("connect", args=["rest"]), filled, headers=HTMX)


def connected(ana: User, address: str, account: str = ACCOUNT, **more: Any) -> Connection:
    filled = connecting.unsaved(
        ana.membership.team,
        kind=Connection.Kind.REST,
        account_id=account,
        token=TOKEN,
        base_url=address,
        **more,
    )
    return connecting.connect(filled, by=ana, tested=FINE)


def listed(web: Client) -> str:
    return said(web.get(LIST))


# -- connecting -----------------------------------------------------------------------------------


def test_what_is_pasted_is_cleaned_tested_and_used_for_new_batches(
    web: Client, team: Team, cloudflare: RunningSandbox
) -> None:
    address = f" https://dash.cloudflare.com/{ACCOUNT.upper()}/ai/workers-ai\n"
    response = post(web, account_id=address, token=f"\u200b “Bearer {TOKEN[:9]}\r\n{TOKEN[9:]}”")
    assert response["HX-Redirect"] == LIST
    stored = ensure_connection(team)
    assert (stored.account_id, stored.name) == (ACCOUNT, "Cloudflare")
    assert crypto.decrypt(stored.token_encrypted) == TOKEN
    page = listed(web)
    assert "New ones go to Cloudflare" in page
    assert f"Cloudflare account 0123…cdef, API token ends in …{TOKEN[-4:]}" in page
    assert "It works." in page


@pytest.mark.parametrize(
    ("code", "place", "sentence"),
    [
        (10000, "id_token", "The API token is not accepted."),
        (7003, "id_account_id", "The account id is not known to Cloudflare."),
        (5018, "", "this is not permitted"),
    ],
)
def test_the_test_says_which_of_token_account_and_permission_is_wrong_and_saves_nothing(
    web: Client, cloudflare: RunningSandbox, code: int, place: str, sentence: str
) -> None:
    for does in ("test", "save"):
        cloudflare.script({"fault": "error", "code": code, "call": "search"})
        response = post(web, does)
        assert response.status_code == 422
        assert sentence in said(response)
        assert not place or f'id="{place}_error"' in html(response)
        assert TOKEN not in html(response)
    assert not Connection.objects.filter(kind="rest").exists()


def test_a_test_of_what_works_saves_nothing(web: Client, cloudflare: RunningSandbox) -> None:
    assert "It works. Nothing is saved yet." in said(post(web, "test"))
    assert not Connection.objects.filter(kind="rest").exists()


def test_while_cloudflare_is_away_it_can_be_saved_untested(
    web: Client, team: Team, settings: Any
) -> None:
    settings.CLOUDFLARE_API_URL = "http://127.0.0.1:9/client/v4"
    away = said(post(web))
    assert "could not be reached" in away
    assert "Save it untested" in away
    assert not Connection.objects.filter(kind="rest").exists()
    assert post(web, "untested").status_code == 200
    assert ensure_connection(team).tested_at is None
    assert "Not tested here yet." in listed(web)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"account_id": ""}, "Paste the account id."),
        ({"account_id": ACCOUNT[:31]}, "this has 31 characters"),
        ({"token": "\u200b “”"}, "Paste the API token."),
    ],
)
def test_what_is_not_filled_in_is_said_without_any_call(
    web: Client, cloudflare: RunningSandbox, typed: dict[str, str], sentence: str
) -> None:
    assert sentence in said(post(web, **typed))
    assert cloudflare.calls() == []


def test_the_same_account_twice_is_refused(
    web: Client, ana: User, cloudflare: RunningSandbox
) -> None:
    connected(ana, cloudflare.base_url, name="Care")
    assert "connected already, as “Care”" in said(post(web))


def test_the_steps_name_the_permissions_and_have_drawings_in_words(web: Client) -> None:
    page = html(web.get(reverse("connect", args=["rest"])))
    for words in ("Workers AI: Read", "Workers AI: Edit", "Get Account ID", "Use REST API"):
        assert words in page
    drawings = re.findall(r'<svg\s+class="picture"[^>]*', page)
    assert len(drawings) == 3
    assert all('role="img"' in one and 'aria-label="Drawing: ' in one for one in drawings)
    assert 'href="https://dash.cloudflare.com/?to=/:account/ai/workers-ai"' in page


# -- who sees and changes what --------------------------------------------------------------------


def test_members_see_which_one_is_used_and_nothing_else(
    ana: User, cloudflare: RunningSandbox
) -> None:
    connected(ana, cloudflare.base_url, name="Care")
    web = signed_in(join(ana))
    page = html(web.get(LIST))
    assert "New ones go to <strong>Care</strong>" in page
    assert "Administrators change connections: Ana." in said(web.get(LIST))
    for hidden in (ACCOUNT, "0123…cdef", TOKEN[-4:], "<dialog", "Test"):
        assert hidden not in page.split("<main")[1]


def test_members_and_other_teams_change_nothing(ana: User, cloudflare: RunningSandbox) -> None:
    connection = connected(ana, cloudflare.base_url)
    before = Connection.objects.values().get(pk=connection.pk)
    pages = ("test_connection", "rename_connection", "default_connection", "remove_connection")
    for person, status in ((join(ana), 403), (outsider(), 404)):
        web = signed_in(person)
        for name in (*pages, "replace_token"):
            address = reverse(name, args=[connection.pk])
            typed = {"name": "Mine", "token": NEXT}
            assert web.post(address, typed).status_code == status, name
        assert web.get(reverse("replace_token", args=[connection.pk])).status_code == status
    assert (
        signed_in(User.objects.get(name="Ben")).get("/connections/connect/rest/").status_code == 403
    )
    assert Connection.objects.values().get(pk=connection.pk) == before
    assert cloudflare.calls() == []


def test_an_unknown_kind_is_not_found(web: Client) -> None:
    assert web.get(reverse("connect", args=["sandbox"])).status_code == 404


def test_the_sandboxs_note_leads_administrators_to_the_page_and_names_them_to_members(
    web: Client, ana: User
) -> None:
    here = reverse("batches")
    assert f'href="{reverse("connect", args=["rest"])}"' in html(web.get(here))
    page = html(signed_in(join(ana)).get(here))
    assert "ask Ana." in page
    assert reverse("connect", args=["rest"]) not in page


# -- changes --------------------------------------------------------------------------------------


def test_an_account_is_renamed_chosen_and_removed(
    web: Client, ana: User, team: Team, cloudflare: RunningSandbox
) -> None:
    first = connected(ana, cloudflare.base_url)
    second = connected(ana, cloudflare.base_url, "f" * 32, name="Research")

    def press(button: str, pk: int, **typed: str) -> str:
        return html(web.post(reverse(button, args=[pk]), typed, follow=True))

    assert "is now called “Care”" in press("rename_connection", first.pk, name="Care")
    assert "Give it a name." in press("rename_connection", first.pk, name=" ")
    assert "New batches go to “Research”" in press("default_connection", second.pk)
    assert ensure_connection(team) == second
    assert "New ones go to Care" in " ".join(press_dialog(web, second).split())
    assert "“Research” was removed" in press("remove_connection", second.pk)
    assert ensure_connection(team) == first
    assert web.post(reverse("test_connection", args=[second.pk])).status_code == 404


def press_dialog(web: Client, connection: Connection) -> str:
    return html(web.get(LIST)).split(f'id="remove-{connection.pk}"')[1].split("</dialog>")[0]


def test_the_environments_account_is_shown_and_not_changed(
    web: Client, team: Team, cloudflare: RunningSandbox, settings: Any
) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = ACCOUNT, TOKEN
    connection = ensure_connection(team)
    page = listed(web)
    assert "come from the environment of the server" in page
    assert "Remove" not in page
    address = reverse("replace_token", args=[connection.pk])
    assert "CLOUDFLARE_API_TOKEN" in html(web.post(address, {"token": NEXT}, follow=True))
    settings.CLOUDFLARE_ACCOUNT_ID = settings.CLOUDFLARE_API_TOKEN = ""
    assert "names this account no longer" in listed(web)
    assert web.post(address, {"token": NEXT}, headers=HTMX)["HX-Redirect"] == LIST
    assert "names this account no longer" not in listed(web)


# -- a token that is refused ----------------------------------------------------------------------


@pytest.fixture
def held(ana: User, start: MakeBatch, cloudflare: RunningSandbox) -> Batch:
    """Its parts wait for a person, as their account's token was refused."""
    connected(ana, cloudflare.base_url, name="Care")
    batch = start(rows(60))
    cloudflare.script(REFUSED | {"call": "submit", "times": 3})
    send_all()
    return batch


def test_administrators_are_told_on_every_page_and_members_who_can_help(
    web: Client, ana: User, held: Batch
) -> None:
    replace = reverse("replace_token", args=[held.connection_id])
    for address in (LIST, reverse("batches"), held.get_absolute_url(), reverse("people")):
        page = html(web.get(address))
        assert "“Care” is not let in." in page, address
        assert "A batch waits." in page
        assert f'<a href="{replace}">Replace the API token</a>' in page
    assert "Who can put it right, and how, stands under Connections." in said(
        web.get(held.get_absolute_url())
    )
    page = html(signed_in(join(ana)).get(reverse("batches")))
    assert "Ana can put it right." in " ".join(page.split())
    assert replace not in page
    assert "is not let in" not in html(signed_in(outsider()).get(reverse("batches")))


@pytest.mark.parametrize("way", ["replaced", "tested"])
def test_once_the_token_is_right_everything_goes_on_and_the_banner_goes(
    web: Client, held: Batch, way: str
) -> None:
    if way == "replaced":
        address = reverse("replace_token", args=[held.connection_id])
        response = web.post(address, {"token": NEXT}, headers=HTMX)
    else:
        address = reverse("test_connection", args=[held.connection_id])
        response = web.post(address, headers=HTMX)
    assert response["HX-Redirect"] == LIST
    assert set(held.parts.values_list("status", flat=True)) == {PartStatus.READY}
    page = html(web.get(LIST))
    assert "3 parts that waited go on." in page
    assert "is not let in" not in page
    stored = Connection.objects.get(pk=held.connection_id)
    assert crypto.decrypt(stored.token_encrypted) == (NEXT if way == "replaced" else TOKEN)
    assert work(held).status == BatchStatus.FINISHED


def test_a_new_token_that_is_wrong_changes_nothing(
    web: Client, held: Batch, cloudflare: RunningSandbox
) -> None:
    cloudflare.script(REFUSED | {"call": "search"})
    address = reverse("replace_token", args=[held.connection_id])
    assert web.post(address, {"token": NEXT}, headers=HTMX).status_code == 422
    stored = Connection.objects.get(pk=held.connection_id)
    assert crypto.decrypt(stored.token_encrypted) == TOKEN
    assert set(held.parts.values_list("status", flat=True)) == {PartStatus.HELD}


def test_a_test_that_finds_it_wrong_says_so_in_its_place(
    web: Client, held: Batch, cloudflare: RunningSandbox
) -> None:
    cloudflare.script(REFUSED | {"call": "search"})
    response = web.post(reverse("test_connection", args=[held.connection_id]), headers=HTMX)
    assert "The API token is not accepted." in said(response)
    assert html(response).lstrip().startswith("<form")
    assert "The API token is not accepted." in listed(web)


# -- where a draft goes ---------------------------------------------------------------------------


def test_where_a_draft_goes_is_said_only_where_a_team_has_several(
    web: Client, ana: User, cloudflare: RunningSandbox, every_file_is_small: None
) -> None:
    draft = drafted(web, rows(3))
    here = draft.get_absolute_url()
    assert "Goes to:" not in html(web.get(here))
    connected(ana, cloudflare.base_url, name="Care")
    assert "Goes to:" not in html(web.get(here))
    second = connected(ana, cloudflare.base_url, "f" * 32, name="Research")
    assert "Goes to: Care" in said(web.get(here))
    web.post(
        reverse("goes_to", args=[draft.pk]), {"choose": second.pk, "template": "Is it {{text}}?"}
    )
    page = web.get(here)
    assert "Goes to: Research" in said(page)
    assert "Is it {{text}}?" in html(page)
    press_start(web, draft, goes_to=str(second.pk))
    draft.refresh_from_db()
    assert draft.connection == second


def test_start_starts_nothing_where_the_page_shows_another_connection(
    web: Client, ana: User, cloudflare: RunningSandbox
) -> None:
    draft = drafted(web, rows(3))
    shown = str(ensure_connection(draft.team).pk)  # the sandbox, which is free
    connected(ana, cloudflare.base_url, name="Care")
    response = press_start(web, draft, goes_to=shown)
    assert "It goes to “Care” now." in html(web.get(response["Location"]))
    draft.refresh_from_db()
    assert draft.status == BatchStatus.DRAFT


def test_a_draft_cannot_be_sent_through_another_teams_connection(
    web: Client, cloudflare: RunningSandbox
) -> None:
    draft = drafted(web, rows(3))
    theirs = connected(outsider(), cloudflare.base_url)
    for chosen in (str(theirs.pk), "", "x", "9" * 30):
        response = web.post(reverse("goes_to", args=[draft.pk]), {"choose": chosen}, follow=True)
        assert "Nothing was changed" in html(response), chosen
    draft.refresh_from_db()
    assert draft.connection.team == draft.team


# -- secrets --------------------------------------------------------------------------------------


def test_every_change_is_in_the_security_log_and_no_secret(
    web: Client, cloudflare: RunningSandbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    post(web)
    connection = Connection.objects.get(kind="rest")
    for name, typed in (
        ("test_connection", {}),
        ("rename_connection", {"name": "Care"}),
        ("replace_token", {"token": NEXT}),
        ("default_connection", {}),
        ("remove_connection", {}),
    ):
        web.post(reverse(name, args=[connection.pk]), typed)
    events = [record.getMessage() for record in caplog.records if record.name == "batchui.security"]
    assert [event for event in events if "connection" in event or "token" in event][-6:] == [
        "connection made",
        "connection tested",
        "connection renamed",
        "token replaced",
        "connection for new batches",
        "connection removed",
    ]
    logged = "".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert TOKEN not in logged
    assert NEXT not in logged
