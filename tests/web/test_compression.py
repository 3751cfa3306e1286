"""Pages travel compressed; downloads, and answers to those who cannot unpack them, do not."""

import gzip
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from tests.web.visiting import HTMX, STREAMED, html

pytestmark = pytest.mark.django_db

PACKED = {"Accept-Encoding": "gzip, deflate, br"}


def unpacked(response: Any) -> str:
    assert response["Content-Encoding"] == "gzip"
    return gzip.decompress(response.content).decode()


def without_secrets(page: str) -> str:
    """A page without its token against forged requests, which is another one each time."""
    return re.sub(r'(csrfmiddlewaretoken" value="|X-CSRFToken": ")\w+', "", page)


def test_a_page_travels_at_a_third_of_its_size(web: Client, batch: Batch) -> None:
    plain = web.get(batch.get_absolute_url())
    packed = web.get(batch.get_absolute_url(), headers=PACKED)
    assert without_secrets(unpacked(packed)) == without_secrets(html(plain))
    assert len(packed.content) < len(plain.content) / 3
    assert int(packed["Content-Length"]) == len(packed.content)
    assert "Content-Encoding" not in plain.headers
    for response in (plain, packed):
        assert "Accept-Encoding" in response["Vary"]


def test_a_fragment_is_packed_too(web: Client, batch: Batch) -> None:
    address = reverse("parts", args=[batch.pk])
    assert "<table" in unpacked(web.get(address, headers=PACKED | HTMX))


def test_neither_the_token_nor_the_length_of_a_page_can_be_guessed_from_its_size(
    web: Client, batch: Batch
) -> None:
    pages = [web.get(batch.get_absolute_url(), headers=PACKED) for _ in range(12)]
    tokens = {re.search(r'X-CSRFToken": "(\w+)', unpacked(page))[1] for page in pages}  # type: ignore[index]
    assert len(tokens) == 12
    heads = {page.content[3] & 8 for page in pages}
    assert heads == {8}, "random bytes stand in the name of a file, which gzip allows"
    assert len({page.content[10:].partition(b"\0")[0] for page in pages}) > 1


@pytest.mark.parametrize("kind", STREAMED)
def test_a_download_goes_out_as_it_is(web: Client, batch: Batch, kind: str) -> None:
    response = web.get(reverse("download", args=[batch.pk, kind]), headers=PACKED)
    assert response.status_code == 200
    assert "Content-Encoding" not in response.headers
    assert b"".join(response.streaming_content)[:2] != b"\x1f\x8b"


def test_what_is_no_page_goes_out_as_it_is(web: Client) -> None:
    response = web.get(reverse("sample"), headers=PACKED)
    assert response["Content-Type"].startswith("text/csv")
    assert len(response.content) > 200
    assert "Content-Encoding" not in response.headers
