"""Packed files are what is inside them."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from batchui.prompts.conversion.converted import Text
from batchui.prompts.problems import BadInput
from tests.prompts.conversion.conversions import made_of_bytes, workbook

CSV = b"id,text\n1,x\n" * 1000
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
DAMAGED = r"^This packed file is damaged or was not copied whole\. Copy or download it again, or un"


def zipped(**members: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


@pytest.mark.parametrize("ending", PACKERS)
def test_a_packed_table_is_the_table(tmp_path: Path, ending: str) -> None:
    made = made_of_bytes(tmp_path, PACKERS[ending](CSV), f"reviews.csv{ending.upper()}")
    assert made.result == Text("text.zst", "reviews.csv")
    assert made.files == [CSV]


@pytest.mark.parametrize("ending", PACKERS)
def test_several_packed_pieces_are_one_file(tmp_path: Path, ending: str) -> None:
    data = PACKERS[ending](CSV) + PACKERS[ending](b"2,y\n")
    made = made_of_bytes(tmp_path, data, "x.csv" + ending)
    assert made.files == [CSV + b"2,y\n"]


def test_a_packed_file_without_its_ending_keeps_its_name(tmp_path: Path) -> None:
    assert made_of_bytes(tmp_path, gzip.compress(CSV), "x.csv").result == Text("text.zst", "x.csv")


@pytest.mark.parametrize("ending", PACKERS)
def test_a_packed_workbook_is_a_workbook(tmp_path: Path, ending: str) -> None:
    data = workbook(tmp_path / "x.xlsx", [["a"], ["b"]]).read_bytes()
    assert made_of_bytes(tmp_path, PACKERS[ending](data), "x.xlsx" + ending).rows == [["a"], ["b"]]


def test_a_packed_json_document_is_a_json_document(tmp_path: Path) -> None:
    data = b'[{"a": 1}, {"a": 2}]'
    assert made_of_bytes(tmp_path, gzip.compress(data), "x.json.gz").rows == [{"a": 1}, {"a": 2}]


def test_a_zip_with_one_file_is_that_file(tmp_path: Path) -> None:
    data = zipped(**{"folder/x.csv": CSV})
    made = made_of_bytes(tmp_path, data, "all.zip")
    assert made.result == Text("text.zst", "x.csv")
    assert made.files == [CSV]


def test_what_programs_add_to_a_zip_does_not_count(tmp_path: Path) -> None:
    members = {"a/": b"", "a/x.csv": CSV, "__MACOSX/a/._x.csv": b"x", "a/.DS_Store": b"x"}
    members |= {"Thumbs.db": b"x", "a/desktop.ini": b"x"}
    assert made_of_bytes(tmp_path, zipped(**members), "all.zip").files == [CSV]


def test_a_zip_with_a_workbook_in_it(tmp_path: Path) -> None:
    data = workbook(tmp_path / "x.xlsx", [["a"], ["b"]]).read_bytes()
    made = made_of_bytes(tmp_path, zipped(**{"my book.xlsx": data}), "x.zip")
    assert made.rows == [["a"], ["b"]]


def test_a_zip_with_several_files_lists_them(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        made_of_bytes(tmp_path, zipped(**{"a.csv": CSV, "b/b.csv": CSV}), "x.zip")
    assert str(caught.value) == (
        "This ZIP archive has 2 files: “a.csv” and “b/b.csv”. Unpack it, and upload the one that "
        "has your rows."
    )


def test_a_zip_without_a_file(tmp_path: Path) -> None:
    for data in (zipped(), zipped(**{"a/": b"", "__MACOSX/x": b"x"})):
        with pytest.raises(BadInput, match=r"^There is no file in this ZIP archive\. Choose one"):
            made_of_bytes(tmp_path, data, "x.zip")


def test_a_zip_with_a_password(tmp_path: Path) -> None:
    data = bytearray(zipped(**{"x.csv": CSV}))
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(BadInput, match=r"^This ZIP archive is protected by a password\. Unpack it"):
        made_of_bytes(tmp_path, bytes(data), "x.zip")


@pytest.mark.parametrize("ending", PACKERS)
def test_what_is_packed_twice_is_refused(tmp_path: Path, ending: str) -> None:
    for inner in (gzip.compress(CSV), zipped(**{"x.csv": CSV})):
        with pytest.raises(
            BadInput, match=r"^Inside this packed file, “x” is packed, too\. Unpack"
        ):
            made_of_bytes(tmp_path, PACKERS[ending](inner), "x" + ending)


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("keep", [0.5, 0.95])
def test_a_packed_file_that_was_not_copied_whole(tmp_path: Path, ending: str, keep: float) -> None:
    data = PACKERS[ending](CSV + bytes(range(256)) * 20)
    with pytest.raises(BadInput, match=DAMAGED):
        made_of_bytes(tmp_path, data[: int(len(data) * keep)], "x.csv" + ending)


def zstd_frame(window: int, data: bytes) -> bytes:
    """A frame with one block as it is. window: how far back it may refer, as a power of two."""
    block = (len(data) << 3 | 1).to_bytes(3, "little") + data
    return b"\x28\xb5\x2f\xfd\x00" + bytes([(window - 10) << 3]) + block


def test_a_packed_file_may_refer_back_as_far_as_its_own_program_reads_unasked(
    tmp_path: Path,
) -> None:
    assert made_of_bytes(tmp_path, zstd_frame(27, CSV), "x.csv.zst").files == [CSV]
    with pytest.raises(BadInput, match=DAMAGED):
        made_of_bytes(tmp_path, zstd_frame(28, CSV), "x.csv.zst")


def test_a_zip_whose_list_of_names_lies(tmp_path: Path) -> None:
    data = bytearray(zipped(**{"x.csv": CSV}))
    at = data.rfind(b"PK\x01\x02") + 24
    data[at : at + 4] = (100).to_bytes(4, "little")  # the size
    with pytest.raises(BadInput, match=DAMAGED):
        made_of_bytes(tmp_path, bytes(data), "x.zip")


def test_what_is_unpacked_may_not_be_too_large(tmp_path: Path) -> None:
    data = gzip.compress(b"x,y\n" * 500_000)
    assert len(made_of_bytes(tmp_path, data, "x.csv.gz", most_bytes=2_000_000).files[0]) == 2e6
    with pytest.raises(BadInput, match=r"^Unpacked, this file is larger than 1 MB, too large for"):
        made_of_bytes(tmp_path, data, "x.csv.gz", most_bytes=1_999_999)
    book = workbook(tmp_path / "x.xlsx", [["x"]]).read_bytes()
    with pytest.raises(BadInput, match=r"^Unpacked, this file is larger than 0 MB"):
        made_of_bytes(tmp_path, gzip.compress(book), "x.xlsx.gz", most_bytes=len(book))
