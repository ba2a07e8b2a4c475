# SPDX-License-Identifier: Apache-2.0
"""Adder's tools as tools of the OpenAI Agents SDK: `Agent(name, tools=tools(adder))`."""

from __future__ import annotations

import asyncio
import json
from typing import Any, List, Optional

from agents import FunctionTool, Tool
from agents.tool_context import ToolContext

from .._sync.client import Adder
from ._calls import Call, calls


def tools(adder: Adder, toolset: Optional[str] = None, *, conversation: Optional[str] = None) -> List[Tool]:
    """The tools of TOOLSET, or of the server's default one. Each call runs in a thread."""
    return [
        FunctionTool(tool.name, tool.description, tool.inputSchema, _invoked(call), strict_json_schema=False)
        for tool, call in calls(adder, toolset, conversation)
    ]


def _invoked(call: Call) -> Any:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        try:
            given = json.loads(arguments or "{}")
        except ValueError as error:  # the model's, so it should know
            return f"The arguments are no JSON: {error}"
        if not isinstance(given, dict):
            return "The arguments are no JSON object."
        return await asyncio.to_thread(call, **given)

    return invoke
