"""When a run of mutants passes, and when not."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mutation import accepted, mutants
from tests.mutation.__main__ import LAST_LINES, LONGEST_LINE, ending_of, judge

MUTANTS = "batchui.exports.sums.x_add__mutmut_"
CONTROL = f"batchui.exports.sums.x_add{mutants.CONTROL}"
# Every mutant subtracts; the list accepts that of the last ones.
ORIGINAL = "def x_add__mutmut_orig(a, b):\n    return a + b\n"
MUTANT = "def x_add__mutmut_{number}(a, b):\n    return a - {b}\n"
ACCEPTED = '[[rule]]\nwas = "a . b"\nbecomes = "a - accepted"\nreason = "Nobody adds."\n'

Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Judge a run in which mutmut's tests ended with these exit codes. Returns the exit status."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(accepted, "FILE", tmp_path / "accepted.toml")
    accepted.FILE.write_text(ACCEPTED)

    def judged(
        *codes: int | None,
        with_reason: int = 0,
        control: int | None = 0,
        whole: bool = False,
        gaps: int = 0,
    ) -> int:
        folder = tmp_path / "mutants/batchui/exports"
        folder.mkdir(parents=True)
        made = [
            MUTANT.format(number=number, b="b" if number <= len(codes) else "accepted")
            for number in range(1, len(codes) + with_reason + 1)
        ]
        (folder / "sums.py").write_text("\n".join([ORIGINAL, *made]))
        names = [f"{MUTANTS}{number}" for number in range(1, len(made) + 1)]
        ended = dict(zip(names, [*codes, *[0] * with_reason], strict=True))
        meta = {"exit_code_by_key": ended | {CONTROL: control}}
        (folder / "sums.py.meta").write_text(json.dumps(meta))
        return judge(names, [CONTROL], whole=whole, gaps=gaps)

    return judged


@pytest.mark.parametrize("code", [1, 37, -24, 24, 36, 152, 255])
def test_a_mutant_is_dead_when_a_test_failed_or_mypy_did_or_it_ran_for_ever(
    run: Run, code: int
) -> None:
    assert run(code) == 0


@pytest.mark.parametrize("code", [0, 2, 3, 4, 5, 33, -11, None])
def test_a_mutant_that_no_test_has_judged_is_not_dead(run: Run, code: int | None) -> None:
    assert run(1, code) == 1


def test_a_survivor_passes_with_a_reason(run: Run) -> None:
    assert run(1, with_reason=1) == 0


@pytest.mark.parametrize(("survivors", "status"), [(2, 0), (3, 1)])
def test_a_sample_passes_with_a_few_survivors_that_have_no_reason_and_names_them(
    run: Run, capsys: pytest.CaptureFixture[str], survivors: int, status: int
) -> None:
    assert run(1, *[0] * survivors, gaps=2) == status
    assert capsys.readouterr().out.count("survived: ") == survivors


@pytest.mark.parametrize("code", [1, 3, 5, 36, 37, None])
def test_a_run_fails_whose_control_did_not_survive(
    run: Run, capsys: pytest.CaptureFixture[str], code: int | None
) -> None:
    assert run(1, control=code) == 1
    assert CONTROL in capsys.readouterr().out


@pytest.mark.parametrize(("died", "whole", "status"), [(9, True, 0), (8, True, 1), (8, False, 0)])
def test_of_all_mutants_nine_in_ten_must_die_and_a_reason_is_no_death(
    run: Run, died: int, whole: bool, status: int
) -> None:
    assert run(*[1] * died, with_reason=10 - died, whole=whole) == status


def test_the_names_of_all_tests_do_not_hide_why_mutmut_could_not_run() -> None:
    names = f"Failed to run pytest with args: {['test'] * 2000}"
    shown = ending_of("\n".join([*["started"] * 200, "ERROR: not found: test_x", names]))
    assert shown.splitlines()[-2:] == ["ERROR: not found: test_x", names[:LONGEST_LINE]]
    assert len(shown.splitlines()) == LAST_LINES
