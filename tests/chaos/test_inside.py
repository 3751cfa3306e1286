"""Campaigns inside, in a process of their own: a process that forks may have no other threads."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import cast

import pytest

from batchui.bench.surroundings import ROOT
from batchui.chaos.figures import Figures
from batchui.chaos.inside import Inside
from batchui.chaos.wire import ChaosFailed, Wire
from batchui.processes import children

pytestmark = pytest.mark.processes


def test_a_product_that_is_right_passes_and_planted_mistakes_are_found() -> None:
    alone = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    campaigns = subprocess.run(
        [*alone, "tests/chaos/campaigns_inside.py"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert campaigns.returncode == 0, f"pytest said:\n{campaigns.stdout}"


def test_in_a_process_with_other_threads_no_campaign_begins(tmp_path: Path) -> None:
    """Their locks would stay locked in the children: one would wait for ever, now and then."""
    never_called = Wire("", tmp_path, cast(children.Process, None))
    campaign = Inside(Figures("inside", "test", 1), never_called, say=lambda _: None)
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        with pytest.raises(ChaosFailed, match="This process has other threads"):
            campaign.run(1)
    finally:
        done.set()
        other.join()
