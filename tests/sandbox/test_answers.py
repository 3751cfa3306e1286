"""What models answer: about the prompt, plainly from the sandbox, always the same."""

from typing import Any

import pytest

from batchui.sandbox import texts
from tests.sandbox.conftest import BGE_M3, GPT_OSS, KIMI, LLAMA, M2M100, QWEN, UNQUEUED, Caller


def test_an_answer_says_where_it_comes_from_and_quotes_the_prompt(caller: Caller) -> None:
    answer = caller.text("What is the capital of France?")
    about = '"What is the capital of France?"'
    assert answer == f"[sandbox] A made-up answer about {about} No AI model ran."


def test_an_answer_is_about_the_row_and_not_about_the_question(caller: Caller) -> None:
    answer = caller.text("Read this review.\n\nReview: Lovely room.\nQuiet street.")
    about = '"Lovely room. Quiet street."'
    assert answer == f"[sandbox] A made-up answer about {about} No AI model ran."


def test_the_same_prompt_has_the_same_answer(caller: Caller) -> None:
    assert caller.text("Tell me of Ada.") == caller.text("Tell me of Ada.")
    assert caller.text("Tell me of Ada.") != caller.text("Tell me of Bob.")


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (
            "Summarise this review:\nThe food was cold. We waited long.",
            "Summary: The food was cold.",
        ),
        ("Translate into German: Good morning", "[German] Good morning"),
        ("Extract the company: Globex was bought", "Globex, company, bought"),
    ],
)
def test_answers_make_sense_of_plain_wishes(caller: Caller, prompt: str, expected: str) -> None:
    assert caller.text(prompt).startswith(f"[sandbox] {expected.split(',')[0]}")


@pytest.mark.parametrize(
    ("prompt", "options"),
    [
        ("Answer yes or no: Was the room clean and quiet?", ["yes", "no"]),
        ("Answer with Yes or No.\nThe room was clean.", ["Yes", "No"]),
        ("The room was clean.\nIs this a complaint? (yes/no)", ["yes", "no"]),
        ("The room was clean.\nAnswer yes or no.", ["yes", "no"]),
        ('Reply "yes" or "no": is it clean? The room was clean.', ["yes", "no"]),
        ("Is this review positive? Answer yes or no. The room was clean.", ["yes", "no"]),
        ("Is it a summary? Answer yes or no. The room was clean.", ["yes", "no"]),
        ("Does the guest complain?\nThe room was clean.", ["yes", "no"]),
        ("Is this a complaint? The room was clean.", ["yes", "no"]),
        ("Good or bad?\nThe room was clean.", ["Good", "bad"]),
        ("Say keep or return: The room was clean.", ["keep", "return"]),
        ("The room was clean.\nIs this positive or negative?", ["positive", "negative"]),
        ("Is it positive, negative or neutral?\nWe ate.", ["positive", "negative", "neutral"]),
        ("What is the sentiment: I ate it", ["positive", "negative", "neutral"]),
        ("Classify as sport, politics or weather: Rain and weather tomorrow", ["weather"]),
        (
            "Choose one of these categories: billing, late delivery, other.\nIt came broken.",
            ["billing", "late delivery", "other"],
        ),
        ("Which topic? Topics: room; food; staff\nThe food was cold.", ["food"]),
        ("Rate the review from 1 to 5.\nThe room was clean.", ["1", "2", "3", "4", "5"]),
        ("Give a score (0-2): The room was clean.", ["0", "1", "2"]),
    ],
)
def test_a_choice_is_answered_with_one_of_its_options(
    caller: Caller, prompt: str, options: list[str]
) -> None:
    assert caller.text(prompt) in options


@pytest.mark.parametrize("question", ["Answer yes or no: ", "Answer yes or no. Is it this one? "])
def test_each_option_is_chosen_for_some_texts(caller: Caller, question: str) -> None:
    prompts = [{"prompt": f"{question}Room {number}"} for number in range(40)]
    answers = {result["response"] for result in caller.results(LLAMA, *prompts)}
    assert answers == {"yes", "no"}


@pytest.mark.parametrize(
    "prompt",
    [
        "Write one or two sentences: The room was clean.",
        "Write one or two sentences.\nThe room was clean.",
        "We came by train or bus and ate there.",
        "Rate: The room was clean. Was it?",
        "Say something about these 3 to 5 days.\nWe stayed.",
        "Choose a good title for this review: The room was clean and quiet",
    ],
)
def test_an_open_question_is_not_a_choice(caller: Caller, prompt: str) -> None:
    assert "No AI model ran" in caller.text(prompt)


def test_choices_inside_the_text_are_not_the_question(caller: Caller) -> None:
    answer = caller.text("Say something about this: They came two or three times, did they?")
    assert "No AI model ran" in answer


def test_a_system_message_is_the_instruction(caller: Caller) -> None:
    messages = [
        {"role": "system", "content": "Classify as good or bad."},
        {"role": "user", "content": "A terrible, bad thing."},
    ]
    (result,) = caller.results(LLAMA, {"messages": messages})
    assert result["response"] == "bad"


def test_the_parts_of_a_message_are_read(caller: Caller) -> None:
    parts = [{"type": "text", "text": "A picture"}, {"type": "image_url", "image_url": {}}]
    (result,) = caller.results(LLAMA, {"messages": [{"role": "user", "content": parts}]})
    assert '"A picture"' in result["response"]


def test_an_answer_is_cut_at_max_tokens(caller: Caller) -> None:
    prompt = "What is the capital of France?"
    whole = caller.text(prompt)
    assert caller.text(prompt, max_tokens=5) == whole[:20]


def test_an_answer_without_max_tokens_is_cut_at_256(caller: Caller) -> None:
    assert len(caller.text("Translate to Dutch: " + "word " * 2_000)) == 1_024
    assert len(caller.text("Translate to Dutch: " + "word " * 2_000, max_tokens=4_000)) > 9_000


def test_a_picture_is_told_of_and_counted(caller: Caller) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400}}
    text = {"type": "text", "text": "What is it?"}
    bare, pictured = caller.results(
        KIMI,
        {"messages": [{"role": "user", "content": [text]}]},
        {"messages": [{"role": "user", "content": [text, picture]}]},
    )
    said = pictured["choices"][0]["message"]["content"]
    assert said.endswith("A picture of 316 bytes came with it.")
    assert "picture" not in bare["choices"][0]["message"]["content"]
    tokens = [one["usage"]["prompt_tokens"] for one in (bare, pictured)]
    assert tokens[1] - tokens[0] == 280


def test_kimi_answers_with_a_chat_completion(caller: Caller) -> None:
    messages = [{"role": "user", "content": "Hello"}]
    (result,) = caller.results(KIMI, {"messages": messages})
    choice = result["choices"][0]
    assert result["object"] == "chat.completion"
    assert result["usage"]["prompt_tokens"] == 2
    assert choice["message"]["content"].startswith("[sandbox]")
    assert choice["message"]["reasoning_content"].startswith("[sandbox]")
    assert choice["finish_reason"] == "stop"
    (cut,) = caller.results(KIMI, {"messages": messages, "max_completion_tokens": 3})
    assert cut["choices"][0]["finish_reason"] == "length"


def test_qwen_answers_a_prompt_with_a_text_completion(caller: Caller) -> None:
    prompted, chatted = caller.results(
        QWEN, {"prompt": "Hello"}, {"messages": [{"role": "user", "content": "Hello"}]}
    )
    assert prompted["choices"][0]["text"].startswith("[sandbox]")
    assert chatted["choices"][0]["message"]["content"].startswith("[sandbox]")


@pytest.mark.parametrize("asked", ["Hello", [{"role": "user", "content": "Hello"}]])
def test_gpt_oss_answers_with_a_responses_object(caller: Caller, asked: Any) -> None:
    (result,) = caller.results(GPT_OSS, {"input": asked})
    assert [part["type"] for part in result["output"]] == ["reasoning", "message"]
    assert '"Hello"' in result["output"][1]["content"][0]["text"]
    assert result["status"] == "completed"


def test_a_cut_responses_object_is_incomplete(caller: Caller) -> None:
    (result,) = caller.results(GPT_OSS, {"input": "Hello", "max_output_tokens": 2})
    assert result["status"] == "incomplete"
    assert result["incomplete_details"] == {"reason": "max_output_tokens"}


def test_a_translation_is_marked_with_its_language(caller: Caller) -> None:
    (result,) = caller.results(M2M100, {"text": "Hello", "source_lang": "en", "target_lang": "fr"})
    assert result == {"translated_text": "[sandbox] [fr] Hello"}


def test_a_run_answers_one_item_at_once(caller: Caller) -> None:
    reply = caller.post(LLAMA, {"prompt": "Hello"}, queue=False).json()
    assert reply["success"] is True
    assert reply["result"]["response"].startswith("[sandbox]")
    assert reply["result"]["usage"]["prompt_tokens"] == 2


def test_a_run_and_a_batch_give_the_same_answer(caller: Caller) -> None:
    run = caller.post(LLAMA, {"prompt": "Tell me of Ada."}, queue=False).json()["result"]
    assert run["response"] == caller.text("Tell me of Ada.")


def test_models_without_batch_still_run(caller: Caller) -> None:
    reply = caller.post(UNQUEUED, {"prompt": "Hello"}, queue=False)
    assert reply.json()["result"]["response"].startswith("[sandbox]")


def test_sound_is_not_played(caller: Caller) -> None:
    reply = caller.post("@cf/openai/whisper-large-v3-turbo", {"audio": "AAAA"}, queue=False)
    assert reply.json()["errors"][0]["code"] == 8007


def test_any_text_survives(caller: Caller) -> None:
    text = 'Zürich – "naïve" 東京 🙂 \\ \u2028 \x7f'
    (result,) = caller.results(M2M100, {"text": text, "target_lang": "ja"})
    assert result["translated_text"] == f"[sandbox] [ja] {text}"


@pytest.mark.parametrize(
    ("model", "item"),
    [
        (GPT_OSS, {"input": [{"role": "user", "content": "Hello"}], "messages": 5}),
        (LLAMA, {"messages": [{"role": "user", "content": "Hello"}], "prompt": ""}),
        (BGE_M3, {"contexts": [{"text": "Hello"}], "text": 5}),
    ],
)
def test_a_stray_field_that_cannot_be_used_is_ignored(
    caller: Caller, model: str, item: dict[str, Any]
) -> None:
    (entry,) = caller.finished(model, item)["responses"]
    assert entry["success"] is True
    assert '"Hello"' in str(entry) or entry["result"]["shape"] == [1, 1024]


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("Lovely room with a view. Breakfast was cold.", "Lovely room with a view."),
        ("Quiet, clean, ten minutes away.", "Quiet, clean, ten minutes away."),
        ("Schöne Lage, leider laut.", "Schöne Lage, leider laut."),
        ("Perfect for families: cots, high chairs.", "Perfect for families: cots, high chairs."),
    ],
)
def test_a_text_within_the_question_is_told_from_it(text: str, summary: str) -> None:
    answer = texts.answer(f"Summarise what the guest liked in {text}")
    assert answer == f"[sandbox] Summary: {summary}"


def test_what_the_question_calls_the_text_is_no_part_of_it() -> None:
    answer = texts.answer("Summarise this text in one sentence.\n\nText: Lovely room. Cold.")
    assert answer == "[sandbox] Summary: Lovely room."


def test_a_question_alone_is_its_own_text() -> None:
    assert texts.answer("Summarise this") == "[sandbox] Summary: Summarise this"
