"""JSON that a model wrote as text: bare, in a code fence, or with words around it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchui.cloudflare.json_in_text import DEEPEST, LONGEST, unwrapped

objects = st.dictionaries(st.text(max_size=10), st.text(max_size=20) | st.integers(), max_size=4)
plain = st.text(max_size=20).filter(lambda text: not set(text) & set("{}[]`"))


def answer(text: str) -> bytes:
    """An answer that is this text, as it is stored."""
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")


@given(objects, plain, plain, st.sampled_from(["json", "", "JSON", "text"]))
def test_json_is_found_in_fences_and_among_words(
    value: dict[str, Any], before: str, after: str, word: str
) -> None:
    text = json.dumps(value, indent=2)
    fenced = f"```{word}\n{text}\n```"
    for whole in (text, fenced, f"\n {fenced} \n"):
        assert json.loads(unwrapped(answer(whole))) == value
    for among in (f"{before}\n{fenced}\n{after}", f"{before}{text}{after}"):
        assert json.loads(unwrapped(answer(among), anywhere=True)) == value


def test_a_list_is_found_in_a_fence_alone() -> None:
    fenced, bare = "It {is}:\n```json\n[1]\n```\nThat {is} it.", "It is [1]."
    assert unwrapped(answer(fenced), anywhere=True) == b"[1]"
    assert unwrapped(answer(fenced)) == answer(fenced)
    assert unwrapped(answer(bare), anywhere=True) == answer(bare)


@given(st.text(max_size=40))
def test_any_text_stays_valid_json_on_one_line(text: str) -> None:
    for anywhere in (False, True):
        found = unwrapped(json.dumps(text).encode(), anywhere=anywhere)
        json.loads(found)
        assert b"\n" not in found


@pytest.mark.parametrize(
    "text", ["Sure: {}", "[note] {}", "3", "null", '"quoted"', "{", "```json\n{", "`{}`", ""]
)
def test_words_are_an_answer_and_not_json(text: str) -> None:
    assert unwrapped(answer(text)) == answer(text)


def test_what_is_no_text_stays_what_it_is() -> None:
    for raw in (b'{"a":1}', b"[]", b"3", b"null", b'"\xff"'):
        assert unwrapped(raw, anywhere=True) == raw


def test_a_long_text_stays_a_text() -> None:
    most = answer(json.dumps({"a": "x" * (LONGEST - 16)}))
    assert len(most) <= LONGEST
    assert unwrapped(most) != most
    longer = answer(json.dumps({"a": "x" * LONGEST}))
    assert unwrapped(longer, anywhere=True) == longer


def test_what_is_nested_too_deep_stays_a_text() -> None:
    fits, over = ("[" * depth + "]" * depth for depth in (DEEPEST, DEEPEST + 1))
    assert unwrapped(answer(fits)) == fits.encode()
    assert unwrapped(answer(over), anywhere=True) == answer(over)
