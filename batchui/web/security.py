"""Notes for the security log from where the requests are."""

from collections.abc import Callable

from allauth.account.adapter import get_adapter
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from batchui import security_log


class ClientAddressMiddleware:
    """Lets the security log name the address of the browser whose request is answered."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = security_log.client_address.set(address_of(request))
        try:
            return self.get_response(request)
        finally:
            security_log.client_address.reset(token)


def address_of(request: HttpRequest) -> str:
    """The address of the client; behind a proxy, the one that the proxy reports."""
    try:
        return str(get_adapter(request).get_client_ip(request))
    except PermissionDenied:  # the proxy reports none, or nonsense
        return "unknown"
