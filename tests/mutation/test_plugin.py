"""What the plugin of a mutation run does with a mutant that never ends."""

import time
from contextlib import suppress

import pytest

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
