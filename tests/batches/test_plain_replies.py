"""A reply in which all rows are answered is read at once; what comes of it is what always comes."""

import io
import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchui.batches import part_answers
from batchui.batches.compressed import read_compressed
from batchui.batches.models import Attempt, Part
from batchui.batches.outcomes import Answered
from batchui.batches.part_answers import Answer, Edit
from batchui.batches.replies import MismatchError, absorb
from batchui.cloudflare.errors import BadReply
from batchui.cloudflare.plain_replies import NotPlain, PlainReply
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import MakeBatch, on_record
from tests.batches.test_replies import attempt_at

pytestmark = pytest.mark.django_db

ROWS = 4
# As they stand in the reply. Most are answers; the others are blank, JSON, or no texts.
RESPONSES = [
    '"Yes."',
    '"no: \\n, \\"quoted\\" \\\\ and {\\"not\\": \\"JSON\\"}"',
    '"\\u00e9t\\u00e9"',
    '"Grüße 👋"',
    '"漢字"',
    '"(a)"',
    '"~"',
    '"!"',
    '"0"',
    '""',
    '" "',
    '"  x"',
    '"\\n"',
    '"\\u0020"',
    '"\u00a0"',
    '"\u3000 "',
    '"\u00a0x"',
    '"{}"',
    '"{\\"a\\": []}"',
    '"{\\"a\\": 1}"',
    '"[]"',
    '"```json\\n{}\\n```"',
    '" {}"',
    '"\\t[\\n]"',
    '"null"',
    "null",
    "12.50",
    "true",
    '{"a": 1}',
    "[]",
    "[\n1\n]",
]
USAGES = [
    "",
    ', "usage": null',
    ', "usage": {"prompt_tokens": 5, "completion_tokens": 3}',
    ', "usage": {\n"completion_tokens": 2\n}',
    ', "usage": {"output_tokens": 1024}',
    ', "usage": {"completion_tokens": 1023.0}',
    ', "usage": {"completion_tokens": 1024}',
    f', "usage": {{"completion_tokens": 1, "details": "{"x" * 200}"}}',
    f', "usage": {{"details": {"[" * 120}{"]" * 120}}}',
]
MORE = ["", ', "tool_calls": []', ', "tool_calls": null', ', "tool_calls": [{"name": "f"}]']
ITEM_ENDS = ['"success": true', '"success": true, "x": 1', '"success": false', '"success": null']
INNER = [
    "",
    ', "usage": {"prompt_tokens": 7, "completion_tokens": 9}',
    ', "usage": "none"',
    ', "request_id": "known"',
    ', "request_id": "another"',
    ', "status": "completed"',
    ', "status": "running"',
    ', "status": "error"',
    ', "model": "m"',
]
OUTER = ['"success": true', '"success": true, "errors": [], "messages": []', '"success": false']


def part_of(team: Team, rows: int) -> Part:
    """A part with so many rows, from row 1 on."""
    part = on_record(team, rows=rows).parts.get()
    part.rows = rows
    return part


def mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([usual] * 60 + list(others))


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """Replies to four rows. Nearly everything in them is as usual."""
    numbers = draw(st.permutations(range(ROWS)))
    items = []
    for number in numbers:
        index = draw(mostly(number, 0, ROWS, -1, '"1"', "null"))
        reference = draw(mostly(f'"{number + 1}"', '"2"', '"x"', "null", "2"))
        response = draw(st.sampled_from([*RESPONSES[:9] * 50, *RESPONSES]))
        usage, more = draw(mostly(*USAGES)), draw(mostly(*MORE))
        end = draw(mostly(*ITEM_ENDS))
        items.append(
            f'{{"id": {index}, "result": {{"response": {response}{usage}{more}}}, {end}, '
            f'"external_reference": {reference}}}'
        )
    if draw(mostly(False, True)):
        items.pop()
    inner, outer = draw(mostly(*INNER)), draw(mostly(*OUTER))
    body = f'{{"result": {{"responses": [{", ".join(items)}]{inner}}}, {outer}}}'.encode()
    return draw(mostly(body, body[:-1], body.replace(b"\xc3\xbc", b"\xc3"), b"[]", b"null"))


def absorbed(part: Part, attempt: Attempt, body: bytes) -> Any:
    """What comes of a reply, with its answers as they are stored; or its error."""
    try:
        found = absorb(part, attempt, io.BytesIO(body), is_last=True)
    except BadReply as problem:
        return problem.user_message
    except MismatchError as problem:
        return str(problem)
    assert isinstance(found, Answered)
    assert b"".join(read_compressed(found.reply_file)) == body
    changes = {name: value for name, value in found.changes.items() if name != "last_polled_at"}
    return changes, found.in_vain, b"".join(read_compressed(found.changes["answers_file"]))


def with_something_unusual(body: bytes) -> bytes:
    """The same reply with a field that says nothing, so that it is not plain."""
    return body.replace(b'{"result":', b'{"trace": 1, "result":', 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=400)
@given(body=bodies())
def test_a_plain_reply_becomes_the_same_as_any_other(team: Team, body: bytes) -> None:
    part = part_of(team, ROWS)
    attempt = attempt_at(part)
    whole, again = (absorbed(part, attempt, one) for one in (body, with_something_unusual(body)))
    assert whole == again


def reply(**odd: str) -> bytes:
    """A reply to four rows with one odd thing in its last item, or around the items."""
    usual = {"id": "3", "response": '"d"', "usage": "", "more": "", "end": ITEM_ENDS[0]}
    usual |= {"reference": '"4"', "inner": "", "outer": OUTER[0]} | odd
    first = [
        f'{{"id": {at}, "result": {{"response": "{at}"}}, "success": true}}' for at in (0, 1, 2)
    ]
    last = (
        '{{"id": {id}, "result": {{"response": {response}{usage}{more}}}, {end}, '
        '"external_reference": {reference}}}'
    ).format(**usual)
    items = ", ".join([last, *first])
    return f'{{"result": {{"responses": [{items}]{usual["inner"]}}}, {usual["outer"]}}}'.encode()


ODD = [
    {},
    *({"id": one} for one in ("-1", "0", "4", "99", '"3"', "null", "3.0")),
    *({"reference": one} for one in ("null", '"3"', '"x"', "4")),
    *({"response": one} for one in RESPONSES),
    *({"usage": one} for one in USAGES),
    *({"more": one} for one in MORE),
    *({"end": one} for one in ITEM_ENDS),
    *({"inner": one} for one in INNER),
    *({"outer": one} for one in OUTER),
    {"id": "-1", "reference": "null"},
    {"id": "-1", "reference": '"0"'},
]


@pytest.mark.parametrize("odd", ODD)
def test_one_odd_thing_alone_is_taken_as_in_any_other_reply(
    team: Team, odd: dict[str, str]
) -> None:
    part = part_of(team, ROWS)
    body = reply(**odd)
    whole, again = (
        absorbed(part, attempt_at(part), one) for one in (body, with_something_unusual(body))
    )
    assert whole == again


def test_what_a_person_corrected_stays_also_if_all_rows_are_answered(team: Team) -> None:
    part = part_of(team, 2)
    edit = Edit(1, 0.0, "failed")
    edited = Answer("answered", msgspec.Raw(b'"mine"'), edit=edit)
    for name, value in part_answers.new_answers(part, [edited, None]).store().items():
        setattr(part, name, value)
    found = absorb(part, attempt_at(part), io.BytesIO(plain('"a"', '"b"')), is_last=True)
    assert isinstance(found, Answered)
    lines = b"".join(read_compressed(found.changes["answers_file"])).splitlines()
    assert [json.loads(line)[1] for line in lines] == ["mine", "b"]
    assert found.changes["edited"] == 1


def test_references_of_a_column_are_compared_in_a_plain_reply_too(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    part = start(b"id,text\nA-7,one\n3,two\n", reference_column="id").parts.get()
    body = plain('"a"', '"b"').replace(
        b'"success": true}, {', b'"success": true, "external_reference": "2"}, {'
    )
    with pytest.raises(MismatchError, match="gives row 2 the reference"):
        absorb(part, attempt_at(part), io.BytesIO(body), is_last=True)


def test_every_row_of_a_plain_reply_is_stored_however_many_are_encoded_at_once(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_answers, "AT_ONCE", 2)
    part = part_of(team, 5)
    texts = [f"answer {at}" for at in range(5)]
    body = plain(*map(json.dumps, texts))
    found = absorb(part, attempt_at(part), io.BytesIO(body), is_last=True)
    assert isinstance(found, Answered)
    lines = b"".join(read_compressed(found.changes["answers_file"])).splitlines()
    assert [json.loads(line)[1] for line in lines] == texts


def plain(*responses: str, ending: str = '"success": true') -> bytes:
    items = [
        f'{{"id": {at}, "result": {{"response": {response}}}, "success": true}}'
        for at, response in enumerate(responses)
    ]
    return f'{{"result": {{"responses": [{", ".join(items)}]}}, {ending}}}'.encode()


def read(body: bytes, items: int) -> list[Any]:
    reply = PlainReply(body, request_id="known", items=items)
    items = reply.items(longest=lambda: None)
    return [(at, bytes(answer), bytes(usage), named) for at, answer, usage, named in items]


def test_what_most_models_answer_is_plain() -> None:
    texts = RESPONSES[:9]
    assert read(plain(*texts), 9) == [
        (at, text.encode(), b"null", None) for at, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    "body",
    [
        plain('""'),
        plain("{}"),
        plain('"a"', '"b"'),
        plain('"a"', ending='"success": false'),
        plain('"a"', ending='"success": true, "x": 1'),
        plain('"a"')[:-1],
        b'"a"',
    ],
)
def test_anything_unusual_is_not_plain(body: bytes) -> None:
    with pytest.raises(NotPlain):
        read(body, 1)


def test_a_reply_whose_rows_have_answers_already_is_read_like_any_other(team: Team) -> None:
    part = part_of(team, 2)
    attempt = attempt_at(part)
    first = absorb(part, attempt, io.BytesIO(plain('"a"', '"b"')), is_last=True)
    assert isinstance(first, Answered)
    for name, value in first.changes.items():
        setattr(part, name, value)
    again = absorb(part, attempt, io.BytesIO(plain('"c"', '""')), is_last=True)
    assert isinstance(again, Answered)
    stored = b"".join(read_compressed(again.changes["answers_file"])).splitlines()
    assert [json.loads(line)[1] for line in stored] == ["c", "b"]
    assert again.changes["answered"] == 2


def test_a_mismatch_is_named_as_always(team: Team) -> None:
    part = part_of(team, 2)
    body = plain('"a"', '"b"').replace(b'"id": 1', b'"id": 0')
    with pytest.raises(MismatchError, match="two different answers for row 1"):
        absorb(part, attempt_at(part), io.BytesIO(body), is_last=True)
