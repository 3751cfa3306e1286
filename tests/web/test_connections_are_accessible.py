"""axe finds nothing on the pages of connections, in any state."""

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from django.utils import timezone

from batchui.sandbox.testing import RunningSandbox
from batchui.teams import connecting
from batchui.teams.models import Connection, Team, User
from batchui.teams.testing import FINE
from tests.batches.conftest import MakeBatch, rows
from tests.teams.people import join
from tests.web.test_every_page_is_accessible import REVIEWS, State, found_in, page
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.visiting import drafted, signed_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page", "page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_connections(
    page: "Page",
    new_page: NewPage,
    ana: User,
    team: Team,
    sandbox: RunningSandbox,
    start: MakeBatch,
    every_file_is_small: None,
) -> None:
    here, connect = reverse("connections"), reverse("connect", args=["rest"])
    states = [
        State("the sandbox alone", here),
        State("connect", connect),
        State("connect, wrong", connect, ("#connect-save",), "#id_token_error"),
    ]
    found = found_in(page, states)
    for letter in "ab":
        filled = connecting.unsaved(
            team,
            kind=Connection.Kind.REST,
            account_id=letter * 32,
            token=letter * 40,
            base_url=sandbox.base_url,
            name=f"Account {letter}",
        )
        account = connecting.connect(filled, by=ana, tested=FINE)
    start(rows(3))
    draft = drafted(signed_in(ana), REVIEWS.encode(), "goes.csv").get_absolute_url()
    change, pk = "[popovertarget^=change-]", account.pk
    refused = "Cloudflare does not accept the API token."
    Connection.objects.filter(name="Account a").update(
        refused_since=timezone.now(), refused_reason=refused, test_problem=refused
    )
    states = [
        State("several, one refused", here),
        State("its test", here, (f"#test-{pk}",), f"#state-{pk} .good"),
        State("change", here, (change,), "[id^=change-]:popover-open"),
        State("events", here, (change, "[id^=queues-]"), "dialog[id^=queue-][open]"),
        State("rename a connection", here, (change, "[id^=renames-]"), "[id^=rename-][open]"),
        State("remove a connection", here, (change, "[id^=removes-]"), "[id^=remove-][open]"),
        State("a new token", reverse("replace_token", args=[pk])),
        State("where a draft goes", draft, ("#goes-to-button",), "#goes-to-choices"),
    ]
    found |= found_in(page, states)
    found |= found_in(new_page(join(ana)), [State("for members", here)])
    assert found == {}
