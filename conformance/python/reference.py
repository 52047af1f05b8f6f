"""The published package with a fixed clock and fixed random values.

All access to the package goes through this module. Importing it replaces the two
factories for ids and times, so that generated values are `<random>` or `<now>`.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeAlias

import agentscope
from agentscope import event as event_module
from agentscope import message as message_module
from agentscope.event import AgentEvent, CustomEvent, EventType, ReplyStartEvent
from agentscope.message import AssistantMsg, Msg, TextBlock
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

NOW = "<now>"
RANDOM = "<random>"

Json = Any
"""A value as returned by `json.loads`."""

_PINNED = ("agentscope", "pydantic", "pydantic_core")

# The package warns about every event that it skips and about one deprecated event type. Both are
# expected here.
logging.getLogger("as").setLevel(logging.CRITICAL)
warnings.filterwarnings("ignore", category=DeprecationWarning)

agentscope.set_id_factory(lambda: RANDOM)
agentscope.set_timestamp_factory(lambda: NOW)

Message: TypeAlias = Msg

EVENT_TYPES = frozenset(str(each) for each in EventType)

EVENT: TypeAdapter[Any] = TypeAdapter(
    Annotated[AgentEvent, Field(discriminator="type")],
)


class Dumpable(Protocol):
    """The common base of the package's events and messages."""

    def model_dump_json(self) -> str: ...


def parse_event(text: str) -> Any:
    """Parse an event with the package."""
    return EVENT.validate_json(text)


def parse_message(text: str) -> Message:
    """Parse a message with the package."""
    return Msg.model_validate_json(text)


def describe(error: ValidationError) -> list[Json]:
    """Return the compared parts of a validation error: types and locations."""
    details = error.errors(
        include_url=False,
        include_context=False,
        include_input=False,
    )
    return [{"type": each["type"], "loc": list(each["loc"])} for each in details]


def describe_raised(error: Exception) -> str:
    """Return one line for an exception of the fold.

    A validation error is reduced to its types and locations, because its text spans
    several lines and contains the version of pydantic.
    """
    if isinstance(error, ValidationError):
        return f"ValidationError: {', '.join(map(_place, describe(error)))}"
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__name__}: {error}"


def seed(event: ReplyStartEvent) -> Message:
    """Return the empty message to which the events of a reply are appended."""
    return AssistantMsg(event.name, [], id=event.reply_id)


def is_custom(event: Any) -> bool:
    """Return whether the fold of this version raises for the event."""
    return isinstance(event, CustomEvent)


def is_reply_start(event: Any) -> bool:
    """Return whether the event starts a reply."""
    return isinstance(event, ReplyStartEvent)


def check_versions(*more: str) -> None:
    """Raise if the package has another version than the pinned one."""
    for name, pinned in _pins((*_PINNED, *more)):
        installed = version(name)
        if installed != pinned:
            raise SystemExit(
                f"{name} {installed} is installed, but requirements.txt pins "
                f"{pinned}: the answers would not be comparable",
            )


def check_frozen() -> None:
    """Check that no clock or random generator is used by a model of the package.

    Every default factory of every model is called, because one of them could have
    captured another function than the two replaced ones.
    """
    for model in _models():
        for name, field in model.model_fields.items():
            factory = field.default_factory
            if factory is None:
                continue
            value = factory()  # type: ignore[call-arg]
            if value not in (NOW, RANDOM, {}, []):
                raise SystemExit(f"{model.__name__}.{name} makes up {value!r}")
    block = TextBlock(text="")
    message = AssistantMsg("name", [])
    made = (block.id, block.created_at, message.id, message.created_at)
    if made != (RANDOM, NOW, RANDOM, NOW):
        raise SystemExit(f"the factories are not in force: {made}")


def _place(detail: Json) -> str:
    steps = ".".join(str(step) for step in detail["loc"])
    return f"{detail['type']} at {steps}" if steps else str(detail["type"])


def _pins(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    text = (Path(__file__).parent / "requirements.txt").read_text("utf-8")
    pins = dict(line.split("==") for line in text.splitlines() if "==" in line and line[0] != "#")
    return ((name, pins[name]) for name in names)


def _models() -> list[type[BaseModel]]:
    found = {
        value
        for module in (event_module, message_module)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, BaseModel)
    }
    return sorted(found, key=lambda model: model.__name__)
