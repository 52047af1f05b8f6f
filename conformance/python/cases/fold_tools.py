"""Streams about tools: calls, results, confirmations, external execution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cases.fold import FoldCase, case, take_turns
from cases.protocol import RESULT_STATES
from cases.templates import (
    Template,
    answer,
    ask,
    at,
    call,
    call_block,
    confirm,
    deliver,
    result_block,
    result_data,
    result_end,
    result_start,
    result_text,
    rule,
    submit,
)


def tool_cases() -> Iterator[FoldCase]:
    """Return all streams of this kind."""
    yield from _calls()
    yield from _results()
    yield from _result_data()
    yield from _result_ends()
    yield from _confirmations()
    yield from _externals()


def _calls() -> Iterator[FoldCase]:
    yield case("call/block", "one call", call("c1", '{"q"', ': "x"}'))
    yield case("call/no-arguments", "a call without deltas", call("c1"))
    yield case("call/broken-arguments", "arguments that are no JSON", call("c1", '{"q": '))
    yield case(
        "call/two", "two calls at once", take_turns(call("c1", "{", "}"), call("c2", "[", "]"))
    )
    yield case("call/no-end", "a call that is left open", call("c1", "{}")[:-1])
    finished = [result_start("c1"), result_text("c1", "ok"), result_end("c1")]
    yield case("call/with-result", "a call and its result", call("c1", "{}"), finished)
    yield case(
        "call/result-before-end", "a result while its call is open", call("c1", "{}")[:-1], finished
    )
    yield case("call/result-before-call", "a result before its call", finished, call("c1", "{}"))
    yield case(
        "call/allowed-silently",
        "no event tells that a rule allowed it",
        call("c1", "{}"),
        result_start("c1"),
    )


def _results() -> Iterator[FoldCase]:
    """The content of a result."""
    asked = call("c1", "{}")

    def whole(*middle: Template) -> list[Template]:
        return [*asked, result_start("c1"), *middle, result_end("c1")]

    text, more = result_text("c1", "one"), result_text("c1", " two")
    data = result_data("c1", block_id="d1", data="QUI=")
    linked = result_data("c1", block_id="d2", url="https://example.com", media_type="a/b")
    yield case("result/empty", "a result of nothing", whole())
    yield case("result/text", "text in two pieces is one block", whole(text, more))
    yield case(
        "result/empty-text",
        "a first piece of nothing makes a block",
        whole(result_text("c1", ""), text),
    )
    yield case("result/data", "one piece of data", whole(data))
    yield case("result/url", "an address", whole(linked))
    yield case(
        "result/mixed", "text, data, text, address, text", whole(text, data, more, linked, text)
    )
    yield case("result/data-first", "data, then text", whole(data, text, more))
    yield case(
        "result/name-from-start",
        "the name comes from the start",
        asked,
        result_start("c1", "other"),
        result_end("c1"),
    )
    yield case(
        "result/without-call",
        "a result for no call",
        result_start("c9"),
        result_text("c9", "x"),
        result_end("c9"),
    )
    concurrent = take_turns(
        [result_start("c1"), result_text("c1", "a"), result_text("c1", "b"), result_end("c1")],
        [
            result_start("c2"),
            result_text("c2", "1"),
            result_data("c2", block_id="d1", data="QQ=="),
            result_end("c2", "error"),
        ],
    )
    yield case("result/concurrent", "two results in turn", asked, call("c2", "{}"), concurrent)


def _result_data() -> Iterator[FoldCase]:
    """Each piece of data of a result is a separate block, stored unchanged."""
    asked = [*call("c1", "{}"), result_start("c1")]

    def whole(*middle: Template) -> list[Template]:
        return [*asked, *middle, result_end("c1")]

    def piece(**fields: Any) -> Template:
        return result_data("c1", **{"block_id": "d1"} | fields)

    yield case(
        "result-data/same-id",
        "two pieces with one id",
        whole(piece(data="QUI="), piece(data="QkM=")),
    )
    yield case("result-data/no-id", "a piece without id", whole(result_data("c1", data="QUI=")))
    yield case("result-data/empty", "a piece of nothing", whole(piece(data="")))
    yield case("result-data/not-base64", "a piece that is no base64", whole(piece(data="*no*")))
    yield case("result-data/spaced", "a piece with line breaks", whole(piece(data="QU\nI=")))
    yield case("result-data/url-invalid", "no address at all", whole(piece(url="nope")))
    yield case("result-data/url-empty", "an empty address", whole(piece(url="")))
    yield case(
        "result-data/url-rewritten",
        "an address that is rewritten",
        whole(piece(url="HTTP://EXAMPLE.com:80/ä")),
    )
    yield case(
        "result-data/name", "a name is no field of it", whole(piece(data="QUI=", name="a.png"))
    )
    both = [piece(url="https://example.com"), piece(data="QUI=")]
    yield case("result-data/url-then-data", "an address, then data, with one id", whole(*both))


def _result_ends() -> Iterator[FoldCase]:
    asked = [*call("c1", "{}"), result_start("c1"), result_text("c1", "x")]
    for state in RESULT_STATES:
        yield case(
            f"result-end/{state}", "the state comes from the end", asked, result_end("c1", state)
        )
    meta: Template = {"metadata": {"a": 1, "b": [True, None, 2.5]}}
    yield case(
        "result-end/metadata", "the event's metadata is the tool's", asked, result_end("c1", **meta)
    )
    other: Template = {"metadata": {"c": 2}}
    twice = [result_end("c1", **meta), result_end("c1", "error", **other)]
    yield case("result-end/metadata-twice", "a second end replaces all of it", asked, twice)
    emptied = [result_end("c1", **meta), result_end("c1")]
    yield case("result-end/metadata-emptied", "a second end without metadata", asked, emptied)
    yield case("result-end/no-start", "an end without a start", call("c1", "{}"), result_end("c1"))
    yield case(
        "result-end/no-start-text",
        "text and end without a start",
        call("c1", "{}"),
        result_text("c1", "x"),
        result_end("c1"),
    )
    start_meta = result_start("c1") | {"metadata": {"recount": {"a": 1}}}
    yield case(
        "result-end/start-metadata",
        "metadata of the start is lost",
        call("c1", "{}"),
        start_meta,
        result_end("c1"),
    )


def _confirmations() -> Iterator[FoldCase]:
    asked = call("c1", "{}")
    block = call_block("c1", state="asking", suggested_rules=[rule()])
    question = ask(block)
    ran = [result_start("c1"), result_text("c1", "ok"), result_end("c1")]
    denied = [result_start("c1"), result_text("c1", "no"), result_end("c1", "denied")]
    yield case("confirm/asking", "the call waits, with the suggested rules", asked, question)
    yield case("confirm/no-rules", "a question without rules", asked, ask(call_block("c1")))
    yield case(
        "confirm/state-of-block",
        "the state inside the question is not used",
        asked,
        ask(call_block("c1", state="finished")),
    )
    yield case("confirm/allowed", "allowed, then run", asked, question, answer(confirm(block)), ran)
    yield case(
        "confirm/allowed-rules",
        "the rules of the answer are not kept",
        asked,
        question,
        answer(confirm(block, rules=[rule("ls")])),
    )
    yield case(
        "confirm/denied",
        "denied, with a result that says so",
        asked,
        question,
        answer(confirm(block, False)),
        denied,
    )
    yield case(
        "confirm/denied-only",
        "denied, with nothing after",
        asked,
        question,
        answer(confirm(block, False)),
    )
    edited = call_block("c1", input='{"edited":true}')
    yield case(
        "confirm/edited-input",
        "the answer changes the input",
        asked,
        question,
        answer(confirm(edited)),
    )
    renamed = call_block("c1", name="other")
    yield case(
        "confirm/edited-name",
        "the answer changes the name",
        asked,
        question,
        answer(confirm(renamed)),
    )
    yield case("confirm/not-asked", "an answer to no question", asked, answer(confirm(block)))
    yield case(
        "confirm/unknown",
        "question and answer for an unknown call",
        asked,
        ask(call_block("c9")),
        answer(confirm(call_block("c9"))),
    )
    yield case(
        "confirm/two-answers",
        "allowed, then denied",
        asked,
        question,
        answer(confirm(block)),
        answer(confirm(block, False)),
    )
    both = answer(confirm(block, False), confirm(block))
    yield case("confirm/two-in-one", "denied and allowed in one event", asked, question, both)
    yield case(
        "confirm/asked-twice",
        "asked again after the answer",
        asked,
        question,
        answer(confirm(block)),
        ask(call_block("c1")),
    )
    yield case(
        "confirm/after-result",
        "an answer after the result",
        asked,
        question,
        ran,
        answer(confirm(block)),
    )
    yield case("confirm/asked-after-result", "a question after the result", asked, ran, question)
    other = call_block("c2")
    two = [*asked, *call("c2", "[]"), ask(block, other)]
    yield case(
        "confirm/two-calls",
        "two calls in one question",
        two,
        answer(confirm(other), confirm(block, False)),
    )
    yield case("confirm/partial", "an answer for one of two", two, answer(confirm(other)))
    yield case("confirm/empty", "a question and an answer about nothing", asked, ask(), answer())
    foreign = [question | {"reply_id": "r9"}, answer(confirm(block), reply="r9")]
    yield case("confirm/foreign-reply", "question and answer of another reply", asked, foreign)


def _externals() -> Iterator[FoldCase]:
    asked = [*call("c1", "{}")]
    parked = [*asked, result_start("c1"), submit(call_block("c1"))]
    told = [result_text("c1", "ok"), result_end("c1")]
    plain = result_block("c1", "done")
    text = {"type": "text", "text": "done", "id": "t1", "created_at": at(0)}
    yield case("external/submitted", "the call is submitted", parked)
    yield case(
        "external/as-the-agent-does",
        "started first, so the delivery adds nothing",
        parked,
        deliver(plain),
        told,
    )
    alone = [*asked, submit(call_block("c1"))]
    yield case("external/without-start", "the delivery is the result", alone, deliver(plain))
    yield case(
        "external/without-submit",
        "a delivery for a call that was not submitted",
        asked,
        deliver(plain),
    )
    yield case("external/blocks", "output of blocks", alone, deliver(result_block("c1", [text])))
    bare = result_block("c1", [{"type": "text", "text": "x"}])
    yield case("external/bare-blocks", "blocks without id and time", alone, deliver(bare))
    timed = result_block("c1", "done", finished_at=at(99))
    yield case("external/finished-at", "its own finishing time is kept", alone, deliver(timed))
    untimed = {key: value for key, value in plain.items() if key != "created_at"}
    yield case("external/no-times", "a result without times", alone, deliver(untimed))
    for state in RESULT_STATES:
        yield case(
            f"external/state-{state}",
            "the state comes from the delivery",
            alone,
            deliver(result_block("c1", "x", state=state)),
        )
    meta = result_block("c1", "done", metadata={"a": 1})
    yield case("external/metadata", "the metadata comes from the delivery", alone, deliver(meta))
    second = result_block("c1", "again")
    yield case(
        "external/duplicate-in-one",
        "two results for one call in one event",
        alone,
        deliver(plain, second),
    )
    yield case(
        "external/duplicate",
        "two results for one call in two events",
        alone,
        deliver(plain),
        deliver(second),
    )
    yield case(
        "external/unknown", "a result for an unknown call", alone, deliver(result_block("c9", "x"))
    )
    yield case("external/empty", "a delivery of nothing", alone, deliver())
    yield case("external/then-text", "text after a delivered string", alone, deliver(plain), told)
    yield case(
        "external/then-data",
        "data after a delivered string",
        alone,
        deliver(plain),
        result_data("c1", block_id="d1", data="QQ=="),
    )
    yield case(
        "external/then-start",
        "a start after the delivery",
        alone,
        deliver(plain),
        result_start("c1"),
        told,
    )
    two = [*asked, *call("c2", "[]"), submit(call_block("c1"), call_block("c2"))]
    yield case(
        "external/two", "two results in one event", two, deliver(result_block("c2", "b"), plain)
    )
    yield case("external/partial", "one of two results", two, deliver(plain))
    yield case(
        "external/submit-after-result",
        "submitted after its result",
        asked,
        result_start("c1"),
        told,
        submit(call_block("c1")),
    )
    yield case(
        "external/submit-unknown", "an unknown call is submitted", asked, submit(call_block("c9"))
    )
    yield case(
        "external/foreign-reply", "a delivery of another reply", alone, deliver(plain, reply="r9")
    )
