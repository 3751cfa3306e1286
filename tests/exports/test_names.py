"""Names of added columns and downloaded files."""

import pytest

from batchui.exports.names import answer_columns, download_name


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
    assert answer_columns(columns) == added


@pytest.mark.parametrize(
    ("source", "kind", "name"),
    [
        ("reviews.csv", "csv", "reviews-answers.csv"),
        ("Umfrage März (2).xlsx", "jsonl", "Umfrage März (2)-answers.jsonl"),
        ("C:\\Users\\ann\\rows.txt", "json", "rows-answers.json"),
        ("../../etc/passwd", "csv", "passwd-answers.csv"),
        ('a"b\r\nX-Evil: 1;.csv', "csv", "a-b-X-Evil- 1-answers.csv"),
        (".csv", "csv", "csv-answers.csv"),
        ("", "csv", "batch-answers.csv"),
        ("...", "csv", "batch-answers.csv"),
        ("archive.tar.csv", "csv", "archive.tar-answers.csv"),
        ("x" * 500 + ".csv", "csv", "x" * 100 + "-answers.csv"),
        ("x" * 98 + " - more.csv", "csv", "x" * 98 + "-answers.csv"),
        ("-.X-rays FOR MAX.-.csv", "csv", "X-rays FOR MAX-answers.csv"),
    ],
)
def test_a_download_is_called_after_the_upload(source: str, kind: str, name: str) -> None:
    assert download_name(source, kind) == name
