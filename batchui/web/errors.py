"""What people see when a page cannot be shown: a sentence, never a traceback.

A `PermissionDenied`, `Http404` or `SuspiciousOperation` raised with a sentence shows that sentence.
"""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.http.response import HttpResponseNotAllowed
from django.shortcuts import render
from django.template.loader import render_to_string

logger = logging.getLogger(__name__)

P = ParamSpec("P")

# For the case that templates or static files are what is broken.
_PLAIN_500 = (
    '<!doctype html><html lang="en-GB"><meta charset="utf-8"><title>batchui</title>'
    "<h1>batchui could not show this page</h1><p>Nothing you did is lost. Try again in a moment; "
    "if it happens again, tell your administrator, who finds the reason in the log.</p></html>"
)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    # What Django says here ("Invalid HTTP_HOST header …") is for the log.
    return render(request, "400.html", status=400)


def not_allowed(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", {"sentence": str(exception)}, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    # The resolver's own Http404 carries a dictionary of patterns instead of a sentence.
    text = exception.args[0] if isinstance(exception, Http404) and exception.args else ""
    sentence = text if isinstance(text, str) and text.endswith(".") else ""
    return render(request, "404.html", {"sentence": sentence}, status=404)


def too_many_requests(request: HttpRequest) -> HttpResponse:
    return render(request, "429.html", status=429)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer without the request: the session or the database may be what is broken."""
    try:
        return HttpResponse(render_to_string("500.html"), status=500)
    except Exception:
        return HttpResponse(_PLAIN_500, status=500)


def post_only(
    view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Like `require_POST`, with a page for somebody who opens such an address in the browser."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if request.method == "POST":
            return view(request, *args, **kwargs)
        return HttpResponseNotAllowed(["POST"], render_to_string("405.html"))

    return wrapped


class DatabaseBusyMiddleware:
    """Answers 503 when the database does not answer in time.

    The transaction under way was rolled back; what the request committed before that stays.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, InterfaceError | OperationalError):
            return None
        logger.error("The database does not answer: %s", exception)
        return HttpResponse(render_to_string("503.html"), status=503)
