"""`manage.py bench`, and the figures in what it prints."""

from io import StringIO

import pytest
from django.core.management import call_command

# What measures for a quarter of a minute and more what `bench --all` measures at each commit, too.
by_turns = pytest.mark.by_turns(3)


def bench(*arguments: str) -> str:
    """What the command prints."""
    out = StringIO()
    call_command("bench", *arguments, stdout=out)
    return out.getvalue()


def figures(printed: str, name: str) -> list[float]:
    """The figures in the line that begins with `name`."""
    line = next(line for line in printed.splitlines() if line.startswith(name))
    return [float(figure) for figure in line.removeprefix(name).replace(",", "").split()]
