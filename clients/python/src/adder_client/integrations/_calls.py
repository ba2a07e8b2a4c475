# SPDX-License-Identifier: Apache-2.0
"""What all frameworks have in common: functions that call Adder's tools."""

from __future__ import annotations

import uuid
from typing import Callable, Iterator, Optional, Tuple

from .._sync.client import Adder
from ..models import Tool

Call = Callable[..., str]


def calls(adder: Adder, toolset: Optional[str], conversation: Optional[str]) -> Iterator[Tuple[Tool, Call]]:
    """Each tool of TOOLSET, with a function of its arguments that returns what a model reads. What one tool leaves for another, such as
    a loaded file, is CONVERSATION's: a new one where it is None."""
    conversation = conversation or str(uuid.uuid4())
    for tool in adder.tools.list(toolset):
        yield tool, _call(adder, tool.name, toolset, conversation)


def _call(adder: Adder, name: str, toolset: Optional[str], conversation: str) -> Call:
    def call(**arguments: object) -> str:
        return adder.tools.call(name, arguments, toolset=toolset, conversation=conversation).for_model()

    return call
