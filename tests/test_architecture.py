"""The folder list is the architecture: who may import whom."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "batchui"

# A package and which of ours it may import, besides itself.
MAY_IMPORT = {
    "sandbox": set(),
    "prompts": set(),
    "cloudflare": set(),
    "exports": set(),
    "teams": {"cloudflare"},
    "batches": {"teams", "prompts", "cloudflare"},
    "web": {"batches", "teams", "prompts", "cloudflare", "exports"},
    # The measuring stick: it drives the product from outside.
    "bench": {"batches", "teams", "cloudflare", "web"},
}
PLAIN = ("sandbox", "prompts", "cloudflare", "exports")
# Commands are doors from the terminal: each may open the package it is named after.
DOORS = {
    "batches/management/commands/sandbox.py": {"sandbox"},
    "web/management/commands/bench.py": {"bench"},
}


def modules(folder: str) -> Iterator[tuple[str, set[str]]]:
    """Every module of a package with the full names it imports."""
    for path in (ROOT / folder).rglob("*.py"):
        if "migrations" in path.parts:
            continue
        yield str(path.relative_to(ROOT)), set(imported(path))


def imported(path: Path) -> Iterator[str]:
    package = ["batchui", *path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def ours(names: set[str]) -> set[str]:
    """The packages of ours among imported names."""
    found = {name.split(".")[1] for name in names if name.startswith("batchui.")}
    return found & set(MAY_IMPORT)


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_a_package_imports_only_what_stands_below_it(folder: str) -> None:
    for path, names in modules(folder):
        allowed = MAY_IMPORT[folder] | {folder} | DOORS.get(path, set())
        assert ours(names) <= allowed, f"{path} imports {ours(names) - allowed}"


@pytest.mark.parametrize("folder", PLAIN)
def test_the_plain_packages_know_no_django(folder: str) -> None:
    for path, names in modules(folder):
        assert not any(name.split(".")[0] == "django" for name in names), path


def test_only_the_client_speaks_http() -> None:
    users = {
        path
        for folder in MAY_IMPORT
        for path, names in modules(folder)
        if any(name.split(".")[0] == "httpx" for name in names)
    }
    # The bare script of the benchmark is what a programmer would write instead of all this, and
    # a connection hands a transport through to its client.
    assert {path for path in users if not path.startswith("cloudflare/")} <= {
        "bench/bare.py",
        "teams/connections.py",
    }


def test_only_the_tasks_and_the_worker_know_django_q() -> None:
    users = {
        path
        for folder in MAY_IMPORT
        for path, names in modules(folder)
        if any(name.split(".")[0] == "django_q" for name in names)
    }
    assert users <= {
        "batches/tasks.py",
        "batches/watchdog.py",
        "batches/management/commands/worker.py",
    }


def test_the_check_finds_a_forbidden_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "bad.py").write_text("from ..batches import models\nimport httpx")
    monkeypatch.setattr("tests.test_architecture.ROOT", tmp_path)
    ((_, names),) = modules("prompts")
    assert ours(names) == {"batches"}
    assert "httpx" in names
