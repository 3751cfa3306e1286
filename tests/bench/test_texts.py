"""The texts of the bench: no one like another, and no easier to compress than English."""

import csv
from itertools import islice
from pathlib import Path

import pytest
import zstandard

from batchui.bench.question import question
from batchui.bench.texts import Answers, sentences, write_reviews

PART = 5_000


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "reviews.csv"
    write_reviews(path, PART)
    return path


@pytest.fixture(scope="module")
def texts(file: Path) -> list[str]:
    with file.open(newline="", encoding="utf-8") as opened:
        return [row[-1] for row in csv.reader(opened)][1:]


@pytest.fixture(scope="module")
def answered(texts: list[str], answers: Answers) -> list[str]:
    return [answers.to(question(text)) for text in texts]


def ratio(texts: list[str], *, level: int = 1) -> float:
    joined = "\n".join(texts).encode()
    return len(joined) / len(zstandard.ZstdCompressor(level).compress(joined))


def mean_bytes(texts: list[str]) -> float:
    return sum(len(text.encode()) for text in texts) / len(texts)


def test_a_file_is_the_same_each_time_it_is_written(file: Path, tmp_path: Path) -> None:
    write_reviews(tmp_path / "again.csv", PART)
    assert (tmp_path / "again.csv").read_bytes() == file.read_bytes()


def test_no_review_is_like_another(texts: list[str]) -> None:
    assert len(texts) == len(set(texts)) == PART


def test_no_answer_is_like_another(answered: list[str]) -> None:
    assert len(set(answered)) == PART


def test_an_answer_depends_on_its_question_alone(texts: list[str], answers: Answers) -> None:
    first = answers.to(question(texts[0]))
    assert Answers().to(question(texts[0])) == first
    assert answers.to(question(texts[0]) + " ") != first


def test_reviews_have_about_200_bytes_and_answers_300(
    texts: list[str], answered: list[str]
) -> None:
    assert 170 < mean_bytes(texts) < 230
    assert 270 < mean_bytes(answered) < 330


def test_texts_compress_about_as_english_does(texts: list[str], answered: list[str]) -> None:
    # A novel 2.4 times, the GPL 2.7, the manual of vim 2.8.
    assert 2.2 < ratio(texts) < 2.8
    assert 2.2 < ratio(answered) < 2.8


@pytest.mark.parametrize("level", [1, 3])
def test_answers_from_a_pool_compress_as_fresh_ones_would(answered: list[str], level: int) -> None:
    stream = sentences(99)
    fresh = [" ".join(islice(stream, 4)) for _ in range(PART)]
    assert ratio(answered, level=level) < 1.05 * ratio(fresh, level=level)


def test_some_texts_hold_what_has_to_be_quoted_or_encoded(
    texts: list[str], answered: list[str]
) -> None:
    for those in (texts, answered):
        for mark, least, most in (('"', 0.02, 0.2), ("\n", 0.01, 0.1), (",", 0.6, 1.0)):
            assert least < sum(mark in text for text in those) / PART < most, mark
        assert 0.02 < sum(not text.isascii() for text in those) / PART < 0.2
