# SPDX-License-Identifier: Apache-2.0
"""Runs one command and leaves nothing of it behind: python3 measured.py REPORT SECONDS COMMAND...

Every process that COMMAND starts counts, also daemons that detach: this process is their subreaper. After COMMAND has ended,
or after SECONDS, what is left of them is killed. REPORT gets one line of JSON: `status` as a shell has it, `wall` and
`cpu` in seconds, `left` (names of processes that outlived COMMAND and did not end by themselves soon after it).
"""
import contextlib
import ctypes
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
ROUNDS = 30  # of killing what is left, a second each; what cannot be killed is left to people
TIMED_OUT = 124  # as timeout(1) has it
PATIENCE = 10  # seconds in which what ends by itself, or was told to, may do so; daemons of tests take their sandboxes along


def children():
    own, found = os.getpid(), []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text(errors="replace")
            except OSError:
                continue
            name, fields = stat[stat.index("(") + 1 : stat.rindex(")")], stat[stat.rindex(")") + 2 :].split()
            if int(fields[1]) == own and fields[0] != "Z":
                found.append((int(entry.name), name))
    return found


def reap(until):
    """Waits for children until one is called UNTIL (a pid; its status is returned), none is left, or the alarm rings."""
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            return None
        if pid == until:
            return os.waitstatus_to_exitcode(status)


class RanOut(Exception):
    pass


def rang(_number, _frame):
    raise RanOut


def ended(_number, _frame):
    raise KeyboardInterrupt


def end_all():
    """Ends what is left, and what that leaves, and returns the names of what was there."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    left = [name for _, name in children()]
    number, patience = signal.SIGTERM, PATIENCE
    for _ in range(ROUNDS):
        for pid, _ in children():
            with contextlib.suppress(OSError):  # sudo's processes are root's
                os.kill(pid, number)
        signal.alarm(patience)
        try:
            reap(None)
            return left
        except RanOut:
            number, patience = signal.SIGKILL, 1
        finally:
            signal.alarm(0)
    return left


def main():
    report, seconds, *command = sys.argv[1:]
    signal.signal(signal.SIGALRM, rang)
    signal.signal(signal.SIGTERM, ended)
    libc = ctypes.CDLL(None, use_errno=True)
    # Its end when scripts/testing is killed, and the adoption of what detaches.
    for option, value in ((PR_SET_PDEATHSIG, signal.SIGTERM), (PR_SET_CHILD_SUBREAPER, 1)):
        if libc.prctl(option, int(value), 0, 0, 0) != 0:
            sys.exit(f"cannot call prctl({option}): {os.strerror(ctypes.get_errno())}")
    began, status, wall = time.monotonic(), None, None
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        signal.alarm(int(seconds))
        status = reap(process.pid)
        wall = time.monotonic() - began
        signal.alarm(PATIENCE)  # what is about to end, such as the last helper of a browser, was not left behind
        reap(None)
    except RanOut:
        if status is None:
            status = TIMED_OUT
            print(f"killed: it did not end within {seconds} s", flush=True)
    except KeyboardInterrupt:
        status = 128 + signal.SIGTERM
    signal.alarm(0)
    wall = time.monotonic() - began if wall is None else wall
    left = end_all()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = 128 - status if status < 0 else status
    told = {"status": status, "wall": round(wall, 2), "cpu": round(usage.ru_utime + usage.ru_stime, 2), "left": left}
    pathlib.Path(report).write_text(json.dumps(told) + "\n", encoding="utf-8")
    sys.exit(status)


main()
