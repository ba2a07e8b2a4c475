# SPDX-License-Identifier: Apache-2.0
"""The client itself."""

from __future__ import annotations

import contextlib
import ssl
import types
from typing import TYPE_CHECKING, AsyncIterator, List, Optional, Type, Union

import httpx

from .. import _wire, models
from .._bodies import body_of, query_of
from .._callbacks import OnText
from .._decode import decode
from .._wire import path
from ..options import RunOptions, SessionOptions
from .asking import AsyncApprovals, AsyncReviews, AsyncTools
from .http import AsyncHttp, AsyncStream
from .kept import AsyncFiles, AsyncRecords, AsyncResults
from .sessions import AsyncSession, AsyncSessions

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncRun:
    """A run in the background. It goes on without this program."""

    def __init__(self, http: AsyncHttp, state: models.RunState) -> None:
        self._http = http
        self.state: models.RunState = state
        """The run as it was when it was last asked for."""

    @property
    def id(self) -> str:
        """Its id, by which `get_run` finds it again."""
        return self.state.run_id

    async def refresh(self, wait: float = 0) -> models.RunState:
        """Asks how it is; waits for its end so many seconds."""
        query = query_of({"wait_ms": round(wait * 1000) or None})
        reply = await self._http.ask("GET", path("v1", "runs", self.id), query=query, endless=wait > 0)
        self.state = decode(models.RunState, reply)
        return self.state

    async def wait(self) -> models.RunState:
        """Until it has ended."""
        while not self.state.ended:
            await self.refresh(wait=60)
        return self.state

    def stream(self, *, after: int = 0) -> AsyncStream:
        """Its events, live: all that the server holds, or those after the one numbered AFTER (`last_event_id` of an earlier stream).
        Leaving it ends nothing."""
        return AsyncStream(self._http, path("v1", "runs", self.id, "events"), after=after)

    async def cancel(self) -> models.RunState:
        """Ends it."""
        self.state = decode(models.RunState, await self._http.ask("DELETE", path("v1", "runs", self.id)))
        return self.state


class AsyncAdder:
    """Adder on this machine, or a server by its URL: `http://...`, `https://...`, or `unix:/path/of/a/socket`.

    URL and TOKEN are those of $ADDER_URL and $ADDER_TOKEN where they are not given. Without a URL the daemon of this user is asked, and
    started with the first request where none runs: the program is `adder` on PATH, or $ADDER_PROGRAM. TIMEOUT, in seconds, is for the server to
    answer; while code runs there is none, since the code's own limits end it. RETRIES: how often to try again where there is no
    room. TRANSPORT is httpx's, for who needs a proxy or certificates of their own.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        timeout: _wire.Timeout = 30.0,
        retries: int = 0,
        verify: Union[bool, ssl.SSLContext] = True,
        transport: Optional[httpx.AsyncBaseTransport] = None,
    ) -> None:
        self._use(AsyncHttp(url, token, timeout, retries, verify, transport))

    def _use(self, http: AsyncHttp) -> None:
        self._http = http
        self.sessions: AsyncSessions = AsyncSessions(self._http)
        """Interpreters that stay."""
        self.files: AsyncFiles = AsyncFiles(self._http)
        """Files that the server keeps."""
        self.results: AsyncResults = AsyncResults(self._http)
        """Long output."""
        self.records: AsyncRecords = AsyncRecords(self._http)
        """What was run."""
        self.tools: AsyncTools = AsyncTools(self._http)
        """Tools for models."""
        self.approvals: AsyncApprovals = AsyncApprovals(self._http)
        """What waits for a yes before it runs."""
        self.reviews: AsyncReviews = AsyncReviews(self._http)
        """Changes to a work directory that wait for a yes."""

    def for_user(self, name: str) -> AsyncAdder:
        """A client for a user of this service: sessions, files, records and approvals are the user's own, and so are the limits.

        The token must have been made with --acts-for-users; a daemon on this machine needs none. It shares the connections of this
        client, which closes them. NAME: up to 128 letters, digits and `_-.@:+`.
        """
        user = object.__new__(type(self))
        user._use(self._http.for_user(name))
        return user

    async def run(
        self,
        code: str,
        *,
        on_stdout: Optional[OnText] = None,
        on_stderr: Optional[OnText] = None,
        **options: Unpack[RunOptions],
    ) -> models.Result:
        """Runs CODE to its end. An outcome other than ok is no exception: see `Result.check`.

        ON_STDOUT and ON_STDERR are called with each piece of text as it is written. An exception of theirs cancels the run.
        """
        return await self._http.run("/v1/runs", {"code": code, **body_of(options)}, on_stdout, on_stderr)

    def stream(self, code: str, **options: Unpack[RunOptions]) -> AsyncStream:
        """Runs CODE, event by event. It begins with the first event that is asked for. With `detach` the run goes on when this
        program goes away, and the stream survives broken connections."""
        return AsyncStream(self._http, "/v1/runs", {"code": code, **body_of(options)})

    async def start(self, code: str, **options: Unpack[RunOptions]) -> AsyncRun:
        """Begins to run CODE in the background."""
        body = {"code": code, "background": True, **body_of(options)}
        reply = await self._http.ask("POST", "/v1/runs", body=body, endless=True)
        return AsyncRun(self._http, decode(models.RunState, reply))

    async def get_run(self, run_id: str) -> AsyncRun:
        """A run that was begun earlier, by this program or another."""
        reply = await self._http.ask("GET", path("v1", "runs", run_id))
        return AsyncRun(self._http, decode(models.RunState, reply))

    async def running(self) -> List[models.RunningRun]:
        """Those that are under way."""
        reply = await self._http.ask("GET", "/v1/runs")
        return [decode(models.RunningRun, each) for each in reply["runs"]]

    async def export_table(
        self, run_id: str, number: int = 1, *, format: str = "csv", name: Optional[str] = None
    ) -> models.StoredFile:
        """A table that a run showed, whole, as a file."""
        where = path("v1", "runs", run_id, "tables", number)
        reply = await self._http.ask(
            "POST", where, body=body_of({"format": format, "name": name}), endless=True
        )
        return decode(models.StoredFile, reply)

    async def table_rows(
        self,
        run_id: str,
        number: int = 1,
        *,
        offset: int = 0,
        limit: int = 100,
        sort: Optional[str] = None,
        descending: bool = False,
        filter: Optional[str] = None,
    ) -> models.TableRows:
        """A page of the rows of a table that a run showed."""
        query = query_of(
            {
                "offset": offset,
                "limit": limit,
                "sort": sort,
                "descending": descending or None,
                "filter": filter,
            }
        )
        where = path("v1", "runs", run_id, "tables", number, "rows")
        return decode(models.TableRows, await self._http.ask("GET", where, query=query, endless=True))

    @contextlib.asynccontextmanager
    async def session(self, **options: Unpack[SessionOptions]) -> AsyncIterator[AsyncSession]:
        """A new session for a `with`, ended after it."""
        made = await self.sessions.new(**options)
        async with made:
            yield made

    async def aclose(self) -> None:
        """Closes the connections to the server. The end of a `with` does the same."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncAdder:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[types.TracebackType],
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._http.place}>"
