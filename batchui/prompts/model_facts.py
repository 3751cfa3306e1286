"""What a model takes besides the question, and whether what is set for it fits.

The catalogue of models has these facts; here stands only what is needed of them.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, Protocol

from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput, listed, quoted

# Tokens that a model may think, besides the longest answer, by its effort.
ROOM = {"low": 1_024, "medium": 4_096, "high": 12_288}


class Option(Protocol):
    """A field of an item, and what it may be. None, (): no bound, any text."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def least(self) -> float | None: ...
    @property
    def most(self) -> float | None: ...
    @property
    def choices(self) -> Sequence[str]: ...


class Effort(Protocol):
    """How a model is asked to think less or more: see `catalogue.Effort`."""

    @property
    def field(self) -> str: ...
    @property
    def inner(self) -> str: ...
    @property
    def low(self) -> str | bool: ...
    @property
    def medium(self) -> str | bool: ...
    @property
    def high(self) -> str | bool: ...
    @property
    def usual(self) -> str: ...


class Takes(Protocol):
    """What a model takes: see `catalogue.Model`, which is one."""

    @property
    def label(self) -> str: ...
    @property
    def options(self) -> Sequence[Option]: ...
    @property
    def schema_nesting(self) -> Literal["", "plain", "named"]: ...
    @property
    def reasons(self) -> bool: ...
    @property
    def effort(self) -> Effort | None: ...
    @property
    def context_window(self) -> int | None: ...
    @property
    def sees(self) -> bool: ...


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "number": ((int, float, Decimal), "a number"),
    "integer": ((int,), "a whole number"),
    "boolean": ((bool,), "true or false"),
    "text": ((str,), "a text"),
    "list": ((list,), "a list"),
    "object": ((dict,), "an object in braces"),
}


def takes(model: Takes, name: str) -> bool:
    """Whether an item for this model may have a field of this name."""
    return any(option.name == name for option in model.options)


def check_sees(model: Takes) -> None:
    """Raise BadInput for a model that no picture can be shown to."""
    if not model.sees:
        raise BadInput(
            f"{model.label} cannot see pictures. Choose a model that can, or no column of pictures."
        )


def effort_setting(model: Takes | None, effort: str) -> dict[str, Any]:
    """The field that asks for an effort; {} for the model's own, or where none can be asked for."""
    if model is None or model.effort is None or not effort:
        return {}
    value = getattr(model.effort, effort)
    return {model.effort.field: {model.effort.inner: value} if model.effort.inner else value}


def room_for_reasoning(model: Takes | None, effort: str) -> int:
    """The tokens that a model may think before its answer; 0 for one that does not think."""
    if model is None or not model.reasons:
        return 0
    if model.effort is None:
        return ROOM["medium"]
    wanted = effort or model.effort.usual
    return 0 if getattr(model.effort, wanted) is False else ROOM[wanted]


def longest_written(model: Takes | None, ask: Ask) -> int:
    """The tokens that one answer may have, its reasoning included."""
    return ask.max_tokens + room_for_reasoning(model, ask.effort)


def check_settings(model: Takes, ask: Ask) -> None:
    """Raise BadInput for an option that the model does not take, or not so."""
    for name, value in ask.options.items():
        if not takes(model, name):
            known = [option.name for option in model.options]
            has = f"It takes {listed(known)}." if known else "It takes none."
            raise BadInput(f"{model.label} takes no option {quoted(name)}. {has} Remove it.")
        if problem := misfit(model, name, value):
            raise BadInput(f"The option {quoted(name)}: {problem}")


def longest_with_room(model: Takes, effort: str) -> int | None:
    """The longest answer, in tokens besides its reasoning, that leaves a question any room.

    None: the model names no limit.
    """
    window = model.context_window
    return window - room_for_reasoning(model, effort) - 1 if window else None


def check_room(model: Takes, ask: Ask) -> None:
    """Raise BadInput for a longest answer that leaves the question no room."""
    most = longest_with_room(model, ask.effort)
    if most is not None and ask.max_tokens > most:
        window, longest = model.context_window, longest_written(model, ask)
        thinking = room_for_reasoning(model, ask.effort)
        with_thinking = f", {thinking:,} of them for thinking," if thinking else ""
        raise BadInput(
            f"{model.label} has room for {window:,} tokens, question and answer together, and an "
            f"answer of up to {longest:,}{with_thinking} leaves none for the question. Choose a "
            "shorter longest answer."
        )


def misfit(model: Takes, name: str, value: Any) -> str:
    """The sentence about a value that the model does not take in this field; "" if it does.

    Fields that it does not know are not judged. Null stands for the model's own setting.
    """
    option = next((option for option in model.options if option.name == name), None)
    if option is None or value is None or option.kind == "any":
        return ""
    types, words = _KINDS[option.kind]
    fits = isinstance(value, types) and (option.kind == "boolean" or type(value) is not bool)
    if fits and option.kind in ("number", "integer"):
        fits = (option.least is None or value >= option.least) and (
            option.most is None or value <= option.most
        )
    if fits and (not option.choices or value in option.choices):
        return ""
    shown = (
        str(value) if isinstance(value, (int, float, Decimal)) and type(value) is not bool else ""
    )
    return (
        f"{model.label} takes {words}{_bounds(option)} here, and this is "
        f"{shown or 'something else'}. Change it."
    )


def _bounds(option: Option) -> str:
    """ " from 0 to 2", " of 1 or more", ", “mean” or “cls”,"."""
    if option.choices:
        return f", {' or '.join(map(quoted, option.choices))},"
    if option.least is not None and option.most is not None:
        return f" from {option.least:,g} to {option.most:,.10g}"
    return f" of {option.least:,g} or more" if option.least is not None else ""
