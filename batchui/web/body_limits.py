"""How much a client may send: little without an account, a file where files are uploaded.

The web server takes a body in before anything else is known of the request. So who is signed in has
a signed cookie that it can check without the database. It gives no right but this one, and only
beside the session for which it was signed; what the request may do, the page decides. Whether that
session still lives is asked in a thread, while a large body comes in.
"""

import re
from collections.abc import Callable, Mapping

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.core.signing import BadSignature, TimestampSigner
from django.db import Error, close_old_connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase, parse_cookie
from django.template.loader import render_to_string
from django.urls import reverse

from batchui.batches import upload_limits

# Bytes of a request: of anybody (a form to sign in), of a member, and besides an uploaded file.
ANYBODY, MEMBER, BESIDES_FILE = 64 * 1024, 3 * 1024**2, 64 * 1024
# Where an archive with pictures is added.
_PICTURES = re.compile(r"/batches/[0-9a-f-]{36}/pictures/")
# A page that is open so long may still upload. The cookie is renewed when it is half as old.
SECONDS = 24 * 3600


class BodyLimitMiddleware:
    """Gives the cookie to who is signed in, and takes it back from who is not.

    Says that the disk is full where a form was thrown away for that; the page for uploads says it
    itself.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if lacked_room(request) and request.path != reverse("new"):
            context = {"full_disk": str(upload_limits.nearly_full("saved"))}
            return HttpResponse(render_to_string("503.html", context), status=503)
        response = self.get_response(request)
        name = settings.UPLOAD_COOKIE_NAME
        held = request.COOKIES.get(name, "")
        session = request.session.session_key or ""
        if not request.user.is_authenticated:
            if held:
                response.delete_cookie(name, samesite="Lax")
        elif not _is_good(held, session, seconds=SECONDS // 2):
            response.set_cookie(
                name,
                _signer(session).sign("member"),
                secure=settings.SECURE_PROXY,
                httponly=True,
                samesite="Lax",
            )
        return response


def most_bytes(path: str, headers: Mapping[str, str], under_way: int) -> int:
    """The largest body that is kept. headers: as the web server has them (`COOKIE`).

    under_way: the bytes of other requests that are still to come, and need room too.
    """
    if not _may_send_much(_cookies(headers)):
        return ANYBODY
    return max(ANYBODY, min(_most(path), upload_limits.room() - under_way))


def may_send(headers: Mapping[str, str]) -> bool:
    """Whether the session is still one of somebody. Asks the database."""
    request = HttpRequest()
    request.session = SessionStore(_cookies(headers).get(settings.SESSION_COOKIE_NAME))
    try:
        return get_user(request).is_authenticated
    except Error:
        return True  # the page says what is wrong
    finally:
        close_old_connections()


def lacked_room(request: HttpRequest) -> bool:
    """Whether the web server threw a member's body away because the disk has no room for it."""
    return (
        "HTTP_THROWN_AWAY" in request.META
        and request.user.is_authenticated
        and int(request.META.get("CONTENT_LENGTH") or 0) <= _most(request.path)
        and _may_send_much(request.COOKIES)
    )


def _most(path: str) -> int:
    """The largest body of a member, with all the room there may be."""
    upload: int = settings.MAX_UPLOAD_BYTES + BESIDES_FILE
    takes_files = path == reverse("new") or _PICTURES.fullmatch(path)
    return upload if takes_files else MEMBER


def _cookies(headers: Mapping[str, str]) -> dict[str, str]:
    # As Django reads it: http.cookies gives up at the first odd cookie of another program.
    return parse_cookie(headers.get("COOKIE", ""))


def _may_send_much(cookies: Mapping[str, str]) -> bool:
    held = cookies.get(settings.UPLOAD_COOKIE_NAME, "")
    return _is_good(held, cookies.get(settings.SESSION_COOKIE_NAME, ""), seconds=SECONDS)


def _is_good(value: str, session: str, *, seconds: int) -> bool:
    """Whether a cookie was signed for this session, not longer ago."""
    try:
        return _signer(session).unsign(value, max_age=seconds) == "member"
    except BadSignature:
        return False


def _signer(session: str) -> TimestampSigner:
    return TimestampSigner(salt=f"batchui: large bodies: {session}")
