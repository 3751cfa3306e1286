"""Where a conversion writes, and what it says meanwhile."""

from pathlib import Path

import pytest

from batchui.prompts.conversion import outputs
from batchui.prompts.conversion.converted import (
    Jsonl,
    Message,
    Progress,
    Sheet,
    Text,
    open_lines,
)
from batchui.prompts.conversion.outputs import Output
from batchui.prompts.problems import BadInput


def output(folder: Path, news: list[Progress], most_bytes: int = 10) -> Output:
    return Output(folder, most_bytes=most_bytes, tell=news.append)


def test_all_files_together_have_a_limit(tmp_path: Path) -> None:
    out = output(tmp_path, [])
    with out.file("a") as write:
        write(b"1234")
        write(b"56")
    with out.file("b") as write:
        write(b"7890")
        with pytest.raises(BadInput, match=r"^Unpacked, this file is larger than 0 MB, too large"):
            write(b"1")
    assert open_lines(tmp_path / "a").read() == b"123456"
    assert open_lines(tmp_path / "b").read() == b"7890"


def test_the_first_news_come_at_once_and_the_next_only_after_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "SECONDS_BETWEEN_NEWS", 3600)
    news: list[Progress] = []
    out = output(tmp_path, news)
    out.progress(1, 9)
    out.progress(2, 9)
    out.progress(3, 9, "Sheet", now=True)
    out.progress(4, 9)
    assert news == [Progress(1, 9), Progress(3, 9, "Sheet")]


def test_news_come_again_after_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "SECONDS_BETWEEN_NEWS", 0)
    news: list[Progress] = []
    out = output(tmp_path, news)
    out.progress(1, 9)
    out.progress(2, 9)
    assert news == [Progress(1, 9), Progress(2, 9)]


@pytest.mark.parametrize("result", [Text("a", "b"), Jsonl("a", 1), (Sheet("a", "b", 1, 1),), None])
def test_a_message_says_what_the_file_was_turned_into(result: object) -> None:
    kinds = {Text: "text", Jsonl: "jsonl", tuple: "sheets", type(None): "problem"}
    message = Message(**{kinds[type(result)]: result})  # type: ignore[arg-type]
    assert message.result == result
