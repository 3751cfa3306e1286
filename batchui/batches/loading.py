"""Parts and batches as steps and polls take them, by queries that are built once.

A part comes with its batch, and a batch with its connection. Each is an object of its own: steps of
the same batch in several threads share none.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import BigIntegerField, Model, QuerySet, UUIDField

from batchui.batches.models import Batch, Part
from batchui.batches.prepared import Given, Prepared, prepared
from batchui.teams.models import Connection

M = TypeVar("M", bound=Model)

# Large fields that only pages need.
NOT_NEEDED = ("sample", "problem_rows", "blanks")
# So many are loaded by one query.
AT_ONCE = 8
_KEYS = tuple(f"key{place}" for place in range(AT_ONCE))


def batch_with(pk: UUID) -> Batch | None:
    """A batch without the fields that only pages need; None: there is none."""
    return next(map(_as_batch, _rows(_some_batches, [pk])), None)


def parts_with(pks: Sequence[int]) -> Iterator[Part]:
    """The parts with these keys, in this order, as far as they are there."""
    found = {part.pk: part for part in map(_as_part, _rows(_some_parts, pks))}
    wanted = list({part.batch_id for part in found.values()})
    batches = {row[0]: row for row in _rows(_some_batches, wanted)}
    for part in (found[pk] for pk in pks if pk in found):
        if part.batch_id in batches:  # else both are deleted meanwhile
            part.batch = _as_batch(batches[part.batch_id])
            yield part


def _rows(ask: Prepared, keys: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """What a query for AT_ONCE keys finds for all of these, in any order."""
    for start in range(0, len(keys), AT_ONCE):
        some = keys[start : start + AT_ONCE]
        filled = [*some, *[some[0]] * (AT_ONCE - len(some))]
        yield from ask(**dict(zip(_KEYS, filled, strict=True)))


def _as_part(row: tuple[Any, ...]) -> Part:
    return _made(Part, _names(Part), row)


def _as_batch(row: tuple[Any, ...]) -> Batch:
    """Of a row that begins with its key once more."""
    ends = 1 + len(_names(Batch))
    batch = _made(Batch, _names(Batch), row[1:ends])
    batch.connection = _made(Connection, _names(Connection), row[ends:])
    return batch


def _made(model: type[M], names: Sequence[str], row: Sequence[Any]) -> M:
    return model.from_db("default", names, row)


@cache
def _names(model: type[Model]) -> tuple[str, ...]:
    """The fields that are loaded of a model, as its rows have them."""
    return fields_of(model, without=NOT_NEEDED if model is Batch else ())


def fields_of(
    model: type[Model], only: Collection[str] | None = None, *, without: Collection[str] = ()
) -> tuple[str, ...]:
    """Names of a model's fields in the order in which its `from_db` takes them; the key is there.

    only: these; None: all. without: not these.
    """
    fields = model._meta.concrete_fields
    wanted = [one for one in fields if only is None or one.primary_key or one.attname in only]
    return tuple(field.attname for field in wanted if field.attname not in without)


@prepared(**dict.fromkeys(_KEYS, BigIntegerField()))
def _some_parts(**keys: Given) -> QuerySet[Any, Any]:
    return Part.objects.filter(pk__in=list(keys.values())).order_by().values_list(*_names(Part))


@prepared(**dict.fromkeys(_KEYS, UUIDField()))
def _some_batches(**keys: Given) -> QuerySet[Any, Any]:
    of_connection = (f"connection__{name}" for name in _names(Connection))
    found = Batch.objects.filter(pk__in=list(keys.values())).order_by()
    return found.values_list("pk", *_names(Batch), *of_connection)
