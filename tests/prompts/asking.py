"""A row, and questions about it."""

import json
from typing import Any

from batchui.prompts.ask import Ask
from batchui.prompts.items import ItemWriter

COLUMNS = ("id", "review")

CELLS = ["r-1", 'Good "stuff"\n– 100 %']

FILLED = 'Rate:\nGood "stuff"\n– 100 %!'


def ask(**changes: Any) -> Ask:
    return Ask(**{"template": "Rate:\n{{review}}!", **changes})


def item(
    item_format: str, cells: Any = CELLS, columns: tuple[str, ...] = COLUMNS, **changes: Any
) -> Any:
    return json.loads(ItemWriter(item_format, ask(**changes), columns).encode(42, cells))
