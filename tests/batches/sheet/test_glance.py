"""What a batch's answers are at a glance: figures summed up from the digests of its parts."""

import pytest

from batchui.batches.sheet import digests
from batchui.batches.sheet.glance import FieldGlance, glance_of, reason_with, reasons_of
from batchui.teams.models import Team
from tests.batches.sheet.made import damage, made, no, yes

pytestmark = pytest.mark.django_db


def field(team: Team, *answers: object) -> FieldGlance:
    """The one answer column of a batch with these answers, in parts of three."""
    rows = [yes(answer) for answer in answers]
    parts = [rows[at : at + 3] for at in range(0, len(rows), 3)]
    [only] = glance_of(made(team, *parts)).fields
    return only


def test_values_are_counted_over_all_parts_the_most_frequent_first(team: Team) -> None:
    found = field(team, "bad", "good", "good", "good", "mixed", "bad", "good")
    assert found.rows == 7
    assert [(one.text, one.rows, round(one.share, 3)) for one in found.values] == [
        ("good", 4, 0.571),
        ("bad", 2, 0.286),
        ("mixed", 1, 0.143),
    ]
    assert (found.numbers, found.words) == (None, None)


@pytest.mark.parametrize(
    ("answers", "are_values"),
    [
        (["one", "two", "one"], True),
        (["one", "two", "one", "two", "three"], True),
        (["one", "two", "three", "one"], False),
    ],
)
def test_values_come_half_as_often_again_as_there_are_different_ones(
    team: Team, answers: list[str], *, are_values: bool
) -> None:
    found = field(team, *answers)
    assert bool(found.values) is are_values
    assert (found.words is None) is are_values


def test_one_value_alone_is_a_value(team: Team) -> None:
    assert [(one.text, one.rows, one.share) for one in field(team, "good", "good").values] == [
        ("good", 2, 1)
    ]


def test_a_part_whose_answers_are_damaged_is_left_out(team: Team) -> None:
    batch = made(team, [yes("good")] * 3, [yes("bad")] * 3)
    damage(batch.parts.get(number=2), lines=1)
    [found] = glance_of(batch).fields
    assert [(one.text, one.rows) for one in found.values] == [("good", 3)]


@pytest.mark.parametrize(("different", "are_values"), [(12, True), (13, False)])
def test_a_dozen_values_are_few(team: Team, different: int, *, are_values: bool) -> None:
    assert bool(field(team, *[f"tag {at}" for at in range(different)] * 2).values) is are_values


def test_many_numbers_are_one_spread(team: Team) -> None:
    found = field(team, *map(str, range(101)))
    assert (found.values, found.words, found.rows) == ((), None, 101)
    assert found.numbers is not None
    assert (found.numbers.least, found.numbers.most) == (0, 100)
    assert found.numbers.middle == pytest.approx(50, abs=1)


def test_a_column_of_numbers_is_a_spread_however_few_they_are(team: Team) -> None:
    columns = [{"name": "stars", "kind": "number", "choices": [], "meaning": ""}]
    rows = [yes({"stars": at}) for at in (1, 5, 5)]
    [found] = glance_of(made(team, rows, answer_columns=columns)).fields
    assert found.numbers is not None
    assert (found.numbers.least, found.numbers.most) == (1, 5)


def test_a_text_among_many_numbers_makes_them_texts(team: Team) -> None:
    found = field(team, *map(str, range(50)), "none of these")
    assert found.numbers is None
    assert found.words is not None


def test_a_chosen_value_is_a_value_though_it_came_once(team: Team) -> None:
    columns = [{"name": "tone", "kind": "one_of", "choices": ["good", "bad"], "meaning": ""}]
    rows = [yes({"tone": "good"}), yes({"tone": "bad"})]
    [found] = glance_of(made(team, rows, answer_columns=columns)).fields
    assert [(one.text, one.rows) for one in found.values] == [("bad", 1), ("good", 1)]


def test_of_several_values_each_has_its_share_of_the_rows(team: Team) -> None:
    columns = [{"name": "topics", "kind": "several_of", "choices": ["bed", "food"], "meaning": ""}]
    lists: list[list[str]] = [["bed", "food"], ["bed"], ["bed", "food"], []]
    rows = [yes({"topics": topics}) for topics in lists]
    [found] = glance_of(made(team, rows, answer_columns=columns)).fields
    assert found.rows == 3
    shares = [(one.text, one.rows, round(one.share, 2)) for one in found.values]
    assert shares == [("bed", 3, 1), ("food", 2, 0.67)]


def test_reasons_are_summed_over_parts_the_most_frequent_first(team: Team) -> None:
    batch = made(team, [no(), yes(), no()], [no("empty", ""), no()])
    reasons, is_whole = reasons_of(batch)
    assert ([why.rows for why in reasons], is_whole) == ([3, 1], True)
    assert glance_of(batch).reasons == reasons
    assert glance_of(batch).is_whole
    first = reasons[0].reason
    assert reason_with(batch, first.key) == first
    assert reason_with(batch, "no such reason") is None


def test_what_is_not_counted_is_told(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "SECONDS_IN_A_REQUEST", -1)
    batch = made(team, [no()], [no()])
    assert not glance_of(batch).is_whole
    assert not reasons_of(batch)[1]


def test_a_mark_of_one_to_five_is_a_value_and_not_a_histogram(team: Team) -> None:
    batch = made(team, [yes(str(at % 5)) for at in range(40)])
    [field] = glance_of(batch).fields
    assert [(one.text, one.rows) for one in field.values] == [(str(at), 8) for at in range(5)]


def test_texts_that_are_all_different_are_no_values(team: Team) -> None:
    [field] = glance_of(made(team, [yes("one"), yes("two"), yes("three")])).fields
    assert (field.values, field.words is None) == ((), False)


@pytest.mark.parametrize(
    ("values", "words", "are_values"), [(10, 6, False), (4, 6, True), (10, 5, True)]
)
def test_sentences_that_come_again_are_shown_by_their_lengths(
    team: Team, values: int, words: int, *, are_values: bool
) -> None:
    texts = [" ".join([f"word{at}"] * words) for at in range(values)]
    [field] = glance_of(made(team, [yes(text) for text in texts * 5])).fields
    assert bool(field.values) is are_values
    assert (field.words is None) is are_values
