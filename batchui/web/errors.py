"""The pages for errors: they have a sentence, never a traceback.

If `PermissionDenied` or `Http404` is raised with a sentence, the page shows that sentence.
"""

import logging
import secrets
import sys
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.core.cache import cache
from django.core.exceptions import BadRequest
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.http.response import HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse

from batchui import security_log
from batchui.worker import full_disk

logger = logging.getLogger(__name__)

P = ParamSpec("P")

# The pages, besides those of batches, on which buttons stand that post to addresses below theirs,
# by the first word of these addresses.
PAGES_WITH_ACTIONS = {
    **{name: name for name in ("people", "account", "new", "deleted", "labels")},
    "questions": "saved_questions",
}

# Used when templates or static files are broken.
_PLAIN_500 = (
    '<!doctype html><html lang="en-GB"><meta charset="utf-8"><title>batchui</title>'
    "<h1>batchui could not show this page</h1><p>Your batches go on. Try again in a moment. If it "
    "happens again, tell the person who runs batchui: the log says why.</p></html>"
)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400, with the sentence of a BadRequest.

    Django's own text ("Invalid HTTP_HOST header …") goes to the log only.
    """
    sentence = str(exception) if isinstance(exception, BadRequest) else ""
    return render(request, "400.html", {"sentence": sentence}, status=400)


def not_allowed(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403, with the sentence of the exception if it has one."""
    security_log.record("not allowed", who=_who(request), path=request.path)
    return render(request, "403.html", {"sentence": str(exception)}, status=403)


def _who(request: HttpRequest) -> str | None:
    return request.user.in_log if request.user.is_authenticated else None


class FileLost(Http404):
    """A stored file of a batch is damaged, or not there; the address is right."""


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404, with the sentence of the exception if it has one."""
    # The resolver's own Http404 has a dictionary of patterns instead of a sentence.
    text = exception.args[0] if isinstance(exception, Http404) and exception.args else ""
    sentence = text if isinstance(text, str) and text.endswith(".") else ""
    heading = "This file cannot be read" if isinstance(exception, FileLost) else ""
    context = {"sentence": sentence, "heading": heading}
    return render(request, "404.html", context, status=404)


def too_many_requests(request: HttpRequest, sentence: str = "") -> HttpResponse:
    """Answer 429, with the sentence; without one, after too many attempts to sign in.

    allauth asks for this also where it cannot count the attempts. Then the answer is 503.
    """
    if not sentence and not _attempts_are_counted():
        return _unavailable(disk_is_full=full_disk.is_full_anywhere())
    return render(request, "429.html", {"sentence": sentence}, status=429)


def _attempts_are_counted() -> bool:
    """Whether the cache, which is in the database, can be written. Django hides its errors."""
    key = f"written:{secrets.token_hex(8)}"
    return cache.add(key, True, timeout=1) and cache.delete(key)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500, without the request: perhaps the session or the database is broken.

    503 where the database does not answer, or the disk is full: middleware writes sessions too.
    """
    try:
        return _if_unavailable(sys.exception()) or HttpResponse(
            render_to_string("500.html"), status=500
        )
    except Exception:
        return HttpResponse(_PLAIN_500, status=500)


def post_only(
    view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Like `require_POST`, but whoever opens the address in the browser is led to its page."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if request.method == "POST":
            return view(request, *args, **kwargs)
        if request.method in ("GET", "HEAD"):
            return redirect(_page_of(request))
        return HttpResponseNotAllowed(["POST"], render_to_string("405.html"))

    return wrapped


def _page_of(request: HttpRequest) -> str:
    """The address of the page on which the button of an action stands."""
    action = request.resolver_match
    place = action.route.partition("/")[0] if action else ""
    if action is not None and place == "batches":
        return reverse("batch", args=[action.kwargs["pk"]])
    return reverse(PAGES_WITH_ACTIONS.get(place, "batches"))


class DatabaseBusyMiddleware:
    """Answers 503 when the database does not answer in time, or the disk is full.

    The transaction under way was rolled back; what the request committed before that stays.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return _if_unavailable(exception)


def _if_unavailable(problem: BaseException | None) -> HttpResponse | None:
    """The answer 503 if an error came from the database or a full disk."""
    full = full_disk.is_reason_for(problem)
    if not full and not isinstance(problem, InterfaceError | OperationalError):
        return None
    logger.error("%s: %s", "The disk is full" if full else "The database does not answer", problem)
    return _unavailable(disk_is_full=full)


def _unavailable(*, disk_is_full: bool) -> HttpResponse:
    context = {"full_disk": full_disk.SENTENCE if disk_is_full else ""}
    return HttpResponse(render_to_string("503.html", context), status=503)
