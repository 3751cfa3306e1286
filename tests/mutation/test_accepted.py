"""What is accepted without a test for it, and what is not."""

import pytest

from tests.mutation.accepted import Accepted
from tests.mutation.mutants import Change, function_of


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ('"a row."', '"A ROW."'),
        ('"Correct it, or leave the row out.",', '"correct it, or leave the row out.",'),
        (
            'what, advice = "a table", "Save it as text"',
            'what, advice = "XXa tableXX", "Save it as text"',
        ),
    ],
)
def test_another_wording_is_known(was: str, becomes: str) -> None:
    assert Change("prompts.problems.place", was, becomes).is_wording


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ('row["a b"] = 1', 'row["a b"] = 2'),
        ('stem.strip(" .-")', 'stem.strip("XX .-XX")'),
        ('"xl/" in head', '"XL/" in head'),
        ('"%d of %d"', '"%D OF %D"'),
        ('message="Not sent yet."', "message=None"),
        ('"Not sent.", "not read"', '"NOT SENT.", "NOT READ"'),
    ],
)
def test_what_a_program_reads_is_no_wording(was: str, becomes: str) -> None:
    assert not Change("prompts.problems.place", was, becomes).is_wording


def test_a_rule_is_for_its_function_and_change_alone() -> None:
    rule = {
        "function": r"^prompts\.",
        "was": "strict=True",
        "becomes": "strict=False",
        "reason": "r",
    }
    single = Change("batches.due.ready_parts", "a", "b")
    accepted = Accepted([rule], {single: "s"})
    assert accepted.reason_for(Change("prompts.rows.cells", "strict=True", "strict=False")) == "r"
    assert accepted.reason_for(Change("exports.rows.cells", "strict=True", "strict=False")) == ""
    assert accepted.reason_for(Change("prompts.rows.cells", "strict=True", "")) == ""
    assert accepted.reason_for(single) == "s"
    assert accepted.reason_for(Change("batches.due.ready_parts", "a", "c")) == ""


def test_every_entry_of_the_list_has_a_reason() -> None:
    accepted = Accepted.read()
    assert all(rule["reason"] for rule in accepted.rules)
    assert all(accepted.survivors.values())


def test_a_mutant_is_traced_to_its_function() -> None:
    assert (
        function_of("batchui.batches.due.x_ready_parts__mutmut_7")
        == "batchui.batches.due.ready_parts"
    )
    assert (
        function_of("batchui.batches.models.xǁBatchǁask__mutmut_1")
        == "batchui.batches.models.Batch.ask"
    )
