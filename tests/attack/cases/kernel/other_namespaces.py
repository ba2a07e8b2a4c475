# Must be refused: a mount, pid, network, ipc, uts, cgroup or time namespace of its own, by unshare, clone and clone3.
# SPDX-License-Identifier: Apache-2.0
# stopped by: capabilities + seccomp
# stopped by at 1: seccomp
# files: attempt.py
# cannot succeed at 1: the sandbox's user has no such right on the host
import signal

import attempt

FLAGS = {
    "mount": 0x00020000,
    "cgroup": 0x02000000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}


def clone3(flags):
    return attempt.call("clone3", attempt.block(flags, 0, 0, 0, signal.SIGCHLD, *[0] * 6, form="=11Q"), 88)


attempts = {"time, unshare": lambda: attempt.call("unshare", 0x80)}
for name, flag in FLAGS.items():
    attempts[f"{name}, unshare"] = lambda flag=flag: attempt.call("unshare", flag)
    attempts[f"{name}, clone"] = lambda flag=flag: attempt.call("clone", flag | signal.SIGCHLD, 0, 0, 0, 0)
    attempts[f"{name}, clone3"] = lambda flag=flag: clone3(flag)
attempt.all_refused(attempts)
