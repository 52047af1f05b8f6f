"""Places where a scenario stands still until something else has happened.

No scenario waits for a time: what comes first is said by gates.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict


class Gates:
    """Gates by their names, each of which is made when it is first named."""

    def __init__(self) -> None:
        self._reached: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._opened: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def wait(self, name: str) -> None:
        """Stand at a gate until it is opened."""
        self._reached[name].set()
        await self._opened[name].wait()

    async def reached(self, name: str) -> None:
        """Return when somebody stands at a gate."""
        await self._reached[name].wait()

    def open(self, name: str) -> None:
        """Let everybody through, now and later."""
        self._opened[name].set()
