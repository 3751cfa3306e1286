"""Which tests the plugin of a mutation run leaves out, and which it ends."""

import time
from contextlib import suppress

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
