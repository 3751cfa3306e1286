"""The table of `manage.py bench --format`: stays in hotels, with texts, numbers, dates, booleans.

Every side takes the cells from a pool, so that making them costs next to nothing. The pool is
larger than what a compressor or a dictionary of Parquet remembers.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import cycle, islice
from typing import Any

from batchui.bench.texts import CITIES, sentences

COLUMNS = ("id", "city", "review", "rating", "price", "arrived", "asked_at", "returning")
# Behind the columns: what the API said, and how the row went.
ADDED = ("answer", "status", "error")
STATUS = "answered"
POOL = 20_000
SEED = 3
FIRST_DAY = datetime(2026, 1, 1, 8, 15, 30, tzinfo=UTC).replace(tzinfo=None)

Value = str | int | float | bool | date | datetime


@cache
def pool(rows: int) -> list[list[Value]]:
    """The cells of a table of `rows` rows, without their ids; the answer is the last one."""
    pick = random.Random(SEED)  # noqa: S311
    stream = sentences(SEED)
    return [_stay(pick, stream) for _ in range(min(rows, POOL))]


def _stay(pick: random.Random, stream: Iterator[str]) -> list[Value]:
    arrived = FIRST_DAY + timedelta(days=pick.randrange(365))
    return [
        pick.choice(CITIES),
        " ".join(islice(stream, pick.randrange(1, 5))),
        pick.randrange(1, 11),
        pick.randrange(4_000, 40_000) / 100,
        arrived.date(),
        arrived + timedelta(minutes=pick.randrange(900)),
        pick.random() < 0.3,
        " ".join(islice(stream, 4)),
    ]


def numbered(
    cells: Sequence[Sequence[Any]], rows: int, *, made: Callable[[int], Any] = int
) -> Iterator[list[Any]]:
    """`rows` rows of these cells, again and again, each behind its number. made: of the number."""
    for number, row in zip(range(1, rows + 1), cycle(cells), strict=False):
        yield [made(number), *row]


def text_of(value: Any) -> str:
    """A value as everybody shows it: whole numbers without a point, dates as ISO has them."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float | Decimal) and value % 1 == 0:
        return str(int(value))
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)


def wanted_rows(rows: int) -> list[int]:
    """The numbers of the rows whose cells are compared: the first, one in the middle, the last."""
    return sorted({1, (rows + 1) // 2, rows})


def wanted(cells: Sequence[Sequence[Value]], rows: int) -> dict[int, list[str]]:
    """The texts of these rows, with their answers."""
    return {
        number: [str(number), *map(text_of, cells[(number - 1) % len(cells)])]
        for number in wanted_rows(rows)
    }


def seen(found: Iterator[Any], rows: int) -> tuple[int, dict[int, Any]]:
    """Takes all rows: how many there are, and those that are compared."""
    compared, kept, number = wanted_rows(rows), {}, 0
    for number, row in enumerate(found, 1):
        if number in compared:
            kept[number] = row
    return number, kept
