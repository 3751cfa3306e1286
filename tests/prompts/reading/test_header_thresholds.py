"""Where the guess between names and a row turns: each case has one beside it that is not so."""

from typing import Any

import pytest

from batchui.prompts.reading.headers import COMPARED, LONG, MOST_ABOVE, find_header, table_top

Rows = list[list[Any]]


def column(*cells: Any) -> Rows:
    return [[cell] for cell in cells]


def beside_another(*cells: Any) -> Rows:
    """The second column says neither, so that a first one without a vote makes names."""
    return [[cell, "z" * at] for at, cell in enumerate(cells, 1)]


def has_names(rows: Rows) -> bool:
    return find_header(rows).row == 1


@pytest.mark.parametrize(
    ("numbers", "texts", "named"), [(4, 1, True), (8, 2, True), (7, 2, False), (3, 1, False)]
)
def test_four_numbers_in_five_are_below_a_name(numbers: int, texts: int, named: bool) -> None:
    below = [*map(str, range(10, 10 + numbers)), *["north"] * texts]
    assert has_names(column("north", *below)) is named


@pytest.mark.parametrize(("days", "numbers", "named"), [(5, 0, True), (4, 1, False)])
def test_dates_and_numbers_are_counted_apart(days: int, numbers: int, named: bool) -> None:
    below = [*["2026-05-01"] * days, *["7"] * numbers, "north"]
    assert has_names(column("north", *below)) is named


@pytest.mark.parametrize(
    "number",
    [
        "1",
        "-1.5",
        "+7",
        "1,234.50",
        "1'000",
        "1 000",
        "$5",
        "-€ 5",
        "£5",
        "12%",
        "12 %",
        "5€",
        "5 $",
        "5 £",
        1,
        1.5,
        {"percent": "25%"},
        {"shown": "007", "number": 7},
        "2026-05-01",
        "1.5.26",
        "5/1/2026",
        "2026-05-01 12:30",
        "2026-05-01T12:30:15Z",
        "12:30",
        "9:05:07",
        {"date": "2026-05-01"},
    ],
)
def test_what_is_a_number_or_a_date_stands_below_names(number: Any) -> None:
    assert has_names(column("north", *[number] * 4, "north"))


@pytest.mark.parametrize(
    "text", ["5 kg", "no. 5", "1e5", "12:3", "2026-05", "%", "$", "5-", "20261-05-01", "a5", "(5)"]
)
def test_what_only_begins_like_a_number_is_text(text: str) -> None:
    assert not has_names(column("north", *[text] * 4, "north"))


def test_a_number_of_either_kind_over_numbers_is_a_row() -> None:
    assert not has_names(beside_another(5, "6", "7"))
    assert not has_names(beside_another("5", 6, 7.5))
    assert not has_names(beside_another(True, 6, 7))


def test_a_date_over_dates_is_a_row_and_over_numbers_a_name() -> None:
    assert not has_names(beside_another("2026-05-01", "2026-05-02", "2026-05-03"))
    assert not has_names(beside_another({"date": "2026-05-01"}, "2026-05-02", "2026-05-03"))
    assert has_names(beside_another("2026-05-01", "5", "6"))
    assert has_names(beside_another({"date": "2026-05-01"}, 5, 6))
    assert not has_names(beside_another({"percent": "5%"}, 5, 6))


@pytest.mark.parametrize(
    ("year", "below", "named"),
    [
        ("2026", ["5", "6"], True),
        ("1999", ["5", "6"], True),
        (2026, [5, 6], True),
        ("2026", ["5", "2027"], True),
        ("2026", ["2027", "2028"], False),
        ("1899", ["5", "6"], False),
        ("2100", ["5", "6"], False),
        ("20260", ["5", "6"], False),
    ],
)
def test_a_year_is_the_name_of_numbers_but_not_of_years(
    year: Any, below: list[Any], named: bool
) -> None:
    assert has_names(beside_another(year, *below)) is named


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        (["1", "2", "3"], ["7", "5", "6"], True),
        ([1, 2, 3], [7, 5, 6], True),
        (["9", "4", "5", "6"], ["7", "5", "6", "9"], True),
        (["1", "2", "3"], ["2", "3", "4"], False),
        (["1", "2", "4"], ["7", "5", "6"], False),
        (["1", "3", "4"], ["7", "5", "6"], False),
        (["3", "2", "1"], ["7", "5", "6"], False),
        (["1", "2"], ["7", "5"], False),
        (["999999997", "999999998", "999999999"], ["7", "5", "6"], True),
        (["1000000000", "1000000001", "1000000002"], ["7", "5", "6"], False),
        (["-1", "0", "1"], ["7", "5", "6"], False),
    ],
)
def test_three_columns_that_are_counted_have_names_unless_the_next_row_counts_too(
    first: list[Any], second: list[Any], named: bool
) -> None:
    assert has_names([first, second, [*map(str, range(1, len(first) + 1))]]) is named


def test_a_text_among_its_like_is_a_row_only_within_the_rows_that_are_compared() -> None:
    for others, named in ((COMPARED - 1, False), (COMPARED, True)):
        rows = beside_another("west", *["north"] * others, "west")
        assert has_names(rows) is named


def test_a_name_without_cells_below_it_may_be_one_if_it_is_a_text() -> None:
    assert has_names([["foo", "bar"]])
    assert not has_names([["foo", "5"]])
    assert has_names([["foo", ""], ["", ""], ["", " "]])
    assert not has_names([["5", ""], ["", ""]])
    assert has_names([["5", "city"], ["", "Rome"]])


@pytest.mark.parametrize(
    ("name", "below", "named"),
    [
        ("a" * (LONG + 1), ["b" * 31], False),
        ("a" * (LONG + 1), ["b" * 30], True),
        ("a" * LONG, ["b" * LONG], True),
        ("a" * (LONG + 1), ["b" * 10, "c" * 31, "d" * 40], False),
        ("a" * (LONG + 1), ["b" * 10, "c" * 30, "d" * 90], True),
        ("a" * (LONG + 1), ["b" * 30, "c" * 31], False),
    ],
)
def test_a_long_text_over_texts_half_as_long_is_a_row(
    name: str, below: list[str], named: bool
) -> None:
    assert has_names(beside_another(name, *below)) is named


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("city", True),
        ("City of birth", True),
        ("PLZ/Ort", True),
        ("customer_id", True),
        ("x" * (LONG - 5) + " city", True),
        ("x" * (LONG - 4) + " city", False),
        ("electricity", False),
        ("city2", True),
    ],
)
def test_a_usual_word_makes_a_name_of_a_text_that_comes_again(name: str, named: bool) -> None:
    assert has_names(beside_another(name, "foo", name)) is named


def test_a_long_text_that_begins_with_a_usual_word_says_nothing() -> None:
    long = "text " + "x" * LONG
    assert has_names(beside_another(long, "y" * 100, "z" * 100))
    assert not has_names([[long, "7"], ["y" * 100, "8"]])


@pytest.mark.parametrize(("others", "named"), [(1, False), (2, True)])
def test_a_code_over_four_codes_in_five_is_a_row(others: int, named: bool) -> None:
    below = ["C-2", "C-31", "C-456", "C-5", "C-6"]
    below[-others:] = ["some words"] * others
    assert has_names(beside_another("C-1", *below)) is named


@pytest.mark.parametrize("shape", ["foo", "Foo", "FOO", "F"])
def test_a_single_word_over_words_says_nothing(shape: str) -> None:
    assert has_names(beside_another(shape, *(shape.translate({111: "a"}) + "x" for _ in range(4))))


@pytest.mark.parametrize(
    ("cells", "named"),
    [
        (["Foo", "Bar", "baz", "qux"], True),
        (["Foo", "Bar", "baz"], False),
        (["Foo", "Bar", "Baz"], False),
        (["foo 1", "bar 22", "baz"], False),
        (["foo 1", "bar 22", "baz", "qux"], True),
        (["FOO", "Bar", "Baz"], True),
        (["Foo"], True),
    ],
)
def test_a_list_has_a_name_where_fewer_than_half_of_its_texts_are_written_like_it(
    cells: list[str], named: bool
) -> None:
    assert has_names(column(*cells)) is named
    assert has_names([["", cell] for cell in cells]) is named


FULL = [*"abcd"]


@pytest.mark.parametrize(
    ("first", "top"),
    [
        (["Sales"], 1),
        (["Sales", "May", "", ""], 1),
        (["x", "y", "z", ""], 0),
        (["", "y", "z", ""], 0),
        (["", "y", "", ""], 1),
        (["", " ", "\t", ""], 1),
    ],
)
def test_a_row_of_the_table_fills_more_than_half_of_it(first: list[str], top: int) -> None:
    assert table_top([first, FULL, FULL, FULL]) == top


def test_names_of_a_table_with_an_index_may_leave_more_cells_blank_than_the_first() -> None:
    wide = [*"abcdef"]
    assert table_top([["", "x", "y", "z", "", ""], wide, wide]) == 0
    assert table_top([["", "x", "y", "", "", ""], wide, wide]) == 1
    unnumbered = ["", *"abcde"]
    assert table_top([["", "x", "y", "z", "", ""], unnumbered, unnumbered]) == 0
    assert table_top([["", "x", "y", "", "", ""], unnumbered, unnumbered]) == 1


def test_the_names_may_stand_below_so_many_rows_of_a_title_and_no_more() -> None:
    title = ["Sales", "May 2026"]
    names, rows = ["id", "n", "city"], [["a", "1", "x"], ["b", "2", "y"]] * MOST_ABOVE
    assert table_top([*[title] * (MOST_ABOVE - 1), names, *rows]) == MOST_ABOVE - 1
    assert table_top([*[title] * MOST_ABOVE, names, *rows]) == 0


def test_a_row_of_fewer_cells_is_no_title_where_names_do_not_follow() -> None:
    rows = [["a", "1", "x"], ["b", "2", "y"], ["c", "3", "z"]]
    assert table_top([["id", "n"], *rows]) == 0
