"""What a reply of an upstream means, and what of it people read."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import msgspec
import pytest

from batchui.sandbox.upstream.http_calls import HttpReply, Line
from batchui.sandbox.upstream.outcomes import (
    Away,
    Failed,
    Faulty,
    NoModel,
    Refusing,
    Unanswered,
    meaning,
)
from batchui.sandbox.upstream.results import NoResult, read
from batchui.sandbox.upstream.settings import Upstream
from tests.sandbox.upstream.model_server import completion

KEY = "sk-canary-0123456789"
LINE = Line(Upstream(url="http://gpu:8000/v1", model="m", key=KEY))


def means(status: int, body: Any = None, *, retry_after: str = "") -> Unanswered:
    content = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return meaning(LINE, HttpReply(status, content, retry_after))


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((429, Away), (502, Away), (503, Away), (401, Refusing), (402, Refusing), (403, Refusing)),
        *((407, Refusing), (301, Refusing), (308, Refusing), (405, Refusing), (404, NoModel)),
        *((400, Failed), (413, Failed), (415, Failed), (422, Failed), (501, Failed), (418, Failed)),
        *((408, Faulty), (409, Faulty), (425, Faulty), (500, Faulty), (504, Faulty), (599, Faulty)),
    ],
)
def test_each_status_means_something(status: int, kind: type[Unanswered]) -> None:
    found = means(status, {"error": {"message": "Something"}})
    assert type(found) is kind
    assert found.reason.startswith(f"gpu:8000 answered HTTP {status}: Something")


def test_a_page_that_is_not_there_is_no_model_that_is_not_there() -> None:
    assert isinstance(means(404, b"<h1>Not Found</h1>"), Refusing)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "one\n  two\x07"}}, "one two"),
        ({"error": "plain"}, "plain"),
        ({"message": "plain"}, "plain"),
        ({"detail": "Not authenticated"}, "Not authenticated"),
        ({"detail": [{"loc": ["body"], "msg": "Field required"}]}, "Field required"),
        ({"error": {"message": "x" * 400}}, "x" * 300 + "…"),
    ],
)
def test_the_words_of_every_kind_of_server_are_found(body: Any, words: str) -> None:
    assert means(400, body).reason == f"gpu:8000 answered HTTP 400: {words}"


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[1]", b'{"error": {"message": 5}}', b"[" * 9999]
)
def test_without_words_the_status_is_said(body: bytes) -> None:
    assert means(400, body).reason == "gpu:8000 answered HTTP 400"


def test_no_part_of_a_key_is_left_where_a_long_text_is_cut() -> None:
    for before in range(280, 300):
        told = means(401, {"error": {"message": f"{'x' * before}{KEY}"}})
        assert "sk-" not in told.reason


def test_a_wait_is_read_as_seconds_or_as_a_date() -> None:
    in_a_minute = datetime.now(UTC) + timedelta(seconds=60)
    for text, least, most in (
        *(("5", 5, 5), (" 5 ", 5, 5), ("0", 0, 0), ("999999", 3600, 3600)),
        (format_datetime(in_a_minute, usegmt=True), 50, 61),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
    ):
        found = means(429, retry_after=text)
        assert isinstance(found, Away)
        assert found.wait is not None
        assert least <= found.wait <= most
    for text in ("", "soon", "-5", "²"):
        assert means(429, retry_after=text) == Away("gpu:8000 answered HTTP 429", None, asked=True)


# -- answers --------------------------------------------------------------------------------------


def test_a_completion_stays_as_it_came_but_for_its_line_breaks() -> None:
    body = msgspec.json.format(msgspec.json.encode(completion("a\nb", timings={"ms": 1.50})))
    assert b"\n" in body
    result, read_tokens, written = read("chat", body)
    assert b"\n" not in result
    assert msgspec.json.decode(result) == msgspec.json.decode(body)
    assert (read_tokens, written) == (5, 2)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": "x"}, {"prompt_tokens": -1}, 5, 1e99]
)
def test_odd_counts_of_tokens_count_nothing(usage: Any) -> None:
    body = msgspec.json.encode(completion("a") | {"usage": usage})
    assert read("chat", body)[1:] == (0, 0)


@pytest.mark.parametrize(
    ("form", "body", "said"),
    [
        ("chat", b'{"choices": []}', "it has no choices"),
        ("chat", b'{"choices": [{"x": NaN}]}', "it is damaged"),
        ("chat", b'{"choices": ' + b"[" * 9999, "it is nested too deep|it is damaged"),
        ("chat", b'{"error": {"message": "out of memory"}}', "out of memory"),
        ("embeddings", b'{"data": []}', "it has no vectors"),
        ("embeddings", b'{"data": [{"embedding": "AAAA"}]}', "it is damaged, or of another form"),
        ("translation", b'{"choices": [5]}', "it is damaged, or of another form"),
    ],
)
def test_what_is_no_answer_is_said(form: Any, body: bytes, said: str) -> None:
    with pytest.raises(NoResult, match=said):
        read(form, body)


def test_a_translation_without_a_text_is_empty() -> None:
    body = msgspec.json.encode(completion(None))
    assert msgspec.json.decode(read("translation", body)[0])["translated_text"] is None
