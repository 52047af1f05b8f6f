"""Streams about binary data: base64 in pieces, and URLs."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

from cases.fold import FoldCase, case, take_turns
from cases.templates import (
    Template,
    call,
    data_block,
    data_delta,
    data_end,
    data_start,
    reply_end,
    reply_start,
    stamp,
    text_block,
)


def data_cases() -> Iterator[FoldCase]:
    """Return all streams of this kind."""
    yield from _pieces()
    yield from _odd_base64()
    yield from _urls()
    yield from _many()


def _encode(payload: bytes) -> str:
    return base64.b64encode(payload).decode("ascii")


def _pieces() -> Iterator[FoldCase]:
    """Base64 pieces with padding in each."""
    payload = b"abcdefghijklmnopqrstuvwxyz012"
    for length in range(8):
        pieces = [_encode(payload[:length])]
        yield case(
            f"data/length-{length}", "one piece of that many bytes", data_block("b1", *pieces)
        )
    for first in (1, 2, 3):
        for second in (1, 2, 3):
            pieces = [_encode(payload[:first]), _encode(payload[first : first + second])]
            name = f"data/lengths-{first}-{second}"
            yield case(name, "two pieces of those many bytes", data_block("b1", *pieces))
    rising = [_encode(payload[:length]) for length in range(8)]
    yield case("data/rising", "pieces of 0 to 7 bytes", data_block("b1", *rising))
    yield case("data/falling", "pieces of 7 to 0 bytes", data_block("b1", *reversed(rising)))
    single = [_encode(payload[at : at + 1]) for at in range(7)]
    yield case("data/single-bytes", "seven pieces of one byte", data_block("b1", *single))
    every = bytes(range(256))
    yield case(
        "data/all-bytes",
        "every byte value, cut in two",
        data_block("b1", _encode(every[:100]), _encode(every[100:])),
    )
    yield FoldCase(
        "data/all-pairs",
        "two pieces for every pair of lengths from 0 to 7",
        stamp([reply_start(), *_all_pairs(payload)]),
        stepwise=False,
    )


def _all_pairs(payload: bytes) -> list[Template]:
    pairs = [(first, second) for first in range(8) for second in range(8)]
    blocks = (
        data_block(f"b{first}{second}", _encode(payload[:first]), _encode(payload[:second]))
        for first, second in pairs
    )
    return [each for block in blocks for each in block]


def _odd_base64() -> Iterator[FoldCase]:
    """Pieces that a strict decoder rejects."""
    odd: dict[str, tuple[str, list[str]]] = {
        "empty": ("a piece of nothing", [""]),
        "empty-first": ("nothing, then bytes", ["", "QUI="]),
        "empty-last": ("bytes, then nothing", ["QUI=", ""]),
        "trailing-bits-2": ("one byte whose unused bits are set", ["QR=="]),
        "trailing-bits-3": ("two bytes whose unused bits are set", ["QUJ="]),
        "trailing-bits-then-more": ("unused bits set, then another piece", ["QR==", "QkM="]),
        "newline": ("a line break inside", ["QU\nI="]),
        "newline-in-padding": ("a line break inside the padding", ["QQ=\n="]),
        "blank-around": ("blanks around", [" QUI= "]),
        "blank-only": ("blanks alone", ["  \n"]),
        "url-safe": ("the URL-safe alphabet", ["-_-_"]),
        "url-safe-mixed": ("one URL-safe character among others", ["QU-JD"]),
        "foreign-only": ("characters of no alphabet alone", ["*!*"]),
        "foreign-inside": ("characters of no alphabet inside", ["Q*U!I="]),
        "not-ascii": ("characters beyond ASCII", ["é"]),
        "unpadded-1": ("one character", ["Q"]),
        "unpadded-2": ("two characters without padding", ["QQ"]),
        "unpadded-3": ("three characters without padding", ["QUI"]),
        "half-padded": ("one of two padding characters", ["QQ="]),
        "cut": ("one text cut at no border of four", ["QU", "I="]),
        "cut-at-border": ("one text cut at a border of four", ["QUJD", "REU="]),
        "padded-too-much": ("more padding than needed", ["QUI=="]),
        "padded-needlessly": ("padding that is not needed", ["QUJD="]),
        "one-and-padding": ("one character and padding", ["Q==="]),
        "padding-only": ("padding alone", ["===="]),
        "padding-first": ("padding before the data", ["=QUI"]),
        "padding-inside": ("padding inside", ["Q=Q="]),
        "after-padding": ("data after the padding", ["QUI=QUI="]),
        "after-padding-short": ("one character after the padding", ["QUI=Q"]),
        "bad-second": ("a good piece, then a bad one", ["QUI=", "QUI"]),
    }
    for label, (description, pieces) in odd.items():
        yield case(f"base64/{label}", description, data_block("b1", *pieces))


def _urls() -> Iterator[FoldCase]:
    """Data blocks with a URL, and the other fields of data."""
    url = {"url": "https://example.com", "media_type": "image/jpeg"}
    other = {"url": "https://example.org/b"}
    begin, end = data_start("b1", name="a.png"), data_end("b1")
    linked = data_delta("b1", None, **url)
    piece = data_delta("b1", "QUI=")
    yield case("url/alone", "an address instead of bytes", begin, linked, end)
    yield case("url/twice", "a second address", begin, linked, data_delta("b1", None, **other), end)
    yield case("url/then-data", "bytes after an address", begin, linked, piece, end)
    yield case(
        "url/then-empty-data", "no bytes after an address", begin, linked, data_delta("b1", ""), end
    )
    yield case("url/after-data", "an address after bytes", begin, piece, linked, end)
    yield case("url/empty", "an empty address", begin, data_delta("b1", None, url=""), end)
    yield case("url/invalid", "no address at all", begin, data_delta("b1", None, url="nope"), end)
    yield case(
        "url/data-scheme",
        "a data URL",
        begin,
        data_delta("b1", None, url="data:image/png;base64,QUI="),
        end,
    )
    yield case("url/file", "a file", begin, data_delta("b1", None, url="file:///tmp/ä b.png"), end)
    yield case("data/name", "the name comes from the start", begin, piece, end)
    yield case("data/name-null", "a null name", data_start("b1", name=None), piece, end)
    yield case("data/name-empty", "an empty name", data_start("b1", name=""), piece, end)
    changed = data_delta("b1", "QUI=", media_type="audio/wav")
    yield case("data/media-type-changed", "a delta of another media type", begin, changed, end)
    yield case("data/no-deltas", "a data block without deltas", begin, end)


def _many() -> Iterator[FoldCase]:
    """Long streams, recorded without intermediate messages."""
    lanes: dict[str, Callable[[int], list[Template]]] = {
        "texts": lambda n: text_block(f"b{n}", *(f"{n}.{k} " for k in range(4))),
        "calls": lambda n: call(f"c{n}", *(f"{n}.{k} " for k in range(4))),
        "data": lambda n: data_block(
            f"b{n}", *(_encode(bytes(range(k + n % 3))) for k in range(4))
        ),
    }
    for label, lane in lanes.items():
        templates = [reply_start(), *take_turns(*(lane(n) for n in range(12))), reply_end()]
        description = f"twelve blocks open at once: {label}"
        yield FoldCase(f"many/{label}", description, stamp(templates), stepwise=False)
