"""Files that must be whole before they are sent are written without holding their rows."""

import subprocess
import sys
from pathlib import Path

import pytest

# Rows of 20 kB: how many MB of memory the second number of them takes beyond the first.
PROGRAM = """
import resource, sys
from pathlib import Path
from batchui.exports.{module} import {write}
from batchui.exports.table import Table
from tests.exports.rows import row

def rows(number):
    for at in range(number):
        yield row(at, [str(at), "words " * 1_700], answer=b'"%d %s"' % (at, b"answer " * 1_400))

def peak(number):
    folder = Path(sys.argv[1])
    {write}(rows(number), Table(["id", "review"]), target=folder / "made", folder=folder)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024

few = peak({few})
print(peak({many}) - few)
"""


@pytest.mark.parametrize(
    ("names", "most"),
    [
        ({"module": "xlsx", "write": "write_xlsx", "few": 10, "many": 400}, 3),
        ({"module": "ods", "write": "write_ods", "few": 10, "many": 400}, 3),
        # Two groups of rows at once, and the buffers of pyarrow.
        ({"module": "parquet", "write": "write_parquet", "few": 2_000, "many": 5_000}, 20),
    ],
)
def test_memory_does_not_grow_with_the_rows(
    tmp_path: Path, names: dict[str, object], most: int
) -> None:
    code = PROGRAM
    for name, value in names.items():
        code = code.replace(f"{{{name}}}", str(value))
    made = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=True, text=True
    )
    assert float(made.stdout) < most, made.stdout
