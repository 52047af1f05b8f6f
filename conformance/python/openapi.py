"""Send requests generated from the service's OpenAPI document.

The generator creates valid and invalid requests and checks every response: documented
statuses and media types, bodies that match their schemas, rejection of invalid
requests, and no internal errors. Streams and WebSockets are excluded, because they do
not end.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from service_kit.server import Server

# A valid agent name may not belong to an existing agent, so valid requests can be rejected.
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
