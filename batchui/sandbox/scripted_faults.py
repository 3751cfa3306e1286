"""The script of faults: which call goes wrong, and how. The package's docstring has the tables."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec

Call = Literal["submit", "poll", "run", "search", "schema"]
ALL_CALLS: frozenset[str] = frozenset({"submit", "poll", "run", "search", "schema"})


@dataclass(frozen=True, slots=True)
class FaultKind:
    """What a fault can go with: calls, and the forms it comes in (the first is the default)."""

    calls: frozenset[str] = ALL_CALLS
    forms: tuple[str, ...] = ()
    of_items: bool = False


_SUBMIT, _POLL = frozenset({"submit"}), frozenset({"poll"})

FAULT_KINDS: dict[str, FaultKind] = {
    "error": FaultKind(),
    "delay": FaultKind(),
    "cut_before": FaultKind(),
    "cut_after": FaultKind(),
    "garbage": FaultKind(),
    "truncated": FaultKind(),
    "other_status": FaultKind(),
    "no_model": FaultKind(_SUBMIT),
    "no_request_id": FaultKind(_SUBMIT),
    "forgotten": FaultKind(_SUBMIT),
    "slow_start": FaultKind(_SUBMIT),
    "queued": FaultKind(_POLL),
    "running": FaultKind(_POLL),
    "batch_failed": FaultKind(_POLL, ("failed", "error")),
    "missing": FaultKind(_POLL, of_items=True),
    "duplicate": FaultKind(_POLL, of_items=True),
    "contradiction": FaultKind(_POLL, of_items=True),
    "unknown_id": FaultKind(_POLL, of_items=True),
    "wrong_reference": FaultKind(_POLL, of_items=True),
    "failed": FaultKind(_POLL, ("text", "object"), of_items=True),
    "empty": FaultKind(
        frozenset({"poll", "run"}),
        ("null", "blank", "list", "object", "empties", "result"),
        of_items=True,
    ),
}


class Step(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line of the script. Zero and "" mean "not given"; `times` 0 means for ever."""

    fault: str
    call: Literal["submit", "poll", "run", "search", "schema", "any"] = "any"
    model: str = ""
    state: Literal["", "queued", "running", "finished"] = ""
    nth: Annotated[int, msgspec.Meta(ge=1)] = 1
    times: Annotated[int, msgspec.Meta(ge=0)] = 1
    seconds: Annotated[float, msgspec.Meta(ge=0)] = 0
    status: int = 0
    code: int = 0
    message: str = ""
    retry_after: str | int = ""
    body: str = "<html><body>Service temporarily out of its mind</body></html>"
    form: str = ""
    reset: bool = False
    items: list[int] = []
    every: Annotated[int, msgspec.Meta(ge=0)] = 0

    def __post_init__(self) -> None:
        known = FAULT_KINDS.get(self.fault)
        if known is None:
            raise ValueError(f"There is no fault {self.fault!r}. Known: {', '.join(FAULT_KINDS)}.")
        if self.call != "any" and self.call not in known.calls:
            calls = " or ".join(sorted(known.calls))
            raise ValueError(f"The fault {self.fault!r} goes with {calls}, not with {self.call}.")
        if self.form and self.form not in known.forms:
            forms = ", ".join(known.forms) or "none"
            raise ValueError(f"The fault {self.fault!r} has no form {self.form!r}. Forms: {forms}.")
        if self.status and not 200 <= self.status <= 599:
            raise ValueError(f"{self.status} is no HTTP status of an answer (200 to 599).")
        self.form = self.form or "".join(known.forms[:1])

    def concerns(self, position: int) -> bool:
        """Whether an item (by its position in the array sent) is one of those it spoils."""
        if self.every:
            return position % self.every == 0
        return position in self.items if self.items else position == 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes wrong with one call: at most one fault of the call, any number of items' faults."""

    step: Step | None = None
    of_items: Sequence[Step] = ()

    @property
    def fault(self) -> str:
        return self.step.fault if self.step else ""

    @property
    def names(self) -> str:
        steps = [self.step] if self.step else []
        return " ".join(step.fault for step in [*steps, *self.of_items])


@dataclass(slots=True)
class _Line:
    step: Step
    seen: int = 0
    used: int = 0

    def matches(self, call: str, *, model: str, state: str) -> bool:
        step, fault = self.step, FAULT_KINDS[self.step.fault]
        # An item can only be spoilt in a reply that has items.
        wanted = step.state or ("finished" if fault.of_items and call == "poll" else "")
        return (
            call in fault.calls
            and step.call in {"any", call}
            and step.model in {"", model}
            and wanted in {"", state}
        )

    def fires(self) -> bool:
        """Count a call that matches; whether it is this step's turn."""
        self.seen += 1
        turn = self.seen >= self.step.nth and (not self.step.times or self.used < self.step.times)
        self.used += turn
        return turn


@dataclass(slots=True)
class Script:
    """The steps now in force, safe to use from many threads."""

    _lines: list[_Line] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def replace(self, steps: Sequence[Step]) -> None:
        with self._lock:
            self._lines = [_Line(step) for step in steps]

    def extend(self, steps: Sequence[Step]) -> None:
        with self._lock:
            self._lines += [_Line(step) for step in steps]

    def shown(self) -> list[dict[str, Any]]:
        with self._lock:
            return [
                {**msgspec.to_builtins(line.step), "seen": line.seen, "used": line.used}
                for line in self._lines
            ]

    def plan(self, call: Call, *, model: str = "", state: str = "") -> Plan:
        """What the script has for this call. A step that fires is used up by one."""
        with self._lock:
            lines = [line for line in self._lines if line.matches(call, model=model, state=state)]
            step = None
            for line in lines:
                if not FAULT_KINDS[line.step.fault].of_items and line.fires():
                    step = line.step
                    break
            if step and step.fault in {"error", "cut_before", "queued", "running", "batch_failed"}:
                return Plan(step)
            return Plan(
                step,
                [x.step for x in lines if FAULT_KINDS[x.step.fault].of_items and x.fires()],
            )


def read_steps(body: bytes) -> list[Step]:
    """The steps in a JSON list, or a single one. Raises ValueError with a sentence."""
    try:
        if body.lstrip().startswith(b"{"):
            return [msgspec.json.decode(body, type=Step)]
        return msgspec.json.decode(body, type=list[Step])
    except msgspec.MsgspecError as exc:
        raise ValueError(str(exc)) from None
