"""Random streams that follow every rule of the protocol.

They resemble the streams of an agent: model calls with text, thinking, data and tool
calls, then the results, with confirmations, external execution and interrupts in
between. Ids are unique in a reply, every block ends before its reply, and at most one
text or thinking block is open at a time. All implementations of the fold must agree on
such streams.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from cases.fold import FoldCase
from cases.protocol import ERROR_TYPES
from cases.templates import (
    Template,
    answer,
    ask,
    at,
    call,
    call_block,
    confirm,
    data_delta,
    data_end,
    data_start,
    deliver,
    event,
    hint,
    model_end,
    model_start,
    reply_end,
    reply_start,
    result_block,
    result_data,
    result_end,
    result_start,
    result_text,
    rule,
    stamp,
    submit,
    text_block,
)

COUNT = 150
SHORTEST, LONGEST = 20, 120

_PIECES = (
    "Hello", " ", "world", ".\n", "", "a", "é", "中文", "😀", "👩\u200d👩", '"', "\\", "\t",
    "{", "}", "0.5", "\u2028", "**bold**", "</s>", "ß",
)  # fmt: skip
_URLS = (
    "https://example.com/a.png",
    "https://example.com/?q=1#f",
    "file:///tmp/a.png",
    "data:image/png;base64,QUI=",
    "s3://bucket/key",
)
_MEDIA_TYPES = ("image/png", "audio/wav", "application/pdf")
_NAMES = ("search", "Bash", "write_file")
_METADATA: tuple[dict[str, Any], ...] = (
    {"a": 1},
    {"a": 25.0, "b": [True, None, "x"]},
    {"nested": {"deep": {"er": [{}]}}},
    {"big": 123456789012345678901234567890, "é": "ü"},
)

T = TypeVar("T")


def legal_streams() -> list[FoldCase]:
    """Return the random streams, which are the same in every run."""
    return [_case(seed) for seed in range(COUNT)]


def _case(seed: int) -> FoldCase:
    rng = Random(seed)
    if seed % 10 == 3:
        lanes = [_Reply(rng, reply).write(10, 12) for reply in ("r1", "r2")]
        description = "two replies one after the other"
        templates = [each for lane in lanes for each in lane]
    elif seed % 10 == 7:
        lanes = [_Reply(rng, reply).write(10, 12) for reply in ("r1", "r2")]
        description = "two replies at the same time"
        templates = _merge(rng, lanes)
    else:
        description = "one reply"
        most = 85 if seed % 10 == 0 else 25
        templates = _Reply(rng, "r1").write(SHORTEST, most)
    if not SHORTEST <= len(templates) <= LONGEST:
        raise SystemExit(f"random stream {seed} has {len(templates)} events")
    return FoldCase(f"random/{seed:03}", description, stamp(templates), stepwise=False)


def _pick(rng: Random, values: Sequence[T]) -> T:
    return values[rng.randrange(len(values))]


def _merge(rng: Random, lanes: list[list[Template]]) -> list[Template]:
    """Interleave the events of all lanes, preserving the order of each lane."""
    waiting = [list(reversed(lane)) for lane in lanes if lane]
    merged: list[Template] = []
    while waiting:
        lane = _pick(rng, waiting)
        merged.append(lane.pop())
        waiting = [each for each in waiting if each]
    return merged


@dataclass(frozen=True)
class _Call:
    """A tool call without a result."""

    id: str
    name: str
    input: str

    def block(self, state: str, **fields: Any) -> Template:
        return call_block(self.id, name=self.name, input=self.input, state=state, **fields)


class _Reply:
    """Writes one reply."""

    def __init__(self, rng: Random, reply: str) -> None:
        self._rng = rng
        self._reply = reply
        self._blocks = 0
        self._calls = 0

    def write(self, least: int, most: int) -> list[Template]:
        """Write a whole reply with a length between the two limits."""
        target = least + self._rng.randrange(most - least)
        events = [reply_start(self._reply)]
        while len(events) < target:
            events += self._round()
        events += self._ending()
        return [self._with_metadata(each) for each in events]

    def _chance(self, percent: int) -> bool:
        return self._rng.randrange(100) < percent

    def _block_id(self) -> str:
        self._blocks += 1
        return f"b{self._blocks}"

    def _text(self) -> str:
        return "".join(_pick(self._rng, _PIECES) for _ in range(1 + self._rng.randrange(3)))

    def _texts(self, most: int) -> list[str]:
        return [self._text() for _ in range(self._rng.randrange(most + 1))]

    def _base64(self) -> str:
        return base64.b64encode(self._rng.randbytes(self._rng.randrange(8))).decode("ascii")

    def _with_metadata(self, template: Template) -> Template:
        if "metadata" in template or not self._chance(6):
            return template
        return template | {"metadata": _pick(self._rng, _METADATA)}

    def _round(self) -> list[Template]:
        """Write one model call and the execution of its tools."""
        calls = [self._new_call() for _ in range(self._rng.randrange(3))]
        spoken = [self._speech()] + [self._call_events(each) for each in calls]
        if self._chance(40):
            spoken.append(self._data_events())
        hints = [self._hint()] if self._chance(25) else []
        output = _merge(self._rng, spoken)
        return [*hints, model_start(self._reply), *output, self._usage(), *self._run(calls)]

    def _speech(self) -> list[Template]:
        """Write text and thinking blocks one after the other."""
        blocks = [self._spoken_block() for _ in range(self._rng.randrange(3))]
        return [each for block in blocks for each in block]

    def _spoken_block(self) -> list[Template]:
        kind = _pick(self._rng, ("TEXT", "TEXT", "THINKING"))
        block = text_block(self._block_id(), *self._texts(3), reply=self._reply, kind=kind)
        if kind == "TEXT" and self._chance(15):
            block[-1] = block[-1] | {"text": self._text()}
        return block

    def _data_events(self) -> list[Template]:
        block = self._block_id()
        media = {"media_type": _pick(self._rng, _MEDIA_TYPES)}
        name = {"name": f"{block}.bin"} if self._chance(50) else {}
        if self._chance(30):
            url = {"url": _pick(self._rng, _URLS)}
            middle = [data_delta(block, None, self._reply, **media | url)]
        else:
            pieces = [self._base64() for _ in range(self._rng.randrange(4))]
            middle = [data_delta(block, piece, self._reply, **media) for piece in pieces]
        start = data_start(block, self._reply, **media | name)
        return [start, *middle, data_end(block, self._reply)]

    def _new_call(self) -> _Call:
        self._calls += 1
        return _Call(f"c{self._calls}", _pick(self._rng, _NAMES), "".join(self._texts(3)))

    def _call_events(self, waiting: _Call) -> list[Template]:
        """Write a call with its input split at random positions."""
        text = waiting.input
        cut = self._rng.randrange(len(text) + 1)
        pieces = [text[:cut], text[cut:]] if self._chance(60) else [text]
        return call(waiting.id, *pieces, name=waiting.name, reply=self._reply)

    def _hint(self) -> Template:
        block = self._block_id()
        source = {"source": "alice"} if self._chance(50) else {}
        if self._chance(60):
            return hint(block, self._text(), self._reply, **source)
        text = {"type": "text", "text": self._text(), "id": f"{block}t", "created_at": at(0)}
        return hint(block, [text, self._data_value(f"{block}d")], self._reply, **source)

    def _data_value(self, block: str) -> Template:
        media = {"media_type": _pick(self._rng, _MEDIA_TYPES)}
        source: Template = {"type": "base64", "data": self._base64()} | media
        if self._chance(30):
            source = {"type": "url", "url": _pick(self._rng, _URLS)} | media
        return {"type": "data", "id": block, "source": source, "created_at": at(0)}

    def _usage(self) -> Template:
        cached = {"cache_input_tokens": self._rng.randrange(100)} if self._chance(50) else {}
        return model_end(self._rng.randrange(1000), self._rng.randrange(100), self._reply, **cached)

    def _run(self, calls: list[_Call]) -> list[Template]:
        """Write the results of a round in any order."""
        if len(calls) > 1 and self._chance(30):
            return self._ask_together(calls)
        return _merge(self._rng, [self._run_one(each) for each in calls])

    def _ask_together(self, calls: list[_Call]) -> list[Template]:
        """Write one confirmation request and one response for all calls of a round."""
        question = ask(*(each.block("asking") for each in calls), reply=self._reply)
        verdicts = [self._chance(60) for _ in calls]
        pairs = list(zip(calls, verdicts, strict=True))
        given = answer(
            *(confirm(each.block("asking"), verdict) for each, verdict in pairs),
            reply=self._reply,
        )
        lanes = [self._result(each, "success" if verdict else "denied") for each, verdict in pairs]
        return [question, given, *_merge(self._rng, lanes)]

    def _run_one(self, waiting: _Call) -> list[Template]:
        way = self._rng.randrange(4)
        if way == 0:
            return self._asked(waiting)
        if way == 1:
            return self._external(waiting)
        return self._result(waiting, _pick(self._rng, ("success", "success", "error")))

    def _asked(self, waiting: _Call) -> list[Template]:
        rules = [rule()] if self._chance(50) else []
        block = waiting.block("asking", suggested_rules=rules)
        allowed = self._chance(60)
        given = answer(confirm(block, allowed, rules=rules or None), reply=self._reply)
        result = self._result(waiting, "success" if allowed else "denied")
        return [ask(block, reply=self._reply), given, *result]

    def _external(self, waiting: _Call) -> list[Template]:
        """Write the start of the result, then the external result."""
        started, *told = self._result(waiting, "success")
        delivered = deliver(
            result_block(waiting.id, self._text(), name=waiting.name), reply=self._reply
        )
        request = submit(waiting.block("submitted"), reply=self._reply)
        return [started, request, delivered, *told]

    def _result(self, waiting: _Call, state: str) -> list[Template]:
        pieces = [self._result_piece(waiting) for _ in range(self._rng.randrange(4))]
        metadata = {"metadata": _pick(self._rng, _METADATA)} if self._chance(30) else {}
        start = result_start(waiting.id, waiting.name, self._reply)
        return [start, *pieces, result_end(waiting.id, state, self._reply, **metadata)]

    def _result_piece(self, waiting: _Call) -> Template:
        way = self._rng.randrange(10)
        if way < 7:
            return result_text(waiting.id, self._text(), self._reply)
        source = {"data": self._base64()} if way < 9 else {"url": _pick(self._rng, _URLS)}
        fields = {"block_id": self._block_id(), "media_type": _pick(self._rng, _MEDIA_TYPES)}
        return result_data(waiting.id, self._reply, **fields | source)

    def _ending(self) -> list[Template]:
        way = self._rng.randrange(10)
        if way == 0:
            limit = event("EXCEED_MAX_ITERS", self._reply, name="Friday")
            return [limit, reply_end(self._reply, "exceed_max_iters")]
        if way == 1:
            error = {"type": _pick(self._rng, ERROR_TYPES), "message": self._text()}
            return [reply_end(self._reply, "error", error=error)]
        if way in (2, 3):
            return self._interrupted()
        return [reply_end(self._reply)]

    def _interrupted(self) -> list[Template]:
        """A call waits for approval, and the user interrupts the reply instead."""
        waiting = self._new_call()
        question = ask(waiting.block("asking"), reply=self._reply)
        interrupt = event("USER_INTERRUPT", self._reply)
        model = [model_start(self._reply), *self._call_events(waiting), self._usage()]
        result = self._result(waiting, "interrupted")
        return [*model, question, interrupt, *result, reply_end(self._reply, "interrupted")]
