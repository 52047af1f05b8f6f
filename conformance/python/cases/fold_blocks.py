"""Streams about blocks: deltas, and starts and ends in unusual positions."""

from __future__ import annotations

from collections.abc import Iterator

from cases.fold import FoldCase, case, take_turns
from cases.templates import (
    Template,
    at,
    call,
    data_block,
    event,
    hint,
    model_end,
    model_start,
    reply_end,
    reply_start,
    result_end,
    result_start,
    result_text,
    text_block,
)


def block_cases() -> Iterator[FoldCase]:
    """Return all streams of this kind."""
    yield from _texts()
    yield from _repeats()
    yield from _late()
    yield from _hints()


def _texts() -> Iterator[FoldCase]:
    yield case("text/block", "one text block", text_block("b1", "Hel", "lo"))
    yield case("text/empty", "a text block without deltas", text_block("b1"))
    yield case("text/empty-deltas", "deltas of nothing", text_block("b1", "", "x", ""))
    yield case(
        "text/unicode",
        "a cluster cut between deltas",
        text_block("b1", "e", "\u0301👩", "\u200d👩"),
    )
    yield case(
        "text/escapes", "characters that JSON escapes", text_block("b1", '"\\', "\n\x00\x1f\u2028")
    )
    yield case("text/never-ended", "a text block that is left open", text_block("b1", "x")[:-1])
    yield case(
        "text/delta-unknown", "a delta for a block that never started", text_block("b1", "x")[1:]
    )
    final = {"block_id": "b1", "text": "Hel"}
    opened = text_block("b1", "Hello")[:-1]
    yield case(
        "text/end-text", "the end replaces the text", opened, event("TEXT_BLOCK_END", **final)
    )
    empty = {"block_id": "b1", "text": ""}
    yield case(
        "text/end-text-empty", "the end empties the text", opened, event("TEXT_BLOCK_END", **empty)
    )
    null: Template = {"block_id": "b1", "text": None}
    yield case(
        "text/end-text-null", "a null text changes nothing", opened, event("TEXT_BLOCK_END", **null)
    )
    closed = text_block("b1", "Hello")
    yield case(
        "text/end-text-second",
        "a second end replaces again",
        closed,
        event("TEXT_BLOCK_END", **final),
    )
    yield case("thinking/block", "one thinking block", text_block("b1", "h", "m", kind="THINKING"))
    yield case("thinking/extra", "what an event has beyond its fields is lost", _signed())
    yield case("thinking/unknown", "a thinking delta for a text block", _text_as_thinking())
    yield case("interleaved/text-thinking", "deltas of two open blocks in turn", _in_turn())
    yield case("interleaved/same-id", "one id in five kinds of block", _same_id())
    yield case("interleaved/every-kind", "every kind of block open at once", _all_open())


def _signed() -> list[Template]:
    events = text_block("b1", "hm", kind="THINKING")
    return [*events[:-1], events[-1] | {"signature": "abc", "metadata": {"signature": "abc"}}]


def _text_as_thinking() -> list[Template]:
    start, _, end = text_block("b1", "x")
    return [start, event("THINKING_BLOCK_DELTA", block_id="b1", delta="y"), end]


def _in_turn() -> list[Template]:
    return take_turns(
        text_block("b1", "a", "b", "c"),
        text_block("b2", "1", "2", "3", kind="THINKING"),
        text_block("b3", "x", "y"),
    )


def _same_id() -> list[Template]:
    return take_turns(
        text_block("x", "text"),
        text_block("x", "thought", kind="THINKING"),
        data_block("x", "QUI="),
        call("x", "{}"),
        [result_start("x"), result_text("x", "result"), result_end("x")],
    )


def _all_open() -> list[Template]:
    return take_turns(
        text_block("b1", "a", "b", "c"),
        text_block("b2", "1", "2", "3", kind="THINKING"),
        data_block("b3", "QQ==", "QUI=", "QUJD"),
        call("c1", "{", '"q"', ":1}"),
        call("c2", "{", "}"),
        [result_start("c1"), result_text("c1", "r"), result_text("c1", "s"), result_end("c1")],
    )


def _kinds() -> dict[str, tuple[list[Template], list[Template]]]:
    """Two complete blocks with the same id, for each kind of block."""
    return {
        "text": (text_block("b1", "one"), text_block("b1", "two")),
        "thinking": (
            text_block("b1", "one", kind="THINKING"),
            text_block("b1", "two", kind="THINKING"),
        ),
        "data": (data_block("b1", "QUJD"), data_block("b1", "REVG")),
        "call": (call("c1", "one"), call("c1", "two", name="other")),
        "result": (
            [result_start("c1"), result_text("c1", "one"), result_end("c1")],
            [result_start("c1", "other"), result_text("c1", "two"), result_end("c1", "error")],
        ),
    }


def _repeats() -> Iterator[FoldCase]:
    """A start with an existing id."""
    for kind, (first, second) in _kinds().items():
        yield case(f"repeat/{kind}-open", "started again while open", first[:-1], second)
        yield case(f"repeat/{kind}-ended", "started again after its end", first, second)
        rounds = [model_start(), *first, model_end(1, 1), model_start(), *second, model_end(1, 1)]
        yield case(f"repeat/{kind}-next-call", "started again in a later model call", rounds)
        yield case(f"repeat/{kind}-every-event", "each event delivered twice", _doubled(first))
    yield case("repeat/hint", "one hint delivered twice", hint("h1", "x"), hint("h1", "y"))
    yield case(
        "repeat/reply-start",
        "a second start of the same reply",
        text_block("b1", "x"),
        reply_start(),
    )
    renamed = reply_start(name="Saturday")
    yield case("repeat/reply-start-renamed", "a second start with another name", renamed)
    asked = [
        *call("c1", "{}"),
        result_start("c1"),
        result_end("c1"),
        *call("c1", "{}"),
        result_start("c1"),
    ]
    yield case(
        "repeat/call-and-result",
        "a call id used in two rounds",
        asked,
        result_text("c1", "2"),
        result_end("c1", "error"),
    )


def _doubled(events: list[Template]) -> list[Template]:
    return [each for event_ in events for each in (event_, event_)]


def _late() -> Iterator[FoldCase]:
    """Events for a block that has ended or does not exist."""
    for kind, (first, second) in _kinds().items():
        delta, end = second[1], second[2]
        yield case(f"late/{kind}-delta", "a delta after the end", first, delta)
        yield case(f"late/{kind}-end", "a second end", first, end)
        yield case(f"late/{kind}-unknown", "delta and end without a start", delta, end)
        yield case(
            f"late/{kind}-after-reply", "a whole block after the reply's end", reply_end(), first
        )
        rest = first[1:]
        yield case(
            f"late/{kind}-rest-after-reply",
            "delta and end after the reply's end",
            first[0],
            reply_end(),
            rest,
        )


def _hints() -> Iterator[FoldCase]:
    text = {"type": "text", "text": "x", "id": "t1", "created_at": at(0)}
    source = {"type": "base64", "data": "QUI=", "media_type": "image/png"}
    data = {"type": "data", "id": "d1", "source": source, "created_at": at(0)}
    linked = data | {"source": {"type": "url", "url": "https://example.com", "media_type": "a/b"}}
    yield case("hint/text", "a hint of text", hint("h1", "mind the gap", source="alice"))
    yield case("hint/empty", "a hint of nothing", hint("h1", ""))
    yield case("hint/blocks", "a hint of blocks", hint("h1", [text, data, linked]))
    bare = [{"type": "text", "text": "x"}]
    yield case("hint/bare-blocks", "blocks without id and time", hint("h1", bare))
    yield case("hint/no-blocks", "an empty list", hint("h1", []))
    yield case("hint/amid-text", "a hint while a text block is open", _amid_text(hint("h1", "x")))


def _amid_text(inner: Template) -> list[Template]:
    start, delta, more, end = text_block("b1", "a", "b")
    return [start, delta, inner, more, end]
