"""The objects that every handler of the sandbox needs."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from batchui.sandbox.models import MODELS, Model
from batchui.sandbox.options import Options
from batchui.sandbox.schedule import Schedule
from batchui.sandbox.scripted_faults import Script
from batchui.sandbox.store import Store
from batchui.sandbox.upstream.crews import Crews


@dataclass(slots=True, kw_only=True)
class Context:
    """The objects of one sandbox. clock: seconds since 1970. stop: ends every wait."""

    options: Options
    store: Store
    clock: Callable[[], float]
    schedule: Schedule
    crews: Crews
    models: dict[str, Model] = field(default_factory=MODELS.copy)
    script: Script = field(default_factory=Script)
    stop: threading.Event = field(default_factory=threading.Event)
