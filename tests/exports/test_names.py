"""Names of added columns and downloaded files."""

from datetime import date

import pytest

from batchui.exports.names import added_columns, download_name


@pytest.mark.parametrize(
    ("columns", "added"),
    [
        (["id"], ("answer", "status", "error")),
        (["answer", "status", "error"], ("answer_2", "status_2", "error_2")),
        (["answer", "answer_2", "Error "], ("answer_3", "status", "error_2")),
    ],
)
def test_added_columns_never_share_a_name_with_the_file(
    columns: list[str], added: tuple[str, str, str]
) -> None:
    assert added_columns(columns) == added


def test_the_column_of_answers_can_have_any_name() -> None:
    assert added_columns(["id"], answer="mood") == ("mood", "status", "error")
    assert added_columns(["Mood"], answer="mood") == ("mood_2", "status", "error")
    assert added_columns([], answer="Status") == ("Status", "status_2", "error")


DAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("batch", "ending", "name"),
    [
        ("Hotel reviews, May", "xlsx", "Hotel reviews, May 2026-11-22.xlsx"),
        ("Umfrage März (2)", "plain.csv", "Umfrage März (2) 2026-11-22.plain.csv"),
        ("हिन्दी समीक्षा", "csv", "हिन्दी समीक्षा 2026-11-22.csv"),
        ("Ma\u0308rz", "csv", "März 2026-11-22.csv"),
        ("C:\\Users\\ann", "csv", "C-Users-ann 2026-11-22.csv"),
        ("../../etc/passwd", "csv", "etc-passwd 2026-11-22.csv"),
        ('a"b\r\nX-Evil: <1>|?*', "csv", "a-b-X-Evil- -1 2026-11-22.csv"),
        ("a\u202egpj.exe \u200b\ud83d\u2028b\u2029c", "csv", "a-gpj.exe -b-c 2026-11-22.csv"),
        ("می\u200cخواهم 😀", "csv", "می\u200cخواهم 😀 2026-11-22.csv"),
        ("tab\u00a0and  blanks", "csv", "tab and blanks 2026-11-22.csv"),
        ("-.X-rays.-", "csv", "X-rays 2026-11-22.csv"),
        ("con", "csv", "_con 2026-11-22.csv"),
        ("LPT1 .x", "csv", "_LPT1 .x 2026-11-22.csv"),
        ("console", "csv", "console 2026-11-22.csv"),
        ("", "csv", "batch 2026-11-22.csv"),
        ("...", "csv", "batch 2026-11-22.csv"),
    ],
)
def test_a_download_is_called_after_the_batch_and_the_day(
    batch: str, ending: str, name: str
) -> None:
    assert download_name(batch, DAY, ending) == name


def test_a_name_has_at_most_100_characters_and_240_bytes() -> None:
    assert download_name("x" * 500, DAY, "csv") == "x" * 85 + " 2026-11-22.csv"
    assert download_name("x" * 84 + ". more", DAY, "csv") == "x" * 84 + " 2026-11-22.csv"
    assert download_name("con." + "x" * 96, DAY, "csv") == "_con." + "x" * 80 + " 2026-11-22.csv"
    assert download_name("😀" * 500, DAY, "csv") == "😀" * 56 + " 2026-11-22.csv"
