"""The words for what people are asked about parts: what happened, what each choice does."""

from collections.abc import Mapping
from datetime import timedelta
from typing import NamedTuple

from batchui.batches.patience import UNREACHED_AFTER, UNREADABLE_AFTER
from batchui.batches.questions import ASKED_TWICE, Choice
from batchui.batches.states import Question


class Words(NamedTuple):
    """A question in words. The names in braces are those of `undecided.Undecided.facts`.

    What stands in brackets is about money, and left out where the sandbox answers.
    """

    title: str
    note: str  # more about what happened, for those who want to know
    stake: str  # rows and money; "" if nothing has to be decided


class ChoiceWords(NamedTuple):
    """A choice in words. heading: of the dialog that asks once more before it is done."""

    label: str
    icon: str
    effect: str
    heading: str = ""
    confirm: str = ""


WORDS: Mapping[Question, Words] = {
    Question.UNCLEAR: Words(
        title="It is unclear whether {which} {were} sent.",
        note=(
            "{Sent_before}Cloudflare finds a request only by its receipt, and no receipt came, so "
            "batchui cannot find out. {Parts_wait} until you decide{rest_goes_on}."
        ),
        stake="{rows}, and {cost} if {they_are} charged twice",
    ),
    Question.UNREADABLE: Words(
        title="{which} {were} sent, but no answer could be read.",
        note="{Parts_wait} until you decide{rest_goes_on}.",
        stake="{rows}, and {cost} that is probably charged already",
    ),
    Question.MISMATCH: Words(
        title="Cloudflare's reply to {which} does not fit what was sent.",
        note=(
            "Nothing of the reply was used, so no answer stands beside a wrong row. It is kept: "
            "see Details in the table of parts."
        ),
        stake="{rows}, and {cost} that is charged already",
    ),
    Question.DAMAGED: Words(
        title="batchui cannot go on with {which}.",
        note=(
            "If a file is lost or damaged, the person who runs batchui can put it back from a "
            "backup. {Parts_wait} until you decide{rest_goes_on}."
        ),
        stake="{rows}",
    ),
    Question.RESTORED: Words(
        title="batchui was put back to an earlier state, and {which} may have been sent since.",
        note=(
            "That cannot be seen from here. If your team worked after that time, {they} probably "
            "{were_sent}. {Parts_wait} until you decide."
        ),
        stake="{rows}, and {cost} if {they_are} charged twice",
    ),
    Question.TROUBLE: Words(
        title="The answers to {which} cannot be fetched at the moment.",
        note=(
            "batchui asks again by itself. If the reason names something to correct, the answers "
            "come once it is corrected; else you need not do anything."
        ),
        stake="",
    ),
    Question.STOPPING: Words(
        title="Waiting for the answers to {which}, sent before Stop.",
        note="They come by themselves, and the batch has stopped when they are all here.",
        stake="",
    ),
}


def _hours(time: timedelta) -> int:
    return time // timedelta(hours=1)


_AGAIN_TWICE = (
    "Sends {rows} again.[ If Cloudflare has {them} already, {they_are} charged twice ({cost}).]"
)
_LATER_IF_MENDED = (
    "{rows_have} no answer, and {are} marked as missing. Retry can send {them} once the cause is "
    "gone."
)
_LATER_TWICE = (
    "Sends nothing. {rows_have} no answer, and {are} marked as missing. Retry can send {them} later"
    "[, and then {they} may be charged twice]."
)
_GIVE_UP = (
    "batchui stops asking. {rows_have} no answer[, though {they_are} probably charged ({cost})]. "
    "Retry looks for the answers again first, free of charge."
)
_ASK_AGAIN = "Ask Cloudflare again"

CHOICE_WORDS: Mapping[tuple[Question, Choice], ChoiceWords] = {
    (Question.UNCLEAR, Choice.SEND_AGAIN): ChoiceWords(
        "Send again", "send", _AGAIN_TWICE, "Send {parts} again?", "Send {rows} again"
    ),
    (Question.UNCLEAR, Choice.LEAVE_OUT): ChoiceWords(
        "Leave out", "x", _LATER_TWICE, "Leave {parts} out?", "Leave {rows} out"
    ),
    (Question.UNREADABLE, Choice.ASK_AGAIN): ChoiceWords(
        "Go on looking",
        "rotate-cw",
        "Free. If the answers still cannot be read, batchui asks you again after "
        f"{_hours(UNREADABLE_AFTER)} hours ({_hours(UNREACHED_AFTER)} if Cloudflare does not "
        "answer).",
    ),
    (Question.UNREADABLE, Choice.LEAVE_OUT): ChoiceWords(
        "Leave out", "x", _GIVE_UP, "Leave {parts} out?", "Leave {rows} out"
    ),
    (Question.MISMATCH, Choice.ASK_AGAIN): ChoiceWords(
        _ASK_AGAIN, "rotate-cw", "Free. Perhaps the reply is whole this time."
    ),
    (Question.MISMATCH, Choice.SEND_AGAIN): ChoiceWords(
        "Send again",
        "send",
        "Sends {rows} again.[ {They_are} charged a second time ({cost}).]",
        "Send {parts} again?",
        "Send {rows} again",
    ),
    (Question.MISMATCH, Choice.LEAVE_OUT): ChoiceWords(
        "Leave out",
        "x",
        "{rows_have} no answer, and {are} marked as missing. Retry can send {them} later"
        "[, and then {they_are} charged a second time].",
        "Leave {parts} out?",
        "Leave {rows} out",
    ),
    (Question.DAMAGED, Choice.TRY_AGAIN): ChoiceWords(
        "Try again", "rotate-cw", "If the cause is gone now, {parts} {go} on as planned."
    ),
    (Question.DAMAGED, Choice.LEAVE_OUT): ChoiceWords(
        "Leave out", "x", _LATER_IF_MENDED, "Leave {parts} out?", "Leave {rows} out"
    ),
    (Question.RESTORED, Choice.SEND_AGAIN): ChoiceWords(
        "Send",
        "send",
        "Sends {rows}.[ If {they_were} sent since then, {they_are} charged twice ({cost}).]",
        "Send {parts}?",
        "Send {rows}",
    ),
    (Question.RESTORED, Choice.LEAVE_OUT): ChoiceWords(
        "Leave out", "x", _LATER_TWICE, "Leave {parts} out?", "Leave {rows} out"
    ),
    (Question.TROUBLE, Choice.ASK_AGAIN): ChoiceWords(
        "Ask now", "rotate-cw", "Free. batchui asks at once, and does not wait for the next try."
    ),
    (Question.TROUBLE, Choice.LEAVE_OUT): ChoiceWords(
        "Give up", "x", _GIVE_UP, "Give up the answers to {parts}?", "Give {rows} up"
    ),
    (Question.STOPPING, Choice.LEAVE_OUT): ChoiceWords(
        "Do not wait", "x", _GIVE_UP, "Give up the answers to {parts}?", "Give {rows} up"
    ),
}

# Of damaged files, if they have answers.
UNREADABLE_LEFT_OUT = (
    "{rows_have} no answer, and {are} marked as missing. So are up to {unreadable} more, whose "
    "answers are in the damaged file. Retry can send them all[, and pays for these {unreadable} a "
    "second time then]. To keep their answers, let the person who runs batchui put the file back "
    "first."
)

# The message after a decision about so many parts.
DONE: Mapping[Choice, str] = {
    Choice.SEND_AGAIN: "{parts} {are} sent now.",
    Choice.ASK_AGAIN: "Cloudflare is asked again about {parts}.",
    Choice.TRY_AGAIN: "{parts} {are} tried again.",
    Choice.LEAVE_OUT: "{parts} {are} left out.",
}
# The message in place of that one while Cloudflare confirms nothing.
DONE_WHILE_FAILING: Mapping[Choice, str] = {
    Choice.SEND_AGAIN: "{parts} will be sent, one at a time until Cloudflare confirms one.",
}


def asks_first(choice: Choice) -> bool:
    """Whether a dialog asks once more before the choice is done."""
    return choice in ASKED_TWICE
