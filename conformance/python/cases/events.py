"""The event texts that are given to the package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cases.free import free_values
from cases.jsontext import Raw, render
from cases.protocol import (
    AT,
    CONFIRM,
    DATA,
    EVENTS,
    RULE,
    TEXT,
    THINKING,
    TOOL_CALL,
    TOOL_RESULT,
)
from cases.shapes import Object, Shape, twice, variants

TextCase = tuple[str, str]
"""The name of a case and its JSON text."""

_BY_NAME = {shape.name: shape for shape in EVENTS}


def event_cases() -> Iterator[TextCase]:
    """Return all event cases."""
    for shape in EVENTS:
        for label, value in variants(shape):
            yield f"{shape.name}/{label}", render(value)
    for name, value in _special():
        yield name, value if isinstance(value, str) else render(value)


def _special() -> Iterator[tuple[str, Any]]:
    yield from _sources()
    yield from _hints()
    yield from _nested("REQUIRE_USER_CONFIRM", "tool_calls", TOOL_CALL)
    yield from _nested("USER_CONFIRM_RESULT", "confirm_results", CONFIRM)
    yield from _nested("EXTERNAL_EXECUTION_RESULT", "execution_results", TOOL_RESULT)
    yield from _rules()
    yield from _customs()
    yield from _times()
    yield from _texts()
    yield from _malformed()


def _event(kind: str, /, **fields: Any) -> Object:
    return _BY_NAME[kind].full() | fields


def _sources() -> Iterator[tuple[str, Any]]:
    """Combinations of `data` and `url` in a data delta."""
    url = "https://example.com"
    for name in ("DATA_BLOCK_DELTA", "TOOL_RESULT_DATA_DELTA"):
        bare = {key: value for key, value in _event(name).items() if key != "data"}
        yield f"{name}/source-neither", bare
        yield f"{name}/source-both", bare | {"data": "QUI=", "url": url}
        yield f"{name}/source-both-null", bare | {"data": None, "url": None}
        yield f"{name}/source-url", bare | {"url": url}
        yield f"{name}/source-url-null-data", bare | {"data": None, "url": url}
        yield f"{name}/source-data-null-url", bare | {"data": "QUI=", "url": None}
        yield f"{name}/source-url-invalid", bare | {"url": "no url at all"}
        yield f"{name}/source-url-empty", bare | {"url": ""}
        yield f"{name}/source-url-number", bare | {"url": 7}
        yield f"{name}/source-data-not-base64", bare | {"data": "*not base64*"}


def _hints() -> Iterator[tuple[str, Any]]:
    name = "HINT_BLOCK"
    yield f"{name}/blocks", _event(name, hint=[TEXT.full(), DATA.full()])
    yield f"{name}/blocks-minimal", _event(name, hint=[TEXT.minimal(), DATA.minimal()])
    yield f"{name}/blocks-extra", _event(name, hint=[TEXT.full() | {"zzz": 1}])
    yield f"{name}/blocks-of-wrong-type", _event(name, hint=[THINKING.full()])
    yield f"{name}/blocks-null", _event(name, hint=[None])
    plain_url = {"type": "url", "url": "https://example.com", "media_type": "image/png"}
    yield f"{name}/blocks-url", _event(name, hint=[DATA.full() | {"source": plain_url}])


def _nested(name: str, key: str, inner: Shape) -> Iterator[tuple[str, Any]]:
    """Variants of the objects in an event's lists."""
    for label, value in variants(inner):
        yield f"{name}/{inner.name}/{label}", _event(name, **{key: [value]})
    both = [inner.minimal(), inner.full()]
    yield f"{name}/{inner.name}-two", _event(name, **{key: both})
    yield f"{name}/{inner.name}-null", _event(name, **{key: [None]})


def _rules() -> Iterator[tuple[str, Any]]:
    name = "REQUIRE_USER_CONFIRM"
    for label, value in variants(RULE):
        call = TOOL_CALL.minimal() | {"suggested_rules": [value]}
        yield f"{name}/rule/{label}", _event(name, tool_calls=[call])


def _customs() -> Iterator[tuple[str, Any]]:
    yield "CUSTOM/reply-id", _event("CUSTOM", reply_id="r1")
    yield "CUSTOM/reply-id-number", _event("CUSTOM", reply_id=7)
    yield "CUSTOM/name-unknown", _event("CUSTOM", name="nobody.knows")
    for label, text in free_values():
        yield f"CUSTOM/value/{label}", _event("CUSTOM", value={"k": Raw(text)})
        if label.startswith(("text", "key", "number-1", "number-N", "number-30")):
            metadata = {"k": Raw(text)}
            yield f"USER_INTERRUPT/metadata/{label}", _event("USER_INTERRUPT", metadata=metadata)
    yield "CUSTOM/value-keys", _event("CUSTOM", value={"": 1, "b": 2, "a": 3, "é": 4})
    yield "CUSTOM/value-twice", _event("CUSTOM", value=twice("a", 1, 3, {"b": 2}))


def _times() -> Iterator[tuple[str, Any]]:
    """Invalid times. The package accepts any string."""
    odd = {
        "utc": "2026-01-02T03:04:05Z",
        "offset": "2026-01-02T03:04:05.678901+02:00",
        "seconds": "2026-01-02T03:04:05",
        "nanoseconds": "2026-01-02T03:04:05.678901234",
        "space": "2026-01-02 03:04:05",
        "date": "2026-01-02",
        "week-date": "2026-W01-5",
        "leap-second": "2016-12-31T23:59:60Z",
        "month-13": "2026-13-01T00:00:00",
        "year-10000": "+10000-01-01T00:00:00",
        "epoch-text": "1767323045",
        "words": "yesterday",
        "blank": " ",
        "unicode": "２０２６-01-02",
    }
    for label, value in odd.items():
        yield f"USER_INTERRUPT/time/{label}", _event("USER_INTERRUPT", created_at=value)
    for label, number in {"epoch": 1767323045, "epoch-float": 1767323045.5}.items():
        yield f"USER_INTERRUPT/time/{label}", _event("USER_INTERRUPT", created_at=number)


def _texts() -> Iterator[tuple[str, Any]]:
    """Spellings of a string."""
    spellings = {
        "pair": r'"\ud83d\ude00"',
        "pair-upper": r'"\uD83D\uDE00"',
        "lone-high": r'"\ud83d"',
        "lone-low": r'"\ude00"',
        "swapped-pair": r'"\ude00\ud83d"',
        "high-then-letter": r'"\ud83da"',
        "high-then-escape": r'"\ud83d\n"',
        "nul": r'"\u0000"',
        "slash": r'"\/"',
        "raw-newline": '"a\nb"',
        "raw-tab": '"a\tb"',
        "raw-delete": '"a\x7fb"',
        "bad-escape": r'"\x41"',
        "short-escape": r'"\u41"',
        "noncharacter": '"\uffff"',
        "bom": '"\ufeff"',
        "long": '"' + "ab" * 600 + '"',
    }
    for label, spelling in spellings.items():
        yield f"TEXT_BLOCK_DELTA/text/{label}", _event("TEXT_BLOCK_DELTA", delta=Raw(spelling))
    yield (
        "TEXT_BLOCK_DELTA/key-escaped",
        Raw(
            r'{"\u0074ype":"TEXT_BLOCK_DELTA","reply_id":"r1","block_id":"b1","d\u0065lta":"x"}',
        ),
    )


def _malformed() -> Iterator[tuple[str, Any]]:
    """Texts that are not an event object."""
    good = f'{{"type":"USER_INTERRUPT","reply_id":"r1","id":"e1","created_at":"{AT}"}}'
    texts = {
        "empty": "",
        "blank": "  ",
        "null": "null",
        "number": "7",
        "string": '"REPLY_START"',
        "list": "[]",
        "list-of-event": f"[{good}]",
        "object": "{}",
        "cut": good[:-1],
        "cut-in-text": good[:-4],
        "followed-by-blank": f"{good} \r\n\t",
        "after-blank": f" \r\n\t{good}",
        "followed-by-event": f"{good}{good}",
        "followed-by-word": f"{good} x",
        "after-bom": f"\ufeff{good}",
        "trailing-comma": good[:-1] + ",}",
        "single-quotes": good.replace('"', "'"),
        "comment": f"{good} // no",
        "spaced": '{ "type" : "USER_INTERRUPT" , "reply_id" : "r1" }',
        "type-twice-same": '{"type":"USER_INTERRUPT","reply_id":"r1","type":"USER_INTERRUPT"}',
        "type-twice-last-known": '{"type":"nope","reply_id":"r1","type":"USER_INTERRUPT"}',
        "type-twice-last-unknown": '{"type":"USER_INTERRUPT","reply_id":"r1","type":"nope"}',
        "field-twice": '{"type":"USER_INTERRUPT","reply_id":"r1","reply_id":"r2"}',
        "field-twice-first-bad": '{"type":"USER_INTERRUPT","reply_id":7,"reply_id":"r2"}',
        "type-lower-case": '{"type":"reply_start"}',
        "type-legacy": '{"type":"RUN_STARTED"}',
        "type-blank-around": '{"type":" REPLY_START "}',
        "type-unknown": '{"type":"nope","reply_id":"r1"}',
        "type-number": '{"type":7,"reply_id":"r1"}',
        "type-list": '{"type":["REPLY_START"]}',
        "type-empty": '{"type":""}',
    }
    for label, value in texts.items():
        yield f"malformed/{label}", value
