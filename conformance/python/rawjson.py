"""JSON trees that preserve the spelling of numbers and strings.

Some parts of two texts are compared by their spelling and others by their value, so a
tree of plain values is not sufficient.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Members:
    """An object: its keys as spelled and its items, in order.

    Not a dictionary, because keys can be repeated.
    """

    pairs: list[tuple[str, Node]]


Node: TypeAlias = "Members | list[Node] | str"
"""An object, a list, or a scalar as spelled."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


class RawJsonError(ValueError):
    """The text is not in the form that Recount writes."""


def parse(text: str) -> Node:
    """Parse JSON text without whitespace outside strings.

    The text must be valid JSON, which the package has already checked.
    """
    tokens = _TOKEN.findall(text)
    if sum(map(len, tokens)) != len(text):
        raise RawJsonError("there is white space outside strings")
    node, _ = _node(tokens, 0)
    return node


def value(node: Node) -> Any:
    """Return the value of a tree. As in the package, the last value of a repeated key wins."""
    if isinstance(node, Members):
        return {json.loads(key): value(item) for key, item in node.pairs}
    if isinstance(node, list):
        return [value(item) for item in node]
    return json.loads(node)


def _node(tokens: list[str], at: int) -> tuple[Node, int]:
    """Return the tree that begins at a token, and the position after it."""
    if tokens[at] == "{":
        return _object(tokens, at + 1)
    if tokens[at] == "[":
        return _list(tokens, at + 1)
    return tokens[at], at + 1


def _object(tokens: list[str], at: int) -> tuple[Node, int]:
    pairs: list[tuple[str, Node]] = []
    while tokens[at] != "}":
        key = tokens[at]
        item, at = _node(tokens, at + 2)
        pairs.append((key, item))
        if tokens[at] == ",":
            at += 1
    return Members(pairs), at + 1


def _list(tokens: list[str], at: int) -> tuple[Node, int]:
    items: list[Node] = []
    while tokens[at] != "]":
        item, at = _node(tokens, at)
        items.append(item)
        if tokens[at] == ",":
            at += 1
    return items, at + 1
