# SPDX-License-Identifier: Apache-2.0
"""Adders that run under a wrapper: on a poorer host (`without`), or with system calls that fail when a test wants them to
(`inject`)."""
import collections
import contextlib
import copy
import os
import re
import signal
import subprocess

import harness
from harness import wait_until

# One sandbox is parked: what a test switches on is met by the very next one.
CONFIG = "[environment]\ndefault = system\n\n[pool]\nparked = 1\n\n[sessions]\nparked = 0\n"

# The calls that can be made to fail.
CALLS = (
    "accept4 capget capset chdir clone clone3 close_range dup2 dup3 eventfd2 execve execveat fchdir fcntl fsconfig "
    "fsmount fsopen landlock_add_rule landlock_create_ruleset landlock_restrict_self mkdirat mount mount_setattr "
    "move_mount open_tree openat2 pidfd_open pipe2 pivot_root prctl prlimit64 seccomp sethostname setns setresgid "
    "setresuid setsid signalfd4 socketpair symlinkat umount2 unshare"
).split()

# Of a counter that wakes a thread, which cannot fail but by mistake: a line before one that has any call fail.
SPARED = "write pass 2=8\nread pass 2=8"


def wrapped(adder, wrapper):
    """The same Adder, whose commands run under WRAPPER."""
    other = copy.copy(adder)
    other.wrapper = [str(word) for word in wrapper]
    return other


class Served:
    """An Adder whose daemon runs under WRAPPER, in the foreground."""

    def __init__(self, adder, wrapper):
        self.adder, self.inside = adder, wrapped(adder, wrapper)
        self.log = adder.directory / "serve.log"
        with open(self.log, "wb") as log:
            self.process = self.inside.popen("serve", stdout=log, stderr=log, start_new_session=True)
        wait_until(lambda: self.process.poll() is not None or adder.daemon(), "the daemon to answer")
        self.pid = adder.daemon()
        family = [self.process.pid, *(process.pid for process in harness.descendants(self.process.pid))]
        assert self.pid in family, self.log.read_text()

    def stop(self):
        """Ends the daemon and asserts that nothing of it stays. `inject` ends only when all that it watches has."""
        assert self.adder.daemon() == self.pid, "the daemon has lived through it: " + self.log.read_text()
        self.adder.stop()
        assert self.process.wait(harness.DEADLINE) == 0, self.log.read_text()


def list_folder(pid, what):
    """What there is in a folder of /proc/PID, descriptors by what they point to but for numbers; None where that may not be
    seen. Without the store's connections, which stay open: it opens another when two threads happen to need one at once."""
    found = collections.Counter()
    try:
        for entry in os.listdir(f"/proc/{pid}/{what}"):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                found[re.sub("[0-9]+", "N", os.readlink(f"/proc/{pid}/fd/{entry}")) if what == "fd" else what] += 1
    except OSError:
        return None
    return collections.Counter({name: count for name, count in found.items() if "/store/records.db" not in name})


def surplus(now, before):
    """What there is NOW and was not BEFORE. Less is no surplus: a connection that was just being closed may have counted."""
    if isinstance(now, list) and len(now) == len(before):
        return [more for more in map(surplus, now, before) if more]
    if isinstance(now, collections.Counter) and isinstance(before, collections.Counter):
        return now - before
    return None if now == before else f"{before} became {now}"


class Faults(Served):
    """A daemon whose system calls fail, of those in CALLS, while lines of a file say so (see inject.c)."""

    def __init__(self, adder, tools, calls=CALLS, config=CONFIG):
        self.file, self.hits = adder.directory / "faults", adder.directory / "faults.hits"
        super().__init__(adder, [tools / "inject", self.file, *calls, "--"])

    def set(self, line):
        """From now on this fault and no other."""
        self.hits.write_text("")
        self.adder.own(self.hits)
        new = self.file.with_suffix(".new")
        new.write_text(line)
        new.chmod(0o644)
        new.replace(self.file)

    def clear(self):
        self.file.unlink(missing_ok=True)

    def wait_hit(self):
        """Waits until a call is made that the fault applies to."""
        wait_until(self.hits.read_text, f"a call to be hit by {self.file.read_text()}")

    def family(self):
        return [harness.Process(self.pid), *harness.descendants(self.pid)]

    def one(self, name):
        """The one living process of the daemon that is called NAME. A launcher goes by the name of the zygote that it has let go,
        and may have yet to end."""

        def found():
            return [process for process in self.family() if process.name == name and process.alive()]

        [process] = wait_until(lambda: len(those := found()) == 1 and those, f"one process called {name}")
        return process

    def served(self):
        """How many zygotes have served so far."""
        return self.log.read_text().count("serves after")

    def drop_zygote(self):
        """Has the pool start a new zygote, which then meets the faults of its start."""
        self.kill(self.one("python3"))

    def drop_parked(self):
        """Has the zygote make a new sandbox."""
        self.kill(self.one("adder-init"))

    @staticmethod
    def kill(process):
        process.signal(signal.SIGKILL)
        wait_until(lambda: not process.alive(), f"{process} to be dead")

    def at_rest(self):
        """What there is of the daemon when nothing runs and one sandbox is parked: the same before a fault and after."""

        def look():
            status = self.adder.status()
            [pool] = status["engine"]["pools"]
            if status["connections"] or status["engine"]["running"]:
                return None
            if (pool["zygotes"], pool["parked"], pool["parking"]) != (1, 1, 0):
                return None
            family = sorted(self.family(), key=lambda process: process.name)
            if sum(process.name == "adder-init" for process in family) != pool["parked"]:
                return None  # one that was used has yet to go
            return {
                "processes": [(process.name, process.state in "ZX") for process in family],
                "descriptors": [list_folder(process.pid, "fd") for process in family],
                "threads": [list_folder(process.pid, "task") for process in family],
                "mounts": harness.host_mounts(),
                "cgroups": len([path for path in harness.host_cgroups() if f"adder-{self.pid}-" in path]),
            }

        return wait_until(look, "the pool to be full and nothing to run")

    def wait_rest(self, before):
        """Waits until there is what there was BEFORE, and no more."""
        seen = []

        def same():
            now = self.at_rest()
            seen[:] = [f"{name}: {more}" for name in now if (more := surplus(now[name], before[name]))]
            return not seen

        try:
            wait_until(same, "nothing to be left over")
        except AssertionError as error:
            raise AssertionError(f"{error}: {seen}") from None

    def works(self):
        """Whether a run works: after a fault the pool may still be waiting to try again."""
        result = self.adder.run("print(1)")
        return result.outcome == "ok" and result.stdout == "1\n"


@contextlib.contextmanager
def daemon_with_faults(installation, user, common_directory, tools, calls=CALLS, config=CONFIG):
    """A daemon of USER's own, whose CALLS can be made to fail; it ends with the block."""
    adder = harness.Adder(installation, user, harness.new_directory(common_directory, f"faults-{user.name}"), config)
    adder.environment = "system"
    served = Faults(adder, tools, calls)
    try:
        yield served
        served.clear()
        served.stop()
    finally:
        served.clear()
        adder.kill()
        served.process.wait(harness.DEADLINE)
