"""Pictures for tests, made on the spot."""

import io
import random
import struct
import zlib
from typing import Any

from PIL import Image

PICK = random.Random(4)


def stored(image: Image.Image, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def plain(width: int, height: int, colour: str = "red") -> Image.Image:
    return Image.new("RGB", (width, height), colour)


def noise(width: int, height: int) -> Image.Image:
    """What no way to store pictures makes small."""
    return Image.frombytes("RGB", (width, height), PICK.randbytes(width * height * 3))


def quarters() -> Image.Image:
    """A picture of 40 × 20 whose corner at the top left is red, and all else white."""
    image = plain(40, 20, "white")
    image.paste("red", (0, 0, 20, 10))
    return image


def png_that_claims(width: int, height: int) -> bytes:
    """A PNG whose head says that it is so large."""
    content = bytearray(stored(plain(1, 1), "PNG"))
    content[16:24] = struct.pack(">II", width, height)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    return bytes(content)


def jpeg_that_claims(width: int, height: int, **options: Any) -> bytes:
    """A JPEG whose head says that it is so large."""
    content = bytearray(stored(plain(16, 16), "JPEG", **options))
    at = max(content.find(b"\xff\xc0\x00\x11"), content.find(b"\xff\xc2\x00\x11"))
    content[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return bytes(content)


def webp_that_claims(width: int, height: int) -> bytes:
    """An animated WebP whose head says that it is so large."""
    film = stored(plain(16, 16), "WEBP", save_all=True, append_images=[plain(16, 16, "blue")])
    content = bytearray(film)
    content[24:27] = (width - 1).to_bytes(3, "little")
    content[27:30] = (height - 1).to_bytes(3, "little")
    return bytes(content)


def nearly(found: Any, wanted: tuple[int, ...], by: int = 6) -> bool:
    """Whether a point has nearly this colour: JPEG keeps none exactly."""
    return all(abs(one - other) <= by for one, other in zip(found, wanted, strict=True))
