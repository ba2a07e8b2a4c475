# SPDX-License-Identifier: Apache-2.0
"""From options, as callers give them, to the bodies and queries of HTTP."""

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
