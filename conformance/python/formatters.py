"""Record the output of the published package's formatters for conversations.

formatters.py            write the vectors
formatters.py --check    run again and compare with the vectors; exit status 1 if they differ

Files and URLs are stubbed, so nothing is read or fetched.
"""

from __future__ import annotations

import argparse
import asyncio
import builtins
import io
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import requests
from agentscope import formatter as formatters
from agentscope.message import Msg

from formatter_cases.histories import histories
from formatter_cases.history import placed
from reference import check_versions
from vectorfiles import VECTORS, check, lines, write

Json = Any
Case = dict[str, Json]

TEXT = "text/plain"
IMAGES = [TEXT, "image/*"]
PROVIDERS: dict[str, tuple[str, dict[str, dict[str, Json]]]] = {
    "openai": ("OpenAI", {"text": {"input_types": [TEXT]}, "exact": {"input_types": [TEXT, "audio/mp3", "image/jpeg"]}}),
    "openai_response": ("OpenAIResponse", {"text": {"input_types": [TEXT]}}),
    "anthropic": ("Anthropic", {"text": {"input_types": [TEXT]}}),
    "dashscope": ("DashScope", {"thinking": {"input_types": [*IMAGES, "application/x-thinking"]}}),
    "gemini": ("Gemini", {"images": {"input_types": IMAGES}}),
    "ollama": ("Ollama", {"text": {"input_types": [TEXT]}}),
    "deepseek": ("DeepSeek", {"images": {"input_types": IMAGES}}),
    "moonshot": ("Moonshot", {"text": {"input_types": [TEXT]}}),
    "minimax": ("MiniMax", {"pdf": {"input_types": [TEXT, "application/pdf"]}}),
    "volcengine": ("Volcengine", {"text": {"input_types": [TEXT]}}),
}


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    only_check = parser.parse_args().check
    check_versions()
    with _outside_world():
        files = {"histories.jsonl": lines({"case": name, "messages": placed(made)} for name, made in histories())}
        files |= {f"format-{provider}.jsonl": lines(_answers(provider)) for provider in PROVIDERS}
    return check(files, VECTORS / "model") if only_check else write(files, VECTORS / "model")


def _answers(provider: str) -> Iterator[Case]:
    name, variants = PROVIDERS[provider]
    # The class for Responses is the one whose name does not contain `Chat`.
    chat = "OpenAIResponseFormatter" if provider == "openai_response" else f"{name}ChatFormatter"
    classes = {"chat": chat, "multi": f"{name}MultiAgentFormatter"}
    for form, made in classes.items():
        for variant, options in {"": {}, **variants}.items():
            formatter = getattr(formatters, made)(**options)
            prefix = f"{form}-{variant}" if variant else form
            for case, messages in histories():
                # Cases without media are recorded once.
                if variant and not case.startswith(("media/", "result/", "hint/image", "agents/image", "thinking/")):
                    continue
                yield {"case": f"{prefix}/{case}", **options, **_answer(formatter, placed(messages))}


def _answer(formatter: Any, messages: list[Json]) -> Case:
    try:
        return {"output": asyncio.run(formatter.format([Msg.model_validate(message) for message in messages]))}
    except Exception as error:  # noqa: BLE001 whatever it raises is its answer
        return {"raised": type(error).__name__}


@contextmanager
def _outside_world() -> Iterator[None]:
    """Return a stub for files below /media and all URLs: their own name, or an error if
    the name contains `missing`.
    """
    real_open = builtins.open

    def open_file(path: Any, *args: Any, **kwargs: Any) -> Any:
        if not str(path).startswith("/media/"):
            return real_open(path, *args, **kwargs)
        # The package does not decode file URLs, so such a path does not exist.
        if "missing" in str(path) or "%" in str(path):
            raise FileNotFoundError(path)
        return io.BytesIO(f"file://{path}".encode())

    def get(url: str, **_: Any) -> requests.Response:
        response = requests.Response()
        response.status_code = 404 if "missing" in url else 200
        response.url = url
        response._content = url.encode()
        return response

    class Temporary(io.BytesIO):
        def __init__(self, suffix: str | None = None, **_: Any) -> None:
            super().__init__()
            self.name = f"/tmp/temporary{suffix or ''}"

    with (
        patch.object(builtins, "open", open_file),
        patch.object(requests, "get", get),
        patch.object(tempfile, "NamedTemporaryFile", Temporary),
    ):
        yield


if __name__ == "__main__":
    sys.exit(main())
