# SPDX-License-Identifier: Apache-2.0
"""Adder's tools as tools of LangChain, for `create_agent`, `bind_tools` and LangGraph."""

from __future__ import annotations

from typing import List, Optional

from langchain_core.tools import BaseTool, StructuredTool

from .._sync.client import Adder
from ._calls import calls


def tools(
    adder: Adder, toolset: Optional[str] = None, *, conversation: Optional[str] = None
) -> List[BaseTool]:
    """The tools of TOOLSET, or of the server's default one. Awaited, each runs in a thread."""
    return [
        StructuredTool.from_function(
            call, name=tool.name, description=tool.description, args_schema=tool.inputSchema
        )
        for tool, call in calls(adder, toolset, conversation)
    ]
