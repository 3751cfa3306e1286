"""Bytes of a stranger -> a small upright picture in 8 bits, on white, with nothing beside it."""

import io
from math import prod
from threading import Lock

from PIL import Image, UnidentifiedImageError

from batchui.pictures.jpeg import is_held_whole
from batchui.pictures.pretenders import no_picture
from batchui.pictures.problems import NoPicture

# Points of a picture, each of 4 bytes, twice while it is made smaller.
MOST_POINTS = 40_000_000
# Of a WebP, which is held four times over: twice for animations, even of a single picture.
MOST_POINTS_OF_WEBP = 16_000_000
# Of a JPEG, which is made smaller while it is read; and of one that has to be held whole (`jpeg`).
MOST_POINTS_READ = 250_000_000
MOST_POINTS_HELD = 60_000_000
# Pillow could read many more, some of them by calling other programs.
_FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "AVIF")
# What a picture has to be turned by, for each value of Exif's Orientation.
_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# One picture at a time is held at its full size, however many threads there are.
ONE_AT_A_TIME = Lock()
# Pillow's own limit, which some kinds ask for before they take memory. It ends those of twice as
# many; for others it warns.
Image.MAX_IMAGE_PIXELS = MOST_POINTS_READ


def decoded(content: bytes, *, side: int) -> tuple[Image.Image, str]:
    """The picture, its longest side at most `side`, and how it was stored ("PNG").

    It is "L" or "RGB", never larger than it was, and has no metadata. Of an animation it is the
    first picture. Raises NoPicture, and MemoryError.
    """
    with ONE_AT_A_TIME:
        try:
            image = _opened(content, side)
            stored = image.format or ""
            image.load()
            turn = _TURNS.get(image.getexif().get(_ORIENTATION, 1))
            small = _resized(_in_colours(image), side)
        except (NoPicture, MemoryError):
            raise
        except Exception:  # whatever a damaged file makes of the decoders
            raise _damaged() from None
    return _on_white(small if turn is None else small.transpose(turn)), stored


def _opened(content: bytes, side: int) -> Image.Image:
    """Only its head has been read. Raises NoPicture if the rest would take too much memory."""
    try:
        image = Image.open(io.BytesIO(content), formats=_FORMATS)
    except UnidentifiedImageError:
        raise no_picture(content) from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        much = f"more than {MOST_POINTS_READ // 1_000_000} million points"
        raise _too_many(much, MOST_POINTS) from None
    width, height = image.size
    # A JPEG can be read at a half, a fourth or an eighth of its size.
    image.draft(None, _fitting(image.size, side))
    most = _most_points(image.format, content)
    if width * height > most or prod(image.size) > MOST_POINTS:
        raise _too_many(f"{width:,} × {height:,} points", min(most, MOST_POINTS))
    return image


def _most_points(kind: str | None, content: bytes) -> int:
    """How many points a picture of this kind may have."""
    if kind in ("JPEG", "MPO"):  # MPO: several of them, as some cameras write
        return MOST_POINTS_HELD if is_held_whole(content) else MOST_POINTS_READ
    return MOST_POINTS_OF_WEBP if kind == "WEBP" else MOST_POINTS


def _fitting(size: tuple[int, int], side: int) -> tuple[int, int]:
    """The size of a picture whose longest side is at most `side`."""
    factor = min(1.0, side / max(size))
    return max(1, round(size[0] * factor)), max(1, round(size[1] * factor))


def _in_colours(image: Image.Image) -> Image.Image:
    """In a mode that can be made smaller: no palette, and "RGBA" where it is transparent."""
    if image.mode in ("I", "F"):
        raise NoPicture(
            "Each point of this picture has 32 bits, which no model reads. Save it as JPEG or PNG."
        )
    if image.mode.startswith("I;16"):
        return image
    if image.has_transparency_data:
        return image if image.mode == "RGBA" else image.convert("RGBA")
    if image.mode in ("L", "RGB", "CMYK"):
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def _resized(image: Image.Image, side: int) -> Image.Image:
    size = _fitting(image.size, side)
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS)


def _on_white(image: Image.Image) -> Image.Image:
    """A new picture with the same points: what else an image carries stays behind."""
    if image.mode.startswith("I;16"):
        # Pillow's own way would make everything above 255 white.
        image = image.convert("I").point(lambda value: value / 256).convert("L")
    plain = Image.new("L" if image.mode == "L" else "RGB", image.size, "white")
    plain.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
    return plain


def _too_many(has: str, most: int) -> NoPicture:
    return NoPicture(
        f"This picture has {has}, and that is too large to be read. Make it smaller: "
        f"{most // 1_000_000} million points at most."
    )


def _damaged() -> NoPicture:
    return NoPicture(
        "This picture is damaged or was not copied whole. Copy or download it again, or save it "
        "anew as JPEG."
    )
