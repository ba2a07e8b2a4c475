# SPDX-License-Identifier: Apache-2.0
"""What a run, a tool or a replay tells while it is under way."""

from __future__ import annotations

import dataclasses
from typing import Any, List, Mapping, Optional, Union

from ._display import Display, Json
from .models import ReplayedCell, Result, SessionInfo, ToolReply


@dataclasses.dataclass(frozen=True)
class Started:
    run_id: str


@dataclasses.dataclass(frozen=True)
class Stdout:
    text: str


@dataclasses.dataclass(frozen=True)
class Stderr:
    text: str


@dataclasses.dataclass(frozen=True)
class Displayed:
    data: Mapping[str, Any]
    display_id: Optional[str] = None
    update: bool = False

    @property
    def display(self) -> Display:
        return Display(self.data)


@dataclasses.dataclass(frozen=True)
class Progressed:
    """How far a tool is whose work is no run; ``of`` 0: nobody knows how much there is."""

    text: str
    done: int
    of: int


@dataclasses.dataclass(frozen=True)
class Finished:
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
    cell: int


@dataclasses.dataclass(frozen=True)
class Ended:
    """The last event of a replay: what came of it. With a `problem` nothing has changed, and there is no session."""

    session: Optional[SessionInfo]
    cells: List[ReplayedCell]
    left_out: List[int]
    problem: Optional[str]


Event = Union[Started, Stdout, Stderr, Displayed, Progressed, Finished, Replied, Replaying, CellBegins, Ended]
