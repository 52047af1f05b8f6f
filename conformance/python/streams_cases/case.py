"""One response of a provider, and the ways to spell one."""

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
    """What a provider answers, byte for byte."""

    name: str
    body: str
    content_type: str = SSE
    aborts: bool = False
    """Whether the connection is reset after the body."""

    @property
    def streamed(self) -> bool:
        """Whether the response was asked for as a stream."""
        return self.content_type != BODY


def text_of(value: Json) -> str:
    """A value as a provider writes it: compact, and not escaped beyond need."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def events(chunks: Iterable[Json], *, named: bool = False, end: str = "\n") -> str:
    """Chunks as server-sent events, with the type as their name if they are named."""
    parts = []
    for chunk in chunks:
        name = [f"event: {chunk['type']}"] if named and isinstance(chunk, dict) else []
        parts.append(end.join([*name, f"data: {text_of(chunk)}", "", ""]))
    return "".join(parts)


def lines(chunks: Iterable[Json]) -> str:
    """Chunks as lines of JSON."""
    return "".join(f"{text_of(chunk)}\n" for chunk in chunks)


def body(name: str, value: Json) -> StreamCase:
    """A response that was not streamed."""
    return StreamCase(f"whole/{name}", text_of(value), BODY)
