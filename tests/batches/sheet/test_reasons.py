"""Raw errors become reasons in plain words, each with its next step."""

import pytest

from batchui.batches.part_answers import CUT_OFF
from batchui.batches.sheet.reasons import in_words, reason_of
from batchui.cloudflare.answers import AT_THE_LIMIT, CUT_SHORT, ONLY_REASONED
from batchui.prompts.answer_fitting import CUT_OFF as ENDS_IN_ITS_JSON
from batchui.prompts.answer_fitting import NOT_JSON

# As Cloudflare says it, within the sentence of `cloudflare/replies.py`.
TOO_LONG = (
    "The model could not answer this row. Cloudflare says: “AiError: The estimated number of "
    "input and maximum output tokens ({}) exceeded this model context window limit (24000).” Retry "
    "it, or shorten its text."
)


def test_errors_that_differ_in_their_numbers_alone_are_one_reason() -> None:
    assert reason_of("failed", TOO_LONG.format(24577)) == reason_of("failed", TOO_LONG.format(99))
    one, other = (reason_of("failed", f"Gate {number} is shut.") for number in (4, 17))
    assert one.key == other.key
    assert one.key != reason_of("failed", "Gate A is shut.").key


def test_a_text_that_is_too_long_says_how_much_the_model_reads_and_what_to_do() -> None:
    reason = reason_of("failed", TOO_LONG.format(24577))
    assert in_words(reason) == "too long for this model, which reads about 18,000 words"
    assert reason.next_step == "Choose a model that reads more, or shorten the texts."
    assert reason.other_model
    assert not reason.can_ask


@pytest.mark.parametrize(
    ("error", "key"),
    [
        ("AiError: Capacity temporarily exceeded, please try again.", "failed-capacity"),
        ("3040: whatever", "failed-capacity"),
        ("Request timed out after 60 s", "failed-timeout"),
        ("AiError: Internal error", "failed-internal"),
        ("Rate limit reached", "failed-rate"),
        ("JSON Mode couldn't be met", "failed-json-mode"),
        ("the prompt was flagged by our content policy", "failed-unsafe"),
    ],
)
def test_what_cloudflare_says_is_recognised(error: str, key: str) -> None:
    assert reason_of("failed", error).key == key


def test_a_row_that_was_asked_with_another_has_the_reason_of_that_one() -> None:
    said = "Gate is shut."
    assert reason_of("failed", f"Asked once, with row 1,204: {said}") == reason_of("failed", said)


@pytest.mark.parametrize("status", ["empty", "missing", "unsent", "failed", "invalid", "unknown"])
def test_every_status_has_words_also_without_an_error(status: str) -> None:
    reason = reason_of(status, None)
    assert (reason.key, reason.status) == (status, status)
    assert reason.words
    assert reason.next_step


def test_an_empty_answer_is_one_reason_whatever_its_sentence() -> None:
    one = reason_of("empty", "The model's answer was cut off by the limit of 20 tokens.")
    assert one == reason_of("empty", "The model sent back an empty answer.")


def test_rows_that_cannot_be_asked_are_not_asked_again() -> None:
    assert not reason_of("invalid", "Column “review”: it is too long for the model").can_ask
    assert not reason_of("invalid", "Something else").can_ask


@pytest.mark.parametrize(
    "place", ["Row 42: ", "Row 1,042 (line 1,050): ", "Row 42, column “text”: ", "Line 7: "]
)
def test_a_reason_does_not_name_the_place_of_one_of_its_rows(place: str) -> None:
    said = "it has 3 cells more than the header has names"
    reason = reason_of("invalid", f"{place}{said}")
    assert reason.words == said
    assert reason.key == reason_of("invalid", f"Row 9: {said}").key


def test_no_reason_names_a_stored_file() -> None:
    error = "The stored file batches/7/answers-1.zst is damaged: it has 4 lines in place of 10."
    assert "zst" not in reason_of("missing", error).words


def test_a_very_long_error_is_cut() -> None:
    assert len(reason_of("failed", "word " * 9_999).words) < 400


def test_answers_that_do_not_fit_are_one_reason_for_each_column_whatever_they_are() -> None:
    angry, sad, refund = (
        reason_of("unfit", f"{what}, which is {fits}.")
        for what, fits in (
            ("“tone” is “too long, or a rate limit”", "not one of good, bad"),
            ('“tone” is ["sad"]', "not one of good, bad"),
            ("“refund” is 3", "neither yes nor no"),
        )
    )
    assert angry == sad
    assert angry.words == "“tone” is not one of good, bad"
    assert refund.words == "“refund” is neither yes nor no"
    assert refund.key != angry.key
    one, other = (reason_of("unfit", NOT_JSON.format(text)) for text in ("“No. 1”", "[3]"))
    assert one == other
    assert one.words == "the answer is not the JSON object that was asked for"
    assert one.can_ask


@pytest.mark.parametrize(
    ("status", "error", "key", "needs_longer"),
    [
        ("answered", CUT_OFF, "answered-cut", True),
        ("answered", f"Asked once, with row 7: {CUT_OFF}", "answered-cut", True),
        ("empty", CUT_SHORT, "empty-cut", True),
        ("unfit", f"It reached {AT_THE_LIMIT}, so it does not fit.", "unfit-cut", True),
        ("unfit", ENDS_IN_ITS_JSON, "unfit-cut", True),
        ("empty", f"{ONLY_REASONED} Allow a longer answer, then retry.", "empty-reasoned", True),
        ("empty", f"{ONLY_REASONED} Retry this row.", "empty-reasoned-out", False),
        ("empty", "The model's answer is empty.", "empty", False),
        ("failed", f"It says {AT_THE_LIMIT}", "", False),
    ],
)
def test_answers_that_need_more_room_lead_to_a_longer_answer(
    status: str, error: str, key: str, needs_longer: bool
) -> None:
    reason = reason_of(status, error)
    assert reason.needs_longer is needs_longer
    assert reason.key == key or not key
    assert ("Raise the longest answer" in reason.next_step) is needs_longer
