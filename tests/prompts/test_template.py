"""What is asked of each row."""

import pytest

from batchui.prompts.problems import BadInput
from batchui.prompts.template import Template

COLUMNS = ["id", "review", "language"]


def fill(text: str, cells: list[str] | dict[str, object], columns: list[str] = COLUMNS) -> str:
    return Template(text).bind(columns).fill(cells, 10**6)


def test_a_cell_goes_in_exactly_as_it_is() -> None:
    cell = '  {{id}} 100% "quoted"\n\\n %s %(x)s {0} \t'
    assert fill("Is this good?\n{{review}}\nSay.", ["1", cell, "en"]) == (
        f"Is this good?\n{cell}\nSay."
    )


def test_what_is_not_a_name_stays_as_it_is() -> None:
    text = 'Give {"score": 100%} for %s } {{review}} {single} }}'
    assert fill(text, ["1", "good", "en"]) == 'Give {"score": 100%} for %s } good {single} }}'


def test_several_names_and_the_same_name_twice() -> None:
    text = "{{language}}: {{review}} ({{language}})"
    assert fill(text, ["1", "gut", "de"]) == "de: gut (de)"
    assert Template(text).names == ("language", "review")


def test_columns_get_other_names_and_all_else_stays() -> None:
    text = "{{ review }} {x} {{language}} {{ review }}{{"
    assert Template(text).renamed({" review ": "text"}) == "{{text}} {x} {{language}} {{text}}{{"
    assert Template(text).renamed({}) == text
    long = "{{review}}" + "x" * 100_000
    assert Template(long).renamed({"review": "text"}) == long


def test_filling_and_asking_say_the_same() -> None:
    for text in ("{{review}}", "a {{review}} b", "{{id}}{{review}}%", "{{id}} {{id}}"):
        filler = Template(text).bind(COLUMNS)
        cells = ["7", "fine", "en"]
        assert filler.prompt_of(cells) == filler.fill(cells, 10**6)


def test_names_may_hold_anything_but_two_closing_braces() -> None:
    columns = ["a b", "x{y}z", "line\nbreak", "50%", "[0]"]
    text = "".join(f"{{{{{name}}}}}|" for name in columns)
    assert fill(text, list("12345"), columns) == "1|2|3|4|5|"


def test_a_name_is_found_exactly_first_and_then_without_the_space_around_it() -> None:
    assert fill("{{ review }}", ["1", "good", "en"]) == "good"
    assert fill("{{review}}", ["x"], [" review "]) == "x"
    assert fill("{{ a }}|{{a}}", ["spaced", "bare"], [" a ", "a"]) == "spaced|bare"


@pytest.mark.parametrize("column", ["line\nbreak", "line\r\nbreak", "line\rbreak"])
def test_a_name_is_found_whatever_its_line_breaks_are(column: str) -> None:
    assert fill("{{line\nbreak}}", ["x"], [column]) == "x"
    assert fill("{{ line\r\nbreak }}", ["x"], [column]) == "x"


def test_a_name_that_fits_two_columns_but_for_spaces_is_not_guessed() -> None:
    with pytest.raises(BadInput, match=r"names the column “a”, which the file does not have"):
        Template("{{a}}").bind([" a", "a "])


def test_an_unknown_column_is_named_with_a_close_one() -> None:
    with pytest.raises(BadInput) as caught:
        Template("{{Reveiw}}").bind(COLUMNS)
    assert str(caught.value) == (
        "The text names the column “Reveiw”, which the file does not have. Did you mean “review”?"
    )
    with pytest.raises(BadInput, match=r"Did you mean “review”"):
        Template("{{REVIEW}}").bind(COLUMNS)


def test_only_names_of_up_to_60_letters_are_compared() -> None:
    longest = "x" * 60
    for wanted, column, advice in (
        (longest[:-1] + "y", longest, f"Did you mean “{longest}”?"),
        (longest + "y", longest, f"Its columns are “{longest}”."),
        (longest[:-1] + "y", longest + "x", f"Its columns are “{longest}…”."),
    ):
        with pytest.raises(BadInput) as caught:
            Template(f"{{{{{wanted}}}}}").bind([column])
        assert str(caught.value).endswith(f"which the file does not have. {advice}")


def test_an_unknown_column_without_a_close_one_is_answered_with_what_there_is() -> None:
    with pytest.raises(BadInput, match=r"“price”.*Its columns are “id”, “review” and “language”"):
        Template("{{price}}").bind(COLUMNS)


def test_a_file_without_columns_says_so() -> None:
    with pytest.raises(BadInput, match=r"“price”, which the file does not have. It has no columns"):
        Template("{{price}}").bind([])


@pytest.mark.parametrize("text", ["", "Summarise the text.", "a {name} b"])
def test_a_template_without_a_column_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"names no column.*same question.*\{\{column\}\}"):
        Template(text).bind(COLUMNS)


def test_an_unclosed_or_empty_name_is_told() -> None:
    with pytest.raises(BadInput, match=r"opens a column's name with \{\{ but does not close it"):
        Template("Sum up {{review").bind(COLUMNS)
    with pytest.raises(BadInput, match=r"opens a column's name with \{\{ but does not close it"):
        Template("Sum up {{review}} in {{language").bind(COLUMNS)
    with pytest.raises(BadInput, match=r"no column's name between"):
        Template("Sum up {{ }}").bind(COLUMNS)


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u00a0"])
def test_a_row_is_blank_when_every_named_cell_is(blank: str) -> None:
    one = Template("Sum up {{review}}").bind(COLUMNS)
    two = Template("{{review}} in {{language}}").bind(COLUMNS)
    assert one.prompt_of(["1", blank, "en"]) is None
    assert two.prompt_of(["1", blank, blank]) is None
    assert two.prompt_of(["1", blank, "en"]) == f"{blank} in en"


def test_objects_fill_by_key_and_numbers_become_json_text() -> None:
    cells = {"review": {"a": [1, "é"]}, "id": 7, "language": None}
    assert fill("{{id}}|{{review}}|{{language}}|", cells) == '7|{"a":[1,"é"]}||'
    assert Template("{{review}}").bind(COLUMNS).prompt_of({"id": 1}) is None


def test_a_row_that_is_too_short_has_empty_cells() -> None:
    assert fill("{{id}}|{{review}}|{{language}}", ["1"]) == "1||"
    assert Template("{{id}}|{{review}}").bind(COLUMNS).prompt_of(["1"]) == "1|"
    assert fill("{{language}}", ["1"]) == ""
    assert Template("{{language}}").bind(COLUMNS).prompt_of(["1"]) is None
