"""What a mutation run is asked for."""

import argparse
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

# How many mutants stand for all of them.
SAMPLE = 50


@dataclass(frozen=True)
class Options:
    """sample: how many mutants; 0 for every one. seed: decides which ones.

    only: a pattern for their names. since: a commit; only functions that have changed since.
    keep: go on with what an earlier run of all has made.
    """

    sample: int
    seed: str
    only: str
    since: str
    all: bool
    keep: bool

    @classmethod
    def read(cls, arguments: Sequence[str]) -> "Options":
        """Read the command line. Ends the program, with a sentence, if it is wrong."""
        parser = argparse.ArgumentParser(prog="python -m tests.mutation")
        parser.add_argument("--sample", type=int, help=f"how many mutants ({SAMPLE} of all)")
        parser.add_argument("--seed", default="", help="which ones; else the commit decides")
        parser.add_argument("--only", default="*", help="a pattern for the names of mutants")
        parser.add_argument("--since", default="", help="only what has changed since this commit")
        parser.add_argument("--all", action="store_true", help="every mutant")
        parser.add_argument("--keep", action="store_true", help="go on with what --all has made")
        given = parser.parse_args(arguments)
        if given.keep and not given.all:
            parser.error("--keep goes on with --all")
        if given.sample and given.all:
            parser.error("--sample is not all")
        unnarrowed = given.only == "*" and not given.since
        sample = given.sample or (SAMPLE if unnarrowed and not given.all else 0)
        return cls(**{**vars(given), "sample": sample, "seed": given.seed or commit()})

    @property
    def is_of_few_files(self) -> bool:
        """Whether the mutants of a few files are enough to draw a sample from."""
        return bool(self.sample) and self.only == "*" and not self.since


def commit() -> str:
    """The commit that is checked out; "0" where there is none."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "0"
