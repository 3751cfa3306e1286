"""Waits for all sockets of a web process, at a price that does not grow with them.

waitress asks each connection before each wait whether it wants to read or to write. A thousand
pages that are watched keep a thousand connections, of which hardly any does anything at a time.
Here the kernel keeps what each one waits for, and only those are asked of which something has come,
or whose request is worked on.
"""

import selectors
from contextlib import suppress
from typing import Any

from waitress import wasyncore

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class Sockets(dict[int, Any]):
    """The sockets of a process, by file number: waitress puts them in and takes them out."""

    def __init__(self) -> None:
        super().__init__()
        self._kernel = selectors.DefaultSelector()
        # Those whose wishes may change without an event: a thread works for them.
        self._restless: set[int] = set()

    def __setitem__(self, number: int, one: Any) -> None:
        super().__setitem__(number, one)
        self._restless.add(number)

    def __delitem__(self, number: int) -> None:
        super().__delitem__(number)
        self._restless.discard(number)
        with suppress(KeyError):
            self._kernel.unregister(number)

    def turn(self, timeout: float) -> None:
        """Wait until one of them can do what it wishes, `timeout` seconds at most, and let it."""
        for number in list(self._restless):
            self._look_at(number, keep=READ)
        for key, events in self._kernel.select(timeout):
            number = key.fd
            if (one := self.get(number)) is None:  # closed by one before it
                continue
            wished = _wishes(one)
            if events & wished & READ:
                wasyncore.read(one)
            if events & wished & WRITE and number in self:
                wasyncore.write(one)
            if number in self:
                self._restless.add(number)
                if not events & wished:
                    self._look_at(number, keep=0)

    def look_at_all(self) -> None:
        """Ask each of them what it wishes: the server decides to close those that are silent."""
        for number in list(self):
            self._look_at(number, keep=READ)

    def _look_at(self, number: int, *, keep: int) -> None:
        """Tell the kernel what a socket wishes.

        keep: what the kernel may go on to wait for, although it is not wished now. Nearly always
        nothing more comes until the reply is there; then nothing has to be told to the kernel.
        """
        one = self[number]
        wished = _wishes(one)
        known = self._kernel.get_map().get(number)
        waited_for = known.events if known else 0
        wanted = wished | waited_for & keep
        if wanted != waited_for:
            if not waited_for:
                self._kernel.register(number, wanted)
            elif wanted:
                self._kernel.modify(number, wanted)
            else:
                self._kernel.unregister(number)
        if not getattr(one, "is_restless", False):
            self._restless.discard(number)


def _wishes(one: Any) -> int:
    return (READ if one.readable() else 0) | (WRITE if one.writable() and not one.accepting else 0)
