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
        self.state = state  # as it was when it was last asked for

    @property
    def id(self) -> str:
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

    async def cancel(self) -> models.RunState:
        self.state = decode(models.RunState, await self._http.ask("DELETE", path("v1", "runs", self.id)))
        return self.state


class AsyncAdder:
    """A server, by its URL: `http://...`, `https://...`, or `unix:/path/of/a/socket`.

    URL and TOKEN are those of $ADDER_URL and $ADDER_TOKEN where they are not given. TIMEOUT, in seconds, is for the server to
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
        self._http = AsyncHttp(url, token, timeout, retries, verify, transport)
        self.sessions = AsyncSessions(self._http)
        self.files = AsyncFiles(self._http)
        self.results = AsyncResults(self._http)
        self.records = AsyncRecords(self._http)
        self.tools = AsyncTools(self._http)
        self.approvals = AsyncApprovals(self._http)
        self.reviews = AsyncReviews(self._http)

    async def run(self, code: str, **options: Unpack[RunOptions]) -> models.Result:
        """Runs CODE to its end. An outcome other than ok is no exception: see `Result.check`."""
        return await self._http.run("/v1/runs", {"code": code, **body_of(options)})

    def stream(self, code: str, **options: Unpack[RunOptions]) -> AsyncStream:
        """Runs CODE, event by event. It begins with the first event that is asked for."""
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

    @contextlib.asynccontextmanager
    async def session(self, **options: Unpack[SessionOptions]) -> AsyncIterator[AsyncSession]:
        """A new session for a `with`, ended after it."""
        made = await self.sessions.new(**options)
        async with made:
            yield made

    async def aclose(self) -> None:
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
