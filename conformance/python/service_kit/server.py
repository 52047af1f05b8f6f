"""Starts and kills `recount serve`."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

_ROOT = Path(__file__).resolve().parents[3]
_PATIENCE = 60.0


class Server:
    """A service with its own directory, and a port that it keeps after a restart."""

    def __init__(self, binary: str | None = None) -> None:
        self._binary = binary or os.environ.get("RECOUNT_BIN") or str(_ROOT / "target" / "debug" / "recount")
        self._directory = tempfile.TemporaryDirectory(prefix="recount-forward-")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()
        self._directory.cleanup()

    def start(self) -> None:
        """Start the service and wait until it is ready."""
        data = Path(self._directory.name) / "data"
        log = open(Path(self._directory.name) / "log", "ab")
        command = [self._binary, "serve", "--listen", f"127.0.0.1:{self.port}", "--data", str(data), "--model", "demo"]
        self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            if self._process.poll() is not None:
                break
            try:
                if httpx.get(f"{self.url}/readyz").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError("the service did not start: " + Path(log.name).read_text())

    def kill(self) -> None:
        """Kill the service without a shutdown, as in a crash."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def get(self, path: str) -> Any:
        """Return the response of a route."""
        response = httpx.get(self.url + path)
        response.raise_for_status()
        return response

    def post(self, path: str, body: Any) -> httpx.Response:
        """Return the response of a route to a JSON body."""
        return httpx.post(self.url + path, json=body)
