"""How small a picture becomes, and as what it is stored."""

import pytest
from PIL import Image

from batchui.pictures import scaling
from batchui.pictures.scaling import LARGEST, LONGEST_SIDE, media_type, scaled, thumbnail
from tests.pictures.drawing import nearly, noise, opened, plain, stored


def test_the_bounds_are_those_that_requests_count_on() -> None:
    assert (LONGEST_SIDE, LARGEST) == (1024, 120_000)


@pytest.mark.parametrize(
    ("size", "becomes"),
    [
        ((2048, 1000), (1024, 500)),
        ((300, 3072), (100, 1024)),
        ((1024, 1024), (1024, 1024)),
        ((1025, 10), (1024, 10)),
        ((9000, 1), (1024, 1)),
        ((1, 9000), (1, 1024)),
        ((7, 5), (7, 5)),
    ],
)
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_the_longest_side_is_at_most_1024_and_nothing_becomes_larger(
    kind: str, size: tuple[int, int], becomes: tuple[int, int]
) -> None:
    small = opened(scaled(stored(plain(*size), kind)))
    assert small.size == becomes
    assert nearly(small.getpixel((0, 0)), (254, 0, 0))


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP"])
def test_what_was_stored_without_loss_stays_exact_if_it_is_small_enough(kind: str) -> None:
    image = plain(300, 200)
    image.paste("blue", (10, 10, 11, 11))
    content = scaled(stored(image, kind))
    assert media_type(content) == "image/png"
    assert opened(content).tobytes() == image.tobytes()


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "TIFF", "AVIF"])
def test_a_photo_becomes_a_jpeg(kind: str) -> None:
    content = scaled(stored(plain(30, 20), kind))
    assert media_type(content) == "image/jpeg"
    assert opened(content).format == "JPEG"


def test_a_png_of_exactly_the_largest_size_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    content = scaled(stored(noise(100, 100), "PNG"))
    monkeypatch.setattr(scaling, "LARGEST", len(content))
    assert scaled(content) == content
    monkeypatch.setattr(scaling, "LARGEST", len(content) - 1)
    assert media_type(scaled(content)) == "image/jpeg"


def test_a_jpeg_is_as_good_as_the_largest_size_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    image = noise(100, 100)
    photo = stored(image, "JPEG", quality=100, subsampling=0)
    plain_copy = opened(photo)
    sizes = {
        quality: len(stored(plain_copy, "JPEG", quality=quality, optimize=True))
        for quality in (85, 75, 60, 45)
    }
    assert len(scaled(photo)) == sizes[85]
    for better, quality in ((85, 75), (75, 60), (60, 45)):
        monkeypatch.setattr(scaling, "LARGEST", sizes[better] - 1)
        assert len(scaled(photo)) == sizes[quality]
        assert opened(scaled(photo)).size == (100, 100)
        monkeypatch.setattr(scaling, "LARGEST", sizes[quality])
        assert len(scaled(photo)) == sizes[quality]
    monkeypatch.setattr(scaling, "LARGEST", sizes[45] - 1)
    assert opened(scaled(photo)).size == (75, 75)
    assert len(scaled(photo)) < sizes[45]


@pytest.mark.parametrize("size", [(1, 4000), (4000, 1)])
def test_a_line_that_is_too_large_becomes_shorter(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(scaling, "LARGEST", 900)
    small = scaled(stored(noise(*size), "JPEG"))
    assert len(small) <= 900
    assert min(opened(small).size) == 1


def test_even_noise_of_all_sizes_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    content = scaled(stored(noise(1024, 1024), "BMP"))
    assert len(content) <= LARGEST
    assert min(opened(content).size) > 300
    # Once more changes nothing about the bounds.
    assert len(scaled(content)) <= LARGEST


def test_a_thumbnail_is_a_small_jpeg() -> None:
    content = scaled(stored(plain(2000, 1000), "PNG"))
    small = opened(thumbnail(content))
    assert (small.format, small.size) == ("JPEG", (320, 160))
    assert opened(thumbnail(content, side=50)).size == (50, 25)
    assert opened(thumbnail(stored(plain(20, 10), "GIF"))).size == (20, 10)


def test_a_thumbnail_weighs_little() -> None:
    image = noise(320, 320)
    assert thumbnail(stored(image, "BMP")) == stored(image, "JPEG", quality=80, optimize=True)


def test_grey_stays_grey() -> None:
    assert opened(scaled(stored(Image.new("L", (9, 9), 77), "PNG"))).mode == "L"
