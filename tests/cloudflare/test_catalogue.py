"""The bundled catalogue: models anybody can choose from, and languages."""

import pytest

from batchui.cloudflare.catalogue import (
    DEFAULT_MODEL,
    UnknownLanguage,
    UnknownModel,
    find,
    find_language,
    languages,
    models,
    taking,
)

ANY = (None, None)


def test_the_default_model_comes_first_and_takes_what_is_documented_for_it() -> None:
    assert models()[0].name == DEFAULT_MODEL
    assert find(DEFAULT_MODEL).item_format == "prompt"


def test_names_and_labels_are_told_apart() -> None:
    assert len({model.name for model in models()}) == len(models()) == 13
    assert len({model.label for model in models()}) == len(models())


def test_each_task_takes_its_own_form_of_item() -> None:
    forms = {"chat": {"messages", "prompt", "input"}, "embedding": {"text"}}
    for model in models():
        assert model.item_format in forms.get(model.task, {"translation"})
        assert (model.usd_per_m_output is None) == (model.task == "embedding")
        assert model.usd_per_m_input > 0


@pytest.mark.parametrize(
    ("name", "item_format"),
    [
        ("@cf/openai/gpt-oss-120b", "input"),
        ("@cf/qwen/qwen3-30b-a3b-fp8", "messages"),
        ("@cf/baai/bge-large-en-v1.5", "text"),
        ("@cf/meta/m2m100-1.2b", "translation"),
    ],
)
def test_a_model_is_found_by_its_name(name: str, item_format: str) -> None:
    assert find(name).item_format == item_format


def test_descriptions_are_sentences_without_jargon() -> None:
    for model in models():
        assert model.description.endswith(".")
        assert len(model.description) > 60
        for word in ("token", "LLM", "parameter", "MoE", "fp8", "embedding", "inference"):
            assert word not in model.description, model.name


def test_a_model_that_is_no_longer_listed_is_still_known() -> None:
    assert find("@cf/baai/bge-m3").task == "embedding"
    assert "@cf/baai/bge-m3" not in {model.name for model in models()}


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("llama-3.3-70b", f"Did you mean “{DEFAULT_MODEL}”?"),
        ("@cf/meta/llama-3.3-70B-instruct-fp8-fast", f"Did you mean “{DEFAULT_MODEL}”?"),
        ("@cf/openai/gpt-oss-120", "Did you mean “@cf/openai/gpt-oss-120b”?"),
        ("@cf/somebody-else-with-a-long-name/bge-m", "Did you mean “@cf/baai/bge-m3”?"),
        ("m2m1", "Did you mean “@cf/meta/m2m100-1.2b”?"),
        ("@cf/openai/whisper-large-v3-turbo", f"The usual one is {DEFAULT_MODEL}."),
        ("", f"The usual one is {DEFAULT_MODEL}."),
    ],
)
def test_an_unknown_model_is_told_with_a_suggestion(name: str, suggestion: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        find(name)
    assert suggestion in str(caught.value)
    assert str(caught.value).startswith(f"batchui knows no model “{name}” that")
    assert isinstance(caught.value, KeyError)


def test_every_model_has_the_facts_of_its_published_schema() -> None:
    bounds = {
        model.name: {option.name: (option.least, option.most) for option in model.options}
        for model in (*models(), find("@cf/baai/bge-m3"))
    }
    assert bounds[DEFAULT_MODEL]["temperature"] == (0, 5)
    assert bounds["@cf/google/gemma-4-26b-a4b-it"]["temperature"] == (0, 2)
    assert bounds["@cf/qwen/qwen3-30b-a3b-fp8"]["top_p"] == (0.001, 1)
    assert bounds["@cf/openai/gpt-oss-20b"] == {"max_output_tokens": (1, None), "reasoning": ANY}
    assert bounds["@cf/baai/bge-m3"] == {"truncate_inputs": ANY}
    for model in models():
        assert bool(model.schema_nesting) == ("response_format" in bounds[model.name])
        assert model.reasons or model.effort is None
        if model.effort:
            assert model.effort.field in bounds[model.name]


def test_efforts_are_asked_for_in_three_ways() -> None:
    ways = {model.effort.field for model in models() if model.effort}
    assert ways == {"reasoning_effort", "reasoning", "chat_template_kwargs"}
    assert not any(model.reasons for model in models() if model.task != "chat")


def test_languages_are_in_the_order_of_their_names() -> None:
    names = [language.name for language in languages()]
    assert names == sorted(names)
    assert len({language.code for language in languages()}) == len(names) == 100


def test_codes_the_model_rejects_are_left_out() -> None:
    codes = {language.code for language in languages()}
    for rejected in ("as", "eu", "ky", "mt", "sa", "te", "tg", "ug", "nb", "fil"):
        assert rejected not in codes


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("de", "de"),
        (" DE ", "de"),
        ("German", "de"),
        ("pt-BR", "pt"),
        ("pt_BR", "pt"),
        ("nb", "no"),
        ("fil", "tl"),
        ("zh-Hans", "zh"),
        ("zh-Hant", "zh"),
        ("zh-TW", "zh"),
        ("zh-Hant-TW", "zh"),
    ],
)
def test_a_language_is_found_by_code_or_name(text: str, code: str) -> None:
    assert find_language(text).code == code


@pytest.mark.parametrize(
    ("text", "hint"), [("Germann", "German (de)"), ("eu", "de, fr"), ("", "de")]
)
def test_an_unknown_language_is_told_with_what_to_do(text: str, hint: str) -> None:
    with pytest.raises(UnknownLanguage) as caught:
        find_language(text)
    assert f"does not know the language “{text}”" in str(caught.value)
    assert hint in str(caught.value)


def test_the_models_for_items_are_those_that_are_offered_or_else_those_that_there_are() -> None:
    assert {model.item_format for model in taking(["text"])} == {"text"}
    assert all(model.listed for model in taking(["messages", "prompt"]))
    [alone] = taking(["contexts"])
    assert (alone.name, alone.listed) == ("@cf/baai/bge-m3", False)
    assert taking(["pictures"]) == ()
