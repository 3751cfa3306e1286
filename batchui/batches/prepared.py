"""Queries whose SQL is built once.

Django builds the SQL of a query anew each time it is asked. For one that finds a few rows by an
index that takes ten times as long as the database does. So those that every step of a worker and
every change on a page ask are prepared: their SQL is built when they are first asked, and what
differs from time to time is given to them.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Expression, Field, QuerySet
from django.db.models.sql.compiler import SQLCompiler


class Given(Expression):
    """In a prepared query, the place of a value that it is given when it is asked.

    plus: what is added to a moment.
    """

    def __init__(self, name: str, field: "Field[Any, Any]", plus: timedelta | None = None) -> None:
        super().__init__(output_field=field)
        self.name, self.kind, self.plus = name, field, plus

    def __add__(self, other: Any) -> Any:
        """A moment so much later is one that is found out before the query is asked."""
        if not isinstance(other, timedelta):
            return super().__add__(other)
        return Given(self.name, self.kind, (self.plus or timedelta()) + other)

    def held(self, values: Mapping[str, Any]) -> Any:
        """What stands there for the database with these values."""
        value = values[self.name]
        if self.plus is not None:
            value += self.plus
        return self.kind.get_db_prep_value(value, connection)

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        """A placeholder, and itself as what it holds."""
        return "%s", [self]


class _Built(NamedTuple):
    """The SQL of a query, what its placeholders hold, and those of its columns, by their place,
    whose values the database gives otherwise than Django does.
    """

    sql: str
    holds: tuple[Any, ...]
    converted: dict[int, Any]


class Prepared:
    """A query for rows of values, as `values_list` makes it: see `prepared`."""

    def __init__(
        self, make: Callable[..., QuerySet[Any, Any]], given: "Mapping[str, Field[Any, Any]]"
    ) -> None:
        self._make, self._given = make, given
        self._built: dict[str, _Built] = {}

    def __call__(self, **values: Any) -> list[tuple[Any, ...]]:
        """The rows that it finds with these values, in its order."""
        built = self._built.get(connection.vendor)
        if built is None:
            built = self._built[connection.vendor] = self._build()
        held = [one.held(values) if isinstance(one, Given) else one for one in built.holds]
        with connection.cursor() as cursor:
            cursor.execute(built.sql, held)
            return _as_python(cursor.fetchall(), built.converted)

    def _build(self) -> _Built:
        given = {name: Given(name, field) for name, field in self._given.items()}
        compiler = self._make(**given).query.get_compiler(connection=connection)
        try:
            sql, holds = compiler.as_sql()
        except EmptyResultSet as problem:
            raise ValueError("A prepared query that never finds anything") from problem
        columns = {place: column for place, (column, *_) in enumerate(compiler.select)}
        converted = {place: column for place, column in columns.items() if _converters(column)}
        return _Built(sql, tuple(holds), converted)


def prepared(
    **given: "Field[Any, Any]",
) -> Callable[[Callable[..., QuerySet[Any, Any]]], Prepared]:
    """Decorates a function that makes a query; call it with the values, for the rows.

    given: for each value that differs from call to call, a field of its kind. The function gets a
    `Given` for each of them; all else that the query depends on must not change. A value cannot be
    None, nor a list.
    """
    return lambda make: Prepared(make, given)


def _converters(column: Any) -> list[Any]:
    return [
        *connection.ops.get_db_converters(column),
        *column.get_db_converters(connection),
    ]


def _as_python(rows: list[tuple[Any, ...]], columns: Mapping[int, Any]) -> list[tuple[Any, ...]]:
    """Rows as the database gives them, with the values that Django would make of these columns."""
    if not columns or not rows:
        return rows
    # Each thread has a connection of its own, to which its converters belong.
    converters = [(place, column, _converters(column)) for place, column in columns.items()]
    made = []
    for row in rows:
        values = list(row)
        for place, column, some in converters:
            for convert in some:
                values[place] = convert(values[place], column, connection)
        made.append(tuple(values))
    return made
