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
    """The exception's class, or the kind of failure."""
    message: str
    """One sentence."""
    traceback: Optional[str] = None
    """As Python prints it, with the lines of the caller's code only."""
    line: Optional[int] = None
    """The line of the caller's code."""
    hint: Optional[str] = None
    """What to do about it, where that is known."""


@dataclasses.dataclass(frozen=True)
class Violation:
    """What the guard of the profile refused."""

    rule: str
    """The guard's rule."""
    line: int
    """From 1."""
    column: int
    """From 0."""
    text: str
    """The beginning of the code there."""
    hint: Optional[str] = None
    """What to do instead."""


@dataclasses.dataclass(frozen=True)
class Denial:
    """What the sandbox refused, or a limit that was met without ending the run."""

    kind: str
    """network, file, write, call, install, processes, space, file_size, open_files or memory."""
    detail: str
    """What was refused."""
    hint: str
    """What to do instead, in one sentence."""


@dataclasses.dataclass(frozen=True)
class Connection:
    """A host that was reached through the proxy."""

    host: str
    """Its name."""
    port: int
    """The port."""
    connections: int
    """How many."""
    in_bytes: int
    """What came from it."""
    out_bytes: int
    """What went to it."""


@dataclasses.dataclass(frozen=True)
class MadeFile:
    """A file that code made or changed. With `file_id` it can be had from `files`."""

    name: str
    """Relative to /work; below tmp/ for those in /tmp."""
    mime: str
    """What it looks like."""
    bytes: int
    """Its size."""
    sha256: str
    """The digest of its content."""
    file_id: Optional[str] = None
    """Under which it is kept; null where it is not."""
    url: Optional[str] = None
    """A signed path from which it can be downloaded for a while."""


@dataclasses.dataclass(frozen=True)
class Change:
    """What a run changed in a work directory."""

    change: str
    """created, changed, deleted or replaced."""
    binary: bool
    """No text, or longer than what is compared."""
    truncated: bool
    """The diff is cut or left out."""
    path: Optional[str] = None
    """Below the directory."""
    type_before: Optional[str] = None
    """file, link, directory or other."""
    type: Optional[str] = None
    """What it is now."""
    bytes_before: Optional[int] = None
    """Of files."""
    bytes: Optional[int] = None
    """Of files."""
    mode_before: Optional[str] = None
    """Permissions as octal text."""
    mode: Optional[str] = None
    """Permissions as octal text."""
    target: Optional[str] = None
    """Of a link."""
    diff: Optional[str] = None
    """Of text, as diff -u shows it without its head."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """The session that a run was a cell of."""

    session_id: str
    """Which it is."""
    cell: int
    """The number of this cell, from 1."""
    variables: int
    """How many there are now."""
    status: str
    """The same in words."""
    name: Optional[str] = None
    """Its name."""
    expires_in_ms: Optional[int] = None
    """When it ends if nothing uses it; null: it has ended."""


@dataclasses.dataclass(frozen=True)
class Usage:
    """What a run used."""

    queue_ms: float
    """Waiting for a sandbox."""
    wall_ms: float
    """By the clock."""
    cpu_ms: float
    """Of the processors."""
    peak_memory_bytes: Optional[int] = None
    """The most that it held."""


@dataclasses.dataclass(frozen=True)
class Container:
    """The container that a run was in."""

    engine: Optional[str] = None
    """docker or podman."""
    engine_version: Optional[str] = None
    """The engine's version."""
    runtime: Optional[str] = None
    """The OCI runtime, such as runc."""
    image: Optional[str] = None
    """The image, by its name."""
    version: Optional[str] = None
    """Adder's version when it was built."""
    digest: Optional[str] = None
    """The image, by its digest."""


@dataclasses.dataclass(frozen=True)
class Isolation:
    """How a run was isolated."""

    level: int
    """That was in force, 0 to 4."""
    backend: str
    """native: a sandbox of the host's; or container."""
    missing: List[str] = dataclasses.field(default_factory=list)
    """The mechanisms that this host lacks."""
    container: Optional[Container] = None
    """The container; null in a sandbox of the host's."""


@dataclasses.dataclass(frozen=True)
class Result(ResultMethods):
    """What became of a run: docs/results.md of Adder says what each member is."""

    schema_version: int
    """1. A field may be added within a version; what one means does not change."""
    run_id: str
    """A UUID of version 7."""
    outcome: str
    """How the run ended."""
    exit_code: int
    """The code's own, or the outcome's."""
    stdout: str
    """What the code wrote; of long output head and tail."""
    stderr: str
    """The same of standard error."""
    stdout_bytes: int
    """How much it wrote."""
    stderr_bytes: int
    """How much it wrote to standard error."""
    truncated: bool
    """Whether stdout or stderr is head and tail."""
    usage: Usage
    """What it used."""
    signal: Optional[str] = None
    """The signal that ended the code, when one did."""
    result_id: Optional[str] = None
    """Under which the whole output is kept, where it is."""
    value: Optional[Display] = None
    """The value of the last expression, by MIME type."""
    displays: List[Display] = dataclasses.field(default_factory=list)
    """What the code displayed: objects by MIME type, pictures in base64."""
    charts: List[Json] = dataclasses.field(default_factory=list)
    """Matplotlib's figures as data, each with title and charts, as the code's process told them."""
    error: Optional[RunError] = None
    """What went wrong."""
    violations: List[Violation] = dataclasses.field(default_factory=list)
    """What the guard refused."""
    denials: List[Denial] = dataclasses.field(default_factory=list)
    """What the sandbox refused, and limits that were met."""
    network: List[Connection] = dataclasses.field(default_factory=list)
    """The hosts that were reached through the proxy."""
    files: List[MadeFile] = dataclasses.field(default_factory=list)
    """The files that the code made or changed."""
    changes: List[Change] = dataclasses.field(default_factory=list)
    """What it changed in an overlay of a work directory."""
    warnings: List[str] = dataclasses.field(default_factory=list)
    """What else a caller should know."""
    approval_id: Optional[str] = None
    """What somebody has to approve, or the review that waits for a yes."""
    session: Optional[Cell] = None
    """The session that the run was a cell of."""
    limits: Json = dataclasses.field(default_factory=dict)
    """All limits as they were applied."""
    isolation: Optional[Isolation] = None
    """Null when there was no sandbox."""
    raw: Json = dataclasses.field(default_factory=dict, repr=False, compare=False)
    """The whole answer."""


@dataclasses.dataclass(frozen=True)
class RunningRun:
    """A run that is under way."""

    run_id: str
    """Its id."""
    state: str
    """running or ended."""
    started: Optional[str] = None
    """In UTC."""
    owner: Optional[str] = None
    """Whose it is."""
    conversation: Optional[str] = None
    """To which it belongs."""
    session: Optional[str] = None
    """The session that it is a cell of."""
    front_end: Optional[str] = None
    """By which way it came."""


@dataclasses.dataclass(frozen=True)
class RunState(RunStateMethods):
    """A run as it is: `result` while it is held, `record` where records are kept."""

    run_id: str
    """Its id."""
    state: str
    """running or ended."""
    started: Optional[str] = None
    """In UTC."""
    owner: Optional[str] = None
    """Whose it is."""
    conversation: Optional[str] = None
    """To which it belongs."""
    session: Optional[str] = None
    """The session that it is a cell of."""
    front_end: Optional[str] = None
    """By which way it came."""
    result: Optional[Result] = None
    """Of one that ran in the background, while it is held."""
    record: Optional[Json] = None
    """Of one that has ended, where records are kept."""


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A checkpoint of a session."""

    checkpoint_id: str
    """Its id."""
    cell: int
    """The last cell before it."""
    variables: int
    """How many there were."""
    created: str
    """When it was made."""
    memory_bytes: int
    """What it holds."""
    name: Optional[str] = None
    """Its name."""
    warnings: List[str] = dataclasses.field(default_factory=list)
    """What the session and the checkpoint still share."""


@dataclasses.dataclass(frozen=True)
class SessionInfo:
    """A session."""

    session_id: str
    """A UUID of version 7."""
    state: str
    """idle, busy or ended."""
    cells: int
    """How many it ran."""
    variables: int
    """How many it has."""
    created: str
    """When it was made."""
    memory_bytes: int
    """What it held when it was last looked at."""
    name: Optional[str] = None
    """Its name."""
    owner: Optional[str] = None
    """Its owner."""
    environment: Optional[str] = None
    """Its interpreter and packages."""
    profile: Optional[str] = None
    """Its limits and rules."""
    idle_ms: Optional[int] = None
    """Since it was used; null unless it is idle."""
    expires_in_ms: Optional[int] = None
    """When it ends if nobody uses it; null unless it is idle."""
    parent: Optional[str] = None
    """The session that it is a branch of."""
    checkpoints: List[Checkpoint] = dataclasses.field(default_factory=list)
    """Its checkpoints."""
    shell: Optional[str] = None
    """ipython or plain."""
    isolation: Optional[Isolation] = None
    """How it is isolated."""
    reason: Optional[str] = None
    """Why it has ended."""


@dataclasses.dataclass(frozen=True)
class Variable:
    """A variable of a session."""

    name: str
    """Its name."""
    type: str
    """Its class."""
    shape: Optional[List[int]] = None
    """Of tables and arrays."""
    bytes: Optional[int] = None
    """With the contents for tables and arrays."""
    value: Optional[str] = None
    """Of one that was named."""


@dataclasses.dataclass(frozen=True)
class HistoryCell:
    """A cell that a session ran."""

    cell: int
    """Its number."""
    code: str
    """What it ran."""
    outcome: str
    """How it ended."""
    started: str
    """In UTC."""
    wall_ms: float
    """How long it took."""


@dataclasses.dataclass(frozen=True)
class History:
    """The cells of a session."""

    dropped: int
    """How many of the first are no longer on record."""
    cells: List[HistoryCell] = dataclasses.field(default_factory=list)
    """The oldest first."""


@dataclasses.dataclass(frozen=True)
class ReplayedCell:
    """A cell that ran again: how it ended, and had ended `before`; `differs` names what of the result is not as it was."""

    cell: int
    """Its number."""
    outcome: str
    """How it ended."""
    before: str
    """How it had ended, as is on record."""
    error: Optional[Json] = None
    """Why it failed."""
    differs: List[str] = dataclasses.field(default_factory=list)
    """What of the result is not as it was: outcome, stdout, stderr, value, displays or error."""
    result: Optional[Result] = None
    """Its result."""


@dataclasses.dataclass(frozen=True)
class Replay:
    """What came of a replay."""

    session: SessionInfo
    """The new session."""
    cells: List[ReplayedCell] = dataclasses.field(default_factory=list)
    """Those that were run."""
    left_out: List[int] = dataclasses.field(default_factory=list)
    """Those that were not, since they ended the session."""


@dataclasses.dataclass(frozen=True)
class StoredFile:
    """A file that is kept."""

    file_id: str
    """What it is asked for by; ids sort by the time of their making."""
    name: str
    """The last part of the name that it was given, cleaned."""
    kind: str
    """generated, table, uploaded, stdout or stderr."""
    mime: str
    """By the name's ending, else by the first bytes."""
    bytes: int
    """Its size."""
    sha256: str
    """The digest of its content."""
    created: str
    """In UTC."""
    expires: str
    """In UTC."""
    owner: Optional[str] = None
    """Whose it is."""
    conversation: Optional[str] = None
    """To which it belongs."""
    session: Optional[str] = None
    """In which it was made."""
    run_id: Optional[str] = None
    """Which run made it."""
    url: Optional[str] = None
    """A signed path. Anyone who has it can read the file until it expires."""


@dataclasses.dataclass(frozen=True)
class FilePage:
    """Some of the files."""

    files: List[StoredFile] = dataclasses.field(default_factory=list)
    """The newest first."""
    next: Optional[str] = None
    """What to give as `before` for the next page; null: there is none."""


@dataclasses.dataclass(frozen=True)
class Line:
    """A line in which the pattern was found."""

    line: int
    """Its number, from 1."""
    offset: int
    """Where its text is."""
    text: str
    """Of a long line what is around the match."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of long output: `text`, or with `grep` the `lines` in which the pattern was found."""

    result_id: str
    """Whose output it is."""
    stream: str
    """stdout or stderr."""
    offset: int
    """Where the part begins."""
    next_offset: int
    """Where to go on."""
    total_bytes: int
    """How much there is."""
    at_end: bool
    """Whether this was the last part."""
    text: Optional[str] = None
    """Whole characters."""
    lines: List[Line] = dataclasses.field(default_factory=list)
    """Those that match."""


@dataclasses.dataclass(frozen=True)
class RecordPage:
    """Some of the records."""

    records: List[Json] = dataclasses.field(default_factory=list)
    """The newest first."""
    next: Optional[str] = None
    """What to give as `before` for the next page; null: there is none."""


@dataclasses.dataclass(frozen=True)
class Tool:
    """A tool that the caller may call."""

    name: str
    """By which it is called."""
    title: str
    """A few words."""
    description: str
    """For a model."""
    inputSchema: Dict[str, Any]
    """JSON Schema of its arguments."""
    outputSchema: Dict[str, Any]
    """JSON Schema of its replies."""
    annotations: Dict[str, Any]
    """What it may do, as MCP says it."""


@dataclasses.dataclass(frozen=True)
class ToolReply(ToolReplyMethods):
    """What a tool replied, in the form of its output schema."""

    reply: Dict[str, Any]
    """As the tool's outputSchema says."""
    is_error: bool
    """Whether the tool could not do it, or its code failed."""
    exit_code: int = 0
    """0; of code that failed 1, or as results have it."""


@dataclasses.dataclass(frozen=True)
class Approval:
    """What waits for a yes, or had its answer; `raw` has all of it."""

    approval_id: str
    """Its id."""
    state: str
    """pending, approved or denied."""
    kind: Optional[str] = None
    """run, or changes of a directory."""
    conversation: Optional[str] = None
    """To which it belongs."""
    digest: Optional[str] = None
    """Of everything that the approval covers."""
    review_id: Optional[str] = None
    """Of changes: the review."""
    reason: Optional[str] = None
    """Why it was denied."""
    asked: Optional[str] = None
    """In UTC."""
    expires_in_ms: Optional[int] = None
    """How long it will still wait."""
    outcome: Optional[Json] = None
    """Of changes: what came of them."""
    description: Optional[str] = None
    """The requester's description of the code."""
    profile: Optional[str] = None
    """Under whose rules it would run."""
    environment: Optional[str] = None
    """In which interpreter."""
    name: Optional[str] = None
    """What the code calls itself."""
    workdir: Optional[Json] = None
    """The directory of the host that it would work in."""
    code: Optional[str] = None
    """What would run."""
    changes: Optional[int] = None
    """How many changes, if it is about changes."""
    session: Optional[str] = None
    """The session it is a cell of."""
    isolation: Optional[str] = None
    """The kind of sandbox."""
    lines: Optional[int] = None
    """Of the code."""
    first_line: Optional[str] = None
    """Of the code."""
    files: List[Json] = dataclasses.field(default_factory=list)
    """What it is given."""
    stdin: Optional[Json] = None
    """Standard input."""
    variables: Optional[Dict[str, str]] = None
    """Of its environment."""
    values: Optional[Dict[str, Any]] = None
    """Of its variables."""
    arguments: List[str] = dataclasses.field(default_factory=list)
    """What sys.argv has after the name."""
    limits: Optional[Dict[str, int]] = None
    """Those that were asked for."""
    raw: Json = dataclasses.field(default_factory=dict, repr=False, compare=False)
    """The whole answer."""


@dataclasses.dataclass(frozen=True)
class Review:
    """What a run would change in a work directory; `raw` has all of it."""

    review_id: str
    """Its id; that of its approval as well."""
    state: str
    """waiting, broken off, committed or dropped."""
    directory: Optional[str] = None
    """The one that would be changed."""
    conversation: Optional[str] = None
    """To which it belongs."""
    created: Optional[str] = None
    """In UTC."""
    digest: Optional[str] = None
    """Of the changes: what a yes is for."""
    files: Optional[int] = None
    """How many are changed."""
    bytes: Optional[int] = None
    """Their total size."""
    changes: List[Change] = dataclasses.field(default_factory=list)
    """Each of them."""
    raw: Json = dataclasses.field(default_factory=dict, repr=False, compare=False)
    """The whole answer."""
