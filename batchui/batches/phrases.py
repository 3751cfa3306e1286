"""Counts of rows and parts, as sentences say them."""


def rows_phrase(count: int) -> str:
    """ "1 row", "2,500 rows"."""
    return _counted(count, "row")


def rows_are(count: int) -> str:
    """ "1 row is", "2,500 rows are"."""
    return f"{rows_phrase(count)} {'is' if count == 1 else 'are'}"


def parts_phrase(count: int) -> str:
    """ "1 part", "12 parts"."""
    return _counted(count, "part")


def _counted(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"
