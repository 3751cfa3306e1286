"""What is broken in a reply costs one row, one call, or nothing; never time or memory without end.

Each reply is as it comes over the wire; `decode` reads it as the product does.
"""

import json
import tracemalloc
from typing import Any

import pytest

from batchui.cloudflare import json_scanner, reply_body
from batchui.cloudflare.answers import LARGEST_TAKEN_APART
from batchui.cloudflare.errors import BadReply
from batchui.cloudflare.replies import DEEPEST_ANSWER, ItemReply, Usage, decode
from batchui.cloudflare.reply_body import TooManyItems
from tests.cloudflare.conftest import REQUEST_ID, finished

BROKEN = (
    "Cloudflare's answer for this row cannot be read: it is damaged, or nested too deep. Retry "
    "this row."
)
GOOD = '{"id": 0, "result": {"response": "Yes"}, "success": true}'


def body(*items: str, container: str = "responses", more: str = "") -> bytes:
    """A finished reply with items as they are written."""
    listed = ", ".join(items)
    return f'{{"result": {{"{container}": [{listed}]{more}}}, "success": true}}'.encode()


def item(response: str, number: int = 1) -> str:
    return f'{{"id": {number}, "result": {{"response": {response}}}, "success": true}}'


def read(*items: str, **more: Any) -> list[ItemReply]:
    return decode(body(*items, **more)).items


def nested(levels: int) -> str:
    return "[" * levels + "7" + "]" * levels


# -- numbers that are none ------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "nan", "inf", "-inf", "+NaN"])
def test_a_number_that_is_none_is_read_as_null(word: str) -> None:
    good, read_as = read(GOOD, item(f"[0.5, {word}, {word}]"))
    assert (good.answer, good.status) == (b'"Yes"', "answered")
    assert (read_as.answer, read_as.status) == (b"[0.5, null, null]", "answered")


def test_such_words_in_a_text_stay_words() -> None:
    text = json.dumps('NaN "Infinity", \\ -inf')
    [answered] = read(item(f'{{"text": {text}, "score": NaN}}'))
    assert json.loads(answered.answer or b"") == {"text": 'NaN "Infinity", \\ -inf', "score": None}


@pytest.mark.parametrize("word", ["NaNo", "infinite", "None", "banana"])
def test_other_words_are_no_numbers(word: str) -> None:
    _, broken = read(GOOD, item(f"[{word}]"))
    assert (broken.index, broken.status, broken.error, broken.broken) == (1, "failed", BROKEN, True)


def test_an_answer_of_such_numbers_alone_is_empty() -> None:
    [empty] = read(item("[NaN, NaN]"))
    assert empty.status == "empty"


def test_tokens_beside_a_number_that_is_none_are_counted() -> None:
    reply = decode(body(GOOD, more=', "usage": {"prompt_tokens": 3, "cost": NaN}'))
    assert reply.usage == Usage(3, 0)


# -- one broken item ------------------------------------------------------------------------------

BROKEN_ITEMS = {
    "a word that is none": item("tru"),
    "a number that is none": item("1.2.3"),
    "an escape that is none": item(r'"\x"'),
    "a control character": item('"a\x01b"'),
    "brackets that do not match": item("[1}"),
    "nested too deep for a decoder": item(nested(50_000)),
    "nested too deep for a page": item(nested(DEEPEST_ANSWER + 1)),
    "objects nested too deep": item('{"a":' * (DEEPEST_ANSWER + 1) + "1" + "}" * 101),
    "lists and objects nested too deep": item('[[{"a":' * 34 + "7" + "}]]" * 34),
    "tokens nested too deep": (
        f'{{"id": 1, "result": {{"response": "Yes", "usage": {nested(200)}}}, "success": true}}'
    ),
}


@pytest.mark.parametrize("broken", BROKEN_ITEMS.values(), ids=BROKEN_ITEMS)
@pytest.mark.parametrize("container", ["responses", "results"])
def test_an_item_that_is_broken_costs_its_row_alone(broken: str, container: str) -> None:
    many = [item('"Yes"', number) for number in range(2, 200)]
    first, failed, *rest = read(GOOD, broken, *many, container=container)
    assert (failed.index, failed.status, failed.answer) == (1, "failed", None)
    assert (failed.error, failed.broken) == (BROKEN, True)
    assert [one.index for one in (first, *rest)] == [0, *range(2, 200)]
    assert {(one.status, one.answer, one.broken) for one in (first, *rest)} == {
        ("answered", b'"Yes"', False)
    }


def test_an_answer_may_be_nested_a_hundred_levels() -> None:
    assert DEEPEST_ANSWER == 100
    mixed = '[{"a":' * 50 + "7" + "}]" * 50
    usage = f'{{"id": 1, "result": {{"response": "Yes", "usage": {nested(100)}}}}}'
    for fits in (item(nested(100)), item(mixed), usage):
        assert [one.status for one in read(fits)] == ["answered"]
    assert [one.broken for one in read(item(f"[{mixed}]"), item('{"a":' + mixed + "}"))] == [
        True
    ] * 2


def test_many_lists_side_by_side_are_not_deep() -> None:
    wide = json.dumps([[number, {"a": [number]}] for number in range(500)])
    assert [one.status for one in read(item(wide))] == ["answered"]


def test_brackets_in_a_text_are_not_deep() -> None:
    assert [one.status for one in read(item(json.dumps("[{" * 500)))] == ["answered"]
    assert [one.status for one in read(item(json.dumps(["[{" * 500])))] == ["answered"]


def test_what_is_broken_beside_an_answer_costs_nothing() -> None:
    [answered] = read('{"id": 1, "more": tru, "result": {"response": "Yes"}}')
    assert (answered.index, answered.status, answered.answer) == (1, "answered", b'"Yes"')


def test_a_broken_item_keeps_its_reference() -> None:
    [broken] = read('{"index": "4", "external_reference": "row 7", "result": tru}')
    assert (broken.index, broken.reference) == (4, "row 7")


@pytest.mark.parametrize("position", ["", '"id": "x", ', '"id": tru, '])
def test_a_broken_item_that_tells_no_position_is_left_out(position: str) -> None:
    assert [one.index for one in read(GOOD, f'{{{position}"result": tru}}')] == [0]


def test_an_item_that_breaks_before_its_position_is_left_out() -> None:
    assert [one.index for one in read(GOOD, '{"result" "Yes", "id": 1}')] == [0]


def test_what_an_item_says_in_an_unusual_way_is_not_broken() -> None:
    unusual = (
        '{"id": 1.5, "index": "1", "success": "yes", "external_reference": 7,'
        ' "result": {"response": "Yes \\ud83d"}, "error": {"code": NaN}}'
    )
    [read_as] = read(unusual)
    assert (read_as.index, read_as.status, read_as.reference) == (1, "answered", "7")
    assert json.loads(read_as.answer or b"") == "Yes \ufffd"


def test_an_item_that_failed_in_an_unusual_way_gives_its_reason() -> None:
    for name in ("error", "errors", "message"):
        [failed] = read(f'{{"id": 1.5, "index": 1, "success": false, "{name}": ["Too long", NaN]}}')
        assert (failed.index, failed.status, failed.broken) == (1, "failed", False)
        assert "“Too long”" in str(failed.error)


@pytest.mark.parametrize("size", [reply_body.LONGEST_VALUE, 5 * reply_body.LONGEST_VALUE])
def test_a_reference_is_read_however_long(size: int) -> None:
    reference = "x" * size
    [usual] = read(f'{{"id": 0, "external_reference": "{reference}"}}')
    [unusual] = read(f'{{"id": 0, "success": 7, "external_reference": "{reference}"}}')
    assert usual.reference == unusual.reference == reference


def test_a_reason_is_read_up_to_64_kib() -> None:
    fits = json.dumps("x" * (64 * 1024 - 2))
    for text, told in ((fits, "xxx"), (fits[:-1] + 'x"', "gives no reason")):
        [failed] = read(f'{{"id": 0, "success": false, "error": {text}}}')
        assert told in str(failed.error)


@pytest.mark.parametrize("levels", [5, 50, 400, 900])
def test_a_reason_nested_deep_is_looked_for_in_ten_levels(levels: int) -> None:
    deep = "[" * levels + '"Too long"' + "]" * levels
    [failed] = read(f'{{"id": 0, "success": false, "error": {deep}}}')
    assert ("“Too long”" in str(failed.error)) == (levels == 5)


# -- the whole reply ------------------------------------------------------------------------------


def test_an_unusual_reply_is_read_as_far_as_it_goes() -> None:
    reply = decode(
        body(
            GOOD,
            more=f', "status": 7, "request_id": 8, "usage": [1], "results": {{}}, "x": {nested(5)}',
        ),
        request_id=REQUEST_ID,
    )
    assert ([one.index for one in reply.items], reply.usage) == ([0], None)


def test_an_unusual_reply_says_how_far_its_request_is() -> None:
    with pytest.raises(BadReply, match="status 'running'"):
        decode(body(GOOD, "7", more=', "status": " Running"'))
    with pytest.raises(BadReply, match=f"asked for {REQUEST_ID}, was told about another"):
        decode(body(GOOD, "7", more=', "request_id": "another"'), request_id=REQUEST_ID)


def test_an_unusual_reply_without_an_envelope_is_read() -> None:
    for container in ("responses", "results"):
        content = f'{{"{container}": [{GOOD}, {item("NaN", 3)}], "result": [1]}}'
        assert [one.index for one in decode(content.encode()).items] == [0, 3]


@pytest.mark.parametrize("response", ['"Yes"', "NaN"])
def test_of_two_containers_with_items_the_first_counts(response: str) -> None:
    one, other = item(response, 1), item(response, 2)
    content = f'{{"result": {{"results": [{one}], "responses": [{other}]}}}}'
    assert [found.index for found in decode(content.encode()).items] == [2]


def test_of_two_containers_in_an_unusual_reply_the_one_with_items_counts() -> None:
    content = f'{{"result": {{"responses": [], "results": [{item("NaN")}]}}}}'
    assert [one.index for one in decode(content.encode()).items] == [1]


def test_results_within_results_are_not_walked_into() -> None:
    within = '{"result": ' * 3_000 + "7" + "}" * 3_000
    content = body(item("NaN"), more=f', "result": {within}')
    assert [one.index for one in decode(content).items] == [1]


@pytest.mark.parametrize(
    "cut",
    [
        body(item("NaN"))[:-1],
        body(item("NaN"))[:-20],
        body(item('"no end'), GOOD),
        body(item("NaN")) + b"{}",
        body(item("NaN")).replace(b", ", b" "),
        body(item("NaN")).replace(b":", b"", 1),
        body(item("NaN")).replace(b'{"result"', b"{result"),
        body(item("NaN"), "]"),
    ],
)
def test_a_reply_that_is_not_whole_is_not_taken(cut: bytes) -> None:
    with pytest.raises(BadReply, match="bytes"):
        decode(cut)


# -- time and memory ------------------------------------------------------------------------------


@pytest.mark.parametrize("unusual", ["", "7"], ids=["as documented", "unusual"])
@pytest.mark.parametrize("container", ["responses", "results"])
def test_a_reply_with_more_items_than_asked_for_is_refused(unusual: str, container: str) -> None:
    items = [GOOD] * 9 + [unusual or GOOD]
    assert len(decode(body(*items, container=container), most=10).items) == 10
    with pytest.raises(TooManyItems, match="more than 10 items"):
        decode(body(*items, GOOD, container=container), most=10)


def peak_of(content: bytes, why: str, **most: int) -> int:
    """Bytes that reading this needs, beside the reply itself; it must fail."""
    tracemalloc.start()
    try:
        with pytest.raises(BadReply, match=why):
            decode(content, **most)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("tiny", ["{}", "[]", "7", '{"id": 1}', "null"])
def test_a_reply_of_tiny_items_never_fills_the_memory(tiny: str) -> None:
    """12 MB of `{}` would be 400 MB of items."""
    times = 12_000_000 // (len(tiny) + 1)
    content = b'{"result": {"responses": [' + f"{tiny},".encode() * times + b"7]}}"
    assert peak_of(content, "more than 20,000 items", most=20_000) < 60_000_000


def test_as_many_objects_as_may_be_decoded_at_once_are() -> None:
    assert reply_body.MOST_AT_ONCE == 1_000_000
    content = b'{"result":{"responses":[' + b"{}," * 999_997 + b"{}" + b"]}}"
    assert content.count(b"{") == 1_000_000
    with pytest.raises(TooManyItems):
        decode(content, most=999_997)
    assert len(reply_body.open_body(content, most=999_998)[1].items or ()) == 999_998


def test_an_item_of_lists_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one item, where no number of items helps."""
    monkeypatch.setattr(json_scanner, "MOST_BRACKETS", 1_000)
    with pytest.raises(BadReply, match="invalid character"):
        read(item("[" + "[]," * 600 + "tru]"))


def test_a_large_answer_is_taken_as_it_is() -> None:
    """Taken apart, it could need twenty times its size."""
    size = LARGEST_TAKEN_APART - len('{"response": ""}')
    for extra, inside in ((0, True), (1, False)):
        [large] = read(item(f'"{"x" * (size + extra)}"'))
        assert large.answer is not None
        assert large.answer.startswith(b'"x' if inside else b'{"response": "x')
    assert LARGEST_TAKEN_APART == 8 * 1024 * 1024


def test_a_long_list_of_nothing_is_something() -> None:
    """Whether it is nothing is not looked for in it."""
    fits, over = ("[" + "null," * n + "null]" for n in (13_106, 13_107))
    assert len(fits) == 64 * 1024
    assert [one.status for one in read(item(fits), item(over))] == ["empty", "answered"]


def test_a_very_large_reply_is_decoded_at_once_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert reply_body.LONGEST_WALK == 128 * 1024 * 1024
    content = body(item("NaN"))
    monkeypatch.setattr(reply_body, "LONGEST_WALK", len(content))
    assert [one.index for one in decode(content).items] == [1]
    with pytest.raises(BadReply, match="invalid character"):
        decode(content + b" ")
    usual = body(GOOD + " " * len(content))
    assert [one.index for one in decode(usual).items] == [0]
    monkeypatch.setattr(reply_body, "MOST_AT_ONCE", 1)
    with pytest.raises(BadReply, match="too many objects to decode them at once"):
        decode(usual)


def test_the_usual_reply_is_decoded_at_once() -> None:
    """Then the answers are not copied before they are needed."""
    content = json.dumps(finished({"id": 0, "result": {"response": "Yes"}})).encode()
    envelope, inner = reply_body.open_body(content, most=1)
    assert envelope is not inner
    assert inner.items is not None
    assert envelope.items is None
