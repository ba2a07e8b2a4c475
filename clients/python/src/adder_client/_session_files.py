# SPDX-License-Identifier: Apache-2.0
"""What a session's files are, and the cells that tell of them. The sandbox answers, so its answers are checked."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import errno
import json
import os
from typing import Any, List

from .errors import UnexpectedReply

MOST = 10_000  # files of a list


@dataclasses.dataclass(frozen=True)
class SessionFile:
    """A file in the directory of a session. Code chose its `name`, which is relative to the directory."""

    name: str
    bytes: int


# What a session has afterwards is what it had before: no name of these stays.
LIST = f"""
def _adder_list():
    import itertools, json, os
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names)
    print(json.dumps([(path[2:], os.lstat(path).st_size) for path in itertools.islice(paths, {MOST})]))
try:
    _adder_list()
finally:
    del _adder_list
"""

READ = """
def _adder_read(name):
    import base64, json
    try:
        with open(name, "rb") as file:
            print(json.dumps({{"content": base64.b64encode(file.read()).decode()}}))
    except OSError as error:
        print(json.dumps({{"errno": error.errno}}))
try:
    _adder_read({name!r})
finally:
    del _adder_read
"""


def listed(printed: str) -> List[SessionFile]:
    files = _parsed(printed)
    well = isinstance(files, list) and all(
        isinstance(each, list) and list(map(type, each)) == [str, int] for each in files
    )
    if not well:
        raise UnexpectedReply("the session answered with no list of files")
    return [SessionFile(name, length) for name, length in files]


def content_of(printed: str, name: str) -> bytes:
    """OSError of its kind where the file could not be read."""
    reply = _parsed(printed)
    number = reply.get("errno") if isinstance(reply, dict) else None
    if isinstance(number, int) and number in errno.errorcode:
        raise OSError(number, os.strerror(number), name)
    try:
        return base64.b64decode(reply["content"], validate=True)
    except (TypeError, KeyError, binascii.Error):
        raise UnexpectedReply("the session answered with no content of a file") from None


def _parsed(printed: str) -> Any:
    try:
        return json.loads(printed)
    except ValueError:
        raise UnexpectedReply("the session answered with no JSON: what else prints there?") from None
