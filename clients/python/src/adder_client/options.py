# SPDX-License-Identifier: Apache-2.0
# Made from /openapi.json by make_models.py: change src/operations of Adder, or that.
"""What runs, cells, sessions, replays and lists take. `docs/profiles.md` of Adder has limits and profiles."""

from __future__ import annotations

from typing import Any, Mapping, Sequence, TypedDict

from ._bodies import Workdir
from ._files import FileContent as FileContent
from ._files import Files


class CellOptions(TypedDict, total=False):
    """What a cell takes."""

    name: str
    """The file name that tracebacks show; main.py where it is left out."""
    check: bool
    """Whether the code is only held against its profile's guard, and does not run. By default false."""
    approval: str
    """The approval that this was given; without it, a yes to the same counts too."""
    keep_over: int
    """Output longer than this is kept whole, also where the result has all of it. In bytes."""
    wait: bool
    """Of a cell: whether it waits for its turn while another runs. By default true."""
    stdin: str
    """Standard input; empty where it is left out."""
    limits: Mapping[str, int]
    """Limits that are not the profile's; see the configuration page for what each means."""
    tables: str
    """The format of files in which each table that is shown is kept, whole."""
    svg: bool
    """Whether figures come as SVG beside PNG. By default false."""
    values: Mapping[str, Any]
    """Variables that the code finds, with their values."""
    files: Files
    """What it is given: each with one of text, base64 and file_id."""
    description: str
    """What the code is for, in words, for who has to approve it."""
    conversation: str
    """To which it belongs, as the caller names it."""
    detach: bool
    """Whether a streamed run continues when the client disconnects, and can be followed again. By default false."""
    timeout: float
    """Seconds that the code may take; the limit wall_ms."""
    memory_mb: int
    """MiB that it may have; the limit memory_bytes."""


class RunOptions(TypedDict, total=False):
    """What a run takes."""

    name: str
    """The file name that tracebacks show; main.py where it is left out."""
    check: bool
    """Whether the code is only held against its profile's guard, and does not run. By default false."""
    approval: str
    """The approval that this was given; without it, a yes to the same counts too."""
    keep_over: int
    """Output longer than this is kept whole, also where the result has all of it. In bytes."""
    wait: bool
    """Of a cell: whether it waits for its turn while another runs. By default true."""
    stdin: str
    """Standard input; empty where it is left out."""
    session: str
    """Go on in this session, where its variables are."""
    environment: str
    """An interpreter with its packages, such as science or system."""
    packages: Sequence[str]
    """Packages that are installed for it beside those of the environment, such as polars==1.9, where the profile allows it."""
    profile: str
    """A named set of limits and rules, such as standard."""
    isolation: str
    """The kind of sandbox; none is for admins alone."""
    arguments: Sequence[str]
    """What sys.argv has after the name."""
    variables: Mapping[str, str]
    """Of its environment, by their names."""
    limits: Mapping[str, int]
    """Limits that are not the profile's; see the configuration page for what each means."""
    tables: str
    """The format of files in which each table that is shown is kept, whole."""
    svg: bool
    """Whether figures come as SVG beside PNG. By default false."""
    values: Mapping[str, Any]
    """Variables that the code finds, with their values."""
    files: Files
    """What it is given: each with one of text, base64 and file_id."""
    description: str
    """What the code is for, in words, for who has to approve it."""
    conversation: str
    """To which it belongs, as the caller names it."""
    workdir: Workdir
    """A directory of the host that is /work."""
    detach: bool
    """Whether a streamed run continues when the client disconnects, and can be followed again. By default false."""
    timeout: float
    """Seconds that the code may take; the limit wall_ms."""
    memory_mb: int
    """MiB that it may have; the limit memory_bytes."""


class SessionOptions(TypedDict, total=False):
    """What a new session takes."""

    name: str
    """A name for it; without one it has an id alone."""
    evict: bool
    """Whether the session of the owner's that was idle longest ends, where they have as many as they may; else the answer is busy then. By default false."""
    environment: str
    """An interpreter with its packages, such as science or system."""
    packages: Sequence[str]
    """Packages that are installed for it beside those of the environment, such as polars==1.9, where the profile allows it."""
    profile: str
    """A named set of limits and rules, such as standard."""
    isolation: str
    """The kind of sandbox; none is for admins alone."""
    arguments: Sequence[str]
    """What sys.argv has after the name."""
    variables: Mapping[str, str]
    """Of its environment, by their names."""
    limits: Mapping[str, int]
    """Limits that are not the profile's; see the configuration page for what each means."""
    tables: str
    """The format of files in which each table that is shown is kept, whole."""
    svg: bool
    """Whether figures come as SVG beside PNG. By default false."""
    values: Mapping[str, Any]
    """Variables that the code finds, with their values."""
    files: Files
    """What it is given: each with one of text, base64 and file_id."""
    description: str
    """What the code is for, in words, for who has to approve it."""
    conversation: str
    """To which it belongs, as the caller names it."""
    timeout: float
    """Seconds that the code may take; the limit wall_ms."""
    memory_mb: int
    """MiB that it may have; the limit memory_bytes."""


class ReplayOptions(TypedDict, total=False):
    """What a replay takes."""

    name: str
    """A name for the new session."""
    start: int
    """The first cell to run; 0: all that there are. By default 0."""
    keep_going: bool
    """Whether it goes on when a cell does not end as ok; else nothing changes then. By default true."""
    evict: bool
    """Whether the session of the owner's that was idle longest ends, where they have as many as they may; else the answer is busy then. By default false."""
    environment: str
    """An interpreter with its packages, such as science or system."""
    packages: Sequence[str]
    """Packages that are installed for it beside those of the environment, such as polars==1.9, where the profile allows it."""
    profile: str
    """A named set of limits and rules, such as standard."""
    isolation: str
    """The kind of sandbox; none is for admins alone."""
    arguments: Sequence[str]
    """What sys.argv has after the name."""
    variables: Mapping[str, str]
    """Of its environment, by their names."""
    limits: Mapping[str, int]
    """Limits that are not the profile's; see the configuration page for what each means."""
    tables: str
    """The format of files in which each table that is shown is kept, whole."""
    svg: bool
    """Whether figures come as SVG beside PNG. By default false."""
    values: Mapping[str, Any]
    """Variables that the code finds, with their values."""
    files: Files
    """What it is given: each with one of text, base64 and file_id."""
    description: str
    """What the code is for, in words, for who has to approve it."""
    conversation: str
    """To which it belongs, as the caller names it."""
    timeout: float
    """Seconds that the code may take; the limit wall_ms."""
    memory_mb: int
    """MiB that it may have; the limit memory_bytes."""


class FileFilter(TypedDict, total=False):
    """Which files are meant."""

    conversation: str
    """To which it belongs, as the caller names it."""
    session: str
    """Those that were made in this session, by its id."""
    run_id: str
    """Those that this run made."""
    name: str
    """Exactly so."""
    outputs: bool
    """Whether long output is listed as well. By default false."""
    owner: str
    """Whose (admins only); "all" for everybody's. The caller's own by default."""


class RecordFilter(TypedDict, total=False):
    """Which records are meant."""

    since: str
    """A day, a moment, or how long ago: 2h."""
    until: str
    """Likewise."""
    outcome: str
    """Exactly this one."""
    tool: str
    """With its toolset or without."""
    profile: str
    """Exactly this one."""
    environment: str
    """Exactly this one."""
    front_end: str
    """Exactly this one."""
    session: str
    """Cells of this session, by its id."""
    conversation: str
    """Runs of this conversation."""
    node: str
    """Of this machine."""
    code: str
    """Those whose code holds the text."""
    owner: str
    """Whose (admins only); "all" for everybody's. The caller's own by default."""
