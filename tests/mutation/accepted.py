"""The survivors that are accepted, each with the reason: `accepted.toml`.

A `[[rule]]` accepts a kind of change everywhere, by regular expressions for the function and for
the lines taken away and put in, or, with `wording = true`, another wording of a sentence; a
`[[survivor]]` accepts one change of one function.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mutation.mutants import Change

FILE = Path(__file__).with_name("accepted.toml")


@dataclass(frozen=True)
class Accepted:
    """All that is accepted."""

    rules: list[dict[str, Any]]
    survivors: dict[Change, str]

    @classmethod
    def read(cls) -> "Accepted":
        """Raises ValueError for an entry without a reason."""
        content: dict[str, Any] = tomllib.loads(FILE.read_text())
        rules, single = content.get("rule", []), content.get("survivor", [])
        if any(not entry.get("reason") for entry in (*rules, *single)):
            raise ValueError(f"{FILE.name}: every entry needs a reason")
        changes = {
            Change(one["function"], one["was"].strip(), one["becomes"].strip()): one["reason"]
            for one in single
        }
        return cls(rules, changes)

    def reason_for(self, change: Change) -> str:
        """Why a survivor is accepted; "" when it is not."""
        if change in self.survivors:
            return self.survivors[change]
        for rule in self.rules:
            if (
                (change.is_wording or not rule.get("wording"))
                and re.search(rule.get("function", ""), change.function)
                and re.search(rule.get("was", ""), change.was)
                and re.search(rule.get("becomes", ""), change.becomes)
            ):
                return str(rule["reason"])
        return ""
