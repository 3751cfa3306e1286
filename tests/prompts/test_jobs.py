"""What a question is for: as it says itself, or as its model and its answer columns say."""

import pytest

from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.ask import Ask
from batchui.prompts.jobs import JOBS, job_of

TONE, NAME = AnswerColumn("tone", "one_of", ("good", "bad")), AnswerColumn("name")


@pytest.mark.parametrize(
    ("ask", "item_format", "slug"),
    [
        (Ask(), "prompt", "ask"),
        (Ask(answer_columns=(TONE,)), "messages", "categories"),
        (Ask(answer_columns=(NAME,)), "messages", "fields"),
        (Ask(answer_columns=(TONE, TONE)), "input", "fields"),
        (Ask(), "translation", "translate"),
        (Ask(), "text", "embed"),
        (Ask(), "contexts", "embed"),
        (Ask(query="Which?"), "contexts", "rank"),
        (Ask(job="rank"), "contexts", "rank"),
        (Ask(job="rank", as_items=True), "contexts", "items"),
        (Ask(job="items"), "prompt", "ask"),
        (Ask(job="fields"), "prompt", "fields"),
        (Ask(job="fields"), "translation", "translate"),
        (Ask(job="unheard-of"), "prompt", "ask"),
    ],
)
def test_the_job_is_the_one_that_is_named_if_the_model_can_do_it(
    ask: Ask, item_format: str, slug: str
) -> None:
    assert job_of(ask, item_format).slug == slug


def test_every_job_has_its_own_words() -> None:
    for words in ("slug", "label", "about"):
        assert len({getattr(job, words) for job in JOBS}) == 7
    assert [job.slug for job in JOBS if job.needs_columns] == ["fields", "categories"]
