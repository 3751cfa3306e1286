"""A person without a browser: what the pages' forms send, sent by hand."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from tests.project.helpers import until
from tests.stories.product import Product
from tests.stories.visitors import MODEL, PASSWORD, batch_id


@dataclass
class Person:
    """Somebody signed in to a running product."""

    product: Product
    web: httpx.Client

    def post(self, address: str, **form: str) -> httpx.Response:
        """Send a form, and follow to the page it leads to."""
        response = self.web.post(address, data=form, headers=self._not_forged())
        assert response.status_code == 200, f"{address}: {response.status_code}"
        return response

    def _not_forged(self) -> dict[str, str]:
        return {"X-CSRFToken": self.web.cookies["batchui-csrf"]}

    def start(self, content: bytes, *, ask: str, model: str = MODEL) -> str:
        """Upload a file and press Start; returns the batch's id."""
        page = self.web.post(
            "/new/", files={"file": ("texts.csv", content)}, headers=self._not_forged()
        )
        batch = batch_id(str(page.url))
        until(lambda: self.product.status(batch) == "draft")
        self.post(
            f"/batches/{batch}/start/", name="texts", model=model, template=ask, max_tokens="100"
        )
        return batch

    def send_again(self, batch: str, number: int) -> None:
        """Decide about a part that may have been sent."""
        self.post(f"/batches/{batch}/parts/{number}/send-again/")

    def download(self, batch: str, kind: str = "csv-plain") -> str:
        """The file with its answers."""
        return self.web.get(f"/batches/{batch}/download/{kind}/").content.decode("utf-8-sig")


@contextmanager
def first_person(product: Product) -> Iterator[Person]:
    """Whoever uses the printed link."""
    with httpx.Client(base_url=product.address, follow_redirects=True, timeout=20) as web:
        page = web.get(product.first_page)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        assert token, page.text
        form = {"name": "Ana", "email": "ana@example.com", "team_name": "Care"}
        form |= {"password": PASSWORD, "csrfmiddlewaretoken": token[1]}
        page = web.post(product.first_page, data=form)
        assert page.url.path == "/", page.text
        yield Person(product, web)
