"""Runs mutmut once, and chooses the mutants while it runs: `python -m tests.mutation` starts this.

mutmut wants the names of its mutants before it has made them, and would have to run twice, for
minutes each. A sample is made of a few files of one package alone, which saves making the mutants
of all others, and running the tests that are not about them.
"""

import fnmatch
import json
import os
import random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from mutmut import __main__ as mutmut
from mutmut.configuration import Config, config
from mutmut.workers.isolation import ForkRunner

from tests.mutation import mutants
from tests.mutation.changed import changed_functions, module_of
from tests.mutation.options import Options
from tests.mutation.plugin import ENOUGH

FILES_OF_A_SAMPLE = 12
# For how many seconds of tests each of its mutants is tried: most die in the first.
SECONDS_OF_A_SAMPLE = 12
# The tests of a package that are not in its own folder: what a worker does is done to batches, what
# the sheet shows is found out there, and saved questions are tested where they are used.
TESTS_BESIDE = {
    "batches": ["tests/worker", "tests/web/sheet", "tests/web/test_starting_points.py"],
    "worker": ["tests/batches"],
    "cloudflare": ["tests/batches/test_plain_replies.py"],
}
# What was chosen, for who judges it.
CHOSEN = mutants.FOLDER / "chosen.json"


def main() -> None:
    options = Options.read(sys.argv[1:])
    pick = random.Random(options.seed)
    files = files_to_mutate(config(), options, pick)
    config().only_mutate = files
    if options.is_of_few_files:
        config().pytest_add_cli_args_test_selection = folders_of_tests(files[0])
        os.environ[ENOUGH] = str(SECONDS_OF_A_SAMPLE)
    collect = mutmut.collect_source_file_mutation_data
    # What mutmut is given: filled before it reads it.
    wanted: list[str] = []

    def choose_and_collect(**_: Any) -> Any:
        """The mutants to run. mutmut calls this when all are made and the tests have run once."""
        wanted[:] = choose(options, pick)
        return collect(mutant_names=wanted)

    mutmut.collect_source_file_mutation_data = choose_and_collect
    if not options.keep:
        # They have passed a moment before, while it was noted which functions they run.
        ForkRunner.run_clean_tests = _do_not_run_again  # type: ignore[method-assign]
    forget_tests()
    mutmut._run(wanted, None)


def files_to_mutate(patterns: Config, options: Options, pick: random.Random) -> list[str]:
    """The files that have mutants which may be chosen. Ends the program if there is none."""
    files = sorted(
        str(path) for path in Path("batchui").rglob("*.py") if patterns.should_mutate(path)
    )
    if options.is_of_few_files:
        package = package_of(pick.choice(files))
        files = [path for path in files if package_of(path) == package]
        return sorted(pick.sample(files, min(FILES_OF_A_SAMPLE, len(files))))
    if options.since:
        changed = {name.rpartition(".")[0] for name in changed_functions(files, options.since)}
        files = [path for path in files if module_of(path) in changed]
    # None at all would mean every file to mutmut.
    return [path for path in files if may_match(path, options.only)] or refuse(options)


def package_of(path: str) -> str:
    """The package of a file: "batches" of "batchui/batches/sheet/glance.py"."""
    return path.split("/")[1]


def folders_of_tests(path: str) -> list[str]:
    """The folders of the tests that may kill a mutant of a file."""
    package = package_of(path)
    return [f"tests/{package}", *TESTS_BESIDE.get(package, [])]


def may_match(path: str, pattern: str) -> bool:
    """Whether a file may have mutants whose names match the pattern."""
    module = module_of(path) + "."
    fixed = pattern.partition("*")[0].partition("?")[0].partition("[")[0]
    return module.startswith(fixed) or fixed.startswith(module)


def refuse(options: Options) -> NoReturn:
    since = f" and has changed since {options.since}" if options.since else ""
    sys.exit(f"No mutant has a name like {options.only}{since}.")


def choose(options: Options, pick: random.Random) -> list[str]:
    """Choose mutants, and controls in functions that some test runs, and write them to CHOSEN.

    Returns the names to run; [] for all that have no result yet.
    """
    chosen = sorted(
        name
        for name in mutants.results()
        if fnmatch.fnmatch(name, options.only) and not name.endswith(mutants.CONTROL)
    )
    if options.since:
        changed = changed_functions(config().only_mutate, options.since)
        chosen = [name for name in chosen if name.rpartition("__mutmut_")[0] in changed]
    if options.sample:
        chosen = sorted(pick.sample(chosen, min(options.sample, len(chosen))))
    if not chosen:
        refuse(options)
    functions = mutants.tested_functions()
    number = min(len(functions), 40, max(4, len(chosen) // 20))
    controls = mutants.add_controls(pick.sample(functions, number))
    CHOSEN.write_text(json.dumps({"mutants": chosen, "controls": controls}))
    return [] if options.all else [*chosen, *controls]


def _do_not_run_again(self: ForkRunner, tests: Iterable[str]) -> int:
    return 0


def forget_tests() -> None:
    """Let mutmut import the tests anew, from its own copy of them."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]


if __name__ == "__main__":
    main()
