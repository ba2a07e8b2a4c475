# SPDX-License-Identifier: Apache-2.0
"""One connection pool to one server: requests, streams of events, streams of bytes."""

from __future__ import annotations

import contextlib
import ssl
import types
from typing import Any, AsyncIterator, Dict, Mapping, Optional, Type, Union

import anyio
import httpx

from .. import _wire, errors, events, models
from .._decode import decode
from .._events import Parser, event_of

LONGEST_PAUSE = 30.0  # seconds between two tries


class AsyncHttp:
    def __init__(
        self,
        url: Optional[str],
        token: Optional[str],
        timeout: _wire.Timeout,
        retries: int,
        verify: Union[bool, ssl.SSLContext],
        transport: Optional[httpx.AsyncBaseTransport],
    ) -> None:
        self.url, unix_socket = _wire.address(url)
        self.place = f"unix:{unix_socket}" if unix_socket else self.url
        self.timeout, self.retries = timeout, retries
        self.client = httpx.AsyncClient(
            base_url=self.url,
            headers=_wire.headers(token),
            transport=transport or httpx.AsyncHTTPTransport(**_wire.transport_options(unix_socket, verify)),
        )

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
        while True:
            request = self.client.build_request(
                method,
                path,
                json=body,
                params=query or None,
                files=files,
                data=data,
                timeout=_wire.timeouts(self.timeout, endless),
                headers={**({"Accept": accept} if accept else {}), **(headers or {})},
            )
            with _wire.translated():
                response = await self.client.send(request, stream=stream)
            if response.status_code != 429 or tries >= self.retries or files is not None:
                return response
            tries += 1
            await response.aclose()
            await anyio.sleep(min(_wire.retry_after(response) or 1.0, LONGEST_PAUSE))

    async def ask(self, method: str, path: str, **options: Any) -> Dict[str, Any]:
        """The object that is answered."""
        return _wire.object_of(await self.tell(method, path, **options))

    async def tell(self, method: str, path: str, **options: Any) -> httpx.Response:
        response = await self.send(method, path, **options)
        if not _wire.is_success(response):
            raise _wire.failed(response)
        return response

    async def run(self, path: str, body: Mapping[str, Any]) -> models.Result:
        response = await self.send("POST", path, body=body, endless=True)
        if not _wire.is_success(response) and not _wire.is_result(response):
            raise _wire.failed(response)
        return decode(models.Result, _wire.object_of(response))

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
        await self.client.aclose()


class AsyncStream:
    """Events of a run, as they come. Closing it before its end cancels the run; so does leaving its `with`."""

    def __init__(self, http: AsyncHttp, path: str, body: Mapping[str, Any]) -> None:
        self._http, self._path, self._body = http, path, {**body, "stream": True}
        self._events: Optional[AsyncIterator[events.Event]] = None
        self._result: Optional[models.Result] = None

    @property
    def result(self) -> models.Result:
        """The run's result, once its last event has come."""
        if self._result is None:
            raise errors.AdderError("the run has no result yet: read its events to the end")
        return self._result

    async def _read(self) -> AsyncIterator[events.Event]:
        parser = Parser()
        last = False
        async with self._http.opened(
            "POST",
            self._path,
            body=self._body,
            endless=True,
            accept="text/event-stream, application/problem+json",
        ) as response:
            with _wire.translated():
                async for piece in response.aiter_bytes():
                    for name, data in parser.feed(piece):
                        event = event_of(name, data)
                        if event is None:
                            continue
                        if isinstance(event, events.Finished):
                            self._result = event.result
                        last = isinstance(event, (events.Finished, events.Replied, events.Ended))
                        yield event
        if not last:
            raise errors.StreamBroken("the server ended the stream before the run had ended")

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
