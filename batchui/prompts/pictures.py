"""Shows a model a picture with the question of a row.

    {"messages": [… , {"role": "user", "content": [
        {"type": "text", "text": "…"},
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,…"}}]}], …}

That data URLs are taken in a batch was seen live with Llama 4 Scout, on 16 July 2026.
"""

from base64 import b64encode
from typing import Any

import msgspec

# Of one picture, in bytes: enough for 1,024 pixels a side, which is what models look at. About 49
# of them are a part.
LARGEST_PICTURE = 120_000
_AROUND = len(
    b'[{"type":"text","text":},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,"}}]'
)
# An item with a picture is longer by so many bytes, at most.
PICTURE_BYTES = (LARGEST_PICTURE + 2) // 3 * 4 + _AROUND

# Of names of pictures. HEIC is not read; who has it is told so.
PICTURE_ENDINGS = (
    *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff"),
    *(".avif", ".heic", ".heif"),
)

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_messages = msgspec.json.Decoder(list[dict[str, Any]]).decode


def is_picture_name(name: str) -> bool:
    """Whether a file is called as pictures are."""
    return name.lower().endswith(PICTURE_ENDINGS)


def with_picture(item: bytes, picture: bytes, media_type: str) -> bytes:
    """The item with a picture after the text of its last message.

    picture: at most LARGEST_PICTURE bytes. media_type: such as "image/jpeg".
    """
    fields = _fields(item)
    messages = _messages(fields["messages"])
    last = messages[-1]
    url = f"data:{media_type};base64,{b64encode(picture).decode()}"
    last["content"] = [
        {"type": "text", "text": last["content"]},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    return msgspec.json.encode(fields | {"messages": messages})
