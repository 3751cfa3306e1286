"""Words and sentences about batches that the page and the terminal share."""

from batchui.batches.models import Batch

# Statuses of batches, parts and rows whose word is another; "" is a row still on its way.
_STATUS_WORDS = {"attention": "Needs attention", "": "Waiting"}


def rows_phrase(count: int) -> str:
    """ "1 row", "2,500 rows"."""
    return _counted(count, "row")


def rows_are(count: int) -> str:
    """ "1 row is", "2,500 rows are"."""
    return f"{rows_phrase(count)} {'is' if count == 1 else 'are'}"


def parts_phrase(count: int) -> str:
    """ "1 part", "12 parts"."""
    return _counted(count, "part")


def status_word(status: str | None) -> str:
    """The word for a status of a batch, a part or a row."""
    status = str(status or "")
    return _STATUS_WORDS.get(status, status.capitalize())


def rows_left_out(count: int) -> str:
    """The sentence about rows that cannot be asked."""
    them = "it" if count == 1 else "them"
    return f"{rows_phrase(count)} cannot be asked. Correct {them} in the file, or leave {them} out."


def problem_of(batch: Batch) -> str:
    """What keeps a batch from starting, with the first row it is about; "" where nothing does."""
    problem = batch.problem or (rows_left_out(batch.bad_rows) if batch.bad_rows else "")
    first = batch.problem_rows[0]["sentence"] if batch.problem_rows else ""
    return " ".join(filter(None, (problem, first)))


def _counted(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"
