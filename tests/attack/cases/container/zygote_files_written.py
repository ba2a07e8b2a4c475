# Must be refused: writing to what /proc has of the zygote, pid 1: who is killed first without memory, what a core of it has.
# SPDX-License-Identifier: Apache-2.0
# stopped by: dumpable
# levels: container
# files: attempt.py
import os

import attempt


def written(name, text):
    file = os.open(f"/proc/1/{name}", os.O_WRONLY)
    os.write(file, text)


attempt.all_refused(
    {
        "who is killed first": lambda: written("oom_score_adj", b"1000"),
        "the same as of old": lambda: written("oom_adj", b"15"),
        "what a core has": lambda: written("coredump_filter", b"0x7f"),
        "references": lambda: written("clear_refs", b"1"),
    }
)
