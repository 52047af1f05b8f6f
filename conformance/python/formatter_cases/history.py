"""Helpers to write conversations. Ids and times are derived from the position."""

from __future__ import annotations

import base64
from typing import Any

Json = Any
Block = dict[str, Json]
Message = dict[str, Json]

TIME = "2026-01-01T00:00:00"


def encoded(text: str) -> str:
    """Return a text as base64."""
    return base64.b64encode(text.encode()).decode()


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def thinking(words: str, **extra: Json) -> Block:
    return {"type": "thinking", "thinking": words, **extra}


def data(media_type: str, words: str = "bytes", name: str | None = None) -> Block:
    """Return inline data."""
    source = {"type": "base64", "data": encoded(words), "media_type": media_type}
    return {"type": "data", "source": source, "name": name}


def at(url: str, media_type: str, name: str | None = None) -> Block:
    """Return data at a URL."""
    return {"type": "data", "source": {"type": "url", "url": url, "media_type": media_type}, "name": name}


def hint(said: str | list[Block]) -> Block:
    return {"type": "hint", "hint": said}


def call(number: int, name: str = "look", arguments: str = '{"at": "home"}') -> Block:
    return {"type": "tool_call", "id": f"call_{number}", "name": name, "input": arguments}


def result(number: int, output: str | list[Block], name: str = "look", state: str = "success") -> Block:
    return {"type": "tool_result", "id": f"call_{number}", "name": name, "output": output, "state": state}


def user(*blocks: Block | str, name: str = "Alice") -> Message:
    return _message("user", name, blocks)


def agent(*blocks: Block | str, name: str = "Friday") -> Message:
    return _message("assistant", name, blocks)


def system(*blocks: Block | str, name: str = "system") -> Message:
    return _message("system", name, blocks)


def _message(role: str, name: str, blocks: tuple[Block | str, ...]) -> Message:
    content = [text(block) if isinstance(block, str) else block for block in blocks]
    return {"name": name, "role": role, "content": content}


def placed(messages: list[Message]) -> list[Message]:
    """Return the messages with ids and times."""
    return [
        {**message, "id": f"m{at}", "created_at": TIME, "content": _blocks(message["content"], f"m{at}")}
        for at, message in enumerate(messages, 1)
    ]


def _blocks(blocks: list[Block], owner: str) -> list[Block]:
    return [_block(block, f"{owner}b{at}") for at, block in enumerate(blocks, 1)]


def _block(block: Block, own: str) -> Block:
    placed_block = {"id": own, **block, "created_at": TIME, "finished_at": TIME}
    for key in ("hint", "output"):
        if isinstance(block.get(key), list):
            placed_block[key] = _blocks(block[key], own)
    return placed_block
