"""Measures AgentScope's agent with a model that responds without delay.

agent.py TALK_DELTAS ROUNDS    print the minimum time of each workload as JSON

`talk` is one response of text. `tools` has ROUNDS rounds, each with text in four deltas, a call with arguments in three,
and the tool's result. `lag` is the time from a delta of the model to its event, in `talk`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import statistics
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

from agentscope.agent import Agent, InjectionConfig, ReActConfig
from agentscope.event import TextBlockDeltaEvent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import TextBlock, ToolCallBlock, UserMsg
from agentscope.model import ChatModelBase, ChatResponse, ChatUsage
from agentscope.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope.tool import ToolBase, ToolChunk, Toolkit

PIECE = "twelve chars"
PASSES = 3

logging.getLogger("as").setLevel(logging.CRITICAL)


class InstantModel(ChatModelBase):
    """Responds without delay and records the time of each text delta."""

    def __init__(self, answers: list[list[Any]]) -> None:
        super().__init__(None, "instant", self.Parameters(), max_retries=0, context_size=10**9)  # type: ignore[arg-type]
        self.formatter = OpenAIChatFormatter()
        self.given: list[int] = []
        self._answers = iter(answers)

    async def _call_api(self, *_: Any, **__: Any) -> Any:
        return self._stream(next(self._answers))

    async def _stream(self, pieces: list[Any]) -> AsyncIterator[ChatResponse]:
        for number, piece in enumerate(pieces, 1):
            usage = ChatUsage(1, 1, 0) if number == len(pieces) else None
            self.given.append(time.perf_counter_ns())
            yield ChatResponse(content=[piece], is_last=False, usage=usage)


class Echo(ToolBase):
    """Returns its input."""

    name = "echo"
    description = "Says what it was given."
    input_schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    is_concurrency_safe = False
    is_read_only = True

    async def check_permissions(self, tool_input: Any, context: PermissionContext) -> PermissionDecision:
        return PermissionDecision(behavior=PermissionBehavior.ALLOW, message="")

    async def call(self, text: str) -> ToolChunk:
        return ToolChunk(content=[TextBlock(text=text)])


def talk(deltas: int) -> list[list[Any]]:
    return [[TextBlock(text=PIECE, id="t") for _ in range(deltas)]]


def tools(rounds: int) -> list[list[Any]]:
    def a_round(number: int) -> list[Any]:
        text = [TextBlock(text=PIECE, id="t") for _ in range(4)]
        pieces = ['{"text":', f'"round {number}"', "}"]
        return text + [ToolCallBlock(id=f"c{number}", name="echo", input=piece) for piece in pieces]

    return [a_round(number) for number in range(rounds)] + [[TextBlock(text=PIECE, id="t")]]


async def reply(answers: list[list[Any]]) -> tuple[int, float, list[int]]:
    """Returns the number of events, the CPU time, and the latency of each text delta."""
    model = InstantModel(answers)
    agent = Agent(
        name="Friday",
        system_prompt="Be brief.",
        model=model,
        toolkit=Toolkit(tools=[Echo()]),
        react_config=ReActConfig(max_iters=10**6),
        injection_config=InjectionConfig(inject_runtime_state=False),
    )
    events, lags = 0, []
    texts = iter(model.given)
    begin = time.process_time()
    async for event in agent.reply_stream(UserMsg("user", "Go on.")):
        events += 1
        if len(answers) == 1 and isinstance(event, TextBlockDeltaEvent):
            lags.append(time.perf_counter_ns() - next(texts))
    return events, time.process_time() - begin, lags


def least(answers: Any) -> dict[str, Any]:
    runs = [asyncio.run(reply(answers())) for _ in range(PASSES)]
    events, seconds, lags = min(runs, key=lambda run: run[1])
    answer: dict[str, Any] = {"events": events, "seconds": seconds}
    if lags:
        cuts = statistics.quantiles(lags, n=100)
        answer["lag"] = {"median": cuts[49] / 1e9, "p99": cuts[98] / 1e9}
    return answer


def main() -> None:
    deltas, rounds = map(int, sys.argv[1:])
    gc.disable()
    print(json.dumps({"talk": least(lambda: talk(deltas)), "tools": least(lambda: tools(rounds))}))


if __name__ == "__main__":
    main()
