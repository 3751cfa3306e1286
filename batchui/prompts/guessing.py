"""Guesses the code page of a text by reading it in each and comparing the results.

Every reading gets a likelihood. The letters of a language speak for it, by how often the language
uses them. A capital within a word, a symbol between letters, or a byte without a meaning speaks
against it.

The library charset-normalizer (3.5.2) was tried first. The test were translations of Django and
django-allauth in 45 languages, 20 sentences a file. The library named the right code page for 60 %
of the files in Windows-1252 and for 85 % of the others. This names it for 99 % of both.
"""

import math
import re
from collections import Counter
from functools import cache

from batchui.prompts.code_pages import CODE_PAGES, LETTERS, Ideographs, Letters

EVIDENCE_BYTES = 4_096  # a guess takes up to 40 ms, whatever the size of the file
CHUNKS_SEARCHED = 32  # from then on, one of so many
CELL = re.compile(rb"[^\r\n\t,;\"]+")
LINE_END = re.compile(rb"[\r\n]")

# Signs used in any language, and those of them that may stand before a word or within one.
SIGNS = frozenset("“”‘’„‚«»–—…•€£§°®™©·¡¿ºª²³½¼¾´¨‹›†×±¥¢µ№\xa0")
BEFORE_A_WORD = frozenset("“‘„‚«¿¡‹–—€£§©•…№·°µ±")
WITHIN_A_WORD = frozenset("’·–—‑´")
WORDS_OF_ONE_LETTER = frozenset("àèéòóíáåöæýê" + "аеиівйкосуєя" + "ηοή" + "و")

# How likely a character of each kind is, as natural logarithms.
ASCII = math.log(1 / 30)
SIGN = math.log(0.02)
FOREIGN_LETTER = math.log(0.0007)
RARE_SYMBOL = math.log(0.0004)
NOTHING = math.log(0.00001)  # undefined, a control character, or for private use
RARE_IDEOGRAPH = math.log(1e-7)
# Added to the logarithm of the character.
ODD = math.log(0.004)
CAPITAL = math.log(0.08)
CAPITAL_AMONG_CAPITALS = math.log(0.6)


class Evidence:
    """The first different cells of a file with bytes beyond ASCII: enough to guess from."""

    def __init__(self) -> None:
        self._cells: dict[bytes, None] = {}
        self._missing = EVIDENCE_BYTES
        self._chunks = 0
        self._at_start = True

    def add(self, chunk: bytes) -> None:
        """Take what is still missing from the next bytes of the file.

        Of a file with the same few cells again and again, only some chunks are searched.
        """
        at_start, self._at_start = self._at_start, False
        if self._missing <= 0 or chunk.isascii():
            return
        self._chunks += 1
        if self._chunks > CHUNKS_SEARCHED and self._chunks % CHUNKS_SEARCHED:
            return
        start = 0 if at_start else _after_first_line(chunk)
        end = len(chunk) if at_start else _after_last_line(chunk)
        for cell in dict.fromkeys(CELL.findall(chunk, start, end)):
            if cell not in self._cells and not cell.isascii():
                self._cells[cell] = None
                self._missing -= len(cell)
                if self._missing <= 0:
                    return

    @property
    def data(self) -> bytes:
        """The cells in one, at most EVIDENCE_BYTES."""
        return b" ".join(self._cells)[:EVIDENCE_BYTES]

    def guess(self) -> str:
        """The likeliest code page, a key of CODE_PAGES. Without evidence it is Windows-1252."""
        data = self.data
        return max(CODE_PAGES, key=lambda encoding: _likelihood(data, encoding))


def _after_first_line(chunk: bytes) -> int:
    """Where the second line begins; its end when there is none. A cell may be cut before it."""
    found = LINE_END.search(chunk)
    return found.end() if found else len(chunk)


def _after_last_line(chunk: bytes) -> int:
    """Where the last line begins, which may be cut."""
    return max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1


def _likelihood(data: bytes, encoding: str) -> float:
    page = CODE_PAGES[encoding]
    text = data.decode(encoding, "replace")
    if isinstance(page, Ideographs):
        return page.odds + _of_ideographs(text, encoding, page)
    return page.odds + _of_letters(text, page)


def _of_letters(text: str, page: Letters) -> float:
    """The likelihood of the text in that language of the page which fits it best."""
    same = 0.0  # what is the same in every language
    characters: Counter[tuple[str, float]] = Counter()
    seen = Counter(zip(f" {text}", text, f"{text[1:]} ", strict=False))
    for (before, char, after), n in seen.items():
        if char.isascii():
            same += n * ASCII
            continue
        same += n * (page.odds_each + (ODD if _is_odd(before, char, after) else 0.0))
        among_capitals = before.isupper() or after.isupper()
        characters[char, CAPITAL_AMONG_CAPITALS if among_capitals else CAPITAL] += n
    return same + max(
        sum(n * _character(char, letters, capital) for (char, capital), n in characters.items())
        for letters in _languages(page.languages)
    )


@cache
def _languages(names: tuple[str, ...]) -> list[dict[str, float]]:
    """The logarithms of letters in each language, and in a text that mixes all of them."""
    tables = [_frequencies(LETTERS[name]) for name in names]
    letters = dict.fromkeys(letter for table in tables for letter in table)
    mixed = {
        letter: sum(table.get(letter, 0.0) for table in tables) / len(tables) for letter in letters
    }
    return [
        {letter: math.log(frequency) for letter, frequency in table.items()}
        for table in (*tables, mixed)
    ]


def _frequencies(letters: str) -> dict[str, float]:
    """The share of each letter, given in order of use: it falls with the rank (Zipf's law)."""
    weights = {letter: 1 / rank for rank, letter in enumerate(letters, 2)}
    whole = sum(weights.values()) / 0.97  # 3 % are for characters that are no such letter
    return {letter: weight / whole for letter, weight in weights.items()}


def _character(char: str, letters: dict[str, float], capital: float) -> float:
    """The logarithm of a character in a language; `capital` is added for a capital letter."""
    if char in letters:
        return letters[char]
    if char.lower() in letters:
        return letters[char.lower()] + capital
    if char == "\ufffd" or "\x80" <= char <= "\x9f" or "\ue000" <= char <= "\uf8ff":
        return NOTHING
    if char in SIGNS:
        return SIGN
    return FOREIGN_LETTER if char.isalpha() else RARE_SYMBOL


def _is_letter(char: str) -> bool:
    return char.isalpha() and char not in SIGNS


def _is_odd(before: str, char: str, after: str) -> bool:
    """Whether it is unusual, in any language, to find the character between these two."""
    if "\u0370" <= char < "\u2000":  # Greek and the scripts after it do not mix with Latin letters
        if (before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha()):
            return True
        if not char.isalpha():
            return False
    if _is_letter(char):
        if char.isupper() and before.islower():
            return True
        if _is_letter(before) or _is_letter(after) or char >= "\u2000":
            return False
        return before.isdigit() or after.isdigit() or char.lower() not in WORDS_OF_ONE_LETTER
    if not _is_letter(after):
        return False
    if char == "’":
        return not (_is_letter(before) or after.isascii())  # “’n” is a word in some languages
    return char not in (WITHIN_A_WORD if _is_letter(before) else BEFORE_A_WORD)


def _of_ideographs(text: str, encoding: str, page: Ideographs) -> float:
    return sum(n * _ideograph(char, encoding, page) for char, n in Counter(text).items())


def _ideograph(char: str, encoding: str, page: Ideographs) -> float:
    if char.isascii():
        return ASCII
    if char == "\ufffd":
        return NOTHING
    first, *rest = char.encode(encoding)
    if len(rest) < 2 and all(second >= page.second for second in rest):
        for share in page.shares:
            if share.first <= first <= share.last:
                return math.log(share.probability)
    return RARE_IDEOGRAPH
