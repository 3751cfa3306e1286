"""Fragments that are the same for all who watch, made once for all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.gzip import re_accepts_gzip
from django.template.loader import render_to_string
from django.utils.text import compress_string
from django_htmx.http import trigger_client_event

from batchui.web.compression import CompressedPagesMiddleware

# How long one is given to others who ask for just the same, in seconds; and how many are kept.
SECONDS, MOST = 2.0, 300


@dataclass(frozen=True)
class Shared:
    """A fragment as it travels, and the events that it tells the page."""

    markup: bytes
    packed: bytes
    events: tuple[str, ...]

    @classmethod
    def made(cls, template: str, context: Mapping[str, Any], *events: str) -> "Shared":
        """Render a template without a request, so that nothing in it can be a person's.

        Its forms have no token against forgery. They are sent by htmx (`app.js`), with that of the
        page around them (`base.html`).
        """
        markup = render_to_string(template, dict(context)).encode()
        noise = CompressedPagesMiddleware.max_random_bytes
        return cls(markup, compress_string(markup, max_random_bytes=noise), events)

    def response(self, request: HttpRequest) -> HttpResponse:
        """The response with it, compressed if the browser takes that."""
        if re_accepts_gzip.search(request.headers.get("Accept-Encoding", "")):
            response = HttpResponse(self.packed, headers={"Content-Encoding": "gzip"})
        else:
            response = HttpResponse(self.markup)
        response.headers["Content-Length"] = str(len(response.content))
        response.headers["Vary"] = "Accept-Encoding"
        for event in self.events:
            trigger_client_event(response, event)
        return response
