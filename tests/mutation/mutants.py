"""mutmut's files: the names of the mutants, what became of each, and what each changes."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mutmut.mutation.diff_apply import get_diff_for_mutant

FOLDER = Path("mutants")
# Runs the original code, since no mutant has this number.
CONTROL = "__mutmut_99999"
STATUSES = {
    0: "survived",
    1: "killed",
    3: "broken",  # pytest itself failed: no test has judged it
    5: "no tests",
    33: "no tests",
    37: "killed by mypy",
    None: "not run",
}
# It ran for ever: mutmut limits the processor time.
TIMEOUTS = (-24, 24, 36, 152, 255)
# A string in double quotes, and one with words for people in it.
LITERAL = re.compile(r'("(?:[^"\\]|\\.)*")')
SENTENCE = re.compile(r'"[^"%]*\w[ ,.:;]+[^"%]*"')
DEAD = ("killed", "killed by mypy", "timeout")


@dataclass(frozen=True, order=True)
class Change:
    """What a mutant changes: the lines it takes away and puts in, in which function."""

    function: str
    was: str
    becomes: str

    @property
    def is_wording(self) -> bool:
        """Whether only a sentence is written otherwise: in other case, or between two XX."""
        was, becomes = LITERAL.split(self.was), LITERAL.split(self.becomes)
        differing = [pair for pair in zip(was, becomes, strict=False) if pair[0] != pair[1]]
        if len(was) != len(becomes) or len(differing) != 1:
            return False
        before, after = differing[0]
        return bool(SENTENCE.fullmatch(before)) and (
            after in (before.upper(), before.lower(), before[0] + "XX" + before[1:-1] + 'XX"')
        )


def results() -> dict[str, str]:
    """What became of every mutant, by name."""
    found: dict[str, str] = {}
    for meta in sorted(FOLDER.rglob("*.meta")):
        for name, code in json.loads(meta.read_text())["exit_code_by_key"].items():
            found[name] = "timeout" if code in TIMEOUTS else STATUSES.get(code, f"exit {code}")
    return found


def tested_functions() -> list[str]:
    """The functions that some test runs, as mutmut names them."""
    stats = json.loads((FOLDER / "mutmut-stats.json").read_text())
    reached = stats["tests_by_mangled_function_name"]
    return sorted(name for name, tests in reached.items() if tests)


def add_controls(functions: Iterable[str]) -> list[str]:
    """Add a mutant that changes nothing to each function; returns their names."""
    wanted = set(functions)
    controls: list[str] = []
    for meta in sorted(FOLDER.rglob("*.meta")):
        data = json.loads(meta.read_text())
        here = {name.rpartition("__mutmut_")[0] for name in data["exit_code_by_key"]} & wanted
        if here:
            data["exit_code_by_key"] |= {f"{function}{CONTROL}": None for function in here}
            meta.write_text(json.dumps(data, indent=4))
            controls += [f"{function}{CONTROL}" for function in sorted(here)]
    return controls


def function_of(name: str) -> str:
    """The function of a mutant: "batchui.batches.due.ready_parts", "….Batch.ask"."""
    module, _, mangled = name.rpartition("__mutmut_")[0].rpartition(".")
    return f"{module}.{re.sub('^x_|^xǁ', '', mangled).replace('ǁ', '.')}"


def change_of(name: str) -> Change:
    """What a mutant changes."""
    path = f"{name.rpartition('.')[0].replace('.', '/')}.py"
    diff = get_diff_for_mutant(name, path=path)
    return Change(function_of(name), _lines(diff, "-"), _lines(diff, "+"))


def _lines(diff: str, sign: str) -> str:
    def changed() -> Iterator[str]:
        for line in diff.splitlines():
            if line.startswith(sign) and not line.startswith(sign * 3):
                yield " ".join(line[1:].split())

    return "\n".join(changed())
