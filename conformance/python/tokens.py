"""Record the published package's token estimates for conversations.

tokens.py            write the vectors
tokens.py --check    run again and compare with the vectors; exit status 1 if they differ

The conversations are those of `model/histories.jsonl`, with and without tools, and
those in `tokens.jsonl` itself, whose counts are updated.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator

from agentscope.message import Msg
from agentscope.model import ChatModelBase

from formatter_cases.histories import histories
from formatter_cases.history import placed
from formatter_cases.requests import BOOK, LOOK, PING
from reference import Json, check_versions
from vectorfiles import VECTORS, Record, check, lines, write

FILE = "tokens.jsonl"
HISTORY = "history/"
TOOLS = {"look": [LOOK], "look-and-book": [LOOK, BOOK], "ping": [PING]}


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    only_check = parser.parse_args().check
    check_versions()
    files = {FILE: lines([*_given(), *_of_histories(), *_of_tools()])}
    return check(files) if only_check else write(files)


def _given() -> Iterator[Record]:
    for line in (VECTORS / FILE).read_text(encoding="utf-8").split("\n")[:-1]:
        record = json.loads(line)
        if not record["case"].startswith((HISTORY, "tools/")):
            yield record | {"tokens": _count(record.get("messages", []), record.get("tools"))}


def _of_histories() -> Iterator[Record]:
    for name, messages in histories():
        yield {"case": f"{HISTORY}{name}", "tokens": _count(placed(messages), None)}


def _of_tools() -> Iterator[Record]:
    for name, tools in TOOLS.items():
        yield {"case": f"tools/{name}", "messages": [], "tools": tools, "tokens": _count([], tools)}


def _count(messages: list[Json], tools: list[Json] | None) -> int:
    # The method does not access the model.
    counted = ChatModelBase.count_tokens(None, [Msg.model_validate(message) for message in messages], tools)
    return asyncio.run(counted)


if __name__ == "__main__":
    sys.exit(main())
