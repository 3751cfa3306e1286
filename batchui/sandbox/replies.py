"""A finished reply. It is made when it is polled, in chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import msgspec

from batchui.sandbox import items
from batchui.sandbox.errors import ApiError
from batchui.sandbox.made_up_answers import ItemFailed, answer
from batchui.sandbox.models import Model
from batchui.sandbox.odd_answers import FAULTS, made_odd
from batchui.sandbox.scripted_faults import Step
from batchui.sandbox.shapes import Usage

_CHUNK = 64 * 1024  # bytes


class _Body(msgspec.Struct):
    requests: list[msgspec.Raw] = []


@dataclass(slots=True, kw_only=True)
class Reply:
    """The result of a finished request. body: the submission as it was sent."""

    model: Model
    request_id: str
    created: float
    body: bytes
    faults: Sequence[Step] = ()
    _read: int = field(default=0, init=False)
    _written: int = field(default=0, init=False)

    def chunks(self) -> Iterator[bytes]:
        """The result as JSON, without an envelope, in chunks of about 64 KiB.

        Raises ApiError 3030, before the first chunk, if the model cannot take one of the items.
        """
        requests = self._checked()
        return self._chunks(requests)

    def _checked(self) -> list[msgspec.Raw]:
        try:
            requests = msgspec.json.decode(self.body, type=_Body).requests
        except msgspec.MsgspecError:
            requests = []
        if not requests:
            raise ApiError(3030, "AiError: Batch validation failed: 'requests' must hold items")
        for position, raw in enumerate(requests):
            if wrong := items.problem(self.model, items.read(raw)):
                raise ApiError(
                    3030, f"AiError: Batch validation failed: at '/requests/{position}': {wrong}"
                )
        return requests

    def _chunks(self, requests: list[msgspec.Raw]) -> Iterator[bytes]:
        encode = msgspec.json.Encoder().encode
        buffer = bytearray(f'{{"{self.model.container}":['.encode())
        separator = b""
        for position in self._shuffled(len(requests)):
            for entry in self._entries(position, requests[position]):
                buffer += separator + encode(entry)
                separator = b","
            if len(buffer) >= _CHUNK:
                yield bytes(buffer)
                buffer.clear()
        usage = Usage(self._read, self._written).as_json()
        buffer += b'],"usage":' + encode(usage) + b"}"
        yield bytes(buffer)

    def _shuffled(self, count: int) -> list[int]:
        """All positions, never in order (unless there is only one), always in the same way."""
        key = self.request_id
        order = sorted(range(count), key=lambda n: crc32(f"{key}{n}".encode()))
        return order[::-1] if order == list(range(count)) else order

    def _entries(self, position: int, raw: msgspec.Raw) -> list[dict[str, Any]]:
        """The array's entries for one item: one, unless a scripted fault changes that."""
        item = items.read(raw)
        assert item is not None  # noqa: S101 - _checked has read it before
        entries = [self._entry(position, item)]
        for step in self.faults:
            if not step.concerns(position):
                continue
            if step.fault == "missing":
                return []
            if step.fault == "duplicate":
                entries.append(dict(entries[0]))
            elif step.fault == "contradiction":
                entries.append(self._entry(position, item, variant=2))
            else:
                for entry in entries:
                    self._spoil(entry, step, longest=item.longest)
        return entries

    def _entry(self, position: int, item: items.Item, *, variant: int = 0) -> dict[str, Any]:
        by_index = self.model.container == "results"
        entry: dict[str, Any] = {"index" if by_index else "id": position}
        try:
            made = answer(self.model, item, created=self.created, variant=variant)
        except ItemFailed as exc:
            entry.update(success=False, error=exc.sentence)
        else:
            self._read += made.usage.read
            self._written += made.usage.written
            entry.update(result=made.result, success=True)
        if not by_index:
            # Real chat completions had no such key.
            entry["external_reference"] = item.external_reference
        return entry

    def _spoil(self, entry: dict[str, Any], step: Step, *, longest: int) -> None:
        match step.fault:
            case "numbering":
                _renumber(entry, step.form)
            case "unknown_id":
                entry["index" if "index" in entry else "id"] += 1_000_000
            case "wrong_reference":
                entry["external_reference"] = f"not {entry.get('external_reference')}"
            case "failed":
                sentence = "AiError: The model could not answer this item"
                error = {"code": 8008, "message": sentence} if step.form == "object" else sentence
                entry.pop("result", None)
                entry.update(success=False, error=error)
            case fault if fault in FAULTS and entry["success"]:
                entry["result"] = made_odd(
                    self.model, entry["result"], fault=fault, form=step.form, longest=longest
                )


def _renumber(entry: dict[str, Any], form: str) -> None:
    """Write the number of an entry as a text, twice, in words of its own, or not at all."""
    key = "index" if "index" in entry else "id"
    position = entry.pop(key)
    match form:
        case "text":
            entry[key] = str(position)
        case "both":
            entry |= {"id": f"item-{position}", "index": position}
        case "own":
            entry["id"] = f"item-{position}"
