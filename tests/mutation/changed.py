"""Which functions have changed since a commit. One that has only moved is not among them."""

import ast
import io
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def changed_functions(paths: Iterable[str], since: str) -> set[str]:
    """The functions of these files whose code is not in any file of that commit, by mutmut's names.

    Ends the program, with git's words, if there is no such commit.
    """
    before = {code for source in sources_at(since) for _, code in functions(source)}
    return {
        f"{module_of(path)}.{name}"
        for path in paths
        for name, code in functions(Path(path).read_text())
        if code not in before
    }


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def functions(source: str) -> Iterator[tuple[str, str]]:
    """Every function of a module and method of its classes: mutmut's name for it, and its code."""
    for node in ast.parse(source).body:
        if isinstance(node, FUNCTIONS):
            yield f"x_{node.name}", ast.dump(node)
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, FUNCTIONS):
                    yield f"xǁ{node.name}ǁ{method.name}", ast.dump(method)


def sources_at(commit: str) -> Iterator[str]:
    done = subprocess.run(["git", "archive", commit, "batchui"], capture_output=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.decode())
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in archive:
            if member.name.endswith(".py") and (file := archive.extractfile(member)):
                yield file.read().decode()
