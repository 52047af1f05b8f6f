"""The routes of the service that forwarding needs, with retries."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpx

Json = dict[str, Any]

_LONGEST_PAUSE = 10.0


class Problem(Exception):
    """The service refused something, and says why."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(body.get("detail") or body.get("title") or f"the service answered {status}")
        self.status = status
        self.body = body


class Service:
    """A session of a Recount service, over HTTP."""

    def __init__(self, url: str, session: str, *, token: str | None = None) -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        # A stream is silent between heartbeats, which come every few seconds.
        timeout = httpx.Timeout(30.0, read=60.0)
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout)
        self._path = f"/v1/sessions/{session}"

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def create(self, about: Json) -> Json:
        """Make the session, or leave it as it is where it exists."""
        return await self._again(lambda: self._http.put(self._path, json=about))

    async def append(self, lines: Iterable[str]) -> Json:
        """Write events, each of them once however often this is tried."""
        body = "".join(f"{line}\n" for line in lines).encode()
        headers = {"content-type": "application/x-ndjson"}
        return await self._again(lambda: self._http.post(f"{self._path}/events", content=body, headers=headers))

    async def events(self, after: str) -> AsyncIterator[Json]:
        """Every event behind a cursor, for ever. Goes on where it was when the connection is lost."""
        pauses = _pauses()
        while True:
            try:
                async for cursor, event in self._stream(after):
                    after = cursor
                    pauses = _pauses()
                    yield event
            except httpx.TransportError:
                pass
            await asyncio.sleep(next(pauses))

    async def _stream(self, after: str) -> AsyncIterator[tuple[str, Json]]:
        query = {"after": after, "signals": "false"}
        async with self._http.stream("GET", f"{self._path}/stream", params=query) as response:
            if response.status_code >= 500:
                return
            if response.is_error:
                await response.aread()
                raise _problem(response)
            cursor, kind, data = "", "message", ""
            async for line in response.aiter_lines():
                if not line:
                    if data and kind == "message":
                        yield cursor, json.loads(data)
                    elif kind == "gap":
                        raise Problem(410, {"detail": "the session's log has changed, and cannot be followed further"})
                    kind, data = "message", ""
                    continue
                field, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if field == "id":
                    cursor = value
                elif field == "event":
                    kind = value
                elif field == "data":
                    data = value

    async def _again(self, send: Any) -> Json:
        pauses = _pauses()
        while True:
            try:
                response = await send()
            except httpx.TransportError:
                await asyncio.sleep(next(pauses))
                continue
            if response.status_code == 429 or response.status_code >= 500:
                await asyncio.sleep(next(pauses))
                continue
            if response.is_error:
                raise _problem(response)
            return response.json()


def _problem(response: httpx.Response) -> Problem:
    try:
        body = response.json()
    except ValueError:
        body = {}
    return Problem(response.status_code, body)


def _pauses() -> Any:
    """Longer and longer pauses, each a little different, so that not everybody comes back at once."""
    pause = 0.1
    while True:
        yield pause * random.uniform(0.5, 1.0)
        pause = min(pause * 2, _LONGEST_PAUSE)
