"""Fragments that are the same for all who watch, made once for all of them."""

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any, TypeVar

import msgspec
from django.http import HttpRequest, HttpResponse
from django.middleware.gzip import re_accepts_gzip
from django.template.loader import render_to_string
from django.utils.text import compress_string
from django_htmx.http import trigger_client_event

from batchui.processes.common_memory import CommonMemory
from batchui.web.compression import CompressedPagesMiddleware
from batchui.web.remembered import Remembered

K = TypeVar("K", bound=Hashable)

# How long one is given to others who ask for just the same, in seconds; and how many are kept.
SECONDS, MOST = 2.0, 300
# How long a process waits for what another one makes, and how often it looks, in seconds.
PATIENCE, SECONDS_BETWEEN_LOOKS = 0.2, 0.005
_BEING_MADE = b""
# So many are made at one time in a process. Under the GIL more would be in each other's way: with
# twelve, each took forty times as long as one alone, and twice the CPU time.
AT_ONE_TIME = 2
_one_of_few = BoundedSemaphore(AT_ONE_TIME)
# What the web processes tell one another. They are forked after this module was imported.
_common = CommonMemory(places=512, place_bytes=64 * 1024)


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


class News(Remembered[K, Shared]):
    """Fragments that are kept for SECONDS, each made once for all web processes.

    Where two begin with the same one at the same moment, or one takes longer than PATIENCE, both
    make it. name: of what is told; no two of
    these have the same. text_of: a text for a key, the same one in each process.
    """

    def __init__(self, name: str, text_of: Callable[[K], str] = repr) -> None:
        super().__init__(SECONDS, most=MOST)
        self._name, self._text_of = name, text_of

    def get(self, key: K, find_out: Callable[[], Shared]) -> Shared:
        """The fragment for a key, or what `find_out` makes now."""
        return super().get(key, lambda: self._of_another(key, find_out))

    def _of_another(self, key: K, make: Callable[[], Shared]) -> Shared:
        """What another process has made, or is about to; else make it, for others, too."""
        name = f"{self._name} {self._text_of(key)}".encode()
        found = _common.take(name)
        give_up = time.monotonic() + PATIENCE
        while found == _BEING_MADE and time.monotonic() < give_up:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            found = _common.take(name)
        if not found:
            with _one_of_few:
                # Another process may have made it while this thread waited.
                found = _common.take(name) or self._made(name, make)
        return msgspec.msgpack.decode(found, type=Shared)

    @staticmethod
    def _made(name: bytes, make: Callable[[], Shared]) -> bytes:
        """What `make` makes, packed, and for others, too."""
        _common.put(name, _BEING_MADE, seconds=PATIENCE)
        try:
            packed = msgspec.msgpack.encode(make())
        except BaseException:
            _common.put(name, _BEING_MADE, seconds=0)
            raise
        # Each process keeps what it takes for SECONDS, too.
        _common.put(name, packed, seconds=SECONDS / 2)
        return packed
