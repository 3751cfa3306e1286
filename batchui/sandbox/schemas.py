"""Instances of a JSON Schema, filled with words of a prompt.

Covers type (also lists of types), properties, required, additionalProperties with minProperties,
items, prefixItems, minItems, maxItems, uniqueItems, enum, const, anyOf, oneOf, allOf, local $ref,
minimum, maximum (both exclusive ones too), multipleOf, minLength, maxLength and the usual string
formats. A `pattern` is not looked at.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Any
from uuid import NAMESPACE_URL, uuid5
from zlib import crc32

from batchui.sandbox.texts import MARK, choose, salient, subject, words

# From this depth on only what is required is made, so that recursive schemas come to an end.
_DEEP = 6
_DEEPEST = 12
_LONG_TEXTS = ("summary", "reason", "explanation", "description", "text", "comment", "answer")


def instance(schema: Any, prompt: str) -> Any:
    """A value that the schema allows, always the same for the same schema and prompt."""
    return _Maker(schema, prompt).make(schema)


class _Maker:
    def __init__(self, root: Any, prompt: str) -> None:
        self.root = root
        self.about = subject(prompt)
        self.salient = salient(self.about, 12)
        self.seed = crc32(prompt.encode())

    def make(self, schema: Any, *, name: str = "", depth: int = 0, nth: int = 0) -> Any:
        """`name` is the property's, `nth` the position in an array: both vary the value."""
        schema = self._resolved(schema, depth)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self._chosen(schema["enum"], nth)
        match _type(schema):
            case "object":
                return self._object(schema, depth=depth, nth=nth)
            case "array":
                return self._array(schema, name=name, depth=depth)
            case "string":
                return self._string(schema, name=name, nth=nth)
            case "integer" | "number" as kind:
                return self._number(schema, whole=kind == "integer", name=name, nth=nth)
            case "boolean":
                return bool((self.seed + crc32(name.encode()) + nth) % 2)
        return None

    def _resolved(self, given: Any, depth: int) -> dict[str, Any]:
        """The schema with $ref, allOf, anyOf and oneOf worked in."""
        if not isinstance(given, dict) or depth > _DEEPEST:
            return {"type": "string"} if given is True else {"type": "null"}
        schema: dict[str, Any] = given
        for _ in range(_DEEPEST):
            if isinstance(schema.get("$ref"), str):
                rest = {key: value for key, value in schema.items() if key != "$ref"}
                schema = _merged(self._target(schema["$ref"]), rest)
            elif isinstance(schema.get("allOf"), list):
                rest = {key: value for key, value in schema.items() if key != "allOf"}
                for part in schema["allOf"]:
                    rest = _merged(rest, self._resolved(part, depth + 1))
                schema = rest
            elif branch := schema.get("anyOf") or schema.get("oneOf"):
                rest = {k: v for k, v in schema.items() if k not in {"anyOf", "oneOf"}}
                schema = _merged(rest, self._branch(branch, depth))
            else:
                break
        return schema

    def _target(self, reference: str) -> dict[str, Any]:
        found = self.root
        for step in reference.removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}

    def _branch(self, branches: list[Any], depth: int) -> dict[str, Any]:
        """The first that is not null; deep down the other way round, to come to an end."""
        known = [branch for branch in branches if isinstance(branch, dict)]
        nulls = [branch for branch in known if branch.get("type") == "null"]
        others = [branch for branch in known if branch.get("type") != "null"]
        if depth >= _DEEP:
            plain = [b for b in others if "$ref" not in b and _type(b) not in {"object", "array"}]
            others = nulls + plain + others
        return (others or nulls or [{}])[0]

    def _object(self, schema: dict[str, Any], *, depth: int, nth: int) -> dict[str, Any]:
        properties = schema.get("properties") or {}
        required = schema.get("required") or []
        names = [name for name in properties if depth < _DEEP or name in required]
        names += [name for name in required if name not in properties]
        made = {
            name: self.make(
                properties.get(name, {"type": "string"}), name=name, depth=depth + 1, nth=nth
            )
            for name in names
        }
        more = schema.get("additionalProperties")
        wanted = int(schema.get("minProperties") or (not made and isinstance(more, dict)))
        for word in self.salient:
            if len(made) >= wanted:
                break
            made[word] = self.make(more or {"type": "string"}, name=word, depth=depth + 1)
        return made

    def _array(self, schema: dict[str, Any], *, name: str, depth: int) -> list[Any]:
        least = int(schema.get("minItems") or 0)
        most = int(schema.get("maxItems", max(least, 3)))
        first = schema.get("prefixItems") or []
        items = schema.get("items", {"type": "string"})
        count = max(least, len(first), 0 if depth >= _DEEP or items is False else 2)
        made: list[Any] = []
        for nth in range(min(count, most)):
            part = first[nth] if nth < len(first) else items
            value = self.make(part, name=name, depth=depth + 1, nth=nth)
            if not (schema.get("uniqueItems") and value in made):
                made.append(value)
        return made

    def _chosen(self, options: list[Any], nth: int) -> Any:
        texts = [option for option in options if isinstance(option, str)]
        if nth or len(texts) < len(options):
            return options[(self.seed + nth) % len(options)]
        return choose(texts, self.about)

    def _string(self, schema: dict[str, Any], *, name: str, nth: int) -> str:
        shaped = self._formatted(str(schema.get("format", "")), nth)
        if shaped is not None:
            return shaped
        long = any(hint in name.lower() for hint in _LONG_TEXTS)
        text = " ".join(words(self.about)[:10]) if long else self.salient[nth % len(self.salient)]
        text = f"{MARK} {text}"
        longest = schema.get("maxLength")
        if isinstance(longest, int) and len(text) > longest:
            text = text.removeprefix(f"{MARK} ")[:longest]
        return text.ljust(int(schema.get("minLength") or 0), ".")

    def _formatted(self, kind: str, nth: int) -> str | None:
        number = self.seed + nth
        word = "".join(c for c in self.salient[nth % len(self.salient)].lower() if c.isascii())
        word = word.strip("-'_").replace("'", "") or "sandbox"
        date = f"20{number % 30:02}-{number % 12 + 1:02}-{number % 28 + 1:02}"
        time = f"{number % 24:02}:{number % 60:02}:00Z"
        return {
            "date": date,
            "time": time,
            "date-time": f"{date}T{time}",
            "duration": f"PT{number % 59 + 1}M",
            "email": f"{word}@sandbox.example",
            "hostname": f"{word.replace('_', '-')}.sandbox.example",
            "uri": f"https://sandbox.example/{word}",
            "url": f"https://sandbox.example/{word}",
            "uuid": str(uuid5(NAMESPACE_URL, f"{number}")),
            "ipv4": f"192.0.2.{number % 254 + 1}",
            "ipv6": f"2001:db8::{number % 65_535 + 1:x}",
        }.get(kind)

    def _number(self, schema: dict[str, Any], *, whole: bool, name: str, nth: int) -> float:
        low, high = _bounds(schema, whole)
        step = schema.get("multipleOf") or (1 if whole else 0)
        part = ((self.seed ^ crc32(name.encode())) + nth * 7) % 101 / 100
        value = low + (high - low) * part
        if step:
            value = max(ceil(low / step), min(round(value / step), floor(high / step))) * step
        else:
            value = round(value, 4) if high - low > 0.01 else value
        return int(value) if whole else float(value)


def _type(schema: dict[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if isinstance(kind, str):
        return kind
    if "properties" in schema or "required" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    return "number" if "minimum" in schema or "maximum" in schema else "string"


def _merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two schemas that both hold: properties and required are joined, else the second counts."""
    made = {**first, **second}
    for key in ("properties", "$defs"):
        if key in first and key in second:
            made[key] = {**first[key], **second[key]}
    if "required" in first and "required" in second:
        made["required"] = [*first["required"], *second["required"]]
    return made


def _bounds(schema: dict[str, Any], whole: bool) -> tuple[float, float]:
    """The least and the greatest number to make; 0 to 100 (or to 1) where nothing is said."""
    edge = 1 if whole else 1e-6
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(least := schema.get("exclusiveMinimum"), int | float):
        low = least + edge if low is None else max(low, least + edge)
    if isinstance(most := schema.get("exclusiveMaximum"), int | float):
        high = most - edge if high is None else min(high, most - edge)
    span = 100 if whole else 1
    if low is None:
        low = 0 if high is None or high >= 0 else high - span
    if high is None:
        high = low + span
    return (ceil(low), floor(high)) if whole else (low, high)
