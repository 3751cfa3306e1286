"""What is stored of background work itself: its signs of life."""

from datetime import datetime

from django.db import models


class Heartbeat(models.Model):
    """When background work last showed a sign of life, and from where."""

    name = models.CharField(max_length=40, primary_key=True)
    at = models.DateTimeField()
    host = models.CharField(max_length=255, blank=True)
    storage_id = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"{self.name} at {self.at}"

    def age(self, now: datetime) -> float:
        """Seconds since it beat."""
        return (now - self.at).total_seconds()
