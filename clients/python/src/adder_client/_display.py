# SPDX-License-Identifier: Apache-2.0
"""What Adder answers, as dataclasses.

Each is made from the JSON of a reply by `decode`. A member that is not known here is left out, so that a newer server can
say more; all of it is in `raw` where a class has that.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import pathlib
import typing
from typing import Any, Dict, List, Mapping, Optional, Type, TypeVar, Union

from .errors import RunFailed, UnexpectedReply

Json = Dict[str, Any]
T = TypeVar("T")

EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
    "image/gif": "gif",
    "image/webp": "webp",
}


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture that code showed."""

    mime: str
    data: bytes = dataclasses.field(repr=False)

    @property
    def extension(self) -> str:
        return EXTENSIONS.get(self.mime, "bin")

    def save(self, path: Union[str, pathlib.Path]) -> pathlib.Path:
        path = pathlib.Path(path)
        path.write_bytes(self.data)
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        """A notebook shows it as the picture that it is."""
        if self.mime == "image/svg+xml":
            return {self.mime: self.data.decode()}
        return {self.mime: base64.b64encode(self.data).decode()}


@dataclasses.dataclass(frozen=True)
class Display:
    """What code displayed: the same thing in several forms, by MIME type. Pictures are in base64, but for SVG."""

    data: Mapping[str, Any]

    @property
    def text(self) -> str:
        """For models and terminals: a table as Markdown, else plain text."""
        for mime in ("text/markdown", "text/plain"):
            if mime in self.data:
                return str(self.data[mime])
        return ""

    @property
    def picture(self) -> Optional[Picture]:
        for mime, value in self.data.items():
            if mime == "image/svg+xml" and isinstance(value, str):
                return Picture(mime, value.encode())
            if mime.startswith("image/") and isinstance(value, str):
                return Picture(mime, base64.b64decode(value))
        return None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        return dict(self.data)


@dataclasses.dataclass(frozen=True)
class RunError:
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
    host: str
    port: int
    connections: int
    in_bytes: int
    out_bytes: int


@dataclasses.dataclass(frozen=True)
class MadeFile:
    """A file that code made or changed. With `file_id` it can be had from `files`."""

    name: str
    bytes: int
    file_id: Optional[str] = None
    mime: Optional[str] = None
    sha256: Optional[str] = None
    url: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Change:
    """What a run changed in a work directory."""

    path: str
    change: str
    type: Optional[str] = None
    type_before: Optional[str] = None
    bytes: Optional[int] = None
    bytes_before: Optional[int] = None
    mode: Optional[str] = None
    mode_before: Optional[str] = None
    target: Optional[str] = None
    diff: Optional[str] = None
    truncated: bool = False
    binary: bool = False


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
    level: int
    missing: List[str] = dataclasses.field(default_factory=list)
    backend: str = "native"
    container: Optional[Container] = None


@dataclasses.dataclass(frozen=True)
class Result:
    """What became of a run: docs/results.md of Adder says what each member is."""

    run_id: str
    outcome: str
    exit_code: Optional[int]
    stdout: str
    stderr: str
    usage: Usage
    schema_version: int = 1
    signal: Optional[str] = None
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    truncated: bool = False
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
    limits: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    isolation: Optional[Isolation] = None
    raw: Json = dataclasses.field(default_factory=dict, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"

    @property
    def text(self) -> Optional[str]:
        """The value of the last expression as plain text; None where there is none."""
        return None if self.value is None else str(self.value.data.get("text/plain", self.value.text))

    @property
    def pictures(self) -> List[Picture]:
        found = (display.picture for display in self.displays)
        return [picture for picture in found if picture is not None]

    def save_pictures(self, directory: Union[str, pathlib.Path] = ".") -> List[pathlib.Path]:
        """Writes them to picture-1.png and so on, and returns the paths."""
        return [
            picture.save(pathlib.Path(directory) / f"picture-{number}.{picture.extension}")
            for number, picture in enumerate(self.pictures, 1)
        ]

    def check(self) -> Result:
        """The result itself, or RunFailed where the outcome is another than ok."""
        if not self.ok:
            raise RunFailed(self)
        return self


# ---- what a run tells while it is under way ----


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


@dataclasses.dataclass(frozen=True)
class RunState:
    """A run as it is: `result` while it is held, `record` where records are kept."""

    run_id: str
    state: str
    started: Optional[str] = None
    result: Optional[Result] = None
    record: Optional[Json] = None

    @property
    def ended(self) -> bool:
        return self.state == "ended"


@dataclasses.dataclass(frozen=True)
class RunningRun:
    run_id: str
    state: str
    started: Optional[str] = None
    owner: Optional[str] = None
    conversation: Optional[str] = None
    session: Optional[str] = None
    front_end: Optional[str] = None


# ---- sessions ----


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    checkpoint_id: str
    cell: int
    variables: int
    created: str
    name: Optional[str] = None
    memory_bytes: Optional[int] = None
    warnings: List[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class SessionInfo:
    session_id: str
    owner: str
    environment: str
    profile: str
    state: str
    cells: int
    variables: int
    created: str
    name: Optional[str] = None
    idle_ms: Optional[int] = None
    expires_in_ms: Optional[int] = None
    memory_bytes: Optional[int] = None
    parent: Optional[str] = None
    checkpoints: List[Checkpoint] = dataclasses.field(default_factory=list)
    shell: Optional[str] = None
    isolation: Optional[Isolation] = None
    reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Variable:
    name: str
    type: str
    shape: Optional[str] = None
    bytes: Optional[int] = None
    value: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class HistoryCell:
    cell: int
    code: str
    outcome: str
    started: str
    wall_ms: float


@dataclasses.dataclass(frozen=True)
class History:
    cells: List[HistoryCell]
    dropped: int = 0


@dataclasses.dataclass(frozen=True)
class ReplayedCell:
    """A cell that ran again: how it ended, and had ended `before`; `differs` names what of the result is not as it was."""

    cell: int
    outcome: str
    before: str
    error: Optional[Json]
    differs: List[str]
    result: Optional[Result] = None  # not in events, which had it already


@dataclasses.dataclass(frozen=True)
class Replay:
    session: SessionInfo
    cells: List[ReplayedCell]
    left_out: List[int]


# ---- files, output, records ----


@dataclasses.dataclass(frozen=True)
class StoredFile:
    """A file that is kept."""

    file_id: str
    name: str
    kind: str
    bytes: int
    mime: Optional[str] = None
    sha256: Optional[str] = None
    created: Optional[str] = None
    expires: Optional[str] = None
    owner: Optional[str] = None
    conversation: Optional[str] = None
    session: Optional[str] = None
    run_id: Optional[str] = None
    url: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class FilePage:
    files: List[StoredFile]
    next: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Line:
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
    records: List[Json]
    next: Optional[str] = None


# ---- tools and approvals ----


@dataclasses.dataclass(frozen=True)
class Tool:
    name: str
    description: str
    inputSchema: Json
    title: Optional[str] = None
    outputSchema: Optional[Json] = None
    annotations: Json = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ToolReply:
    """What a tool replied, in the form of its output schema."""

    reply: Json
    is_error: bool
    exit_code: int = 0

    @property
    def approval_id(self) -> Optional[str]:
        """What somebody has to say yes to before the tool runs."""
        value = self.reply.get("approval_id")
        return value if isinstance(value, str) else None

    @property
    def text(self) -> str:
        """As one text, for a model."""
        return json.dumps(self.reply, ensure_ascii=False)


@dataclasses.dataclass(frozen=True)
class Approval:
    """What waits for a yes, or had its answer; `raw` has all of it."""

    approval_id: str
    state: str
    raw: Json = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Review:
    """What a run would change in a work directory; `raw` has all of it."""

    review_id: str
    state: str
    changes: List[Change] = dataclasses.field(default_factory=list)
    raw: Json = dataclasses.field(default_factory=dict, repr=False)


# ---- from JSON ----

_hints: Dict[type, Dict[str, Any]] = {}


def _value(kind: Any, value: Any, where: str) -> Any:
    if kind is Display:
        return Display(value)
    if dataclasses.is_dataclass(kind):
        return decode(typing.cast(Type[Any], kind), value)
    origin = typing.get_origin(kind)
    if origin is Union:  # Optional
        return None if value is None else _value(typing.get_args(kind)[0], value, where)
    if origin is list:
        if not isinstance(value, list):
            raise UnexpectedReply(f"{where} is no list")
        item = typing.get_args(kind)[0]
        return [_value(item, each, where) for each in value]
    return value


def decode(kind: Type[T], reply: Any) -> T:
    """REPLY, an object, as an instance of the dataclass KIND."""
    if not isinstance(reply, dict):
        raise UnexpectedReply(f"an object was expected for {kind.__name__}, not {type(reply).__name__}")
    if kind not in _hints:
        _hints[kind] = typing.get_type_hints(kind)
    hints = _hints[kind]
    known: Dict[str, Any] = {
        name: _value(hints[name], value, f"{kind.__name__}.{name}")
        for name, value in reply.items()
        if name in hints and name != "raw"
    }
    if "raw" in hints:
        known["raw"] = reply
    try:
        return kind(**known)
    except TypeError as error:
        raise UnexpectedReply(f"a reply lacks something: {error}") from None
