"""Signing in, the links to join or to choose a password, and the account page."""

from datetime import datetime
from typing import Any, cast

from allauth.account.views import LoginView, PasswordChangeView
from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import formats
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from batchui import security_log
from batchui.teams import browsers, invitations, sessions
from batchui.teams.founding import has_one_administrator
from batchui.teams.models import Invitation, User
from batchui.teams.problems import EmailTaken, LinkProblem
from batchui.web.errors import post_only
from batchui.web.forms.people import (
    JoinForm,
    NameForm,
    NewPasswordForm,
    PasswordForm,
    SetUpForm,
    SignInForm,
)
from batchui.web.members import MemberRequest, member_required

_FORMS: dict[Invitation.Purpose, type[PasswordForm]] = {
    Invitation.Purpose.SETUP: SetUpForm,
    Invitation.Purpose.JOIN: JoinForm,
    Invitation.Purpose.PASSWORD: PasswordForm,
}


class SignInView(LoginView):  # type: ignore[misc]
    """The sign-in page. Before the set-up it says where the set-up link is."""

    form_class = SignInForm

    def get_context_data(self, **kwargs: object) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {
            "set_up": User.objects.exists(),
            "one_administrator": has_one_administrator(),
        }

    def form_valid(self, form: SignInForm) -> HttpResponse:
        person, before = form.user, form.user.last_login
        response: HttpResponse = super().form_valid(form)
        if self.request.user.is_authenticated:
            browsers.remember(self.request, response, email=person.email)
            _tell_of_link(self.request, person, before)
        return response


@never_cache
@sensitive_post_parameters("password")
def use_link(request: HttpRequest, token: str) -> HttpResponse:
    """The page of a set-up, invitation or password link. Using it signs the person in."""
    try:
        invitation = invitations.find(token)
        if request.user.is_authenticated:
            return render(request, "people/signed_in_already.html", {"invitation": invitation})
        form = _FORMS[invitation.purpose](request.POST or None, person=invitation.for_user)
        if form.is_valid() and (person := _use_link(token, invitation, form)):
            before = person.last_login
            login(request, person)
            invitations.note_sign_in(invitation, person)
            _tell_of_link(request, person, before)
            response = redirect("batches")
            browsers.remember(request, response, email=person.email)
            return response
    except LinkProblem as problem:
        security_log.record("link refused", reason=problem)
        status = 410 if problem.gone else 404
        return render(
            request, "people/link_problem.html", {"sentence": str(problem)}, status=status
        )
    status = 422 if form.is_bound else 200
    return render(
        request, "people/use_link.html", {"invitation": invitation, "form": form}, status=status
    )


@member_required
def account(request: MemberRequest) -> HttpResponse:
    """The account page: a person's own name and password."""
    form = NameForm(request.POST or None, initial={"name": request.user.name})
    if form.is_valid():
        request.user.name = form.cleaned_data["name"]
        request.user.save(update_fields=["name"])
        messages.success(request, "Your name is saved.")
        return redirect("account")
    return _account_page(request, form, NewPasswordForm(user=request.user))


class ChangePassword(PasswordChangeView):  # type: ignore[misc]
    """A person's new password, from the form of the account page. What is wrong stands there."""

    form_class = NewPasswordForm

    def get(self, request: MemberRequest, *args: object, **kwargs: object) -> HttpResponse:
        return redirect("account")

    def form_invalid(self, form: NewPasswordForm) -> HttpResponse:
        for name in list(form.errors)[:1]:
            form.fields[name].widget.attrs["autofocus"] = True
        request = cast(MemberRequest, self.request)
        return _account_page(request, NameForm(initial={"name": request.user.name}), form)


change_password = never_cache(member_required(ChangePassword.as_view()))


def _account_page(
    request: MemberRequest, form: NameForm, password_form: NewPasswordForm
) -> HttpResponse:
    context = {
        "form": form,
        "password_form": password_form,
        "password_link": invitations.last_password_link(request.user),
    }
    is_wrong = form.is_bound or password_form.is_bound
    return render(request, "people/account.html", context, status=422 if is_wrong else 200)


@post_only
@member_required
def sign_out_elsewhere(request: MemberRequest) -> HttpResponse:
    """End the person's sessions in all other browsers."""
    ended = sessions.end_others(request.user, keep=request.session.session_key)
    where = "1 other browser" if ended == 1 else f"{ended} other browsers"
    messages.success(request, f"You are signed out in {where}. This one stays signed in.")
    return redirect("account")


def _tell_of_link(request: HttpRequest, person: User, before: datetime | None) -> None:
    """Tell somebody who signs in that the sign-in before this one was by a password link."""
    link = invitations.signed_in_by_link(person, at=before)
    if link is None or link.used_at is None:
        return
    security_log.record("told of a password link", who=person.in_log, link=link.pk)
    messages.warning(
        request,
        f"Your password was chosen on {formats.date_format(link.used_at, 'j F Y, H:i e')} with a "
        f"link that {link.maker} made. If that was not you, choose a new password on your account "
        "page, and tell the person who runs batchui.",
    )


def _use_link(token: str, invitation: Invitation, form: PasswordForm) -> User | None:
    """Use the link. Returns the person; or None, with the reason as an error of the form."""
    if invitation.purpose == Invitation.Purpose.PASSWORD:
        return invitations.choose_password(token, password=form.cleaned_data["password"])
    try:
        return invitations.accept(token, **form.cleaned_data)
    except EmailTaken as problem:
        form.add_error("email", str(problem))
        return None
