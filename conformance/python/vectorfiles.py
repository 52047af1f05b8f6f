"""Writes vector files and compares them with the committed ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from cases.jsontext import compact
from reference import Json

VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "python"
SHOWN = 20
"""The maximum number of differences that `check` prints."""

Record = dict[str, Json]


def lines(records: Iterable[Record]) -> list[str]:
    """Return the records as sorted lines. Duplicate names are an error."""
    named: dict[str, str] = {}
    for record in records:
        name = record["case"]
        if name in named:
            raise SystemExit(f"two cases are called {name}")
        named[name] = compact(record)
    return [named[name] for name in sorted(named)]


def write(files: dict[str, list[str]], directory: Path = VECTORS) -> int:
    """Write the files."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, made in files.items():
        text = "".join(f"{line}\n" for line in made)
        (directory / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(made)} cases, {len(text.encode()):,} bytes")
    return 0


def check(files: dict[str, list[str]], directory: Path = VECTORS) -> int:
    """Compare with the existing files. Returns 1 if they differ."""
    differences: list[str] = []
    for name, made in files.items():
        found = list(_differences(name, _committed(directory / name), made))
        differences += found
        print(f"{name}: {len(made)} cases, {len(found)} differ")
    for difference in differences[:SHOWN]:
        print(difference)
    if len(differences) > SHOWN:
        print(f"and {len(differences) - SHOWN} more")
    return 1 if differences else 0


def _committed(path: Path) -> list[str]:
    # Not `splitlines`, which also splits at U+2028 inside texts.
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
    """Return the part of a long text where it begins to differ from the other."""
    pairs = zip(text, other, strict=False)
    same = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(text), len(other)))
    start, end = max(0, same - 60), same + 120
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
