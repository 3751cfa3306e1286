"""Embeddings and scores."""

import math

import pytest

from tests.sandbox.conftest import BGE_M3, BGE_SMALL, Caller

WIDTHS = {
    "@cf/baai/bge-small-en-v1.5": 384,
    "@cf/baai/bge-base-en-v1.5": 768,
    "@cf/baai/bge-large-en-v1.5": 1024,
    "@cf/baai/bge-m3": 1024,
}


@pytest.mark.parametrize(("model", "width"), WIDTHS.items())
def test_vectors_have_the_real_width_and_length_one(caller: Caller, model: str, width: int) -> None:
    (result,) = caller.results(model, {"text": ["One text", "Another"]})
    assert result["shape"] == [2, width]
    for vector in result["data"]:
        assert len(vector) == width
        assert math.isclose(math.hypot(*vector), 1, abs_tol=1e-5)


def test_the_same_text_has_the_same_vector(caller: Caller) -> None:
    first, second, other = caller.results(BGE_SMALL, *({"text": t} for t in ("A", "A", "B")))
    assert first == second != other


def test_contexts_are_scored_by_shared_words_best_first(caller: Caller) -> None:
    contexts = [{"text": "A story about a llama"}, {"text": "This is a story about Cloudflare"}]
    (result,) = caller.results(
        BGE_M3, {"query": "This is a story about Cloudflare", "contexts": contexts}
    )
    assert [entry["id"] for entry in result["response"]] == [1, 0]
    assert result["response"][0]["score"] > result["response"][1]["score"]


def test_contexts_without_a_query_come_back_as_vectors(caller: Caller) -> None:
    (result,) = caller.results(BGE_M3, {"contexts": [{"text": "One"}, {"text": "Two"}]})
    assert result["shape"] == [2, 1024]
    assert len(result["response"]) == 2
    assert "data" not in result
