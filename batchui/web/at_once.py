"""Answers the polls of pages that many people watch before Django asks who it is."""

import re
from collections.abc import Callable
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from batchui.web import history, watchers
from batchui.web.sheet import live

_LIVE = re.compile(r"/batches/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/live/")
_HISTORY = "/history/"


class AtOnceMiddleware:
    """Answers whom a view has let through before (`watchers.py`); others go on to the views.

    Polls say what the page has `seen`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = _answer(request)
        if answer is None:
            return self.get_response(request)
        answer.headers["Cache-Control"] = "private, no-store"
        return answer


def _answer(request: HttpRequest) -> HttpResponse | None:
    batch = _LIVE.fullmatch(request.path)
    if batch is None and request.path != _HISTORY:
        return None
    if request.method != "GET" or "seen" not in request.GET:
        return None
    request.get_host()  # raises DisallowedHost
    watcher = watchers.of(request)
    if watcher is None:
        return None
    if batch is None:
        return history.changes_at_once(request, watcher)
    return live.live_at_once(request, watcher, UUID(batch[1]))
