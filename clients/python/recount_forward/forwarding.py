"""Forwarding what an agent says, and carrying back what it is told."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any, Self

from agentscope.event import ExternalExecutionResultEvent, UserConfirmResultEvent, UserInterruptEvent
from agentscope.message import Msg

from .service import Json, Service

_ANSWERS: dict[str, Any] = {
    "USER_CONFIRM_RESULT": UserConfirmResultEvent,
    "EXTERNAL_EXECUTION_RESULT": ExternalExecutionResultEvent,
    "USER_INTERRUPT": UserInterruptEvent,
}
_WAITS = ("REQUIRE_USER_CONFIRM", "REQUIRE_EXTERNAL_EXECUTION")

_MOST_UNSENT = 1_000
"""So many events may wait for the service. The agent waits when there are more."""


class Session:
    """A session that an agent elsewhere speaks in."""

    def __init__(self, url: str, session: str, *, token: str | None = None, **about: Any) -> None:
        """Name the session. What else is given (`title`, `metadata`) describes it where it is new."""
        self._service = Service(url, session, token=token)
        self._about = about

    async def __aenter__(self) -> Self:
        await self._service.create(self._about)
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self._service.close()

    async def forward(self, agent: Any, inputs: Msg | list[Msg] | None = None, **options: Any) -> Msg:
        """Let the agent reply, and give its message when all of it is in the log.

        The reply waits where the agent asks for a confirmation or for a result, until somebody answers in the session.
        Options are those of the agent's `reply_stream`.

        Raises `Problem` when the service refuses what it is sent.
        """
        said = [inputs] if isinstance(inputs, Msg) else inputs or []
        outbox = _Outbox(self._service)
        for message in said:
            outbox.add(_message_event(message))
        # The place from which answers are looked for. It is before the reply, so none is missed.
        after = await outbox.send()
        reply = _Reply(agent, outbox, options)
        async with aclosing(self._service.events(after)) as events:
            return await reply.run(inputs, events)


class _Reply:
    """One reply of the agent, in one or more turns."""

    def __init__(self, agent: Any, outbox: _Outbox, options: Json) -> None:
        self._agent = agent
        self._outbox = outbox
        self._options = options
        self._id: str | None = None
        self._waits = False
        self._message: Msg | None = None

    async def run(self, inputs: Any, events: Any) -> Msg:
        answers: asyncio.Queue[Any] = asyncio.Queue()
        listening = asyncio.create_task(self._listen(events, answers))
        try:
            while True:
                await self._turn(inputs, answers, listening)
                await self._outbox.send()
                if not self._waits:
                    if self._message is None:
                        raise RuntimeError("the agent ended its stream without a message; all that it said is in the log")
                    return self._message
                inputs = await _first(answers.get(), listening)
        finally:
            await _stopped(listening)

    async def _turn(self, inputs: Any, answers: asyncio.Queue[Any], listening: asyncio.Task[None]) -> None:
        speaking = asyncio.create_task(self._speak(inputs))
        sending = asyncio.create_task(self._outbox.keep_sending())
        interrupting = asyncio.create_task(_interrupt(speaking, answers))
        try:
            await _first(speaking, sending, listening)
        except asyncio.CancelledError:
            # The agent ends its reply in order, and that belongs to the log too.
            await _stopped(speaking, sending, interrupting)
            await self._outbox.send()
            raise
        finally:
            await _stopped(speaking, sending, interrupting)

    async def _speak(self, inputs: Any) -> None:
        self._waits = False
        stream = self._agent.reply_stream(inputs, yield_final_msg=True, **self._options)
        async for item in stream:
            if isinstance(item, Msg):
                self._message = item
                continue
            if item.type == "REPLY_START":
                self._id = item.reply_id
            self._waits = item.type in _WAITS or (self._waits and item.type != "REPLY_END")
            self._outbox.add(item.model_dump_json())
            await self._outbox.room()

    async def _listen(self, events: Any, answers: asyncio.Queue[Any]) -> None:
        async for event in events:
            kind = _ANSWERS.get(event["type"])
            if kind is not None and event.get("reply_id") == self._id:
                await answers.put(kind.model_validate(event))


class _Outbox:
    """Events on their way to the service, in order."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._unsent: list[str] = []
        self._sending = asyncio.Lock()
        self._changed = asyncio.Event()
        self._cursor = "start"

    def add(self, line: str) -> None:
        self._unsent.append(line)
        self._changed.set()

    async def room(self) -> None:
        """Wait until the service has caught up.

        The agent is not told of an interrupt here, where it could not end its reply in order, but when it goes on.
        """
        interrupted = False
        while len(self._unsent) >= _MOST_UNSENT:
            try:
                await self.send()
            except asyncio.CancelledError:
                interrupted = True
        if interrupted:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()

    async def send(self) -> str:
        """Write what there is, and tell the cursor behind it. Nothing is forgotten before it is acknowledged."""
        async with self._sending:
            while self._unsent:
                batch = self._unsent[:_MOST_UNSENT]
                answer = await self._service.append(batch)
                del self._unsent[: len(batch)]
                self._cursor = answer["cursor"]
            return self._cursor

    async def keep_sending(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self.send()


async def _interrupt(speaking: asyncio.Task[None], answers: asyncio.Queue[Any]) -> None:
    """Stop an agent that speaks. Its reply then ends in order; an answer to what it asks is kept for the next turn."""
    kept = []
    try:
        while True:
            answer = await answers.get()
            if isinstance(answer, UserInterruptEvent):
                speaking.cancel()
            else:
                kept.append(answer)
    finally:
        for answer in kept:
            answers.put_nowait(answer)


async def _stopped(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _first(wanted: Any, *others: asyncio.Task[None]) -> Any:
    """What comes of the first one. The others go on for ever, so that one of them ends only by failing."""
    wanted = asyncio.ensure_future(wanted)
    try:
        await asyncio.wait([wanted, *others], return_when=asyncio.FIRST_COMPLETED)
        for other in others:
            if other.done():
                other.result()
        return await wanted
    finally:
        wanted.cancel()


def _message_event(message: Msg) -> str:
    """A message that nobody streams, as one event."""
    value = message.model_dump(mode="json")
    event = {
        "id": message.id,
        "created_at": message.created_at,
        "metadata": {},
        "type": "CUSTOM",
        "name": "recount.message",
        "value": value,
    }
    return json.dumps(event, ensure_ascii=False)
