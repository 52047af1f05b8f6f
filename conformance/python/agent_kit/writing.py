"""Reduces events and messages to the recorded fields, without generated ids, times and prose."""

from __future__ import annotations

from typing import Any

from agentscope.event import HintBlockEvent, ToolResultTextDeltaEvent

from .scenarios import Json

PROSE = "$prose"
"""The package's own texts in prompts."""

_MADE_UP = {"id", "created_at", "session_id", "reply_id", "role"}
_BLOCK_IDS = {"TEXT_BLOCK_START", "TEXT_BLOCK_DELTA", "TEXT_BLOCK_END", "THINKING_BLOCK_START", "THINKING_BLOCK_DELTA"} | {
    "THINKING_BLOCK_END",
    "HINT_BLOCK",
    "TOOL_RESULT_DATA_DELTA",
}


class Turn:
    """The record of one input."""

    def __init__(self) -> None:
        self.events: list[Json] = []
        self.raised: str | None = None
        self.returned: Json = None

    def take(self, event: Any, scripted: set[str]) -> Any:
        """Record an event and return it without the package's prose."""
        if isinstance(event, ToolResultTextDeltaEvent) and event.delta not in scripted:
            event = event.model_copy(update={"delta": PROSE})
        if isinstance(event, HintBlockEvent):
            event = event.model_copy(update={"hint": PROSE})
        left_out = _MADE_UP | ({"block_id"} if event.type in _BLOCK_IDS else set())
        said = event.model_dump(mode="json")
        kept = {key: value for key, value in said.items() if key not in left_out and value not in (None, {})}
        if "tool_calls" in kept:
            kept["tool_calls"] = [_without(call, "created_at", "finished_at") for call in kept["tool_calls"]]
        self.events.append({"type": kept.pop("type")} | kept)
        return event

    def record(self) -> Json:
        """Return the record."""
        return {"events": self.events, "raised": self.raised, "returned": self.returned}


def essence(message: Any) -> Json:
    """Return a message with the compared fields."""
    said = message.model_dump(mode="json")
    return {
        "content": [_block(each) for each in said["content"]],
        "usage": said["usage"],
        "finished_reason": said["finished_reason"],
    }


def _block(said: Json) -> Json:
    kept = _without(said, "created_at", "finished_at")
    if kept["type"] in ("text", "thinking", "hint"):
        del kept["id"]
    if kept["type"] == "tool_result" and isinstance(kept["output"], list):
        kept["output"] = [_without(each, "id", "created_at", "finished_at") for each in kept["output"]]
    return kept


def _without(said: Json, *keys: str) -> Json:
    return {key: value for key, value in said.items() if key not in keys}
