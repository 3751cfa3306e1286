"""A plugin for pytest: of the tests that run once more, those that ask for a database."""

import pytest

FIXTURES = {"db", "transactional_db"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the others: on another database they are the same test."""
    config.hook.pytest_deselected(items=[item for item in items if not asks(item)])
    items[:] = [item for item in items if asks(item)]


def asks(item: pytest.Item) -> bool:
    """Whether a test, or a fixture of it, asks for the database."""
    marked = item.get_closest_marker("django_db") is not None
    return marked or not FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
