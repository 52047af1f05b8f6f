"""Check texts written by Rust with the published package.

Reads JSON lines from standard input, each one of

    {"kind":"event","json":"<text>"}
    {"kind":"message","json":"<text>"}
    {"kind":"fold","events":["<event text>", …],"message":"<message text>"}

and prints `N passed, M failed` as the last line. The exit status is 1 on failure.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from comparing import difference
from reference import (
    Dumpable,
    Message,
    check_frozen,
    check_versions,
    describe_raised,
    is_custom,
    is_reply_start,
    parse_event,
    parse_message,
    seed,
)

SHOWN = 20
"""The maximum number of failures that are printed."""


def main() -> int:
    """Check every line and return the exit status."""
    check_versions()
    check_frozen()
    passed = failed = 0
    # Bytes, so that only a newline ends a line.
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        found = check_line(line)
        if found is None:
            passed += 1
            continue
        failed += 1
        if failed <= SHOWN:
            print(f"line {number}: {found}")
            print(f"  {_shown(line)}")
    if failed > SHOWN:
        print(f"and {failed - SHOWN} more")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def check_line(line: bytes) -> str | None:
    """Return the failure of a line, or None."""
    try:
        record = json.loads(line)
        check = _CHECKS[record["kind"]]
    except (ValueError, KeyError, TypeError) as error:
        return f"not a line of a known kind: {error!r}"
    try:
        return check(record)
    except (KeyError, TypeError) as error:
        return f"not a line of kind {record['kind']}: {error!r}"


def _check_event(record: dict[str, Any]) -> str | None:
    return _check_text(record["json"], parse_event)


def _check_message(record: dict[str, Any]) -> str | None:
    return _check_text(record["json"], parse_message)


def _check_fold(record: dict[str, Any]) -> str | None:
    """Check that the package folds the events to the message.

    The id of the message determines the reply of the stream.
    """
    text = record["message"]
    refused = _check_text(text, parse_message)
    if refused is not None:
        return f"the message: {refused}"
    try:
        folded = _fold(record["events"], parse_message(text).id)
    except _FoldError as error:
        return str(error)
    return difference(text, folded.model_dump_json(), may_make_up=True)


_CHECKS: dict[str, Callable[[dict[str, Any]], str | None]] = {
    "event": _check_event,
    "message": _check_message,
    "fold": _check_fold,
}


def _check_text(text: str, parse: Callable[[str], Dumpable]) -> str | None:
    """Check that the package accepts the text and writes the same one."""
    try:
        dumped = parse(text).model_dump_json()
    except ValidationError as error:
        return f"refused: {describe_raised(error)}"
    return difference(text, dumped)


class _FoldError(Exception):
    """The package could not fold the events."""


def _fold(events: list[str], reply: str) -> Message:
    message: Message | None = None
    for index, text in enumerate(events):
        try:
            event = parse_event(text)
            if is_custom(event):
                # The fold of this version raises for it.
                continue
            if message is None and is_reply_start(event) and event.reply_id == reply:
                message = seed(event)
            if message is not None:
                message.append_event(event)
        except Exception as error:
            # Every exception of the package is a failure of the line.
            raise _FoldError(f"event {index}: {describe_raised(error)}") from error
    if message is None:
        raise _FoldError(f"no REPLY_START of {reply!r}")
    return message


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", errors="replace").rstrip("\n")
    return text if len(text) <= 400 else f"{text[:400]}…"


if __name__ == "__main__":
    sys.exit(main())
