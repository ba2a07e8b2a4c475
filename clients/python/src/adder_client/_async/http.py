# SPDX-License-Identifier: Apache-2.0
"""One connection pool to one server: requests, streams of events, streams of bytes."""

from __future__ import annotations

import contextlib
import copy
import ssl
import types
from typing import Any, AsyncIterator, Dict, Mapping, Optional, Type, Union

import anyio
import httpx

from .. import _wire, errors, events, models
from .._callbacks import OnText, told_awaited
from .._decode import decode
from .._events import Parser, event_of
from .._local import found_awaited, silent

LONGEST_PAUSE = 30.0  # seconds between two tries
# Seconds before each try to resume a stream; an event starts them again.
RESUMING_PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0)


class AsyncHttp:
    """One server, and the connections to it."""

    def __init__(
        self,
        url: Optional[str],
        token: Optional[str],
        timeout: _wire.Timeout,
        retries: int,
        verify: Union[bool, ssl.SSLContext],
        transport: Optional[httpx.AsyncBaseTransport],
    ) -> None:
        self.timeout: _wire.Timeout = timeout
        self.retries: int = retries
        self._headers, self._verify, self._transport = _wire.headers(token), verify, transport
        self._client: Optional[httpx.AsyncClient] = None
        self._lender: Optional[AsyncHttp] = None
        self._user: Dict[str, str] = {}
        url = _wire.given_url(url)
        self._local = url is None and transport is None
        self.place: str = "this machine" if self._local else url or "a transport"
        if not self._local:
            self._client = self._made(url or "http://localhost")

    def for_user(self, name: str) -> AsyncHttp:
        """The same for a user of this service, over the same connections."""
        user = copy.copy(self)
        user._lender, user._user = self, _wire.user_headers(name)
        return user

    def _made(self, url: str) -> httpx.AsyncClient:
        base, unix_socket = _wire.address(url)
        options = _wire.transport_options(unix_socket, self._verify)
        return httpx.AsyncClient(
            base_url=base,
            headers=self._headers,
            transport=self._transport or httpx.AsyncHTTPTransport(**options),
        )

    async def client(self) -> httpx.AsyncClient:
        """That of the server; of this machine's, once it was found or started."""
        if self._lender:
            return await self._lender.client()
        if self._client is None:
            url = _wire.UNIX + await found_awaited()
            self._client = self._client or self._made(url)
        return self._client

    async def _sent(self, request: httpx.Request, stream: bool) -> httpx.Response:
        client = await self.client()
        try:
            return await client.send(request, stream=stream)
        except httpx.ConnectError:
            if not self._local:
                raise
        socket = await found_awaited()  # it ended meanwhile, for having nothing to do
        try:
            return await client.send(request, stream=stream)
        except httpx.ConnectError as error:
            raise silent(socket) from error

    async def send(
        self,
        method: str,
        path: str,
        *,
        body: Optional[Mapping[str, Any]] = None,
        query: Optional[Mapping[str, Any]] = None,
        files: Any = None,
        data: Optional[Mapping[str, str]] = None,
        endless: bool = False,
        stream: bool = False,
        accept: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> httpx.Response:
        """The response, whose body is not read where STREAM is. Tries again where there is no room, as often as was asked for:
        nothing ran then."""
        tries = 0
        client = await self.client()
        while True:
            request = client.build_request(
                method,
                path,
                json=body,
                params=query or None,
                files=files,
                data=data,
                timeout=_wire.timeouts(self.timeout, endless),
                headers={**self._user, **({"Accept": accept} if accept else {}), **(headers or {})},
            )
            with _wire.translated():
                response = await self._sent(request, stream)
            if response.status_code != 429 or tries >= self.retries or files is not None:
                return response
            tries += 1
            await response.aclose()
            await anyio.sleep(min(_wire.retry_after(response) or 1.0, LONGEST_PAUSE))

    async def ask(self, method: str, path: str, **options: Any) -> Dict[str, Any]:
        """The object that is answered."""
        return _wire.object_of(await self.tell(method, path, **options))

    async def tell(self, method: str, path: str, **options: Any) -> httpx.Response:
        """The response, whatever is in it; a problem is raised."""
        response = await self.send(method, path, **options)
        if not _wire.is_success(response):
            raise _wire.failed(response)
        return response

    async def run(
        self,
        path: str,
        body: Mapping[str, Any],
        on_stdout: Optional[OnText] = None,
        on_stderr: Optional[OnText] = None,
    ) -> models.Result:
        """The result of what runs at PATH; the callbacks are told what it writes."""
        if on_stdout or on_stderr:
            return await self._run_telling(path, body, {events.Stdout: on_stdout, events.Stderr: on_stderr})
        response = await self.send("POST", path, body=body, endless=True)
        if not _wire.is_success(response) and not _wire.is_result(response):
            raise _wire.failed(response)
        return decode(models.Result, _wire.object_of(response))

    async def _run_telling(
        self, path: str, body: Mapping[str, Any], callbacks: Mapping[type, Optional[OnText]]
    ) -> models.Result:
        async with AsyncStream(self, path, body) as stream:
            async for event in stream:
                callback = callbacks.get(type(event))
                if callback and isinstance(event, (events.Stdout, events.Stderr)):
                    await told_awaited(callback, event.text)
            return stream.result

    @contextlib.asynccontextmanager
    async def opened(self, method: str, path: str, **options: Any) -> AsyncIterator[httpx.Response]:
        """A response whose body is read piece by piece; it is closed at the end of the block."""
        response = await self.send(method, path, stream=True, **options)
        try:
            if not _wire.is_success(response):
                with _wire.translated():
                    await response.aread()
                raise _wire.failed(response)
            yield response
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        """Closes all connections, where they are its own."""
        if self._client is not None and self._lender is None:
            await self._client.aclose()


class AsyncStream:
    """Events of a run, as they come. Closing it before its end cancels the run, and so does leaving its `with`.

    A run that is detached or in the background goes on. Its stream connects again when the connection breaks, and goes on after the
    last event that came.
    """

    def __init__(
        self, http: AsyncHttp, path: str, body: Optional[Mapping[str, Any]] = None, after: int = 0
    ) -> None:
        self._http, self._path = http, path
        self._body = None if body is None else {**body, "stream": True}
        """Of the request that begins the run; without one, PATH is where its events are."""
        self._events: Optional[AsyncIterator[events.Event]] = None
        self._result: Optional[models.Result] = None
        self.last_event_id: int = after
        """The number of the last event that came; 0 before the first."""

    @property
    def result(self) -> models.Result:
        """The run's result, once its last event has come."""
        if self._result is None:
            raise errors.AdderError("the run has no result yet: read its events to the end")
        return self._result

    def _opened(self) -> contextlib.AbstractAsyncContextManager[httpx.Response]:
        accept = "text/event-stream, application/problem+json"
        if self._body is not None:
            return self._http.opened("POST", self._path, body=self._body, endless=True, accept=accept)
        after = {"Last-Event-ID": str(self.last_event_id)}
        return self._http.opened("GET", self._path, headers=after, endless=True, accept=accept)

    def _notice(self, event: Optional[events.Event], number: int) -> None:
        self.last_event_id = number
        if isinstance(event, events.Started) and self._body and self._body.get("detach"):
            self._path, self._body = _wire.path("v1", "runs", event.run_id, "events"), None
        if isinstance(event, events.Finished):
            self._result = event.result

    async def _read(self) -> AsyncIterator[events.Event]:
        pauses = iter(RESUMING_PAUSES)
        while True:
            broken: errors.ConnectionFailed = errors.StreamBroken(
                "the server ended the stream before the run had ended"
            )
            parser, last = Parser(self.last_event_id), False
            try:
                async with self._opened() as response:
                    with _wire.translated():
                        async for piece in response.aiter_bytes():
                            for name, data in parser.feed(piece):
                                event = event_of(name, data)
                                self._notice(event, parser.last_id)
                                if event is None:
                                    continue
                                pauses = iter(RESUMING_PAUSES)
                                last = isinstance(event, (events.Finished, events.Replied, events.Ended))
                                yield event
            except errors.ConnectionFailed as error:
                broken = error
            if last:
                return
            pause = next(pauses, None)
            if self._body is not None or pause is None:
                raise broken
            await anyio.sleep(pause)

    def __aiter__(self) -> AsyncStream:
        return self

    async def __anext__(self) -> events.Event:
        if self._events is None:
            self._events = self._read()
        return await self._events.__anext__()

    async def until_done(self) -> models.Result:
        """Reads what is left, and gives the result."""
        async for _ in self:
            pass
        return self.result

    async def aclose(self) -> None:
        """Closes the connection, which cancels the run unless it has ended, or goes on without it."""
        if self._events is not None:
            await self._events.aclose()  # type: ignore[attr-defined]

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[types.TracebackType],
    ) -> None:
        await self.aclose()
