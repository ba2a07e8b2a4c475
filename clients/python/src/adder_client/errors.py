# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, each kind a class.

What Adder answers with a status other than success is a problem document (RFC 9457) and becomes a `ProblemError`. That code
failed is no error of a request: `run` returns a result, and `Result.check` raises `RunFailed` for who wants that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Type

if TYPE_CHECKING:
    from .models import Result


class AdderError(Exception):
    """The base of all of them."""


class ConnectionFailed(AdderError):
    """The server could not be reached, or went away."""


class RequestTimeout(ConnectionFailed):
    """It did not answer in time."""


class UnexpectedReply(AdderError):
    """An answer that is none of Adder's."""


class StreamBroken(ConnectionFailed):
    """A stream of events ended before its last event."""


class RunFailed(AdderError):
    """Code did not end well; `result` has all that is known."""

    def __init__(self, result: Result) -> None:
        said = f": {result.error.type}: {result.error.message}" if result.error else ""
        super().__init__(f"the run ended as {result.outcome}{said}")
        self.result = result


class ProblemError(AdderError):
    """A problem document. `code` says what it is in one word, `detail` in a sentence."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: Optional[float] = None) -> None:
        self.status = status
        self.problem: Dict[str, Any] = dict(problem)
        self.title: str = str(problem.get("title") or f"HTTP status {status}")
        self.detail: str = str(problem.get("detail") or self.title)
        code = problem.get("code")
        self.code: Optional[str] = code if isinstance(code, str) else None
        self.retry_after = retry_after  # seconds, where the server says when to try again
        super().__init__(self.detail)


class InvalidRequest(ProblemError):
    """Something about the request is wrong; nothing ran."""


class TooLarge(InvalidRequest):
    """The request is larger than the server takes: long files go in first, with `files.put`."""

    def __str__(self) -> str:
        return f"{self.detail}; put long files in first with files.put(path), and give what it returns"


class Unauthorized(ProblemError):
    """No token, or one that is not known any more."""


class Forbidden(ProblemError):
    """Policy says no to who asks."""


class NotFound(ProblemError):
    """There is no such thing, or it is another owner's."""


class Conflict(ProblemError):
    """It is not in a state in which that can be done."""


class Ended(ProblemError):
    """The session has ended; `detail` says why."""


class Busy(ProblemError):
    """No room at present, or too many requests: try again after `retry_after` seconds."""


class Cancelled(ProblemError):
    """It was cancelled."""


class ServerError(ProblemError):
    """A fault of the server's or its host's."""


class Unsupported(ProblemError):
    """The server's host, or the session, cannot do that."""


class TimedOut(ServerError):
    """It took the server too long."""


_classes: Dict[int, Type[ProblemError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Ended,
    413: TooLarge,
    422: Unsupported,
    429: Busy,
    499: Cancelled,
    503: Busy,
    504: TimedOut,
}


def problem_error(
    status: int, problem: Mapping[str, Any], retry_after: Optional[float] = None
) -> ProblemError:
    """The exception of its kind for a problem document that came with STATUS."""
    kind = _classes.get(status, InvalidRequest if status < 500 else ServerError)
    return kind(status, problem, retry_after)
