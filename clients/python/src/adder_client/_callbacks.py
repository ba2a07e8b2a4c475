# SPDX-License-Identifier: Apache-2.0
"""Functions of callers that are told what code writes while it runs."""

from __future__ import annotations

import inspect
from typing import Any, Callable

OnText = Callable[[str], Any]


async def told_awaited(callback: OnText, text: str) -> None:
    """CALLBACK may be a coroutine function."""
    said = callback(text)
    if inspect.isawaitable(said):
        await said


def told(callback: OnText, text: str) -> None:
    said = callback(text)
    if inspect.iscoroutine(said):
        said.close()
        raise TypeError("only AsyncAdder takes a coroutine function for on_stdout and on_stderr")
