# Must be refused: modules, kexec, swap, accounting, clocks, ports, the kernel's log, handles of files and other things of the host's root.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# cannot succeed: each needs a right in the host's own user namespace, which nobody in a sandbox has
# files: attempt.py
import os
import time

import attempt

HERE = -100
path = b"/etc/passwd"
attempts = {
    "init_module": lambda: attempt.call("init_module", attempt.room(8), 8, b""),
    "finit_module": lambda: attempt.call("finit_module", 0, b"", 0),
    "delete_module": lambda: attempt.call("delete_module", b"none", 0),
    "kexec_load": lambda: attempt.call("kexec_load", 0, 0, 0, 0),
    "kexec_file_load": lambda: attempt.call("kexec_file_load", 0, 0, 0, 0, 4),
    "swapon": lambda: attempt.call("swapon", path, 0),
    "swapoff": lambda: attempt.call("swapoff", path),
    "acct": lambda: attempt.call("acct", 0),
    "clock_settime": lambda: time.clock_settime(0, time.time()),
    "settimeofday": lambda: attempt.call("settimeofday", attempt.block(1 << 30, 0, form="=QQ"), 0),
    "clock_adjtime": lambda: attempt.call("clock_adjtime", 0, attempt.block(0x0100, form="=I204x")),
    "vhangup": lambda: attempt.call("vhangup"),
    "syslog": lambda: attempt.call("syslog", 3, attempt.room(8), 8),
    "open_by_handle_at": lambda: attempt.call("open_by_handle_at", HERE, attempt.block(12, 1, form="=Ii64x"), 0),
    "quotactl": lambda: attempt.call("quotactl", 0x800001 << 8, b"/dev/none", 0, 0),
    "nice": lambda: os.nice(-5),
    "perf_event_open": lambda: attempt.call("perf_event_open", attempt.block(1, 112, form="=II120x"), -1, 0, -1, 0),
}
if attempt.is_there("iopl"):
    attempts["iopl"] = lambda: attempt.call("iopl", 3)
attempt.all_refused(attempts)
