"""The table that is printed, and what counts as wrong."""

import pytest

from batchui.chaos.figures import COLUMNS, Figures, table
from batchui.doctor.findings import INVARIANTS, Finding


def off(invariant: int) -> Finding:
    return Finding(invariant=invariant, kind="k", what="It is off.", do="Look.")


def counts(figures: Figures) -> dict[str, str]:
    return dict(zip(COLUMNS, figures.cells(), strict=True))


def test_a_campaign_without_faults_is_well() -> None:
    figures = Figures("inside", "sqlite", 7, kills=20_000, rows=1_234)
    assert figures.is_well
    shown = counts(figures)
    assert (shown["kills"], shown["rows"], shown["lost"]) == ("20,000", "1,234", "0")


@pytest.mark.parametrize("invariant", INVARIANTS)
def test_each_invariant_has_a_column(invariant: int) -> None:
    figures = Figures("inside", "sqlite", 7, findings=[off(invariant)])
    assert not figures.is_well
    columns = {1: "lost", 2: "wrong", 3: "twice unasked", 4: "twice unasked", 7: "stuck"}
    wanted = columns.get(invariant, "anything else")
    assert [name for name, cell in counts(figures).items() if cell == "1"] == [wanted]


@pytest.mark.parametrize(
    ("field", "value", "column"),
    [
        ("wrong_answers", 3, "wrong"),
        ("stuck", ["a", "b", "c"], "stuck"),
        ("escaped", ["a", "b", "c"], "anything else"),
    ],
)
def test_what_no_invariant_says_is_counted_as_well(field: str, value: object, column: str) -> None:
    figures = Figures("inside", "sqlite", 7, **{field: value})  # type: ignore[arg-type]
    assert not figures.is_well
    assert counts(figures)[column] == "3"


def test_the_table_can_be_pasted() -> None:
    first, line, *rows = table([Figures("a", "sqlite", 1), Figures("b", "postgres", 2)]).split("\n")
    assert first.startswith("| campaign | database | seed | kills |")
    assert set(line) <= set("|- ")
    assert [row.split(" | ")[1] for row in rows] == ["sqlite", "postgres"]
