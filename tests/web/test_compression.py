"""Pages travel compressed; downloads, and answers to those who cannot unpack them, do not."""

import gzip
import re
from typing import Any

import brotli
import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.web.compression import packed
from tests.web.visiting import HTMX, STREAMED, html

pytestmark = pytest.mark.django_db

PACKED = {"Accept-Encoding": "gzip, deflate"}
SMALLER = {"Accept-Encoding": "gzip, deflate, br, zstd"}


def unpacked(response: Any) -> str:
    unpack = {"gzip": gzip.decompress, "br": brotli.decompress}[response["Content-Encoding"]]
    return str(unpack(response.content).decode())


def without_secrets(page: str) -> str:
    """A page without its token against forged requests, which is another one each time."""
    return re.sub(r'(csrfmiddlewaretoken" value="|X-CSRFToken": ")\w+', "", page)


def test_a_page_travels_at_a_third_of_its_size(web: Client, batch: Batch) -> None:
    plain = web.get(batch.get_absolute_url())
    zipped = web.get(batch.get_absolute_url(), headers=PACKED)
    assert without_secrets(unpacked(zipped)) == without_secrets(html(plain))
    assert len(zipped.content) < len(plain.content) / 3
    assert int(zipped["Content-Length"]) == len(zipped.content)
    assert "Content-Encoding" not in plain.headers
    smaller = web.get(batch.get_absolute_url(), headers=SMALLER)
    assert smaller["Content-Encoding"] == "br"
    assert without_secrets(unpacked(smaller)) == without_secrets(html(plain))
    assert int(smaller["Content-Length"]) == len(smaller.content) < len(zipped.content)
    for response in (plain, zipped, smaller):
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


def test_brotli_hides_the_length_in_bytes_that_are_skipped(web: Client, batch: Batch) -> None:
    pages = [web.get(batch.get_absolute_url(), headers=SMALLER) for _ in range(12)]
    tokens = {re.search(r'X-CSRFToken": "(\w+)', unpacked(page))[1] for page in pages}  # type: ignore[index]
    assert len(tokens) == 12
    content = b"<p>The same words.</p>" * 40
    made = [packed(content, most_random=100) for _ in range(400)]
    assert {brotli.decompress(one) for one in made} == {content}
    lengths = {len(one) for one in made}
    assert 90 <= max(lengths) - min(lengths) < 100
    # Two of the shortest, with a random byte or none, may be the same.
    longer = [one for one in made if len(one) > min(lengths) + 10]
    assert len(set(longer)) == len(longer) > 300


def test_of_the_bytes_that_are_skipped_there_are_1_to_256() -> None:
    for number in (1, 256):
        assert brotli.decompress(packed(b"words", most_random=number)) == b"words"
    with pytest.raises(ValueError, match="1 to 256"):
        packed(b"words" * 9, most_random=10**6)


@pytest.mark.parametrize(
    ("takes", "gets"),
    [
        *(("br", "br"), ("gzip;q=0.5, br;q=1.0", "br"), ("gzip, br;q=0.01", "br")),
        *(("gzip, br;q=0", "gzip"), ("br; q=0.0, gzip", "gzip"), ("gzip, brx", "gzip")),
    ],
)
def test_only_who_takes_brotli_gets_it(web: Client, batch: Batch, takes: str, gets: str) -> None:
    answer = web.get(batch.get_absolute_url(), headers={"Accept-Encoding": takes})
    assert answer["Content-Encoding"] == gets


@pytest.mark.parametrize("kind", STREAMED)
def test_a_download_goes_out_as_it_is(web: Client, batch: Batch, kind: str) -> None:
    response = web.get(reverse("download", args=[batch.pk, kind]), headers=SMALLER)
    assert response.status_code == 200
    assert "Content-Encoding" not in response.headers
    assert b"".join(response.streaming_content)[:2] != b"\x1f\x8b"


def test_what_is_no_page_goes_out_as_it_is(web: Client) -> None:
    response = web.get(reverse("sample"), headers=SMALLER)
    assert response["Content-Type"].startswith("text/csv")
    assert len(response.content) > 200
    assert "Content-Encoding" not in response.headers
