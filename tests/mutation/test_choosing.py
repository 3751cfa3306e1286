"""Which files and mutants a mutation run chooses, and what it may be asked for."""

import json
import random
import sys
from pathlib import Path

import pytest
from mutmut.configuration import config
from mutmut.workers.isolation import ForkRunner

from tests.mutation import choosing
from tests.mutation.choosing import (
    CHOSEN,
    FILES_OF_A_SAMPLE,
    choose,
    files_to_mutate,
    folders_of_tests,
    may_match,
    package_of,
)
from tests.mutation.mutants import CONTROL
from tests.mutation.options import Options


def files(*arguments: str) -> list[str]:
    options = Options.read(["--seed", "7", *arguments])
    return files_to_mutate(config(), options, random.Random(options.seed))


def test_a_sample_is_of_a_few_files_of_one_package_that_the_seed_decides() -> None:
    assert 5 < len(set(files())) <= FILES_OF_A_SAMPLE
    assert len({package_of(path) for path in files()}) == 1
    packages = {package_of(files("--seed", str(seed))[0]) for seed in range(40)}
    assert packages == {"batches", "worker", "prompts", "cloudflare", "exports", "pictures"}
    assert files() == files() != files("--seed", "8")
    assert set(files()) < set(files("--all"))


def test_what_a_sample_is_tried_with_are_the_tests_about_it() -> None:
    beside = ["tests/worker", "tests/web/sheet", "tests/web/test_starting_points.py"]
    assert folders_of_tests("batchui/batches/sheet/glance.py") == ["tests/batches", *beside]
    assert folders_of_tests("batchui/worker/tick.py") == ["tests/worker", "tests/batches"]
    assert folders_of_tests("batchui/exports/csv.py") == ["tests/exports"]


def test_a_sample_of_what_matches_is_drawn_from_every_file_that_does() -> None:
    narrowed = ["--only", "batchui.batches.*"]
    assert files(*narrowed, "--sample", "10") == files(*narrowed)
    assert len(files(*narrowed)) > FILES_OF_A_SAMPLE


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


def test_a_sample_is_not_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        Options.read(["--all", "--sample", "10"])
    assert "--sample is not all" in capsys.readouterr().err


def test_a_pattern_that_no_file_can_match_is_refused() -> None:
    with pytest.raises(SystemExit, match="No mutant has a name like batchui"):
        files("--only", "batchui.batchs.*")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Thirty mutants of two functions, one of which some test runs. Returns their names."""
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "batchui/exports/sums.py"
    source.parent.mkdir(parents=True)
    source.write_text("")
    folder = tmp_path / "mutants/batchui/exports"
    folder.mkdir(parents=True)
    run, unused = "batchui.exports.sums.x_add", "batchui.exports.sums.x_unused"
    names = [f"{function}__mutmut_{at}" for function in (run, unused) for at in range(1, 16)]
    (folder / "sums.py.meta").write_text(json.dumps({"exit_code_by_key": dict.fromkeys(names)}))
    stats = {"tests_by_mangled_function_name": {run: ["tests/test_sums.py::test_sum"], unused: []}}
    (tmp_path / "mutants/mutmut-stats.json").write_text(json.dumps(stats))
    return names


def chosen(*arguments: str) -> tuple[list[str], list[str], list[str]]:
    """What mutmut is given to run, and the mutants and controls to be judged."""
    options = Options.read(["--seed", "7", *arguments])
    given = choose(options, random.Random(options.seed))
    judged = json.loads(CHOSEN.read_text())
    return given, judged["mutants"], judged["controls"]


def test_a_sample_is_run_with_controls_where_tests_are(made: list[str]) -> None:
    given, judged, controls = chosen("--sample", "10")
    assert len(judged) == 10
    assert set(judged) < set(made)
    assert controls == [f"batchui.exports.sums.x_add{CONTROL}"]
    assert given == judged + controls


def test_of_all_mutmut_runs_what_has_no_result_yet(made: list[str]) -> None:
    given, judged, controls = chosen("--all")
    assert given == []
    assert sorted(judged) == sorted(made)
    assert controls


def test_mutants_are_chosen_by_pattern_and_never_none(made: list[str]) -> None:
    _, judged, _ = chosen("--only", "*unused*")
    assert sorted(judged) == sorted(made[15:])
    _, judged, _ = chosen("--only", "*unused*", "--sample", "4")
    assert len(judged) == 4
    assert set(judged) < set(made[15:])
    with pytest.raises(SystemExit, match="No mutant has a name like"):
        chosen("--only", "*subtract*")


def test_only_what_has_changed_since_a_commit_can_be_asked_for(
    made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "changed_functions", lambda *_: {"batchui.exports.sums.x_add"})
    assert files("--since", "HEAD") == ["batchui/exports/sums.py"]
    given, judged, controls = chosen("--since", "HEAD")
    assert sorted(judged) == sorted(made[:15])
    assert given == judged + controls


def test_nothing_that_has_changed_is_said(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "changed_functions", lambda *_: set())
    with pytest.raises(SystemExit, match=r"name like \* and has changed since HEAD"):
        files("--since", "HEAD")


@pytest.mark.parametrize(
    ("arguments", "runs_again"), [(["--all"], False), (["--all", "--keep"], True)]
)
def test_tests_that_passed_a_moment_before_are_not_run_again(
    arguments: list[str], runs_again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --keep none have: it goes on with mutants that were made before."""
    usual = ForkRunner.run_clean_tests
    found: list[bool] = []
    monkeypatch.setattr(sys, "argv", ["choosing", *arguments])
    monkeypatch.setattr(ForkRunner, "run_clean_tests", usual)  # and is put back
    collect = choosing.mutmut.collect_source_file_mutation_data
    monkeypatch.setattr(choosing.mutmut, "collect_source_file_mutation_data", collect)
    monkeypatch.setattr(config(), "only_mutate", config().only_mutate)
    monkeypatch.setattr(choosing, "forget_tests", lambda: None)
    monkeypatch.setattr(
        choosing.mutmut, "_run", lambda *_: found.append(ForkRunner.run_clean_tests is usual)
    )
    choosing.main()
    assert found == [runs_again]
