"""JSON text with a controlled spelling.

`json.dumps` cannot write some values of the vectors: the number `1e400`, a lone
surrogate as an escape, and repeated keys. These are given as `Raw` text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Raw:
    """JSON text that is written unchanged."""

    text: str


def render(value: Any) -> str:
    """Return compact JSON text of a value that can contain `Raw` parts."""
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, dict):
        members = (f"{compact(key)}:{render(item)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(render(item) for item in value) + "]"
    return compact(value)


def compact(value: Any) -> str:
    """Return compact JSON text of a plain value, without escaping non-ASCII characters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
