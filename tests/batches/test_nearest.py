"""The rows whose embeddings are nearest to that of one row."""

from typing import Any

import pytest

from batchui.batches import nearest as module
from batchui.batches.models import Batch
from batchui.batches.nearest import embedding_of, nearest
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import MakeBatch, rows, work
from tests.batches.sheet.made import made, yes

pytestmark = pytest.mark.django_db

BGE = "@cf/baai/bge-small-en-v1.5"


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        (b"[1, 2.5]", [1.0, 2.5]),
        (b"[[1, 2.5]]", [1.0, 2.5]),
        (b"[[1],[2]]", None),
        (b"[]", None),
        (b"[[]]", None),
        (b'["a"]', None),
        (b'{"a": 1}', None),
        (b'"[1]"', None),
        (None, None),
    ],
)
def test_an_embedding_is_a_list_of_numbers_or_the_only_one_in_a_list(
    answer: bytes | None, numbers: Any
) -> None:
    assert (embedding_of(answer) or None) == numbers


@pytest.fixture
def embedded(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    texts = [*(f"The room {n} was quiet" for n in range(12)), "The room 3 was quiet"]
    content = "id,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(texts, 1))
    return work(start(content.encode(), model=BGE, template="{{text}}"))


def test_the_same_text_is_nearest_and_never_the_row_itself(embedded: Batch) -> None:
    found = nearest(embedded, 5)
    assert found is not None
    assert found.compared == 13
    assert len(found.near) == 10
    assert found.near[0].row.result.row == 14  # it says the same as row 5
    assert found.near[0].likeness == pytest.approx(1.0)
    likeness = [near.likeness for near in found.near]
    assert likeness == sorted(likeness, reverse=True)
    assert 5 not in {near.row.result.row for near in found.near}


def test_rows_of_another_length_or_without_direction_are_passed_over(team: Team) -> None:
    batch = made(team, [yes([1, 0]), yes([1, 0, 9]), yes([0, 0]), yes([1, 1])])
    found = nearest(batch, 1)
    assert found is not None
    assert [near.row.result.row for near in found.near] == [4]


def test_no_more_rows_are_compared_than_is_said(
    embedded: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_COMPARED", 4)
    found = nearest(embedded, 5)
    assert found is not None
    assert found.compared == 4
    assert {near.row.result.row for near in found.near} == {2, 3, 4}


def test_a_row_without_an_embedding_has_no_nearest_ones(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(rows(3)))
    assert nearest(batch, 2) is None
    assert nearest(batch, 99) is None
