"""Record the requests that the models of the published package send.

model_requests.py            write the vectors
model_requests.py --check    run again and compare with the vectors; exit status 1 if they differ

The model classes and their SDKs connect to a local server that rejects every request
and stores its body.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agentscope import credential as credentials
from agentscope import model as models
from agentscope.message import SystemMsg, UserMsg
from agentscope.tool import ToolChoice

from formatter_cases.requests import requests
from reference import check_versions
from vectorfiles import VECTORS, check, lines, write

Json = Any
REFUSAL = json.dumps({"error": {"message": "no", "type": "invalid_request_error", "code": 400, "status": "INVALID_ARGUMENT"}})


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    only_check = parser.parse_args().check
    check_versions()
    with Server() as server:
        files = asyncio.run(_files(server))
    return check(files, VECTORS / "model") if only_check else write(files, VECTORS / "model")


class Server:
    """Rejects every request and stores its body."""

    def __init__(self) -> None:
        self.bodies: list[Json] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                owner.bodies.append(json.loads(self.rfile.read(length)))
                self.send_response(400)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(REFUSAL)))
                self.end_headers()
                self.wfile.write(REFUSAL.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        host, port = self._http.server_address[:2]
        return f"http://{host}:{port}"

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


def _sdk(kind: str, path: str = "") -> Callable[[str, dict[str, Json]], Any]:
    make = getattr(models, f"{kind}Model" if kind == "OpenAIResponse" else f"{kind}ChatModel")
    credential = getattr(credentials, f"{kind.removesuffix('Response')}Credential")

    def build(url: str, parameters: dict[str, Json]) -> Any:
        return make(
            credential=credential(api_key="none", base_url=url + path),
            model="model-x",
            parameters=_known(make, parameters),
            max_retries=0,
            client_kwargs={"max_retries": 0},
        )

    return build


def _gemini(url: str, parameters: dict[str, Json]) -> Any:
    return models.GeminiChatModel(
        credential=credentials.GeminiCredential(api_key="none"),
        model="model-x",
        parameters=_known(models.GeminiChatModel, parameters),
        max_retries=0,
        client_kwargs={"http_options": {"base_url": url}},
    )


def _ollama(url: str, parameters: dict[str, Json]) -> Any:
    return models.OllamaChatModel(
        credential=credentials.OllamaCredential(host=url),
        model="model-x",
        parameters=_known(models.OllamaChatModel, parameters),
        max_retries=0,
    )


def _known(make: Any, parameters: dict[str, Json]) -> Any:
    return make.Parameters(**{key: value for key, value in parameters.items() if key in make.Parameters.model_fields})


PROVIDERS: dict[str, Callable[[str, dict[str, Json]], Any]] = {
    "openai": _sdk("OpenAI"),
    "openai_response": _sdk("OpenAIResponse"),
    "anthropic": _sdk("Anthropic"),
    "dashscope": _sdk("DashScope"),
    "gemini": _gemini,
    "ollama": _ollama,
    "deepseek": _sdk("DeepSeek"),
    "moonshot": _sdk("Moonshot"),
    "minimax": _sdk("MiniMax"),
    "volcengine": _sdk("Volcengine"),
}


async def _files(server: Server) -> dict[str, list[str]]:
    """Return all vectors, from one event loop: the connections of the SDKs are bound to it."""
    return {
        f"request-{provider}.jsonl": lines([answer async for answer in _answers(server, provider)])
        for provider in PROVIDERS
    }


async def _answers(server: Server, provider: str) -> AsyncIterator[dict[str, Json]]:
    for name, asked in requests():
        server.bodies.clear()
        model = PROVIDERS[provider](server.url, asked.get("parameters", {}))
        known = model.parameters.model_fields_set
        raised = await _ask(model, asked)
        parameters = {key: value for key, value in asked.get("parameters", {}).items() if key in known}
        # There was no request to reject.
        answer = {"requests": list(server.bodies)} if server.bodies else {"raised": raised}
        yield {"case": name, **asked, "parameters": parameters, **answer}


async def _ask(model: Any, asked: dict[str, Json]) -> str | None:
    messages = [UserMsg(name="Alice", content="Hello")]
    if "system" in asked:
        messages.insert(0, SystemMsg(name="system", content=asked["system"]))
    try:
        if "schema" in asked:
            await model.generate_structured_output(messages, structured_model=asked["schema"])
            return None
        choice = ToolChoice(**asked["tool_choice"]) if "tool_choice" in asked else None
        response = await model(messages, tools=asked.get("tools"), tool_choice=choice)
        async for _ in response:
            pass
    except Exception as error:  # noqa: BLE001 whatever it raises is its answer
        return type(error).__name__
    return None


if __name__ == "__main__":
    sys.exit(main())
