"""Record what the published package answers, or check that it still does.

record.py            write the vectors
record.py --check    ask again and compare with the vectors; 1 if they differ
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from cases.events import TextCase, event_cases
from cases.fold_blocks import block_cases
from cases.fold_data import data_cases
from cases.fold_replies import reply_cases
from cases.fold_tools import tool_cases
from cases.jsontext import compact
from cases.messages import message_cases
from cases.protocol import EVENTS
from cases.streams import legal_streams
from cases.traces import trace_cases
from folding import fold_record
from reference import (
    EVENT_TYPES,
    Dumpable,
    Json,
    check_frozen,
    check_versions,
    describe,
    parse_event,
    parse_message,
)

VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "python"
SHOWN = 20
"""How many differences `--check` spells out."""

Record = dict[str, Json]


def main() -> int:
    """Run the command and give its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    check_versions()
    check_frozen()
    _check_tables()
    files = {name: _lines(records()) for name, records in _FILES.items()}
    return _check(files) if check else _write(files)


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
        # The events stand in the traces already.
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
    """A type that the tables lack would go unasked."""
    tables = {shape.name for shape in EVENTS}
    if tables != EVENT_TYPES:
        raise SystemExit(f"events only on one side: {sorted(tables ^ EVENT_TYPES)}")


def _lines(records: Iterable[Record]) -> list[str]:
    """The records as lines, sorted by name; two of one name are a mistake."""
    lines: dict[str, str] = {}
    for record in records:
        name = record["case"]
        if name in lines:
            raise SystemExit(f"two cases are called {name}")
        lines[name] = compact(record)
    return [lines[name] for name in sorted(lines)]


def _write(files: dict[str, list[str]]) -> int:
    VECTORS.mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        text = "".join(f"{line}\n" for line in lines)
        (VECTORS / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(lines)} cases, {len(text.encode()):,} bytes")
    return 0


def _check(files: dict[str, list[str]]) -> int:
    differences: list[str] = []
    for name, lines in files.items():
        found = list(_differences(name, _committed(name), lines))
        differences += found
        print(f"{name}: {len(lines)} cases, {len(found)} differ")
    for difference in differences[:SHOWN]:
        print(difference)
    if len(differences) > SHOWN:
        print(f"and {len(differences) - SHOWN} more")
    return 1 if differences else 0


def _committed(name: str) -> list[str]:
    path = VECTORS / name
    # Not `splitlines`: it would also split at U+2028, which stands in texts.
    return path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []


def _differences(file: str, committed: list[str], asked: list[str]) -> Iterator[str]:
    before = {json.loads(line)["case"]: line for line in committed}
    now = {json.loads(line)["case"]: line for line in asked}
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            yield f"{file} {name}\n  is committed, but no longer asked"
        elif name not in before:
            yield f"{file} {name}\n  is asked, but not committed"
        elif before[name] != now[name]:
            parts = _changed_parts(json.loads(before[name]), json.loads(now[name]))
            yield "\n".join([f"{file} {name}", *parts])
    if before.keys() == now.keys() and committed != asked and list(before) != list(now):
        yield f"{file}\n  the order of the lines differs"


def _changed_parts(before: Record, now: Record) -> Iterator[str]:
    for key in dict.fromkeys((*before, *now)):
        old, new = compact(before.get(key)), compact(now.get(key))
        if old != new:
            yield f"  {key} committed: {_around(old, new)}"
            yield f"  {key} answered:  {_around(new, old)}"


def _around(text: str, other: str) -> str:
    """The part of a long text where it begins to differ from the other."""
    pairs = zip(text, other, strict=False)
    same = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(text), len(other)))
    start, end = max(0, same - 60), same + 120
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


if __name__ == "__main__":
    sys.exit(main())
