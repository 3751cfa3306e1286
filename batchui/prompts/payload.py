"""A part's rows -> the body of one request."""

from collections.abc import Iterable, Sequence

from batchui.prompts.items import ItemWriter
from batchui.prompts.rows import decode_row

OPEN, CLOSE = b'{"requests":[', b"]}"


def payload(
    lines: Iterable[bytes],
    positions: Sequence[int] | None,
    *,
    first_row: int,
    writer: ItemWriter,
) -> bytes:
    """`{"requests":[…]}` with one item for each of `positions`, in their order (None: all lines).

    `lines` are a part's rows from `encode_row`, the first of them row number `first_row`. The
    reply's index counts in the order sent, which is that of `positions`. Raises BadInput where a
    row has no item: leave out a part's `invalid` rows.
    """
    encode = writer.encode
    if positions is None:
        items = [encode(row, decode_row(line)) for row, line in enumerate(lines, first_row)]
    else:
        kept = list(lines)
        items = [encode(first_row + at, decode_row(kept[at])) for at in positions]
    return b"%b%b%b" % (OPEN, b",".join(items), CLOSE)
