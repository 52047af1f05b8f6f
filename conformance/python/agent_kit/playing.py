"""Runs a scenario turn by turn."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agentscope.agent import Agent, ContextConfig, InjectionConfig, ModelConfig, ReActConfig
from agentscope.event import (
    ConfirmResult,
    ExternalExecutionResultEvent,
    ReplyStartEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from agentscope.message import AssistantMsg, Msg, SystemMsg, ToolCallBlock, ToolResultBlock, UserMsg
from agentscope.permission import PermissionRule
from agentscope.state import AgentState

from .gates import Gates
from .model import ScriptedModel, block
from .scenarios import Json, calls_in
from .tools import Elsewhere, GatedPermission, SwallowFirstEnd, permissions, toolkit
from .writing import Turn, essence

_ROLES = {"user": UserMsg, "assistant": AssistantMsg, "system": SystemMsg}


class Player:
    """An agent of the package in a scenario."""

    def __init__(self, scenario: Json) -> None:
        self.scenario = scenario
        self.options = scenario.get("options", {})
        self.gates = Gates()
        self.asked: list[Json] = []
        self.scripted: set[str] = set()
        """The texts of the script. All other text is the package's own."""
        self.messages: dict[str, Msg] = {}
        """The folded messages by reply id."""
        size = {"context_size": self.options["context_size"]} if "context_size" in self.options else {}
        self.model = ScriptedModel("script-model", scenario["model"], self.gates, self.asked, **size)
        self.model.summaries = list(scenario.get("summaries", []))
        self.fallback = None
        if "fallback" in scenario:
            self.fallback = ScriptedModel("fallback-model", scenario["fallback"], self.gates, self.asked)
        context = [_message(each) for each in scenario.get("context", [])]
        self.agent = self._agent(AgentState(context=context, permission_context=permissions(scenario)))

    def _agent(self, state: AgentState) -> Agent:
        options = self.options
        self.toolkit = toolkit(self.scenario, self.gates, self.scripted)
        middlewares: list[Any] = []
        if options.get("swallow_first_end"):
            middlewares.append(SwallowFirstEnd())
        if "gate_in_permission" in options:
            middlewares.append(GatedPermission(self.gates, options["gate_in_permission"]))
        return Agent(
            name="Friday",
            system_prompt="Be brief.",
            model=self.model,
            toolkit=self.toolkit,
            middlewares=middlewares,
            state=state,
            offloader=Elsewhere() if options.get("offload") else None,
            model_config=ModelConfig(max_retries=options.get("retries", 0), fallback_model=self.fallback),
            context_config=ContextConfig(**_given(options, tool_result_limit="tool_result_limit")),
            react_config=ReActConfig(
                **_given(
                    options,
                    max_iters="max_iters",
                    structured_output_grace_iters="grace_iters",
                    stop_on_reject="stop_on_reject",
                    interruption_raise_cancelled_error="raise_cancelled",
                ),
            ),
            injection_config=InjectionConfig(inject_runtime_state=options.get("injection", False)),
        )

    async def play(self) -> Json:
        """Run all turns and return the record."""
        turns = [await self._turn(turn) for turn in self.scenario["turns"]]
        folded = [essence(message) for message in self.messages.values()]
        return {"turns": turns, "folded": folded, "asked": self.asked}

    async def _turn(self, turn: Json) -> Json:
        if turn.get("reload"):
            self.agent = self._agent(AgentState.model_validate_json(self.agent.state.model_dump_json()))
            return Turn().record()
        if "observe" in turn:
            await self.agent.observe(UserMsg("user", turn["observe"]))
            return Turn().record()
        inputs = self._inputs(turn)
        taken = Turn()
        consumer = asyncio.create_task(self._consume(inputs, turn, taken))
        watchers = [
            asyncio.create_task(self._watch(each, consumer)) for each in turn.get("during", []) if "at" in each
        ]
        try:
            await consumer
        except BaseException as error:
            # Every exception of the package is recorded.
            taken.raised = type(error).__name__
        for watcher in watchers:
            watcher.cancel()
        return taken.record()

    async def _watch(self, what: Json, consumer: asyncio.Task[None]) -> None:
        await self.gates.reached(what["at"])
        self._do(what, consumer)

    def _do(self, what: Json, consumer: asyncio.Task[None] | None) -> None:
        if what.get("do") == "cancel":
            assert consumer is not None
            consumer.cancel()
        if "open" in what:
            self.gates.open(what["open"])

    async def _consume(self, inputs: Any, turn: Json, taken: Turn) -> None:
        is_event = not (inputs is None or isinstance(inputs, (Msg, list)))
        self.toolkit.waits = is_event
        before = json.loads(inputs.model_dump_json()) if is_event else None
        schema = {"structured_schema": turn["schema"]} if "schema" in turn else {}
        async for item in self.agent.reply_stream(inputs, yield_final_msg=True, **schema):
            if isinstance(item, Msg):
                taken.returned = {
                    "finished_reason": item.finished_reason,
                    "structured_output": item.structured_output,
                }
                continue
            if before is not None:
                # An accepted reply of the user precedes its effects in the stream.
                self._fold(inputs)
                before = None
            event = taken.take(item, self.scripted)
            self._fold(event)
            for what in turn.get("during", []):
                if what.get("after") == item.type and what.get("call") == getattr(item, "tool_call_id", None):
                    self._do(what, asyncio.current_task())

    def _fold(self, event: Any) -> None:
        if isinstance(event, ReplyStartEvent):
            self.messages[event.reply_id] = AssistantMsg(event.name, [], id=event.reply_id)
        message = self.messages.get(event.reply_id)
        if message is not None:
            message.append_event(event)

    def _inputs(self, turn: Json) -> Any:
        if "say" in turn:
            return UserMsg("user", turn["say"])
        if "messages" in turn:
            return [_message(each) for each in turn["messages"]]
        if turn.get("none"):
            return None
        reply_id = turn.get("reply", self.agent.state.reply_id)
        if turn.get("interrupt"):
            return UserInterruptEvent(reply_id=reply_id)
        if "confirm" in turn:
            return UserConfirmResultEvent(reply_id=reply_id, confirm_results=list(map(self._confirm, turn["confirm"])))
        return ExternalExecutionResultEvent(reply_id=reply_id, execution_results=list(map(self._result, turn["results"])))

    def _confirm(self, said: Json) -> ConfirmResult:
        name, text = calls_in(self.scenario["model"]).get(said["call"], (said.get("name"), "{}"))
        call = ToolCallBlock(id=said["call"], name=name, input=said.get("input", text))
        rules = said.get("rules")
        return ConfirmResult(
            confirmed=said["yes"],
            tool_call=call,
            rules=rules and [PermissionRule.model_validate(rule) for rule in rules],
        )

    def _result(self, said: Json) -> ToolResultBlock:
        name = said.get("name") or calls_in(self.scenario["model"])[said["call"]][0]
        output = said["output"]
        if isinstance(output, list):
            self.scripted.update(each["text"] for each in output if "text" in each)
            output = list(map(block, output))
        else:
            self.scripted.add(output)
        state = said.get("state", "success")
        return ToolResultBlock(id=said["call"], name=name, output=output, state=state, metadata=said.get("metadata", {}))


def _message(said: Json) -> Msg:
    return _ROLES[said["role"]](said["name"], list(map(block, said["content"])))


def _given(options: Json, **names: str) -> Json:
    return {theirs: options[ours] for theirs, ours in names.items() if ours in options}
