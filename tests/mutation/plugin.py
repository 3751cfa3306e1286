"""What each process of a mutation run needs: a database of its own, and the quickest way to a kill.

mutmut forks its workers from a process that has loaded the settings already. Without this they
share one test database, break each other's tests, and every breakage counts as a kill.
"""

import os
from collections import Counter
from itertools import chain

import pytest
from django.conf import settings
from mutmut.state import state


def pytest_sessionstart() -> None:
    database = settings.DATABASES["default"]
    database["TEST"]["NAME"] = settings.DATA / f"test-{os.getpid()}.sqlite3"
    settings.FILE_UPLOAD_TEMP_DIR = settings.DATA / f"incoming-{os.getpid()}"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(exist_ok=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run first the tests that reach the fewest functions: they are about this one, and quick."""
    reached = functions_reached()
    items.sort(key=lambda item: reached[item.nodeid])


def functions_reached() -> Counter[str]:
    """How many functions each test reaches, by its id, as far as mutmut has found out."""
    return Counter(chain.from_iterable(state().tests_by_mangled_function_name.values()))
