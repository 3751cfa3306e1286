"""The server of llama.cpp, as a process: `python -m tests.sandbox.upstream.llama_server MODEL …`.

It comes from PyPI as `xllamacpp`: llama.cpp itself, with its own HTTP server, in one library. It is
a process of its own, so that it can be killed.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from batchui.up.venv import ROOT


@contextmanager
def llama_server(
    model: Path, *, port: int = 0, key: str = "", embeddings: bool = False
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its address, until the context ends. port: 0 for any free one."""
    command = [sys.executable, "-m", __name__, str(model), "--port", str(port), "--key", key]
    command += ["--embeddings"] if embeddings else []
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "the server of llama.cpp did not start"
        yield process, address
    finally:
        process.kill()
        process.communicate()


def main() -> None:
    """Serve until the standard input ends, as it does when the test that started this is gone."""
    import xllamacpp

    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--port", type=int)
    parser.add_argument("--key")
    parser.add_argument("--embeddings", action="store_true")
    given = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = given.model
    params.model_alias = {"tiny"}
    params.port = given.port
    params.n_parallel = 2
    params.n_ctx = 1024
    params.cpuparams.n_threads = 1
    params.warmup = False
    params.api_keys = [given.key] if given.key else []
    if given.embeddings:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201 - it is read by the test
    sys.stdin.read()


if __name__ == "__main__":
    main()
