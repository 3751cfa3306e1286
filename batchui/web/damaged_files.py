"""What the pages read in the sentences of `compressed.DamagedFile`, which name a stored file."""

import re

_STORED_FILE = re.compile(r"The stored file \S+ ")


def without_path(text: str) -> str:
    """A text without the names of stored files: they tell nothing to those who read a page."""
    return _STORED_FILE.sub("A stored file ", text)


def names_answers(text: str) -> bool:
    """Whether a text names a stored file of answers."""
    return "/answers-" in text
