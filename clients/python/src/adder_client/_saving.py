# SPDX-License-Identifier: Apache-2.0
"""Where files whose names come out of a sandbox may be written."""

from __future__ import annotations

import os
import pathlib
from typing import Dict, Iterable, List, Union

from .errors import AdderError


def fit(part: str) -> str:
    """PART of a name without what hides it, what makes it an option, and what nobody sees."""
    shown = "".join(c if c.isprintable() else "_" for c in part).strip()
    return "_" + shown[1:] if shown[0] in ".-" else shown


def plan(
    directory: Union[str, os.PathLike[str]], names: Iterable[str], force: bool = False
) -> List[pathlib.Path]:
    """The paths of NAMES below DIRECTORY. AdderError, which names all that is in the way, where one leads elsewhere, is there already and
    not to be replaced with FORCE, or is not there but by a link. Nothing is made or written."""
    top = pathlib.Path(directory)
    taken: Dict[pathlib.Path, str] = {}
    wrong = []
    for name in names:
        parts = name.split("/")
        if any(part.strip() in ("", ".", "..") or "\\" in part for part in parts):
            wrong.append(f"a file is called {name!r}, which is no name to write to")
            continue
        path = top.joinpath(*map(fit, parts))
        folders = list(path.parents)[: len(parts) - 1]
        if path in taken:
            wrong.append(f"{name!r} and {taken[path]!r} would both be {path}")
        elif any(folder.is_symlink() or (folder.exists() and not folder.is_dir()) for folder in folders):
            wrong.append(f"the folder of {path} is a link or a file")
        elif os.path.lexists(path) and (not force or (path.is_dir() and not path.is_symlink())):
            wrong.append(f"{path} is there already")
        taken[path] = name
    if wrong:
        raise AdderError("nothing is written: " + "; ".join(wrong))
    return list(taken)


def make_folders(directory: Union[str, os.PathLike[str]], path: pathlib.Path) -> None:
    """Makes those of PATH, which is below DIRECTORY."""
    target = pathlib.Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    for part in path.relative_to(target).parts[:-1]:
        target = target / part
        if target.is_symlink():
            raise AdderError(f"{target} is a link")
        target.mkdir(exist_ok=True)


def put(beside: str, path: pathlib.Path, force: bool) -> None:
    """Gives the file BESIDE its name PATH; FileExistsError where that is taken and not to be replaced with FORCE."""
    if force:
        os.replace(beside, path)  # noqa: PTH105
        return
    try:
        os.link(beside, path)
    except FileExistsError:
        raise
    except OSError:  # no second links here, as on FAT
        if os.path.lexists(path):
            raise FileExistsError(f"{path} is there already") from None
        os.replace(beside, path)  # noqa: PTH105
    else:
        os.unlink(beside)  # noqa: PTH108
