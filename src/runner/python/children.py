# SPDX-License-Identifier: Apache-2.0
"""Processes that the code starts.

Interpreters that shall share its work (multiprocessing's "spawn" and "forkserver") want to run its main file again. There is
none, since code comes over a socket; so one is made when they are about to be started, and not before.

In a session that can be branched, /work and /tmp are where two descriptors lead (sandbox/places.h), and a program that is
started must have these as well."""

import linecache
import os
import sys

from adder_runner import places

STARTERS = ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_forkserver")


class Watch:
    """Sees an import before those who find modules do, and finds nothing itself."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in STARTERS:
            stage_main()


def watch():
    """To be called once, in the zygote."""
    sys.meta_path.insert(0, Watch)


def keep_places():
    """To be called once, in a session: has subprocess and multiprocessing, which close what they were not told to pass on, pass
    these on."""
    import subprocess

    import _posixsubprocess

    start = _posixsubprocess.fork_exec

    def fork_exec(arguments, executables, close_others, kept, *rest):
        if close_others:
            kept = tuple(sorted({*kept, *places.open_descriptors()}))
        return start(arguments, executables, close_others, kept, *rest)

    _posixsubprocess.fork_exec = fork_exec
    if hasattr(subprocess, "_fork_exec"):
        subprocess._fork_exec = fork_exec
    # Python 3.14 would have the C library close all others.
    subprocess._HAVE_POSIX_SPAWN_CLOSEFROM = False


def stage_main():
    """Puts the code of __main__ where a child can read it. A hidden directory is not taken for the run's own."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    if not file or os.path.exists(file):
        return
    lines = linecache.cache.get(os.path.basename(file), (0, None, ()))[2]
    directory = os.path.join(places.temporary, ".adder")
    os.makedirs(directory, exist_ok=True)
    main.__file__ = os.path.join(directory, os.path.basename(file))
    with open(main.__file__, "w", encoding="utf-8") as copy:
        copy.writelines(lines)
