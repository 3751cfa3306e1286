"""What was prepared, for the process that keeps the services running (standard library only).

Preparation needs Django, which takes 80 MB. To keep services running needs none of it. So when all
is prepared, the process replaces itself by the same command with `--prepared`, which reads here
what is to be run. Its id stays the same, and so does its lock on the data folder.
"""

import json
import os
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn, Self

from batchui.up.supervisor import Service


@dataclass(frozen=True)
class ToRun:
    """A service to be run: its name, command and environment."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]

    def service(self) -> Service:
        """The service, which does not run yet."""
        return Service(self.name, self.command, self.environment)


@dataclass(frozen=True)
class Plan:
    """What is run and said.

    address: of the pages. first_page: the path to open first. notice: said at the start, if it is
    not empty. address_file: where other commands (`submit`) read the address while it runs.
    """

    address: str
    first_page: str
    notice: str
    address_file: str
    services: Sequence[ToRun]

    def hand_over(self, *, locks: Collection[int]) -> NoReturn:
        """Go on as a process without Django, which gets this plan.

        locks: file descriptors that it keeps open, so that their locks stay.
        """
        with tempfile.TemporaryFile() as file:  # it holds secrets, and nobody else can open it
            file.write(json.dumps(asdict(self)).encode())
            file.seek(0)
            for kept in (*locks, file.fileno()):
                os.set_inheritable(kept, True)
            sys.stdout.flush()
            same = [sys.executable, *sys.orig_argv[1:], f"--prepared={file.fileno()}"]
            os.execv(sys.executable, same)  # noqa: S606

    @classmethod
    def read(cls, descriptor: int) -> Self:
        """The plan in an open file, which is closed."""
        with os.fdopen(descriptor, "rb") as file:
            found = json.load(file)
        services = [ToRun(**service) for service in found.pop("services")]
        return cls(**found, services=services)

    @contextmanager
    def announced(self) -> Iterator[None]:
        """While the context lasts, tell other commands the address of the pages."""
        path = Path(self.address_file)
        path.write_text(self.address)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
