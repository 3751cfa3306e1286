"""Which rows of a batch are shown: all, of some statuses, for a reason, with a value, with words.

In an address it is one text for `?show=` and one for `?q=`. Whatever stands there, something
harmless is shown: an unknown filter shows all rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from batchui.batches.states import NO_PROBLEM, AnswerStatus

# In characters, of what somebody looks for; and of a filter in an address.
LONGEST_WORDS = 200
LONGEST_SHOW = 400

WAITING = "waiting"
# The statuses of rows with which nothing is wrong.
FINE = frozenset(status.value for status in NO_PROBLEM)
ATTENTION = tuple(status.value for status in AnswerStatus if status.value not in FINE)
# The filters by status, and the statuses that each shows; "" is that of a row that waits.
STATUSES: Mapping[str, tuple[str, ...]] = {
    "attention": ATTENTION,
    WAITING: ("",),
    **{status.value: (status.value,) for status in AnswerStatus},
}
# Rows whose answers a person corrected, and rows whose answers were cut off; the parts count them
# as they count statuses.
EDITED, CUT = "edited", "cut"
COUNTED = (EDITED, CUT)
_REASON, _VALUE = "reason:", "value:"


@dataclass(frozen=True)
class Selection:
    """The rows that are shown: those that meet every one of these conditions.

    shown: a key of STATUSES, or one of COUNTED; "" for all. reason: the key of a reason
    (`reasons.py`). column, value: an answer column, and the text of its value. words: what stands
    somewhere in the row.
    """

    shown: str = ""
    reason: str = ""
    column: str = ""
    value: str | None = None
    words: str = ""

    @property
    def is_all(self) -> bool:
        """Whether every row is shown."""
        return self == ALL

    @property
    def statuses(self) -> tuple[str, ...] | None:
        """The statuses of the rows; None: any."""
        return STATUSES.get(self.shown)

    @property
    def counts(self) -> tuple[str, ...] | None:
        """What the parts count of these rows ("" is what waits); None: all rows."""
        return (self.shown,) if self.shown in COUNTED else self.statuses

    @property
    def may_be_answered(self) -> bool:
        """Whether a row that is answered can be among them."""
        if self.reason:
            return self.reason.startswith(AnswerStatus.ANSWERED)
        return self.statuses is None or AnswerStatus.ANSWERED.value in self.statuses

    @property
    def is_counted(self) -> bool:
        """Whether the counts of the parts say how many rows there are."""
        return not (self.reason or self.value is not None or self.words)

    @property
    def show(self) -> str:
        """The text for `?show=`."""
        if self.reason:
            return f"{_REASON}{self.reason}"
        if self.value is not None:
            return show_value(self.column, self.value)
        return self.shown


ALL = Selection()


def show_value(column: str, value: str) -> str:
    """The text for `?show=` that chooses the rows with a value in an answer column."""
    return f"{_VALUE}{quote(column, safe='')}:{value}"


def show_reason(key: str) -> str:
    """The text for `?show=` that chooses the rows without an answer for one reason."""
    return f"{_REASON}{key}"


def parse(show: str | None, words: str | None = "") -> Selection:
    """The selection that an address names."""
    show = (show or "").replace("\0", "")[:LONGEST_SHOW]
    found = ALL
    if show in STATUSES or show in COUNTED:
        found = Selection(shown=show)
    elif show.startswith(_REASON):
        found = Selection(reason=show.removeprefix(_REASON))
    elif show.startswith(_VALUE):
        column, colon, value = show.removeprefix(_VALUE).partition(":")
        if colon:
            found = Selection(column=unquote(column), value=value)
    return replace(found, words=" ".join((words or "").replace("\0", "").split())[:LONGEST_WORDS])
