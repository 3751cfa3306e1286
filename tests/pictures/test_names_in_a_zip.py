"""Which picture of a zip a cell means."""

import io
import unicodedata
import zipfile

import pytest

from batchui.pictures.packed import PackedPictures
from batchui.pictures.problems import NoPicture
from tests.pictures.test_packed import pictures, zipped


def meant(cell: str, *names: str) -> str:
    return pictures(zipped(*names, content=b"")).find(cell).decode()


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("photos/Summer/a.jpg", "photos/Summer/a.jpg"),
        ("photos\\Summer\\a.jpg", "photos/Summer/a.jpg"),
        ("./photos/Summer/a.jpg", "photos/Summer/a.jpg"),
        (".\\photos\\Summer\\a.jpg", "photos/Summer/a.jpg"),
        ("/photos/Summer/a.jpg", "photos/Summer/a.jpg"),
        ("//photos//Summer/a.jpg", "photos/Summer/a.jpg"),
        (" photos/Summer/a.jpg\n", "photos/Summer/a.jpg"),
        ("PHOTOS/summer/A.JPG", "photos/Summer/a.jpg"),
        ("photos/Summer/a", "photos/Summer/a.jpg"),
        ("Summer/a.jpg", "photos/Summer/a.jpg"),
        ("summer\\A", "photos/Summer/a.jpg"),
        ("a.jpg", "photos/Summer/a.jpg"),
        ("A", "photos/Summer/a.jpg"),
        ("b.c", "b.c.png"),
        ("back.jpg", "x\\back.jpg"),
        ("dot.jpg", "./dot.jpg"),
        ("straße.jpg", "STRASSE.jpg"),
    ],
)
def test_a_cell_may_write_a_name_in_many_ways(cell: str, name: str) -> None:
    others = ("photos/b.jpg", "b.c.png", "x\\back.jpg", "./dot.jpg", "STRASSE.jpg", "aa.jpg")
    assert meant(cell, "photos/Summer/a.jpg", *others) == name


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("other", ["NFC", "NFD"])
def test_letters_with_dots_are_alike_however_they_are_stored(form: str, other: str) -> None:
    name = unicodedata.normalize(form, "x/Größe Ünter.jpg")
    assert meant(unicodedata.normalize(other, "größe ünter.jpg"), name) == name


def test_the_nearest_way_to_write_it_counts() -> None:
    names = ("x/a.jpg", "a.jpg", "A.jpg", "a.jpg.png", "a/a.png")
    assert meant("a.jpg", *names) == "a.jpg"
    assert meant("A.jpg", *names) == "A.jpg"
    assert meant("X/A.JPG", *names) == "x/a.jpg"
    # The whole path goes before its last part, and a name with its ending before one without.
    assert meant("b.jpg", "x/b.jpg", "B.JPG", "b.jpg.png") == "B.JPG"
    assert meant("b.jpg", "b.jpg.png", "x/b.jpg") == "x/b.jpg"


@pytest.mark.parametrize(
    ("cell", "names", "told"),
    [
        ("a.jpg", ("x/a.jpg", "y/a.jpg"), "“x/a.jpg” and “y/a.jpg”"),
        ("a", ("a.jpg", "a.png"), "“a.jpg” and “a.png”"),
        ("a.Jpg", ("a.jpg", "A.JPG", "x/a.jpg"), "“a.jpg” and “A.JPG”"),
    ],
)
def test_a_cell_that_may_mean_several_is_told(cell: str, names: tuple[str, ...], told: str) -> None:
    with pytest.raises(NoPicture) as raised:
        meant(cell, *names)
    assert str(raised.value) == (
        f"The zip has 2 pictures that “{cell}” may mean: {told}. Put the whole path of one in the "
        "cell."
    )


@pytest.mark.parametrize("cell", ["c.jpg", "y/a.jpg", "bsummer/a.jpg", "/", "", "a.jp", "a.jpg/x"])
def test_a_cell_that_means_none_is_told(cell: str) -> None:
    with pytest.raises(NoPicture) as raised:
        meant(cell, "summer/a.jpg")
    assert str(raised.value).startswith(f"The zip has no picture called “{cell}”. ")
    assert not raised.value.passes


def told_of(cell: str, *names: str) -> str:
    with pytest.raises(NoPicture) as raised:
        meant(cell, *names)
    return str(raised.value).partition("”. ")[2]


def test_a_name_that_is_nearly_the_same_is_offered() -> None:
    many = [f"{number:05}.jpg" for number in range(3000)]
    ending = " Correct the cell, or pack the zip again with this picture in it."
    assert told_of("x/Kitchen1.jpg", *many, "Y/kitchen.jpg") == (
        f"Perhaps “Y/kitchen.jpg” is meant.{ending}"
    )
    assert told_of("00000.png", *many) == f"Perhaps “00000.jpg” is meant.{ending}"
    assert told_of("02999.png", *many) == f"Perhaps “02999.jpg” is meant.{ending}"


def test_else_the_first_names_are_told() -> None:
    ending = " Correct the cell, or pack the zip again with this picture in it."
    assert told_of("zzz", "a.jpg") == f"It has “a.jpg”.{ending}"
    assert (
        told_of("zzz", "a.jpg", "b.jpg", "c.jpg") == f"It has “a.jpg”, “b.jpg” and “c.jpg”.{ending}"
    )
    assert told_of("zzz", "d.jpg", "a.jpg", "b.jpg", "c.jpg") == (
        f"It has “d.jpg”, “a.jpg” and “b.jpg”, among others.{ending}"
    )


def named(name: bytes, flags: int) -> PackedPictures:
    """The pictures of a zip whose one member has these bytes for a name."""
    stand_in = "n" * len(name)
    content = bytearray(zipped(stand_in).replace(stand_in.encode(), name))
    for at in (6, content.rindex(b"PK\x01\x02") + 8):
        content[at : at + 2] = flags.to_bytes(2, "little")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist()
    return PackedPictures(io.BytesIO(content))


def test_a_name_in_utf_8_is_read_whether_the_zip_says_so_or_not() -> None:
    assert named("Größe.jpg".encode(), 0x800).names == ("Größe.jpg",)
    # As macOS writes it.
    assert named("Größe.jpg".encode(), 0).names == ("Größe.jpg",)
    assert named("Größe.jpg".encode(), 0).find("größe.jpg")


def test_a_name_in_the_code_page_of_dos_is_read() -> None:
    assert named("Größe.jpg".encode("cp437"), 0).names == ("Größe.jpg",)


def test_a_name_that_the_zip_says_is_utf_8_is_not_read_twice() -> None:
    assert named("Ã¼├╝.jpg".encode(), 0x800).names == ("Ã¼├╝.jpg",)
    assert named("├╝.jpg".encode(), 0x800).names == ("├╝.jpg",)
