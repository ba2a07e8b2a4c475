# SPDX-License-Identifier: Apache-2.0
"""Client of Adder, which runs the Python that language models write.

from adder_client import Adder

with Adder() as adder:
    print(adder.run("6 * 7").text)
"""

from ._async.asking import AsyncApprovals, AsyncReviews, AsyncTools
from ._async.client import AsyncAdder, AsyncRun
from ._async.http import AsyncStream
from ._async.kept import AsyncFiles, AsyncRecords, AsyncResults
from ._async.session_files import AsyncSessionFiles
from ._async.sessions import AsyncSession, AsyncSessions
from ._display import Display, Picture
from ._files import Content
from ._session_files import SessionFile
from ._sync.asking import Approvals, Reviews, Tools
from ._sync.client import Adder, Run
from ._sync.http import Stream
from ._sync.kept import Files, Records, Results
from ._sync.session_files import SessionFiles
from ._sync.sessions import Session, Sessions
from ._wire import VERSION as __version__
from .errors import (
    AdderError,
    Busy,
    Cancelled,
    Conflict,
    ConnectionFailed,
    Ended,
    Forbidden,
    InvalidRequest,
    NotFound,
    ProblemError,
    RequestTimeout,
    RunFailed,
    ServerError,
    StreamBroken,
    TimedOut,
    TooLarge,
    Unauthorized,
    UnexpectedReply,
    Unsupported,
)
from .events import Displayed, Event, Finished, Missed, Progressed, Replied, Started, Stderr, Stdout
from .models import (
    Approval,
    Checkpoint,
    MadeFile,
    Result,
    Review,
    RunState,
    SessionInfo,
    StoredFile,
    Tool,
    ToolReply,
    Variable,
)

__all__ = [
    "Adder",
    "AdderError",
    "Approval",
    "Approvals",
    "AsyncAdder",
    "AsyncApprovals",
    "AsyncFiles",
    "AsyncRecords",
    "AsyncResults",
    "AsyncReviews",
    "AsyncRun",
    "AsyncSession",
    "AsyncSessionFiles",
    "AsyncSessions",
    "AsyncStream",
    "AsyncTools",
    "Busy",
    "Cancelled",
    "Checkpoint",
    "Conflict",
    "ConnectionFailed",
    "Content",
    "Display",
    "Displayed",
    "Ended",
    "Event",
    "Files",
    "Finished",
    "Forbidden",
    "InvalidRequest",
    "MadeFile",
    "Missed",
    "NotFound",
    "Picture",
    "ProblemError",
    "Progressed",
    "Records",
    "Replied",
    "RequestTimeout",
    "Result",
    "Results",
    "Review",
    "Reviews",
    "Run",
    "RunFailed",
    "RunState",
    "ServerError",
    "Session",
    "SessionFile",
    "SessionFiles",
    "SessionInfo",
    "Sessions",
    "Started",
    "Stderr",
    "Stdout",
    "StoredFile",
    "Stream",
    "StreamBroken",
    "TimedOut",
    "TooLarge",
    "Tool",
    "ToolReply",
    "Tools",
    "Unauthorized",
    "UnexpectedReply",
    "Unsupported",
    "Variable",
    "__version__",
]
