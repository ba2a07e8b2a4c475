# SPDX-License-Identifier: Apache-2.0
"""Sessions: interpreters that stay between cells."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Type, Union

from .. import models
from .._bodies import body_of, query_of
from .._callbacks import OnText
from .._decode import decode
from .._wire import path
from ..errors import Ended, NotFound, ProblemError
from ..options import CellOptions, ReplayOptions, SessionOptions
from .http import AsyncHttp, AsyncStream
from .kept import AsyncFiles
from .session_files import AsyncSessionFiles

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _checkpoint(which: Union[str, models.Checkpoint]) -> str:
    return which.checkpoint_id if isinstance(which, models.Checkpoint) else which


class AsyncSession:
    """One session. As the subject of `with` it is ended afterwards."""

    def __init__(self, http: AsyncHttp, info: models.SessionInfo) -> None:
        self._http = http
        self.info: models.SessionInfo = info
        """The session as it was when it was last asked for."""
        self.files: AsyncSessionFiles = AsyncSessionFiles(self, AsyncFiles(http))
        """The files in its directory."""

    @property
    def id(self) -> str:
        """Its id, which names it for `get` as its name does."""
        return self.info.session_id

    def _path(self, *parts: str) -> str:
        return path("v1", "sessions", self.id, *parts)

    async def _change(
        self, method: str, *parts: str, body: Optional[Mapping[str, Any]] = None
    ) -> models.SessionInfo:
        self.info = decode(models.SessionInfo, await self._http.ask(method, self._path(*parts), body=body))
        return self.info

    async def run(
        self,
        code: str,
        *,
        on_stdout: Optional[OnText] = None,
        on_stderr: Optional[OnText] = None,
        **options: Unpack[CellOptions],
    ) -> models.Result:
        """The next cell, to its end. An outcome other than ok is no exception: see `Result.check`.

        ON_STDOUT and ON_STDERR are called with each piece of text as it is written. An exception of theirs cancels the cell.
        """
        return await self._http.run(
            self._path("cells"), {"code": code, **body_of(options)}, on_stdout, on_stderr
        )

    def stream(self, code: str, **options: Unpack[CellOptions]) -> AsyncStream:
        """The next cell, event by event. It begins with the first event that is asked for."""
        return AsyncStream(self._http, self._path("cells"), {"code": code, **body_of(options)})

    async def refresh(self) -> models.SessionInfo:
        """Asks how it is."""
        return await self._change("GET")

    async def variables(self, names: Optional[Sequence[str]] = None) -> List[models.Variable]:
        """All, without values; or those of NAMES, with them."""
        query = query_of({"names": ",".join(names) if names is not None else None})
        reply = await self._http.ask("GET", self._path("variables"), query=query)
        return [decode(models.Variable, each) for each in reply["variables"]]

    async def compare(self, other: Union[str, AsyncSession]) -> models.Comparison:
        """How its variables and those of OTHER, a session, its name or its id, differ."""
        body = {"with": other if isinstance(other, str) else other.id}
        return decode(models.Comparison, await self._http.ask("POST", self._path("compare"), body=body))

    async def rows(
        self,
        name: str,
        offset: int = 0,
        limit: int = 100,
        sort: Optional[str] = None,
        descending: bool = False,
        filter: Optional[str] = None,
    ) -> models.TableRows:
        """A page of the rows of the table NAME, a variable."""
        query = query_of(
            {
                "name": name,
                "offset": offset,
                "limit": limit,
                "sort": sort,
                "descending": descending or None,
                "filter": filter,
            }
        )
        return decode(models.TableRows, await self._http.ask("GET", self._path("rows"), query=query))

    async def complete(self, code: str, cursor: Optional[int] = None) -> models.Completion:
        """What may stand at CURSOR, by default the end, in CODE. A session that is at work answers at once, `busy`."""
        body = {"code": code, "cursor": len(code) if cursor is None else cursor}
        return decode(models.Completion, await self._http.ask("POST", self._path("complete"), body=body))

    async def inspect(self, code: str, cursor: Optional[int] = None) -> models.Inspection:
        """The object whose name stands at CURSOR, by default the end, in CODE, or that is called there."""
        body = {"code": code, "cursor": len(code) if cursor is None else cursor}
        return decode(models.Inspection, await self._http.ask("POST", self._path("inspect"), body=body))

    async def history(self, results: bool = False) -> models.History:
        """The code of its cells, and how they ended; with RESULTS also what came of each, as long as that is kept."""
        query = query_of({"results": results or None})
        return decode(models.History, await self._http.ask("GET", self._path("history"), query=query))

    async def rename(self, name: Optional[str]) -> models.SessionInfo:
        """Gives it the name NAME, or none."""
        return await self._change("POST", "rename", body={"name": name})

    async def reset(self) -> models.SessionInfo:
        """Forgets all variables; files stay."""
        return await self._change("POST", "reset")

    async def interrupt(self) -> models.SessionInfo:
        """KeyboardInterrupt in the cell that runs."""
        return await self._change("POST", "interrupt")

    async def checkpoint(self, name: Optional[str] = None) -> models.Checkpoint:
        """Keeps the session as it is now, for `rollback` and `branch`."""
        reply = await self._http.ask("POST", self._path("checkpoints"), body=body_of({"name": name}))
        return decode(models.Checkpoint, reply)

    async def checkpoints(self) -> List[models.Checkpoint]:
        """All that there are."""
        reply = await self._http.ask("GET", self._path("checkpoints"))
        return [decode(models.Checkpoint, each) for each in reply["checkpoints"]]

    async def rollback(self, checkpoint: Union[str, models.Checkpoint]) -> models.SessionInfo:
        """Variables, files and history are again what they were at CHECKPOINT, which stays."""
        return await self._change("POST", "rollback", body={"checkpoint": _checkpoint(checkpoint)})

    async def forget(self, checkpoint: Union[str, models.Checkpoint]) -> models.SessionInfo:
        """Drops CHECKPOINT."""
        return await self._change("DELETE", "checkpoints", _checkpoint(checkpoint))

    async def branch(
        self, count: int = 1, checkpoint: Union[str, models.Checkpoint, None] = None
    ) -> List[AsyncSession]:
        """COUNT sessions that go on from what this one is, or was at CHECKPOINT."""
        body = body_of({"count": count, "checkpoint": _checkpoint(checkpoint) if checkpoint else None})
        reply = await self._http.ask("POST", self._path("branches"), body=body)
        return [AsyncSession(self._http, decode(models.SessionInfo, each)) for each in reply["sessions"]]

    async def replay(self, **options: Unpack[ReplayOptions]) -> models.Replay:
        """Its cells again, in a new session, which stays."""
        reply = await self._http.ask("POST", self._path("replay"), body=body_of(options), endless=True)
        return decode(models.Replay, reply)

    async def end(self) -> models.SessionInfo:
        """Ends it. Its variables and files are gone; a cell that runs is cancelled."""
        return await self._change("DELETE")

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[types.TracebackType],
    ) -> None:
        await self.end()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.info.name or self.id} {self.info.state}>"


class AsyncSessions:
    """The caller's sessions."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def new(self, **options: Unpack[SessionOptions]) -> AsyncSession:
        """A new one, which stays until it is ended or was not used for long. `Conflict` where its name is taken."""
        reply = await self._http.ask("POST", "/v1/sessions", body=body_of(options), endless=True)
        return AsyncSession(self._http, decode(models.SessionInfo, reply))

    async def get(self, session: str) -> AsyncSession:
        """By its name, its id, or the first characters of the id."""
        reply = await self._http.ask("GET", path("v1", "sessions", session))
        return AsyncSession(self._http, decode(models.SessionInfo, reply))

    async def ensure(self, name: str, /, **options: Unpack[SessionOptions]) -> AsyncSession:
        """The session called NAME: the one that is there, as it is, or a new one with OPTIONS. Callers that ask at the same time get the
        same one."""
        found = await self._named(name)
        if found:
            return found
        try:
            options["name"] = name
            return await self.new(**options)
        except ProblemError:
            found = await self._named(name)  # somebody else was first
            if not found:
                raise
            return found

    async def _named(self, name: str) -> Optional[AsyncSession]:
        try:
            found = await self.get(name)
        except (NotFound, Ended):
            return None
        live = found.info.name == name and found.info.state != "ended"  # a name may look like another's id
        return found if live else None

    async def list(self) -> List[models.SessionInfo]:
        """Those that live, and those that ended not long ago."""
        reply = await self._http.ask("GET", "/v1/sessions")
        return [decode(models.SessionInfo, each) for each in reply["sessions"]]
