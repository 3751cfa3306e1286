"""Reviews and answers for the bench: made-up words from a seeded generator, all texts different.

The texts must cost as much as English texts: about 6 bytes a word with its blank, a few common
words and thousands of rare ones (Zipf's law). zstd makes them 2.4 times smaller at level 1 (the GPL
2.7, the manual of vim 2.8 times). Some contain what files have to quote or encode: commas,
quotation marks, line breaks, accents.
"""

import csv
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from zlib import crc32

from batchui.bench.question import COLUMNS

REVIEW_SEED, ANSWER_SEED = 1, 2
COMMON = (
    "the and was a to in of we it is for were very not room but with had our at on staff this that "
    "good breakfast they hotel from so there be as have are one all would friendly clean location "
    "night us only which small just great no stay station nice bed when food well back could"
)
ONSETS = "b d g h j l m n p r s t v w br dr gr pl pr sl sp st tr"
VOWELS = "a a a e e e i i o o u ai ea ee ou"
ENDINGS = ("", "", "n", "r", "l", "s", "m", "nd", "ng")
VOCABULARY = 3_000
# The table has 2 to the power of 16 words, so two random bytes choose a word.
TABLE = 1 << 16
BLOCK = 1 << 15
CITIES = ("Lisbon", "Porto", "Faro", "Madrid", "Seville", "Málaga", "Lyon", "Nantes", "Zürich")
# The number of sentences for answers. It is so large that a compressor seldom finds the same one
# again in the data that it remembers (see `tests/bench/test_texts.py`).
POOL = 1 << 18


def sentences(seed: int) -> Iterator[str]:
    """Endless sentences of about 75 bytes, always the same for the same seed."""
    pick = random.Random(seed)  # noqa: S311
    table = _table()
    while True:
        words = list(map(table.__getitem__, memoryview(pick.randbytes(2 * BLOCK)).cast("H")))
        start = 0
        while start + 17 <= BLOCK:
            end = start + pick.randrange(7, 18)
            sentence = " ".join(words[start:end]).rstrip(",\n")
            yield f"{sentence[0].upper()}{sentence[1:]}."
            start = end


def write_reviews(path: Path, rows: int) -> None:
    """Write a CSV file of `rows` reviews of about 200 bytes, the same for the same `rows`."""
    pick = random.Random(REVIEW_SEED)  # noqa: S311
    stream = sentences(REVIEW_SEED)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number in range(1, rows + 1):
            review = " ".join(islice(stream, pick.randrange(1, 5)))
            writer.writerow((number, pick.choice(CITIES), review))


def answer_sentences() -> list[str]:
    """The sentences that answers are made of."""
    return list(islice(sentences(ANSWER_SEED), POOL))


def answer_places(question: str) -> tuple[int, int]:
    """The positions of the first and the third sentence of an answer in `answer_sentences()`.

    The second and the fourth sentence follow them.
    """
    chance = crc32(question.encode())
    return chance % (POOL - 1), (chance >> 14) % (POOL - 1)


class Answers:
    """The answers of the imitation of the API. They depend only on the question."""

    def __init__(self) -> None:
        self._sentences = answer_sentences()

    def to(self, question: str) -> str:
        """The answer: four sentences, of about 300 bytes together."""
        first, third = answer_places(question)
        found = self._sentences
        return " ".join((*found[first : first + 2], *found[third : third + 2]))


def _table() -> list[str]:
    """TABLE words, with frequencies by Zipf's law; a few with commas, quotation marks, line breaks
    or accents."""
    pick = random.Random(0)  # noqa: S311
    vocabulary = _vocabulary(pick)
    weights = [1 / (place + 2.7) for place in range(VOCABULARY)]
    chosen = pick.choices(vocabulary, weights, k=TABLE)
    return [_dressed(word, pick.random()) for word in chosen]


def _vocabulary(pick: random.Random) -> list[str]:
    """The common words of English, then made-up ones of one to three syllables."""
    onsets, vowels = ONSETS.split(), VOWELS.split()
    words = dict.fromkeys(COMMON.split())
    while len(words) < VOCABULARY:
        syllables = pick.choice((1, 2, 2, 2, 3))
        parts = [pick.choice(onsets) + pick.choice(vowels) for _ in range(syllables)]
        words.setdefault("".join(parts) + pick.choice(ENDINGS))
    return list(words)


def _dressed(word: str, chance: float) -> str:
    """The word as in a text: of 1,000 words, 80 have a comma, 4 an accent, 2 quotation marks, 1 a
    line break after it. chance: a random number from 0 to 1."""
    if chance < 0.001:
        return f"{word}\n"
    if chance < 0.003:
        return f'"{word}"'
    if chance < 0.007:
        return word.replace("e", "é")
    return f"{word}," if chance < 0.087 else word
