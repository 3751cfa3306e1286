"""How much a client may send: little without an account, a file where files are uploaded.

The web server takes a body in before anything else is known of the request. So who is signed in has
a signed cookie that it can check without the database. It gives no right but this one: what the
request may do, the page decides.
"""

from collections.abc import Callable, Mapping

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponseBase, parse_cookie
from django.urls import reverse

from batchui.batches import intake

# Bytes of a request: of anybody (a form to sign in), of a member, and besides an uploaded file.
ANYBODY, MEMBER, BESIDES_FILE = 64 * 1024, 3 * 1024**2, 64 * 1024
# A page that is open so long may still upload. The cookie is renewed when it is half as old.
SECONDS = 24 * 3600
_signer = TimestampSigner(salt="batchui: large bodies")


class BodyLimitMiddleware:
    """Gives the cookie to who is signed in, and takes it back from who is not."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        name = settings.UPLOAD_COOKIE_NAME
        held = request.COOKIES.get(name, "")
        if not request.user.is_authenticated:
            if held:
                response.delete_cookie(name, samesite="Lax")
        elif not _is_good(held, seconds=SECONDS // 2):
            response.set_cookie(
                name,
                _signer.sign("member"),
                secure=settings.SECURE_PROXY,
                httponly=True,
                samesite="Lax",
            )
        return response


def most_bytes(path: str, headers: Mapping[str, str]) -> int:
    """The largest body that is kept. headers: as the web server has them (`COOKIE`)."""
    # As Django reads it: http.cookies gives up at the first odd cookie of another program.
    held = parse_cookie(headers.get("COOKIE", "")).get(settings.UPLOAD_COOKIE_NAME, "")
    if not _is_good(held, seconds=SECONDS):
        return ANYBODY
    if path == reverse("new") and intake.has_room(int(headers.get("CONTENT_LENGTH") or 0)):
        return settings.MAX_UPLOAD_BYTES + BESIDES_FILE
    return MEMBER


def _is_good(value: str, *, seconds: int) -> bool:
    try:
        return _signer.unsign(value, max_age=seconds) == "member"
    except BadSignature:
        return False
