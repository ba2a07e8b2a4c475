# SPDX-License-Identifier: Apache-2.0
"""pauses.py [--mean SECONDS] [--longest SECONDS] COMMAND...

Runs a command and stops random processes of it, daemons that detach among them, for a random time: what a busy machine does, only
more of it. A test that then fails is decided by time, or meets a race of the product. Two kinds of process are left alone: `sleep`, which
attacks watch for a changed state, and engines of containers, which answer nobody meanwhile."""
import argparse
import ctypes
import os
import random
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
SPARED = ("sleep", "dockerd", "containerd")
TURN = 0.02  # seconds


def table():
    """Of each process its parent, its name and its state."""
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", errors="replace") as file:
                name, _, rest = file.read().partition(" (")[2].rpartition(") ")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        found[int(entry)] = int(parent), name, state
    return found


def family():
    """The descendants of this process that may be stopped."""
    known, found = table(), {os.getpid()}
    while more := {pid for pid, (parent, _, _) in known.items() if parent in found} - found:
        found |= more
    found.remove(os.getpid())
    return [pid for pid in found if known[pid][1] not in SPARED and known[pid][2] not in "TtZX"]


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def reap(main):
    """How MAIN has ended, as a shell has it, or None. Takes what else ended along: its own parent may have before it."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == main:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        if pid == 0:
            return None


def pause(command, mean, longest):
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    main = os.posix_spawnp(command[0], command, os.environ)
    stopped, count, following = {}, 0, time.monotonic()
    while (status := reap(main)) is None:
        now = time.monotonic()
        for pid in [pid for pid, until in stopped.items() if until <= now]:
            send(pid, signal.SIGCONT)
            del stopped[pid]
        if now >= following and (living := family()):
            chosen = random.choice(living)
            send(chosen, signal.SIGSTOP)
            stopped[chosen] = now + random.uniform(0, longest)
            count += 1
            following = now + random.expovariate(1 / mean)
        time.sleep(TURN)
    for pid in stopped:
        send(pid, signal.SIGCONT)
    print(f"{count} pauses", file=sys.stderr)
    return status


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mean", type=float, default=0.3, help="seconds between two pauses, in the mean")
    parser.add_argument("--longest", type=float, default=3, help="seconds that a pause lasts at most")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    sys.exit(pause(chosen.command, chosen.mean, chosen.longest))
