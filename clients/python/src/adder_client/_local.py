# SPDX-License-Identifier: Apache-2.0
"""The daemon of this user on this machine: where it answers HTTP, and how it is started.

The program `adder` says where its daemon listens, so that no rule of its configuration stands here a second time; HTTP has the
socket beside that. Without the program there is only the usual place.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import threading
from typing import Any, Dict, List, Optional

import anyio.to_thread

from .errors import ConnectionFailed

LONGEST = 60.0  # seconds for the program to answer; a start takes some tens of milliseconds
SHOWN = 2000  # characters of what it says when it fails
ADVICE = (
    "install Adder, or set ADDER_PROGRAM to the program `adder`, or ADDER_URL to the address of a server "
    "(http://..., https://... or unix:/path)"
)

_one_at_a_time = threading.Lock()  # of the threads of this program, the first starts the daemon


def found() -> str:
    """The path of the HTTP socket of the daemon, which is started where there is none. ConnectionFailed where that cannot be."""
    with _one_at_a_time:
        program = _program()
        if program is None:
            return _usual()
        status = _status(program)
        if not status["daemon"]:
            _start(program)
            status = _status(program)
        return beside(status["socket"])


async def found_awaited() -> str:
    return await anyio.to_thread.run_sync(found)


def beside(socket: str) -> str:
    """The HTTP socket of the daemon whose own is SOCKET."""
    return socket[: -len(".sock")] + ".http.sock" if socket.endswith(".sock") else socket + ".http.sock"


def silent(socket: str) -> ConnectionFailed:
    """The error where a daemon runs, and nobody answers at its HTTP socket."""
    return ConnectionFailed(
        f"the daemon of Adder on this machine does not answer HTTP at {socket}: if it is of an older version, `adder serve stop` ends it and "
        f"the next call starts a new one; else {ADVICE}"
    )


def _program() -> Optional[str]:
    named = os.environ.get("ADDER_PROGRAM")
    program = shutil.which(named or "adder")
    if named and not program:
        raise ConnectionFailed(f"ADDER_PROGRAM is {named!r}, which is no program that can be run: {ADVICE}")
    return program


def _usual() -> str:
    """The socket at its usual place; whoever runs the daemon there may have the program elsewhere."""
    user = os.geteuid() if hasattr(os, "geteuid") else None
    above = "/run" if user == 0 else os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{user}"
    socket = pathlib.Path(os.environ.get("ADDER_RUNTIME_DIR") or f"{above}/adder", "adder.http.sock")
    ours = socket.is_socket() and socket.stat().st_uid == user  # somebody else may have put one there
    if not ours:
        raise ConnectionFailed(f"there is no program `adder` on PATH, and no socket {socket}: {ADVICE}")
    return str(socket)


def _status(program: str) -> Dict[str, Any]:
    ended = _run([program, "serve", "status", "--json"])  # its exit status says whether there is a daemon
    try:
        status = json.loads(ended.stdout)
        if isinstance(status["daemon"], bool) and isinstance(status["socket"], str):
            return dict(status)
    except (ValueError, KeyError, TypeError):
        pass
    raise _failed(ended)


def _start(program: str) -> None:
    ended = _run([program, "serve", "--background"])
    if ended.returncode != 0 and not _status(program)["daemon"]:  # another program may have been first
        raise _failed(ended)


def _run(command: List[str]) -> subprocess.CompletedProcess[str]:
    local = {name: value for name, value in os.environ.items() if name not in ("ADDER_URL", "ADDER_TOKEN")}
    try:
        return subprocess.run(
            command,
            env=local,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=LONGEST,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConnectionFailed(f"cannot run {' '.join(command)}: {error}; {ADVICE}") from error


def _failed(ended: subprocess.CompletedProcess[str]) -> ConnectionFailed:
    said = (ended.stderr.strip() or ended.stdout.strip())[:SHOWN]
    return ConnectionFailed(f"`{' '.join(ended.args)}` ended with status {ended.returncode}: {said}")
