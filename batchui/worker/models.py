"""The tables of heartbeats, and of the installation."""

import secrets
from typing import Any

from django.db import models

from batchui.batches.prepared import prepared


def new_database_id() -> str:
    """An id for a database. Copies of it have the same one."""
    return secrets.token_hex(16)


class Installation(models.Model):
    """The one row that says which database this is, and how far it has come."""

    database_id = models.CharField(max_length=32, default=new_database_id)
    # Raised before anything is sent (see `generation.py`).
    generation = models.PositiveBigIntegerField(default=1)
    # What this database was restored from, until people are asked about the parts that may have
    # been sent since; and when they were asked the last time.
    restored_from = models.CharField(max_length=200, blank=True)
    restored_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.database_id} at {self.generation}"

    @classmethod
    def here(cls) -> "Installation":
        """The row, which is made when it is first asked for."""
        for row in _installation():  # nearly always
            return cls.from_db("default", _FIELDS, row)
        return cls.objects.get_or_create(pk=1)[0]


_FIELDS = tuple(field.attname for field in Installation._meta.concrete_fields)


@prepared()
def _installation() -> models.QuerySet[Any, Any]:
    return Installation.objects.filter(pk=1).values_list(*_FIELDS)


class Heartbeat(models.Model):
    """The last sign of life of a process: when, from which host, with which data folder.

    name: `worker:<host>:<random>` for each worker, `web:<host>` for the web processes of a host,
    `backup:<random>` for a backup while it is made.
    """

    name = models.CharField(max_length=120, primary_key=True)
    at = models.DateTimeField()
    host = models.CharField(max_length=255, blank=True)
    storage_id = models.CharField(max_length=64, blank=True)
    # A worker reads one file at a time: until when one of its processes does.
    reads_until = models.DateTimeField(null=True)
    # Why its last tick failed; "" if it did not.
    problem = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return f"{self.name} at {self.at}"
