# SPDX-License-Identifier: Apache-2.0
# Made from _async by make_sync.py: change that.
"""Files in the directory of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional

from .. import models
from .._session_files import LIST, READ, SessionFile, content_of, listed
from .kept import Files, Source

if TYPE_CHECKING:
    from .sessions import Session


class SessionFiles:
    """The files that the code of a session finds and leaves in its directory. Each call is a cell of the session: it waits for its turn,
    counts among the cells, and what the profile does not allow raises `RunFailed`."""

    def __init__(self, session: Session, files: Files) -> None:
        self._session, self._files = session, files

    def put(self, source: Source, name: Optional[str] = None) -> models.StoredFile:
        """Puts a file into the session's directory as NAME, which may have directories. SOURCE is a path, bytes, or what is open for
        reading bytes; it is sent as it is read, and may be of any length that the server keeps."""
        stored = self._files.put(source, name)
        (self._session.run("", files={name or stored.name: stored})).check()
        return stored

    def get(self, name: str) -> bytes:
        """The content of the file NAME, whose base64 has at most the bytes of the limit `output_bytes`. FileNotFoundError where it
        is not there, OSError where it cannot be read."""
        return content_of(self._print(READ.format(name=name)), name)

    def list(self) -> List[SessionFile]:
        """All files in the directory and below it, at most 10000."""
        return listed(self._print(LIST))

    def _print(self, code: str) -> str:
        """What CODE prints, all of it, where a result has only the beginning and the end."""
        pieces: List[str] = []
        (self._session.run(code, on_stdout=pieces.append)).check()
        return "".join(pieces)
