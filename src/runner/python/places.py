# SPDX-License-Identifier: Apache-2.0
"""Where a sandbox's own files are: the current directory of its code, and the place for temporary files. Without mounts of
its own (isolation level 1 and 0) both are somewhere in a directory of the host."""

import functools
import os
import posix
import sys

work, temporary = "/work", "/tmp"
parts = ()  # what else the files there are called, with a slash at the end

# In a session that can be branched both are links to descriptors of each process (sandbox/places.h); the files of branches
# are below the last.
DESCRIPTORS = (10, 11)
BRANCHES = "/session/branches"


def are_own():
    """Whether this process has places of its own."""
    try:
        return os.readlink("/work") == f"/proc/self/fd/{DESCRIPTORS[0]}"
    except OSError:
        return False


def open_descriptors():
    """Those of DESCRIPTORS that the code has not closed."""
    found = []
    for number in DESCRIPTORS:
        try:
            os.fstat(number)
            found.append(number)
        except OSError:
            pass
    return found


def settle():
    """Takes the current directory for the workspace, with the place for temporary files beside it."""
    global work, temporary
    work = os.getcwd()
    temporary = os.path.join(os.path.dirname(work), "tmp")
    os.environ.update(HOME=temporary, TMPDIR=temporary)
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None


def settle_container():
    """/workspace and /tmp are links to parts of the container's workspace: both are one file system, so that one limit holds for
    them together, and an engine mounts no part of one. The kernel tells what is behind a link; os.getcwd tells the link, and so does
    a shell, which believes PWD where it is true."""
    global work, parts
    work, parts = "/workspace", ("/run/workspace/",)
    os.environ["PWD"] = work
    real = os.getcwd

    @functools.wraps(real)
    def getcwd():
        return linked(real())

    @functools.wraps(os.getcwdb)
    def getcwdb():
        return os.fsencode(getcwd())

    for module in (os, posix):
        module.getcwd, module.getcwdb = getcwd, getcwdb


def linked(path):
    """PATH by the link in a container that leads there, if one does."""
    for behind, link in (("/run/workspace/work", work), ("/run/workspace/tmp", temporary)):
        if (path + "/").startswith(behind + "/"):
            return link + path[len(behind) :]
    return path


def writable():
    """Words for a hint."""
    return f"{work}, {temporary} and /dev/shm" if temporary == "/tmp" else f"{work} and {temporary}"
