"""Settings are held against what the chosen model takes, and a model can be asked to think less."""

import json
from typing import Any

import pytest
from django.test import Client

from batchui.batches import preparing
from batchui.batches.references import item_writer
from batchui.cloudflare.catalogue import DEFAULT_MODEL
from batchui.prompts.model_facts import ROOM
from tests.web.submitting import PROMPT, Ran, written
from tests.web.test_new_batch import preview
from tests.web.visiting import drafted, press_start, said

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("every_file_is_small")]

FILE = b"id,text\n1,x\n2,y\n"
GEMMA, OSS = "@cf/google/gemma-4-26b-a4b-it", "@cf/openai/gpt-oss-20b"
SCOUT = "@cf/meta/llama-4-scout-17b-16e-instruct"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"temperature": "3", "model": GEMMA}, "Gemma 4 26B takes a number from 0 to 2 here,"),
        ({"options": '{"top_q": 1}'}, "Llama 4 Scout takes no option “top_q”. It takes"),
        ({"options": '{"seed": 0}'}, "a whole number from 1 to 9,999,999,999 here, and this is 0"),
        (
            {"max_tokens": "24000", "model": DEFAULT_MODEL},
            "room for 24,000 tokens, question and answer together",
        ),
        ({"effort": "extreme", "model": GEMMA}, "Choose low, medium or high, or leave it out."),
    ],
)
def test_what_the_model_does_not_take_is_said_at_start_and_nothing_is_started(
    web: Client, changes: dict[str, Any], sentence: str
) -> None:
    batch = drafted(web, FILE)
    response = press_start(web, batch, template="{{text}}", **changes)
    assert response.status_code == 422
    assert sentence in said(response)


def test_the_effort_reaches_the_request_and_its_room_is_said(web: Client) -> None:
    batch = drafted(web, FILE)
    shown = preview(web, batch, template="{{text}}", model=GEMMA, effort="low")
    assert "It thinks before it answers: up to 1,024 tokens a row, about 760 words" in shown
    assert press_start(web, batch, template="{{text}}", model=GEMMA, effort="low").status_code < 400
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    item = json.loads(item_writer(batch).encode(2, ["1", "x"]))
    assert (item["reasoning_effort"], item["max_tokens"]) == ("low", 1_024 + ROOM["low"])


def test_a_model_that_does_not_think_has_no_sentence_about_it(web: Client) -> None:
    assert "It thinks" not in preview(web, drafted(web, FILE), template="{{text}}")


def test_a_temperature_that_is_not_sent_is_said(web: Client) -> None:
    batch = drafted(web, FILE)
    shown = preview(web, batch, template="{{text}}", model=OSS, temperature="0.5")
    assert "gpt-oss 20B takes no temperature, so none is sent to it." in shown


def test_a_ready_made_request_out_of_bounds_is_named_before_the_start(web: Client) -> None:
    lines = b'{"prompt": "a", "temperature": 9}\n{"prompt": "b"}\n'
    batch = drafted(web, lines, "items.jsonl")
    shown = preview(web, batch, as_items="on")
    assert "1 row is no request that this model takes: row 1." in shown


def test_the_terminal_asks_for_an_effort_and_names_the_option(tmp_path: Any) -> None:
    file = written(tmp_path, FILE)
    wrong = Ran(file, *PROMPT, "--effort", "extreme", model=GEMMA)
    assert wrong.status == 2
    assert "--effort: Choose low, medium or high" in wrong.err
    beyond = Ran(file, *PROMPT, "--option", "temperature=3", model=GEMMA)
    assert "--option temperature: Gemma 4 26B takes a number from 0 to 2 here" in beyond.err


def test_a_ready_made_request_within_the_bounds_is_asked(web: Client) -> None:
    item = {"prompt": "a", "temperature": 0.5, "tools": [{"name": "x"}], "response_format": {}}
    batch = drafted(web, json.dumps(item).encode() + b"\n", "items.jsonl")
    shown = preview(web, batch, as_items="on", model=SCOUT)
    assert "no request that this model takes" not in shown
    assert press_start(web, batch, as_items="on", template="", model=SCOUT).status_code == 302
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    assert (batch.invalid, batch.part_count) == (0, 1)
