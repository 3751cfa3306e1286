"""The table of heartbeats."""

from django.db import models


class Heartbeat(models.Model):
    """The last sign of life of a process: when, from which host, with which data folder.

    name: `worker:<host>:<random>` for each worker, `web:<host>` for the web processes of a host.
    """

    name = models.CharField(max_length=120, primary_key=True)
    at = models.DateTimeField()
    host = models.CharField(max_length=255, blank=True)
    storage_id = models.CharField(max_length=64, blank=True)
    # A worker reads one file at a time: until when one of its processes does.
    reads_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} at {self.at}"
