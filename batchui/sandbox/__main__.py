"""`python -m batchui.sandbox`: the sandbox without Django."""

import argparse
import sys
from pathlib import Path

from batchui.sandbox.options import Options, add_arguments
from batchui.sandbox.server import serve


def main(arguments: list[str] | None = None) -> int:
    """Serve as the command line says. Returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m batchui.sandbox",
        description="A local Batch API that speaks the wire of Cloudflare Workers AI.",
    )
    add_arguments(parser, data=Path("data/sandbox.sqlite3"))
    given = parser.parse_args(arguments)
    return serve(host=given.host, port=given.port, options=Options(data=given.data))


if __name__ == "__main__":
    sys.exit(main())
