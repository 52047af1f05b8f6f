"""The conversations by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from formatter_cases.history import Message, agent, at, call, data, hint, result, system, text, thinking, user

History = tuple[str, list[Message]]

PNG = data("image/png", "png")
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}

MEDIA = {
    "png": "image/png",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "svg": "image/svg+xml",
    "wav": "audio/wav",
    "mp3": "audio/mp3",
    "mpeg": "audio/mpeg",
    "ogg": "audio/ogg",
    "mp4": "video/mp4",
    "pdf": "application/pdf",
    "zip": "application/zip",
}


def histories() -> Iterator[History]:
    """Return all conversations."""
    for group in (_plain(), _media(), _thinking(), _hints(), _tools(), _tool_media(), _agents()):
        yield from group


def _plain() -> Iterator[History]:
    yield "plain/none", []
    yield "plain/user", [user("Hello")]
    yield "plain/turns", [system("Be brief."), user("Hello"), agent("Hi"), user("Bye")]
    yield "plain/unicode", [user("Grüße 🌍 \n\t\"quoted\" \\ \u2028")]
    yield "plain/two-texts", [user("One", "Two"), agent("Three", "Four")]
    yield "plain/two-users", [user("One"), user("Two")]
    yield "plain/two-agents", [user("One"), agent("Two"), agent("Three")]
    yield "plain/empty-text", [user(""), agent("")]
    yield "plain/blank-text", [user(" "), agent("\n", "Hi", "\t")]
    yield "plain/empty-content", [user(), agent(), user("Hello")]
    yield "plain/agent-first", [agent("Welcome"), user("Hello")]
    yield "plain/agent-empty-between", [user("Hello"), agent(), user("Still there?")]
    yield "system/two-texts", [system("One.", "Two."), user("Hello")]
    yield "system/two", [system("One."), system("Two."), user("Hello")]
    yield "system/late", [system("One."), user("Hello"), system("Two."), user("Go on")]
    yield "system/only-late", [user("Hello"), system("Be brief."), user("Go on")]
    yield "system/last", [user("Hello"), system("Be brief.")]
    yield "system/alone", [system("Be brief.")]
    yield "system/empty-text", [system(""), user("Hello")]
    yield "system/empty-content", [system(), user("Hello")]
    yield "name/empty", [user("Hello", name=""), agent("Hi", name="")]
    yield "name/spaces", [user("Hello", name="Alice Smith"), agent("Hi", name="Fri <day>")]
    yield "name/unicode", [user("Hello", name="Zoë"), agent("Hi", name="星期五")]


def _media() -> Iterator[History]:
    for ending, media_type in MEDIA.items():
        sources = {
            "data": data(media_type, ending),
            "url": at(f"https://example.com/a.{ending}", media_type),
            "file": at(f"file:///media/a.{ending}", media_type),
        }
        for place, block in sources.items():
            yield f"media/user-{ending}-{place}", [user("What is this?", block)]
        yield f"media/agent-{ending}", [user("Show me"), agent("Here", sources["data"])]
    yield "media/only-image", [user(PNG)]
    yield "media/only-zip", [user(data("application/zip"))]
    yield "media/image-first", [user(PNG, "What is this?")]
    yield "media/two-images", [user("A", PNG, "B", data("image/jpeg"), "C")]
    yield "media/pdf-named", [user("Read", data("application/pdf", "pdf", name="report.pdf"))]
    yield "media/pdf-named-empty", [user("Read", data("application/pdf", "pdf", name=""))]
    yield "media/url-query", [user(at("https://example.com/a.png?width=1&sig=%2B", "image/png"))]
    yield "media/url-bare", [user(at("https://example.com", "image/png"))]
    yield "media/url-missing", [user("What is this?", at("https://example.com/missing.png", "image/png"))]
    yield "media/file-missing", [user("What is this?", at("file:///media/missing.png", "image/png"))]
    yield "media/file-spaces", [user("What is this?", at("file:///media/my%20cat.png", "image/png"))]
    yield "media/file-unicode", [user("What is this?", at("file:///media/%C3%A9.png", "image/png"))]
    yield "media/octets", [user("What is this?", data("application/octet-stream"))]


def _thinking() -> Iterator[History]:
    kinds = {
        "plain": thinking("Hm."),
        "empty": thinking(""),
        "signed": thinking("Hm.", signature="sig"),
        "signed-empty": thinking("", signature="sig"),
        "signature-empty": thinking("Hm.", signature=""),
        "redacted": thinking("", redacted_thinking_data="secret"),
        "item": thinking("Hm.", reasoning_item_id="rs_1"),
        "item-empty": thinking("", reasoning_item_id="rs_1"),
        "item-raw": thinking("Hm.", reasoning_item_id="rs_1", reasoning_item_raw=REASONING),
        "item-raw-other": thinking("Hm.", reasoning_item_id="rs_2", reasoning_item_raw=REASONING),
        "item-raw-text": thinking("Hm.", reasoning_item_id="rs_1", reasoning_item_raw="no item"),
    }
    for name, block in kinds.items():
        yield f"thinking/{name}", [user("Hello"), agent(block, "Hi")]
        yield f"thinking/{name}-last", [user("Hello"), agent("Hi", block)]
        yield f"thinking/{name}-alone", [user("Hello"), agent(block), user("So?")]
        yield f"thinking/{name}-tool", [user("Hello"), agent(block, call(1), result(1, "home"), "Hi")]
        yield f"thinking/{name}-after-call", [user("Hello"), agent(call(1), block, result(1, "home"), "Hi")]
    yield "thinking/two", [user("Hello"), agent(kinds["plain"], thinking("Well."), "Hi")]
    yield "thinking/two-rounds", [
        user("Hello"),
        agent(kinds["signed"], call(1), result(1, "home"), thinking("Well.", signature="sig2"), "Hi"),
    ]
    yield "thinking/one-item-twice", [user("Hello"), agent(kinds["item"], thinking("More.", reasoning_item_id="rs_1"))]
    yield "thinking/one-item-in-two-messages", [user("Hello"), agent(kinds["item"], "Hi"), agent(kinds["item"], "Ho")]


def _hints() -> Iterator[History]:
    kinds = {
        "text": hint("Be quick."),
        "empty": hint(""),
        "list": hint([text("Be quick."), text("Be kind.")]),
        "empty-list": hint([]),
        "empty-text-list": hint([text("")]),
        "image": hint([text("See:"), PNG]),
        "zip": hint([text("See:"), data("application/zip")]),
        "only-zip": hint([data("application/zip")]),
    }
    for name, block in kinds.items():
        yield f"hint/{name}", [user("Hello"), agent("One", block, "Two")]
        yield f"hint/{name}-first", [user("Hello"), agent(block, "One")]
        yield f"hint/{name}-last", [user("Hello"), agent("One", block)]
        yield f"hint/{name}-alone", [user("Hello"), agent(block)]
        yield f"hint/{name}-after-result", [user("Hello"), agent(call(1), result(1, "home"), block, "Two")]
    yield "hint/two", [user("Hello"), agent("One", kinds["text"], hint("Be kind."), "Two")]
    yield "hint/after-thinking", [user("Hello"), agent(thinking("Hm."), kinds["text"], "Two")]
    yield "hint/before-result", [user("Hello"), agent(call(1), kinds["text"], result(1, "home"), "Two")]
    yield "hint/between-results", [
        user("Hello"),
        agent(call(1), call(2), result(1, "home"), kinds["text"], result(2, "away"), "Two"),
    ]


def _tools() -> Iterator[History]:
    inputs = {
        "object": '{"a": 1, "b": [true, null, "x"]}',
        "nothing": "",
        "space": " ",
        "empty": "{}",
        "unicode": '{"städt": "Köln"}',
        "numbers": '{"a": 25, "b": 0.5}',
        "text": "not json",
        "list": "[1, 2]",
        "null": "null",
        "cut-string": '{"at": "ho',
        "cut-key": '{"a',
        "cut-second-key": '{"at": "home", "h',
        "cut-list": '{"at": ["home", "a',
        "cut-number": '{"at": 12',
        "open": "{",
        "comma": '{"at": "home",}',
        "line-break": '{"at": "a\nb"}',
    }
    for name, arguments in inputs.items():
        yield f"call/{name}", [user("Look"), agent(call(1, arguments=arguments), result(1, "home"), "Done")]
    outputs = {
        "string": "home",
        "empty": "",
        "list": [text("one"), text("two")],
        "empty-list": [],
        "empty-text": [text("")],
        "some-empty": [text(""), text("two"), text("")],
    }
    for name, output in outputs.items():
        yield f"result/{name}", [user("Look"), agent(call(1), result(1, output), "Done")]
    for state in ("success", "error", "interrupted", "denied", "running"):
        yield f"result/{state}", [user("Look"), agent(call(1), result(1, "home", state=state), "Done")]
    both = [result(1, "home"), result(2, "away")]
    yield "tools/text-before", [user("Look"), agent("Looking.", call(1), result(1, "home"), "Done")]
    yield "tools/parallel", [user("Look"), agent(call(1), call(2), *both, "Done")]
    yield "tools/parallel-turned", [user("Look"), agent(call(1), call(2), *reversed(both), "Done")]
    yield "tools/text-between-calls", [user("Look"), agent("One.", call(1), "Two.", call(2), *both)]
    yield "tools/text-after-calls", [user("Look"), agent(call(1), "Looking.", result(1, "home"))]
    yield "tools/rounds", [user("Look"), agent(call(1), both[0], call(2), both[1], "Done")]
    yield "tools/rounds-with-text", [user("Look"), agent("A", call(1), both[0], "B", call(2), both[1], "C")]
    yield "tools/last", [user("Look"), agent(call(1), result(1, "home"))]
    yield "tools/in-two-messages", [user("Look"), agent(call(1)), agent(result(1, "home")), agent("Done")]
    yield "tools/result-with-text", [user("Look"), agent(call(1)), agent(result(1, "home"), "Done")]
    yield "tools/results-apart", [user("Look"), agent(call(1), call(2)), agent(both[0]), agent(both[1]), agent("Done")]
    yield "tools/user-between", [user("Look"), agent(call(1)), user("Well?"), agent(result(1, "home"), "Done")]
    yield "tools/no-result", [user("Look"), agent("Looking.", call(1)), user("Well?")]
    yield "tools/one-result-of-two", [user("Look"), agent(call(1), call(2), both[0], "Done")]
    yield "tools/no-call", [user("Look"), agent(result(1, "home"), "Done")]
    yield "tools/same-id-later", [user("Look"), agent(call(1)), user("Again"), agent(call(1), result(1, "away"), "Done")]
    yield "tools/same-id-twice", [user("Look"), agent(call(1), both[0], call(1), result(1, "away"), "Done")]
    yield "tools/other-name", [user("Look"), agent(call(1, name="a.b c"), result(1, "home", name="a.b c"), "Done")]
    yield "tools/long-id", [user("Look"), agent(_with_id(call(1), "x" * 70), _with_id(result(1, "home"), "x" * 70))]
    yield "tools/odd-id", [user("Look"), agent(_with_id(call(1), "a.b|c"), _with_id(result(1, "home"), "a.b|c"))]


def _with_id(block: dict[str, object], own: str) -> dict[str, object]:
    return {**block, "id": own}


def _tool_media() -> Iterator[History]:
    for ending, media_type in MEDIA.items():
        sources = {"data": data(media_type, ending), "url": at(f"https://example.com/a.{ending}", media_type)}
        for place, block in sources.items():
            output = [text("See:"), block]
            yield f"result/{ending}-{place}", [user("Look"), agent(call(1), result(1, output), "Done")]
    image, other = result(1, [PNG]), result(2, [data("image/jpeg")])
    yield "result/image-file", [user("Look"), agent(call(1), result(1, [at("file:///media/a.png", "image/png")]))]
    yield "result/image-and-zip", [user("Look"), agent(call(1), result(1, [PNG, data("application/zip"), text("!")]))]
    yield "result/two-images", [user("Look"), agent(call(1), result(1, [PNG, data("image/jpeg")]), "Done")]
    yield "result/images-of-two", [user("Look"), agent(call(1), call(2), image, other, "Done")]
    yield "result/image-of-first", [user("Look"), agent(call(1), call(2), image, result(2, "none"), "Done")]
    yield "result/images-apart", [user("Look"), agent(call(1), call(2)), agent(image), agent(result(2, "none"))]
    yield "result/image-last", [user("Look"), agent(call(1), image)]


def _agents() -> Iterator[History]:
    prompt = system("You are Friday.")
    talk = [user("Hello"), agent("Hi", name="Bob"), agent("Ho", name="Carol")]
    tools = agent(call(1), result(1, "home"))
    for name, start in product(("with", "without"), ("talk", "tools")):
        opening = [prompt] if name == "with" else []
        order = [*talk, tools] if start == "talk" else [tools, *talk]
        yield f"agents/{start}-{name}-prompt", [*opening, *order]
    yield "agents/talk-around-tools", [prompt, *talk, tools, agent("Done"), user("Thanks")]
    yield "agents/tools-around-talk", [prompt, tools, *talk, agent(call(2), result(2, "away")), agent("Done")]
    yield "agents/image", [user("Look:", PNG, "Nice?"), agent("Nice", name="Bob")]
    yield "agents/image-second", [user("Hello"), agent("Look:", PNG, name="Bob"), agent("Nice", name="Carol")]
    yield "agents/image-first-block", [user(PNG, "Nice?"), agent("Nice", name="Bob")]
    yield "agents/only-images", [user(PNG), agent(data("image/jpeg"), name="Bob")]
    yield "agents/only-images-then-talk", [user(PNG), tools, agent("Nice", name="Bob")]
    yield "agents/image-after-tools", [*talk, tools, agent("Look:", PNG, name="Bob")]
    yield "agents/zip-between", [user("One", data("application/zip"), "Two")]
    yield "agents/two-texts", [user("One", "Two"), agent("Three", "Four", name="Bob")]
    yield "agents/empty-messages", [user(), agent(name="Bob"), agent("Hi", name="Carol")]
    yield "agents/empty-text", [user(""), agent("Hi", name="Bob")]
    yield "agents/empty-first-group", [agent(name="Bob"), tools, user("Hello")]
    yield "agents/empty-names", [user("Hello", name=""), agent("Hi", name="")]
    yield "agents/thinking", [user("Hello"), agent(thinking("Hm."), "Hi", name="Bob")]
    yield "agents/hint", [user("Hello"), agent("One", hint("Be quick."), "Two", name="Bob"), agent("Ho", name="Carol")]
    yield "agents/system-late", [prompt, user("Hello"), system("Be brief."), agent("Hi", name="Bob")]
    yield "agents/system-two", [prompt, system("Be brief."), user("Hello")]
