"""A response of a provider, and helpers to write one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Json = Any

SSE = "text/event-stream"
NDJSON = "application/x-ndjson"
BODY = "application/json"


@dataclass(frozen=True)
class StreamCase:
    """A response of a provider, byte for byte."""

    name: str
    body: str
    content_type: str = SSE
    aborts: bool = False
    """Whether the connection is reset after the body."""

    @property
    def streamed(self) -> bool:
        """Whether a stream was requested."""
        return self.content_type != BODY


def text_of(value: Json) -> str:
    """Return a value as a provider writes it: compact, with minimal escapes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def events(chunks: Iterable[Json], *, named: bool = False, end: str = "\n") -> str:
    """Return chunks as server-sent events, named by their type if `named`."""
    parts = []
    for chunk in chunks:
        name = [f"event: {chunk['type']}"] if named and isinstance(chunk, dict) else []
        parts.append(end.join([*name, f"data: {text_of(chunk)}", "", ""]))
    return "".join(parts)


def lines(chunks: Iterable[Json]) -> str:
    """Return chunks as JSON lines."""
    return "".join(f"{text_of(chunk)}\n" for chunk in chunks)


def body(name: str, value: Json) -> StreamCase:
    """Return a response that was not streamed."""
    return StreamCase(f"whole/{name}", text_of(value), BODY)
