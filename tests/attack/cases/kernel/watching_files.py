# Must be refused: inotify and fanotify, whose counts are shared with other sandboxes.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# files: attempt.py
# cannot succeed in a container: the engine's own filter refuses some of it
import attempt

REPORT_FID = 0x200
attempt.all_refused(
    {
        "inotify": lambda: attempt.call("inotify_init1", 0),
        "fanotify": lambda: attempt.call("fanotify_init", REPORT_FID, 0),
    }
)
