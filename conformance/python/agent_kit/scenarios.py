"""The scenarios, and what they leave unsaid."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = Any

SCENARIOS = Path(__file__).resolve().parent.parent.parent / "agent" / "scenarios"


def scenarios() -> Iterator[Json]:
    """All scenarios of all files."""
    for path in sorted(SCENARIOS.glob("*.json")):
        yield from json.loads(path.read_text("utf-8"))


def spelled_out(call: Json) -> Json:
    """A model call in full: a text stands for itself in two pieces."""
    if isinstance(call, str):
        return {"chunks": [[{"text": call[:4]}], [{"text": call[4:]}]], "usage": [30, 5]}
    if "fails" in call:
        return call
    return {"usage": [1, 1]} | call


def calls_in(model: Json) -> dict[str, str]:
    """The tools that a script calls, by the ids of the calls."""
    found = {}
    for call in map(spelled_out, model):
        chunks = [*call.get("chunks", []), call.get("whole", [])]
        for chunk in chunks:
            for block in chunk if isinstance(chunk, list) else chunk.get("last", []):
                if "call" in block:
                    name, text = found.get(block["call"], (block["tool"], ""))
                    found[block["call"]] = (name, text + block["input"])
    return found
