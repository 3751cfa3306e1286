"""Opens the pages of `page_list.py` in one process, and measures each.

    python -m batchui.bench.with_django batchui.bench.page_times ROWS PARTS BATCHES REPEAT

Prints lines of JSON: what was made, each search, each page. The CPU seconds are those of the thread
that makes the page, from the request to its last byte, compressed: what others do on the machine
does not count. The database is in the seconds where it is SQLite. Bytes are what a browser gets,
heads included; a first load has every file that the page names, and the fragments that it asks for
by itself: in Brotli, as browsers take it over HTTPS and from their own machine, and as gzip.
"""

import gzip
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from statistics import median
from typing import Any

import brotli
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from batchui.batches.sheet import digests
from batchui.bench import full_team, page_list
from batchui.bench.full_team import FullTeam
from batchui.bench.page_list import Visit, visits
from batchui.bench.surroundings import BenchFailed

GZIP, BROTLI = "gzip, deflate", "gzip, deflate, br"
BROWSER = {"host": "localhost", "accept-encoding": BROTLI}


def main(rows: str, parts: str, batches: str, repeat: str) -> None:
    """Make a team of this size, open every page, and print the figures."""
    sizes = full_team.Sizes(int(rows), int(parts), int(batches))
    with _static_files():
        began = time.perf_counter()
        team = full_team.fill(sizes)
        _print(
            made=time.perf_counter() - began,
            parts=team.ended.part_count,
            database=connection.vendor,
        )
        for words in (page_list.OFTEN, page_list.SELDOM):
            began, cpu = time.perf_counter(), time.thread_time()
            found = page_list.search(team.ended, words)
            seconds, cpu = time.perf_counter() - began, time.thread_time() - cpu
            _print(words=words, found=found, seconds=seconds, cpu=cpu)
        for line in measured(team, repeat=int(repeat)):
            _print(**line)


def measured(team: FullTeam, *, repeat: int) -> Iterator[dict[str, Any]]:
    """The figures of each page: CPU seconds of `repeat` visits, queries, bytes."""
    browser = signed_in(team)
    pages = visits(team)
    for visit in pages:  # templates are read, and the code of each page is imported
        opened(browser, visit)
    seconds: dict[str, list[float]] = {visit.name: [] for visit in pages}
    for _ in range(repeat):  # in turn, so that a slow moment of the machine meets all of them
        for visit in pages:
            digests.forget()
            began = time.thread_time()
            opened(browser, visit)
            seconds[visit.name].append(time.thread_time() - began)
    for visit in pages:
        again, files = weight(browser, visit)
        elder = sum(weight(browser, visit, GZIP))
        yield {
            "page": visit.name,
            "median": median(seconds[visit.name]),
            "worst": max(seconds[visit.name]),
            "queries": len(queries(browser, visit)),
            "first": None if visit.fragment else again + files,
            "gzip": None if visit.fragment else elder,
            "again": again,
        }


def signed_in(team: FullTeam) -> Client:
    """The browser of the administrator of a team."""
    browser = Client(headers=BROWSER)
    browser.force_login(team.person)
    return browser


def opened(browser: Client, visit: Visit, encodings: str = BROTLI) -> Any:
    """The response to a visit. Raises BenchFailed for one that is no page."""
    htmx = {"HX-Request": "true", "HX-Target": visit.fragment} if visit.fragment else {}
    response = browser.get(visit.address, headers=htmx | {"accept-encoding": encodings})
    if response.status_code != 200:
        raise BenchFailed(f"{visit.name}: {visit.address} was answered {response.status_code}.")
    return response


def queries(browser: Client, visit: Visit) -> Sequence[str]:
    """The queries of a visit."""
    digests.forget()
    with CaptureQueriesContext(connection) as found:
        opened(browser, visit)
    return [query["sql"] for query in found]


# -- bytes --------------------------------------------------------------------------------------


def weight(browser: Client, visit: Visit, encodings: str = BROTLI) -> tuple[int, int]:
    """The bytes of a page, with the fragments that it asks for at once; and of all its files."""
    named = _Named()
    named.feed(_text(opened(browser, visit)))
    page, *fragments = (
        _bytes(opened(browser, one, encodings))
        for one in (visit, *(Visit(visit.name, there, "fragment") for there in named.fragments))
    )
    files = (opened(browser, Visit(visit.name, file), encodings) for file in sorted(named.files))
    return page + sum(fragments), sum(map(_bytes, files))


def _text(response: Any) -> str:
    """The HTML of a page, which may be too short to be compressed."""
    unpack = {"br": brotli.decompress, "gzip": gzip.decompress}
    encoding = response.headers.get("Content-Encoding")
    content: bytes = response.content
    return (unpack[encoding](content) if encoding else content).decode()


def _bytes(response: Any) -> int:
    head = sum(len(f"{name}: {value}\r\n") for name, value in response.headers.items())
    cookies = sum(len(f"Set-Cookie: {one.OutputString()}\r\n") for one in response.cookies.values())
    body = response.content if not response.streaming else b"".join(response.streaming_content)
    return len("HTTP/1.1 200 OK\r\n\r\n") + head + cookies + len(body)


class _Named(HTMLParser):
    """What a page makes a browser fetch at once: files, and fragments."""

    def __init__(self) -> None:
        super().__init__()
        self.files: set[str] = set()
        self.fragments: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        address = has.get("href" if tag == "link" else "src", "")
        if tag in ("link", "script", "img") and address.startswith("/"):
            self.files.add(address)
        if has.get("hx-trigger", "").split(",")[0].strip() == "load" and "hx-get" in has:
            self.fragments.append(has["hx-get"])


@contextmanager
def _static_files() -> Iterator[None]:
    """One stylesheet and one script, as `up` makes them, while the context lasts."""
    with tempfile.TemporaryDirectory(prefix="batchui-bench-static-") as folder:
        settings.STATIC_ROOT = Path(folder)
        call_command("collectstatic", interactive=False, verbosity=0)
        yield


def _print(**line: Any) -> None:
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()
