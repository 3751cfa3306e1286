"""The settings of an upstream: what is taken, and what is said of what cannot be."""

import json
from typing import Any

import pytest

from batchui.sandbox.upstream.settings import Upstream, from_environment, from_json

URL, MODEL = "SANDBOX_UPSTREAM_URL", "SANDBOX_UPSTREAM_MODEL"
KEY = "sk-canary-0123456789"


def told(**more: Any) -> Upstream:
    return from_json(json.dumps({"url": "http://127.0.0.1:8080", "model": "m", **more}).encode())


def wrong(**more: Any) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is what is looked at
        told(**more)
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        (" http://localhost:11434/ ", "http://localhost:11434/v1"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1"),
        ("https://llm.example.com/team", "https://llm.example.com/team/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("https://g.example.com/v1beta/openai/", "https://g.example.com/v1beta/openai"),
        ("http://[::1]:8080/v1/chat/completions", "http://[::1]:8080/v1"),
        ("http://localhost:8080/v1/models", "http://localhost:8080/v1"),
    ],
)
def test_the_version_may_be_left_out(given: str, used: str) -> None:
    assert told(url=given).url == used


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:11434", "ftp://localhost", "http://", "http://[::1", "http://x:99999"),
        *("http://x:0", "http://ä.example.com"),
    ],
)
def test_what_is_no_address_is_said(url: str) -> None:
    assert wrong(url=url).startswith("The address of the model server is not a web address.")


@pytest.mark.parametrize("url", ["http://u:secret@x", "http://x/v1?key=secret", "http://x/#secret"])
def test_an_address_with_a_secret_in_it_is_refused_without_repeating_it(url: str) -> None:
    said = wrong(url=url)
    assert "must not have a user name" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"model": " "}, "The name of the model is missing."),
        ({"model": "a\nb"}, "The name of the model is longer than 200 characters or not one line."),
        ({"model": "a" * 201}, "The name of the model is longer than 200 characters"),
        ({"concurrency": 0}, "The number of requests at once is 0, which is not from 1 to 64."),
        ({"concurrency": 65}, "The number of requests at once is 65"),
        ({"timeout_seconds": 0.5}, "The longest time for an answer is 0.5"),
        ({"timeout_seconds": 86_401}, "which is not from 1 to 86,400."),
        ({"key": f"{KEY} x"}, "The key has blanks, line breaks or characters that no key has."),
        ({"key": "ключ"}, "The key has blanks"),
        ({"token": KEY}, "Object contains unknown field `token`"),
        ({"key": 5}, "Expected `str`, got `int`"),
    ],
)
def test_each_wrong_setting_is_named_without_the_key(more: dict[str, Any], said: str) -> None:
    found = wrong(**more)
    assert said in found
    assert KEY not in found


def test_the_bounds_themselves_are_taken() -> None:
    assert told(concurrency=64, timeout_seconds=86_400).concurrency == 64
    assert told(concurrency=1, timeout_seconds=1, model="a" * 200).seconds == 1


def test_the_key_is_not_shown() -> None:
    upstream = told(key=f" {KEY} ")
    assert upstream.key == KEY
    assert KEY not in repr(upstream)


def test_without_an_address_nothing_is_asked() -> None:
    assert from_environment({MODEL: "m", "SANDBOX_UPSTREAM_CONCURRENCY": "lots"}) is None


def test_the_environment_has_all_of_it() -> None:
    assert from_environment(
        {
            URL: "http://localhost:11434",
            MODEL: "llama3.2",
            "SANDBOX_UPSTREAM_KEY": KEY,
            "SANDBOX_UPSTREAM_CONCURRENCY": "8",
            "SANDBOX_UPSTREAM_TIMEOUT_SECONDS": "2.5",
        }
    ) == Upstream(
        url="http://localhost:11434/v1", model="llama3.2", key=KEY, concurrency=8, seconds=2.5
    )
    assert from_environment({URL: "http://localhost:11434", MODEL: "m"}) == Upstream(
        url="http://localhost:11434/v1", model="m", key="", concurrency=4, seconds=600
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (URL, "localhost", "SANDBOX_UPSTREAM_URL is not a web address."),
        (MODEL, "", "SANDBOX_UPSTREAM_MODEL is missing."),
        ("SANDBOX_UPSTREAM_CONCURRENCY", "2.5", "is “2.5”, which is not a number."),
        ("SANDBOX_UPSTREAM_CONCURRENCY", "100", "SANDBOX_UPSTREAM_CONCURRENCY is 100, which is"),
        ("SANDBOX_UPSTREAM_TIMEOUT_SECONDS", "nan", "SANDBOX_UPSTREAM_TIMEOUT_SECONDS is nan"),
        ("SANDBOX_UPSTREAM_KEY", "a b", "SANDBOX_UPSTREAM_KEY has blanks"),
    ],
)
def test_a_wrong_variable_is_named(name: str, value: str, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace(".", r"\.")):
        from_environment({URL: "http://localhost:11434", MODEL: "m", name: value})
