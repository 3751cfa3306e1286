"""The lines of the log: with the time, on one line each, and without secrets."""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

# Up to the next slash: a token still works with blanks or quotation marks around it.
LINK = re.compile(r"(/(?:setup|join)/+)[^/]+")


class LinksBlottedOut(logging.Filter):
    """Removes the token from set-up and invitation links that are logged."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if LINK.search(message):
            record.msg, record.args = LINK.sub(r"\1…", message), ()
        return True


class RefusalsOnOneLine(logging.Filter):
    """Takes the traceback away where Django refused what a client sent, such as 1,001 fields."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.exc_info = None
        return True


class PlainLines(logging.Formatter):
    """`2026-11-22T08:30:00Z INFO batchui.security: signed in who="3 ana@example.com"`.

    Texts from outside are quoted, so that nobody can begin a line of their own.
    """

    def format(self, record: logging.LogRecord) -> str:
        message = " ".join(record.getMessage().splitlines())
        facts = "".join(
            f" {name}={json.dumps(fact, ensure_ascii=False)}" for name, fact in _facts(record)
        )
        trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"{_time(record)} {record.levelname} {record.name}: {message}{facts}{trace}"


class JsonLines(logging.Formatter):
    """One JSON object on each line, for programs that collect logs."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **dict(_facts(record)),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


FORMATTERS = {"plain": PlainLines, "json": JsonLines}


def _facts(record: logging.LogRecord) -> list[tuple[str, str]]:
    facts: dict[str, str] = getattr(record, "facts", {})
    return list(facts.items())


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
