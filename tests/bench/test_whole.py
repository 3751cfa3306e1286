"""`manage.py bench --whole`."""

import re
from pathlib import Path

import pytest
from django.core.management import CommandError

from batchui.bench.check import Check
from batchui.bench.surroundings import Api, BenchFailed
from batchui.bench.texts import Answers
from batchui.bench.whole import take_through
from tests.bench.command import bench, figures

pytestmark = pytest.mark.processes


def test_the_whole_product_is_measured_leg_by_leg() -> None:
    printed = bench("--whole", "--rows", "200")
    legs = ("start of the product", "upload", "Start to first answers", "Start to finished")
    for leg in (*legs, "first byte of the download", "download"):
        assert figures(printed, leg)[0] > 0, leg
    for kind in ("up", "watchdog", "web", "worker"):
        line = next(line for line in printed.splitlines() if re.match(rf"{kind}  ", line))
        cpu, peak, processes = map(float, line.split()[1:])
        assert cpu > 0
        assert 20 < peak < 300
        assert processes >= 1
    assert re.search(r"Calls: \d+ submissions, \d+ polls", printed)


def test_the_call_limit_reaches_the_product() -> None:
    with pytest.raises(CommandError, match="BATCHUI_CALLS_PER_5_MINUTES is “2000000”"):
        bench("--whole", "--rows", "30", "--calls-per-5-minutes", "2000000")


def test_a_wrong_download_gives_no_figure(
    reviews: Path, tmp_path: Path, api: Api, answers: Answers
) -> None:
    other = tmp_path / "other.csv"
    other.write_bytes(reviews.read_bytes().replace(b"\n101,", b"\n1010,"))
    with pytest.raises(BenchFailed, match="The result of the product is wrong in row 101: "):
        take_through(reviews, api=api, check=Check(other, answers))
