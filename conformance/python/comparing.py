"""Compares JSON texts, byte for byte where that is required.

"Ours" is the text written by Rust, and "theirs" is what the package made of it. Only
three differences are allowed: keys that the package does not know and drops, URLs that
it rewrites, and the spelling of free-form content, which it parses and writes again.
"""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic import AnyUrl, TypeAdapter, ValidationError

from rawjson import Members, Node, RawJsonError, parse, value
from reference import NOW, RANDOM

FREE = frozenset(('"metadata"', '"value"', '"structured_output"'))
THINKING_FIELDS = frozenset(
    ('"type"', '"thinking"', '"id"', '"created_at"', '"finished_at"'),
)

_MADE_UP = frozenset((f'"{NOW}"', f'"{RANDOM}"'))
_URL = TypeAdapter(AnyUrl)


def difference(ours: str, theirs: str, *, may_make_up: bool = False) -> str | None:
    """Return the first difference, or None.

    With `may_make_up`, values from the package's clock or random generator count as
    equal.
    """
    if ours == theirs:
        return None
    try:
        return _Comparison(may_make_up).known(parse(ours), parse(theirs), "")
    except RawJsonError as error:
        return str(error)


class _Comparison:
    """Walks two trees. Each method returns the first difference."""

    def __init__(self, may_make_up: bool) -> None:
        self._may_make_up = may_make_up

    def known(self, ours: Node, theirs: Node, path: str) -> str | None:
        """Compare an object whose fields the package knows."""
        if isinstance(ours, Members) and isinstance(theirs, Members):
            return self._objects(ours, theirs, path)
        if isinstance(ours, list) and isinstance(theirs, list):
            return self._lists(ours, theirs, path)
        if ours == theirs or (self._may_make_up and theirs in _MADE_UP):
            return None
        return f"{path or '/'}: ours is {_shown(ours)}, theirs {_shown(theirs)}"

    def _objects(self, ours: Members, theirs: Members, path: str) -> str | None:
        expected = dict(theirs.pairs)
        kept = [key for key, _ in ours.pairs if key in expected]
        missing = [key for key in expected if key not in kept]
        if missing:
            return f"{path or '/'}: ours lacks {', '.join(missing)}"
        if kept != list(expected):
            return f"{path or '/'}: ours has {', '.join(kept)}, theirs {', '.join(expected)}"
        for key, item in ours.pairs:
            found = key in expected and self._member(key, item, expected, f"{path}/{key[1:-1]}")
            if found:
                return found
        return None

    def _member(
        self,
        key: str,
        ours: Node,
        theirs: dict[str, Node],
        path: str,
    ) -> str | None:
        tag = theirs.get('"type"')
        is_extra = tag == '"thinking"' and key not in THINKING_FIELDS
        if key in FREE or is_extra:
            return _free(ours, theirs[key], path)
        if key == '"url"' and tag == '"url"':
            return _url(ours, theirs[key], path)
        return self.known(ours, theirs[key], path)

    def _lists(self, ours: list[Node], theirs: list[Node], path: str) -> str | None:
        if len(ours) != len(theirs):
            return f"{path}: ours has {len(ours)} items, theirs {len(theirs)}"
        for at, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            found = self.known(our, their, f"{path}/{at}")
            if found:
                return found
        return None


def _free(ours: Node, theirs: Node, path: str) -> str | None:
    if _same_value(value(ours), value(theirs)):
        return None
    return f"{path}: ours is {_shown(ours)}, theirs {_shown(theirs)}"


def _same_value(ours: Any, theirs: Any) -> bool:
    """Return whether values are equal for the package: in the same key order, and `true` is not 1."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        same_keys = list(ours) == list(theirs)
        return same_keys and all(_same_value(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        same_length = len(ours) == len(theirs)
        return same_length and all(map(_same_value, ours, theirs))
    if isinstance(ours, float) and math.isinf(ours):
        # A number such as 1e400 is infinite in the package, which writes null.
        return theirs is None
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    return bool(ours == theirs)


def _url(ours: Node, theirs: Node, path: str) -> str | None:
    """Compare a URL with the package's rewriting of ours."""
    if ours == theirs:
        return None
    try:
        rewritten = str(_URL.validate_json(ours if isinstance(ours, str) else "null"))
    except ValidationError:
        return f"{path}: ours is no URL: {_shown(ours)}"
    if rewritten == value(theirs):
        return None
    return f"{path}: ours becomes {rewritten}, theirs is {_shown(theirs)}"


def _shown(node: Node) -> str:
    text = node if isinstance(node, str) else json.dumps(value(node), ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"
