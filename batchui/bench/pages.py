"""`manage.py bench --pages`: what each page costs beside many rows, parts and batches.

A team is made in a folder that is thrown away, with three batches of so many rows (one that has
ended, one that runs, one draft) and many small ones; then every page is opened, in a process of its
own (`page_times.py`).
"""

from collections.abc import Iterator
from typing import Any

from batchui.batches.phrases import Say
from batchui.bench.figures import Figures, unit_seconds
from batchui.bench.own_process import lines_of

MODULE = "batchui.bench.page_times"
# What no page should exceed: milliseconds of CPU, and bytes of a first load, in Brotli and by gzip.
MOST_MS, MOST_BYTES, MOST_BY_GZIP = 100, 50_000, 55_000
WIDTH = 26


def measure(
    *, rows: int, parts: int, batches: int, repeat: int, say: Say, database: str = ""
) -> Figures:
    """Print a line for each page. database: the address of an empty one; "" for SQLite.

    Returns what is the sum of all pages, and the heaviest. Raises BenchFailed where a page cannot
    be opened.
    """
    over: list[str] = []
    seen: list[dict[str, Any]] = []
    unit = unit_seconds()
    sizes = (rows, parts, batches, repeat)
    for line in lines_of(MODULE, *sizes, what="The pages", database=database):
        if "made" in line:
            say(
                f"{rows:,} rows in each of three batches, {line['parts']:,} parts, {batches:,} "
                f"small batches, {line['database']}; made in {line['made']:.0f} s. {repeat} visits "
                f"of each page.\n"
            )
        elif "words" in line:
            say(
                f"Search for “{line['words']}”: {line['found']:,} rows in {line['seconds']:.2f} s, "
                f"{line['cpu']:.2f} s of CPU."
            )
        else:
            if not over and line["page"] == "batches":
                say(_head())
            say(_line(line))
            over += _over(line)
            seen.append(line)
    most = f"{MOST_MS} ms, {MOST_BYTES:,} bytes, or {MOST_BY_GZIP:,} by gzip"
    say(f"\nOver {most}: {', '.join(over) or 'no page'}.")
    return {
        "all pages together, units of CPU": sum(line["median"] for line in seen) / unit,
        "the slowest page, units of CPU": max(line["median"] for line in seen) / unit,
        "all pages together, queries": sum(line["queries"] for line in seen),
        "the heaviest first load, bytes": max(line["first"] or 0 for line in seen),
        "all pages again, bytes": sum(line["again"] for line in seen),
    }


def _head() -> str:
    cpu = f"{'CPU ms':>9}{'worst':>7}"
    return f"\n{'':{WIDTH}}{cpu}{'queries':>9}{'first load':>12}{'by gzip':>9}{'again':>9}"


def _line(line: dict[str, Any]) -> str:
    first, elder = (f"{line[name]:,}" if line[name] else "" for name in ("first", "gzip"))
    cpu = f"{1000 * line['median']:9.0f}{1000 * line['worst']:7.0f}"
    return f"{line['page']:{WIDTH}}{cpu}{line['queries']:9}{first:>12}{elder:>9}{line['again']:9,}"


def _over(line: dict[str, Any]) -> Iterator[str]:
    weighs, by_gzip = line["first"] or 0, line["gzip"] or 0
    if 1000 * line["median"] > MOST_MS or weighs > MOST_BYTES or by_gzip > MOST_BY_GZIP:
        yield line["page"]
