"""Runs a module of the bench that needs the product's tables, in a process of its own.

    python -m batchui.bench.with_django MODULE ARGUMENT…

Settings come from the environment (`surroundings.py`), as in `product.py`.
"""

import importlib
import sys

from batchui.bench import product


def main(name: str, *arguments: str) -> None:
    """Make the tables, then call `main(ARGUMENT…)` of the module."""
    product.make_tables()
    importlib.import_module(name).main(*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
