"""The objects of the protocol as tables, and their invalid variants.

A shape lists the fields of one object. `variants` creates the object in every form that
the vectors test: with minimal and all fields, each required field missing, each field
null or of a wrong type, each value of an enumeration, and so on. Events, blocks and
messages use the same code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from cases.jsontext import Raw, compact

Object = dict[str, Any]
Variant = tuple[str, Object]

ODD_TEXT = 'q" b\\ s/ \b\f\n\r\t\x00\x1f\x7f\x85\xa0é\u2028\u2029\ufeff中😀e\u0301'
"""Characters of each width, including all that a JSON writer can escape."""

BIG = Raw("123456789012345678901234567890")
HUGE = Raw("1e400")


class Kind(Enum):
    """The type of a field, which determines its invalid values."""

    TEXT = "text"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    FREE = "free"
    OBJECT = "object"
    LIST = "list"
    TEXT_OR_LIST = "text-or-list"


SPOILED: dict[Kind, list[tuple[str, Any]]] = {
    Kind.TEXT: [("number", 7)],
    Kind.INTEGER: [
        ("numeral", "5"),
        ("word", "five"),
        ("whole-float", Raw("5.0")),
        ("exponent", Raw("5e0")),
        ("float", 5.5),
        ("true", True),
        ("negative", -1),
        ("negative-zero", Raw("-0")),
        ("big", BIG),
        ("huge", HUGE),
        ("list", []),
    ],
    Kind.BOOLEAN: [
        ("word-true", "true"),
        ("word-off", "off"),
        ("one", 1),
        ("two", 2),
        ("word", "maybe"),
    ],
    Kind.CHOICE: [("unknown", "nope"), ("empty", ""), ("number", 7)],
    Kind.FREE: [("text", "x"), ("list", []), ("empty", {})],
    Kind.OBJECT: [("text", "x"), ("list", []), ("empty", {})],
    Kind.LIST: [("text", "x"), ("object", {}), ("empty", []), ("of-numbers", [1])],
    Kind.TEXT_OR_LIST: [
        ("number", 7),
        ("object", {}),
        ("empty-text", ""),
        ("empty-list", []),
        ("of-texts", ["x"]),
    ],
}


@dataclass(frozen=True)
class Field:
    """One field of an object: its name, a valid value and its type."""

    name: str
    kind: Kind
    sample: Any
    required: bool = True
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shape:
    """One object: a name for the cases, its fixed tag and its fields.

    The fields are in the order in which the package writes them.
    """

    name: str
    tag: str | None
    fields: tuple[Field, ...]
    common: int = 0
    """The number of fields before the tag. They are the same in every shape of the family
    and have fewer invalid variants.
    """

    def full(self) -> Object:
        """Return the object with every field, in the package's order."""
        return self._make(self.fields)

    def minimal(self) -> Object:
        """Return the object with its tag and its required fields."""
        return self._make(tuple(field for field in self.fields if field.required))

    def _make(self, fields: tuple[Field, ...]) -> Object:
        head = {field.name for field in self.fields[: self.common]}
        before = {field.name: field.sample for field in fields if field.name in head}
        after = {field.name: field.sample for field in fields if field.name not in head}
        tag = {} if self.tag is None else {"type": self.tag}
        return before | tag | after


def text(name: str, sample: str = "x", *, required: bool = True) -> Field:
    """A string field."""
    return Field(name, Kind.TEXT, sample, required)


def optional_text(name: str, sample: str = "x") -> Field:
    """A string field with a default."""
    return Field(name, Kind.TEXT, sample, required=False)


def integer(name: str, sample: int, *, required: bool = True) -> Field:
    """An integer field."""
    return Field(name, Kind.INTEGER, sample, required)


def choice(name: str, *choices: str, required: bool = False) -> Field:
    """A field that accepts one of several strings. The last is the sample."""
    return Field(name, Kind.CHOICE, choices[-1], required, choices)


def free(name: str, sample: Object | None = None) -> Field:
    """A dictionary with free-form content."""
    return Field(name, Kind.FREE, sample or {"k": "v"}, required=False)


def variants(shape: Shape) -> Iterator[Variant]:
    """Return all variants of the object."""
    yield "minimal", shape.minimal()
    yield "full", shape.full()
    yield "reversed", dict(reversed(shape.full().items()))
    yield "extra", _with_extra(shape)
    yield "odd-text", _with_text(shape, ODD_TEXT)
    yield "escaped-text", _with_text(shape, Raw(escaped(ODD_TEXT)))
    if shape.tag is not None:
        yield from _tag_variants(shape)
    for field in shape.fields[: shape.common]:
        yield f"null-{field.name}", shape.full() | {field.name: None}
        yield f"wrong-{field.name}", shape.full() | {field.name: 7}
    for field in shape.fields[shape.common :]:
        yield from _field_variants(shape, field)


def escaped(value: str) -> str:
    """Return JSON text of a string with every character escaped."""
    units = value.encode("utf-16-be")
    pairs = (units[at : at + 2].hex() for at in range(0, len(units), 2))
    return '"' + "".join(f"\\u{pair}" for pair in pairs) + '"'


def twice(key: str, first: Any, second: Any, rest: Object) -> Raw:
    """Return an object with one key repeated at both ends."""
    inner = compact(rest)[1:-1]
    return Raw(f'{{"{key}":{compact(first)},{inner},"{key}":{compact(second)}}}')


def _with_extra(shape: Shape) -> Object:
    extra = {"zzz": 1, "recount": {"a": [1, None]}, "Name": "x", "model_config": {}}
    return {"before": True} | shape.full() | extra


def _with_text(shape: Shape, value: Any) -> Object:
    texts = {field.name for field in shape.fields if field.kind is Kind.TEXT}
    return {key: value if key in texts else item for key, item in shape.full().items()}


def _tag_variants(shape: Shape) -> Iterator[Variant]:
    full = shape.full()
    yield "missing-type", {key: item for key, item in full.items() if key != "type"}
    yield "null-type", full | {"type": None}
    yield "wrong-type", full | {"type": str(shape.tag).swapcase()}


def _field_variants(shape: Shape, field: Field) -> Iterator[Variant]:
    full = shape.full()
    if field.required:
        rest = {key: item for key, item in full.items() if key != field.name}
        yield f"missing-{field.name}", rest
    yield f"null-{field.name}", full | {field.name: None}
    for label, value in SPOILED[field.kind]:
        yield f"wrong-{field.name}-{label}", full | {field.name: value}
    for value in field.choices:
        yield f"value-{field.name}-{value}", full | {field.name: value}
