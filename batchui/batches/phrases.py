"""Numbers with their nouns, for sentences."""


def rows_phrase(count: int) -> str:
    """ "1 row", "2,500 rows"."""
    return counted(count, "row")


def rows_are(count: int) -> str:
    """ "1 row is", "2,500 rows are"."""
    return f"{rows_phrase(count)} {'is' if count == 1 else 'are'}"


def parts_phrase(count: int) -> str:
    """ "1 part", "12 parts"."""
    return counted(count, "part")


def counted(count: int, noun: str) -> str:
    """The number and the noun, such as "1 migration" or "3 migrations"."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"
