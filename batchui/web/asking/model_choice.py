"""The model of a draft as one line, and the list to choose another from."""

from dataclasses import dataclass
from typing import Any

from batchui.cloudflare import catalogue
from batchui.cloudflare.catalogue import DEFAULT_MODEL, Model
from batchui.web.forms.ask import AskForm
from batchui.web.forms.model_field import TASKS

# US dollars for a million tokens read and a million written; up to it, the price is called so.
PRICES = ((0.39, "very low price"), (0.7, "low price"), (2.6, "medium price"))
HIGH_PRICE = "high price"
WORDS_A_TOKEN = 0.75


@dataclass(frozen=True)
class ShownModel:
    """A model in the list. radio: its button in the form. facts: price and limits in words."""

    model: Model
    radio: Any
    facts: str


@dataclass(frozen=True)
class ModelChoice:
    """The chosen model, a few words about it, and all models by what they do."""

    chosen: Model
    line: str
    groups: list[tuple[str, list[ShownModel]]]

    @classmethod
    def of(cls, form: AskForm) -> "ModelChoice":
        """The choice as the form has it."""
        radios = {str(radio.data["value"]): radio for radio in form["model"]}
        models = [catalogue.find(name) for name in radios]
        groups = [
            (title, [ShownModel(m, radios[m.name], facts(m)) for m in models if m.task == task])
            for task, title in TASKS.items()
        ]
        chosen = catalogue.find(form.as_typed()["model"])
        return cls(chosen, in_short(chosen), [group for group in groups if group[1]])


def in_short(model: Model) -> str:
    """A few words about a model, to stand behind its name: “best for most questions”."""
    if model.name == DEFAULT_MODEL:
        return "best for most questions"
    first = model.description.partition(". ")[0].partition(": ")[0].removesuffix(".")
    return first[:1].lower() + first[1:]


def facts(model: Model) -> str:
    """“medium price · reads up to 18,000 words at a time · needs the Workers Paid plan”."""
    price = model.usd_per_m_input + (model.usd_per_m_output or 0)
    found = [next((words for most, words in PRICES if price <= most), HIGH_PRICE)]
    if model.context_window:
        found.append(f"reads up to {_words(model.context_window)} words at a time")
    if model.needs_paid_plan:
        found.append("needs the Workers Paid plan")
    return " · ".join(found)


def _words(tokens: int) -> str:
    """About how many words are so many tokens, in two digits: “18,000”."""
    words = int(tokens * WORDS_A_TOKEN)
    size = 10 ** max(len(str(words)) - 2, 0)
    return f"{words // size * size:,}"
