"""A row becomes an item, in the format of the model."""

import json
import random
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_schema import in_words, schema_of
from batchui.prompts.ask import Ask
from batchui.prompts.item_settings import LONGEST
from batchui.prompts.items import ItemWriter
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.blocks import Cells
from batchui.prompts.reading.rows import encode_row
from tests.prompts.asking import CELLS, COLUMNS, FILLED, ask, item
from tests.prompts.files import place_of
from tests.prompts.model_facts import Facts


def test_messages() -> None:
    assert item("messages", instruction="Be brief.", temperature=0.2) == {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": FILLED},
        ],
        "max_tokens": 1024,
        "temperature": 0.2,
        "external_reference": "42",
    }
    assert item("messages")["messages"] == [{"role": "user", "content": FILLED}]


def test_a_prompt_has_the_instruction_before_it() -> None:
    assert item("prompt", instruction="Answer {{id}} in 100 % German.") == {
        "prompt": f"Answer {{{{id}}}} in 100 % German.\n\n{FILLED}",
        "max_tokens": 1024,
        "external_reference": "42",
    }
    assert item("prompt")["prompt"] == FILLED


def test_responses_input() -> None:
    assert item("input", max_tokens=99) == {
        "input": FILLED,
        "max_output_tokens": 99,
        "external_reference": "42",
    }
    assert item("input", instruction="Be brief.")["input"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": FILLED},
    ]


def test_embeddings_have_the_text_and_no_max_tokens() -> None:
    assert item("text") == {"text": FILLED, "external_reference": "42"}
    assert item("text", options={"pooling": "cls"}, temperature=1.0) == {
        "text": FILLED,
        "pooling": "cls",
        "external_reference": "42",
    }


def test_translations_have_their_languages() -> None:
    assert item("translation", source_lang="en", target_lang="fr") == {
        "text": FILLED,
        "source_lang": "en",
        "target_lang": "fr",
        "external_reference": "42",
    }
    assert "source_lang" not in item("translation", target_lang="fr")
    with pytest.raises(BadInput, match=r"No language to translate into is chosen"):
        item("translation")


@pytest.mark.parametrize("item_format", ["messages", "prompt"])
def test_max_tokens_is_always_sent(item_format: str) -> None:
    assert item(item_format)["max_tokens"] == 1024
    assert item(item_format, max_tokens=7)["max_tokens"] == 7
    chosen = item(item_format, options={"max_completion_tokens": 5})
    assert "max_tokens" not in chosen
    assert chosen["max_completion_tokens"] == 5


def test_options_are_merged_in_and_cannot_replace_the_question() -> None:
    schema = {"type": "json_schema", "json_schema": {"type": "object"}}
    made = item("messages", options={"response_format": schema, "seed": 3, "temperature": 0})
    assert (made["response_format"], made["seed"], made["temperature"]) == (schema, 3, 0)
    with pytest.raises(BadInput, match=r"The option “messages” .* cannot be set by hand"):
        item("messages", options={"messages": []})


def test_items_are_compact_utf8_json() -> None:
    made = ItemWriter("prompt", ask(template="{{review}}"), COLUMNS).encode(1, ["", "é – 日本"])
    assert made == '{"prompt":"é – 日本","max_tokens":1024,"external_reference":"1"}'.encode()


def test_the_reference_is_the_chosen_column_or_else_the_row_number() -> None:
    writer = ItemWriter("prompt", ask(reference_column="id"), COLUMNS)
    assert json.loads(writer.encode(42, CELLS))["external_reference"] == "r-1"
    assert writer.reference(42, CELLS) == "r-1"
    assert writer.reference(42, [" ", "x"]) == "42"
    assert json.loads(writer.encode(42, ["", "x"]))["external_reference"] == "42"
    assert ItemWriter("prompt", ask(), COLUMNS).reference(7, CELLS) == "7"
    assert writer.reference(42, {"id": 17, "review": "x"}) == "17"
    with pytest.raises(BadInput, match=r"column for references, “nr”, is not in the file"):
        ItemWriter("prompt", ask(reference_column="nr"), COLUMNS)


def test_a_blank_prompt_is_refused_with_row_line_and_column() -> None:
    writer = ItemWriter("messages", ask(), COLUMNS)
    with pytest.raises(BadInput) as caught:
        writer.encode(42, ["1", "  "], 43)
    assert str(caught.value) == (
        "Row 42 (line 43), column “review”: the cell is blank, so there is nothing to ask. "
        "Fill it in, or skip the row."
    )
    assert place_of(caught.value) == (42, 43, "review")
    both = ItemWriter("messages", ask(template="{{id}}{{review}}"), COLUMNS)
    with pytest.raises(BadInput, match=r"^Row 42: the cells of “id” and “review” are both blank,"):
        both.encode(42, ["", ""])
    three = ItemWriter("messages", ask(template="{{a}}{{b}}{{c}}"), ("a", "b", "c"))
    with pytest.raises(BadInput, match=r"^Row 42: the cells of “a”, “b” and “c” are blank,"):
        three.encode(42, ["", "", ""])


def test_objects_are_asked_like_rows() -> None:
    made = item("prompt", {"review": 4.5, "id": None}, template="{{review}} {{id}}.")
    assert made["prompt"] == "4.5 ."


@pytest.mark.parametrize(
    "item_format", ["messages", "prompt", "input", "text", "contexts", "translation"]
)
@pytest.mark.parametrize("reference", ["", "id"])
def test_the_estimated_size_is_never_too_small(item_format: str, reference: str) -> None:
    nasty = '"\\\x01é\n' * 20
    writer = ItemWriter(
        item_format,
        ask(
            template=f'"{{{{review}}}}" {nasty} {{{{review}}}} {{{{id}}}}',
            instruction=nasty,
            reference_column=reference,
            target_lang="de",
        ),
        COLUMNS,
    )
    rows: list[tuple[int, Cells]] = [
        (10**15, [nasty, nasty]),
        (1, ["", "x"]),
        (2, {"id": [nasty], "review": 1}),
    ]
    for row, cells in rows:
        stored = len(encode_row(cells))
        exact = len(writer.encode(row, cells))
        assert writer.size(row, cells, stored=stored, enough=10**9) >= exact
        assert writer.size(row, cells, stored=stored, enough=0) == exact


PIECES = ['"', "\\", "\x01", "\n", "é", "日", "👩‍👩‍👧", "\u2028", "word ", "1.10", "\x7f", "/"]


def nasty_text(dice: random.Random, most: int = 30) -> str:
    return "x" + "".join(dice.choices(PIECES, k=dice.randrange(most)))


def nasty_value(dice: random.Random) -> Any:
    """A value of JSONL: texts, and what becomes text only as JSON, with quotation marks in it."""
    return dice.choice(
        [
            nasty_text(dice),
            [nasty_text(dice)] * dice.randrange(1, 4),
            {nasty_text(dice, 4): [nasty_text(dice), None, True]},
            Decimal("1.10"),
            10**30,
            ['"' * 300],
        ]
    )


PLAIN_SCHEMA = Facts(schema_nesting="plain")
TONE = AnswerColumn("tone", "one_of", ("good", "bad"), "How she feels")


@pytest.mark.parametrize("item_format", ["messages", "prompt", "input"])
@pytest.mark.parametrize("instruction", ["", "Be brief."])
def test_answer_columns_are_said_and_sent_as_a_schema(item_format: str, instruction: str) -> None:
    asked = ask(answer_columns=(TONE,), instruction=instruction)
    wanted = "\n\n".join(filter(None, (instruction, in_words([TONE]))))
    for model in (None, PLAIN_SCHEMA):
        writer = ItemWriter(item_format, asked, COLUMNS, model=model)
        item = json.loads(writer.encode(42, CELLS))
        said = item["prompt"] if item_format == "prompt" else item[item_format][0]["content"]
        assert said.startswith(wanted)
        form = {"type": "json_schema", "json_schema": schema_of([TONE])} if model else None
        assert item.get("response_format") == form


def test_a_ready_made_request_gets_the_schema_unless_it_has_its_own() -> None:
    writer = ItemWriter(
        "prompt", Ask(as_items=True, answer_columns=(TONE,)), ("prompt",), model=PLAIN_SCHEMA
    )
    [plain, own] = [
        json.loads(writer.encode(1, {"prompt": "Hello", **more}))
        for more in ({}, {"response_format": {"type": "json_object"}})
    ]
    assert plain["response_format"]["json_schema"] == schema_of([TONE])
    assert own["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize("item_format", ["text", "contexts", "translation"])
def test_a_model_that_does_not_write_has_no_answer_columns(item_format: str) -> None:
    with pytest.raises(BadInput, match="writes no answers in columns"):
        ItemWriter(item_format, ask(answer_columns=(TONE,), target_lang="de"), COLUMNS)


@pytest.mark.parametrize("option", ["response_format", "guided_json"])
def test_an_option_must_not_ask_for_other_json_than_the_answer_columns(option: str) -> None:
    with pytest.raises(BadInput, match=f"“{option}” and the answer columns both"):
        ItemWriter("messages", ask(answer_columns=(TONE,), options={option: {}}), COLUMNS)


@pytest.mark.parametrize("seed", range(300))
def test_the_bound_of_an_items_size_holds_and_is_not_far_off(seed: int) -> None:
    dice = random.Random(seed)
    uses = dice.randrange(1, 4)
    columns = ("review",) if seed % 2 else ("id", "review")
    chosen = Ask(
        template=nasty_text(dice) + "{{review}}".join([""] + [nasty_text(dice)] * uses),
        instruction=dice.choice(["", nasty_text(dice)]),
        options=dice.choice([{}, {"stop": [nasty_text(dice)]}]),
        target_lang="de",
        reference_column=dice.choice(["", columns[0]]),
    )
    item_format = dice.choice(["messages", "prompt", "input", "text", "translation"])
    if item_format in LONGEST and dice.random() < 0.3:
        chosen = replace(chosen, answer_columns=(AnswerColumn(nasty_text(dice) or "x"),))
    writer = ItemWriter(item_format, chosen, columns, model=dice.choice([None, PLAIN_SCHEMA]))
    if dice.random() < 0.5:
        cells: Cells = [nasty_text(dice) for _ in columns]
    else:
        cells = {column: nasty_value(dice) for column in columns}
    number = dice.choice([1, 999_999, 10**20])
    stored, exact = len(encode_row(cells)), len(writer.encode(number, cells))
    bound = writer.size(number, cells, stored=stored, enough=10**9)
    # Half of the stored row may be the other column, and a value may double as text: thrice.
    assert exact <= bound <= 3 * exact + 2 * uses * stored
    assert writer.size(number, cells, stored=stored, enough=bound) == bound
    assert writer.size(number, cells, stored=stored, enough=bound - 1) == exact


@pytest.mark.parametrize(
    "more", [{}, {"external_reference": ["é", 1]}, {"max_tokens": 1, "stop": "b"}]
)
def test_the_size_of_a_ready_made_request_is_exact(more: dict[str, Any]) -> None:
    chosen = Ask(as_items=True, options={"stop": ["\x01", 2], "seed": 1})
    writer = ItemWriter("messages", chosen, ("prompt",))
    cells: Cells = {"prompt": "é\n", **more}
    exact = len(writer.encode(7, cells))
    assert writer.size(7, cells, stored=len(encode_row(cells)), enough=0) == exact


@pytest.mark.parametrize("uses", [1, 2, 3])
def test_the_bound_grows_with_each_time_that_a_column_is_used(uses: int) -> None:
    writer = ItemWriter("prompt", Ask(template="{{review}}" * uses), ("review",))
    cells: Cells = ["x" * 1_000]
    stored = len(encode_row(cells))
    bound = writer.size(1, cells, stored=stored, enough=10**9)
    assert uses * 1_000 < bound < uses * 1_000 + 150


def test_the_bound_doubles_only_what_is_no_text() -> None:
    writer = ItemWriter("text", Ask(template="{{review}}"), ("review",))
    quotes: Cells = {"review": ['"' * 1_000]}
    exact = len(writer.encode(1, quotes))
    assert exact > 4_000  # each mark is escaped twice
    assert exact <= writer.size(1, quotes, stored=len(encode_row(quotes)), enough=10**9) < 4_200


def test_an_item_format_that_does_not_exist_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match=r"the item format is 'song', which is none of"):
        ItemWriter("song", ask(), COLUMNS)
