# SPDX-License-Identifier: Apache-2.0
"""From options, as callers give them, to the bodies and queries of HTTP."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from typing import Any, Dict, Mapping, TypedDict

from ._files import entries


class Workdir(TypedDict, total=False):
    """A directory of the server's host that the configuration lists."""

    root: str
    path: str
    mode: str  # "read", "overlay", "review" or "rw"


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
        body["files"] = entries(body["files"])
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
