"""A scripted model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Base64Source, DataBlock, TextBlock, ThinkingBlock, ToolCallBlock, URLSource
from agentscope.model import ChatModelBase, ChatResponse, ChatUsage
from agentscope.model import StructuredResponse

from .gates import Gates
from .scenarios import Json, spelled_out


class ScriptedModel(ChatModelBase):
    """Returns the next response of its script for each call, and records the requests."""

    def __init__(self, name: str, script: list[Json], gates: Gates, asked: list[Json], **sizes: int) -> None:
        super().__init__(None, name, self.Parameters(), max_retries=0, **sizes)  # type: ignore[arg-type]
        self.formatter = OpenAIChatFormatter()
        self.summaries: list[Json] = []
        self._script = iter(map(spelled_out, script))
        self._gates = gates
        self._asked = asked

    async def _call_api(
        self,
        model_name: str,
        messages: Any,
        tools: Any = None,
        tool_choice: Any = None,
        **_: Any,
    ) -> Any:
        names = [tool["function"]["name"] for tool in tools or []]
        self._asked.append({"model": model_name, "tools": names, "tool_choice": tool_choice and tool_choice.mode})
        call = next(self._script, None)
        if call is None:
            raise AssertionError("the script has no more calls")
        if "fails" in call:
            raise RuntimeError(call["fails"])
        if "waits" in call:
            await self._gates.wait(call["waits"])
        usage = _usage(call["usage"])
        if "whole" in call:
            return ChatResponse(content=list(map(block, call["whole"])), is_last=True, usage=usage)
        return self._stream(call["chunks"], usage)

    async def _stream(self, chunks: list[Json], usage: Any) -> AsyncIterator[ChatResponse]:
        for number, chunk in enumerate(chunks, 1):
            # The usage is part of the last chunk.
            told = usage if number == len(chunks) else None
            if isinstance(chunk, list):
                yield ChatResponse(content=list(map(block, chunk)), is_last=False, usage=told)
            elif "last" in chunk:
                yield ChatResponse(content=list(map(block, chunk["last"])), is_last=True, usage=told)
            elif "gate" in chunk:
                await self._gates.wait(chunk["gate"])
            else:
                raise ConnectionError(chunk["breaks"])

    async def generate_structured_output(self, *_: Any, **__: Any) -> StructuredResponse:
        """Return the next summary of the conversation."""
        summary = self.summaries.pop(0)
        if "fails" in summary:
            raise RuntimeError(summary["fails"])
        return StructuredResponse(content=summary, usage=_usage([1, 1]))


def block(said: Json) -> Any:
    """Return a block of a message."""
    if "text" in said:
        return TextBlock(text=said["text"], id=said.get("id", "txt_1"))
    if "thinking" in said:
        extra = {key: value for key, value in said.items() if key not in ("thinking", "id")}
        return ThinkingBlock(thinking=said["thinking"], id=said.get("id", "th_1"), **extra)
    if "call" in said:
        return ToolCallBlock(id=said["call"], name=said["tool"], input=said["input"])
    media_type = said["media_type"]
    if "url" in said:
        source: Any = URLSource(url=said["url"], media_type=media_type)
    else:
        source = Base64Source(data=said["data"], media_type=media_type)
    return DataBlock(source=source, id=said["id"], name=said.get("name"))


def _usage(tokens: Json) -> ChatUsage | None:
    return tokens and ChatUsage(input_tokens=tokens[0], output_tokens=tokens[1], time=0)
