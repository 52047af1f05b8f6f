"""Scripted tools and their surroundings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from agentscope.event import ReplyEndEvent
from agentscope.message import DataBlock, ToolResultState
from agentscope.middleware import MiddlewareBase
from agentscope.permission import PermissionBehavior, PermissionContext, PermissionDecision, PermissionMode, PermissionRule
from agentscope.tool import ToolBase, ToolChunk, ToolGroup, Toolkit

from .gates import Gates
from .model import block
from .scenarios import Json

_ANYTHING = {"type": "object", "properties": {"x": {"type": "string"}}}
_BEHAVIORS = {"ask_for_safety": PermissionBehavior.ASK} | {each.value: each for each in PermissionBehavior}


class ScriptedTool(ToolBase):
    """Executes the steps of its script, or returns its arguments."""

    def __init__(self, script: Json, gates: Gates, scripted: set[str]) -> None:
        super().__init__()
        self.name = script["name"]
        self.description = "A tool."
        self.input_schema = script.get("schema", _ANYTHING)
        self.metadata_schema = script.get("metadata_schema")
        self.is_concurrency_safe = script.get("concurrent", False)
        self.is_read_only = False
        self.is_external_tool = script.get("external", False)
        self._opinion = script.get("opinion", "passthrough")
        self._reason = script.get("reason", "Because.")
        self._steps = script.get("steps")
        self._gates = gates
        self._scripted = scripted

    async def check_permissions(self, tool_input: Json, context: PermissionContext) -> PermissionDecision:
        """Return the scripted permission."""
        behavior = _BEHAVIORS[self._opinion]
        safety = self._opinion == "ask_for_safety"
        return PermissionDecision(behavior=behavior, message=self._reason, bypass_immune=safety)

    async def call(self, **arguments: Any) -> Any:
        """Execute the steps."""
        steps = self._steps
        if steps is None:
            steps = [{"text": f"{self.name}({json.dumps(arguments, separators=(',', ':'))})"}]
        if any("breaks_contract" in step for step in steps):
            return "no chunk"
        return self._run(steps, arguments)

    async def _run(self, steps: list[Json], arguments: Json) -> AsyncIterator[ToolChunk]:
        for step in steps:
            if "gate" in step:
                await self._gates.wait(step["gate"])
            elif "raises" in step:
                self._scripted.add(step["raises"])
                raise ValueError(step["raises"])
            elif "cancels" in step:
                raise asyncio.CancelledError
            else:
                yield self._chunk(step, arguments)

    def _chunk(self, step: Json, arguments: Json) -> ToolChunk:
        blocks = step.get("blocks", [step])
        content = []
        for each in blocks:
            if "text" in each:
                text = each["text"].replace("{x}", str(arguments.get("x")))
                self._scripted.add(text)
                content.append(block({"id": f"{self.name}-text"} | each | {"text": text}))
            else:
                content.append(block(each))
        state = ToolResultState(step.get("state", "running"))
        return ToolChunk(content=content, state=state, metadata=step.get("metadata", {}))


class GatedToolkit(Toolkit):
    """Waits at a gate before it looks up a tool by name, after the user has replied."""

    def __init__(self, gates: Gates, gate: str | None, **parts: Any) -> None:
        super().__init__(**parts)
        self._gates, self._gate = gates, gate
        self.waits = False

    async def get_tool(self, *names: Any, **kwargs: Any) -> Any:
        if self.waits and self._gate is not None:
            await self._gates.wait(self._gate)
        return await super().get_tool(*names, **kwargs)


class SwallowFirstEnd(MiddlewareBase):
    """Drops the first end of a reply."""

    def __init__(self) -> None:
        self._swallowed = False

    async def on_reply(self, agent: Any, input_kwargs: Json, next_handler: Any) -> AsyncIterator[Any]:
        async for item in next_handler(**input_kwargs):
            if isinstance(item, ReplyEndEvent) and not self._swallowed:
                self._swallowed = True
                continue
            yield item


class GatedPermission(MiddlewareBase):
    """Waits at a gate before a permission is checked."""

    def __init__(self, gates: Gates, gate: str) -> None:
        self._gates, self._gate = gates, gate

    async def on_check_permission(self, agent: Any, input_kwargs: Json, next_handler: Any) -> Any:
        await self._gates.wait(self._gate)
        return await next_handler(**input_kwargs)


class Elsewhere:
    """Stores content that exceeds the context."""

    async def offload_data_block(self, block: DataBlock) -> DataBlock:
        return block

    async def offload_context(self, session_id: str, msgs: Any) -> str:
        return "/elsewhere/context"

    async def offload_tool_result(self, session_id: str, tool_result: Any) -> str:
        return "/elsewhere/result"


def toolkit(scenario: Json, gates: Gates, scripted: set[str]) -> GatedToolkit:
    """Return the tools of a scenario by group."""
    made = [(tool.get("group"), ScriptedTool(tool, gates, scripted)) for tool in scenario.get("tools", [])]
    groups = [
        ToolGroup(
            group["name"],
            description=group["description"],
            tools=[tool for name, tool in made if name == group["name"]],
        )
        for group in scenario.get("groups", [])
    ]
    basic = [tool for name, tool in made if name is None]
    gate = scenario.get("options", {}).get("gate_before_tools")
    return GatedToolkit(gates, gate, tools=basic, tool_groups=groups)


def permissions(scenario: Json) -> PermissionContext:
    """Return the rules of a scenario. Each applies to all calls of a tool."""
    said = scenario.get("permissions", {})

    def rules(behavior: str) -> dict[str, list[PermissionRule]]:
        return {
            name: [PermissionRule(tool_name=name, rule_content=None, behavior=PermissionBehavior(behavior), source="user")]
            for name in said.get(behavior, [])
        }

    return PermissionContext(
        mode=PermissionMode(said.get("mode", "default")),
        allow_rules=rules("allow"),
        deny_rules=rules("deny"),
        ask_rules=rules("ask"),
    )
