"""Fits a saved question to a file whose columns are called otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from batchui.batches.models import Batch
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput, joined, listed, quoted
from batchui.prompts.template import Template
from batchui.web.asking.guessing import LOOKED_AT, text_column
from batchui.web.forms.pictures import picture_columns


@dataclass(frozen=True)
class Fitted:
    """A question for a file.

    told: which columns were taken instead, or are missing; or "". misses: whether one is missing.
    """

    ask: Ask
    told: str = ""
    misses: bool = False


def fitted(batch: Batch, ask: Ask) -> Fitted:
    """The question with the file's own columns in place of those that it does not have.

    A column whose name has the missing one in it, or the other way round, is taken first. If one
    name is left, it gets the column with the texts. Of several no guess is made: they are named.
    """
    if ask.as_items:
        return Fitted(ask)
    if ask.picture_column and ask.picture_column not in batch.columns:
        ask = replace(ask, picture_column=next(iter(picture_columns(batch)), ""))
    template = Template(ask.template)
    taken = [name for name in template.names if _is_there(name, batch)]
    instead: dict[str, str] = {}
    missing = [name for name in template.names if name not in taken and name.strip()]
    for name in missing:
        free = _free(batch, [*taken, *instead.values()])
        if found := next((one for one in free if _is_like(one, name)), ""):
            instead[name] = found
    missing = [name for name in missing if name not in instead]
    if len(missing) == 1:
        texts = text_column(batch)
        if texts in _free(batch, [*taken, *instead.values()]):
            instead[missing.pop()] = texts
    return Fitted(
        replace(ask, template=template.renamed(instead)), _told(instead, missing), bool(missing)
    )


def _is_there(name: str, batch: Batch) -> bool:
    try:
        Template("{{" + name + "}}").bind(batch.columns)
    except BadInput:
        return False
    return True


def _free(batch: Batch, taken: Sequence[str]) -> list[str]:
    """The columns that the question does not use yet."""
    names = {name.strip() for name in taken}
    return [one for one in batch.format.shown_columns[:LOOKED_AT] if one.strip() not in names]


def _is_like(column: str, name: str) -> bool:
    one, other = column.strip().casefold(), name.strip().casefold()
    return one == other or (min(len(one), len(other)) > 2 and (one in other or other in one))


def _told(instead: dict[str, str], missing: Sequence[str]) -> str:
    pairs = [f"{quoted(column)} in place of {quoted(name)}" for name, column in instead.items()]
    told = [f"It asks about {joined(pairs)}."] if pairs else []
    if missing:
        has = "no column" if len(missing) == 1 else "no columns"
        told.append(f"This file has {has} {listed(missing)}: choose one for the question.")
    return " ".join(told)
