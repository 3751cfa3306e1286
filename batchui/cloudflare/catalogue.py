"""The bundled catalogue: models that take batches, in plain words, and languages to translate.

The facts (prices, context windows, fields of an item and their bounds) are from September 2026: the
schemas that Cloudflare publishes with its models, and its page about JSON mode. The listing of an
account (`BatchClient.models`) is newer. There are no models for sound and images here.
"""

import difflib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, structs

DEFAULT_MODEL = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
# A longer name is of no model; it is neither compared with theirs nor shown whole.
LONGEST_NAME = 200

# What an account may use free of charge each day, in Cloudflare's unit, and the price beyond it.
# No page uses these two yet: they are for the estimate of a batch's price before Start.
FREE_NEURONS_A_DAY = 10_000
USD_PER_1000_NEURONS = 0.011

# Codes that people use for a language, and the code of the translation model for it.
_SAME_LANGUAGE = {"nb": "no", "fil": "tl", "zh-hans": "zh", "zh-hant": "zh", "iw": "he"}


class Option(Struct, frozen=True, kw_only=True):
    """A field that an item may have besides the question.

    least, most: the bounds of a number, both included; None where the schema names none.
    choices: the texts that it may be; () for any.
    """

    name: str
    kind: Literal["number", "integer", "boolean", "text", "list", "object", "any"]
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()


class Effort(Struct, frozen=True, kw_only=True):
    """How a model is asked to think less or more.

    field: of the item. inner: the field in that one; "" if it has the value itself. low, medium,
    high: the values. usual: which of them is the model's own.
    """

    field: str
    inner: str = ""
    low: str | bool
    medium: str | bool
    high: str | bool
    usual: Literal["low", "medium", "high"] = "medium"


class Model(Struct, frozen=True, kw_only=True):
    """One model.

    item_format: the form of an item in its batch schema; `messages` if that has both `prompt` and
    `messages`.
    usd_per_m_input, usd_per_m_output: US dollars for a million tokens. has_price: they are known.
    context_window: tokens, question and answer together.
    max_input_tokens: tokens of one text, for embeddings; the rest of the text is cut off.
    takes: the name of its set of options. options: these.
    schema_nesting: how a `response_format` has the JSON Schema: "plain", as it is; "named", within
    {"name", "schema"}; "" if the model takes none.
    speed: of its answers, next to other models. reasons: it thinks before it answers, within the
    longest answer. effort: None if it cannot be asked to think less or more. sees: it reads
    pictures.
    needs_paid_plan: only accounts on the Workers Paid plan may use it.
    is_own: a server of the team runs it, which nobody is paid for.
    listed: it is in `models()`.
    """

    name: str
    label: str
    task: Literal["chat", "embedding", "translation"]
    item_format: Literal["messages", "prompt", "input", "text", "contexts", "translation"]
    description: str
    usd_per_m_input: float
    usd_per_m_output: float | None = None
    has_price: bool = True
    context_window: int | None = None
    max_input_tokens: int | None = None
    needs_paid_plan: bool = False
    takes: str = ""
    options: tuple[Option, ...] = ()
    schema_nesting: Literal["", "plain", "named"] = ""
    speed: Literal["quick", "medium", "slow"] = "quick"
    reasons: bool = False
    effort: Effort | None = None
    sees: bool = False
    is_own: bool = False
    listed: bool = True


class Language(Struct, frozen=True):
    """A language of the translation model: its code there, and its English name."""

    code: str
    name: str


class UnknownModel(KeyError):
    """The catalogue has no such model. str() is a sentence that says what to do."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownLanguage(KeyError):
    """The translation model has no such language. str() is a sentence that says what to do."""

    def __str__(self) -> str:
        return str(self.args[0])


def models() -> tuple[Model, ...]:
    """The models to choose from, recommended ones first. The first one is the default."""
    return tuple(model for model in _read().models if model.listed)


def every_model() -> tuple[Model, ...]:
    """All models, listed or not, in their order."""
    return _read().models


def taking(item_formats: Sequence[str]) -> tuple[Model, ...]:
    """The models with one of these item formats, in their order; unlisted ones if none is listed.

    BGE M3 alone takes contexts. Cloudflare's documents show it in batches, its listing does not.
    """
    found = [m for form in item_formats for m in _read().models if m.item_format == form]
    return tuple(model for model in found if model.listed) or tuple(found)


def find(name: str) -> Model:
    """The model with exactly this name, listed or not. Raises UnknownModel with a suggestion."""
    by_name = {model.name: model for model in _read().models}
    if name in by_name:
        return by_name[name]
    short = {full.rpartition("/")[2]: full for full in by_name}
    shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
    close = difflib.get_close_matches(shown.rpartition("/")[2].lower(), short, n=1, cutoff=0.5)
    hint = f"Did you mean “{short[close[0]]}”?" if close else f"The usual one is {DEFAULT_MODEL}."
    raise UnknownModel(f"batchui knows no model “{shown}” that takes batches. {hint}")


def languages() -> tuple[Language, ...]:
    """The languages of the translation model, ordered by name."""
    return _read().languages


def find_language(text: str) -> Language:
    """The language with this code ("de", "pt-BR", "nb") or English name. Raises UnknownLanguage."""
    wanted = text.strip().lower().replace("_", "-")
    wanted = _SAME_LANGUAGE.get(wanted, wanted)
    known = {language.code: language for language in languages()}
    named = {language.name.lower(): language for language in languages()}
    found = known.get(wanted) or named.get(wanted) or known.get(wanted.partition("-")[0])
    if found is None:
        close = difflib.get_close_matches(wanted, named, n=1)
        hint = f"Did you mean {named[close[0]].name} ({named[close[0]].code})?" if close else ""
        raise UnknownLanguage(
            f"The translation model does not know the language “{text}”. "
            + (hint or "Give a code such as de, fr or es.")
        )
    return found


class _Catalogue(Struct, frozen=True):
    models: tuple[Model, ...]
    languages: tuple[Language, ...]
    option_sets: dict[str, tuple[Option, ...]]


@cache
def _read() -> _Catalogue:
    content = Path(__file__).with_name("catalogue.json").read_bytes()
    found = msgspec.json.decode(content, type=_Catalogue)
    sets = {"": (), **found.option_sets}
    models = (structs.replace(model, options=sets[model.takes]) for model in found.models)
    return structs.replace(found, models=tuple(models))
