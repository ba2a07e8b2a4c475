# SPDX-License-Identifier: Apache-2.0
"""Broken installations and interpreters, and what dies at an awkward moment."""
import contextlib
import os
import re
import shutil
import signal
import subprocess

import pytest

import harness
from harness import named, quick, unique, wait_until, with_name
from serving import daemon_with_faults
from test_setup import LAUNCHER, SANDBOX, ZYGOTE, in_numbers

pytestmark = pytest.mark.both_users

# ---- broken installations ----


def remove(path):
    path.unlink()


def make_data(path):
    path.chmod(0o644)


def replace(text, mode=0o755):
    def change(path):
        path.unlink()
        path.write_text(text)
        path.chmod(mode)

    return change


def prepend(text):
    """TEXT comes first in a Python file."""

    def change(path):
        path.write_text(text + path.read_text())

    return change


SLEEPS = "#!/bin/sh\nexec sleep 1000\n"

# A file of libexec, what becomes of it, and what the sentence says then.
BROKEN = {
    "no launcher": ("adder-zygote", remove, "cannot start .*adder-zygote: No such file or directory"),
    "a launcher that is no program": ("adder-zygote", make_data, "cannot start .*adder-zygote: Permission denied"),
    "a launcher that ends": ("adder-zygote", replace("#!/bin/sh\nexit 0\n"), "did not start"),
    "a launcher that fails": ("adder-zygote", replace("#!/bin/sh\necho no luck >&2; exit 3\n"), "no luck"),
    "a launcher that talks nonsense": (
        "adder-zygote",
        replace("#!/bin/sh\nprintf '\\001\\000\\000\\000 nonsense' >&3\nexec sleep 1000\n"),
        "is of another version of Adder",
    ),
    "a launcher that hangs": ("adder-zygote", replace(SLEEPS), "did not start within 1000 ms"),
    "no init": ("adder-init", remove, "cannot open .*adder-init"),
    "an init that is no program": ("adder-init", replace("nonsense"), "cannot execute adder-init: Exec format error"),
    "no extension module": ("_adder.abi3.so", remove, "ImportError.*_adder"),
    "an extension module that is none": ("_adder.abi3.so", replace("nonsense"), "ImportError.*_adder"),
    "no zygote.py": ("zygote.py", remove, "zygote.py.*No such file"),
    "a zygote that raises": ("warmup.py", prepend("raise RuntimeError('no luck')\n"), "RuntimeError: no luck"),
    "a zygote that exits": ("warmup.py", prepend("import os; os._exit(0)\n"), "did not start"),
    "a zygote that crashes": ("warmup.py", prepend("import os; os.abort()\n"), "did not start"),
    "a zygote that hangs": ("warmup.py", prepend("import time; time.sleep(1000)\n"), "did not start within 1000 ms"),
    "a zygote with a thread": (
        "warmup.py",
        prepend("import threading, time; threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"),
        "other threads are alive before serving",
    ),
    "a zygote with a descriptor": (
        "warmup.py",
        prepend("import os; left = os.open('/etc/passwd', 0)\n"),
        "descriptor [0-9]+ is open before serving: /etc/passwd",
    ),
}


def libexec(adder, name, change):
    """A copy of the installation's private programs in which the file NAME is changed."""
    folder = adder.directory / "libexec"
    shutil.copytree(adder.installation.prefix / "libexec/adder", folder)
    change(folder / name)
    return folder


@pytest.mark.parametrize("what", quick(BROKEN, "no launcher", "a zygote that raises", "an init that is no program"))
def test_broken_installation(make_adder, what):
    name, change, sentence = BROKEN[what]
    adder = make_adder("[pool]\nparked = 1\n" + ("zygote_start_ms = 1s\n" if "1000 ms" in sentence else ""))
    adder.variables["ADDER_LIBEXECDIR"] = str(libexec(adder, name, change))
    before = harness.host_mounts()
    result = adder.run("print(1)")
    assert (result.outcome, result.exit_status, result.stdout) == ("failed", 125, "")
    message = result.error["message"]
    assert "\n" not in message
    assert re.search(sentence, message)
    assert adder.run("print(1)").outcome == "failed"
    adder.stop()
    assert harness.host_mounts() == before


# ---- broken interpreters ----

# What stands in the place of an environment's Python, and what the sentence says then. It is not asked: a zygote tries to start.
INTERPRETERS = {
    "none": (None, "cannot run .*python.*No such file"),
    "data": ("nonsense", "cannot start: cannot execute .*python: Exec format error"),
    "one that fails": ("#!/bin/sh\necho no luck >&2\nexit 3\n", "did not start: no luck"),
    "one that crashes": ("#!/bin/sh\nkill -SEGV $$\n", "did not start"),
    "garbage": ("#!/bin/sh\nhead -c 100000 /dev/urandom\n", "did not start"),
    "words for a terminal": ("#!/bin/sh\nprintf '\\033[2Jadder: warning' >&2\n", r"did not start: \\x1b\[2Jadder"),
    "an answer": ("#!/bin/sh\necho '{\"version\": 3, \"implementation\": []}'\n", "did not start"),
}
# Each of these is waited for as long as a zygote may take.
ENDLESS = {
    "endless output": ("#!/bin/sh\nexec yes\n", "did not start within 5000 ms"),
    "one that hangs": ("#!/bin/sh\nsleep 1001 & sleep 1002\n", "did not start within 5000 ms"),
    "one that closes its streams and stays": (
        "#!/bin/sh\nexec >&- 2>&-\nsleep 1003 & sleep 1004\n",
        "did not start within 5000 ms",
    ),
}
SLEEPING = [[b"sleep", b"%d" % seconds] for seconds in range(1001, 1005)]


def sleepers(user):
    """Processes of those scripts."""
    found = []
    for process in harness.processes():
        with contextlib.suppress(FileNotFoundError):  # it ended meanwhile
            if process.arguments() in SLEEPING and os.stat(f"/proc/{process.pid}").st_uid == user.uid:
                found.append(process)
    return found


def try_interpreters(adder, interpreters):
    """All at once; meanwhile the daemon serves others."""
    adder.variables["ADDER_ENVIRONMENTS_DIR"] = str(adder.folder("environments"))
    # The one that serves the others is there before anything is broken: its start may take longer than zygote_start_ms.
    wait_until(lambda: adder.run("print(2)").stdout == "2\n", "a zygote that works")
    for index in range(len(interpreters)):
        python = adder.scratch / f"python-{index}"
        subprocess.run(
            [*adder.user.prefix, "/usr/bin/python3", "-m", "venv", "--without-pip", python], check=True, cwd=adder.scratch
        )
        assert adder.call("env", "new", f"e{index}", "--python", python / "bin/python").returncode == 0
    for index, (text, _) in enumerate(interpreters.values()):
        path = adder.scratch / f"python-{index}/bin/python"
        path.unlink()
        if text is not None:
            path.write_text(text)
            path.chmod(0o755)

    runs = [adder.start("print(1)", env=f"e{index}", json_reply=True) for index in range(len(interpreters))]
    assert adder.run("print(2)").stdout == "2\n"
    for run, (what, (_, sentence)) in zip(runs, interpreters.items()):
        out, err = run.communicate(timeout=harness.DEADLINE)
        harness.gathered.append((run.args, run.returncode, out, err))
        result = harness.Adder.parse(out.decode(), err.decode(), run.returncode)
        assert (result.outcome, result.exit_status) == ("failed", 125), what
        assert re.search(sentence, result.error["message"]) and "\n" not in result.error["message"], what
    wait_until(lambda: not sleepers(adder.user), "what the interpreters started to be gone")
    assert adder.run("print(2)").stdout == "2\n"
    adder.stop()


def test_broken_interpreters(make_adder):
    try_interpreters(make_adder(), INTERPRETERS)


# As the user who may do least: the processes are their own, and the time is the same for all.
@pytest.mark.parametrize(
    "user", [user for user in harness.users() if not user.why_not][-1:], ids=lambda user: user.name, indirect=True
)
def test_endless_interpreters(make_adder):
    try_interpreters(make_adder("[pool]\nzygote_start_ms = 5s\n"), ENDLESS)


# ---- what dies at an awkward moment ----


# The call at which a sandbox that is being parked stops, and who is killed then.
PARKING = [
    (f"setns hold 1=CLONE_NEWPID {ZYGOTE}", "python3"),
    (f"setns hold 1=CLONE_NEWPID {ZYGOTE}", "adder-init"),
    (f"open_tree hold {SANDBOX}", "adder-run"),
    (f"open_tree hold {SANDBOX}", "adder-init"),
    (f"open_tree hold {SANDBOX}", "python3"),
    (f"seccomp hold {SANDBOX}", "adder-run"),
    (f"seccomp hold {SANDBOX}", "adder-init"),
    (f"seccomp hold {SANDBOX}", "python3"),
]


@pytest.mark.parametrize("line, who", PARKING)
def test_killed_while_parking(faulty, line, who):
    faulty.set(in_numbers(line))
    faulty.drop_parked()
    faulty.wait_hit()
    faulty.kill(faulty.one(who))


def start_with_bind_mount(faults):
    """A run whose sandbox has attached its bind mount, and is not ready yet."""
    folder = faults.adder.file("bind/data", "bind").parent
    faults.set(in_numbers(f"landlock_restrict_self hold {SANDBOX}"))
    run = faults.adder.start("print(open('data').read())", "--workdir", folder, json_reply=True)
    faults.wait_hit()
    return run


def reads_what_was_bind_mounted(run):
    out, err = run.communicate(timeout=harness.DEADLINE)
    result = harness.Adder.parse(out.decode(), err.decode(), run.returncode)
    assert (result.outcome, result.stdout) == ("ok", "bind\n"), result.error


def test_killed_zygote_of_a_bind_mount(faulty):
    """A mount cannot be attached twice: the next sandbox has another one."""
    run = start_with_bind_mount(faulty)
    faulty.kill(faulty.one("python3"))
    faulty.clear()
    reads_what_was_bind_mounted(run)


def test_replaced_zygote_of_a_bind_mount(installation, user, common_directory, tools):
    """The same where a zygote was replaced, which happens to the first of each daemon."""
    config = "[environment]\ndefault = system\n\n[pool]\nparked = 1\nzygote_runs = 2\n"
    with daemon_with_faults(installation, user, common_directory, tools, config=config) as faults:
        wait_until(faults.works, "a run to work")
        faults.at_rest()
        before = faults.served()
        run = start_with_bind_mount(faults)
        wait_until(lambda: faults.served() > before, "the next zygote to serve")
        faults.clear()
        reads_what_was_bind_mounted(run)


@pytest.mark.parametrize("line", [f"pipe2 hold {LAUNCHER}", f"sethostname hold {LAUNCHER}", f"execve hold {LAUNCHER}"])
def test_killed_while_a_zygote_starts(faulty, line):
    """First the launcher, then the zygote that is not Python yet. Who waits is told."""
    faulty.set(line)
    faulty.drop_zygote()
    faulty.wait_hit()
    run = faulty.adder.start("print(1)", json_reply=True)
    wait_until(lambda: faulty.adder.status()["engine"]["waiting"] == 1, "a run to wait for the zygote")
    faulty.kill(faulty.one("adder-zygote"))
    out, _ = run.communicate(timeout=harness.DEADLINE)
    result = harness.strict_json(out.decode())
    assert result["outcome"] == "failed" and "the zygote of the environment system did not start" in result["error"]["message"]


@pytest.mark.parametrize("who", ["adder-init", "python3"])
def test_killed_during_a_run(faulty, who):
    """The init of a sandbox, and the zygote: of the run nothing stays, and it says how it ended."""
    name = unique()
    run = faulty.adder.start(named(name), "--timeout", "100", json_reply=True)
    wait_until(lambda: with_name(name), "the run to be under way")
    if who == "python3":
        victim = faulty.one(who)
    else:
        [worker] = with_name(name)
        [victim] = [p for p in faulty.family() if p.name == who and p.namespace("ipc") == worker.namespace("ipc")]
    faulty.kill(victim)
    out, err = run.communicate(timeout=harness.DEADLINE)
    harness.gathered.append((run.args, run.returncode, out, err))
    result = harness.Adder.parse(out.decode(), err.decode(), run.returncode)
    assert result.outcome in (("failed",) if who == "python3" else ("crashed",))
    wait_until(lambda: not with_name(name), "its processes to be gone")


def test_killed_between_hand_out_and_request(faulty):
    """A sandbox is chosen, its limits are being set, and it dies before it has read a line of code."""
    line = "prlimit64 hold who=connection"
    faulty.set(line)
    run = faulty.adder.start("print(1)", json_reply=True)
    faulty.wait_hit()
    faulty.kill(faulty.one("adder-run"))
    faulty.clear()
    out, err = run.communicate(timeout=harness.DEADLINE)
    result = harness.strict_json(out.decode())
    assert result["outcome"] in ("crashed", "failed") and result["stdout"] == ""


def test_killed_daemon_with_many_runs(make_adder):
    """kill -9 with twenty runs on: none of them lives on, and the next daemon removes what a dead one cannot."""
    adder = make_adder("[pool]\nmax_running = 20\nmax_memory = 64G\nparked = 4\n")
    assert adder.run("print(1)").stdout == "1\n"
    name = unique()
    runs = [adder.start(named(name), "--timeout", "100") for _ in range(20)]
    assert [run.stdout.readline() for run in runs] == [b"started\n"] * 20
    traces, pid = adder.traces(), adder.daemon()
    harness.Process(pid).signal(signal.SIGKILL)
    for run in runs:
        _, err = run.communicate(timeout=harness.DEADLINE)
        assert run.returncode == 125 and len(err.strip().splitlines()) == 1
    traces.wait_gone()
    assert not with_name(name)
    assert adder.run("print(2)").stdout == "2\n"
    assert not [path for path in harness.host_cgroups() if f"adder-{pid}-" in path]
    adder.stop()
