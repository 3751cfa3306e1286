"""The model of a draft as one line, and the list to choose another from, which comes alone."""

from dataclasses import dataclass
from typing import Any

from batchui.batches.money import precise
from batchui.cloudflare.catalogue import DEFAULT_MODEL, Model
from batchui.prompts.ask import EFFORTS
from batchui.prompts.model_facts import room_for_reasoning
from batchui.web.asking.jobs import recommended
from batchui.web.forms.ask import AskForm
from batchui.web.forms.model_field import TASKS

# US dollars for a million tokens read and a million written; up to it, the price is called so.
PRICES = ((0.39, "very low price"), (0.7, "low price"), (2.6, "medium price"))
HIGH_PRICE = "high price"
SPEEDS = {"quick": "quick", "medium": "neither quick nor slow", "slow": "slow"}
WORDS_A_TOKEN = 0.75


@dataclass(frozen=True)
class ShownModel:
    """A model in the list. radio: its button in the form. facts: price, speed, limits in words.

    remark: what has changed about it.
    """

    model: Model
    radio: Any
    facts: str
    is_recommended: bool = False
    remark: str = ""


@dataclass(frozen=True)
class ModelChoice:
    """The chosen model, and a few words about it.

    radio: its button, with which the form names it until the list of all is there. thinking: a
    sentence about a model that thinks before it answers; else "".
    """

    chosen: Model
    radio: str
    line: str
    facts: str
    thinking: str
    remark: str

    @classmethod
    def of(cls, form: AskForm) -> "ModelChoice":
        """The choice as the form has it."""
        chosen = form.known.find(form.as_typed()["model"])
        return cls(
            chosen,
            _radios(form)[chosen.name].tag(),
            in_short(chosen),
            facts(chosen),
            thinking_of(chosen, str(form["effort"].value() or "")),
            _instead(form, chosen) or form.known.remark(chosen.name),
        )


def groups_of(form: AskForm) -> list[tuple[str, list[ShownModel]]]:
    """All models of a form by what they do, where there are any."""
    known = form.known
    radios = _radios(form)
    models = [known.find(name) for name in radios]
    best = recommended(form.job_chosen, known, sees=form.shows_pictures)
    shown = [
        ShownModel(m, radios[m.name], facts(m), m.name == best, known.remark(m.name))
        for m in models
    ]
    groups = [
        (title, [one for one in shown if one.model.task == task]) for task, title in TASKS.items()
    ]
    return [group for group in groups if group[1]]


def _radios(form: AskForm) -> dict[str, Any]:
    return {str(radio.data["value"]): radio for radio in form["model"]}


def _instead(form: AskForm, chosen: Model) -> str:
    """That the draft's own model is not there where it goes to; "" if it is, or was chosen anew."""
    asked, connection = form.batch.ask.model, form.known.connection
    if form.is_bound or not asked or asked == chosen.name or connection is None:
        return ""
    return (
        f"“{asked.rpartition('/')[2]}”, which was chosen before, is none of the models of "
        f"{connection.name}: {chosen.label} stands in its place."
    )


def in_short(model: Model) -> str:
    """A few words about a model, to stand behind its name: “best for most questions”."""
    if model.name == DEFAULT_MODEL:
        return "best for most questions"
    first = model.description.partition(". ")[0].partition(": ")[0].removesuffix(".")
    return first[:1].lower() + first[1:]


def thinking_of(model: Model, effort: str) -> str:
    """How long a model may think, which is paid for; "" if it does not think."""
    room = room_for_reasoning(model, effort if effort in EFFORTS else "")
    if not room:
        return ""
    return (
        f"It thinks before it answers: up to {room:,} tokens a row, about {_words(room)} words, "
        "besides the longest answer. They are paid for like the answer."
    )


def facts(model: Model) -> str:
    """“Medium price ($0.29 for a million tokens read, $2.25 written), quick, reads up to 18,000
    words at a time, needs the Workers Paid plan.”"""
    price = model.usd_per_m_input + (model.usd_per_m_output or 0)
    words = next((words for most, words in PRICES if price <= most), HIGH_PRICE)
    usd = f"{precise(model.usd_per_m_input)} for a million tokens read"
    if model.usd_per_m_output is not None:
        usd += f", {precise(model.usd_per_m_output)} written"
    price_words = f"{words.capitalize()} ({usd})" if model.has_price else "Price not known"
    found = [price_words, SPEEDS[model.speed]]
    if model.is_own:
        found = ["Runs on your own server, which costs nothing"]
    if reads := model.max_input_tokens or model.context_window:
        found.append(f"reads up to {_words(reads)} words at a time")
    if model.sees and not model.is_own:
        found.append("sees pictures")
    if model.needs_paid_plan:
        found.append("needs the Workers Paid plan")
    return ", ".join(found) + "."


def _words(tokens: int) -> str:
    """About how many words are so many tokens, in two digits: “18,000”."""
    words = int(tokens * WORDS_A_TOKEN)
    size = 10 ** max(len(str(words)) - 2, 0)
    return f"{words // size * size:,}"
