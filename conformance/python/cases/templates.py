"""Events without id and time, from which streams are put together.

A template says what happens; `stamp` then gives each its id and its time, so
that streams can be shuffled first and numbered afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

Template = dict[str, Any]
Event = dict[str, Any]

REPLY = "r1"
_START = datetime(2026, 1, 2, 3, 0, 0)


def stamp(templates: Sequence[Template]) -> list[Event]:
    """Number the templates: ids `e0`, `e1` and so on, one second apart."""
    return [{"id": f"e{n}", "created_at": at(n)} | each for n, each in enumerate(templates)]


def at(second: int) -> str:
    """The time of the event with that number."""
    return (_START + timedelta(seconds=second)).isoformat()


def event(kind: str, reply: str = REPLY, **fields: Any) -> Template:
    """Any event that belongs to a reply."""
    return {"type": kind, "reply_id": reply} | fields


def reply_start(reply: str = REPLY, name: str = "Friday") -> Template:
    """The start of a reply."""
    return {"type": "REPLY_START", "session_id": "s1", "reply_id": reply, "name": name}


def reply_end(reply: str = REPLY, reason: str = "completed", **fields: Any) -> Template:
    """The end of a reply."""
    head = {"type": "REPLY_END", "session_id": "s1", "reply_id": reply}
    return head | {"finished_reason": reason} | fields


def model_start(reply: str = REPLY) -> Template:
    """The start of a model call."""
    return event("MODEL_CALL_START", reply, model_name="some-model")


def model_end(input_tokens: int, output_tokens: int, reply: str = REPLY, **more: int) -> Template:
    """The end of a model call, with its usage."""
    usage = {"input_tokens": input_tokens, "output_tokens": output_tokens}
    return event("MODEL_CALL_END", reply, **usage, **more)


def text_block(block: str, *deltas: str, reply: str = REPLY, kind: str = "TEXT") -> list[Template]:
    """A whole text or thinking block."""
    middle = [event(f"{kind}_BLOCK_DELTA", reply, block_id=block, delta=each) for each in deltas]
    start = event(f"{kind}_BLOCK_START", reply, block_id=block)
    return [start, *middle, event(f"{kind}_BLOCK_END", reply, block_id=block)]


def data_start(block: str, reply: str = REPLY, **fields: Any) -> Template:
    """The start of a data block."""
    media = {"media_type": "image/png"}
    return event("DATA_BLOCK_START", reply, block_id=block, **media | fields)


def data_delta(block: str, data: str | None, reply: str = REPLY, **fields: Any) -> Template:
    """A piece of a data block; without data, the fields bring a URL."""
    source = {"media_type": "image/png"} | ({} if data is None else {"data": data})
    return event("DATA_BLOCK_DELTA", reply, block_id=block, **source | fields)


def data_end(block: str, reply: str = REPLY) -> Template:
    """The end of a data block."""
    return event("DATA_BLOCK_END", reply, block_id=block)


def data_block(block: str, *pieces: str, reply: str = REPLY) -> list[Template]:
    """A whole data block made of base64 pieces."""
    middle = [data_delta(block, piece, reply) for piece in pieces]
    return [data_start(block, reply), *middle, data_end(block, reply)]


def call(call_id: str, *deltas: str, name: str = "search", reply: str = REPLY) -> list[Template]:
    """A whole tool call."""
    middle = [event("TOOL_CALL_DELTA", reply, tool_call_id=call_id, delta=each) for each in deltas]
    start = event("TOOL_CALL_START", reply, tool_call_id=call_id, tool_call_name=name)
    return [start, *middle, event("TOOL_CALL_END", reply, tool_call_id=call_id)]


def result_start(call_id: str, name: str = "search", reply: str = REPLY) -> Template:
    """The start of a tool result."""
    return event("TOOL_RESULT_START", reply, tool_call_id=call_id, tool_call_name=name)


def result_text(call_id: str, delta: str, reply: str = REPLY) -> Template:
    """A piece of text of a tool result."""
    return event("TOOL_RESULT_TEXT_DELTA", reply, tool_call_id=call_id, delta=delta)


def result_data(call_id: str, reply: str = REPLY, **fields: Any) -> Template:
    """A piece of data of a tool result; the fields bring `data` or `url`."""
    media = {"media_type": "image/png"}
    return event("TOOL_RESULT_DATA_DELTA", reply, tool_call_id=call_id, **media | fields)


def result_end(
    call_id: str,
    state: str = "success",
    reply: str = REPLY,
    **fields: Any,
) -> Template:
    """The end of a tool result."""
    return event("TOOL_RESULT_END", reply, tool_call_id=call_id, state=state, **fields)


def call_block(call_id: str, **fields: Any) -> Template:
    """A tool call as other events carry it."""
    head = {"type": "tool_call", "id": call_id, "name": "search", "input": "{}"}
    return head | {"created_at": at(0)} | fields


def result_block(call_id: str, output: Any, **fields: Any) -> Template:
    """A tool result as an external executor sends it."""
    head = {"type": "tool_result", "id": call_id, "name": "search", "output": output}
    return head | {"state": "success", "created_at": at(0)} | fields


def rule(content: str | None = "git:*") -> Template:
    """A permission rule."""
    head = {"tool_name": "Bash", "rule_content": content}
    return head | {"behavior": "allow", "source": "suggested"}


def ask(*calls: Template, reply: str = REPLY) -> Template:
    """The question whether calls may run."""
    return event("REQUIRE_USER_CONFIRM", reply, tool_calls=list(calls))


def answer(*results: Template, reply: str = REPLY) -> Template:
    """The answer to such a question."""
    return event("USER_CONFIRM_RESULT", reply, confirm_results=list(results))


def confirm(block: Template, confirmed: bool = True, **fields: Any) -> Template:
    """One call's part of an answer."""
    return {"confirmed": confirmed, "tool_call": block} | fields


def submit(*calls: Template, reply: str = REPLY) -> Template:
    """The request to run calls elsewhere."""
    return event("REQUIRE_EXTERNAL_EXECUTION", reply, tool_calls=list(calls))


def deliver(*results: Template, reply: str = REPLY) -> Template:
    """The results from elsewhere."""
    return event("EXTERNAL_EXECUTION_RESULT", reply, execution_results=list(results))


def hint(block: str, content: Any, reply: str = REPLY, **fields: Any) -> Template:
    """A hint."""
    return event("HINT_BLOCK", reply, block_id=block, hint=content, **fields)
