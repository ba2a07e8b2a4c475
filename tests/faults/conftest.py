# SPDX-License-Identifier: Apache-2.0
"""Daemons that live on a poorer host, or whose system calls fail when a test wants them to."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

import harness
from harness import wait_until

# One sandbox is parked: what a test switches on is met by the very next one.
CONFIG = "[environment]\ndefault = system\n\n[pool]\nparked = 1\n"


@pytest.fixture(scope="session")
def tools(installation, common_directory):
    """Paths of the programs `without` and `inject`, where every user can execute them."""
    folder = common_directory / "tools"
    folder.mkdir()
    for name in ("without", "inject"):
        shutil.copy(pathlib.Path(installation.build) / "tests/faults" / name, folder / name)
    return folder


class Served:
    """An Adder whose daemon runs under WRAPPER, in the foreground."""

    def __init__(self, adder, wrapper):
        self.adder, self.wrapper = adder, [str(word) for word in wrapper]
        self.process = None
        self.start()

    def start(self):
        self.log = open(self.adder.directory / "serve.log", "ab")
        self.process = subprocess.Popen(
            [*self.adder.user.prefix, *self.wrapper, str(self.adder.installation.program), "serve"],
            env=self.adder.process_environment(),
            cwd=self.adder.scratch,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        wait_until(lambda: self.process.poll() is not None or self.adder.daemon(), "the daemon to answer")
        self.pid = self.adder.daemon()
        family = [self.process.pid, *(process.pid for process in harness.descendants(self.process.pid))]
        assert self.pid in family, self.said()

    def said(self):
        return (self.adder.directory / "serve.log").read_text()

    def call(self, *arguments):
        """A command in one process, under the same wrapper."""
        ended = subprocess.run(
            [*self.adder.user.prefix, *self.wrapper, str(self.adder.installation.program), *arguments],
            env=self.adder.process_environment(),
            cwd=self.adder.scratch,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=harness.DEADLINE * 2,
        )
        harness.gathered.append((ended.args, ended.returncode, ended.stdout, ended.stderr))
        return ended

    def stop(self):
        """Ends the daemon and asserts that nothing of it stays. `inject` ends only when all that it watches has."""
        assert self.adder.daemon() == self.pid, "the daemon has lived through it all: " + self.said()
        self.adder.stop()
        assert self.process.wait(harness.DEADLINE) == 0, self.said()
        self.log.close()


@pytest.fixture
def serve(make_adder):
    """Starts a daemon under a wrapper; it must end in order."""
    started = []

    def start(wrapper, config="", variables=None):
        served = Served(make_adder(CONFIG + config, variables), wrapper)
        started.append(served)
        return served

    yield start
    for served in started:
        served.adder.kill()
        served.process.wait(harness.DEADLINE)


class Faults(Served):
    """A daemon whose system calls CALLS fail while lines of a file say so (see inject.c)."""

    def __init__(self, adder, tools, calls):
        self.file = adder.directory / "faults"
        self.hits = adder.directory / "faults.hits"
        self.hits.touch()
        adder.own(self.hits)
        super().__init__(adder, [tools / "inject", self.file, *calls, "--"])

    def set(self, *lines):
        """From now on these faults and no others."""
        self.hits.write_text("")
        new = self.file.with_suffix(".new")
        new.write_text("\n".join(lines))
        new.chmod(0o644)
        new.replace(self.file)

    def clear(self):
        self.file.unlink(missing_ok=True)

    def zygotes(self):
        pid = self.adder.daemon()
        return [
            process for process in harness.descendants(pid) if process.parent == pid and process.alive()
        ]

    def drop_zygote(self):
        """Has the pool start a new zygote for the next run: only then do faults of its start show."""
        for process in self.zygotes():
            process.signal(signal.SIGKILL)
            wait_until(lambda: not process.alive(), "the zygote to die")

    def drop_parked(self):
        """Has the zygote make a new sandbox for the next run."""
        for process in [p for zygote in self.zygotes() for p in harness.descendants(zygote.pid)]:
            if process.name == "adder-init":
                process.signal(signal.SIGKILL)

    def works(self):
        """Whether a run works: after a fault is gone the pool may still be waiting to try again."""
        result = self.adder.run("print(1)")
        return result.outcome == "ok" and result.stdout == "1\n"


CALLS = (
    "accept4 capget capset chdir clone close_range dup2 dup3 eventfd2 execve execveat fchdir fcntl fsconfig fsmount "
    "fsopen ftruncate getrlimit landlock_add_rule landlock_create_ruleset landlock_restrict_self memfd_create mkdir "
    "mkdirat mount mount_setattr move_mount open_tree openat2 pidfd_open pidfd_send_signal pipe2 pivot_root prctl "
    "prlimit64 seccomp sethostname setgroups setns setresgid setresuid setsid signalfd4 socketpair symlinkat umount2 "
    "unshare vfork"
).split()


@pytest.fixture(scope="module")
def faults(installation, user, common_directory, tools):
    """One user's daemon for a module, whose faults a test switches on; it must serve after each of them."""
    directory = common_directory / f"faults-{user.name}"
    directory.mkdir()
    adder = harness.Adder(installation, user, directory, CONFIG)
    adder.environment = "system"
    served = Faults(adder, tools, CALLS)
    try:
        assert served.works()
        yield served
        served.clear()
        served.stop()
    finally:
        adder.kill()
        served.process.wait(harness.DEADLINE)
        shutil.rmtree(directory, ignore_errors=True)
