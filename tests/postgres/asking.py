"""A plugin for pytest: of the tests that run once more, those that ask for a database.

Of one with many cases the first and the last: what differs from case to case is a text or a status,
and all of them have run on SQLite. `BATCHUI_TEST_DATABASE_URL=… python3 manage.py test` runs all.
"""

from collections.abc import Iterator
from itertools import groupby

import pytest

FIXTURES = {"db", "transactional_db"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the others."""
    chosen = set(ends_of_cases(filter(asks, items)))
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


def asks(item: pytest.Item) -> bool:
    """Whether a test, or a fixture of it, asks for the database."""
    marked = item.get_closest_marker("django_db") is not None
    return marked or not FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


def ends_of_cases(items: Iterator[pytest.Item]) -> Iterator[pytest.Item]:
    """Of the cases of one test the first and the last."""
    for _, cases in groupby(items, key=lambda item: item.nodeid.partition("[")[0]):
        first, *others = cases
        yield first
        yield from others[-1:]
