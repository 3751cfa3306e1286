"""`python -m tests.mutation`: see the package."""

import argparse
import fnmatch
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.mutation import mutants
from tests.mutation.accepted import Accepted
from tests.mutation.mutants import DEAD

# A few mutants with quick tests: running them makes all the others, and finds which test runs what.
CHEAP = "batchui.exports.names.*"
LEAST_SHARE = 0.9


def main() -> int:
    """Exit status 0 when every survivor has a reason, and of all mutants enough have died."""
    options = parse()
    seed = options.seed or commit()
    if not options.keep:
        shutil.rmtree(mutants.FOLDER, ignore_errors=True)
    run_mutmut([CHEAP])
    pick = random.Random(seed)
    chosen = choose(options, pick)
    functions = mutants.tested_functions()
    controls = mutants.add_controls(pick.sample(functions, min(40, max(6, len(chosen) // 20))))
    say(f"{len(chosen):,} mutants and {len(controls)} controls; seed {seed}")
    # Without names mutmut runs all that has no result yet.
    run_mutmut([] if options.all else [*chosen, *controls])
    return judge(chosen, controls, whole=options.all)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--sample", type=int, default=120, help="how many mutants (%(default)s)")
    parser.add_argument("--seed", default="", help="which ones; else the commit decides")
    parser.add_argument("--only", default="*", help="a pattern for the names of mutants")
    parser.add_argument("--all", action="store_true", help="every mutant")
    parser.add_argument("--keep", action="store_true", help="go on with what the last run made")
    return parser.parse_args()


def choose(options: argparse.Namespace, pick: random.Random) -> list[str]:
    """The names of the mutants to run."""
    names = sorted(
        name
        for name in mutants.results()
        if fnmatch.fnmatch(name, options.only) and not name.endswith(mutants.CONTROL)
    )
    if options.all or options.only != "*":
        return names
    return sorted(pick.sample(names, min(options.sample, len(names))))


def judge(chosen: Iterable[str], controls: Iterable[str], *, whole: bool) -> int:
    """Say what became of the mutants; 1 when something is wrong."""
    found, accepted = mutants.results(), Accepted.read()
    statuses = {name: found[name] for name in chosen}
    count = Counter(statuses.values())
    alive = {name: mutants.change_of(name) for name, it in statuses.items() if it not in DEAD}
    unexplained = {name: it for name, it in alive.items() if not accepted.reason_for(it)}
    broken = [name for name in controls if found[name] != "survived"]
    share = 1 - len(alive) / max(len(statuses), 1)
    for name, it in sorted(unexplained.items()):
        say(f"\n{statuses[name]}: {name}\n  - {it.was}\n  + {it.becomes}")
    for name in broken:
        say(f"\nA control did not survive, so that no kill can be trusted: {name} ({found[name]})")
    say(f"\n{dict(count)}; {share:.1%} died; {len(alive) - len(unexplained)} survivors accepted")
    say(f"{len(statuses) - len(unexplained)} passed, {len(unexplained) + len(broken)} failed")
    too_few = whole and share < LEAST_SHARE
    if too_few:
        say(f"Fewer than {LEAST_SHARE:.0%} died.")
    return 1 if unexplained or broken or too_few else 0


def run_mutmut(names: Iterable[str]) -> None:
    """Run mutants; ends this program when the tests cannot be run at all."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["mutmut", "run", *names],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"mutmut could not run:\n{done.stdout[-6000:]}")


def commit() -> str:
    """The commit that is checked out; "0" where there is none."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "0"


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
