"""`manage.py bench`: the product's path beside the script a programmer would write instead."""

import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from batchui.bench import bare, echo

WORDS = ("room", "view", "breakfast", "quiet", "clean", "station", "desk", "pool", "towel")
MODEL_PATH = "accounts/bench/ai/run/@cf/meta/llama-4-scout-17b-16e-instruct"


class Command(BaseCommand):
    help = (
        "Measure (a) a bare script and (b) the product's own path on the same file against the "
        "same local echo server, and print the ratio b/a."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rows", type=int, default=100_000)

    def handle(self, *args: Any, **options: Any) -> None:
        rows = options["rows"]
        with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder, echo_server() as url:
            source = Path(folder, "reviews.csv")
            write_file(source, rows)
            megabytes = source.stat().st_size / 1_000_000
            self.stdout.write(f"{rows:,} rows, {megabytes:,.0f} MB; answers of 300 bytes")
            bare_result = _run(
                [bare.__file__, source, Path(folder, "bare.csv"), f"{url}/{MODEL_PATH}"]
            )
            product = _run(
                ["-m", "batchui.bench.product", source, Path(folder, "product.csv")],
                _environment(folder, url),
            )
            self._check(rows, product, Path(folder, "bare.csv"), Path(folder, "product.csv"))
        self._report(rows, bare_result, product)

    def _check(self, rows: int, product: dict[str, Any], one: Path, other: Path) -> None:
        """Both must have answered every row, with the same answers: else there is no figure."""
        if product["answered"] != rows:
            raise CommandError(f"Only {product['answered']:,} of {rows:,} rows were answered.")
        with one.open(newline="") as first, other.open(newline="") as second:
            for line, (a, b) in enumerate(zip(csv.reader(first), csv.reader(second), strict=True)):
                if a != b[: len(a)]:
                    raise CommandError(f"The two results differ in line {line + 1:,}.")

    def _report(self, rows: int, bare_result: dict[str, Any], product: dict[str, Any]) -> None:
        a, b = bare_result["seconds"], sum(product["steps"].values())
        write = self.stdout.write
        write(f"{'':24}{'seconds':>9}{'rows/s':>12}{'peak MB':>10}")
        write(f"{'a  bare script':24}{a:9.2f}{rows / a:12,.0f}{bare_result['peak_mb']:10.0f}")
        write(f"{'b  product':24}{b:9.2f}{rows / b:12,.0f}{product['peak_mb']:10.0f}")
        for name, seconds in product["steps"].items():
            write(f"{'   ' + name:24}{seconds:9.2f}{rows / seconds:12,.0f}")
        write(f"b/a {b / a:.2f}")


def write_file(path: Path, rows: int) -> None:
    """A file of `rows` reviews of about 200 bytes, always the same."""
    pick = random.Random(1)  # noqa: S311
    texts = [" ".join(pick.choices(WORDS, k=32))[:190] for _ in range(1000)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "city", "review"))
        writer.writerows(
            (number, "Lisbon", f"{number}: {texts[number % 1000]}") for number in range(rows)
        )


@contextmanager
def echo_server() -> Iterator[str]:
    """The echo server in a process of its own. Yields its address."""
    process = subprocess.Popen([sys.executable, echo.__file__], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None  # noqa: S101
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()


def _environment(folder: str, url: str) -> dict[str, str]:
    return os.environ | {
        "BATCHUI_DATA": str(Path(folder, "data")),
        "DATABASE_URL": "",
        "CLOUDFLARE_API_URL": url,
        "CLOUDFLARE_ACCOUNT_ID": "bench",
        "CLOUDFLARE_API_TOKEN": "bench",
        "BATCHUI_CALLS_PER_5_MINUTES": "1000000",
        "BATCHUI_FIRST_POLL_SECONDS": "0.05",
    }


def _run(arguments: list[object], environment: dict[str, str] | None = None) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=settings.BASE_DIR,
        env=environment,
    )
    if done.returncode:
        raise CommandError(f"{arguments[0]} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
