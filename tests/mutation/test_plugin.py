"""Which tests the plugin of a mutation run leaves out, and which it ends."""

import time
from contextlib import suppress
from types import SimpleNamespace

import pytest

from tests.mutation import plugin
from tests.mutation.plugin import within


def for_ever() -> None:
    """Like code that reports every error and goes on."""
    while True:
        with suppress(Exception):
            time.process_time()


def test_what_never_ends_fails_even_where_every_error_is_caught() -> None:
    with pytest.raises(pytest.fail.Exception, match="does not end"), within(0.1):
        for_ever()


def test_what_ends_in_time_goes_on() -> None:
    with within(0.2):
        pass
    began = time.process_time()
    while time.process_time() - began < 0.4:
        pass


@pytest.mark.parametrize(
    ("mutant", "run"), [("", 1), ("batchui.exports.names.x_safe__mutmut_1", 3), ("stats", 3)]
)
def test_only_the_tests_of_unchanged_code_are_left_out(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, mutant: str, run: int
) -> None:
    monkeypatch.setenv("MUTANT_UNDER_TEST", mutant)
    items = [request.node] * 3
    plugin.pytest_collection_modifyitems(items)
    assert len(items) == run


@pytest.mark.parametrize(
    ("mutant", "left"),
    [
        ("batchui.exports.names.x_safe__mutmut_1", ["near", "nearer"]),
        ("stats", None),
        ("fail", None),
        ("", ["far"]),
    ],
)
def test_a_mutant_of_a_sample_is_tried_with_the_nearest_tests_for_a_while(
    monkeypatch: pytest.MonkeyPatch, mutant: str, left: list[str] | None
) -> None:
    took = {"far": 3.0, "nearer": 12.0, "near": 9.0, "farther": 1.0}
    reached = {"x_a": {"far", "near", "farther"}, "x_b": {"far", "farther"}, "x_c": {"nearer"}}
    known = SimpleNamespace(duration_by_test=took, tests_by_mangled_function_name=reached)
    monkeypatch.setattr(plugin, "state", lambda: known)
    monkeypatch.setenv("MUTANT_UNDER_TEST", mutant)
    monkeypatch.setenv(plugin.ENOUGH, "20")
    items = [SimpleNamespace(nodeid=name) for name in took]
    plugin.pytest_collection_modifyitems(items)  # type: ignore[arg-type]
    assert sorted(item.nodeid for item in items) == (left or sorted(took))


def test_without_an_end_every_test_is_tried() -> None:
    items = [SimpleNamespace(nodeid="never timed")] * 3
    assert plugin.number_of_enough(items, seconds=float("inf")) == 3  # type: ignore[arg-type]
