"""The scripts do not hoard: a good programmer's would not."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from batchui.bench import bare, tuned
from batchui.bench.surroundings import Api
from tests.project.helpers import until

# More than a script keeps under way.
ROWS_TO_BEGIN_WITH = 60_000


@pytest.mark.parametrize("script", [bare.__file__, tuned.__file__], ids=["streaming", "tuned"])
def test_the_first_rows_are_written_before_the_last_is_read(
    script: str, tmp_path: Path, api: Api
) -> None:
    pipe, result = tmp_path / "reviews.csv", tmp_path / "result.csv"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, script, pipe, result, api.model_address]) as process:
        with pipe.open("w", encoding="utf-8") as file:
            file.write("id,city,review\n")
            file.writelines(f"{number},Faro,good\n" for number in range(ROWS_TO_BEGIN_WITH))
            file.flush()
            until(lambda: result.exists() and result.stat().st_size > 1_000_000)
            file.write(f"{ROWS_TO_BEGIN_WITH},Faro,bad\n")
        assert process.wait(20) == 0
    with result.open(newline="", encoding="utf-8") as written:
        numbers = [row[0] for row in csv.reader(written)][1:]
    assert numbers == [str(number) for number in range(ROWS_TO_BEGIN_WITH + 1)]
