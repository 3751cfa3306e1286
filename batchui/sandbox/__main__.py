"""`python -m batchui.sandbox`: the sandbox without Django."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from batchui.sandbox.options import add_arguments, from_arguments
from batchui.sandbox.server import serve


def main(arguments: list[str] | None = None) -> int:
    """Serve as the command line says; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m batchui.sandbox",
        description="A local Batch API that speaks the wire of Cloudflare Workers AI.",
    )
    add_arguments(parser, data=Path("data/sandbox.sqlite3"))
    given = vars(parser.parse_args(arguments))
    return serve(host=given.pop("host"), port=given.pop("port"), options=from_arguments(given))


if __name__ == "__main__":
    sys.exit(main())
