"""Record the results of the published package, or check that they have not changed.

record.py            write the vectors
record.py --check    run again and compare with the vectors; exit status 1 if they differ
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator

from pydantic import ValidationError

from cases.events import TextCase, event_cases
from cases.fold_blocks import block_cases
from cases.fold_data import data_cases
from cases.fold_replies import reply_cases
from cases.fold_tools import tool_cases
from cases.messages import message_cases
from cases.protocol import EVENTS
from cases.streams import legal_streams
from cases.traces import trace_cases
from folding import fold_record
from reference import (
    EVENT_TYPES,
    Dumpable,
    check_frozen,
    check_versions,
    describe,
    parse_event,
    parse_message,
)
from vectorfiles import Record, check, lines, write


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    only_check = parser.parse_args().check
    check_versions()
    check_frozen()
    _check_tables()
    files = {name: lines(records()) for name, records in _FILES.items()}
    return check(files) if only_check else write(files)


def _event_records() -> Iterator[Record]:
    return _text_records(event_cases(), parse_event)


def _message_records() -> Iterator[Record]:
    return _text_records(message_cases(), parse_message)


def _fold_records() -> Iterator[Record]:
    kinds = (block_cases, data_cases, tool_cases, reply_cases, legal_streams)
    return (fold_record(case) for cases in kinds for case in cases())


def _trace_records() -> Iterator[Record]:
    for case in trace_cases():
        record = fold_record(case)
        # The events are stored in the traces.
        del record["events"]
        yield record


_FILES: dict[str, Callable[[], Iterator[Record]]] = {
    "events.jsonl": _event_records,
    "messages.jsonl": _message_records,
    "folds.jsonl": _fold_records,
    "traces.jsonl": _trace_records,
}


def _text_records(
    cases: Iterable[TextCase],
    parse: Callable[[str], Dumpable],
) -> Iterator[Record]:
    for name, text in cases:
        yield {"case": name, "json": text} | _answer(text, parse)


def _answer(text: str, parse: Callable[[str], Dumpable]) -> Record:
    try:
        value = parse(text)
    except ValidationError as error:
        return {"accepted": False, "error": describe(error), "dumped": None}
    return {"accepted": True, "error": None, "dumped": value.model_dump_json()}


def _check_tables() -> None:
    """A type that is missing in the tables would not be tested."""
    tables = {shape.name for shape in EVENTS}
    if tables != EVENT_TYPES:
        raise SystemExit(f"events only on one side: {sorted(tables ^ EVENT_TYPES)}")


if __name__ == "__main__":
    sys.exit(main())
