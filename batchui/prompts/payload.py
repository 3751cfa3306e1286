"""Makes the body of one request from the rows of a part."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from batchui.prompts.item_settings import REFERENCE
from batchui.prompts.items import ItemWriter
from batchui.prompts.pictures import with_picture
from batchui.prompts.reading.rows import decode_row, decode_rows

OPEN, CLOSE = b'{"requests":[', b"]}"
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
    encode = writer.encode
    if positions is None:
        items = writer.encode_many(first_row, decode_rows(b"\n".join(lines)))
    else:
        kept = list(lines)
        items = [encode(first_row + at, decode_row(kept[at])) for at in positions]
    if picture_of is not None:
        pictured = map(picture_of, range(len(items)) if positions is None else positions)
        items = [
            with_picture(item, *picture) for item, picture in zip(items, pictured, strict=True)
        ]
    return b"%b%b%b" % (OPEN, b",".join(items), CLOSE)


def asked_at_once(item: bytes) -> bytes:
    """The body of a synchronous run: an item without its reference, which no reply gives back."""
    fields = _fields(item)
    fields.pop(REFERENCE, None)
    return msgspec.json.encode(fields)
