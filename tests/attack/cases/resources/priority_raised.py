# Must be refused: a higher priority than others, by nice, by real-time scheduling and by input and output classes.
# SPDX-License-Identifier: Apache-2.0
# stopped by: capabilities + rlimits
# toothless: raising a priority needs a capability outside of every user namespace, which no switch of ours gives away
# levels: 3 2 1
import ctypes, os

libc, won = ctypes.CDLL(None, use_errno=True), []
for name, attempt in {
    "nice": lambda: os.nice(-5),
    "setpriority": lambda: os.setpriority(os.PRIO_PROCESS, 0, -5),
    "SCHED_FIFO": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    "SCHED_RR": lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1)),
    "ioprio_set": lambda: libc.syscall(251 if os.uname().machine == "x86_64" else 30, 1, 0, 1 << 13),
}.items():
    try:
        if attempt() != -1:
            won.append(name)
    except OSError:
        pass
if os.getpriority(os.PRIO_PROCESS, 0) < 0 or os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR):
    won.append("it shows")
print(f"BREACH: {won}" if "it shows" in won else "held")
