"""How many tokens are read and written for a row: from tries, from batches before, from a rule.

What was tried with the question as it is now says most; then what the team's batches with the same
question used, then those with the same model; else a rule is stated, and the range is wide.
"""

from collections.abc import Iterable
from enum import StrEnum
from math import sqrt
from statistics import mean, stdev
from typing import NamedTuple

from django.db.models import Count, QuerySet, Sum

from batchui.batches.models import Attempt, Batch, asked_fields
from batchui.batches.states import AttemptStatus
from batchui.batches.try_models import TriedRow, TriedStatus
from batchui.cloudflare.catalogue import Model
from batchui.prompts.ask import Ask
from batchui.prompts.model_facts import room_for_reasoning

# Of a request, in bytes for one token: most languages lie between.
FEWEST_BYTES, MOST_BYTES = 3.0, 5.0
# Of one picture, in tokens: Gemma takes 280 for each, whatever its size, Qwen and Kimi one for each
# 28 to 32 pixels square, Llama 4 Scout 144 for each 336 pixels square.
PICTURE_TOKENS = (250.0, 2_500.0)
# A measured figure may be off by so much; the answers of a few tried rows tell less.
MARGIN, MARGIN_OF_TRIES = 0.1, 0.25
# Tokens of an answer to a question of which nothing is known, unless the longest answer is shorter.
# A model that thinks may use half of its room for that besides.
GUESSED = (20, 300)
# What is looked at of the team's history.
LATEST = 20
COMPLETED = (TriedStatus.ANSWERED, TriedStatus.EMPTY, TriedStatus.UNFIT)
# A question is the same as another one if these fields are.
WORDING = (
    *("model", "template", "instruction", "options", "max_tokens", "as_items", "target_lang"),
    *("answer_columns", "effort", "query", "picture_column"),
)


class Source(StrEnum):
    """Where a figure comes from; the text is for “how it was reckoned”."""

    TRIES = "the rows you tried"
    SAME_QUESTION = "your team's batches with this question"
    SAME_MODEL = "your team's batches with this model"
    RULE = "a rule of thumb"
    NONE = "the model writes no text"


class Measured(NamedTuple):
    """A figure with its lower and upper bound, and where it comes from."""

    low: float
    high: float
    source: Source


def bytes_per_token(batch: Batch) -> Measured:
    """How many bytes of a request the model counts as a token. Bounds: from few to many bytes."""
    tried = _tried(batch).filter(in_try__model=batch.ask.model, item_bytes__gt=0, picture="")
    found = tried.aggregate(size=Sum("item_bytes"), tokens=Sum("prompt_tokens"))
    if found["tokens"]:
        return _around(found["size"] / found["tokens"], Source.TRIES)
    texts = _before(batch).filter(picture_column="")
    before = list(texts.values_list("pk", "prompt_tokens"))
    tokens = sum(count for _, count in before)
    if tokens:
        sent = Attempt.objects.filter(
            part__batch__in=[pk for pk, _ in before], status=AttemptStatus.ANSWERED
        )
        size = sent.aggregate(size=Sum("payload_size"))["size"]
        if size:
            return _around(size / tokens, Source.SAME_MODEL)
    return Measured(FEWEST_BYTES, MOST_BYTES, Source.RULE)


def tokens_per_picture(batch: Batch, per_token: Measured) -> Measured:
    """How many tokens a picture is read as. per_token: of the text that is asked with it."""
    tried = _tried(batch).filter(in_try__model=batch.ask.model).exclude(picture="")
    found = tried.aggregate(rows=Count("pk"), size=Sum("item_bytes"), tokens=Sum("prompt_tokens"))
    if found["rows"]:
        text = found["size"] * 2 / (per_token.low + per_token.high)
        each = max(0.0, found["tokens"] - text) / found["rows"]
        off = MARGIN_OF_TRIES
        return Measured(each * (1 - off), each * (1 + off), Source.TRIES)
    return Measured(*PICTURE_TOKENS, Source.RULE)


def written_per_row(batch: Batch, model: Model) -> Measured:
    """How many tokens an answer has."""
    if model.task == "embedding":
        return Measured(0, 0, Source.NONE)
    tried = _tried(batch).filter(**_wording(batch.ask, "in_try__"))
    lengths = list(tried.values_list("completion_tokens", flat=True))
    if lengths:
        return _around_many(lengths, Source.TRIES)
    same = _average_lengths(_before(batch).filter(**_wording(batch.ask)))
    if same:
        return _widened(same, Source.SAME_QUESTION)
    longest = batch.ask.max_tokens
    thinking = room_for_reasoning(model, batch.ask.effort) / 2
    rule = Measured(min(GUESSED[0], longest), min(GUESSED[1], longest) + thinking, Source.RULE)
    others = _average_lengths(_before(batch))
    if not others:
        return rule
    # To another question the answers may be longer: what was measured only widens the rule.
    found = _widened(others, Source.SAME_MODEL)
    return found._replace(low=min(found.low, rule.low), high=max(found.high, rule.high))


def _tried(batch: Batch) -> QuerySet[TriedRow]:
    return TriedRow.objects.filter(in_try__batch=batch, status__in=COMPLETED, prompt_tokens__gt=0)


def _before(batch: Batch) -> QuerySet[Batch]:
    """The team's latest batches with answers of this model, through this kind of connection."""
    found = Batch.objects.filter(
        team=batch.team_id,
        model=batch.ask.model,
        connection__kind=batch.connection.kind,
        finished_at__isnull=False,
        answered__gt=0,
        prompt_tokens__gt=0,
    )
    latest = found.exclude(pk=batch.pk).order_by("-finished_at").values("pk")[:LATEST]
    return Batch.objects.filter(pk__in=list(latest.values_list("pk", flat=True)))


def _wording(ask: Ask, prefix: str = "") -> dict[str, object]:
    stored = asked_fields(ask)
    return {f"{prefix}{name}": stored[name] for name in WORDING}


def _average_lengths(batches: QuerySet[Batch]) -> list[float]:
    found = batches.values_list("completion_tokens", "answered")
    return [tokens / answered for tokens, answered in found]


def _around(value: float, source: Source) -> Measured:
    return Measured(value * (1 - MARGIN), value * (1 + MARGIN), source)


def _widened(values: Iterable[float], source: Source) -> Measured:
    found = list(values)
    return Measured(min(found) * (1 - MARGIN), max(found) * (1 + MARGIN), source)


def _around_many(values: list[int], source: Source) -> Measured:
    """The bounds of the mean: two standard errors, and the margin besides."""
    middle = mean(values)
    error = 2 * stdev(values) / sqrt(len(values)) if len(values) > 1 else middle / 2
    return Measured(
        max(0.0, middle * (1 - MARGIN_OF_TRIES) - error),
        middle * (1 + MARGIN_OF_TRIES) + error,
        source,
    )
