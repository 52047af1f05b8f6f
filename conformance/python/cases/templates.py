"""Events without id and time, from which streams are built.

A template contains the event, and `stamp` adds its id and time, so that streams can be
shuffled first and numbered afterwards.
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
    """Return the time of the event with this number."""
    return (_START + timedelta(seconds=second)).isoformat()


def event(kind: str, reply: str = REPLY, **fields: Any) -> Template:
    """Return any event of a reply."""
    return {"type": kind, "reply_id": reply} | fields


def reply_start(reply: str = REPLY, name: str = "Friday") -> Template:
    """Return the start of a reply."""
    return {"type": "REPLY_START", "session_id": "s1", "reply_id": reply, "name": name}


def reply_end(reply: str = REPLY, reason: str = "completed", **fields: Any) -> Template:
    """Return the end of a reply."""
    head = {"type": "REPLY_END", "session_id": "s1", "reply_id": reply}
    return head | {"finished_reason": reason} | fields


def model_start(reply: str = REPLY) -> Template:
    """Return the start of a model call."""
    return event("MODEL_CALL_START", reply, model_name="some-model")


def model_end(input_tokens: int, output_tokens: int, reply: str = REPLY, **more: int) -> Template:
    """Return the end of a model call with its usage."""
    usage = {"input_tokens": input_tokens, "output_tokens": output_tokens}
    return event("MODEL_CALL_END", reply, **usage, **more)


def text_block(block: str, *deltas: str, reply: str = REPLY, kind: str = "TEXT") -> list[Template]:
    """Return a complete text or thinking block."""
    middle = [event(f"{kind}_BLOCK_DELTA", reply, block_id=block, delta=each) for each in deltas]
    start = event(f"{kind}_BLOCK_START", reply, block_id=block)
    return [start, *middle, event(f"{kind}_BLOCK_END", reply, block_id=block)]


def data_start(block: str, reply: str = REPLY, **fields: Any) -> Template:
    """Return the start of a data block."""
    media = {"media_type": "image/png"}
    return event("DATA_BLOCK_START", reply, block_id=block, **media | fields)


def data_delta(block: str, data: str | None, reply: str = REPLY, **fields: Any) -> Template:
    """Return a piece of a data block. Without data, the fields contain a URL."""
    source = {"media_type": "image/png"} | ({} if data is None else {"data": data})
    return event("DATA_BLOCK_DELTA", reply, block_id=block, **source | fields)


def data_end(block: str, reply: str = REPLY) -> Template:
    """Return the end of a data block."""
    return event("DATA_BLOCK_END", reply, block_id=block)


def data_block(block: str, *pieces: str, reply: str = REPLY) -> list[Template]:
    """Return a complete data block of base64 pieces."""
    middle = [data_delta(block, piece, reply) for piece in pieces]
    return [data_start(block, reply), *middle, data_end(block, reply)]


def call(call_id: str, *deltas: str, name: str = "search", reply: str = REPLY) -> list[Template]:
    """Return a complete tool call."""
    middle = [event("TOOL_CALL_DELTA", reply, tool_call_id=call_id, delta=each) for each in deltas]
    start = event("TOOL_CALL_START", reply, tool_call_id=call_id, tool_call_name=name)
    return [start, *middle, event("TOOL_CALL_END", reply, tool_call_id=call_id)]


def result_start(call_id: str, name: str = "search", reply: str = REPLY) -> Template:
    """Return the start of a tool result."""
    return event("TOOL_RESULT_START", reply, tool_call_id=call_id, tool_call_name=name)


def result_text(call_id: str, delta: str, reply: str = REPLY) -> Template:
    """Return a piece of text of a tool result."""
    return event("TOOL_RESULT_TEXT_DELTA", reply, tool_call_id=call_id, delta=delta)


def result_data(call_id: str, reply: str = REPLY, **fields: Any) -> Template:
    """Return a piece of data of a tool result. The fields contain `data` or `url`."""
    media = {"media_type": "image/png"}
    return event("TOOL_RESULT_DATA_DELTA", reply, tool_call_id=call_id, **media | fields)


def result_end(
    call_id: str,
    state: str = "success",
    reply: str = REPLY,
    **fields: Any,
) -> Template:
    """Return the end of a tool result."""
    return event("TOOL_RESULT_END", reply, tool_call_id=call_id, state=state, **fields)


def call_block(call_id: str, **fields: Any) -> Template:
    """Return a tool call as listed in other events."""
    head = {"type": "tool_call", "id": call_id, "name": "search", "input": "{}"}
    return head | {"created_at": at(0)} | fields


def result_block(call_id: str, output: Any, **fields: Any) -> Template:
    """Return a tool result as sent by an external executor."""
    head = {"type": "tool_result", "id": call_id, "name": "search", "output": output}
    return head | {"state": "success", "created_at": at(0)} | fields


def rule(content: str | None = "git:*") -> Template:
    """Return a permission rule."""
    head = {"tool_name": "Bash", "rule_content": content}
    return head | {"behavior": "allow", "source": "suggested"}


def ask(*calls: Template, reply: str = REPLY) -> Template:
    """Return a request to approve calls."""
    return event("REQUIRE_USER_CONFIRM", reply, tool_calls=list(calls))


def answer(*results: Template, reply: str = REPLY) -> Template:
    """Return the response to such a request."""
    return event("USER_CONFIRM_RESULT", reply, confirm_results=list(results))


def confirm(block: Template, confirmed: bool = True, **fields: Any) -> Template:
    """Return the decision about one call."""
    return {"confirmed": confirmed, "tool_call": block} | fields


def submit(*calls: Template, reply: str = REPLY) -> Template:
    """Return a request to execute calls externally."""
    return event("REQUIRE_EXTERNAL_EXECUTION", reply, tool_calls=list(calls))


def deliver(*results: Template, reply: str = REPLY) -> Template:
    """Return the external results."""
    return event("EXTERNAL_EXECUTION_RESULT", reply, execution_results=list(results))


def hint(block: str, content: Any, reply: str = REPLY, **fields: Any) -> Template:
    """Return a hint."""
    return event("HINT_BLOCK", reply, block_id=block, hint=content, **fields)
