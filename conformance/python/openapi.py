"""Ask the service everything that its OpenAPI document allows, and more.

A generator makes requests from the document, good ones and bad ones, and
holds every answer to it: documented statuses and media types, bodies of their
schemas, bad requests refused, no failure of the service. Streams and
WebSockets are left out: they have no end.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from service_kit.server import Server

# A valid name of an agent need not be that of one, so good requests may be refused.
LEFT_OUT_CHECKS = ["positive_data_acceptance"]
ENDLESS = ["streamSession", "connect", "connectSession"]


def main() -> int:
    examples = sys.argv[1] if len(sys.argv) > 1 else "10"
    with Server() as server:
        command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{server.url}/openapi.json"]
        command += ["--max-examples", examples, "--seed", "1", "--request-timeout", "30", "--suppress-health-check", "all"]
        command += ["--phases", "coverage,fuzzing", "--exclude-checks", ",".join(LEFT_OUT_CHECKS)]
        for operation in ENDLESS:
            command += ["--exclude-operation-id", operation]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
