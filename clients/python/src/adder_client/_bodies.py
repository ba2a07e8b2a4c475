# SPDX-License-Identifier: Apache-2.0
"""What runs, cells and sessions take, each option said once. `docs/profiles.md` of Adder has limits and profiles."""

from __future__ import annotations

import os
from collections.abc import Mapping as AnyMapping
from typing import Any, Dict, List, Mapping, Sequence, Tuple, TypedDict, Union

from .models import StoredFile

FileContent = Union[str, bytes, "os.PathLike[str]", StoredFile]
"""Text, bytes, a path that is read here, or a file that is kept by the server."""

Files = Union[Mapping[str, FileContent], Sequence[Union["os.PathLike[str]", StoredFile]]]
"""By the name that the code opens, or as a list: then each has its own name. A name below /tmp/ lies there."""


class Workdir(TypedDict, total=False):
    """A directory of the server's host that the configuration lists."""

    root: str
    path: str
    mode: str  # "read", "overlay", "review" or "rw"


class CellOptions(TypedDict, total=False):
    timeout: float  # seconds that the code may take; the limit wall_ms
    limits: Mapping[str, int]  # others, by name
    files: Files
    stdin: str
    values: Mapping[str, Any]  # variables that the code has, by name; any JSON
    tables: str  # keep shown tables as "csv", "parquet" or "json"
    svg: bool
    check: bool  # only held against the guard of the profile
    name: str  # of the code, in tracebacks
    description: str
    approval: str  # the id of the yes that it has
    conversation: str
    keep_over: int  # keep output that is longer than so many bytes
    wait: bool  # for a session that is busy


class _Settled(TypedDict, total=False):
    """What a run has of its own, and what is settled when a session is made."""

    environment: str
    profile: str
    isolation: str
    memory_mb: int
    arguments: Sequence[str]
    variables: Mapping[str, str]  # of the environment


class RunOptions(CellOptions, _Settled, total=False):
    session: str  # name or id
    workdir: Workdir


class SessionOptions(_Settled, total=False):
    name: str
    timeout: float
    limits: Mapping[str, int]
    files: Files
    tables: str
    svg: bool
    description: str
    conversation: str


class ReplayOptions(TypedDict, total=False):
    name: str
    start: int  # the first cell to run again
    keep_going: bool
    environment: str
    profile: str
    isolation: str
    timeout: float
    memory_mb: int
    limits: Mapping[str, int]
    variables: Mapping[str, str]
    files: Files


class FileFilter(TypedDict, total=False):
    conversation: str
    session: str
    run_id: str
    name: str
    outputs: bool
    owner: str


class RecordFilter(TypedDict, total=False):
    since: str
    until: str
    outcome: str
    tool: str
    profile: str
    environment: str
    front_end: str
    session: str
    conversation: str
    node: str
    code: str
    owner: str


def _content(name: str, content: FileContent) -> Dict[str, Any]:
    if isinstance(content, StoredFile):
        place, found, below = name.rpartition("/tmp/") if name.startswith("/tmp/") else ("", "", name)
        entry: Dict[str, Any] = {"name": below, "file_id": content.file_id}
        return {**entry, "place": "tmp"} if found else entry
    if isinstance(content, str):
        return {"name": name, "text": content}
    data = content if isinstance(content, bytes) else _read(content)
    try:
        return {"name": name, "text": data.decode()}
    except UnicodeDecodeError:
        import base64

        return {"name": name, "base64": base64.b64encode(data).decode()}


def _read(path: os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - any PathLike
        return file.read()


def _named(files: Files) -> List[Tuple[str, FileContent]]:
    if isinstance(files, Mapping):
        return list(files.items())
    return [(each.name if isinstance(each, StoredFile) else os.path.basename(each), each) for each in files]  # noqa: PTH119


def body_of(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The members of a body that say what OPTIONS do. What is None is left out."""
    body = {name: value for name, value in options.items() if value is not None}
    limits = dict(body.pop("limits", {}))
    if "timeout" in body:
        limits["wall_ms"] = round(body.pop("timeout") * 1000)
    if "memory_mb" in body:
        limits["memory_bytes"] = body.pop("memory_mb") << 20
    if limits:
        body["limits"] = limits
    if "files" in body:
        body["files"] = [_content(name, content) for name, content in _named(body["files"])]
    if not isinstance(body.get("arguments", {}), AnyMapping):  # of a run; those of a tool are an object
        body["arguments"] = list(body["arguments"])
    if "start" in body:
        body["from"] = body.pop("start")
    return body


def query_of(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The same of a query."""
    shown = {True: "true", False: "false"}
    return {
        name: shown[value] if isinstance(value, bool) else value
        for name, value in options.items()
        if value is not None
    }
