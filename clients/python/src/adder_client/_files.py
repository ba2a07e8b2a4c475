# SPDX-License-Identifier: Apache-2.0
"""Files that code is given: from what callers say to what the body of a request says. Everything is read, and every mistake found,
before anything is sent."""

from __future__ import annotations

import base64
import dataclasses
import os
import pathlib
import stat
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence as AnySequence
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .models import MadeFile, StoredFile

LARGEST = 256 << 20
"""Bytes of all files of one request together: no server can be configured to accept more in a body."""

LONGEST_PATH = 4096  # of Linux; a longer text is no path

CHOICES = (
    'a string in files=[...] is a path; content is Content(b"...", name="...") or a dict of name to bytes'
)


@dataclasses.dataclass(frozen=True)
class Content:
    """The content of a file: bytes, or text that is sent as UTF-8. In a list it needs the `name` that the code opens."""

    data: Union[bytes, str] = dataclasses.field(repr=False)
    name: Optional[str] = None


FileContent = Union[str, bytes, "os.PathLike[str]", Content, StoredFile, MadeFile]
"""A value of a dict: text, bytes, `Content`, a path object that is read here, or a file that the server keeps."""

Files = Union[
    Mapping[str, FileContent], Sequence[Union[str, "os.PathLike[str]", Content, StoredFile, MadeFile]]
]
"""A dict by the names that the code opens, or a list of files with names of their own, where a string is a path. The name of a file
that the server keeps may begin with /tmp/; it lies there then."""

Source = Union[bytes, pathlib.Path, StoredFile, MadeFile]


def entries(files: Any) -> List[Dict[str, Any]]:
    """FILES as a body says them. TypeError or ValueError where they make no sense, OSError where one cannot be read."""
    if isinstance(files, AnyMapping):
        named = [(name, _of_dict(name, content)) for name, content in files.items()]
    elif isinstance(files, AnySequence) and not isinstance(files, (str, bytes, bytearray)):
        named = [_of_list(file) for file in files]
    else:
        raise TypeError(f"files is a list or a dict, not {type(files).__name__}: {CHOICES}")
    taken = set()
    room = LARGEST
    made = []
    for name, source in named:
        if name in taken:
            raise ValueError(f"two of files are called {name!r}: a dict gives each a name of its own")
        taken.add(name)
        if isinstance(source, (StoredFile, MadeFile)):
            made.append(_kept(name, source))
            continue
        data = source if isinstance(source, bytes) else _read(source, room)
        room -= len(data)
        if room < 0:
            raise _too_much()
        made.append(_sent(name, data))
    return made


def _of_dict(name: Any, content: Any) -> Source:
    if not isinstance(name, str):
        raise TypeError(f"a name in files is a string, not {type(name).__name__}")
    if isinstance(content, str):
        if _is_path(content):
            raise ValueError(
                f"files[{name!r}] is the text {content!r}, and a file of that path exists: "
                "pathlib.Path(...) sends the file, Content(...) sends the text"
            )
        return content.encode()
    return _source(f"files[{name!r}]", content)


def _of_list(file: Any) -> Tuple[str, Source]:
    if isinstance(file, (str, os.PathLike)):
        path = pathlib.Path(file)
        return path.name, path
    if isinstance(file, (bytes, bytearray, memoryview)):
        raise TypeError(f"bytes in a list have no name: {CHOICES}")
    if isinstance(file, Content) and not file.name:
        raise ValueError('Content in a list needs a name: Content(b"...", name="...")')
    source = _source("an item of files", file)
    return file.name, source


def _source(what: str, content: Any) -> Source:
    if isinstance(content, Content):
        content = content.data.encode() if isinstance(content.data, str) else content.data
    if isinstance(content, (bytearray, memoryview)):
        content = bytes(content)
    if isinstance(content, os.PathLike):
        content = pathlib.Path(content)
    if not isinstance(content, (bytes, pathlib.Path, StoredFile, MadeFile)):
        raise TypeError(f"{what} is of type {type(content).__name__}: {CHOICES}")
    return content


def _is_path(text: str) -> bool:
    """Whether TEXT is the absolute path of a file here."""
    return len(text) < LONGEST_PATH and pathlib.Path(text).is_absolute() and os.path.isfile(text)  # noqa: PTH113 - no errors


def _read(path: pathlib.Path, room: int) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{str(path)!r} in files is no regular file")
        if status.st_size > room:
            raise _too_much()
        with path.open("rb") as file:
            return file.read(room + 1)  # it may grow meanwhile
    except OSError as error:
        raise type(error)(error.errno, f"{error.strerror} ({CHOICES})", str(path)) from None


def _too_much() -> ValueError:
    return ValueError(
        f"files of one request are {LARGEST >> 20} MiB at most: put large ones in first with files.put(path), "
        "and give what it returns"
    )


def _kept(name: str, file: Union[StoredFile, MadeFile]) -> Dict[str, Any]:
    if file.file_id is None:
        raise ValueError(f"the file {file.name!r} was not kept: the warnings of its result say why")
    entry: Dict[str, Any] = {"name": name, "file_id": file.file_id}
    if name.startswith("/tmp/"):
        entry.update(name=name[len("/tmp/") :], place="tmp")
    return entry


def _sent(name: str, data: bytes) -> Dict[str, Any]:
    """As text where that is as exact: JSON of the server has no zero bytes."""
    try:
        if b"\0" not in data:
            return {"name": name, "text": data.decode()}
    except UnicodeDecodeError:
        pass
    return {"name": name, "base64": base64.b64encode(data).decode()}
