"""JSON text with the spelling under control.

`json.dumps` alone cannot write what the vectors need: the number `1e400`, a
lone surrogate as an escape, one key twice. Those are given as `Raw` text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Raw:
    """JSON text that is written as it stands."""

    text: str


def render(value: Any) -> str:
    """Compact JSON text of a value that may hold `Raw` parts."""
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, dict):
        members = (f"{compact(key)}:{render(item)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(render(item) for item in value) + "]"
    return compact(value)


def compact(value: Any) -> str:
    """Compact JSON text of a plain value, with non-ASCII left as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
