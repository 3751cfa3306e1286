"""What is done by turns is done at one commit or another, and whenever it is asked for."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests import conftest, turns

NAMES = [f"tests/a/test_{number}.py::test" for number in range(60)]


def test_each_has_a_turn_and_all_about_as_many() -> None:
    each = [{name for name in NAMES if turns.has_turn(name, whose, 3)} for whose in range(3)]
    assert set().union(*each) == set(NAMES)
    assert sum(map(len, each)) == len(NAMES)
    assert min(map(len, each)) > len(NAMES) / 6


def test_all_have_it_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BATCHUI_ALL_TURNS", raising=False)
    monkeypatch.setenv("BATCHUI_ALL_TURNS", "1")
    assert turns.turn(3) is None
    assert all(turns.has_turn(name, None, 3) for name in NAMES)


@pytest.mark.parametrize(("ends", "whose"), [("0", 0), ("1", 1), ("2", 2), ("3", 0), ("f", 0)])
def test_the_commit_says_whose_turn_it_is(
    ends: str, whose: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BATCHUI_ALL_TURNS", raising=False)
    said = SimpleNamespace(stdout=f"{'a' * 39}{ends}\n", returncode=0)
    monkeypatch.setattr(turns.subprocess, "run", lambda *_, **__: said)
    assert turns.turn(3) == whose


def collected(whose: int | None, *named: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Which of NAMES are kept, every second of which is done by turns."""
    monkeypatch.setattr(conftest, "turn", lambda _: whose)
    left_out: list[Any] = []
    hook = SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items))
    config: Any = SimpleNamespace(args=named or ("tests",), hook=hook)
    mark = pytest.mark.by_turns(3).mark
    items: list[Any] = [
        SimpleNamespace(nodeid=name, config=config, get_closest_marker=marks.get)
        for number, name in enumerate(NAMES)
        for marks in [{"by_turns": mark} if number % 2 else {}]
    ]
    conftest.pytest_collection_modifyitems(config, items)
    assert {item.nodeid for item in [*items, *left_out]} == set(NAMES)
    return {item.nodeid for item in items}


def test_what_is_not_marked_is_always_kept_and_what_is_marked_in_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    each = [collected(whose, monkeypatch=monkeypatch) for whose in range(3)]
    assert set.intersection(*each) == set(NAMES[::2])
    assert set.union(*each) == set(NAMES)
    assert collected(None, monkeypatch=monkeypatch) == set(NAMES)


def test_a_test_that_is_named_needs_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    named = collected(0, NAMES[0], NAMES[1], monkeypatch=monkeypatch)
    assert named == set(NAMES)
