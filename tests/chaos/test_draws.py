"""The same seed draws the same; what is drawn can be used."""

import io
import json
import zipfile

from batchui.chaos.draws import FAULTS, Draws, File, chosen, mark_of
from batchui.pictures.scaling import scaled
from batchui.sandbox.scripted_faults import read_steps


def everything(seed: int) -> list[object]:
    draws = Draws(seed)
    return [
        *(draws.file() for _ in range(5)),
        *(draws.faults() for _ in range(20)),
        *(draws.one_of({"a": 1.0, "b": 2.0}) for _ in range(20)),
        *(draws.number(1, 1000) for _ in range(20)),
        *(draws.chance(0.5) for _ in range(20)),
        *(draws.share(), draws.seed()),
    ]


def test_the_same_seed_draws_the_same_and_another_one_does_not() -> None:
    assert everything(7) == everything(7)
    assert everything(7) != everything(8)


def test_the_sandbox_understands_every_fault() -> None:
    steps = [dict(fault) for _, fault in FAULTS]
    assert len(read_steps(json.dumps(steps).encode())) == len(FAULTS)


def test_numbers_stay_in_their_range() -> None:
    draws = Draws(1)
    numbers = [draws.number(3, 120) for _ in range(500)]
    assert min(numbers) >= 3
    assert max(numbers) <= 120
    assert sorted(numbers)[250] < 40  # half of them are small


def drawn(*, sees: bool) -> File:
    """A file with pictures, or without."""
    return next(one for one in iter(Draws(3).file, None) if one.ask.shows_pictures is sees)


def test_rows_may_have_pictures() -> None:
    file = drawn(sees=True)
    with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
        table, photo = archive.namelist()
        assert scaled(archive.read(photo)).startswith(b"\x89PNG")
        lines = archive.read(table).decode().splitlines()
    assert (table, lines[0]) == (file.name.replace(".zip", ".csv"), "id,text,photo")
    named = {line.rpartition(",")[2] for line in lines[1:]}
    assert photo in named <= {photo, "lost.png"}


def test_every_row_of_a_file_has_a_text_of_its_own() -> None:
    file = drawn(sees=False)
    lines = file.content.decode().splitlines()
    assert lines[0] == "id,text"
    assert len(lines) == file.rows + 1
    for row, line in enumerate(lines[1:], 2):
        mark = mark_of(file.name.removesuffix(".csv"), row)
        assert line == f"{row},{mark} of the file"
        assert [mark in other for other in lines].count(True) == 1


def test_a_share_chooses_among_what_there_is() -> None:
    assert chosen([], 0.5) is None
    assert chosen(["a", "b"], 0.49) == "a"
    assert chosen(["a", "b"], 0.99) == "b"
