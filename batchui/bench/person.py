"""A person without a browser: sends what the forms of the pages send, and measures the time."""

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, Self
from urllib.parse import urlsplit

import httpx

from batchui.bench.question import MAX_TOKENS, MODEL, TEMPLATE
from batchui.bench.surroundings import BenchFailed

PASSWORD = "kettle-orchard-9"  # noqa: S105


class Product(Protocol):
    """A running product. first_page: the link to set it up."""

    @property
    def first_page(self) -> str: ...

    def last_lines(self) -> str:
        """What it printed last, to be added to a sentence."""

    def wait_for(self, batch: str, arrived: Callable[[str, int], bool]) -> None:
        """Return as soon as `arrived(status, answered rows)` of a batch is true."""


class Person:
    """The first administrator of a new product. Use it in `with`.

    seconds: how long a page may take.
    """

    def __init__(self, product: Product, *, seconds: float = 600) -> None:
        self._product = product
        address = urlsplit(product.first_page)
        self._web = httpx.Client(
            base_url=f"{address.scheme}://{address.netloc}", timeout=seconds, trust_env=False
        )

    def __enter__(self) -> Self:
        """Use the link that `up` printed."""
        page = self._web.get(self._product.first_page)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        form = {"name": "Ana", "email": "ana@example.com", "team_name": "Care"}
        form |= {"password": PASSWORD, "csrfmiddlewaretoken": token[1] if token else ""}
        self._went_on(self._web.post(self._product.first_page, data=form))
        return self

    def __exit__(self, *_: object) -> None:
        self._web.close()

    def take(self, source: Path, result: Path) -> dict[str, float]:
        """Upload `source`, start the batch, wait for its end, download it to `result`.

        Returns the seconds of each leg. "Start to …" counts from the press of Start, "first byte"
        from the request for the download. Raises BenchFailed.
        """
        legs: dict[str, float] = {}
        began = time.perf_counter()
        batch = self._upload(source)
        legs["upload"] = time.perf_counter() - began
        self._product.wait_for(batch, lambda status, _: status == "draft")
        legs["read, after the upload"] = time.perf_counter() - began - legs["upload"]

        began = time.perf_counter()
        self._start(batch)
        self._product.wait_for(batch, lambda _, answered: answered > 0)
        legs["Start to first answers"] = time.perf_counter() - began
        self._product.wait_for(batch, lambda status, _: status == "finished")
        legs["Start to finished"] = time.perf_counter() - began

        began = time.perf_counter()
        first_byte = self._download(batch, result)
        legs["first byte of the download"] = first_byte - began
        legs["download"] = time.perf_counter() - began
        return legs

    def take_and_tell(self, source: Path, result: Path) -> tuple[float, float]:
        """As `take`. Returns when Start was pressed (`time.time`), and the seconds to the end."""
        batch = self._upload(source)
        self._product.wait_for(batch, lambda status, _: status == "draft")
        pressed, began = time.time(), time.perf_counter()
        self._start(batch)
        self._product.wait_for(batch, lambda status, _: status == "finished")
        seconds = time.perf_counter() - began
        self._download(batch, result)
        return pressed, seconds

    def look(self, address: str) -> int:
        """Open a page. Returns the status of the answer; 0 if nobody answered."""
        try:
            return self._web.get(address).status_code
        except httpx.HTTPError:
            return 0

    def press(self, address: str, **form: str | Sequence[str]) -> int:
        """Send a form of a page. Returns the status of the answer; 0 if nobody answered."""
        try:
            return self._web.post(address, data=form, headers=self._not_forged()).status_code
        except httpx.HTTPError:
            return 0

    def choose_file(self, name: str, content: bytes) -> str:
        """Upload a file. Returns the batch's id; "" if there is no such answer."""
        try:
            reply = self._web.post(
                "/new/", files={"file": (name, content, "text/csv")}, headers=self._not_forged()
            )
        except httpx.HTTPError:
            return ""
        return str(reply.headers.get("Location", "")).rstrip("/").rpartition("/")[2]

    def upload_and_wait(self, source: Path) -> tuple[str, str, str]:
        """Upload `source`, and wait until it is read.

        Returns the batch's id, the cookies of a browser, and the one against forged forms.
        """
        batch = self._upload(source)
        self._product.wait_for(batch, lambda status, _: status == "draft")
        cookies = "; ".join(f"{name}={value}" for name, value in self._web.cookies.items())
        return batch, cookies, self._web.cookies["batchui-csrf"]

    def _upload(self, source: Path) -> str:
        """Upload the file. Returns the batch's id."""
        with source.open("rb") as file:
            reply = self._web.post(
                "/new/", files={"file": (source.name, file, "text/csv")}, headers=self._not_forged()
            )
        return self._went_on(reply).rstrip("/").rpartition("/")[2]

    def _start(self, batch: str) -> None:
        form = {"name": "reviews", "model": MODEL, "template": TEMPLATE}
        form |= {"max_tokens": str(MAX_TOKENS), "agreed": "1000000"}  # whatever it costs
        address = f"/batches/{batch}/start/"
        self._went_on(self._web.post(address, data=form, headers=self._not_forged()))

    def _download(self, batch: str, result: Path) -> float:
        """Download the result. Returns when the first byte came (`perf_counter`)."""
        first_byte = 0.0
        address = f"/batches/{batch}/download/csv/"
        with self._web.stream("GET", address) as reply, result.open("wb") as out:
            if reply.status_code != httpx.codes.OK:
                raise BenchFailed(f"The download was answered with {reply.status_code}.")
            for chunk in reply.iter_raw():
                first_byte = first_byte or time.perf_counter()
                out.write(chunk)
        return first_byte

    def _went_on(self, reply: httpx.Response) -> str:
        """The address after a form that was accepted. Raises BenchFailed if it was not."""
        if not reply.has_redirect_location:
            raise BenchFailed(
                f"{reply.url.path} was answered with {reply.status_code} and no page to go on to."
                f"{self._product.last_lines()}"
            )
        return reply.headers["Location"]

    def _not_forged(self) -> dict[str, str]:
        return {"X-CSRFToken": self._web.cookies["batchui-csrf"]}
