"""The package's fold of a stream."""

from __future__ import annotations

import json

from cases.fold import FoldCase
from cases.jsontext import compact
from reference import Json, Message, describe_raised, is_reply_start, parse_event, seed


def fold_record(case: FoldCase) -> dict[str, Json]:
    """Fold a stream and record the result.

    A message is created at the start of its reply. From then on every event is applied
    to it, including those of other replies, which the package must ignore.
    """
    fold = _Fold()
    after: list[Json] = []
    raised: Json = None
    for index, event in enumerate(case.events):
        try:
            fold.take(compact(event))
        except Exception as error:
            # Every exception of the package is recorded.
            raised = {"index": index, "error": describe_raised(error)}
            break
        after.append({"index": index, "message": fold.only()})
    record = {
        "case": case.name,
        "description": case.description,
        "events": case.events,
        "raised": raised,
    }
    if len(fold.messages) > 1:
        return record | {"replies": fold.all()}
    record["folded"] = fold.only()
    return record | {"after": after} if case.stepwise else record


class _Fold:
    """Return the messages of a stream by reply id, in the order of their starts."""

    def __init__(self) -> None:
        self.messages: dict[str, Message] = {}

    def take(self, text: str) -> None:
        event = parse_event(text)
        if is_reply_start(event) and event.reply_id not in self.messages:
            self.messages[event.reply_id] = seed(event)
        for message in self.messages.values():
            # Parsed separately for each message, because the package can put parts of an event into
            # a message without copying them.
            message.append_event(parse_event(text))

    def only(self) -> Json:
        """Return the only message, or None if no reply has started."""
        return next(iter(self.all().values()), None)

    def all(self) -> dict[str, Json]:
        return {reply: _value(message) for reply, message in self.messages.items()}


def _value(message: Message) -> Json:
    return json.loads(message.model_dump_json())
