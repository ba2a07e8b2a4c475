# SPDX-License-Identifier: Apache-2.0
"""Where a file whose name comes out of a sandbox may be written."""

from __future__ import annotations

import os
import pathlib
from typing import Union

from .errors import AdderError


def below(directory: Union[str, os.PathLike[str]], name: str) -> pathlib.Path:
    """The path of NAME below DIRECTORY, whose folders are made. AdderError where it leads elsewhere."""
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts):
        raise AdderError(f"a file is called {name!r}, which is no name to write to")
    target = pathlib.Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    for part in parts[:-1]:
        target = target / part
        if target.is_symlink():
            raise AdderError(f"{target} is a link")
        target.mkdir(exist_ok=True)
    return target / parts[-1]
