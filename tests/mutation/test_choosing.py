"""Which files a mutation run mutates, and what it may be asked for."""

import random

import pytest
from mutmut.configuration import config

from tests.mutation.choosing import FILES_OF_A_SAMPLE, files_to_mutate, may_match
from tests.mutation.options import Options


def files(*arguments: str) -> list[str]:
    options = Options.read(["--seed", "7", *arguments])
    return files_to_mutate(config(), options, random.Random(options.seed))


def test_a_sample_is_of_a_few_files_that_the_seed_decides() -> None:
    assert len(set(files())) == FILES_OF_A_SAMPLE
    assert files() == files() != files("--seed", "8")
    assert set(files()) < set(files("--all"))


def test_process_code_and_migrations_are_left_out() -> None:
    every = files("--all")
    assert "batchui/batches/due.py" in every
    assert "batchui/worker/watchdog.py" not in every
    assert not any("migrations" in path or "/management/" in path for path in every)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("batchui.batches.due.*", True),
        ("batchui.batches.due.x_ready_parts__mutmut_1", True),
        ("batchui.*", True),
        ("*ready*", True),
        ("batchui.batches.d[ou]*", True),
        ("batchui.batches.sending.*", False),
        ("batchui.batches.due_parts.*", False),
    ],
)
def test_only_files_that_may_have_a_match_are_mutated(pattern: str, found: bool) -> None:
    assert may_match("batchui/batches/due.py", pattern) is found
    assert ("batchui/batches/due.py" in files("--only", pattern)) is found


def test_going_on_is_for_a_run_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert Options.read(["--all", "--keep"]).keep
    with pytest.raises(SystemExit):
        Options.read(["--keep"])
    assert "--keep goes on with --all" in capsys.readouterr().err
