"""Recorded streams of agents, stored in conformance/traces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from cases.fold import FoldCase

TRACES = Path(__file__).resolve().parent.parent.parent / "traces" / "agent.jsonl"


def trace_cases() -> Iterator[FoldCase]:
    """Return every scenario as it was emitted, and with its inputs if it had any."""
    for line in TRACES.read_text(encoding="utf-8").split("\n")[:-1]:
        trace = json.loads(line)
        name, description = trace["case"], trace["description"]
        yield FoldCase(name, description, trace["events"], stepwise=False)
        if "wire" in trace:
            yield FoldCase(f"{name}/wire", description, trace["wire"], stepwise=False)
