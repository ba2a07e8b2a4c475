# SPDX-License-Identifier: Apache-2.0
# Made from /openapi.json by make_models.py: change src/operations of Adder, or that.
"""What Adder answers, as dataclasses; what it tells while something runs is in `events`.

Each is made from the JSON of a reply by `decode` (`_decode.py`). A member that is not known here is left out, so that a newer
server can say more; all of it is in `raw` where a class has that.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Optional

from ._display import Display, Json, ResultMethods, RunStateMethods, ToolReplyMethods


@dataclasses.dataclass(frozen=True)
class RunError:
    """Why a run failed."""

    type: str
    message: str
    traceback: Optional[str] = None
    line: Optional[int] = None
    hint: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Violation:
    """What the guard of the profile refused."""

    rule: str
    line: int
    column: int
    text: str
    hint: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Denial:
    """What the sandbox refused, or a limit that was met without ending the run."""

    kind: str
    detail: str
    hint: str


@dataclasses.dataclass(frozen=True)
class Connection:
    """A host that was reached through the proxy."""

    host: str
    port: int
    connections: int
    in_bytes: int
    out_bytes: int


@dataclasses.dataclass(frozen=True)
class MadeFile:
    """A file that code made or changed. With `file_id` it can be had from `files`."""

    name: str
    mime: str
    bytes: int
    sha256: str
    file_id: Optional[str] = None
    url: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Change:
    """What a run changed in a work directory."""

    change: str
    binary: bool
    truncated: bool
    path: Optional[str] = None
    type_before: Optional[str] = None
    type: Optional[str] = None
    bytes_before: Optional[int] = None
    bytes: Optional[int] = None
    mode_before: Optional[str] = None
    mode: Optional[str] = None
    target: Optional[str] = None
    diff: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Cell:
    """The session that a run was a cell of."""

    session_id: str
    cell: int
    variables: int
    status: str
    name: Optional[str] = None
    expires_in_ms: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class Usage:
    """What a run used."""

    queue_ms: float
    wall_ms: float
    cpu_ms: float
    peak_memory_bytes: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class Container:
    """The container that a run was in."""

    engine: Optional[str] = None
    engine_version: Optional[str] = None
    runtime: Optional[str] = None
    image: Optional[str] = None
    version: Optional[str] = None
    digest: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Isolation:
    """How a run was isolated."""

    level: int
    backend: str
    missing: List[str] = dataclasses.field(default_factory=list)
    container: Optional[Container] = None


@dataclasses.dataclass(frozen=True)
class Result(ResultMethods):
    """What became of a run: docs/results.md of Adder says what each member is."""

    schema_version: int
    run_id: str
    outcome: str
    exit_code: int
    stdout: str
    stderr: str
    stdout_bytes: int
    stderr_bytes: int
    truncated: bool
    usage: Usage
    signal: Optional[str] = None
    result_id: Optional[str] = None
    value: Optional[Display] = None
    displays: List[Display] = dataclasses.field(default_factory=list)
    charts: List[Json] = dataclasses.field(default_factory=list)
    error: Optional[RunError] = None
    violations: List[Violation] = dataclasses.field(default_factory=list)
    denials: List[Denial] = dataclasses.field(default_factory=list)
    network: List[Connection] = dataclasses.field(default_factory=list)
    files: List[MadeFile] = dataclasses.field(default_factory=list)
    changes: List[Change] = dataclasses.field(default_factory=list)
    warnings: List[str] = dataclasses.field(default_factory=list)
    approval_id: Optional[str] = None
    session: Optional[Cell] = None
    limits: Json = dataclasses.field(default_factory=dict)
    isolation: Optional[Isolation] = None
    raw: Json = dataclasses.field(default_factory=dict, repr=False, compare=False)


@dataclasses.dataclass(frozen=True)
class RunningRun:
    """A run that is under way."""

    run_id: str
    state: str
    started: Optional[str] = None
    owner: Optional[str] = None
    conversation: Optional[str] = None
    session: Optional[str] = None
    front_end: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class RunState(RunStateMethods):
    """A run as it is: `result` while it is held, `record` where records are kept."""

    run_id: str
    state: str
    started: Optional[str] = None
    owner: Optional[str] = None
    conversation: Optional[str] = None
    session: Optional[str] = None
    front_end: Optional[str] = None
    result: Optional[Result] = None
    record: Optional[Json] = None


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A checkpoint of a session."""

    checkpoint_id: str
    cell: int
    variables: int
    created: str
    memory_bytes: int
    name: Optional[str] = None
    warnings: List[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class SessionInfo:
    """A session."""

    session_id: str
    state: str
    cells: int
    variables: int
    created: str
    memory_bytes: int
    name: Optional[str] = None
    owner: Optional[str] = None
    environment: Optional[str] = None
    profile: Optional[str] = None
    idle_ms: Optional[int] = None
    expires_in_ms: Optional[int] = None
    parent: Optional[str] = None
    checkpoints: List[Checkpoint] = dataclasses.field(default_factory=list)
    shell: Optional[str] = None
    isolation: Optional[Isolation] = None
    reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Variable:
    """A variable of a session."""

    name: str
    type: str
    shape: Optional[List[int]] = None
    bytes: Optional[int] = None
    value: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class HistoryCell:
    """A cell that a session ran."""

    cell: int
    code: str
    outcome: str
    started: str
    wall_ms: float


@dataclasses.dataclass(frozen=True)
class History:
    """The cells of a session."""

    dropped: int
    cells: List[HistoryCell] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class ReplayedCell:
    """A cell that ran again: how it ended, and had ended `before`; `differs` names what of the result is not as it was."""

    cell: int
    outcome: str
    before: str
    error: Optional[Json] = None
    differs: List[str] = dataclasses.field(default_factory=list)
    result: Optional[Result] = None


@dataclasses.dataclass(frozen=True)
class Replay:
    """What came of a replay."""

    session: SessionInfo
    cells: List[ReplayedCell] = dataclasses.field(default_factory=list)
    left_out: List[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class StoredFile:
    """A file that is kept."""

    file_id: str
    name: str
    kind: str
    mime: str
    bytes: int
    sha256: str
    created: str
    expires: str
    owner: Optional[str] = None
    conversation: Optional[str] = None
    session: Optional[str] = None
    run_id: Optional[str] = None
    url: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class FilePage:
    """Some of the files."""

    files: List[StoredFile] = dataclasses.field(default_factory=list)
    next: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Line:
    """A line in which the pattern was found."""

    line: int
    offset: int
    text: str


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of long output: `text`, or with `grep` the `lines` in which the pattern was found."""

    result_id: str
    stream: str
    offset: int
    next_offset: int
    total_bytes: int
    at_end: bool
    text: Optional[str] = None
    lines: List[Line] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class RecordPage:
    """Some of the records."""

    records: List[Json] = dataclasses.field(default_factory=list)
    next: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Tool:
    """A tool that the caller may call."""

    name: str
    title: str
    description: str
    inputSchema: Dict[str, Any]
    outputSchema: Dict[str, Any]
    annotations: Dict[str, Any]


@dataclasses.dataclass(frozen=True)
class ToolReply(ToolReplyMethods):
    """What a tool replied, in the form of its output schema."""

    reply: Dict[str, Any]
    is_error: bool
    exit_code: int = 0


@dataclasses.dataclass(frozen=True)
class Approval:
    """What waits for a yes, or had its answer; `raw` has all of it."""

    approval_id: str
    state: str
    kind: Optional[str] = None
    conversation: Optional[str] = None
    digest: Optional[str] = None
    review_id: Optional[str] = None
    reason: Optional[str] = None
    asked: Optional[str] = None
    expires_in_ms: Optional[int] = None
    outcome: Optional[Json] = None
    description: Optional[str] = None
    profile: Optional[str] = None
    environment: Optional[str] = None
    name: Optional[str] = None
    workdir: Optional[Json] = None
    code: Optional[str] = None
    changes: Optional[int] = None
    session: Optional[str] = None
    isolation: Optional[str] = None
    lines: Optional[int] = None
    first_line: Optional[str] = None
    files: List[Json] = dataclasses.field(default_factory=list)
    stdin: Optional[Json] = None
    variables: Optional[Dict[str, str]] = None
    values: Optional[Dict[str, Any]] = None
    arguments: List[str] = dataclasses.field(default_factory=list)
    limits: Optional[Dict[str, int]] = None
    raw: Json = dataclasses.field(default_factory=dict, repr=False, compare=False)


@dataclasses.dataclass(frozen=True)
class Review:
    """What a run would change in a work directory; `raw` has all of it."""

    review_id: str
    state: str
    directory: Optional[str] = None
    conversation: Optional[str] = None
    created: Optional[str] = None
    digest: Optional[str] = None
    files: Optional[int] = None
    bytes: Optional[int] = None
    changes: List[Change] = dataclasses.field(default_factory=list)
    raw: Json = dataclasses.field(default_factory=dict, repr=False, compare=False)
