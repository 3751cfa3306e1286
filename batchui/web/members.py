"""Decides who may open a page. Every view about a team has one of these decorators.

A view with `member_required` gets a `MemberRequest`, of somebody who is signed in and in a team.
Each view looks up only what belongs to that team.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render, resolve_url
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from batchui.teams.administrators import ONLY_ADMINISTRATORS
from batchui.teams.connections import kind_of_settings, of_settings, takes_new_batches
from batchui.teams.models import FREE_KINDS, Connection, Membership, Team, User

P = ParamSpec("P")


class MemberRequest(HttpRequest):
    """A request of somebody in a team. The header of the page needs these attributes."""

    htmx: HtmxDetails
    user: User
    membership: Membership
    team: Team
    # Whether new batches go to an account, and not to the sandbox.
    account_is_connected: bool
    # Whether one of the team's connections is not let in, until a person corrects something.
    is_refused: bool
    # Whether the page says that answers are made up. On the page of a started batch: its own
    # answers. On every other page: those of a new batch.
    sandbox: bool
    # Whether nobody is paid for these answers.
    is_free: bool


MemberView = Callable[Concatenate[MemberRequest, P], HttpResponseBase]
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def member_required(view: MemberView[P]) -> View[P]:
    """Let somebody in a team through; send everybody else to the sign-in page."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        membership = (
            Membership.objects.select_related("team")
            .annotate(**_of_connections())
            .filter(user=request.user)
            .first()
        )
        if membership is None:
            return render(request, "people/no_team.html", status=403)
        member = cast(MemberRequest, request)
        member.membership = membership
        member.team = membership.team
        goes_to = membership.goes_to or kind_of_settings()  # type: ignore[attr-defined]
        member.is_refused = membership.is_refused  # type: ignore[attr-defined]
        member.account_is_connected = goes_to != Connection.Kind.SANDBOX
        member.sandbox = not member.account_is_connected
        member.is_free = goes_to in FREE_KINDS
        response = view(member, *args, **kwargs)
        # Not shown by Back after signing out; not stored by proxies.
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    return wrapped


def admin_required(view: MemberView[P]) -> View[P]:
    """Let administrators of a team through; answer 403 to their colleagues."""

    @wraps(view)
    def wrapped(request: MemberRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.membership.is_admin:
            raise PermissionDenied(ONLY_ADMINISTRATORS)
        return view(request, *args, **kwargs)

    return member_required(wrapped)


def _of_connections() -> dict[str, Exists | Subquery]:
    """What every page says of the connections of a team, as parts of one query.

    goes_to: the kind of the one for new batches; None: it is not made yet. is_refused: whether some
    one of them is not let in.
    """
    of_team = Connection.objects.filter(team=OuterRef("team"))
    usual = of_team.filter(takes_new_batches(), Q(is_default=True) | of_settings())
    refused = of_team.exclude(kind=Connection.Kind.SANDBOX).exclude(refused_since=None)
    return {
        "goes_to": Subquery(usual.order_by("-is_default").values("kind")[:1]),
        "is_refused": Exists(refused),
    }


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect to the sign-in page, and from there back to the page that was asked for.

    A fragment or a form is not a page: after it, the way back leads to the page around it or to the
    history. htmx would put the sign-in page into the fragment, so it gets a redirect of its own.
    """
    htmx = cast(MemberRequest, request).htmx
    if htmx:
        page = htmx.current_url_abs_path or resolve_url(settings.LOGIN_REDIRECT_URL)
        return HttpResponseClientRedirect(redirect_to_login(page).url)
    if request.method != "GET":
        return redirect_to_login(resolve_url(settings.LOGIN_REDIRECT_URL))
    return redirect_to_login(request.get_full_path())
