# SPDX-License-Identifier: Apache-2.0
"""Adder's tools as tools of pydantic-ai: `Agent(model, tools=tools(adder))`."""

from __future__ import annotations

from typing import Any, List, Optional

from pydantic_ai import Tool

from .._sync.client import Adder
from ._calls import calls


def tools(
    adder: Adder, toolset: Optional[str] = None, *, conversation: Optional[str] = None
) -> List[Tool[Any]]:
    """The tools of TOOLSET, or of the server's default one. Each call runs in a thread."""
    return [
        Tool.from_schema(call, name=tool.name, description=tool.description, json_schema=tool.inputSchema)
        for tool, call in calls(adder, toolset, conversation)
    ]
