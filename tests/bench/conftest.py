"""What tests of the bench share: a small file of reviews, the imitation of the API."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from batchui.bench.surroundings import Api, running_api
from batchui.bench.texts import Answers, write_reviews


@pytest.fixture(scope="session")
def answers() -> Answers:
    """What the imitation of the API answers."""
    return Answers()


@pytest.fixture(scope="session")
def api() -> Iterator[Api]:
    """The imitation of the API, running."""
    with running_api() as api:
        yield api


@pytest.fixture(scope="session")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 200 reviews."""
    path = tmp_path_factory.mktemp("bench") / "reviews.csv"
    write_reviews(path, 200)
    return path
