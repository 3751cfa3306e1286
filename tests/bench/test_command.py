"""`manage.py bench`."""

import re

import pytest
from django.core.management import CommandError

from batchui.bench.disk import KINDS
from tests.bench.command import bench, by_turns, figures


@by_turns
def test_all_sides_are_run_in_turn_and_compared() -> None:
    printed = bench("--rows", "200", "--repeat", "2")
    assert "200 rows" in printed
    assert "Medians of 2 rounds" in printed
    a, t, b = (
        figures(printed, name) for name in ("a  streaming script", "t  tuned script", "b  product")
    )
    assert a[-1] == t[-1] == 2  # calls
    assert b[-1] >= 2
    for other in "at":
        ratio = re.search(
            rf"^b/{other} ([\d.]+) \(([\d.]+) to ([\d.]+)\) by the clock", printed, re.M
        )
        assert ratio is not None
        assert float(ratio[2]) <= float(ratio[1]) <= float(ratio[3])
    assert all(f"{kind} " in printed for kind in KINDS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rows", "0"), "must be at least 1"),
        (("--repeat", "0"), "must be at least 1"),
        (("--calls-per-5-minutes", "0"), "only with --whole"),
    ],
)
def test_what_cannot_be_measured_is_refused(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        bench(*arguments)
