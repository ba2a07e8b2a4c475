# SPDX-License-Identifier: Apache-2.0
"""Server-sent events, from bytes as they come to events of a run."""

from __future__ import annotations

import json
from typing import Iterator, List, Optional, Tuple

from . import events, models
from ._decode import decode
from .errors import UnexpectedReply

_kinds = {
    "started": events.Started,
    "stdout": events.Stdout,
    "stderr": events.Stderr,
    "display": events.Displayed,
    "progress": events.Progressed,
    "missed": events.Missed,
    "replay": events.Replaying,
    "cell": events.CellBegins,
    "end": events.Ended,
}


MOST_DIGITS = 19  # of a number of an event, which has 63 bits


class Parser:
    """Not by text lines: str.splitlines would also split at U+2028, which JSON may hold."""

    def __init__(self, last_id: int = 0) -> None:
        self.last_id = last_id
        """Of the last event that was whole and had one."""
        self._rest = b""
        self._id = last_id
        self._name = ""
        self._data: List[bytes] = []

    def feed(self, piece: bytes) -> Iterator[Tuple[str, str]]:
        """What is whole by now: name and data of each."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            event = self._line(line[:-1] if line.endswith(b"\r") else line)
            if event is not None:
                yield event

    def _line(self, line: bytes) -> Optional[Tuple[str, str]]:
        if not line:
            name, data = self._name, self._data
            self._name, self._data, self.last_id = "", [], self._id
            return (name or "message", b"\n".join(data).decode()) if data else None
        field, _, value = line.partition(b":")
        value = value[1:] if value.startswith(b" ") else value
        if field == b"event":
            self._name = value.decode()
        elif field == b"data":
            self._data.append(value)
        elif field == b"id" and value.isdigit() and len(value) <= MOST_DIGITS:
            self._id = int(value)
        return None  # comments, and what nobody knows


def event_of(name: str, data: str) -> Optional[events.Event]:
    """None: of a kind that this package does not know yet."""
    try:
        value = json.loads(data)
    except ValueError:
        raise UnexpectedReply(f"an event {name} that is no JSON") from None
    if name == "result":
        return events.Finished(decode(models.Result, value))
    if name == "reply":
        return events.Replied(decode(models.ToolReply, value))
    kind = _kinds.get(name)
    return None if kind is None else decode(kind, value)
