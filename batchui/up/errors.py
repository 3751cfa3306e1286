"""The error that ends `manage.py up` before it has started."""


class CannotStart(Exception):
    """`up` cannot start. The text says why, and what to do. status: the exit status."""

    def __init__(self, sentence: str, *, status: int = 1) -> None:
        super().__init__(sentence)
        self.status = status
