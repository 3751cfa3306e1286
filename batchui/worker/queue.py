"""The queue of a worker: django-q2's table, asked in a way that costs little.

A queue is empty nearly always, and is looked into five times a second. django-q2 builds its query
each time, and on SQLite opens the database for it: 2 % of a core.
"""

from time import sleep
from typing import Any

from django.db import DatabaseError, connection
from django.utils import timezone
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.models import OrmQ

# After so many looks (20 s) the question is django-q2's own, which opens the database anew: it may
# have been put back or restarted.
LOOKS = 100
TABLE = OrmQ._meta.db_table
# What `ORM.dequeue` asks, but for the tasks.
IS_THERE = f"SELECT 1 FROM {TABLE} WHERE key = %s AND lock < %s LIMIT 1"  # noqa: S608


class CalmBroker(ORM):  # type: ignore[misc]
    """django-q2's broker for a database, which first asks whether there is a task at all."""

    looks = 0

    def dequeue(self) -> Any:
        """The next tasks. None: there are none, and it has waited for Q_CLUSTER's `poll`."""
        self.looks += 1
        if self.looks % LOOKS and self._is_empty():
            sleep(Conf.POLL)
            return None
        return super().dequeue()

    def _is_empty(self) -> bool:
        """Whether the queue has no task. False as well if the database did not tell."""
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        try:
            with connection.cursor() as cursor:
                cursor.execute(IS_THERE, [self.list_key, now])
                return cursor.fetchone() is None
        except DatabaseError:
            connection.close()
            return False
