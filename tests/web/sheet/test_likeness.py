"""In a row's panel: the nearest rows of an embedding, and the passages of a ranking in order."""

import pytest
from django.test import Client
from django.urls import reverse

from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, work
from tests.web.visiting import html, said

pytestmark = pytest.mark.django_db

BGE, BGE_M3 = "@cf/baai/bge-small-en-v1.5", "@cf/baai/bge-m3"


def test_the_nearest_rows_are_listed_with_their_likeness(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    texts = ["The room was quiet", "Cold breakfast", "The room was quiet"]
    content = "id,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(texts, 1))
    embedded = work(start(content.encode(), model=BGE, template="{{text}}"))
    panel = html(web.get(reverse("row", args=[embedded.pk, 2])))
    assert "Nearest rows" in panel
    page = said(web.get(reverse("nearest", args=[embedded.pk, 2])))
    assert "Row 4 1.00 The room was quiet" in page
    assert "All 3 rows with numbers were compared." in page


def test_passages_stand_in_the_order_of_their_scores(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    content = b"one,two,three\nIt rains a lot,Is it raining?,Bread\n"
    asked = {"model": BGE_M3, "template": "{{one}}{{two}}{{three}}", "query": "Is it raining?"}
    batch = work(start(content, **asked))
    page = said(web.get(reverse("row", args=[batch.pk, 2])))
    listed = page.split("Passages, the best first")[1].split("one It rains")[0]
    assert "Against: Is it raining?" in listed
    assert all(text in listed for text in ("It rains a lot", "Bread"))
    scores = [float(word) for word in listed.split() if word.startswith(("0.", "1.", "-0."))]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


def test_ready_made_contexts_are_passages_too(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    item = b'{"query": "Rain?", "contexts": [{"text": "It pours."}, {"text": "Bread."}]}\n'
    batch = work(start(item, name="items.jsonl", model=BGE_M3, template="", as_items=True))
    page = said(web.get(reverse("row", args=[batch.pk, 1])))
    assert "Passages, the best first" in page
    assert "It pours." in page
