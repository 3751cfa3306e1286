"""Changes of the models that the sandbox lists, for tests: gone, new, another price, withdrawn."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from batchui.sandbox.models import MODELS, Model


class ModelChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One change. like: the model that a new one is like. gone: it is neither listed nor run.

    Null, and "" of a text, mean "as it is". withdrawn_on: its planned end, as 2026-12-31.
    """

    name: str
    like: str = ""
    gone: bool = False
    flagged: bool | None = None
    usd_input: float | None = None
    usd_output: float | None = None
    withdrawn_on: str = ""


def read_changes(body: bytes) -> list[ModelChange]:
    """The changes in a JSON list. Raises ValueError with a sentence."""
    changes = msgspec.json.decode(body, type=list[ModelChange])
    for change in changes:
        if (change.like or change.name) not in MODELS:
            raise ValueError(f"There is no model {change.like or change.name!r}.")
    return changes


def changed_models(changes: Sequence[ModelChange]) -> dict[str, Model]:
    """The models after these changes, by name."""
    models = dict(MODELS)
    for change in changes:
        if change.gone:
            models.pop(change.name, None)
            continue
        fields: dict[str, Any] = {
            name: value
            for name in ("flagged", "usd_input", "usd_output", "withdrawn_on")
            if (value := getattr(change, name)) not in (None, "")
        }
        before = MODELS[change.like or change.name]
        models[change.name] = replace(before, name=change.name, **fields)
    return models
