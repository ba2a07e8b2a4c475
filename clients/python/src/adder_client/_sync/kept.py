# SPDX-License-Identifier: Apache-2.0
# Made from _async by make_sync.py: change that.
"""What is kept: files, long output, records."""

from __future__ import annotations

import os
import pathlib
import tempfile
from typing import IO, TYPE_CHECKING, Any, Iterator, Dict, List, Optional, Union

from .. import models
from .._bodies import query_of
from .._decode import decode
from .._saving import make_folders, plan, put
from .._wire import path
from ..options import FileFilter, RecordFilter
from .http import Http

if TYPE_CHECKING:
    from typing_extensions import Unpack

FileId = Union[str, models.StoredFile, models.MadeFile]
Source = Union[str, bytes, "os.PathLike[str]", IO[bytes]]


def _id(file: FileId) -> str:
    found = file if isinstance(file, str) else file.file_id
    if found is None:
        raise ValueError("the file was not kept: the result's warnings say why")
    return found


class Files:
    """Files that the server keeps: what was put in, and what runs made."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def put(
        self, source: Source, name: Optional[str] = None, *, conversation: Optional[str] = None
    ) -> models.StoredFile:
        """SOURCE is a path, bytes, or a file that is open for reading bytes; it is sent as it is read. NAME is the path's last part where it
        is not given."""
        if isinstance(source, (str, os.PathLike)):
            with open(source, "rb") as file:  # noqa: PTH123, ASYNC230
                return self._put(file, name or os.path.basename(source), conversation)  # noqa: PTH119
        if name is None:
            raise ValueError("bytes, and what is open, need a name")
        return self._put(source, name, conversation)

    def _put(
        self, content: Union[bytes, IO[bytes]], name: str, conversation: Optional[str]
    ) -> models.StoredFile:
        reply = self._http.ask(
            "POST",
            "/v1/files",
            files=[("file", (name, content))],
            data={"conversation": conversation} if conversation else None,
            endless=True,
        )
        return decode(models.StoredFile, reply["files"][0])

    def page(
        self, *, limit: int = 100, before: Optional[str] = None, **which: Unpack[FileFilter]
    ) -> models.FilePage:
        """The newest first. `next` of a page is `before` of the one that follows."""
        query = query_of({"limit": limit, "before": before, **which})
        return decode(models.FilePage, self._http.ask("GET", "/v1/files", query=query))

    def list(self, **which: Unpack[FileFilter]) -> Iterator[models.StoredFile]:
        """All of them, page by page."""
        before: Optional[str] = None
        while True:
            page = self.page(before=before, **which)
            for file in page.files:
                yield file
            if page.next is None:
                return
            before = page.next

    def show(self, file: FileId) -> models.StoredFile:
        """All that is known of a file."""
        return decode(models.StoredFile, self._http.ask("GET", path("v1", "files", _id(file))))

    def get(self, file: FileId) -> bytes:
        """The whole content. For what may be long, `stream` and `save` hold little of it at a time."""
        return (self._http.tell("GET", path("v1", "files", _id(file), "content"), accept="*/*")).content

    def stream(self, file: FileId, start: int = 0) -> Iterator[bytes]:
        """The content from the byte START on, in pieces."""
        headers = {"Range": f"bytes={start}-"} if start else {}
        where = path("v1", "files", _id(file), "content")
        with self._http.opened("GET", where, accept="*/*", headers=headers) as response:
            for piece in response.iter_bytes():
                yield piece

    def save(
        self, file: FileId, target: Union[str, os.PathLike[str]], force: bool = True
    ) -> pathlib.Path:
        """To the file TARGET, which is whole or as it was before; FileExistsError where it is there and FORCE is False."""
        path_ = pathlib.Path(target)
        descriptor, beside = tempfile.mkstemp(prefix=".adder-", dir=path_.parent)
        try:
            with open(descriptor, "wb") as out:  # noqa: PTH123, ASYNC230
                for piece in self.stream(file):
                    out.write(piece)
            put(beside, path_, force)
        except BaseException:
            os.unlink(beside)  # noqa: PTH108
            raise
        return path_

    def save_all(
        self, result: models.Result, directory: Union[str, os.PathLike[str]] = ".", force: bool = False
    ) -> List[pathlib.Path]:
        """All files that a run made, below DIRECTORY. Their names come out of the sandbox: none is written through links, as a hidden
        file or over what is there, unless FORCE is True. AdderError, before anything is written, where one cannot be."""
        kept = [made for made in result.files if made.file_id is not None]
        paths = plan(directory, [made.name for made in kept], force)
        for made, path_ in zip(kept, paths):
            make_folders(directory, path_)
            self.save(made, path_, force)
        return paths

    def delete(self, file: FileId) -> None:
        """Removes a file. Runs that have it keep it."""
        self._http.tell("DELETE", path("v1", "files", _id(file)))


class Results:
    """The whole output of runs whose reply was cut, by its `result_id`."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def part(
        self,
        result_id: str,
        stream: str = "stdout",
        *,
        offset: int = 0,
        limit: int = 16384,
        grep: Optional[str] = None,
    ) -> models.Part:
        """LIMIT bytes of it from OFFSET on; with GREP, a regular expression, the lines that match."""
        query = query_of({"stream": stream, "offset": offset, "limit": limit, "grep": grep})
        return decode(models.Part, self._http.ask("GET", path("v1", "results", result_id), query=query))

    def read(self, result_id: str, stream: str = "stdout") -> Iterator[str]:
        """All of it, in pieces."""
        offset = 0
        while True:
            part = self.part(result_id, stream, offset=offset, limit=1 << 20)
            if part.text:
                yield part.text
            if part.at_end:
                return
            offset = part.next_offset


class Records:
    """Who ran what, and how it ended. A record is a dict: docs/records.md of Adder says what is in it."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def page(
        self, *, limit: int = 50, before: Optional[str] = None, **which: Unpack[RecordFilter]
    ) -> models.RecordPage:
        """The newest first. `next` of a page is `before` of the one that follows."""
        query = query_of({"limit": limit, "before": before, **which})
        return decode(models.RecordPage, self._http.ask("GET", "/v1/records", query=query))

    def list(self, **which: Unpack[RecordFilter]) -> Iterator[Dict[str, Any]]:
        """The newest first, page by page."""
        before: Optional[str] = None
        while True:
            page = self.page(before=before, **which)
            for record in page.records:
                yield record
            if page.next is None:
                return
            before = page.next

    def show(self, run_id: str) -> Dict[str, Any]:
        """The record of one run."""
        return self._http.ask("GET", path("v1", "records", run_id))

    def stats(self, **which: Unpack[RecordFilter]) -> Dict[str, Any]:
        """How many there are, by outcome and owner, and what they used."""
        return self._http.ask("GET", "/v1/records/stats", query=query_of(which))

    def export(self, format: str = "jsonl", **which: Unpack[RecordFilter]) -> Iterator[bytes]:
        """JSON lines or CSV, the oldest first, in pieces."""
        query = query_of({"format": format, **which})
        with self._http.opened(
            "GET", "/v1/records/export", query=query, accept="*/*", endless=True
        ) as response:
            for piece in response.iter_bytes():
                yield piece
