"""Points at which a scenario waits until something else has happened.

Scenarios never wait for a duration. The order of events is controlled by gates.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict


class Gates:
    """Gates by name, created on first use."""

    def __init__(self) -> None:
        self._reached: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._opened: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def wait(self, name: str) -> None:
        """Wait until a gate is opened."""
        self._reached[name].set()
        await self._opened[name].wait()

    async def reached(self, name: str) -> None:
        """Return when a task waits at a gate."""
        await self._reached[name].wait()

    def open(self, name: str) -> None:
        """Open a gate for current and later tasks."""
        self._opened[name].set()
