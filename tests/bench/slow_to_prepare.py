"""A side of the bench that takes its time before its clock starts, and uses 40 MB for a moment."""

import time

SECONDS_TO_PREPARE = 0.5
HELD_BYTES = 40_000_000


def prepare() -> None:
    held = bytearray(b"x") * HELD_BYTES
    time.sleep(SECONDS_TO_PREPARE)
    del held


def main() -> dict[str, str]:
    return {"said": "done"}
