"""Reads environment variables as typed values.

A value that cannot be read does not stop the reading: the default is used, and a Problem says what
is wrong and what to set. `checks.py` shows all problems before anything starts.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import dj_database_url

YES = {"1", "true", "yes", "on"}
NO = {"0", "false", "no", "off", ""}
DATABASES = {
    "django.db.backends.sqlite3": "SQLite",
    "django.db.backends.postgresql": "PostgreSQL",
}
# Used for a database that is not understood: every use of it raises an error.
NO_DATABASE = {"ENGINE": "django.db.backends.dummy", "NAME": ""}


class Problem(NamedTuple):
    """What is wrong with a setting, and what to do. id: of the start-up check."""

    id: str
    sentence: str
    advice: str


class Environment:
    """Reads variables from a mapping, and collects `problems`."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.problems: list[Problem] = []

    def problem(self, number: int, sentence: str, *, advice: str) -> None:
        """Add a problem. number: of the check, so 2 is `batchui.E002`."""
        self.problems.append(Problem(f"batchui.E{number:03}", sentence, advice))

    def text(self, name: str, default: str = "") -> str:
        """The value without the blanks around it; the default if it is absent or blank."""
        return self._variables.get(name, "").strip() or default

    def flag(self, name: str) -> bool:
        """Whether the switch is on (1, true, yes, on). Off if it is absent."""
        value = self.text(name).lower()
        if value not in YES | NO:
            self.problem(
                2, f"{name} is “{value}”, which is neither on nor off.", advice="Set 1 or 0."
            )
        return value in YES

    def number(self, name: str, default: int, *, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        return int(self.amount(name, default, low=low, high=high, whole=True))

    def amount(
        self, name: str, default: float, *, low: float, high: float, whole: bool = False
    ) -> float:
        """A number from `low` to `high`."""
        value = self.text(name) or str(default)
        try:
            number = int(value) if whole else float(value)
            if low <= number <= high:
                return number
        except ValueError:
            pass
        kind = "a whole number" if whole else "a number"
        self.problem(
            2,
            f"{name} is “{value}”, which is not {kind} from {low:,} to {high:,}.",
            advice=f"Set such a number, or remove it to use the default, {default:,}.",
        )
        return default

    def choice(self, name: str, *words: str) -> str:
        """One of the words; the first one if it is absent."""
        value = self.text(name, words[0]).lower()
        if value in words:
            return value
        self.problem(
            2,
            f"{name} is “{value}”, which is none of: {', '.join(words)}.",
            advice=f"Set one of these, or remove it to use the default, {words[0]}.",
        )
        return words[0]

    def words(self, name: str) -> list[str]:
        """The words of a list that is separated by commas or blanks."""
        return self.text(name).replace(",", " ").split()

    def address(self, name: str, default: str = "") -> str:
        """An http or https address, without a slash at its end."""
        value = self.text(name, default)
        if value and not _is_web_address(value):
            self.problem(
                3,
                f"{name} is “{value}”, which is not a web address.",
                advice="Set one that begins with https:// (or http://).",
            )
            return default
        return value.rstrip("/")

    def origins(self, name: str) -> list[str]:
        """The origins (`https://host`) of a list, and a problem for each other word."""
        good = []
        for origin in self.words(name):
            if origin.startswith(("https://", "http://")):
                good.append(origin.rstrip("/"))
            else:
                self.problem(
                    4,
                    f"{name} contains “{origin}”, which has no https:// or http:// before it.",
                    advice=f"Write https://{origin.partition('://')[2] or origin}",
                )
        return good

    def folder(self, name: str, default: Path) -> Path:
        """A folder, with a problem if it cannot be made or written. Nothing is written here."""
        path = Path(self.text(name) or default).expanduser().resolve()
        # Not `Path.exists`: it raises an error for what nobody may look into.
        there = next(folder for folder in (path, *path.parents) if os.path.exists(folder))
        reason = ""
        if not there.is_dir():
            reason = f"{there} is not a folder"
        elif not os.access(there, os.W_OK | os.X_OK):
            reason = f"you have no right to write in {there}"
        if reason:
            self.problem(
                1,
                f"The data folder {path} cannot be written: {reason}.",
                advice="Give the user who runs batchui the right to write there, or set "
                f"{name} to a folder that can be written.",
            )
        return path

    def database(self, name: str, default: Path) -> dict[str, Any]:
        """Django's settings for the database at an address; SQLite in `default` if it is absent."""
        value = self.text(name)
        if not value:
            return {"ENGINE": "django.db.backends.sqlite3", "NAME": default}
        try:
            found = dict(dj_database_url.parse(value))
        except Exception:  # its errors differ by what is wrong, and may repeat the password
            found = dict(NO_DATABASE)
        if found.get("ENGINE") in DATABASES and found.get("NAME"):
            return found
        self.problem(
            5,
            f"{name} is not an address of a database that batchui works with.",
            advice="Set postgres://USER:PASSWORD@HOST:5432/NAME (special characters in the "
            "password percent-encoded), or remove it to use SQLite in the data folder.",
        )
        return dict(NO_DATABASE)


def _is_web_address(text: str) -> bool:
    """Whether the text is an http or https address with a host and, perhaps, a port."""
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that are not closed, a port beyond 65535
        return False
