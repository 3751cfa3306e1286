"""Things are made one behind the other, in another thread."""

import threading
from collections.abc import Iterator

import pytest

from batchui.batches.behind import one_ahead, one_behind


def test_what_is_made_comes_in_order() -> None:
    assert list(one_behind(str, range(5))) == ["0", "1", "2", "3", "4"]
    assert list(one_behind(str, [7])) == ["7"]
    assert list(one_behind(str, [])) == []


def test_the_next_item_comes_while_the_last_one_is_made() -> None:
    came = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        came.set()  # `make` waits for this: it would wait for ever if the items waited for it
        yield 2

    def make(item: int) -> int:
        assert came.wait(30)
        return -item

    assert list(one_behind(make, items())) == [-1, -2]


def test_no_more_than_two_are_begun_before_the_first_is_taken() -> None:
    begun: list[int] = []

    def items() -> Iterator[int]:
        for number in range(10):
            begun.append(number)
            yield number

    made = one_behind(str, items())
    assert next(made) == "0"
    assert begun == [0, 1]


@pytest.mark.parametrize("fails", [0, 1, 4])
def test_an_error_comes_out_where_it_was_made(fails: int) -> None:
    def make(item: int) -> int:
        if item == fails:
            raise OSError("full")
        return item

    made = one_behind(make, range(5))
    assert [next(made) for _ in range(fails)] == list(range(fails))
    with pytest.raises(OSError, match="full"):
        next(made)


def test_what_is_made_ahead_comes_in_order() -> None:
    for number in (0, 1, 5):
        assert list(one_ahead(range(number))) == list(range(number))
    assert list(one_ahead([None, None])) == [None, None]


def test_the_next_one_is_made_while_the_last_one_is_used() -> None:
    made = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        made.set()
        yield 2

    coming = one_ahead(items())
    assert next(coming) == 1
    assert made.wait(30)
    assert list(coming) == [2]


def test_no_more_than_one_is_made_ahead() -> None:
    begun: list[int] = []

    def items() -> Iterator[int]:
        for number in range(10):
            begun.append(number)
            yield number

    coming = one_ahead(items())
    assert next(coming) == 0
    coming.close()  # type: ignore[attr-defined]  # waits for the one that is made
    assert begun == [0, 1]


def test_an_error_ahead_comes_in_its_turn() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    coming = one_ahead(items())
    assert next(coming) == 1
    with pytest.raises(OSError, match="gone"):
        next(coming)
