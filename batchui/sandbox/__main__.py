"""`python -m batchui.sandbox`: the sandbox without Django."""

import argparse
import os
import sys
from pathlib import Path

from batchui.sandbox.options import Options, add_arguments
from batchui.sandbox.server import serve
from batchui.sandbox.upstream.settings import from_environment

TOKEN = "BATCHUI_SANDBOX_TOKEN"  # noqa: S105 - the name of the variable


def main(arguments: list[str] | None = None) -> int:
    """Serve as the command line says. Returns the exit status.

    The token comes from the environment, because other users of the machine see command lines, and
    so does the upstream with its key.
    """
    parser = argparse.ArgumentParser(
        prog="python -m batchui.sandbox",
        allow_abbrev=False,
        description="A local Batch API that speaks the wire of Cloudflare Workers AI.",
    )
    add_arguments(parser, data=Path("data/sandbox.sqlite3"))
    given = parser.parse_args(arguments)
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        parser.error(f"Set {TOKEN} to the token that callers must send, any long random text.")
    try:
        upstream = from_environment()
    except ValueError as exc:
        parser.error(str(exc))
    options = Options(
        token=token,
        control=given.control,
        binding=given.binding,
        data=given.data,
        upstream=upstream,
    )
    return serve(host=given.host, port=given.port, options=options)


if __name__ == "__main__":
    sys.exit(main())
