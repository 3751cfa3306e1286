"""The script of faults: which call fails, and how. The package's docstring lists the faults."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args

import msgspec

Call = Literal["submit", "poll", "run", "search", "schema", "pull", "ack"]


@dataclass(frozen=True, slots=True)
class FaultKind:
    """The calls that a fault is possible in, and its forms (the first is the default).

    of_items: it changes items of a reply, not the whole call.
    """

    calls: frozenset[str] = frozenset(get_args(Call))
    forms: tuple[str, ...] = ()
    of_items: bool = False

    def check(self, step: "Step") -> None:
        """Raise ValueError if the call or the form of a step does not fit this fault."""
        if step.call not in {"any", *self.calls}:
            calls = " or ".join(sorted(self.calls))
            raise ValueError(f"The fault {step.fault!r} is for {calls}, not for {step.call}.")
        if step.form not in {"", *self.forms}:
            forms = ", ".join(self.forms) or "none"
            raise ValueError(f"The fault {step.fault!r} has no form {step.form!r}. Forms: {forms}.")


_OF_CALLS = ("error", "delay", "cut_before", "cut_after", "garbage", "truncated", "other_status")
_OF_SUBMISSIONS = ("no_model", "no_request_id", "forgotten")
_OF_ITEMS = ("missing", "duplicate", "contradiction", "unknown_id", "wrong_reference")
_EMPTY = ("null", "blank", "list", "object", "empties", "text", "result")
_UNFIT = ("words", "other", "cut", "fenced")
_AS_A_WHOLE = ("failed", "error", "errors", "no_result", "null_result", "no_array", "bare")
_POLL = frozenset({"poll"})

FAULT_KINDS: dict[str, FaultKind] = {
    **dict.fromkeys(_OF_CALLS, FaultKind()),
    **dict.fromkeys(_OF_SUBMISSIONS, FaultKind(frozenset({"submit"}))),
    **dict.fromkeys(("queued", "running"), FaultKind(_POLL)),
    "batch_failed": FaultKind(_POLL, _AS_A_WHOLE),
    **dict.fromkeys(_OF_ITEMS, FaultKind(_POLL, of_items=True)),
    "failed": FaultKind(_POLL, ("text", "object"), of_items=True),
    "numbering": FaultKind(_POLL, ("text", "both", "own", "none"), of_items=True),
    "empty": FaultKind(_POLL | {"run"}, _EMPTY, of_items=True),
    "unfit": FaultKind(_POLL | {"run"}, _UNFIT, of_items=True),
    **dict.fromkeys(("cut_off", "tool_calls"), FaultKind(_POLL | {"run"}, of_items=True)),
    "reasoning": FaultKind(_POLL | {"run"}, ("length", "stop"), of_items=True),
}
# With these, the answer to a call has no items.
_WITHOUT_ITEMS = frozenset({"error", "cut_before", "queued", "running", "batch_failed"})


class Step(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One scripted fault: a line of the script.

    Zero and "" mean "not given"; `times` 0 means for ever. Raises ValueError, with a sentence, for
    a fault that does not exist, or not with this call, form or status.
    """

    fault: str
    call: Literal[Call, "any"] = "any"
    model: str = ""
    containing: str = ""
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
        kind = FAULT_KINDS.get(self.fault)
        if kind is None:
            raise ValueError(f"There is no fault {self.fault!r}. Known: {', '.join(FAULT_KINDS)}.")
        kind.check(self)
        if self.status and not 200 <= self.status <= 599:
            raise ValueError(f"{self.status} is no HTTP status of an answer (200 to 599).")
        self.form = self.form or "".join(kind.forms[:1])

    def concerns(self, position: int) -> bool:
        """Whether it changes the item at this position in the array sent."""
        if self.every:
            return position % self.every == 0
        return position in self.items if self.items else position == 0


@dataclass(frozen=True, slots=True)
class Plan:
    """The faults of one call: at most one of the call, and any number of items."""

    step: Step | None = None
    of_items: Sequence[Step] = ()

    @property
    def fault(self) -> str:
        """The name of the call's fault; "" for none."""
        return self.step.fault if self.step else ""

    @property
    def names(self) -> str:
        """The names of all faults, with spaces between them."""
        steps = [self.step] if self.step else []
        return " ".join(step.fault for step in [*steps, *self.of_items])


@dataclass(slots=True)
class _Line:
    step: Step
    seen: int = 0
    used: int = 0

    @property
    def is_of_items(self) -> bool:
        return FAULT_KINDS[self.step.fault].of_items

    def matches(self, call: str, *, model: str, state: str, body: bytes) -> bool:
        step = self.step
        # A fault of items needs a reply that has items.
        wanted = step.state or ("finished" if self.is_of_items and call == "poll" else "")
        return (
            call in FAULT_KINDS[step.fault].calls
            and step.call in {"any", call}
            and step.model in {"", model}
            and step.containing.encode() in body
            and wanted in {"", state}
        )

    def fires(self) -> bool:
        """Count a call that matches. Returns whether the step fires."""
        self.seen += 1
        turn = self.seen >= self.step.nth and (not self.step.times or self.used < self.step.times)
        self.used += turn
        return turn


@dataclass(slots=True)
class Script:
    """The current steps. Safe to use from many threads."""

    _lines: list[_Line] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def replace(self, steps: Sequence[Step]) -> None:
        """Replace all steps by these. Their counts start at zero."""
        with self._lock:
            self._lines = [_Line(step) for step in steps]

    def extend(self, steps: Sequence[Step]) -> None:
        """Add steps at the end."""
        with self._lock:
            self._lines += [_Line(step) for step in steps]

    def shown(self) -> list[dict[str, Any]]:
        """The steps as JSON, with the number of calls that each has `seen` and was `used` for."""
        with self._lock:
            return [
                {**msgspec.to_builtins(line.step), "seen": line.seen, "used": line.used}
                for line in self._lines
            ]

    def plan(self, call: Call, *, model: str = "", state: str = "", body: bytes = b"") -> Plan:
        """The faults for this call. The steps count it."""
        with self._lock:
            lines = [
                line
                for line in self._lines
                if line.matches(call, model=model, state=state, body=body)
            ]
            step = next(_fired(lines, of_items=False), None)
            if step and step.fault in _WITHOUT_ITEMS:
                return Plan(step)
            return Plan(step, list(_fired(lines, of_items=True)))


def _fired(lines: Sequence[_Line], *, of_items: bool) -> Iterator[Step]:
    """The steps that fire. A line counts the call only when the iterator reaches it."""
    return (line.step for line in lines if line.is_of_items is of_items and line.fires())


def read_steps(body: bytes) -> list[Step]:
    """The steps in a JSON list, or a single one. Raises ValueError with a sentence."""
    if body.lstrip().startswith(b"{"):
        return [msgspec.json.decode(body, type=Step)]
    return msgspec.json.decode(body, type=list[Step])
