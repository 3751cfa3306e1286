"""The fields that a move may change together with a status, with their types.

At every call of `lifecycle.move_part`, `move_batch` and the like, the type checker finds a misspelt
field and a value of the wrong type.
"""

from datetime import datetime
from typing import Any, TypedDict

from batchui.teams.models import Connection, User


class AnswerChanges(TypedDict, total=False):
    """How many rows have each status (see `states.AnswerStatus`)."""

    answered: int
    empty: int
    unfit: int
    failed: int
    missing: int
    unsent: int
    invalid: int
    skipped: int
    edited: int
    cut: int


class WaitingChanges(AnswerChanges, total=False):
    """The end of the rows of a part that were still waiting."""

    waiting_became: str
    waiting_error: str
    message: str


class PartChanges(WaitingChanges, total=False):
    """Fields of a Part besides its status and epoch."""

    pictures_file: str
    answers_file: str
    answers_version: int
    forget_unanswered: bool
    empty_counts: bool
    asked_again: dict[str, Any] | None
    send_limit: int | None
    attempts_before: int
    lease_until: datetime | None
    resume_at: datetime | None
    next_poll_at: datetime | None
    last_polled_at: datetime | None
    polls: int
    failures_in_a_row: int
    failing_since: datetime | None
    odd_kind: str
    odd_at: datetime | None
    odd_seen: int
    question: str
    resends: int
    prompt_tokens: int
    completion_tokens: int


class BatchChanges(AnswerChanges, total=False):
    """Fields of a Batch besides its status, its epoch and its question."""

    name: str
    connection: Connection
    started_at: datetime | None
    started_by: User | None
    lease_until: datetime | None
    readings_begun: int
    progress_rows: int
    source_name: str
    source_file: str
    source_size: int
    source_sha256: str
    source_stored_size: int
    source_choices: dict[str, Any]
    source_format: dict[str, Any]
    converted_file: str
    converted: dict[str, Any]
    draft_rows_file: str
    pictures_file: str
    pictures_name: str
    pictures_count: int
    rows: int
    bad_rows: int
    problem: str
    problem_rows: list[dict[str, Any]]
    problem_count: int
    problems_file: str
    blanks: dict[str, dict[str, int]]
    sample: list[str]
    above: list[str]
    estimated_low: float | None
    estimated_high: float | None
    usd_read: float | None
    usd_written: float | None
    part_count: int


def counted_rows(changes: AnswerChanges) -> int:
    """The number of rows with a status of their own. `changes` must have all counts."""
    return (
        changes["answered"]
        + changes["empty"]
        + changes["unfit"]
        + changes["failed"]
        + changes["missing"]
        + changes["unsent"]
        + changes["invalid"]
        + changes["skipped"]
    )
