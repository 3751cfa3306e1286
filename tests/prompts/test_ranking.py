"""Items that rank the passages of a row against a question."""

import json
from typing import Any

import pytest

from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput
from batchui.prompts.ranking import NO_QUERY, ONLY_COLUMNS, RankWriter
from batchui.prompts.reading.rows import encode_row

COLUMNS = ("id", "query", "one", "two")


def writer(**changes: Any) -> RankWriter:
    asked = {"template": "{{one}} {{two}}", "query": "What is good?"}
    return RankWriter("contexts", Ask(**asked | changes), COLUMNS)  # type: ignore[arg-type]


def item(cells: Any, **changes: Any) -> Any:
    return json.loads(writer(**changes).encode(7, cells))


def test_the_cells_of_the_named_columns_are_the_passages() -> None:
    assert item(["1", "q", "First", "Second"]) == {
        "query": "What is good?",
        "contexts": [{"text": "First"}, {"text": "Second"}],
        "external_reference": "7",
    }
    assert item(["1", "q", "First", "Second"], template="{{two}}")["contexts"] == [
        {"text": "Second"}
    ]


def test_the_question_may_stand_in_a_column() -> None:
    made = item(["1", "Noisy?", "First", ""], query="{{query}}", reference_column="id")
    assert (made["query"], made["external_reference"]) == ("Noisy?", "1")


def test_a_list_of_texts_is_as_many_passages_and_blank_ones_are_left_out() -> None:
    made = item({"one": ["a", "b", " "], "two": "c"})
    assert [context["text"] for context in made["contexts"]] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("cells", "query", "words"),
    [
        (["1", " ", "First", ""], "{{query}}", "there is no question to rank against"),
        (["1", "q", " ", ""], "What?", "“one” and “two” has no passage to rank"),
    ],
)
def test_a_row_without_a_question_or_passages_has_nothing_to_ask(
    cells: list[str], query: str, words: str
) -> None:
    ranks = writer(query=query)
    with pytest.raises(BadInput, match=words) as caught:
        ranks.encode(7, cells)
    assert caught.value.problem is not None
    assert caught.value.problem.blank
    assert ranks.question(cells) is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"query": " "}, NO_QUERY),
        ({"template": "Passage: {{one}}"}, ONLY_COLUMNS),
        ({"query": "{{nothing}}"}, "“nothing”, which the file does not have"),
        ({"template": "{{nothing}}"}, "“nothing”, which the file does not have"),
        ({"template": "passage"}, "The text names no column"),
    ],
)
def test_what_concerns_every_row_is_said_first(changes: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        writer(**changes)
    assert sentence in str(caught.value)


def test_the_size_is_that_of_the_item_and_the_same_is_asked_alike() -> None:
    ranks, cells = writer(), ["1", "q", 'é "x"', "Second"]
    size = ranks.size(7, cells, stored=len(encode_row(cells)), enough=0)
    assert size == len(ranks.encode(7, cells)) >= ranks.least_bytes > 0
    assert ranks.question(cells) == ranks.question(["2", "r", 'é "x"', "Second"]) is not None
