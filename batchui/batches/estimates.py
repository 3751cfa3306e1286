"""What a draft will cost, as a range: its rows, parts, tokens and US dollars.

A sample of its actual rows is made into requests; how many tokens these have, and how many an
answer has, says `answer_lengths.py`. Prices are those of the catalogue.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev
from typing import NamedTuple

from batchui.batches import answer_lengths, draft_rows, references
from batchui.batches.allowance import free_usd_left
from batchui.batches.answer_lengths import Measured
from batchui.batches.catalogues import of_batch
from batchui.batches.models import Batch
from batchui.batches.money import CENT, UsdRange, price_of
from batchui.batches.phrases import free_words
from batchui.batches.preparing import limits_for
from batchui.batches.surveys import Survey
from batchui.cloudflare.catalogue import Model, UnknownModel
from batchui.prompts.cutting import rows_per_part
from batchui.prompts.item_settings import REFERENCE
from batchui.prompts.items import ItemWriter
from batchui.prompts.model_facts import longest_written
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.rows import decode_row, encode_row
from batchui.teams.models import Team

# Rows of the sample: so many at each of so many places, spread over the file.
PLACES, AT_EACH = 10, 10
# Where so many rows have more bytes than this, one at each place is enough.
MOST_BYTES_AT_EACH = 100_000
# What an item has besides what the model reads; a try is sent without it.
REFERENCE_OF_ITEM = f',"{REFERENCE}":""'


class Tokens(NamedTuple):
    """From the least to the most tokens."""

    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """What asking every row of a draft costs, about.

    rows: those that are asked. sampled: those that were looked at. read, written: tokens of all.
    per_picture: the tokens that each picture is read as, which `read` has; None without pictures.
    usd: None if the model's price is not known. free_usd: how much may be used today without
    paying, as far as batchui knows. is_free: nobody is paid, for the reason in `free_words`.
    """

    rows: int
    parts: int
    sampled: int
    read: Tokens
    written: Tokens
    bytes_per_token: Measured
    written_per_row: Measured
    per_picture: Measured | None
    usd: UsdRange | None
    free_usd: float
    is_free: bool
    free_words: str

    @property
    def to_pay(self) -> UsdRange | None:
        """What is left to pay after what is free today."""
        if self.usd is None:
            return None
        return UsdRange(*(max(0.0, one - self.free_usd) for one in self.usd))


def estimate(batch: Batch, survey: Survey | None = None) -> Estimate | None:
    """What a draft will cost as its question is now. None: nothing can be asked of it yet.

    Raises OSError and DamagedFile, if its rows cannot be read.
    """
    rows = rows_to_ask(batch, survey)
    try:
        known = of_batch(batch)
        model = known.find(batch.ask.model)
        writer = references.checked_writer(batch)
        sizes = list(_sizes(batch, writer))
    except (BadInput, UnknownModel):
        return None
    if not sizes or not rows:
        return None
    batch.connection = known.connection or batch.connection  # it goes to that of its Start
    per_token = answer_lengths.bytes_per_token(batch)
    per_row = answer_lengths.written_per_row(batch, model)
    size = _size_of_all(sizes, rows, whole=len(sizes) >= rows)
    # The last token of a question is rarely a whole one.
    read = Tokens(size.low / per_token.high, size.high / per_token.low + rows)
    per_picture = None
    if batch.ask.shows_pictures:
        per_picture = answer_lengths.tokens_per_picture(batch, per_token)
        read = Tokens(read.low + rows * per_picture.low, read.high + rows * per_picture.high)
    written = Tokens(rows * per_row.low, rows * per_row.high)
    limits = limits_for(model, max_tokens=longest_written(model, batch.ask))
    per_part = rows_per_part(rows, limits)
    if pictured := writer.picture_bytes:
        per_part = min(per_part, limits.item_bytes // pictured)
    is_free = batch.connection.is_free
    return Estimate(
        rows=rows,
        parts=-(-rows // per_part),
        sampled=len(sizes),
        read=read,
        written=written,
        bytes_per_token=per_token,
        written_per_row=per_row,
        per_picture=per_picture,
        usd=UsdRange(0, 0) if is_free else _usd(model, read, written),
        free_usd=free_usd_left(batch.connection),
        is_free=is_free,
        free_words=free_words(batch.connection),
    )


def needs_consent(team: Team, found: Estimate | None, *, agreed: float | None = None) -> bool:
    """Whether Start must ask once more, because a batch may cost more than the team's figure.

    agreed: the highest price, in US dollars, to which a person has agreed already.
    """
    to_pay = found.to_pay if found else None
    if team.confirm_above is None or to_pay is None or to_pay.high <= team.confirm_above:
        return False
    # Tokens are estimated anew at each press: a cent more is the same figure.
    return agreed is None or to_pay.high > agreed + CENT


def rows_to_ask(batch: Batch, survey: Survey | None) -> int:
    """How many rows of a draft are paid for: without those that are blank, too long or copies."""
    if survey is None:
        return batch.askable_rows
    asked = batch.askable_rows - survey.blank - survey.too_long
    return asked - survey.same if batch.ask.ask_once and not survey.too_long else asked


def _sizes(batch: Batch, writer: ItemWriter) -> Iterator[int]:
    """The bytes of the requests of a sample of rows. Those that cannot be asked have none.

    No request is built: it may be a thousand times as long as its row.
    """
    usual = batch.source_size / max(batch.rows, 1)
    at_each = AT_EACH if usual * AT_EACH <= MOST_BYTES_AT_EACH else 1
    for offset in _offsets(batch.rows, at_each):
        for row in draft_rows.page(batch, offset=offset, limit=at_each):
            if row.cells is None or row.error is not None:
                continue
            stored = encode_row(row.cells)
            cells = decode_row(stored)
            with suppress(BadInput):
                size = writer.size(row.row, cells, stored=len(stored), enough=0)
                yield size - len(REFERENCE_OF_ITEM) - len(writer.reference(row.row, cells).encode())


def _offsets(rows: int, at_each: int) -> Iterator[int]:
    """Where the rows of the sample begin; all rows, if there are few."""
    if rows <= PLACES * at_each:
        yield from range(0, rows, at_each)
        return
    for place in range(PLACES):
        yield place * (rows - at_each) // (PLACES - 1)


class _Bytes(NamedTuple):
    low: float
    high: float


def _size_of_all(sizes: list[int], rows: int, *, whole: bool) -> _Bytes:
    """The bytes of all requests, from a sample: two standard errors to either side of the mean."""
    middle = mean(sizes)
    error = 0.0 if whole or len(sizes) < 2 else 2 * stdev(sizes) / sqrt(len(sizes))
    return _Bytes(rows * max(0.0, middle - error), rows * (middle + error))


def _usd(model: Model, read: Tokens, written: Tokens) -> UsdRange | None:
    if not model.has_price:
        return None
    return UsdRange(
        price_of(model, read=read.low, written=written.low),
        price_of(model, read=read.high, written=written.high),
    )
