# SPDX-License-Identifier: Apache-2.0
"""What requests and replies have in common, whether they are waited for or awaited."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import socket
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote

import httpx

from . import errors

VERSION = "0.1.0"
UNIX = "unix:"

Timeout = Optional[float]


def given_url(url: Optional[str]) -> Optional[str]:
    """URL, else $ADDER_URL; None: the daemon of this user on this machine is meant."""
    return url or os.environ.get("ADDER_URL") or None


def address(url: str) -> Tuple[str, Optional[str]]:
    """The base URL, and the socket where it is a unix socket."""
    if url.startswith(UNIX):
        path = url[len(UNIX) :]
        return "http://localhost", path[2:] if path.startswith("//") else path
    return url.rstrip("/"), None


def headers(token: Optional[str]) -> Dict[str, str]:
    token = token or os.environ.get("ADDER_TOKEN")
    said = {"User-Agent": f"adder-client/{VERSION}", "Accept": "application/json, application/problem+json"}
    return {**said, "Authorization": f"Bearer {token}"} if token else said


def user_headers(name: str) -> Dict[str, str]:
    """Of a request for the user NAME of a service."""
    if not re.fullmatch(r"[A-Za-z0-9_\-.@:+]{1,128}", name):
        raise ValueError(
            f"{name!r} cannot name a user: 1 to 128 letters, digits and _ - . @ : + are needed (a digest, where it is another text)"
        )
    return {"Adder-On-Behalf-Of": name}


def socket_options() -> List[Tuple[int, int, int]]:
    """A run may be silent for long, so it has no time-out here; a host that is gone is noticed by the kernel."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


def transport_options(unix_socket: Optional[str], verify: Any) -> Dict[str, Any]:
    if unix_socket is not None:
        return {"uds": unix_socket}
    options: Dict[str, Any] = {"verify": verify}
    # httpx has them since 0.25; Debian 12 has 0.23.
    if "socket_options" in inspect.signature(httpx.HTTPTransport).parameters:
        options["socket_options"] = socket_options()
    return options


def timeouts(seconds: Timeout, endless: bool) -> httpx.Timeout:
    """For connecting, sending and waiting for a place; for what comes as well, but where code runs meanwhile."""
    return httpx.Timeout(seconds, read=None if endless else seconds)


def path(*parts: Union[str, int]) -> str:
    """Each part is one of the path, whatever is in it."""
    return "/" + "/".join(
        quote(str(part), safe="") if part not in (".", "..") else "%2E" * len(str(part)) for part in parts
    )


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """What goes wrong on the way, in this package's words."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise errors.RequestTimeout(f"no answer in time: {error or type(error).__name__}") from error
    except httpx.UnsupportedProtocol as error:
        raise errors.ConnectionFailed(
            "the URL of Adder (ADDER_URL) begins with http://, https:// or unix:"
        ) from error
    except httpx.ConnectError as error:
        hint = "no server there? ADDER_URL says where it is; without it, this machine's own is asked"
        raise errors.ConnectionFailed(f"{error} ({hint})") from error
    except httpx.TransportError as error:
        raise errors.ConnectionFailed(str(error) or type(error).__name__) from error


def retry_after(response: httpx.Response) -> Optional[float]:
    try:
        return float(response.headers["Retry-After"])
    except (KeyError, ValueError):
        return None


def is_success(response: httpx.Response) -> bool:
    return 200 <= response.status_code < 300


def is_result(response: httpx.Response) -> bool:
    """A run for which there was no room has a result too, with the status that says so."""
    return response.status_code == 429 and response.headers.get("Content-Type", "").startswith(
        "application/json"
    )


def failed(response: httpx.Response) -> errors.ProblemError:
    """The error that RESPONSE, which was read, tells."""
    problem: Mapping[str, Any] = {}
    if "json" in response.headers.get("Content-Type", ""):
        with contextlib.suppress(ValueError):
            parsed = response.json()
            problem = parsed if isinstance(parsed, dict) else {}
    return errors.problem_error(response.status_code, problem, retry_after(response))


def object_of(response: httpx.Response) -> Dict[str, Any]:
    try:
        value = response.json()
    except ValueError:
        raise errors.UnexpectedReply("an answer that is no JSON: is that Adder?") from None
    if not isinstance(value, dict):
        raise errors.UnexpectedReply("an answer that is no object: is that Adder?")
    return value
