# SPDX-License-Identifier: Apache-2.0
# Made from _async by make_sync.py: change that.
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
from .http import Http, Stream
from .kept import Files
from .session_files import SessionFiles

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _checkpoint(which: Union[str, models.Checkpoint]) -> str:
    return which.checkpoint_id if isinstance(which, models.Checkpoint) else which


class Session:
    """One session. As the subject of `with` it is ended afterwards."""

    def __init__(self, http: Http, info: models.SessionInfo) -> None:
        self._http = http
        self.info: models.SessionInfo = info
        """The session as it was when it was last asked for."""
        self.files: SessionFiles = SessionFiles(self, Files(http))
        """The files in its directory."""

    @property
    def id(self) -> str:
        """Its id, which names it for `get` as its name does."""
        return self.info.session_id

    def _path(self, *parts: str) -> str:
        return path("v1", "sessions", self.id, *parts)

    def _change(
        self, method: str, *parts: str, body: Optional[Mapping[str, Any]] = None
    ) -> models.SessionInfo:
        self.info = decode(models.SessionInfo, self._http.ask(method, self._path(*parts), body=body))
        return self.info

    def run(
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
        return self._http.run(
            self._path("cells"), {"code": code, **body_of(options)}, on_stdout, on_stderr
        )

    def stream(self, code: str, **options: Unpack[CellOptions]) -> Stream:
        """The next cell, event by event. It begins with the first event that is asked for."""
        return Stream(self._http, self._path("cells"), {"code": code, **body_of(options)})

    def refresh(self) -> models.SessionInfo:
        """Asks how it is."""
        return self._change("GET")

    def variables(self, names: Optional[Sequence[str]] = None) -> List[models.Variable]:
        """All, without values; or those of NAMES, with them."""
        query = query_of({"names": ",".join(names) if names is not None else None})
        reply = self._http.ask("GET", self._path("variables"), query=query)
        return [decode(models.Variable, each) for each in reply["variables"]]

    def compare(self, other: Union[str, Session]) -> models.Comparison:
        """How its variables and those of OTHER, a session, its name or its id, differ."""
        body = {"with": other if isinstance(other, str) else other.id}
        return decode(models.Comparison, self._http.ask("POST", self._path("compare"), body=body))

    def rows(
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
        return decode(models.TableRows, self._http.ask("GET", self._path("rows"), query=query))

    def complete(self, code: str, cursor: Optional[int] = None) -> models.Completion:
        """What may stand at CURSOR, by default the end, in CODE. A session that is at work answers at once, `busy`."""
        body = {"code": code, "cursor": len(code) if cursor is None else cursor}
        return decode(models.Completion, self._http.ask("POST", self._path("complete"), body=body))

    def inspect(self, code: str, cursor: Optional[int] = None) -> models.Inspection:
        """The object whose name stands at CURSOR, by default the end, in CODE, or that is called there."""
        body = {"code": code, "cursor": len(code) if cursor is None else cursor}
        return decode(models.Inspection, self._http.ask("POST", self._path("inspect"), body=body))

    def history(self, results: bool = False) -> models.History:
        """The code of its cells, and how they ended; with RESULTS also what came of each, as long as that is kept."""
        query = query_of({"results": results or None})
        return decode(models.History, self._http.ask("GET", self._path("history"), query=query))

    def rename(self, name: Optional[str]) -> models.SessionInfo:
        """Gives it the name NAME, or none."""
        return self._change("POST", "rename", body={"name": name})

    def reset(self) -> models.SessionInfo:
        """Forgets all variables; files stay."""
        return self._change("POST", "reset")

    def interrupt(self) -> models.SessionInfo:
        """KeyboardInterrupt in the cell that runs."""
        return self._change("POST", "interrupt")

    def checkpoint(self, name: Optional[str] = None) -> models.Checkpoint:
        """Keeps the session as it is now, for `rollback` and `branch`."""
        reply = self._http.ask("POST", self._path("checkpoints"), body=body_of({"name": name}))
        return decode(models.Checkpoint, reply)

    def checkpoints(self) -> List[models.Checkpoint]:
        """All that there are."""
        reply = self._http.ask("GET", self._path("checkpoints"))
        return [decode(models.Checkpoint, each) for each in reply["checkpoints"]]

    def rollback(self, checkpoint: Union[str, models.Checkpoint]) -> models.SessionInfo:
        """Variables, files and history are again what they were at CHECKPOINT, which stays."""
        return self._change("POST", "rollback", body={"checkpoint": _checkpoint(checkpoint)})

    def forget(self, checkpoint: Union[str, models.Checkpoint]) -> models.SessionInfo:
        """Drops CHECKPOINT."""
        return self._change("DELETE", "checkpoints", _checkpoint(checkpoint))

    def branch(
        self, count: int = 1, checkpoint: Union[str, models.Checkpoint, None] = None
    ) -> List[Session]:
        """COUNT sessions that go on from what this one is, or was at CHECKPOINT."""
        body = body_of({"count": count, "checkpoint": _checkpoint(checkpoint) if checkpoint else None})
        reply = self._http.ask("POST", self._path("branches"), body=body)
        return [Session(self._http, decode(models.SessionInfo, each)) for each in reply["sessions"]]

    def replay(self, **options: Unpack[ReplayOptions]) -> models.Replay:
        """Its cells again, in a new session, which stays."""
        reply = self._http.ask("POST", self._path("replay"), body=body_of(options), endless=True)
        return decode(models.Replay, reply)

    def end(self) -> models.SessionInfo:
        """Ends it. Its variables and files are gone; a cell that runs is cancelled."""
        return self._change("DELETE")

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[types.TracebackType],
    ) -> None:
        self.end()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.info.name or self.id} {self.info.state}>"


class Sessions:
    """The caller's sessions."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def new(self, **options: Unpack[SessionOptions]) -> Session:
        """A new one, which stays until it is ended or was not used for long. `Conflict` where its name is taken."""
        reply = self._http.ask("POST", "/v1/sessions", body=body_of(options), endless=True)
        return Session(self._http, decode(models.SessionInfo, reply))

    def get(self, session: str) -> Session:
        """By its name, its id, or the first characters of the id."""
        reply = self._http.ask("GET", path("v1", "sessions", session))
        return Session(self._http, decode(models.SessionInfo, reply))

    def ensure(self, name: str, /, **options: Unpack[SessionOptions]) -> Session:
        """The session called NAME: the one that is there, as it is, or a new one with OPTIONS. Callers that ask at the same time get the
        same one."""
        found = self._named(name)
        if found:
            return found
        try:
            options["name"] = name
            return self.new(**options)
        except ProblemError:
            found = self._named(name)  # somebody else was first
            if not found:
                raise
            return found

    def _named(self, name: str) -> Optional[Session]:
        try:
            found = self.get(name)
        except (NotFound, Ended):
            return None
        live = found.info.name == name and found.info.state != "ended"  # a name may look like another's id
        return found if live else None

    def list(self) -> List[models.SessionInfo]:
        """Those that live, and those that ended not long ago."""
        reply = self._http.ask("GET", "/v1/sessions")
        return [decode(models.SessionInfo, each) for each in reply["sessions"]]
