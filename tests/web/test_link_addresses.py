"""Links for colleagues are not made for this computer alone without a word."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.teams.models import User
from batchui.web.link_addresses import is_of_this_computer
from tests.teams.people import join
from tests.web.visiting import HTMX, html, said

pytestmark = pytest.mark.django_db

LAN = "http://10.0.0.5:8000"


def made(web: Client, name: str = "people_invite", *args: object, **typed: str) -> str:
    """The address in the link that is made at 127.0.0.1:8000."""
    page = html(
        web.post(
            reverse(name, args=args),
            {"role": "member", **typed},
            headers=HTMX,
            HTTP_HOST="127.0.0.1:8000",
        )
    )
    found = re.search(r'id="made-link"\s+value="(http://[^/"]+)/join/', page)
    assert found, page
    assert ("works on this computer alone" in page) is is_of_this_computer(found[1])
    return found[1]


def people_page(web: Client, host: str = "127.0.0.1:8000") -> str:
    return said(web.get(reverse("people"), HTTP_HOST=host))


def test_where_only_this_computer_is_served_the_page_says_what_to_do(
    web: Client, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
    shown = people_page(web)
    assert "That address works on this computer alone, and so would the link." in shown
    assert "python3 manage.py up --host 0.0.0.0" in shown
    assert made(web) == "http://127.0.0.1:8000"


def test_the_address_of_the_network_is_offered_and_taken(
    web: Client, ana: User, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", "ada", "10.0.0.5"]
    ben = join(ana).membership.pk
    page = html(web.get(reverse("people"), HTTP_HOST="127.0.0.1:8000"))
    assert f'<input type="radio" name="at" value="{LAN}" checked>' in page
    assert 'value="http://ada:8000"' in page
    assert made(web, at=LAN) == made(web, "people_password_link", ben, at=LAN) == LAN
    assert made(web, at="") == "http://127.0.0.1:8000"


def test_no_other_address_is_ever_in_a_link(web: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["127.0.0.1", "10.0.0.5"]
    for at in ("http://evil.example", "http://10.0.0.5:9", "//10.0.0.5:8000"):
        assert made(web, at=at) == "http://127.0.0.1:8000"


def test_who_came_by_the_address_of_the_network_reads_nothing_of_it(
    web: Client, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["127.0.0.1", "10.0.0.5"]
    assert "works on this computer alone" not in people_page(web, "10.0.0.5:8000")


def test_a_known_public_address_is_offered_first(web: Client, settings: Any) -> None:
    settings.BASE_URL = "https://batches.example"
    page = html(web.get(reverse("people"), HTTP_HOST="127.0.0.1:8000"))
    assert 'name="at" value="https://batches.example" checked>' in page


@pytest.mark.parametrize(
    ("address", "is_its_own"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://127.3.2.1", True),
        ("http://[::1]:8000", True),
        ("http://localhost:8000", True),
        ("http://batchui.localhost", True),
        ("http://10.0.0.5", False),
        ("https://batches.example", False),
    ],
)
def test_which_addresses_mean_this_computer(address: str, is_its_own: bool) -> None:
    assert is_of_this_computer(address) is is_its_own
