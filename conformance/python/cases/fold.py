"""Fold cases and how they are built."""

from __future__ import annotations

from dataclasses import dataclass

from cases.templates import Event, Template, reply_start, stamp

Parts = Template | list[Template]

SMALL = 6
"""The maximum number of events for which the message is recorded after each event."""


@dataclass(frozen=True)
class FoldCase:
    """A stream with its description."""

    name: str
    description: str
    events: list[Event]
    stepwise: bool
    """Whether the message is recorded after every event."""


def bare(name: str, description: str, *parts: Parts) -> FoldCase:
    """Return a case with exactly these events."""
    flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    return FoldCase(name, description, stamp(flat), stepwise=len(flat) <= SMALL)


def case(name: str, description: str, *parts: Parts) -> FoldCase:
    """Return a case with these events after a REPLY_START."""
    return bare(name, description, reply_start(), *parts)


def take_turns(*lanes: list[Template]) -> list[Template]:
    """Interleave the events of several lanes."""
    longest = max(len(lane) for lane in lanes)
    return [lane[turn] for turn in range(longest) for lane in lanes if turn < len(lane)]
