"""Pauses as exact as a busy machine allows: none is too long or too short because it is slow."""

from datetime import datetime, timedelta
from typing import Self

from django.utils import timezone


class Span:
    """The time that a block took: `with Span() as span: …`."""

    def __enter__(self) -> Self:
        self.began = self.ended = timezone.now()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended = timezone.now()

    def sets(self, moment: datetime | None, seconds: float) -> bool:
        """Whether `moment` is so many seconds after some moment of the block."""
        if moment is None:
            return False
        return self.began <= moment - timedelta(seconds=seconds) <= self.ended
