"""Compresses pages and fragments; downloads go out as they are."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class CompressedPagesMiddleware(GZipMiddleware):
    """Django's compression, for HTML that is made as a whole.

    A download is streamed while it is made: compressed, its first bytes would come late, and a
    workbook or a zip has nothing to gain. What a page's compressed length could tell about a secret
    on it is hidden by the parent class: it adds up to 100 random bytes, and Django masks the CSRF
    token anew in each page.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """As in the parent class. Anything but HTML is returned as it is."""
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if not is_page or not isinstance(response, HttpResponse):
            return response
        return super().process_response(request, response)
