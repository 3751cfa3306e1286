"""`python -m tests.mutation`: see the package."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.mutation import mutants
from tests.mutation.accepted import Accepted
from tests.mutation.choosing import CHOSEN
from tests.mutation.mutants import DEAD
from tests.mutation.options import Options

# Of all mutants, how many must die; a reason is no death.
LEAST_SHARE = 0.9
# Of a sample, how many may survive without a reason: twice as many as of all. It estimates the
# whole, and must not fail a change by the luck of the draw: of a whole of which 92 in 100 die, one
# sample of fifty in five has more than five survivors, and one in six hundred more than ten.
GAPS_OF_A_SAMPLE = 0.2
# What is shown where mutmut could not run.
LAST_LINES, LONGEST_LINE = 40, 300


def main() -> int:
    """Exit status 0 when every survivor has a reason, and of all mutants enough have died.

    Of a sample, a few may survive without a reason. They are named all the same.
    """
    options = Options.read(sys.argv[1:])
    if not options.keep:
        shutil.rmtree(mutants.FOLDER, ignore_errors=True)
    run_mutmut(sys.argv[1:])
    chosen = json.loads(CHOSEN.read_text())
    names, controls = chosen["mutants"], chosen["controls"]
    say(f"{len(names):,} mutants and {len(controls)} controls; seed {options.seed}")
    gaps = int(GAPS_OF_A_SAMPLE * len(names)) if options.sample else 0
    return judge(names, controls, whole=options.all, gaps=gaps)


def run_mutmut(arguments: Iterable[str]) -> None:
    """Run mutants; ends this program when the tests cannot be run at all.

    They run at the lowest priority, beside all other checks: where one of them fails without a
    mutant, its deadline may have passed meanwhile. So they are tried twice, and the first failure
    is told, too.
    """
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "tests.mutation.choosing", *arguments]
    for tries_left in (1, 0):
        done = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if not done.returncode:
            return
        say(f"mutmut could not run:\n{ending_of(done.stdout)}")
        if not tries_left:
            sys.exit(1)


def ending_of(output: str) -> str:
    """The tests that failed, then the last lines, each of a length that can be read.

    mutmut's last line may name all tests.
    """
    lines = [line[:LONGEST_LINE] for line in output.splitlines()]
    failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return "\n".join([*failed, *lines[-LAST_LINES:]])


def judge(chosen: Iterable[str], controls: Iterable[str], *, whole: bool, gaps: int) -> int:
    """Say what became of the mutants; 1 when something is wrong.

    gaps: how many may survive without a reason.
    """
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
    return 1 if len(unexplained) > gaps or broken or too_few else 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
