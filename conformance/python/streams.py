"""Record the published package's results for model responses.

streams.py            write the vectors
streams.py --check    run again and compare with the vectors; exit status 1 if they differ

The model classes of the package and their SDKs connect to a local server that returns
the bytes of a case.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import itertools
import json
import socket
import struct
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import agentscope
from agentscope import credential as credentials
from agentscope import model as models
from agentscope.message import UserMsg

from reference import check_versions
from streams_cases.case import StreamCase
from streams_cases.chat import audio_cases, chat_cases
from streams_cases.gemini import gemini_cases
from streams_cases.messages import message_cases
from streams_cases.ollama import ollama_cases
from streams_cases.responses import response_cases

Json = Any
VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "python" / "model"
SHOWN = 20
GENERATED = "$generated"


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    check_versions("openai", "anthropic", "google-genai", "ollama")
    with Server() as server:
        files = {
            f"stream-{provider}.jsonl": [_line(record) for record in asyncio.run(_records(server, provider))]
            for provider in PROVIDERS
        }
    return _check(files) if check else _write(files)


class Server:
    """Returns the response of the current case for every request."""

    def __init__(self) -> None:
        self.case: StreamCase | None = None
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                owner.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Send the response in one piece, or until the connection is reset."""
        case = self.case
        assert case is not None
        body = case.body.encode()
        handler.send_response(200)
        handler.send_header("Content-Type", case.content_type)
        handler.send_header("Connection", "close")
        if case.aborts:
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
            handler.wfile.flush()
            # Close without the last chunk.
            linger = struct.pack("ii", 1, 0)
            threading.Event().wait(0.1)
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        else:
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
        handler.close_connection = True

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


def _classifier() -> Callable[[Exception], Any]:
    """The package's error classes.

    They belong to its service, whose other dependencies are not required for this file.
    """
    name = "agentscope.app._service._errors"
    path = Path(agentscope.__file__).parent / "app" / "_service" / "_errors.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module._classify_error


_classify = _classifier()


def _sdk(make: Callable[..., Any], credential: Callable[..., Any], **parameters: Json) -> Callable[[str, bool], Any]:
    """Create a model whose SDK uses the address in the credential and does not retry."""

    def build(url: str, stream: bool) -> Any:
        return make(
            credential=credential(api_key="none", base_url=url),
            model="model-x",
            parameters=make.Parameters(**parameters),
            stream=stream,
            max_retries=0,
            client_kwargs={"max_retries": 0},
        )

    return build


def _gemini(url: str, stream: bool) -> Any:
    return models.GeminiChatModel(
        credential=credentials.GeminiCredential(api_key="none"),
        model="gemini-x",
        stream=stream,
        max_retries=0,
        client_kwargs={"http_options": {"base_url": url}},
    )


def _ollama(url: str, stream: bool) -> Any:
    return models.OllamaChatModel(
        credential=credentials.OllamaCredential(host=url),
        model="qwen-x",
        stream=stream,
        max_retries=0,
    )


def _with_audio() -> Iterator[StreamCase]:
    return itertools.chain(chat_cases(), audio_cases())


Questions = tuple[Callable[[str, bool], Any], Callable[[], Iterator[StreamCase]]]

PROVIDERS: dict[str, Questions] = {
    "openai": (_sdk(models.OpenAIChatModel, credentials.OpenAICredential, voice="alloy"), _with_audio),
    "openai_response": (_sdk(models.OpenAIResponseModel, credentials.OpenAICredential), response_cases),
    "anthropic": (_sdk(models.AnthropicChatModel, credentials.AnthropicCredential), message_cases),
    "dashscope": (_sdk(models.DashScopeChatModel, credentials.DashScopeCredential), chat_cases),
    "gemini": (_gemini, gemini_cases),
    "ollama": (_ollama, ollama_cases),
    "deepseek": (_sdk(models.DeepSeekChatModel, credentials.DeepSeekCredential), chat_cases),
    "moonshot": (_sdk(models.MoonshotChatModel, credentials.MoonshotCredential), chat_cases),
    "minimax": (_sdk(models.MiniMaxChatModel, credentials.MiniMaxCredential), message_cases),
    "volcengine": (_sdk(models.VolcengineChatModel, credentials.VolcengineCredential), chat_cases),
}


async def _records(server: Server, provider: str) -> list[Json]:
    build, cases = PROVIDERS[provider]
    # Creating a model is slower than calling it.
    made = {streamed: build(server.url, streamed) for streamed in (True, False)}
    records = []
    for case in sorted(cases(), key=lambda case: case.name):
        server.case = case
        question = {"case": case.name, "streamed": case.streamed, "aborts": case.aborts, "body": case.body}
        records.append(question | await _ask(made[case.streamed]))
    return records


async def _ask(model: Any) -> Json:
    """Return the package's result for the response of the server."""
    numbers = itertools.count(1)
    agentscope.set_id_factory(lambda: f"{GENERATED}{next(numbers)}")
    shown = Shown()
    error: Json = None
    try:
        answer = await model([UserMsg("user", "Hello")])
        async for part in _parts(answer):
            shown.take(part)
    except Exception as raised:
        # Every exception of the package is recorded.
        error = {"type": type(raised).__name__, "class": str(_classify(raised).type)}
    return {"content": shown.content(), "usage": shown.usage, "error": error}


async def _parts(answer: Any) -> AsyncIterator[Any]:
    if not hasattr(answer, "__aiter__"):
        yield answer
        return
    async for part in answer:
        yield part


class Shown:
    """Return the visible content of a response: the last part is complete, and each
    earlier part adds something.
    """

    def __init__(self) -> None:
        self.usage: Json = None
        self._blocks: dict[str, Json] = {}

    def take(self, part: Any) -> None:
        if part.is_last:
            self._blocks.clear()
        for block in part.content:
            dumped = json.loads(block.model_dump_json())
            known = self._blocks.setdefault(dumped["id"], dumped)
            if known is not dumped:
                for key in ("text", "thinking", "input"):
                    if key in dumped:
                        known[key] += dumped[key]
        if part.usage is not None:
            names = ("input_tokens", "output_tokens", "cache_input_tokens", "cache_creation_input_tokens")
            self.usage = {name: getattr(part.usage, name) for name in names}

    def content(self) -> list[Json]:
        return [_essence(block) for block in self._blocks.values()]


def _essence(block: Json) -> Json:
    """Return a block without its times and without a generated id."""
    left_out = {"created_at", "finished_at", "state", "suggested_rules", "name" if block["type"] == "data" else ""}
    kept = {key: value for key, value in block.items() if key not in left_out}
    if kept["type"] != "tool_call":
        del kept["id"]
    elif kept["id"].startswith(GENERATED):
        kept["id"] = GENERATED
    return kept


def _line(record: Json) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _write(files: dict[str, list[str]]) -> int:
    VECTORS.mkdir(parents=True, exist_ok=True)
    for name, records in files.items():
        text = "".join(f"{line}\n" for line in records)
        (VECTORS / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(records)} cases")
    return 0


def _check(files: dict[str, list[str]]) -> int:
    differences = []
    for name, asked in files.items():
        path = VECTORS / name
        committed = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
        before = {json.loads(line)["case"]: line for line in committed}
        now = {json.loads(line)["case"]: line for line in asked}
        found = [case for case in sorted(before.keys() | now.keys()) if before.get(case) != now.get(case)]
        differences += [f"{name} {case}\n  committed: {before.get(case)}\n  answered:  {now.get(case)}" for case in found]
        print(f"{name}: {len(asked)} cases, {len(found)} differ")
    for difference in differences[:SHOWN]:
        print(difference)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
