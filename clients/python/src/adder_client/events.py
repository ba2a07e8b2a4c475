# SPDX-License-Identifier: Apache-2.0
"""What a run, a tool or a replay tells while it is under way."""

from __future__ import annotations

import dataclasses
from typing import Any, List, Mapping, Optional, Union

from ._display import Display, Json
from .models import ReplayedCell, Result, SessionInfo, ToolReply


@dataclasses.dataclass(frozen=True)
class Started:
    """The first event of a run; `adder.get_run(run_id)` and records know it by its id."""

    run_id: str


@dataclasses.dataclass(frozen=True)
class Stdout:
    """Text that the code wrote to standard output, in whole characters."""

    text: str


@dataclasses.dataclass(frozen=True)
class Stderr:
    """Text that the code wrote to standard error, in whole characters."""

    text: str


@dataclasses.dataclass(frozen=True)
class Displayed:
    """What the code displayed, by MIME type; with `update` in the place of what has the same `display_id`."""

    data: Mapping[str, Any]
    display_id: Optional[str] = None
    update: bool = False

    @property
    def display(self) -> Display:
        """The same as a result has it."""
        return Display(self.data)


@dataclasses.dataclass(frozen=True)
class Progressed:
    """How far a tool is whose work is no run; ``of`` 0: nobody knows how much there is."""

    text: str
    done: int
    of: int


@dataclasses.dataclass(frozen=True)
class Missed:
    """How many events the server holds no more; the ones before the next event were lost to this stream."""

    events: int


@dataclasses.dataclass(frozen=True)
class Finished:
    """The last event of a run: its result."""

    result: Result


@dataclasses.dataclass(frozen=True)
class Replied:
    """The last event of a tool's call."""

    reply: ToolReply


@dataclasses.dataclass(frozen=True)
class Replaying:
    """Which session a replay makes, and what it runs there."""

    session: SessionInfo
    cells: List[Json]
    left_out: List[int]


@dataclasses.dataclass(frozen=True)
class CellBegins:
    """The events that follow are of this cell of a replay."""

    cell: int


@dataclasses.dataclass(frozen=True)
class Ended:
    """The last event of a replay: what came of it. With a `problem` nothing has changed, and there is no session."""

    session: Optional[SessionInfo]
    cells: List[ReplayedCell]
    left_out: List[int]
    problem: Optional[str]


Event = Union[
    Started, Stdout, Stderr, Displayed, Progressed, Missed, Finished, Replied, Replaying, CellBegins, Ended
]
