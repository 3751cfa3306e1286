"""One item of a finished reply, as it came."""

import json

import pytest

from batchui.cloudflare.raw_item import raw_item

ITEMS = [{"id": 1, "result": {"response": "b"}}, {"id": 0, "result": {"response": "a"}}]


@pytest.mark.parametrize(
    "reply",
    [
        {"result": {"responses": ITEMS}, "success": True},
        {"responses": ITEMS},
        {"result": {"responses": [], "results": ITEMS}},
        {"results": [{**item, "id": None, "index": item["id"]} for item in ITEMS]},
        {"responses": [{**item, "id": str(item["id"])} for item in ITEMS]},
    ],
)
def test_the_item_is_found_by_its_number_not_by_its_place(reply: object) -> None:
    found = raw_item(json.dumps(reply).encode(), 0)
    assert found is not None
    assert json.loads(found)["result"] == {"response": "a"}


def test_an_item_that_names_no_position_is_found_by_its_reference() -> None:
    named = {"id": 7, "external_reference": "a", "result": {"response": "of row 7"}}
    nameless = [
        {"id": name, "external_reference": reference, "result": {"response": reference}}
        for name, reference in (("req-1", "b"), (None, "a"))
    ]
    body = json.dumps({"responses": [named, *nameless]}).encode()
    found = raw_item(body, 0, reference="a")
    assert found is not None
    assert json.loads(found)["result"] == {"response": "a"}
    assert raw_item(body, 0, reference="c") is None
    assert raw_item(body, 0) is None


def test_it_is_laid_out_and_otherwise_as_it_came() -> None:
    body = b'{"responses":[{"id":0,"unknown":1.10,"result":{"response":"a"}}]}'
    assert raw_item(body, 0) == (
        '{\n  "id": 0,\n  "unknown": 1.10,\n  "result": {\n    "response": "a"\n  }\n}'
    )


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"no json", b"[]", b"{}", b'{"result":{"status":"queued"}}', b'{"responses":7}'),
        *(b'{"responses":[7,{"id":{}},{"id":1}]}', b"\xff{}", b'{"responses":[{"id":0}'),
    ],
)
def test_what_is_not_there_is_not_found(body: bytes) -> None:
    assert raw_item(body, 0) is None


def test_what_is_no_item_costs_the_others_nothing() -> None:
    assert raw_item(b'{"responses":[7,{"id":{}},{"id":0}]}', 0) == '{\n  "id": 0\n}'
