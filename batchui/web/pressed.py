"""What a pressed button leads to, where its form was sent by htmx (see `static/app.js`).

A form that htmx sends never replaces the page by an error of the browser, and an answer that is no
redirect leaves the address as it is. A redirect is followed by the browser itself, so that the page
it leads to is a page of its own.
"""

from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from batchui.web.members import MemberRequest


class PressedMiddleware:
    """Lets the browser itself follow the redirect after a form that htmx sent for a whole page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        htmx = cast(MemberRequest, request).htmx
        if isinstance(response, HttpResponseRedirect) and htmx.boosted:
            to = response.headers["Location"]
            del response.headers["Location"]
            response.status_code = 200
            response.headers["HX-Redirect"] = to
            if _is_same_page(to, htmx.current_url_abs_path or ""):
                response.headers["HX-Refresh"] = "true"
        return response


def _is_same_page(to: str, here: str) -> bool:
    """Whether an address differs from the page's own at most by a fragment.

    The browser would go to the fragment then, and not load the page again.
    """
    there, current = urlsplit(to), urlsplit(here)
    return bool(there.fragment) and (there.path, there.query) == (current.path, current.query)
