"""The sentences about a team's own model server: none of them speaks of Cloudflare."""

import pytest

from batchui.cloudflare import local_errors
from batchui.cloudflare.errors import (
    BadReply,
    Busy,
    CloudflareError,
    MaybeSent,
    NotSent,
    Oversized,
    Refused,
    TooLarge,
)
from batchui.cloudflare.local_client import ModelServer
from batchui.cloudflare.local_errors import Trial, found, in_words
from batchui.sandbox import errors as of_sandbox

CALLED = "your local model (localhost:11434)"
CAPITAL = "Your local model (localhost:11434)"
LONG = "y" * 100


@pytest.mark.parametrize(
    ("trial", "has_key", "kind", "sentence"),
    [
        (
            Trial(problem="away", reason="Connection refused."),
            True,
            NotSent,
            f"{CAPITAL} cannot be reached (Connection refused). Start it, or correct its address.",
        ),
        (
            Trial(problem="refuses", reason="HTTP 401"),
            True,
            Busy,
            f"{CAPITAL} does not let batchui in (HTTP 401). Correct the key.",
        ),
        (
            Trial(problem="refuses"),
            False,
            Busy,
            f"{CAPITAL} does not let batchui in. It wants a key: enter one.",
        ),
        (
            Trial(problem="no api", reason="It is a shop."),
            True,
            BadReply,
            f"At the address of {CALLED} is no model server (It is a shop). Correct the address.",
        ),
        (
            Trial(problem="no model", reason="none", models=["a", LONG]),
            True,
            Busy,
            f"{CAPITAL} has no model “{'x' * 79}…”. It has: a, {'y' * 79}….",
        ),
        (
            Trial(problem="no model", models=[f"m{n}" for n in range(1012)]),
            True,
            Busy,
            f"{CAPITAL} has no model “{'x' * 79}…”. It has: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 "
            "and 1,002 more.",
        ),
        (
            Trial(problem="no model"),
            True,
            Busy,
            f"{CAPITAL} has no model “{'x' * 79}…”. It has none: load one there first.",
        ),
    ],
)
def test_each_finding_of_a_test_has_its_sentence(
    trial: Trial, has_key: bool, kind: type[CloudflareError], sentence: str
) -> None:
    told = found(trial, called=CALLED, model="x" * 100, has_key=has_key)
    assert told
    assert (type(told), told.user_message) == (kind, sentence)
    assert told.detail == trial.reason
    assert getattr(told, "needs_person", None) in ((True,) if kind is Busy else (None,))


def test_a_test_that_finds_nothing_wrong_is_no_error() -> None:
    assert found(Trial(), called=CALLED, model="x", has_key=False) is None


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (Refused("Cloudflare …", detail="odd", code=5007), Refused),
        (Refused("Cloudflare …", code=3006), TooLarge),
        (Refused("Cloudflare …", detail="odd", code=5006), Refused),
        (Busy("Cloudflare …", needs_person=True), Busy),
        (Oversized("Cloudflare …"), Oversized),
        (BadReply("Cloudflare …", detail="odd", code=8008), BadReply),
        (MaybeSent("Cloudflare …", http_status=502), MaybeSent),
        (MaybeSent("Cloudflare …", detail="the body begins: ''", http_status=200), MaybeSent),
    ],
)
def test_no_sentence_speaks_of_cloudflare_and_each_error_means_the_same(
    given: CloudflareError, kind: type[CloudflareError]
) -> None:
    told = in_words(given, called=CALLED)
    assert type(told) is kind
    assert "Cloudflare" not in told.user_message
    assert ("(odd)" in told.user_message) == (given.detail == "odd" and given.code is not None)
    assert "()" not in told.user_message
    assert "body begins" not in told.user_message
    assert (told.code, told.http_status, told.detail) == (
        given.code,
        given.http_status,
        given.detail,
    )
    assert getattr(told, "needs_person", False) == getattr(given, "needs_person", False)


def test_the_codes_are_those_of_the_sandbox() -> None:
    for name in (
        *("UNKNOWN_UPSTREAM", "UPSTREAM_REFUSES", "UPSTREAM_AWAY", "ITEM_FAILED"),
        "WRONG_UPSTREAM",
    ):
        assert getattr(local_errors, name) == getattr(of_sandbox, name)


@pytest.mark.parametrize(
    ("url", "called"),
    [
        ("http://localhost:11434/v1", "your local model (localhost:11434)"),
        ("http://ann:secret@localhost:1", "your local model (localhost:1)"),
        ("localhost", "your local model"),
        ("http://[::1", "your local model"),
    ],
)
def test_the_server_is_named_without_a_password(url: str, called: str) -> None:
    assert ModelServer(url=url, model="m").called == called
