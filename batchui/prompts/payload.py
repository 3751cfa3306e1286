"""Makes the body of one request from the rows of a part."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice, repeat

import msgspec

from batchui.prompts.item_settings import REFERENCE
from batchui.prompts.items import ItemWriter
from batchui.prompts.pictures import with_picture
from batchui.prompts.reading.rows import decode_row, decode_rows

OPEN, CLOSE = b'{"requests":[', b"]}"
AT_ONCE = 500
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def payload(
    lines: Iterable[bytes],
    positions: Sequence[int] | None,
    *,
    first_row: int,
    writer: ItemWriter,
    picture_of: Callable[[int], tuple[bytes, str]] | None = None,
) -> bytes:
    """The JSON `{"requests":[…]}`, with one item for each of `positions` (None: for all lines).

    lines: the rows of a part, from `encode_row`; the first one has the number `first_row`. The
    items are in the order of `positions`, and the reply numbers them in that order. Raises BadInput
    for a row that cannot be asked: `positions` must not have the `invalid` rows of the part.
    picture_of: the picture of a row by its position, and its media type.
    """
    if positions is None and picture_of is None:
        items = _of_all(lines, first_row, writer)
    else:
        kept = list(lines)
        positions = range(len(kept)) if positions is None else positions
        items = [writer.encode(first_row + at, decode_row(kept[at])) for at in positions]
    if picture_of is not None:
        pictured = map(picture_of, positions or ())
        items = [
            with_picture(item, *picture) for item, picture in zip(items, pictured, strict=True)
        ]
    commas_first = chain.from_iterable(zip(repeat(b","), items, strict=False))
    # All at once: what is joined first would be in memory once more.
    return b"".join((OPEN, *islice(commas_first, 1, None), CLOSE))


def _of_all(lines: Iterable[bytes], first_row: int, writer: ItemWriter) -> list[bytes]:
    """The items of all rows, AT_ONCE in each piece: no more rows are in memory at one time."""
    left, made = iter(lines), list[bytes]()
    while some := list(islice(left, AT_ONCE)):
        made.append(b",".join(writer.encode_many(first_row, decode_rows(b"\n".join(some)))))
        first_row += len(some)
    return made


def asked_at_once(item: bytes) -> bytes:
    """The body of a synchronous run: an item without its reference, which no reply gives back."""
    fields = _fields(item)
    fields.pop(REFERENCE, None)
    return msgspec.json.encode(fields)
