# Must be refused: mounting, binding, unmounting and changing the root by mount, umount2, pivot_root and chroot.
# SPDX-License-Identifier: Apache-2.0
# stopped by: nest + capabilities + landlock + seccomp
# stopped by at 1: seccomp
# files: attempt.py
# cannot succeed at 1: the sandbox's user has no such right on the host
import attempt

BIND, REMOUNT, DETACH = 0x1000, 0x20, 2
attempt.all_refused(
    {
        "tmpfs": lambda: attempt.call("mount", b"none", b"/tmp", b"tmpfs", 0, 0),
        "bind": lambda: attempt.call("mount", b"/usr", b"/tmp", 0, BIND, 0),
        "remount": lambda: attempt.call("mount", b"none", b"/work", 0, REMOUNT, 0),
        "unmount": lambda: attempt.call("umount2", b"/dev/shm", DETACH),
        "pivot_root": lambda: attempt.call("pivot_root", b"/work", b"/work"),
    }
)
