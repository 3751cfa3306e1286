"""What ends `manage.py up` before it has begun."""


class CannotStart(Exception):
    """`up` ends here; the text says why and what to do. `status` is the exit status."""

    def __init__(self, sentence: str, *, status: int = 1) -> None:
        super().__init__(sentence)
        self.status = status
