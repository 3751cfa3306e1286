"""Whatever goes wrong, the page says a sentence and never a traceback."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from django.conf import settings as django_settings
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import get_resolver, include, path, reverse
from pytest_django import Settings

from batchui.batches.models import Batch
from batchui.web import errors
from tests.teams.people import set_up


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a secret detail")


def forbidden(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied("Only Ana can do this.")


def missing(request: HttpRequest) -> HttpResponse:
    raise Http404("There is no such batch.")


def suspicious(request: HttpRequest) -> HttpResponse:
    raise SuspiciousOperation("a secret detail")


urlpatterns = [
    path("broken/", broken),
    path("forbidden/", forbidden),
    path("missing/", missing),
    path("suspicious/", suspicious),
    path("", include("batchui.urls")),
]
handler400 = errors.bad_request
handler403 = errors.not_allowed
handler404 = errors.not_found
handler500 = errors.server_error

here = override_settings(ROOT_URLCONF=__name__)


@here
@pytest.mark.parametrize(
    ("address", "status", "sentence"),
    [
        ("/broken/", 500, "batchui could not show this page"),
        ("/forbidden/", 403, "Only Ana can do this."),
        ("/missing/", 404, "There is no such batch."),
        ("/suspicious/", 400, "This request could not be read"),
        ("/no/such/address/", 404, "There is nothing at this address"),
    ],
)
def test_each_error_has_a_page_with_a_sentence(address: str, status: int, sentence: str) -> None:
    answer = Client(raise_request_exception=False).get(address)
    page = answer.content.decode()
    assert answer.status_code == status
    assert sentence in page
    assert "a secret detail" not in page
    assert "Traceback" not in page
    assert "default-src 'none'" in answer["Content-Security-Policy"]


@here
def test_the_page_for_a_broken_server_needs_no_database() -> None:
    """No `django_db` here: touching the database would fail this test."""
    client = Client(raise_request_exception=False)
    client.cookies[django_settings.SESSION_COOKIE_NAME] = "x" * 32
    assert client.get("/broken/").status_code == 500


def test_even_without_templates_there_is_a_page(settings: Settings) -> None:
    settings.TEMPLATES = [
        {"BACKEND": "django.template.backends.django.DjangoTemplates", "OPTIONS": {}}
    ]
    answer = errors.server_error(RequestFactory().get("/"))
    assert answer.status_code == 500
    assert "batchui could not show this page" in answer.content.decode()


def test_an_address_of_somebody_elses_host_is_refused_in_a_sentence() -> None:
    answer = Client().get("/sign-in/", headers={"Host": "evil.example"})
    assert answer.status_code == 400
    assert "ALLOWED_HOSTS" in answer.content.decode()
    assert "evil.example" not in answer.content.decode()


@pytest.mark.django_db
def test_a_form_that_was_open_too_long_is_told_so() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(set_up())
    answer = client.post("/people/invite/", {"role": "member"})
    assert answer.status_code == 403
    assert "This page is too old" in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("action", "page"),
    [
        ("/people/invite/", "/people/"),
        ("/account/sign-out-elsewhere/", "/account/"),
        ("/new/sample/", "/new/"),
        (f"/deleted/{UUID(int=1)}/bring-back/", "/deleted/"),
        ("/decide/unclear/send-again/", "/"),
        (f"/batches/{UUID(int=1)}/stop/", f"/batches/{UUID(int=1)}/"),
        (f"/batches/{UUID(int=1)}/parts/1/send-again/", f"/batches/{UUID(int=1)}/"),
    ],
)
def test_an_action_opened_as_a_page_leads_to_the_page_of_its_button(action: str, page: str) -> None:
    client = Client()
    client.force_login(set_up())
    answer = client.get(action)
    assert (answer.status_code, answer["Location"]) == (302, page)
    assert client.head(action).status_code == 302


def every_address(batch: Batch) -> Iterator[str]:
    """Each of our addresses, with this batch where it names one."""
    words = {"choice": "send-again", "question": "unclear", "kind": "csv-plain"}
    for name, found in get_resolver().reverse_dict.lists():
        for _, _, _, converters in found:
            kinds = {key: type(converter).__name__ for key, converter in converters.items()}
            ids = {key: batch.pk for key, kind in kinds.items() if kind == "UUIDConverter"}
            numbers = {key: 2 for key, kind in kinds.items() if kind == "IntConverter"}
            others = {key: words.get(key, "other") for key in kinds}
            yield reverse(name, kwargs=others | ids | numbers)


def test_no_address_can_only_be_pressed(web: Client, batch: Batch) -> None:
    """Whatever somebody copies out of the address bar or goes back to."""
    files = ("/source/", "/sample.csv")  # nobody presses these, and a test would have to close them
    wanted = set(every_address(batch)) - {reverse("account_logout")}
    addresses = {one for one in wanted if not one.endswith(files)}
    assert len(addresses) > 80
    for address in sorted(addresses):
        assert web.get(address).status_code not in (405, 500), address


@pytest.mark.django_db
def test_an_action_is_for_posts_only() -> None:
    client = Client()
    client.force_login(set_up())
    answer = client.put("/people/invite/")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "This address is only for buttons" in answer.content.decode()


@pytest.mark.django_db
def test_too_many_requests_have_a_page() -> None:
    answer = errors.too_many_requests(RequestFactory().get("/"))
    assert answer.status_code == 429
    assert "Wait five minutes" in answer.content.decode()
