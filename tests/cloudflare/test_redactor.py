"""A secret is found in whatever way it is written, and nothing else is touched."""

import base64
import json
from collections.abc import Callable

import pytest

from batchui.cloudflare.redactor import MARK, RedactedStream, Redactor
from tests.cloudflare.conftest import TOKEN


def escaped(way: str, characters: str = TOKEN) -> str:
    """The token, with `characters` of it written as `way` says, which gets their codes."""
    return "".join(way.format(ord(c)) if c in characters else c for c in TOKEN)


def packed(before: str) -> str:
    return base64.b64encode(f"{before}{TOKEN} and more".encode()).decode()


WRITTEN = {
    "as it is": TOKEN,
    "in JSON": escaped("\\u{:04x}"),
    "in JSON, in capitals": escaped("\\u{:04X}"),
    "one letter in JSON": escaped("\\u{:04x}", "T"),
    "its last letter in JSON": escaped("\\u{:04x}", TOKEN[-1]),
    "in JSON within JSON": json.dumps(escaped("\\u{:04x}"))[1:-1],
    "in JSON within JSON within JSON": escaped(r"\\\\u{:04x}", "s"),
    "its signs with a backslash": TOKEN.replace("-", "\\-").replace("_", "\\_"),
    "in an address": escaped("%{:02x}"),
    "in an address, in capitals": escaped("%{:02X}", "T_"),
    "in HTML": escaped("&#{:d};"),
    "in HTML, hexadecimal": escaped("&#x{:x};"),
    "in HTML, with zeros": escaped("&#{:06d};", "3"),
    "in HTML, hexadecimal, with zeros": escaped("&#X{:06X};", "_-"),
    "in mixed ways": "%73" + TOKEN[1:5] + "\\u0074" + "&#45;" + TOKEN[7:],
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_a_secret_is_hidden_however_it_is_written(written: str) -> None:
    redactor = Redactor(TOKEN)
    assert redactor.text(f"“{written}” é {written}") == "“[token]” é [token]"


@pytest.mark.parametrize("before", ["", "a", "ab", "Bearer ", "Authorization: Bearer ", "id:"])
@pytest.mark.parametrize("coded", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_is_hidden_in_base64_wherever_it_begins(
    before: str, coded: Callable[[bytes], bytes]
) -> None:
    text = coded(f"{before}{TOKEN} and more".encode())
    hidden = Redactor(TOKEN).bytes(text)
    assert MARK in hidden
    left, right = hidden.split(MARK)
    # What is left of it are the letters at its ends that share a character with their neighbours.
    assert TOKEN[:3].encode() not in base64.b64decode(left[: len(left) // 4 * 4])
    assert TOKEN[-3:].encode() not in base64.b64decode(right[len(right) % 4 :])


def test_a_secret_in_base64_with_signs_is_hidden() -> None:
    secret = "\u00ff\u00fe?>~" * 8  # gives + and / in base64
    for coded in (base64.b64encode, base64.urlsafe_b64encode):
        assert MARK in Redactor(secret).bytes(coded(secret.encode()))


@pytest.mark.parametrize(
    "text",
    [
        TOKEN[:-1],
        TOKEN[1:],
        TOKEN.upper(),
        f"{TOKEN[:10]} {TOKEN[10:]}",
        "100 % of \\u00e9 & &#8222;quotes&#8220; %20 \\u0020 \\n \\\\ \\u0073 %73",
        "",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert Redactor(TOKEN).text(text) == text


def test_without_a_secret_nothing_is_hidden() -> None:
    assert Redactor("").text(f"a {TOKEN} %61 \\u0061") == f"a {TOKEN} %61 \\u0061"


def test_texts_with_half_characters_are_possible() -> None:
    assert Redactor(TOKEN).text(f"\ud83d {TOKEN}") == "\ud83d [token]"


@pytest.mark.parametrize("written", [TOKEN, *list(WRITTEN.values())[1:4], packed("ab")])
@pytest.mark.parametrize("size", [1, 7, 100, 1_000])
def test_a_secret_is_hidden_where_a_stream_is_cut(written: str, size: int) -> None:
    data = (f"{'x' * 990}{written}{'y' * 20}{written}" * 3).encode()
    redactor = Redactor(TOKEN)
    stream = RedactedStream(redactor)
    pieces = [stream.write(data[at : at + size]) for at in range(0, len(data), size)]
    assert b"".join([*pieces, stream.end()]) == redactor.bytes(data)
    assert stream.end() == b""


def test_a_stream_holds_back_no_more_than_the_secret_could_need() -> None:
    redactor = Redactor(TOKEN)
    stream = RedactedStream(redactor)
    assert len(stream.write(b"x" * 10_000)) == 10_000 - redactor.longest
    assert redactor.longest == len(TOKEN) * len("&#x000061;")


def test_the_secret_is_not_shown() -> None:
    assert repr(Redactor(TOKEN)) == "<Redactor>"


def test_several_secrets_are_found_in_one_text() -> None:
    redactor = Redactor(TOKEN, "", other := "Another-Secret_0123456789")
    assert redactor.text(f"{TOKEN} {other}".replace("S", "%53")) == "[token] [token]"
    assert redactor.text(f"{TOKEN}, {other}") == "[token], [token]"
    assert redactor.longest == Redactor(max(TOKEN, other, key=len)).longest
