"""The corpus as a whole."""

from batchui.batches.long_tasks import sentence_for
from tests.corpus.catalogue import ALL


def test_there_are_enough_files() -> None:
    assert len(ALL) >= 300


def test_no_two_files_have_the_same_title_and_name() -> None:
    assert len({(entry.title, entry.name) for entry in ALL}) == len(ALL)


def test_no_expected_sentence_blames_batchui() -> None:
    mistake = sentence_for(Exception())
    assert not [entry for entry in ALL if entry.expected == mistake or not entry.expected]
