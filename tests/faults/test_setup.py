# SPDX-License-Identifier: Apache-2.0
"""Each step between a request and a running sandbox made to fail, one at a time: a sentence that names the step, in
time; a daemon that lives on and serves as soon as the fault is gone; and nothing left over."""
import os
import re

import pytest

import harness
from harness import wait_until
from serving import CALLS, wrapped

pytestmark = pytest.mark.both_users

ERRNOS = {"EPERM": "Operation not permitted", "ENOMEM": "Cannot allocate memory", "EINVAL": "Invalid argument"}

LAUNCHER = "who=adder-zygote"
ZYGOTE = "who=python3"
SANDBOX = "who=adder-run"  # from its second step on; before, it is called as the zygote

# Flags and options in the words of the kernel, which the lines of a fault file want as numbers.
NUMBERS = {
    "CLONE_NEWNS": 0x20000,
    "CLONE_NEWIPC": 0x8000000,
    "CLONE_NEWUSER": 0x10000000,
    "CLONE_NEWPID": 0x20000000,
    "CLONE_CHILD_SETTID": 0x1000000,
    "CLOSE_RANGE_CLOEXEC": 4,
    "FSCONFIG_SET_STRING": 1,
    "FSCONFIG_CMD_CREATE": 6,
    "FSCONFIG_CMD_RECONFIGURE": 7,
    "F_SETFD": 2,
    "F_DUPFD_CLOEXEC": 1030,
    "PR_SET_PDEATHSIG": 1,
    "PR_SET_DUMPABLE": 4,
    "PR_CAPBSET_READ": 23,
    "PR_CAPBSET_DROP": 24,
    "PR_GET_SECUREBITS": 27,
    "PR_SET_SECUREBITS": 28,
    "PR_SET_NO_NEW_PRIVS": 38,
    "PR_GET_NO_NEW_PRIVS": 39,
    "PR_CAP_AMBIENT": 47,
    "PR_SCHED_CORE": 62,
    "PR_SCHED_CORE_CREATE": 1,
    "RLIMIT_NPROC": 6,
    "SECCOMP_SET_MODE_FILTER": 1,
}

# The call, and the step that the sentence names. In the order in which the steps are taken.
START = {
    # The daemon: engine/pool/zygote.c
    "socketpair 1&5": "cannot make the control socket of a zygote",
    "pipe2 who=adder-pool": "cannot make the message pipe of a zygote",
    "fcntl 1=F_DUPFD_CLOEXEC 2=10": "cannot hand descriptors to .*adder-zygote",
    "clone3 who=adder-pool": "cannot start .*adder-zygote",
    "dup2 who=adder-pool": "cannot start .*adder-zygote",
    "execve who=adder-pool": "cannot start .*adder-zygote",
    "pidfd_open who=adder-pool": "cannot open a pidfd of .*adder-zygote",
    # The launcher: runner/launch.c
    f"dup2 {LAUNCHER}": "cannot settle the standard descriptors",
    f"close_range {LAUNCHER}": "cannot close other descriptors",
    f"fcntl 1=F_SETFD {LAUNCHER}": "descriptor 3 is missing",
    f"pipe2 {LAUNCHER}": "cannot make a pipe",
    f"clone 0&CLONE_NEWUSER {LAUNCHER}": "cannot make a user and a pid namespace",
    # The zygote before it is Python: runner/launch.c, sandbox/namespaces.c, sandbox/tree.c
    f"prctl 0=PR_SET_NO_NEW_PRIVS {LAUNCHER}": "cannot set no_new_privs",
    f"unshare {LAUNCHER}": "cannot make mount, net, ipc, uts and cgroup namespaces",
    f"mount {LAUNCHER}": "cannot make all mounts private",
    f"sethostname {LAUNCHER}": "cannot set the host name",
    f"open_tree {LAUNCHER}": "cannot bind /usr",
    f"mount_setattr {LAUNCHER}": "cannot make /usr read-only",
    f"setresgid {LAUNCHER}": "cannot become the namespace's root",
    f"setresuid {LAUNCHER}": "cannot become the namespace's root",
    f"prctl 0=PR_SET_PDEATHSIG {LAUNCHER}": "cannot ask to die with the daemon",
    f"fsopen {LAUNCHER}": "cannot open a tmpfs",
    f"fsconfig 1=FSCONFIG_SET_STRING {LAUNCHER}": "cannot make a tmpfs of [0-9]+ bytes",
    f"fsconfig 1=FSCONFIG_SET_STRING from=2 {LAUNCHER}": "cannot make a tmpfs of [0-9]+ files",
    f"fsconfig 1=FSCONFIG_CMD_CREATE {LAUNCHER}": "cannot create a tmpfs",
    f"fsmount {LAUNCHER}": "cannot mount a tmpfs",
    f"move_mount {LAUNCHER}": "cannot mount on /",
    f"mkdirat {LAUNCHER}": "cannot make /proc in the new tree",
    f"symlinkat {LAUNCHER}": "cannot make /dev/ptmx in the new tree",
    f"openat2 {LAUNCHER}": "cannot open the parent of /usr in the new tree",
    f"move_mount from=2 {LAUNCHER}": "cannot mount on usr",
    f"fsopen from=2 {LAUNCHER}": "cannot make a procfs|cannot open a tmpfs",
    f"fchdir {LAUNCHER}": "cannot enter the new root",
    f"pivot_root {LAUNCHER}": "cannot make the new tree the root",
    f"umount2 {LAUNCHER}": "cannot unmount the old root",
    f"chdir {LAUNCHER}": "cannot change to the new root",
    f"execve {LAUNCHER}": "cannot execute /usr/bin/python3",
    # The zygote when it has loaded everything: runner/serve.c
    f"fcntl 0=3 1=F_SETFD {ZYGOTE}": "a descriptor of the launcher is missing",
    f"dup2 1=0 {ZYGOTE}": "cannot point descriptor 0 at /dev/null",
    f"signalfd4 {ZYGOTE}": "cannot make a signalfd",
}

SPAWN = {
    # The daemon: engine/pool/sandbox.c
    "socketpair 1&1 who=adder-pool": "cannot make the socket of a sandbox",
    "pipe2 who=adder-pool": "cannot make the stdout pipe of a sandbox",
    # The zygote: sandbox/mounts.c, runner/spawn.c
    f"fsopen {ZYGOTE}": "cannot open a tmpfs",
    f"fsconfig 1=FSCONFIG_SET_STRING {ZYGOTE}": "cannot make a tmpfs of [0-9]+ bytes",
    f"fsconfig 1=FSCONFIG_CMD_CREATE {ZYGOTE}": "cannot create a tmpfs",
    f"fsmount {ZYGOTE}": "cannot mount a tmpfs",
    f"mkdirat {ZYGOTE}": "cannot make work in the workspace",
    f"clone 0&CLONE_NEWPID {ZYGOTE}": "cannot start the init of a sandbox",
    f"close_range 2=CLOSE_RANGE_CLOEXEC {ZYGOTE}": "cannot execute adder-init",
    f"execveat {ZYGOTE}": "cannot execute adder-init",
    f"setns 1=CLONE_NEWPID {ZYGOTE}": "cannot enter the pid namespace of the init",
    f"clone 0&CLONE_CHILD_SETTID {ZYGOTE}": "cannot fork a sandbox",
    f"pidfd_open {ZYGOTE}": "cannot open a pidfd of the sandbox",
    # The sandbox: runner/confine.c, from the first step of its table to the last
    f"setns 1=CLONE_NEWIPC {ZYGOTE}": "cannot enter the ipc namespace of the init",
    f"unshare 0=CLONE_NEWNS {ZYGOTE}": "cannot make a mount namespace",
    f"prctl 0=PR_SET_PDEATHSIG {ZYGOTE}": "cannot detach from the zygote",
    f"setsid {ZYGOTE}": "cannot start a session",
    f"move_mount {SANDBOX}": "cannot mount on /work",
    f"fsopen {SANDBOX}": "cannot open a procfs",
    f"fsconfig 1=FSCONFIG_SET_STRING {SANDBOX}": "cannot hide the processes of others in a procfs",
    f"umount2 {SANDBOX}": "cannot unmount the zygote's /proc",
    f"move_mount from=2 {SANDBOX}": "cannot mount on proc",
    f"open_tree {SANDBOX}": "cannot take work/meminfo for /proc/meminfo",
    f"mount_setattr {SANDBOX}": "cannot make /proc/meminfo read-only",
    f"move_mount from=3 {SANDBOX}": "cannot mount on proc/meminfo",
    f"fsconfig 1=FSCONFIG_SET_STRING from=2 {SANDBOX}": "cannot limit a procfs to processes",
    f"fsconfig 1=FSCONFIG_CMD_RECONFIGURE {SANDBOX}": "cannot limit a procfs to processes",
    f"fsopen from=2 {SANDBOX}": "cannot open a tmpfs",
    f"move_mount from=6 {SANDBOX}": "cannot mount on /dev/shm",
    f"fsconfig 1=FSCONFIG_SET_STRING from=6 {SANDBOX}": "cannot set ptmxmode of a devpts",
    f"move_mount from=7 {SANDBOX}": "cannot mount on /dev/pts",
    f"open_tree from=4 {SANDBOX}": "cannot take tmp of the workspace",
    f"chdir {SANDBOX}": "cannot change to /work",
    f"fcntl 1=F_DUPFD_CLOEXEC 2=64 {SANDBOX}": "cannot set descriptor 0 aside",
    f"dup3 {SANDBOX}": "cannot settle descriptor 0",
    f"close_range {SANDBOX}": "cannot close other descriptors",
    f"prlimit64 {SANDBOX}": "cannot read RLIMIT_CPU",
    f"prlimit64 2=0 {SANDBOX}": "cannot read RLIMIT_CPU",
    f"prlimit64 1=RLIMIT_NPROC {SANDBOX}": "cannot read RLIMIT_NPROC",
    f"unshare 0=CLONE_NEWUSER {SANDBOX}": "cannot nest a user namespace",
    f"prctl 0=PR_CAP_AMBIENT {SANDBOX}": "cannot clear the ambient capabilities",
    f"prctl 0=PR_CAPBSET_DROP {SANDBOX}": "cannot drop capability 0 from the bounding set",
    f"prctl 0=PR_SET_SECUREBITS {SANDBOX}": "cannot lock the securebits",
    f"capset {SANDBOX}": "cannot drop the capabilities",
    f"capget {SANDBOX}": "cannot read the capabilities",
    f"prctl 0=PR_CAPBSET_READ {SANDBOX}": "cannot read capability 0 of the bounding set",
    f"prctl 0=PR_SET_DUMPABLE {SANDBOX}": "cannot become undumpable",
    f"landlock_create_ruleset {SANDBOX}": "cannot create a landlock ruleset",
    f"landlock_add_rule {SANDBOX}": "cannot add a landlock rule for /",
    f"landlock_restrict_self {SANDBOX}": "cannot enforce landlock",
    f"seccomp 0=SECCOMP_SET_MODE_FILTER {SANDBOX}": "cannot install the seccomp filter",
}

# Steps of a run that has its sandbox: engine/run/run.c, lease.c, read_input.c.
LEASE = {
    "eventfd2 who=connection": "cannot make an eventfd for a run",
    "prlimit64 who=connection": "cannot set RLIMIT_CPU of a sandbox",
}


# What is verified afterwards: a call that seems to have worked and has not. The sentence says what is not so.
PRETENCE = {
    f"setns 1=CLONE_NEWIPC return=0 {ZYGOTE}": "namespace [0-9] is still the zygote's",
    f"unshare 0=CLONE_NEWNS return=0 {ZYGOTE}": "namespace [0-9] is still the zygote's",
    f"fsconfig 1=FSCONFIG_CMD_RECONFIGURE return=0 {SANDBOX}": "a procfs is not limited to processes",
    f"unshare 0=CLONE_NEWUSER return=0 from=2 {SANDBOX}": "further user namespaces are still allowed",
    f"prctl 0=PR_CAPBSET_DROP return=0 {SANDBOX}": "capability 0 is left in the bounding set",
    f"capset return=0 {SANDBOX}": "capabilities are left after dropping them",
    f"prctl 0=PR_SET_SECUREBITS return=0 {SANDBOX}": "the securebits are not as they were set",
    f"prctl 0=PR_GET_NO_NEW_PRIVS return=0 {SANDBOX}": "no_new_privs is not set",
}


def in_numbers(line):
    """LINE as a file of faults has it. Where clone3 fails, the C library of Debian 13 takes clone, which then fails as well."""
    text = re.sub(r"\b[A-Z_]{3,}\b", lambda word: str(NUMBERS.get(word[0], word[0])), line)
    return text + "\n" + text.replace("clone3", "clone", 1) if text.startswith("clone3 ") else text


def chosen(table, *quick_ones):
    """The rows of TABLE as parameters; those in which a word of QUICK_ONES stands are in the quick subset."""
    return [
        pytest.param(call, step, marks=pytest.mark.quick if call in quick_ones else (), id=call.replace(" ", ","))
        for call, step in table.items()
    ]


def refused(faults, step, reason=""):
    """Runs until the sentence names STEP and REASON, which the fault before may delay; every run must fail with a
    sentence."""

    def told():
        result = faults.adder.run("print(1)")
        assert (result.outcome, result.exit_status, result.stdout) == ("failed", 125, "")
        message = result.error["message"]
        assert "\n" not in message and not message.endswith(".")
        return re.search(f"({step}).*{reason}", message)

    wait_until(told, f"a refusal that says {step}: {reason}")


@pytest.mark.parametrize("call, step", chosen(START, f"unshare {LAUNCHER}", f"signalfd4 {ZYGOTE}"))
def test_start_of_a_zygote(make_adder, tools, call, step):
    """With an engine in the command's own process, whose end `inject` awaits with that of all that it started."""
    adder = make_adder("[pool]\nparked = 1\n")
    for name, reason in ERRNOS.items():
        file = adder.file("faults", in_numbers(f"{call} {name}"))
        result = wrapped(adder, [tools / "inject", file, *CALLS, "--"]).run("print(1)", "--no-daemon")
        assert (result.outcome, result.exit_status, result.stdout) == ("failed", 125, "")
        assert re.search(f"({step}).*{reason}", result.error["message"])


# gVisor's kernel says so of a set that it lacks. On any other the next step, which is verified, empties the set too.
TOLERATED = {f"prctl 0=PR_CAP_AMBIENT {SANDBOX}": "EINVAL"}


def errno_for(call, table, user):
    """A pool waits longer after each failure, so each user gets one errno for a step, and another than the other's."""
    errnos = [errno for errno in ERRNOS.items() if errno[0] != TOLERATED.get(call)]
    return errnos[(list(table).index(call) + user.uid) % len(errnos)]


RECOVERY = ["clone3 who=adder-pool", f"unshare {LAUNCHER}", f"execve {LAUNCHER}", f"signalfd4 {ZYGOTE}"]


@pytest.mark.parametrize("call", RECOVERY)
def test_daemon_that_could_not_start_a_zygote(faulty_alone, user, call):
    name, reason = errno_for(call, START, user)
    faulty_alone.set(in_numbers(f"{call} {name}"))
    faulty_alone.drop_zygote()
    refused(faulty_alone, START[call], reason)


@pytest.mark.parametrize("call, step", chosen(SPAWN, f"clone 0&CLONE_NEWPID {ZYGOTE}", f"capset {SANDBOX}"))
def test_making_of_a_sandbox(faulty, user, call, step):
    name, reason = errno_for(call, SPAWN, user)
    faulty.set(in_numbers(f"{call} {name}"))
    faulty.drop_parked()
    refused(faulty, step, reason)


@pytest.mark.parametrize("call, step", chosen(PRETENCE, f"capset return=0 {SANDBOX}"))
def test_step_that_only_seems_to_work(faulty, call, step):
    faulty.set(in_numbers(call))
    faulty.drop_parked()
    refused(faulty, step)



@pytest.mark.parametrize("call, step", chosen(LEASE, "prlimit64 who=connection"))
def test_handing_out_of_a_sandbox(faulty, call, step):
    for name, reason in ERRNOS.items():
        faulty.set(f"{call} {name}")
        refused(faulty, step, reason)


def test_run_below_what_it_should_have(faulty, user):
    """What only deepens the defence is done without when the kernel refuses it, and the result says so."""
    if faulty.adder.run("1").isolation["missing"] not in ([], ["cgroup"]):
        pytest.skip("this host lacks more than control groups")
    faulty.at_rest()
    faulty.set(f"fsmount EPERM to=1 {SANDBOX}")  # as where a container masks its /proc
    faulty.drop_parked()

    def without_proc():
        result = faulty.adder.run("import os\nprint(os.path.exists('/proc/self'))")
        assert result.outcome == "ok"
        return result.stdout == "False\n" and "proc" in result.isolation["missing"]

    wait_until(without_proc, "a run without /proc")


# What the kernel says, and whether a sandbox then shares its cores with others.
CORES = {"return=0": False, "ENODEV": False, "EINVAL": True, "EPERM": True}


@pytest.mark.parametrize("answer, shared", CORES.items())
def test_cores_of_a_sandbox(make_adder, tools, answer, shared):
    """ENODEV: no core has two threads. The call is made by the sandbox's first process, which all others descend from."""
    adder = make_adder("[pool]\nparked = 1\n[sandbox]\nmitigations = core_scheduling\n")
    line = f"prctl 0=PR_SCHED_CORE 1=PR_SCHED_CORE_CREATE 2=0 3=1 4=0 {answer} {SANDBOX}"
    file = adder.file("faults", in_numbers(line))
    hits = adder.file("faults.hits", "")
    result = wrapped(adder, [tools / "inject", file, *CALLS, "--"]).run("print(1)", "--no-daemon")
    assert (result.outcome, result.stdout) == ("ok", "1\n")
    assert ("core_scheduling" in result.isolation["missing"]) == shared
    assert "prctl" in hits.read_text()


def test_no_connection_is_accepted(faulty):
    """With all its descriptors in use the daemon leaves callers waiting, and goes on when there are some again."""
    faulty.set("accept4 EMFILE")
    waiting = [faulty.adder.start("print(1)") for _ in range(3)]
    wait_until(lambda: "accept4" in faulty.hits.read_text(), "the daemon to be unable to accept")
    faulty.clear()
    for process in waiting:
        out, _ = process.communicate(timeout=harness.DEADLINE)
        assert (process.returncode, out) == (0, b"1\n")
