"""The contract with every model of the catalogue: a file in, what is sent of it, its answers out.

The items are held against the published schemas (`model_facts.py`), and the sandbox answers them.
"""

import csv
import io
import json
from typing import Any

import pytest

from batchui.batches import decisions, exporting
from batchui.batches.states import BatchStatus
from batchui.cloudflare import catalogue
from batchui.prompts.ask import Ask, fields
from batchui.prompts.model_facts import ROOM
from batchui.sandbox.models import MODELS
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, rows, work
from tests.batches.model_facts import BOUNDS, FACTS, PAID, RESPONSES, RESULTS, SEEING
from tests.batches.picturing import add_archive, archive, naming

pytestmark = pytest.mark.django_db

LONGEST = 321
# A value of each option that can be set by hand, within its bounds.
VALUES: dict[str, Any] = {
    "top_p": 0.9,
    "top_k": 20,
    "seed": 7,
    "repetition_penalty": 1.1,
    "frequency_penalty": 0.1,
    "presence_penalty": 0.2,
    "reasoning": {"effort": "low"},
    "reasoning_effort": "low",
    "pooling": "cls",
    "truncate_inputs": True,
}
every_model = pytest.mark.parametrize("name", FACTS)


def asked_of(name: str) -> dict[str, Any]:
    """A question to a model with every setting that it takes."""
    model = catalogue.find(name)
    asked: dict[str, Any] = {"model": name, "template": "{{text}}"}
    takes = {option.name for option in model.options}
    asked["options"] = {one: VALUES[one] for one in takes & VALUES.keys()}
    if FACTS[name].limit:
        asked["max_tokens"] = LONGEST
    if "temperature" in takes:
        asked["temperature"] = 0.5
    if model.task == "translation":
        asked |= {"source_lang": "en", "target_lang": "fr"}
    return asked


def test_the_catalogue_has_these_models_and_no_others() -> None:
    assert {model.name for model in catalogue._read().models} == set(FACTS)
    assert {one.name for one in catalogue.models()} == set(FACTS) - {"@cf/baai/bge-m3"}


@every_model
def test_the_catalogue_says_what_is_published(name: str) -> None:
    model, facts = catalogue.find(name), FACTS[name]
    assert (model.usd_per_m_input, model.usd_per_m_output) == facts.usd
    assert model.context_window == facts.context
    assert (model.needs_paid_plan, model.sees) == (name in PAID, name in SEEING)
    settings = {"source_lang", "target_lang"} if model.task == "translation" else set()
    assert {option.name for option in model.options} <= facts.optional | settings


@every_model
def test_the_sandbox_plays_what_is_published(name: str) -> None:
    played, facts = MODELS[name], FACTS[name]
    assert (played.usd_input, played.usd_output, played.context) == (*facts.usd, facts.context)
    assert (played.width, played.paid) == (facts.width, name in PAID)
    assert played.sees is (name in SEEING)
    if name in RESPONSES | RESULTS:
        assert played.container == ("responses" if name in RESPONSES else "results")


def test_what_can_be_typed_keeps_within_the_bounds() -> None:
    [temperature] = [one.about for one in fields() if one.name == "temperature"]
    assert (temperature.least, temperature.most) == BOUNDS["temperature"]
    for name, (least, most) in BOUNDS.items():
        assert least <= VALUES.get(name, least) <= most


@every_model
def test_a_file_goes_through_the_whole_path_with_items_as_the_model_takes_them(
    sandbox: RunningSandbox, start: MakeBatch, name: str
) -> None:
    facts = FACTS[name]
    batch = work(start(rows(3), **asked_of(name)))
    # 1. What was sent.
    [call] = sandbox.calls("submit")
    body = sandbox.sandbox.context.store.body(call.request_id)
    items = json.loads(body or b"")["requests"]
    assert [item.pop("external_reference") for item in items] == ["2", "3", "4"]
    for number, item in enumerate(items, 1):
        assert {one: type(item[one]) for one in facts.required} == facts.required
        assert f"text number {number}" in json.dumps(item)
        settings = set(item) - set(facts.required)
        assert settings <= facts.optional
        assert settings >= set(asked_of(name)["options"])
        longest = LONGEST + ROOM.get(facts.effort, 0)
        assert item.get(facts.limit) == (longest if facts.limit else None)
        for one in BOUNDS.keys() & item.keys():
            assert BOUNDS[one][0] <= item[one] <= BOUNDS[one][1]
    # 2. What came back.
    assert (batch.status, batch.answered, batch.cut) == (BatchStatus.FINISHED, 3, 0)
    assert batch.prompt_tokens > 0
    text = b"".join(exporting.csv_plain(batch)).decode()
    header, *lines = csv.reader(io.StringIO(text, newline=""))
    assert header == ["id", "text", "answer", "status", "error"]
    assert [line[3:] for line in lines] == [["answered", ""]] * 3
    for number, line in enumerate(lines, 1):
        if facts.width:
            assert len(json.loads(line[2])) == facts.width
        else:
            assert f"text number {number}" in line[2]


@pytest.mark.parametrize("name", sorted(SEEING))
def test_a_file_goes_through_with_pictures(
    sandbox: RunningSandbox, receive: MakeBatch, name: str
) -> None:
    batch = receive(naming("a.jpg", "b.jpg"))
    add_archive(batch, archive("a.jpg", "b.jpg"))
    asked = asked_of(name) | {"template": "What is {{id}}?", "picture_column": "photo"}
    decisions.start(batch, by=None, ask=Ask(**asked), prepare_now=True)
    batch.refresh_from_db()
    assert work(batch).answered == 2
    [call] = sandbox.calls("submit")
    body = sandbox.sandbox.context.store.body(call.request_id)
    for number, item in enumerate(json.loads(body or b"")["requests"], 1):
        text, picture = item["messages"][-1]["content"]
        assert text == {"type": "text", "text": f"What is {number}?"}
        assert picture["image_url"]["url"].startswith("data:image/jpeg;base64,")
        assert set(item) - {"messages", "external_reference"} <= FACTS[name].optional
