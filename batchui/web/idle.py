"""Signs out people who have done nothing for a long time, and everybody after two weeks."""

import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse

# When somebody did something last, in seconds since 1970. It is written down this often at most.
USED_AT = "used_at"
BEGAN_AT = "began_at"
NOTED_EVERY_SECONDS = 600


class IdleMiddleware:
    """Ends the session of somebody who has done nothing for IDLE_SECONDS, or signed in long ago.

    Django alone would count SESSION_COOKIE_AGE from the last use.
    Pages ask by themselves how far a batch is; that is nobody's doing, and does not count. Such a
    request says what the page has `seen`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            _check(request)
        return self.get_response(request)


def begin(*, request: HttpRequest, **_: object) -> None:
    """Somebody signed in now."""
    request.session[USED_AT] = request.session[BEGAN_AT] = time.time()


def signed_out_at(request: HttpRequest) -> float:
    """When a session ends if nobody does anything until then, in seconds since 1970."""
    now = time.time()
    used_at, began_at = (float(request.session.get(name, now)) for name in (USED_AT, BEGAN_AT))
    return min(used_at + settings.IDLE_SECONDS, began_at + settings.SESSION_COOKIE_AGE)


def _check(request: HttpRequest) -> None:
    now = time.time()
    used_at = request.session.get(USED_AT, now)
    began_at = request.session.setdefault(BEGAN_AT, now)
    if now - used_at > settings.IDLE_SECONDS or now - began_at > settings.SESSION_COOKIE_AGE:
        logout(request)
    elif "seen" in request.GET:
        return
    elif now - used_at > NOTED_EVERY_SECONDS or USED_AT not in request.session:
        request.session[USED_AT] = now
