"""The scenarios, and the defaults of omitted fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = Any

SCENARIOS = Path(__file__).resolve().parent.parent.parent / "agent" / "scenarios"


def scenarios() -> Iterator[Json]:
    """Return all scenarios of all files."""
    for path in sorted(SCENARIOS.glob("*.json")):
        yield from json.loads(path.read_text("utf-8"))


def spelled_out(call: Json) -> Json:
    """Return a complete model call. A plain text becomes two chunks."""
    if isinstance(call, str):
        return {"chunks": [[{"text": call[:4]}], [{"text": call[4:]}]], "usage": [30, 5]}
    if "fails" in call:
        return call
    return {"usage": [1, 1]} | call


def calls_in(model: Json) -> dict[str, str]:
    """Return the tools that a script calls, by call id."""
    found = {}
    for call in map(spelled_out, model):
        chunks = [*call.get("chunks", []), call.get("whole", [])]
        for chunk in chunks:
            for block in chunk if isinstance(chunk, list) else chunk.get("last", []):
                if "call" in block:
                    name, text = found.get(block["call"], (block["tool"], ""))
                    found[block["call"]] = (name, text + block["input"])
    return found
