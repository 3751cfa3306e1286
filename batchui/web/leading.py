"""Leads a browser to another page, whether htmx or the browser itself has asked."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django_htmx.http import HttpResponseClientRedirect

from batchui.web.members import MemberRequest


def lead_to(request: MemberRequest, address: str) -> HttpResponse:
    """A response that leads to an address. htmx would put a redirect's page into its own."""
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)
