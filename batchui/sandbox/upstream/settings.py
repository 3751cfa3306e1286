"""The settings of an upstream: read, checked, and said in sentences where they are wrong."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec

CONCURRENCY = 4
MOST_CONCURRENCY = 64
SECONDS = 600.0
MOST_SECONDS = 86_400.0
LONGEST_MODEL = 200

_VARIABLES = {
    "url": "SANDBOX_UPSTREAM_URL",
    "model": "SANDBOX_UPSTREAM_MODEL",
    "key": "SANDBOX_UPSTREAM_KEY",
    "concurrency": "SANDBOX_UPSTREAM_CONCURRENCY",
    "timeout_seconds": "SANDBOX_UPSTREAM_TIMEOUT_SECONDS",
}
_LABELS = {
    "url": "The address of the model server",
    "model": "The name of the model",
    "key": "The key",
    "concurrency": "The number of requests at once",
    "timeout_seconds": "The longest time for an answer",
}
_KEY = re.compile(r"[\x21-\x7e]{0,4096}")
_VERSION = re.compile(r"v\d+\w*")
# What somebody may have copied together with the address.
_CALLS = re.compile(r"/(chat/completions|completions|embeddings|models)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """A server that speaks OpenAI's wire.

    url: of its API, with the version and without a slash at its end. model: for requests that name
    a model of Cloudflare's. key: "" for none. concurrency: items asked at once. seconds: for one
    answer.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    concurrency: int = CONCURRENCY
    seconds: float = SECONDS

    @property
    def server(self) -> str:
        """Host and port, for sentences."""
        return urlsplit(self.url).netloc

    def model_for(self, name: str) -> str:
        """The model that is asked for a request of the model `name`."""
        return self.model if name.startswith("@") else name


class WrongSetting(ValueError):
    """A setting that cannot be used. name: of the setting. reason: the end of a sentence on it."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(f"{_LABELS[name]} {reason}")


class _Told(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    url: str
    model: str
    key: str = ""
    concurrency: int = CONCURRENCY
    timeout_seconds: float = SECONDS


def from_json(body: bytes) -> Upstream:
    """The upstream that a call describes. Raises ValueError with a sentence."""
    return _checked(msgspec.json.decode(body, type=_Told))


def from_environment(environment: Mapping[str, str] = os.environ) -> Upstream | None:
    """The upstream that environment variables name; None without SANDBOX_UPSTREAM_URL.

    Raises ValueError with a sentence that names the variable.
    """
    given = {name: environment.get(of, "").strip() for name, of in _VARIABLES.items()}
    if not given["url"]:
        return None
    try:
        return _checked(
            _Told(
                url=given["url"],
                model=given["model"],
                key=given["key"],
                concurrency=_number(given, "concurrency", CONCURRENCY, whole=True),
                timeout_seconds=_number(given, "timeout_seconds", SECONDS),
            )
        )
    except WrongSetting as exc:
        raise ValueError(f"{_VARIABLES[exc.name]} {exc.reason}") from None


def _number(given: Mapping[str, str], name: str, default: Any, *, whole: bool = False) -> Any:
    text = given[name]
    if not text:
        return default
    try:
        return int(text) if whole else float(text)
    except ValueError:
        raise WrongSetting(name, f"is “{text}”, which is not a number.") from None


def _checked(told: _Told) -> Upstream:
    """The upstream. Raises WrongSetting, whose reason never has the key in it."""
    model = told.model.strip()
    if not model:
        raise WrongSetting("model", "is missing. Set the name of a model that the server has.")
    if len(model) > LONGEST_MODEL or not model.isprintable():
        raise WrongSetting("model", f"is longer than {LONGEST_MODEL} characters or not one line.")
    key = told.key.strip()
    if not _KEY.fullmatch(key):
        raise WrongSetting("key", "has blanks, line breaks or characters that no key has.")
    _check_bounds("concurrency", told.concurrency, MOST_CONCURRENCY)
    _check_bounds("timeout_seconds", told.timeout_seconds, MOST_SECONDS)
    return Upstream(
        url=_address(told.url.strip()),
        model=model,
        key=key,
        concurrency=told.concurrency,
        seconds=told.timeout_seconds,
    )


def _check_bounds(name: str, value: float, most: float) -> None:
    if not 1 <= value <= most:
        raise WrongSetting(name, f"is {value:g}, which is not from 1 to {most:,.0f}.")


def _address(text: str) -> str:
    """The address of the API. Most people leave out its `/v1`, which is added then."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        host = (parts.hostname or "").encode("ascii")
    except ValueError:  # brackets that are not closed, a port beyond 65535, letters beyond ASCII
        usable, host = False, b""
    if not usable or not host:
        raise WrongSetting(
            "url", "is not a web address. Set one such as http://127.0.0.1:11434 (for Ollama)."
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise WrongSetting(
            "url", "must not have a user name, a password, or anything after ? or #."
        )
    path = _CALLS.sub("", parts.path.rstrip("/")).rstrip("/")
    if not any(_VERSION.fullmatch(name) for name in path.split("/")):
        path += "/v1"
    return f"{parts.scheme}://{parts.netloc}{path}"
