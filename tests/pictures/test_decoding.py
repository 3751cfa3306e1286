"""Every kind of picture, upright, on white, with nothing beside it; and what is none."""

import threading

import pytest
from PIL import Image, PngImagePlugin

from batchui.pictures import decoding
from batchui.pictures.problems import NoPicture
from batchui.pictures.scaling import scaled, thumbnail
from tests.pictures.drawing import (
    jpeg_that_claims,
    nearly,
    noise,
    opened,
    plain,
    png_that_claims,
    quarters,
    stored,
    webp_that_claims,
)

RED, WHITE = (254, 0, 0), (255, 255, 255)


def problem_of(content: bytes) -> str:
    with pytest.raises(NoPicture) as raised:
        scaled(content)
    assert not raised.value.passes
    return str(raised.value)


@pytest.mark.parametrize(
    ("orientation", "size", "red"),
    [
        (1, (40, 20), (5, 5)),
        (2, (40, 20), (35, 5)),
        (3, (40, 20), (35, 15)),
        (4, (40, 20), (5, 15)),
        (5, (20, 40), (5, 5)),
        (6, (20, 40), (15, 5)),
        (7, (20, 40), (15, 35)),
        (8, (20, 40), (5, 35)),
        (9, (40, 20), (5, 5)),
    ],
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_a_picture_is_turned_as_the_camera_was_held(
    kind: str, orientation: int, size: tuple[int, int], red: tuple[int, int]
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    upright = opened(scaled(stored(quarters(), kind, exif=exif)))
    assert upright.size == size
    corners = [(5, 5), (size[0] - 5, 5), (5, size[1] - 5), (size[0] - 5, size[1] - 5)]
    assert [at for at in corners if nearly(upright.getpixel(at), RED, 40)] == [red]


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_nothing_that_a_camera_wrote_is_left(kind: str) -> None:
    exif = Image.Exif()
    exif[0x010F] = "Maker-of-it"
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[2] = (52.0, 31.0, 12.0)
    beside = {"exif": exif, "icc_profile": b"Profile-of-it" * 9, "xmp": b"<x>Xmp-of-it</x>"}
    if kind == "PNG":
        text = PngImagePlugin.PngInfo()
        text.add_text("Comment", "Comment-of-it")
        del beside["xmp"]
        beside["pnginfo"] = text
    if kind == "JPEG":
        beside["comment"] = b"Comment-of-it"
    content = stored(plain(64, 64), kind, **beside)
    assert b"-of-it" in content
    for small in (scaled(content), thumbnail(content)):
        assert b"-of-it" not in small
        assert not opened(small).getexif()
        assert set(opened(small).info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


def see_through(mode: str) -> Image.Image:
    image = Image.new("RGBA", (8, 4), (0, 0, 0, 0))
    image.paste((254, 0, 0, 255), (0, 0, 4, 4))
    return image.convert(mode)


@pytest.mark.parametrize(("mode", "kind"), [("RGBA", "PNG"), ("P", "PNG"), ("RGBA", "WEBP")])
def test_what_is_transparent_becomes_white(mode: str, kind: str) -> None:
    options = {"lossless": True} if kind == "WEBP" else {}
    image = see_through("RGBA")
    if mode == "P":
        image = image.quantize(4)
    small = opened(scaled(stored(image, kind, **options)))
    assert nearly(small.getpixel((0, 0)), RED)
    assert nearly(small.getpixel((7, 0)), WHITE)


def test_what_is_grey_and_transparent_becomes_white() -> None:
    image = Image.new("LA", (2, 1), (0, 0))
    image.putpixel((0, 0), (77, 255))
    small = opened(scaled(stored(image, "PNG")))
    assert [small.getpixel((x, 0)) for x in (0, 1)] == [(77, 77, 77), WHITE]


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_a_colour_that_counts_as_transparent_becomes_white(mode: str) -> None:
    image = Image.new(mode, (2, 1))
    image.putpixel((1, 0), (9, 9, 9) if mode == "RGB" else 9)
    key = (0, 0, 0) if mode == "RGB" else 0
    small = opened(scaled(stored(image, "PNG", transparency=key))).convert("RGB")
    assert [small.getpixel((x, 0)) for x in (0, 1)] == [WHITE, (9, 9, 9)]


def test_half_transparent_is_half_white() -> None:
    image = Image.new("RGBA", (2, 2), (0, 0, 0, 128))
    assert nearly(opened(scaled(stored(image, "PNG"))).getpixel((0, 0)), (127, 127, 127), 2)


def test_colours_for_printing_are_understood() -> None:
    image = Image.new("CMYK", (2000, 10), (0, 255, 255, 0))
    assert nearly(opened(scaled(stored(image, "JPEG"))).getpixel((0, 0)), (255, 0, 0), 12)


@pytest.mark.parametrize("mode", ["I;16", "I;16B"])
@pytest.mark.parametrize("width", [2, 2048])
def test_points_of_16_bits_keep_their_brightness(mode: str, width: int) -> None:
    image = Image.new(mode, (width, 1), 0x8000)
    small = opened(scaled(stored(image, "TIFF")))
    assert small.mode == "L"
    assert nearly([small.getpixel((0, 0))], (128,), 0)


@pytest.mark.parametrize("mode", ["I", "F"])
def test_points_of_32_bits_are_told(mode: str) -> None:
    assert "has 32 bits" in problem_of(stored(Image.new(mode, (2, 2)), "TIFF"))


def test_black_and_white_and_palettes_are_understood() -> None:
    black = Image.new("1", (2000, 2), 0)
    assert opened(scaled(stored(black, "PNG"))).mode == "L"
    drawn = opened(scaled(stored(quarters().quantize(4), "PNG")))
    assert drawn.mode == "RGB"
    assert nearly(drawn.getpixel((5, 5)), RED)
    palette = plain(2000, 2).convert("P")
    assert nearly(opened(scaled(stored(palette, "GIF"))).getpixel((0, 0)), RED)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "TIFF", "MPO"])
def test_of_several_pictures_the_first_is_taken(kind: str) -> None:
    content = stored(plain(20, 10), kind, save_all=True, append_images=[plain(20, 10, "blue")])
    small = opened(scaled(content)).convert("RGB")
    assert small.size == (20, 10)
    assert nearly(small.getpixel((5, 5)), RED)


@pytest.mark.parametrize("kind", ["JPEG", "MPO"])
def test_a_photo_is_made_smaller_while_it_is_read(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An eighth of each side is held; a PNG of this size would be refused."""
    monkeypatch.setattr(decoding, "MOST_POINTS", 1024 * 512 * 2)
    photo = plain(8192, 2048)
    assert opened(scaled(stored(photo, kind, **_two(kind)))).size == (1024, 256)
    assert "This picture has 8,192 × 2,048 points, and that is too large" in problem_of(
        stored(photo, "PNG")
    )


def _two(kind: str) -> dict[str, object]:
    """What makes a file of several pictures of an MPO; one alone is a plain JPEG."""
    return {"save_all": True, "append_images": [plain(9, 9)]} if kind == "MPO" else {}


def test_a_photo_that_comes_in_passes_is_held_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MOST_POINTS_HELD", 2000 * 100)
    content = stored(plain(2000, 100), "JPEG", progressive=True)
    assert opened(scaled(content)).size == (1024, 51)
    content = stored(plain(2000, 101), "JPEG", progressive=True)
    assert "2,000 × 101 points" in problem_of(content)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (png_that_claims(8000, 5001), "8,000 × 5,001 points"),
        (png_that_claims(20_000, 20_000), "more than 250 million points"),
        (png_that_claims(40_000, 40_000), "more than 250 million points"),
        (jpeg_that_claims(65_000, 3847), "more than 250 million points"),
        (jpeg_that_claims(8000, 7501, progressive=True), "8,000 × 7,501 points"),
        (webp_that_claims(4000, 4001), "4,000 × 4,001 points"),
        (webp_that_claims(20_000, 20_000), "more than 250 million points"),
        (webp_that_claims(60_000, 60_000), "more than 250 million points"),
    ],
)
def test_a_picture_that_would_fill_the_memory_is_refused(content: bytes, told: str) -> None:
    sentence = problem_of(content)
    assert sentence.startswith(f"This picture has {told}, and that is too large to be read.")
    most = 16 if "4,001" in told else 40
    assert sentence.endswith(f"Make it smaller: {most} million points at most.")


@pytest.mark.parametrize(
    "content",
    [png_that_claims(40_000_000, 1), png_that_claims(8000, 5000)],
)
def test_a_picture_of_40_million_points_is_read(content: bytes) -> None:
    """And its few bytes are not enough for it."""
    assert "is damaged or was not copied whole" in problem_of(content)


def test_a_photo_of_almost_250_million_points_is_read() -> None:
    """What is missing after the end of a JPEG is grey."""
    assert opened(thumbnail(jpeg_that_claims(65_000, 3846))).size == (320, 19)
    assert opened(thumbnail(jpeg_that_claims(8000, 7500, progressive=True))).size == (320, 300)


def test_a_webp_of_16_million_points_is_read() -> None:
    assert opened(thumbnail(webp_that_claims(4000, 4000))).size == (320, 320)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF"])
def test_a_picture_that_was_not_copied_whole_is_told(kind: str) -> None:
    content = stored(noise(40, 40), kind)
    sentence = problem_of(content[: len(content) // 2])
    assert sentence.startswith("This picture is damaged or was not copied whole. Copy or download")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "The picture has no bytes."),
        (b"hello", "This is no picture of a kind that can be read. Save it as JPEG or PNG."),
        (b"\xef\xbb\xbf\n <!DOCTYPE html><title>Sign in", "This is a web page and no picture"),
        (b"<HTML lang=en>", "web page"),
        (b"<!-- x --><html>", "web page"),
        (b"<head>", "web page"),
        (b"<body>", "web page"),
        (b"the word <html> in a text", "no picture of a kind"),
        (b"<htmlx>", "no picture of a kind"),
        (
            b'<?xml version="1.0"?><svg xmlns="x">',
            "This is an SVG drawing. Save it as JPEG or PNG.",
        ),
        (b"a <svg>", "no picture of a kind"),
        (b"%PDF-1.7", "This is a PDF document."),
        (b"x%PDF-1.7", "no picture of a kind"),
        (
            b"\0\0\0\x18ftypheic\0\0",
            "This is a HEIC picture, which cannot be read. Save it as JPEG.",
        ),
        (b"\n\n\n\x18ftypmif1\0\0", "HEIC"),
        (b"\0\0\0\x18ftyphevc\0\0", "HEIC"),
        (stored(noise(9, 9), "AVIF")[:200], "This AVIF picture is damaged"),
        (b"\0\0\0\x18ftypisom\0\0", "This is a film."),
        (b" " * 1025 + b"<html>", "no picture of a kind"),
    ],
)
def test_what_is_no_picture_is_told(content: bytes, told: str) -> None:
    assert told in problem_of(content)


@pytest.mark.parametrize("kind", ["EPS", "PPM", "ICO", "TGA", "PCX", "JPEG2000", "PDF"])
def test_other_kinds_that_pillow_reads_are_not(kind: str) -> None:
    told = problem_of(stored(plain(16, 16), kind))
    assert "no picture of a kind" in told or "PDF" in told


def test_one_picture_at_a_time_is_decoded() -> None:
    content, done = stored(plain(9, 9), "PNG"), threading.Event()

    def scale() -> None:
        scaled(content)
        done.set()

    thread = threading.Thread(target=scale)
    with decoding.ONE_AT_A_TIME:
        thread.start()
        assert not done.wait(0.2)
    assert done.wait(10)
    thread.join()


def test_a_lack_of_memory_is_no_fault_of_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Image, "open", no_memory)
    with pytest.raises(MemoryError):
        scaled(b"x")
    assert not decoding.ONE_AT_A_TIME.locked()


def test_bytes_after_a_picture_do_not_matter() -> None:
    assert opened(scaled(stored(plain(9, 9), "JPEG") + b"\0" * 99)).size == (9, 9)
