"""The People page: who is in the team, and what administrators may change."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect

from batchui.batches.money import amount
from batchui.teams import invitations, members
from batchui.teams.models import Invitation, Membership, Role
from batchui.teams.problems import TeamProblem
from batchui.web import link_addresses
from batchui.web.errors import post_only
from batchui.web.forms.people import InviteForm, SpendingForm
from batchui.web.members import MemberRequest, admin_required, member_required

# An administrator's page has a menu and three dialogs for each colleague.
PAGE_SIZE = 50
MOST_DIGITS = 6  # of the number of a page


@member_required
def people(request: MemberRequest) -> HttpResponse:
    """The people of the team. Administrators also see the open links and can change things."""
    members = Membership.objects.filter(team=request.team).select_related("user")
    everybody = Paginator(members.order_by("user__name", "pk"), PAGE_SIZE)
    context: dict[str, object] = {"page": everybody.get_page(request.GET.get("page"))}
    if request.membership.is_admin:
        context["invite_form"] = InviteForm()
        context["invitations"] = invitations.open_invitations(request.team)
        above = request.team.confirm_above
        context["spending_form"] = SpendingForm(
            initial={"confirm_above": None if above is None else f"{above:.15g}"}
        )
    return render(request, "people/people.html", context)


@post_only
@admin_required
def spending(request: MemberRequest) -> HttpResponse:
    """Set above which price Start asks once more."""
    form = SpendingForm(request.POST)
    if not form.is_valid():
        return render(request, "people/_spending.html", {"spending_form": form}, status=422)
    above = form.cleaned_data["confirm_above"]
    members.set_confirm_above(request.team, above, by=request.user)
    asks = "never" if above is None else f"above {amount(above)}"
    messages.success(request, f"Saved: Start asks once more {asks}.")
    if request.htmx:
        return HttpResponseClientRedirect(reverse("people"))
    return redirect("people")


@post_only
@never_cache
@admin_required
def invite(request: MemberRequest) -> HttpResponse:
    """Make an invitation and show its link, only this once."""
    form = InviteForm(request.POST)
    if not form.is_valid():
        return render(request, "people/_invite_form.html", {"invite_form": form}, status=422)
    invitation, token = invitations.create(
        request.team, by=request.user, role=form.cleaned_data["role"]
    )
    return _show_link(request, invitation, token)


@post_only
@never_cache
@admin_required
def password_link(request: MemberRequest, pk: int) -> HttpResponse:
    """Make a password link for a colleague and show it, only this once."""
    membership = _colleague(request, pk)
    invitation, token = invitations.create_password_link(membership, by=request.user)
    return _show_link(request, invitation, token)


@post_only
@admin_required
def change_role(request: MemberRequest, pk: int) -> HttpResponse:
    """Make a colleague an administrator or a member."""
    membership = _colleague(request, pk)
    role = Role.ADMIN if request.POST.get("role") == Role.ADMIN else Role.MEMBER
    try:
        members.change_role(membership, role=role, by=request.user)
    except TeamProblem as problem:
        messages.error(request, str(problem))
    else:
        what = "an administrator" if role == Role.ADMIN else "a member"
        messages.success(request, f"{membership.user} is now {what}.")
    return _to_page_of(request)


@post_only
@admin_required
def remove(request: MemberRequest, pk: int) -> HttpResponse:
    """Remove a colleague from the team."""
    membership = _colleague(request, pk)
    person = membership.user
    try:
        members.remove(membership, by=request.user)
    except TeamProblem as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, f"{person} was removed and is signed out everywhere.")
    return _to_page_of(request)


@post_only
@admin_required
def withdraw(request: MemberRequest, pk: int) -> HttpResponse:
    """Withdraw an open link."""
    invitation = get_object_or_404(Invitation, pk=pk, team=request.team)
    if invitations.withdraw(invitation, by=request.user):
        messages.success(request, "The link was withdrawn. It no longer works.")
    else:
        messages.error(
            request,
            "This link was used or withdrawn before. The list below is up to date.",
        )
    return redirect("people")


def _to_page_of(request: MemberRequest) -> HttpResponse:
    """Back to the page of People on which a colleague was changed, or the last one that is left."""
    page = request.POST.get("page", "")[:MOST_DIGITS]
    there = reverse("people")
    return redirect(f"{there}?page={int(page)}" if page.isdecimal() else there)


def _colleague(request: MemberRequest, pk: int) -> Membership:
    return get_object_or_404(Membership.objects.select_related("user"), pk=pk, team=request.team)


def _show_link(request: MemberRequest, invitation: Invitation, token: str) -> HttpResponse:
    """Show the address of a new link: in the dialog, with the updated list of links, or as a
    page."""
    context = {
        "invitation": invitation,
        "link": (link := link_to(request, token)),
        "is_only_here": link_addresses.is_of_this_computer(link),
        "invitations": invitations.open_invitations(request.team),
    }
    page = "people/_link_made.html" if request.htmx else "people/link_made.html"
    return render(request, page, context)


def link_to(request: HttpRequest, token: str) -> str:
    """The absolute address of an invitation or password link, at the address that was chosen."""
    return f"{link_addresses.chosen(request)}{reverse('join', args=[token])}"
