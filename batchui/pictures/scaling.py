"""Makes any picture a small JPEG or PNG: upright, on white, and with nothing beside it.

A camera writes the place there, among others. A colour profile goes as well; the figures of the
colours stay as they are.
"""

import io

from PIL import Image

from batchui.pictures.decoding import decoded
from batchui.prompts.pictures import LARGEST_PICTURE as LARGEST

# In points, of what is sent.
LONGEST_SIDE = 1024
# Kinds without loss: what they hold is often a text or a drawing, which JPEG would blur.
_LOSSLESS = ("PNG", "GIF", "BMP")
_QUALITIES = (85, 75, 60, 45)
# Where even the last of them is too large, it is made smaller by this.
_SMALLER = 0.75
_QUALITY_OF_THUMBNAIL = 80
_PNG = b"\x89PNG\r\n\x1a\n"


def scaled(content: bytes) -> bytes:
    """A JPEG or PNG of at most LARGEST bytes, of which no side has more than LONGEST_SIDE points.

    Raises NoPicture.
    """
    image, stored = decoded(content, side=LONGEST_SIDE)
    if stored in _LOSSLESS:
        png = _saved(image, "PNG")
        if len(png) <= LARGEST:
            return png
    while True:
        for quality in _QUALITIES:
            jpeg = _saved(image, "JPEG", quality=quality)
            if len(jpeg) <= LARGEST:
                return jpeg
        width, height = (max(1, int(side * _SMALLER)) for side in image.size)
        image = image.resize((width, height), Image.Resampling.LANCZOS)


def thumbnail(content: bytes, *, side: int = 320) -> bytes:
    """A JPEG for a page, with no side longer than `side` points. Raises NoPicture."""
    image, _ = decoded(content, side=side)
    return _saved(image, "JPEG", quality=_QUALITY_OF_THUMBNAIL)


def media_type(content: bytes) -> str:
    """What `scaled` returned, as a data URL says it."""
    return "image/png" if content.startswith(_PNG) else "image/jpeg"


def _saved(image: Image.Image, kind: str, **options: int) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, optimize=True, **options)
    return file.getvalue()
