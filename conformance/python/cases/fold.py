"""What a fold case is, and how one is put together."""

from __future__ import annotations

from dataclasses import dataclass

from cases.templates import Event, Template, reply_start, stamp

Parts = Template | list[Template]

SMALL = 6
"""Up to this many events the message is recorded after each of them."""


@dataclass(frozen=True)
class FoldCase:
    """A stream and what it is about."""

    name: str
    description: str
    events: list[Event]
    stepwise: bool
    """Whether the message is recorded after every event."""


def bare(name: str, description: str, *parts: Parts) -> FoldCase:
    """A case with exactly the events given."""
    flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    return FoldCase(name, description, stamp(flat), stepwise=len(flat) <= SMALL)


def case(name: str, description: str, *parts: Parts) -> FoldCase:
    """A case whose events follow a REPLY_START."""
    return bare(name, description, reply_start(), *parts)


def take_turns(*lanes: list[Template]) -> list[Template]:
    """One event of each lane after the other."""
    longest = max(len(lane) for lane in lanes)
    return [lane[turn] for turn in range(longest) for lane in lanes if turn < len(lane)]
