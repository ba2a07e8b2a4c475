# SPDX-License-Identifier: Apache-2.0
"""Interpreters that the code starts to share its work (multiprocessing's "spawn" and "forkserver") want to run its main file
again. There is none, since code comes over a socket; so one is made when they are about to be started, and not before."""

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
