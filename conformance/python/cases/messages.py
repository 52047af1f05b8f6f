"""The message texts that are given to the package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cases.events import TextCase
from cases.free import free_values
from cases.jsontext import Raw, render
from cases.protocol import (
    AT,
    BASE64,
    BLOCKS,
    DATA,
    ERROR,
    HINT,
    LATER,
    MESSAGE,
    ROLES,
    RULE,
    TEXT,
    THINKING,
    TOOL_CALL,
    TOOL_RESULT,
    URL,
    USAGE,
)
from cases.shapes import Object, Shape, variants

Case = tuple[str, Any]


def message_cases() -> Iterator[TextCase]:
    """Return all message cases."""
    for name, value in _cases():
        yield name, value if isinstance(value, str) else render(value)


def _cases() -> Iterator[Case]:
    for label, value in variants(MESSAGE):
        yield f"message/{label}", value
    for shape in BLOCKS:
        yield from _block_variants(shape)
    yield from _parts()
    yield from _roles()
    yield from _outputs()
    yield from _thinking_extras()
    yield from _untagged()
    yield from _urls()
    yield from _free()
    yield from _whole()
    yield from _malformed()


def _message(*content: Any, **fields: Any) -> Object:
    """Return a short message that only has the fields of the case."""
    base = {"name": "Friday", "role": "assistant", "id": "m1", "created_at": AT}
    return base | {"content": list(content)} | fields


def _block_variants(shape: Shape) -> Iterator[Case]:
    for label, value in variants(shape):
        yield f"block/{shape.name}/{label}", _message(value)


def _parts() -> Iterator[Case]:
    """The objects inside blocks and messages."""
    for shape in (BASE64, URL):
        for label, value in variants(shape):
            yield f"source/{shape.name}/{label}", _message(DATA.minimal() | {"source": value})
    for label, value in variants(RULE):
        call = TOOL_CALL.minimal() | {"suggested_rules": [value]}
        yield f"rule/{label}", _message(call)
    for label, value in variants(USAGE):
        yield f"usage/{label}", _message(usage=value)
    for label, value in variants(ERROR):
        yield f"error/{label}", _message(error=value)
    yield "error/without-reason", _message(error=ERROR.full(), finished_reason=None)
    yield "error/with-other-reason", _message(error=ERROR.full(), finished_reason="completed")
    yield "source/both", _message(DATA.full() | {"source": URL.full() | BASE64.full()})
    plain = {"url": "https://example.com", "media_type": "image/png"}
    yield "source/url-untagged", _message(DATA.full() | {"source": plain})
    plain = {"data": "QUI=", "media_type": "image/png"}
    yield "source/base64-untagged", _message(DATA.full() | {"source": plain})
    for label, data in {"spaced": "QU I=\n", "unpadded": "QUI", "words": "*nonsense*"}.items():
        source = BASE64.full() | {"data": data}
        yield f"source/base64-{label}", _message(DATA.full() | {"source": source})


def _roles() -> Iterator[Case]:
    """The blocks that each role allows."""
    for role in (*ROLES, "tool", "developer", "User", ""):
        yield f"role/{role or 'empty'}-without-content", _message(role=role)
        for shape in BLOCKS:
            label = f"role/{role or 'empty'}-with-{shape.name}"
            yield label, _message(shape.full(), role=role)
    yield "role/user-with-text-then-thinking", _message(TEXT.full(), THINKING.full(), role="user")
    yield "role/system-with-text-then-data", _message(TEXT.full(), DATA.full(), role="system")
    yield "role/user-with-usage", _message(TEXT.full(), role="user", usage=USAGE.full())


def _outputs() -> Iterator[Case]:
    """Tool output and hints: a string, or a list of text and data."""
    lists: dict[str, Any] = {
        "text": "plain",
        "empty-text": "",
        "empty-list": [],
        "one-text": [TEXT.minimal()],
        "texts": [TEXT.full(), TEXT.full() | {"id": "t2"}],
        "data": [DATA.full()],
        "url": [DATA.full() | {"source": URL.full()}],
        "mixed": [TEXT.full(), DATA.full(), TEXT.full()],
        "extra": [TEXT.full() | {"zzz": 1}],
        "thinking": [THINKING.full()],
        "tool-result": [TOOL_RESULT.full()],
        "null": [None],
        "nested-list": [[TEXT.full()]],
        "unknown": [{"type": "video", "id": "v1"}],
        "untagged-text": [{"text": "x"}],
    }
    for label, value in lists.items():
        yield f"output/{label}", _message(TOOL_RESULT.full() | {"output": value})
        yield f"hint/{label}", _message(HINT.full() | {"hint": value})
    finished = HINT.full() | {"finished_at": None}
    yield "hint/finished-at-null", _message(finished)


def _thinking_extras() -> Iterator[Case]:
    """A thinking block preserves unknown fields."""
    extras: dict[str, Object] = {
        "signature": {"signature": "EqQBCgIYAhIM"},
        "redacted": {"redacted_thinking_data": "abc", "thinking": ""},
        "number": {"weight": Raw("25.0"), "tiny": Raw("1.0E-4"), "big": Raw("9" * 30)},
        "huge": {"huge": Raw("1e400")},
        "nested": {"provider": {"a": [1, {"b": None}]}},
        "null": {"signature": None},
        "own-id": {"recount": {"extra": True}},
        "method-name": {"model_dump": 1, "__class__": "x", "_private": 1},
        "text-key": {"text": "also text"},
    }
    for label, extra in extras.items():
        yield f"thinking/{label}", _message(THINKING.full() | extra)
        yield f"thinking/{label}-first", _message(extra | THINKING.full())
    yield "thinking/extra-in-text-block", _message(TEXT.full() | {"signature": "x"})


def _untagged() -> Iterator[Case]:
    """The package determines the type of a block by trying each kind, not only by its tag."""
    blocks: dict[str, Any] = {
        "unknown-type": {"type": "video", "id": "v1", "source": URL.full()},
        "legacy-image": {"type": "image", "source": BASE64.full()},
        "legacy-tool-use": {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
        "empty": {},
        "text-field": {"text": "x"},
        "thinking-field": {"thinking": "x"},
        "text-and-thinking": {"text": "x", "thinking": "y"},
        "thinking-and-hint": {"thinking": "x", "hint": "y"},
        "call-fields": {"id": "c1", "name": "f", "input": "{}"},
        "result-fields": {"id": "c1", "name": "f", "output": "x"},
        "call-and-result-fields": {"id": "c1", "name": "f", "input": "{}", "output": "x"},
        "text-field-other-tag": {"type": "thinking", "text": "x"},
        "string": "x",
        "number": 7,
        "null": None,
        "list": [TEXT.full()],
    }
    for label, value in blocks.items():
        yield f"untagged/{label}", _message(value)
    yield "untagged/two-unknown", _message({"type": "a"}, TEXT.full(), {"type": "b"})


def _urls() -> Iterator[Case]:
    """The URLs that the package rewrites or rejects."""
    urls = {
        "host": "https://example.com",
        "host-slash": "https://example.com/",
        "host-upper": "HTTPS://EXAMPLE.COM/Path",
        "default-port": "https://example.com:443/a",
        "default-port-http": "http://example.com:80",
        "other-port": "http://example.com:8080",
        "bad-port": "http://example.com:99999/",
        "userinfo": "https://user:pa%20ss@example.com/",
        "userinfo-empty": "https://@example.com/",
        "query-only": "https://example.com?a=1&b=%20",
        "fragment": "https://example.com/#frag ment",
        "space-in-path": "https://example.com/a b.png",
        "blank-around": "  https://example.com/a  ",
        "tab-and-newline": "https://exa\tmple.com/a\nb",
        "backslash": "https:\\\\example.com\\a",
        "dots": "https://example.com/a/./b/../c",
        "double-slash": "https://example.com//a//b",
        "percent-bad": "https://example.com/%zz",
        "percent-lower": "https://example.com/%c3%a9",
        "quotes": "https://example.com/\"<>`{}|^'",
        "unicode-path": "https://example.com/é中😀",
        "unicode-query": "https://example.com/?q=é中😀#ü",
        "unicode-host": "https://bücher.example/a",
        "unicode-host-bad": "https://exa\u00admple.com",
        "punycode-host": "https://xn--bcher-kva.example/",
        "ipv4": "http://127.0.0.1/a",
        "ipv4-short": "http://127.1/a",
        "ipv4-hex": "http://0x7f000001/",
        "ipv4-bad": "http://256.256.256.256/",
        "ipv6": "http://[::1]:8080/a",
        "ipv6-long": "http://[0:0:0:0:0:0:0:1]/",
        "ipv6-bad": "http://[::1/",
        "underscore-host": "http://my_host/a",
        "trailing-dot": "http://example.com./a",
        "file": "file:///tmp/a.png",
        "file-host": "file://host/a.png",
        "file-localhost": "file://localhost/a.png",
        "file-one-slash": "file:/tmp/a.png",
        "file-two-slashes-only": "file://",
        "file-windows": "file:///C:/a b.png",
        "file-dots": "file:///tmp/../a",
        "data": "data:image/png;base64,iVBORw0KGgo=",
        "data-space": "data:text/plain,hello world",
        "data-unicode": "data:text/plain,é",
        "data-empty": "data:,",
        "mailto": "mailto:a@example.com",
        "custom-scheme": "s3://Bucket/Key With Space",
        "custom-scheme-upper": "S3://Bucket",
        "custom-scheme-host-only": "oss://bucket",
        "custom-no-slashes": "foo:bar",
        "scheme-only": "https:",
        "scheme-slashes": "https://",
        "scheme-three-slashes": "https:///example.com/a",
        "scheme-one-slash": "https:/example.com/a",
        "no-slashes": "https:example.com",
        "no-scheme": "example.com/a.png",
        "relative": "/a.png",
        "double-slash-start": "//example.com/a",
        "words": "no url at all",
        "colon": ":",
        "empty": "",
        "blank": " ",
        "long": "https://example.com/" + "a" * 100,
    }
    for label, url in urls.items():
        yield f"url/{label}", _message(_url_block(url))
    wrong: Object = {"number": 7, "null": None, "object": {}}
    for label, value in wrong.items():
        yield f"url/wrong-{label}", _message(_url_block(value))


def _url_block(url: Any) -> Object:
    source = {"type": "url", "url": url, "media_type": "image/png"}
    return {"type": "data", "id": "d1", "source": source, "created_at": AT}


def _free() -> Iterator[Case]:
    for label, text in free_values():
        yield f"metadata/{label}", _message(metadata={"k": Raw(text)})
    for label in ("number-25.0", "number-1e400", "number-30-digits", "depth-130-lists"):
        value = {"k": Raw(dict(free_values())[label])}
        yield f"structured-output/{label}", _message(structured_output=value)
        result = TOOL_RESULT.full() | {"metadata": value}
        yield f"result-metadata/{label}", _message(result)
    yield "metadata/many-keys", _message(metadata={f"k{n:02}": n for n in range(40)})
    yield "metadata/recount", _message(metadata={"recount": {"role": "tool"}})


def _whole() -> Iterator[Case]:
    """Messages with many blocks and fields."""
    every = [shape.full() for shape in BLOCKS]
    yield "whole/every-block", _message(*every)
    yield "whole/every-block-minimal", _message(*(shape.minimal() for shape in BLOCKS))
    yield "whole/every-field", MESSAGE.full() | {"content": every}
    yield "whole/ids-repeated", _message(TEXT.full(), TEXT.full())
    yield "whole/ids-missing", _message(*(_without_id(shape) for shape in (TEXT, DATA, HINT)))
    yield "whole/many-blocks", _message(*(TEXT.full() | {"id": f"t{n}"} for n in range(20)))
    yield "whole/no-id-no-time", {"name": "Friday", "role": "user", "content": [TEXT.minimal()]}
    yield "whole/timestamp-legacy", _message(TEXT.full(), timestamp=LATER)


def _without_id(shape: Shape) -> Object:
    return {key: value for key, value in shape.full().items() if key != "id"}


def _malformed() -> Iterator[Case]:
    good = render(_message(TEXT.full()))
    texts = {
        "empty": "",
        "null": "null",
        "list": "[]",
        "object": "{}",
        "cut": good[:-1],
        "twice": good + good,
        "after-bom": "\ufeff" + good,
        "content-text": '{"name":"a","role":"user","content":"hello"}',
        "content-null": '{"name":"a","role":"user","content":null}',
        "field-twice": '{"name":"a","name":"b","role":"user","content":[]}',
        "name-lone-surrogate": r'{"name":"\ud800","role":"user","content":[]}',
        "name-pair": r'{"name":"\ud83d\ude00","role":"user","content":[]}',
        "content-depth-130": '{"name":"a","role":"user","content":' + "[" * 130 + "]" * 130 + "}",
    }
    for label, text in texts.items():
        yield f"malformed/{label}", text
