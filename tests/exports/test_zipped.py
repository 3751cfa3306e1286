"""A zip of one file, made while the file is."""

import io
import itertools
import random
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime

import pytest

from batchui.exports.zipped import LEVEL, zip_chunks

MADE = datetime(2026, 11, 22, 16, 30, 8)  # noqa: DTZ001
NAME = "März 2026-11-22.csv"


def test_the_file_comes_out_again_with_its_name_and_date() -> None:
    content = [b"a,b\r\n", b"", b"1,2\r\n" * 100_000]
    made = b"".join(zip_chunks(content, NAME, made=MADE))
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        [info] = archive.infolist()
        assert archive.testzip() is None
        assert archive.read(NAME) == b"".join(content)
        assert info.date_time == (2026, 11, 22, 16, 30, 8)
        assert info.external_attr >> 16 == 0o644
        assert info.extract_version == zipfile.ZIP64_VERSION, "the file may become larger than 4 GB"
    assert len(made) < 5_000


def test_it_is_compressed_as_every_file_of_ours() -> None:
    content = bytes(random.Random(1).choices(b"abcdef \n", k=100_000))
    made = b"".join(zip_chunks([content], NAME, made=MADE))
    engine = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    [info] = zipfile.ZipFile(io.BytesIO(made)).infolist()
    assert info.compress_size == len(engine.compress(content) + engine.flush())


def test_a_file_without_content_is_a_file() -> None:
    made = b"".join(zip_chunks([], NAME, made=MADE))
    assert zipfile.ZipFile(io.BytesIO(made)).read(NAME) == b""


def test_nothing_is_gathered() -> None:
    dice = random.Random(1)
    taken = 0

    def chunks() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield dice.randbytes(65_536)

    for piece in itertools.islice(zip_chunks(chunks(), NAME, made=MADE), 10):
        assert len(piece) < 200_000
    assert taken <= 15


def test_what_breaks_off_is_never_a_whole_zip() -> None:
    def chunks() -> Iterator[bytes]:
        yield b"x" * 1_000_000
        raise OSError("gone")

    sent = []
    with pytest.raises(OSError, match="gone"):
        sent.extend(zip_chunks(chunks(), NAME, made=MADE))
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(io.BytesIO(b"".join(sent)))
