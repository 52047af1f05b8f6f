"""Stream the published package's agent through the service, and reply to it from there.

forwarding.py        run every case; exit status 1 if one fails
forwarding.py --java the same for an agent and a reader of AgentScope Java

A scripted model and scripted tools run with the package's agent. The service is
`recount serve` (`RECOUNT_BIN`, or the debug build), and clients/python connects the
two.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "clients" / "python"))

from agentscope.message import AssistantMsg, UserMsg  # noqa: E402
from pydantic import TypeAdapter  # noqa: E402
from agentscope.event import AgentEvent  # noqa: E402

from agent_kit.playing import Player  # noqa: E402
from recount_forward import Problem, Session  # noqa: E402
from service_kit.server import Server  # noqa: E402

Json = Any

ASKS = {
    "name": "asks",
    "tools": [{"name": "erase", "opinion": "ask"}],
    "model": [
        {"chunks": [[{"thinking": "Shall I?"}], [{"text": "I will."}], [{"call": "c1", "tool": "erase", "input": '{"x": "all"}'}]]},
        "So be it.",
    ],
}
PLAIN = {"name": "plain", "model": ["Hello, Alice."]}
LONG = {"name": "long", "model": [{"chunks": [[{"text": f"word{number} "}] for number in range(4_000)]}]}
WAITS = {"name": "waits", "model": [{"chunks": [[{"text": "One moment"}], {"gate": "never"}]}]}


class Case:
    """A session of the service, and an agent that writes to it."""

    def __init__(self, server: Server, scenario: Json) -> None:
        self.server = server
        self.name = scenario["name"]
        self.player = Player(scenario)
        self.path = f"/v1/sessions/{self.name}"

    async def forward(self) -> Any:
        async with Session(self.server.url, self.name, title=self.name) as session:
            return await session.forward(self.player.agent, UserMsg("Alice", "Please."))

    def events(self) -> list[Json]:
        """Return the events of the log, page by page."""
        found: list[Json] = []
        page = self.server.get(f"{self.path}/events")
        while lines := page.text.splitlines():
            found.extend(map(json.loads, lines))
            page = self.server.get(f"{self.path}/events?after={page.headers['recount-cursor']}")
        return found

    def messages(self) -> list[Json]:
        """Return the message of the service."""
        return self.server.get(f"{self.path}/messages").json()["messages"]

    async def seen(self, kind: str) -> Json:
        """Return the first event of a type as soon as it arrives."""
        for _ in range(600):
            try:
                found = [event for event in self.events() if event["type"] == kind]
            except Exception:  # The session may not exist yet.
                found = []
            if found:
                return found[0]
            await asyncio.sleep(0.05)
        raise AssertionError(f"{self.name}: no {kind} came")

    def holds(self, reply: Any, reason: str) -> None:
        """Check that the service's message equals the package's fold of the log, without
        missing or repeated events.
        """
        events = self.events()
        ids = [event["id"] for event in events]
        assert len(ids) == len(set(ids)), "an event is there twice"
        said, answered = self.messages()
        assert said["content"][0]["text"] == "Please.", said
        assert answered["id"] == reply.id and answered["finished_reason"] == reason, answered
        mine = AssistantMsg(answered["name"], [], id=reply.id)
        for event in events:
            if event["type"] != "CUSTOM" and event.get("reply_id") == reply.id:
                mine.append_event(TypeAdapter(AgentEvent).validate_python(event))
        theirs = [_essence(block) for block in answered["content"]]
        assert theirs == [_essence(block) for block in json.loads(mine.model_dump_json())["content"]], answered


def _essence(block: Json) -> Json:
    """Return a block without its times, which the package takes from its own clock."""
    kept = {key: value for key, value in block.items() if key not in ("created_at", "finished_at", "id")}
    if isinstance(kept.get("output"), list):
        kept["output"] = [_essence(each) for each in kept["output"]]
    return kept


def _answer(asked: Json, confirmed: bool) -> Json:
    results = [{"confirmed": confirmed, "tool_call": call} for call in asked["tool_calls"]]
    return [{"type": "USER_CONFIRM_RESULT", "reply_id": asked["reply_id"], "confirm_results": results}]


async def plain(server: Server) -> None:
    """A reply without requests."""
    case = Case(server, PLAIN)
    case.holds(await case.forward(), "completed")


async def confirmed(server: Server) -> None:
    """A confirmation is sent over the API, and a second one is rejected."""
    case = Case(server, ASKS | {"name": "confirmed"})
    forwarding = asyncio.create_task(case.forward())
    asked = await case.seen("REQUIRE_USER_CONFIRM")
    assert server.post(f"{case.path}/events", _answer(asked, True)).is_success
    late = server.post(f"{case.path}/events", _answer(asked, False))
    assert late.status_code == 409, late.text
    case.holds(await forwarding, "completed")
    result = next(block for block in case.messages()[1]["content"] if block["type"] == "tool_result")
    assert result["state"] == "success", result


async def refused(server: Server) -> None:
    """The user denies a call, and the agent continues without the tool."""
    case = Case(server, ASKS | {"name": "refused"})
    forwarding = asyncio.create_task(case.forward())
    asked = await case.seen("REQUIRE_USER_CONFIRM")
    assert server.post(f"{case.path}/events", _answer(asked, False)).is_success
    case.holds(await forwarding, "completed")
    result = next(block for block in case.messages()[1]["content"] if block["type"] == "tool_result")
    assert result["state"] == "denied", result


async def interrupted(server: Server) -> None:
    """An interrupt reaches a running agent."""
    case = Case(server, WAITS)
    forwarding = asyncio.create_task(case.forward())
    started = await case.seen("TEXT_BLOCK_DELTA")
    assert server.post(f"{case.path}/events", [{"type": "USER_INTERRUPT", "reply_id": started["reply_id"]}]).is_success
    case.holds(await forwarding, "interrupted")


async def crashed(server: Server) -> None:
    """The service is killed twice during a reply and restarted."""
    case = Case(server, LONG)
    forwarding = asyncio.create_task(case.forward())
    await case.seen("TEXT_BLOCK_DELTA")
    for _ in range(2):
        server.kill()
        await asyncio.sleep(0.2)
        await asyncio.to_thread(server.start)
        await asyncio.sleep(0.2)
    case.holds(await forwarding, "completed")
    text = case.messages()[1]["content"][0]["text"]
    assert text == "".join(f"word{number} " for number in range(4_000)), "text is missing or doubled"


async def refusal(server: Server) -> None:
    """Rejected requests raise an exception with the reason."""
    try:
        async with Session(server.url, "not an id") as session:
            await session.forward(Player(PLAIN).agent, UserMsg("Alice", "Please."))
    except Problem as problem:
        assert problem.status == 400, problem.body
        return
    raise AssertionError("a bad session id was taken")


async def java(server: Server) -> None:
    """An agent of AgentScope Java asks, and a reader of AgentScope Java approves. Both
    only know the service.
    """
    ask = str(Path(__file__).resolve().parents[1] / "java" / "ask")
    agent = await asyncio.create_subprocess_exec(ask, "forward", server.url, "java", stdout=asyncio.subprocess.PIPE)
    case = Case(server, PLAIN | {"name": "java"})
    await case.seen("REQUIRE_USER_CONFIRM")
    reader = await asyncio.create_subprocess_exec(ask, "answer", server.url, "java", stdout=asyncio.subprocess.PIPE)
    (decided, _), (read, _) = await asyncio.gather(agent.communicate(), reader.communicate())
    assert decided.decode().splitlines() == ["decided: [true]"], decided
    lines = read.decode().splitlines()
    assert lines[0] == "AGENT_START" and "REQUIRE_USER_CONFIRM" in lines and lines[-1] == "text: So be it.", lines
    assert lines.count("AGENT_RESULT") == 1 and lines.index("AGENT_RESULT") == lines.index("AGENT_END") - 1, lines
    (message,) = case.messages()
    kinds = [block["type"] for block in message["content"]]
    assert kinds == ["text", "tool_call", "tool_result", "text"], kinds
    assert message["finished_reason"] == "completed" and message["content"][2]["state"] == "success", message


CASES: list[Callable[[Server], Awaitable[None]]] = [plain, confirmed, refused, interrupted, crashed, refusal]


async def _run(cases: list[Callable[[Server], Awaitable[None]]]) -> int:
    failed = 0
    with Server() as server:
        for case in cases:
            try:
                await asyncio.wait_for(case(server), 120)
            except Exception as error:  # All cases are run, and each failure is reported.
                failed += 1
                print(f"forwarding {case.__name__}: {type(error).__name__}: {str(error)[:500]}")
    print(f"forwarding: {len(cases)} cases, {failed} failed")
    return failed


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--java", action="store_true", help="an agent and a reader of AgentScope Java")
    options = parser.parse_args()
    return 1 if asyncio.run(_run([java] if options.java else CASES)) else 0


if __name__ == "__main__":
    sys.exit(main())
