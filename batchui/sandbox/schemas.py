"""Made-up instances of a JSON Schema, filled with words of a prompt.

These keywords are used: type (of a list, the first one that is not null), properties, required,
items, minItems, maxItems, enum, const, minimum, maximum, maxLength, a `$ref` inside the schema, and
the first schema of anyOf, oneOf or allOf. Everything else in a schema is ignored.
"""

from typing import Any
from zlib import crc32

from batchui.sandbox.texts import MARK, choose, salient, sentence, subject

# Deeper arrays are empty and deeper objects null, so that recursive schemas end.
_DEEPEST = 5
# The type of a schema without one: that of the first of these words in it.
_TYPES = {"properties": "object", "required": "object", "items": "array", "minimum": "number"}
# A text is a word where the name of its property has one of these in it, else a sentence.
_NAMES = (
    "name",
    "people",
    "person",
    "organi",
    "compan",
    "place",
    "town",
    "city",
    "country",
    "code",
)


def instance(schema: Any, prompt: str) -> Any:
    """A value for the schema, always the same for the same schema and prompt.

    Raises ArithmeticError, AttributeError, LookupError, TypeError or ValueError if it is not a
    schema.
    """
    return _Maker(schema, prompt).make(schema)


class _Maker:
    def __init__(self, root: Any, prompt: str) -> None:
        self.root = root
        self.about = subject(prompt)
        self.salient = salient(self.about, 12)
        self.seed = crc32(prompt.encode())
        self.sentences = 0
        self.words = 0

    def make(self, schema: Any, *, name: str = "", depth: int = 0, nth: int = 0) -> Any:
        """A value. It depends on `name` (of the property) and `nth` (the position in an array)."""
        schema = self._followed(schema)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self._chosen(schema["enum"], nth)
        match _type(schema):
            case "object" if depth <= _DEEPEST:
                return self._object(schema, depth=depth, nth=nth)
            case "array":
                return self._array(schema, name=name, depth=depth, outer=nth)
            case "string":
                return self._string(schema, name=name, nth=nth, is_alone=depth <= 1)
            case "integer" | "number" as kind:
                return self._number(schema, whole=kind == "integer", name=name, nth=nth)
            case "boolean":
                return (self.seed + crc32(name.encode()) + nth) % 2 == 1
        return None

    def _followed(self, schema: Any) -> dict[str, Any]:
        """The schema that `$ref`, anyOf, oneOf and allOf lead to; {} if they form a circle."""
        for _ in range(20):
            branches = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
            if "$ref" in schema:
                schema = self._target(schema["$ref"])
            elif branches:
                schema = branches[0]
            else:
                return dict(schema)
        return {}

    def _target(self, reference: str) -> Any:
        found = self.root
        for step in reference.split("/")[1:]:
            found = found[step.replace("~1", "/").replace("~0", "~")]
        return found

    def _object(self, schema: dict[str, Any], *, depth: int, nth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        return {
            name: self.make(properties.get(name, {}), name=name, depth=depth + 1, nth=nth)
            for name in dict.fromkeys([*properties, *schema.get("required", [])])
        }

    def _array(self, schema: dict[str, Any], *, name: str, depth: int, outer: int) -> list[Any]:
        """So many values, which go on where those of the array before it ended."""
        least = int(schema.get("minItems", 0))
        count = min(max(least, 2), int(schema.get("maxItems", max(least, 2))))
        part = schema.get("items", {})
        return [
            self.make(part, name=name, depth=depth + 1, nth=outer * count + at)
            for at in range(count if depth <= _DEEPEST else 0)
        ]

    def _chosen(self, options: list[Any], nth: int) -> Any:
        if nth or not all(isinstance(option, str) for option in options):
            return options[(self.seed + nth) % len(options)]
        return choose(options, self.about)

    def _string(self, schema: dict[str, Any], *, name: str, nth: int, is_alone: bool) -> str:
        """A sentence of the prompt for a property of its own, a word of it otherwise."""
        if not is_alone:
            again, at = divmod(nth, len(self.salient))
            text = f"{self.salient[at]} {again + 1}" if again else self.salient[at]
        elif self.about and not any(word in name.lower() for word in _NAMES):
            text = sentence(self.about, self.sentences)
            self.sentences += 1
        else:
            text = self.salient[self.words % len(self.salient)]
            self.words += 1
        return f"{MARK} {text}"[: schema.get("maxLength")]

    def _number(self, schema: dict[str, Any], *, whole: bool, name: str, nth: int) -> float:
        low = schema.get("minimum", min(0, schema.get("maximum", 0)))
        high = schema.get("maximum", low + (100 if whole else 1))
        share = ((self.seed ^ crc32(name.encode())) + nth * 7) % 101 / 100
        value = float(low + (high - low) * share)
        return round(value) if whole else round(value, 4)


def _type(schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list):
        return next((one for one in kind if one != "null"), "null")
    return kind or next((kind for word, kind in _TYPES.items() if word in schema), "string")
