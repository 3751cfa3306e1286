"""What a made-up model takes."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class OneOption:
    name: str
    kind: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class OneEffort:
    field: str
    inner: str = ""
    low: str | bool = "low"
    medium: str | bool = "medium"
    high: str | bool = "high"
    usual: str = "medium"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """A `model_facts.Takes`."""

    label: str = "Test 1B"
    options: tuple[OneOption, ...] = ()
    schema_nesting: Literal["", "plain", "named"] = ""
    reasons: bool = False
    effort: Any = None
    context_window: int | None = None
