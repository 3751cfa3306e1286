"""The folder list is the architecture: who may import whom."""

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "batchui"

# Every package and every module beside them, and which of ours it may import besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    # What Django reads first.
    "environment": set(),
    "keys": set(),
    "logs": set(),
    "security_log": set(),
    "settings": {"environment", "keys", "logs"},
    "checks": {"keys"},
    "data_folder": {"keys"},
    "urls": {"web", "worker"},
    "wsgi": {"checks", "data_folder", "worker"},
    # What all who serve pages do first.
    "gathering": set(),
    # What the commands of all packages share.
    "commands": set(),
    # Plain packages.
    "processes": set(),
    "sandbox": set(),
    "prompts": set(),
    "cloudflare": set(),
    "exports": set(),
    "pictures": {"prompts"},
    # The product.
    "teams": {"keys", "security_log", "cloudflare"},
    "batches": {
        *("security_log", "teams", "prompts", "cloudflare", "exports", "pictures"),
        "commands",
    },
    "worker": {
        *("batches", "teams", "prompts", "checks", "data_folder", "keys", "processes"),
        "commands",
    },
    "web": {
        *("worker", "batches", "teams", "prompts", "cloudflare", "exports", "processes"),
        *("security_log", "pictures", "commands", "gathering"),
    },
    "backup": {"worker", "batches", "teams", "keys", "commands"},
    "doctor": {"worker", "batches", "teams", "prompts", "cloudflare", "commands"},
    "up": {"worker", "teams", "checks", "data_folder", "gathering", "processes"},
    # It kills the product, and lets the doctor look.
    "chaos": {
        *("doctor", "worker", "batches", "cloudflare", "teams", "prompts", "processes", "sandbox"),
        *("bench", "up", "commands"),
    },
    # The measuring stick: it drives the product from outside.
    "bench": {"worker", "batches", "teams", "prompts", "exports", "processes"},
}
PLAIN = ("processes", "sandbox", "prompts", "cloudflare", "exports", "pictures")
# Commands are doors from the terminal: each may open the package it is named after.
DOORS = {
    "batches/management/commands/sandbox.py": {"data_folder", "sandbox"},
    "web/management/commands/bench.py": {"bench"},
    "web/management/commands/serve_pages.py": {"wsgi"},
}
# Where an import may stand inside a function: what has to run before Django is there.
MAY_IMPORT_LATE = ("management/commands/", "apps.py", "up/start.py", "bench/product.py")


@cache
def modules(name: str) -> list[tuple[str, ast.Module]]:
    """Every module of a package, or the one module of that name: its path and its code."""
    paths = [ROOT / f"{name}.py"] if (ROOT / f"{name}.py").exists() else (ROOT / name).rglob("*.py")
    return [
        (str(path.relative_to(ROOT)), ast.parse(path.read_text()))
        for path in paths
        if "migrations" not in path.parts
    ]


@cache
def imported(path: str, code: ast.AST) -> set[str]:
    """The full names that a module imports, wherever in it."""
    package = ["batchui", *Path(path).parts[:-1]]
    found: set[str] = set()
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return found


def ours(names: set[str]) -> set[str]:
    """The packages and modules of ours among imported names."""
    return {name.split(".")[1] for name in names if name.startswith("batchui.")}


def users(library: str) -> set[str]:
    """The modules that import a library."""
    return {
        path
        for name in MAY_IMPORT
        for path, code in modules(name)
        if any(found.split(".")[0] == library for found in imported(path, code))
    }


def test_every_package_and_module_has_a_row() -> None:
    there = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert there - {"__init__", "__pycache__"} == set(MAY_IMPORT)


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_a_package_imports_only_what_stands_below_it(name: str) -> None:
    for path, code in modules(name):
        allowed = MAY_IMPORT[name] | {name} | DOORS.get(path, set())
        found = ours(imported(path, code)) & set(MAY_IMPORT)
        assert found <= allowed, f"{path} imports {found - allowed}"


def test_no_row_allows_what_nobody_uses() -> None:
    for name, allowed in MAY_IMPORT.items():
        used: set[str] = set()
        for path, code in modules(name):
            used |= ours(imported(path, code))
        assert allowed <= used, f"{name} does not import {allowed - used}"
    for path, allowed in DOORS.items():
        used = ours(imported(path, ast.parse((ROOT / path).read_text())))
        assert allowed <= used, f"{path} does not import {allowed - used}"


def test_there_is_no_circle() -> None:
    """Neither of packages, as the rows say, nor of modules, as they are."""
    assert not circle({name: set(below) for name, below in MAY_IMPORT.items()})
    graph = {}
    for name in MAY_IMPORT:
        for path, code in modules(name):
            module = "batchui." + path.removesuffix(".py").replace("/", ".")
            graph[module.removesuffix(".__init__")] = imported(path, code)
    assert not circle({module: names & set(graph) - {module} for module, names in graph.items()})


def circle(graph: dict[str, set[str]]) -> set[str]:
    """What is left when everything that leads to an end is taken away."""
    left = dict(graph)
    while ends := [name for name, below in left.items() if not below & set(left)]:
        for name in ends:
            del left[name]
    return set(left)


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == {"a", "b", "c"}
    assert not circle({"a": {"b", "c"}, "b": {"c"}, "c": set()})


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_imports_of_ours_stand_at_the_top(name: str) -> None:
    """One inside a function hides which way the arrow goes."""
    for path, code in modules(name):
        if any(late in path for late in MAY_IMPORT_LATE):
            continue
        for function in ast.walk(code):
            if isinstance(function, ast.FunctionDef):
                assert not ours(imported(path, function)), f"{path}: {function.name}"


@pytest.mark.parametrize("folder", PLAIN)
def test_the_plain_packages_know_no_django(folder: str) -> None:
    for path, code in modules(folder):
        assert not any(name.split(".")[0] == "django" for name in imported(path, code)), path


def test_migrations_take_nothing_from_code_that_changes_later() -> None:
    """But for what makes the id of a database, which Django calls by its name."""
    for path in ROOT.rglob("migrations/*.py"):
        found = imported(str(path.relative_to(ROOT)), ast.parse(path.read_text()))
        taken = {name for name in found if name.startswith("batchui.")}
        made = {"batchui.worker.models", "batchui.worker.models.new_database_id"}
        assert taken <= made, f"{path} imports {taken - made}"


def test_only_the_client_speaks_http() -> None:
    # The bare script of the benchmark is what a programmer would write instead of all this; its
    # person is somebody's browser.
    outside = {path for path in users("httpx") if not path.startswith("cloudflare/")}
    assert outside == {"bench/bare.py", "bench/person.py"}


def modules_after(*lines: str) -> set[str]:
    """Every module that a process has imported after these lines."""
    program = "\n".join(["import django, sys", "django.setup()", *lines, "print(*sys.modules)"])
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "batchui.settings"}
    command = [sys.executable, "-c", program]
    return set(
        subprocess.check_output(command, cwd=ROOT.parent, env=environment, text=True).split()
    )


# What most processes never need: a fifth of a second each time one is started.
HEAVY = {"PIL", "xlsxwriter", "python_calamine", "batchui.worker.tasks"}


def test_a_process_that_is_started_imports_no_more_than_it_needs() -> None:
    found = modules_after()
    assert "batchui.worker.apps" in found
    assert not found & (HEAVY | {"httpx"})


def test_the_watchdog_keeps_no_pages_in_memory_and_checks_all_settings() -> None:
    found = modules_after(
        "from batchui.worker.management.commands.worker import Command",
        "Command().check(tags=Command.requires_system_checks)",
        "from django.core.checks.registry import registry",
        "tags = Command.requires_system_checks",
        "print(*(one.__name__ for one in registry.get_checks() if set(one.tags) & set(tags)))",
    )
    assert "settings_are_right" in found
    assert not found & (HEAVY | {"batchui.urls", "batchui.web.pages"})


def test_only_the_tasks_and_the_worker_know_django_q() -> None:
    assert users("django_q") == {
        "worker/tasks.py",
        "worker/waking.py",
        "worker/queue.py",
        "worker/cluster.py",
        "worker/management/commands/worker.py",
    }


def test_only_the_settings_decide_by_the_environment() -> None:
    """Beside them, programs that start others hand it on, and some run before Django is there."""
    first = {"settings.py", "environment.py", "wsgi.py"}
    programs = {"up", "processes", "bench", "chaos", "sandbox", "worker"}
    for path in ROOT.rglob("*.py"):
        inside = path.relative_to(ROOT)
        if inside.parts[0] not in first | programs:
            assert "environ" not in re.findall(r"os\.(\w+)", path.read_text()), inside
            assert "getenv" not in path.read_text(), inside


def test_a_forbidden_import_is_found() -> None:
    code = ast.parse("from ..batches import models\nimport httpx\nfrom batchui import teams")
    names = imported("prompts/bad.py", code)
    assert ours(names) == {"batches", "teams"}
    assert "httpx" in names
