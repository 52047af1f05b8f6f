"""Record the behaviour of the published package's agent in the scenarios.

agents.py            write the vectors
agents.py --check    run again and compare with the vectors; exit status 1 if they differ
agents.py NAME …     print the results of some scenarios

The scenarios are data in ../agent/scenarios. A scripted model and scripted tools run
them with the package's agent.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
from collections.abc import Iterator

import agentscope

from agent_kit.playing import Player
from agent_kit.scenarios import Json, scenarios
from cases.jsontext import compact
from reference import check_versions
from vectorfiles import Record, check, lines, write


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("names", nargs="*", help="print these scenarios")
    options = parser.parse_args()
    check_versions()
    if options.names:
        for scenario in scenarios():
            if scenario["name"] in options.names:
                print(compact(_record(scenario)))
        return 0
    files = {"agent.jsonl": lines(_records())}
    return check(files) if options.check else write(files)


def _records() -> Iterator[Record]:
    return map(_record, scenarios())


def _record(scenario: Json) -> Record:
    numbers = itertools.count(1)
    agentscope.set_id_factory(lambda: f"made-up-{next(numbers)}")
    return {"case": scenario["name"]} | asyncio.run(Player(scenario).play())


if __name__ == "__main__":
    sys.exit(main())
