"""Streams about whole replies: usage, ends, and several replies at once."""

from __future__ import annotations

from collections.abc import Iterator

from cases.fold import FoldCase, bare, case, take_turns
from cases.protocol import ERROR_TYPES, REPLY_REASONS
from cases.templates import (
    Template,
    ask,
    call,
    call_block,
    data_start,
    event,
    model_end,
    model_start,
    reply_end,
    reply_start,
    result_end,
    result_start,
    result_text,
    text_block,
)


def reply_cases() -> Iterator[FoldCase]:
    """Return all streams of this kind."""
    yield from _usage()
    yield from _replies()
    yield from _ends()
    yield from _customs()


def _usage() -> Iterator[FoldCase]:
    cached: Template = {"cache_input_tokens": 3, "cache_creation_input_tokens": 4}
    yield case("usage/one", "one model call", model_start(), model_end(10, 5, **cached))
    yield case(
        "usage/sum",
        "three model calls",
        model_end(1, 2),
        model_end(10, 20, **cached),
        model_end(100, 200, **cached),
    )
    yield case("usage/zero", "a model call that used nothing", model_end(0, 0))
    yield case("usage/none", "a model call that did not end", model_start())
    yield case("usage/negative", "a negative count", model_end(5, 5), model_end(-7, 0))
    big = 2**63 - 1
    yield case("usage/big", "a sum beyond 64 bits", model_end(big, 1), model_end(big, 1))
    interrupted = model_end(1, 1) | {"finished_reason": "interrupted"}
    yield case("usage/interrupted", "an interrupted model call counts", interrupted)
    yield case(
        "usage/after-reply", "a model call after the reply's end", reply_end(), model_end(1, 1)
    )


def _replies() -> Iterator[FoldCase]:
    """Several replies, and events outside of replies."""
    first = [reply_start("r1"), *text_block("b1", "one", reply="r1"), reply_end("r1")]
    second = [
        reply_start("r2", "Other"),
        *text_block("b1", "two", reply="r2"),
        reply_end("r2", "interrupted"),
    ]
    yield bare("replies/in-sequence", "two replies one after the other", first, second)
    yield bare("replies/interleaved", "two replies in turn", take_turns(first, second))
    calls = [
        [
            reply_start(reply),
            *call("c1", "{}", reply=reply),
            result_start("c1", reply=reply),
            result_text("c1", reply, reply=reply),
            result_end("c1", reply=reply),
            reply_end(reply),
        ]
        for reply in ("r1", "r2", "r3")
    ]
    yield bare("replies/same-call-id", "three replies with the same call id", take_turns(*calls))
    yield bare(
        "replies/before-start",
        "events before their reply starts",
        text_block("b1", "x"),
        reply_start(),
        text_block("b2", "y"),
    )
    yield bare("replies/no-start", "a reply that never starts", text_block("b1", "x"))
    foreign = text_block("b1", "x", reply="r9")
    yield case(
        "replies/foreign", "events of a reply that never started", text_block("b1", "y"), foreign
    )
    yield case("replies/foreign-end", "the end of another reply", reply_end("r9"))
    yield bare(
        "replies/empty-id",
        "a reply whose id is empty",
        reply_start(""),
        text_block("b1", "x", reply=""),
    )


def _ends() -> Iterator[FoldCase]:
    text = text_block("b1", "x")
    for reason in REPLY_REASONS:
        yield case(f"end/{reason}", "the reason comes from the end", text, reply_end(reason=reason))
    default = {key: value for key, value in reply_end().items() if key != "finished_reason"}
    yield case("end/default", "an end without a reason", text, default)
    for kind in ERROR_TYPES:
        error = {"type": kind, "message": "boom"}
        yield case(
            f"end/error-{kind}",
            "the error comes from the end",
            reply_end(reason="error", error=error),
        )
    error = {"message": "boom"}
    yield case(
        "end/error-untyped", "an error without a type", reply_end(reason="error", error=error)
    )
    yield case("end/error-completed", "an error although completed", reply_end(error=error))
    again = [reply_end(reason="error", error=error), reply_end()]
    yield case("end/twice", "a second end replaces the first", again)
    yield case(
        "end/open-blocks",
        "blocks that are open stay so",
        text[:-1],
        call("c1", "{")[:-1],
        data_start("b2"),
        result_start("c2"),
        reply_end(),
    )
    yield case("end/empty", "a reply of nothing", reply_end())
    limit = event("EXCEED_MAX_ITERS", name="Friday")
    yield case(
        "end/max-iters", "too many iterations", text, limit, reply_end(reason="exceed_max_iters")
    )
    waiting = [*call("c1", "{}"), ask(call_block("c1"))]
    stopped = [result_start("c1"), result_text("c1", "stop"), result_end("c1", "interrupted")]
    interrupt = event("USER_INTERRUPT")
    yield case(
        "end/user-interrupt",
        "the user interrupts a waiting reply",
        waiting,
        interrupt,
        stopped,
        reply_end(reason="interrupted"),
    )
    yield case(
        "end/user-interrupt-only", "an interrupt changes nothing by itself", waiting, interrupt
    )
    odd = reply_end() | {"created_at": "yesterday"}
    yield case("end/odd-time", "times are copied, not read", odd)
    meta = reply_end() | {"metadata": {"recount": {"structured_output": {"a": 1}}}}
    yield case("end/metadata", "metadata of the end is lost", meta)


def _customs() -> Iterator[FoldCase]:
    custom = {"type": "CUSTOM", "name": "state_updated", "value": {"a": 1}}
    yield case(
        "custom/raises",
        "the fold raises on it",
        text_block("b1", "x"),
        custom,
        text_block("b2", "y"),
    )
    yield case("custom/reply-id", "also when it names the reply", custom | {"reply_id": "r1"})
    yield bare(
        "custom/before-reply",
        "one that comes before any reply",
        custom,
        reply_start(),
        text_block("b1", "x"),
    )
