"""The words, colours and sentences for states: of a batch, of a part, of a row.

People read five words, and *Draft* before them: **Draft, Queued, Running, Paused, Finished,
Stopped**. Beside the word stands one sentence. The states of `batches/states.py` say more, but only
to the code. A row has words of its own for what became of it.
"""

from typing import NamedTuple

from django.contrib.humanize.templatetags.humanize import intcomma

from batchui.batches.look_up_models import LookUpStatus
from batchui.batches.models import Batch, Part
from batchui.batches.part_models import AnswerCounts
from batchui.batches.phrases import rows_are
from batchui.batches.states import AnswerStatus, BatchStatus, PartStatus
from batchui.web.damaged_files import without_path
from batchui.web.holds import Hold

DRAFT, QUEUED, RUNNING = "Draft", "Queued", "Running"
PAUSED, FINISHED, STOPPED = "Paused", "Finished", "Stopped"
WORDS = (DRAFT, QUEUED, RUNNING, PAUSED, FINISHED, STOPPED)


class Shown(NamedTuple):
    """How people see a state.

    tone: its colour, as `data-tone` (see `static/css/states.css`): idle, working, good,
    caution, bad. pattern: how a segment of the strip is filled, so that nothing depends on colour
    alone: hollow, plain, stripes, dots, cross. icon: a name in the lucide set. sentence: what it
    means, "" where the word says it all.
    """

    word: str
    tone: str
    icon: str
    pattern: str = "plain"
    sentence: str = ""


# Each state alone, without the counts of a batch or a part: `of` says more.
_STATES: dict[str, Shown] = {
    # Batches. `queued`, `running` and `stopped` are of parts, too.
    BatchStatus.CHECKING: Shown(DRAFT, "idle", "pencil-line", sentence="The file is being read."),
    BatchStatus.DRAFT: Shown(DRAFT, "idle", "pencil-line", sentence="Not started yet."),
    BatchStatus.PREPARING: Shown(
        QUEUED, "working", "clock", sentence="The rows are being put into parts."
    ),
    BatchStatus.QUEUED: Shown(
        QUEUED, "working", "clock", sentence="It waits for its turn at Cloudflare."
    ),
    BatchStatus.RUNNING: Shown(
        RUNNING, "working", "play", "stripes", "Cloudflare is working on it."
    ),
    BatchStatus.ATTENTION: Shown(
        PAUSED, "caution", "triangle-alert", "dots", "It waits for your decision."
    ),
    BatchStatus.FINISHED: Shown(FINISHED, "good", "circle-check"),
    BatchStatus.PROBLEMS: Shown(FINISHED, "caution", "circle-alert", "dots"),
    BatchStatus.STOPPING: Shown(
        RUNNING,
        "working",
        "play",
        "stripes",
        "It is stopping: nothing more is sent, and answers to what was sent still come in.",
    ),
    BatchStatus.STOPPED: Shown(STOPPED, "idle", "square", "hollow"),
    # Parts
    PartStatus.READY: Shown(QUEUED, "idle", "clock", "hollow", "Not sent yet."),
    PartStatus.SENDING: Shown(QUEUED, "working", "send", "hollow", "It is being sent."),
    PartStatus.HELD: Shown(PAUSED, "caution", "circle-pause", "dots"),
    PartStatus.UNSURE: Shown(
        PAUSED, "caution", "circle-question-mark", "dots", "It waits for your decision."
    ),
    PartStatus.DONE: Shown(FINISHED, "good", "circle-check"),
    # Look-ups; `queued` and `running` are as of batches.
    LookUpStatus.WAITING: Shown("Looking", "working", "search", "hollow"),
    LookUpStatus.KEPT: Shown(FINISHED, "good", "circle-check"),
    LookUpStatus.ENDED: Shown("No answers", "caution", "circle-question-mark", "dots"),
    # Rows
    AnswerStatus.ANSWERED: Shown("Answered", "good", "check"),
    AnswerStatus.EMPTY: Shown("Empty", "caution", "circle-dashed", "dots"),
    AnswerStatus.UNFIT: Shown("Does not fit", "caution", "circle-alert", "dots"),
    AnswerStatus.FAILED: Shown("Failed", "bad", "circle-x", "cross"),
    AnswerStatus.MISSING: Shown("Missing", "caution", "circle-question-mark", "dots"),
    AnswerStatus.UNSENT: Shown("Not sent", "idle", "circle-minus", "hollow"),
    AnswerStatus.INVALID: Shown("Skipped", "idle", "ban", "hollow"),
    AnswerStatus.SKIPPED: Shown("Skipped", "idle", "ban", "hollow"),
    "": Shown("Waiting", "idle", "clock", "hollow"),
}
# The segments of a strip, by what has become of their parts (see `sheet/strip.py`), in the order in
# which a group of parts takes the state of one of them: what a person must know first.
SEGMENTS = {
    "person": f"{PAUSED} (it waits for a person)",
    "held": PAUSED,
    "failed": f"{FINISHED} (no row answered)",
    "running": RUNNING,
    "queued": f"{QUEUED} (sent)",
    "sending": f"{QUEUED} (being sent)",
    "partly": f"{FINISHED} (partly answered)",
    "halted": f"{STOPPED} (partly answered)",
    "left": f"{STOPPED} (not answered)",
    "ready": f"{QUEUED} (not sent yet)",
    "answered": FINISHED,
}
# A batch or a part that has come back without any answer. A row that failed is *Failed*.
_NO_ANSWER = Shown(FINISHED, "bad", "circle-x", "cross", "No row was answered.")
# Where the sandbox or a model server answers, Cloudflare has nothing to do with it.
_IN_SANDBOX: dict[str, str] = {
    BatchStatus.QUEUED: "It waits for its turn in the sandbox.",
    BatchStatus.RUNNING: "The sandbox is working on it.",
}
_ON_OWN_SERVER: dict[str, str] = {
    BatchStatus.QUEUED: "It waits for its turn at your model server.",
    BatchStatus.RUNNING: "Your model server is working on it.",
}
_COPIES = "It waits for rows that ask the same."


def of_state(state: str | None) -> Shown:
    """A state alone, of a row or without counts. One that is not known is shown as it is."""
    state = str(state or "")
    return _STATES.get(state) or Shown(state.capitalize(), "idle", "circle-dot")


def of_batch(batch: Batch, hold: Hold | None = None) -> Shown:
    """How people see a batch. hold: why it is paused (see `holds.of`); None: it is not."""
    if hold is not None:
        return shown_as_paused(without_path(hold.message))
    if batch.status == BatchStatus.FAILED:
        return _NO_ANSWER
    if batch.status in (BatchStatus.FINISHED, BatchStatus.PROBLEMS):
        return _ended(batch)
    if batch.status == BatchStatus.STOPPED:
        return of_state(batch.status)._replace(sentence=_said(batch))
    return _under_way(batch, batch)


def of_part(part: Part) -> Shown:
    """How people see a part: by its rows, once it has come back."""
    if part.waits_for_copies:
        return of_state(PartStatus.READY)._replace(sentence=_COPIES)
    if part.status == PartStatus.HELD:
        return shown_as_paused(without_path(part.message))
    # Stopped before rows were asked again that had their answers: they still have them.
    is_whole = part.status == PartStatus.STOPPED and part.rows == part.answered + part.skipped
    if part.status != PartStatus.DONE and not is_whole:
        shown = _under_way(part, part.batch)
        is_sent = part.status == PartStatus.QUEUED
        return shown._replace(sentence=f"Sent. {shown.sentence}") if is_sent else shown
    if part.unanswered and not part.answered:
        return _NO_ANSWER
    return _ended(part)


def _under_way(thing: Batch | Part, batch: Batch) -> Shown:
    """The state of what has not ended, which names who works on it."""
    shown = of_state(thing.status)
    connection = batch.connection
    words = _IN_SANDBOX if connection.is_sandbox else _ON_OWN_SERVER if connection.is_local else {}
    said = words.get(thing.status)
    return shown._replace(sentence=said) if said else shown


def shown_as_paused(why: str) -> Shown:
    """*Paused*, with the reason."""
    return of_state(PartStatus.HELD)._replace(sentence=why)


def _ended(counts: AnswerCounts) -> Shown:
    """*Finished*: green unless a row that was asked has no answer. Rows may have been skipped."""
    state = BatchStatus.PROBLEMS if counts.unanswered else BatchStatus.FINISHED
    return of_state(state)._replace(sentence=_said(counts))


def _said(counts: AnswerCounts) -> str:
    """“63 rows are answered, 2 skipped.”"""
    said = [f"{rows_are(counts.answered)} answered"]
    if counts.unanswered:
        said.append(f"{intcomma(counts.unanswered)} without an answer")
    if counts.never_asked:
        said.append(f"{intcomma(counts.never_asked)} skipped")
    return f"{', '.join(said)}."


def of(thing: Batch | Part | str | None, hold: Hold | None = None) -> Shown:
    """How people see a batch, a part, or the state of a row."""
    if isinstance(thing, Batch):
        return of_batch(thing, hold)
    if isinstance(thing, Part):
        return of_part(thing)
    return of_state(thing)
