# SPDX-License-Identifier: Apache-2.0
"""Hosts that offer less: what is lacking is said, and a run below what is asked for does not begin."""
import contextlib
import ctypes
import errno
import pathlib
import shutil
import subprocess

import pytest

import harness

pytestmark = pytest.mark.both_users

BOMB = "kept = []\nwhile True: kept.append(bytearray(b'x') * 1_000_000)"


def test_without_control_groups(make_adder):
    adder = make_adder("[sandbox]\ncgroup = none\n")
    result = adder.run("print(2**32)")
    assert result.stdout == "4294967296\n"
    assert (result.isolation["level"], result.isolation["missing"]) == (2, ["cgroup"])
    assert adder.run(BOMB, "--memory", "100M", "--timeout", "60").outcome == "memory_limit"
    assert adder.run("while True: pass", "--limit", "cpu_ms=500", "--timeout", "60").outcome == "cpu_limit"
    assert not [path for path in harness.host_cgroups() if f"adder-{adder.daemon()}-" in path]
    adder.stop()


def test_lowest_level_of_the_configuration(make_adder):
    adder = make_adder("[sandbox]\ncgroup = none\nmin_isolation = 3\n")
    result = adder.run("print(1)")
    assert result.outcome in ("failed", "refused") and result.stdout == ""
    assert "2" in result.error["message"] and "3" in result.error["message"]
    adder.stop()


def profile(adder, name, text):
    folder = adder.config / "profiles"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.conf").write_text(text)
    for path in (folder, folder / f"{name}.conf"):
        adder.own(path)


# ---- mitigations ----

# What /proc/PID/status says of a process that may choose, and of one that has chosen for good. Others: the host has decided.
SPECULATION = {
    "store_bypass": ("Speculation_Store_Bypass", "thread vulnerable", "thread force mitigated"),
    "indirect_branch": ("SpeculationIndirectBranch", "conditional enabled", "conditional force disabled"),
}
LEVELS = {3: "", 1: "isolation = process\n", 0: "isolation = none\nmin_isolation = 0\n"}

# A child that executes a program, which takes a name and waits.
COUPLE = """
import subprocess, sys
child = "import ctypes, time; ctypes.CDLL(None).prctl(15, b'NAME'); print('ready', flush=True); time.sleep(600)"
subprocess.run([sys.executable, "-c", child])
"""


def speculation(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if line.startswith("Speculation"))


def choices():
    """The mitigations that processes of this host may choose."""
    found = speculation("self")
    return [name for name, (key, open_, _) in SPECULATION.items() if found.get(key) == open_]


@contextlib.contextmanager
def couple(adder, *options):
    """The processes of a run: its first, and a program that it started."""
    name = harness.unique()
    with adder.start(COUPLE.replace("NAME", name), *options) as run:
        try:
            assert run.stdout.readline() == b"ready\n", run.stderr.read()
            (child,) = harness.with_name(name)
            yield child.parent, child.pid
        finally:
            run.kill()


@pytest.mark.parametrize("level", LEVELS)
def test_speculation_of_all_sandboxes(make_adder, level):
    names = choices()
    if not names:
        pytest.skip(f"this host lets no process choose how the processor speculates: {speculation('self')}")
    adder = make_adder(f"[sandbox]\n{LEVELS[level]}mitigations = {' '.join(names)}\n")
    kind = ["--isolation", "none"] if level == 0 else []
    with couple(adder, *kind) as pids:
        for pid in pids:
            assert [speculation(pid)[SPECULATION[name][0]] for name in names] == [SPECULATION[name][2] for name in names]
    result = adder.run("1", *kind)
    assert result.outcome == "ok" and not set(names) & set(result.isolation["missing"])
    adder.stop()


def test_speculation_of_a_profile(make_adder):
    names = choices()
    if not names:
        pytest.skip(f"this host lets no process choose how the processor speculates: {speculation('self')}")
    adder = make_adder()
    for name in names:
        profile(adder, name, f"[profile]\ntitle = Careful\nmitigations = {name}\n")
    for chosen in (None, *names):
        with couple(adder, *(["--profile", chosen] if chosen else [])) as pids:
            for pid in pids:
                found = speculation(pid)
                for name in names:
                    key, otherwise, here = SPECULATION[name]
                    assert found[key] == (here if name == chosen else otherwise), (chosen, found)
    adder.stop()


def test_mitigation_that_the_host_lacks(make_adder):
    """It is done without, and told. PR_GET_SPECULATION_CTRL says 8 where l1d_flush= was not given to the kernel."""
    if ctypes.CDLL(None).prctl(52, 2, 0, 0, 0) != 8:
        pytest.skip("this host lets processes have the first cache emptied (l1d_flush=)")
    adder = make_adder("[sandbox]\nmitigations = l1d_flush\n")
    result = adder.run("print(1)")
    assert (result.outcome, result.stdout) == ("ok", "1\n") and "l1d_flush" in result.isolation["missing"]
    adder.stop()


def test_unknown_mitigation(make_adder):
    ended = make_adder("[sandbox]\nmitigations = cores\n").call("run", "--no-daemon", "-c", "print(1)")
    assert ended.returncode != 0 and ended.stdout == ""
    assert '[sandbox] mitigations: "cores" is not one of: core_scheduling' in ended.stderr


def cookie(pid):
    """Of core scheduling: prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, pid, PR_SCHED_CORE_SCOPE_THREAD, ...)."""
    found = ctypes.c_uint64()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(62, 0, pid, 0, ctypes.byref(found)) == 0:
        return found.value
    lacking = {errno.EINVAL: "this kernel has no core scheduling (CONFIG_SCHED_CORE)", errno.ENODEV: "no core here has two threads"}
    pytest.skip(lacking.get(ctypes.get_errno(), "only root may look at the cookies of sandboxes"))


def test_each_sandbox_has_its_cores_alone(make_adder):
    assert cookie(0) == 0
    adder = make_adder("[sandbox]\nmitigations = core_scheduling\n")
    with couple(adder) as one, couple(adder) as other:
        found = [[cookie(pid) for pid in pids] for pids in (one, other)]
        assert all(first == child != 0 for first, child in found) and found[0] != found[1]
    adder.stop()


# ---- namespaces ----

# The next one is the user's own; the one after would be the sandbox's.
NO_MORE = "echo 1 > /proc/sys/user/max_user_namespaces"


def test_lowest_level_of_a_profile(make_adder):
    adder = make_adder("[sandbox]\ncgroup = none\n")
    profile(adder, "strict", "[profile]\ntitle = Strict\nmin_isolation = 3\n")
    result = adder.run("print(1)", "--profile", "strict")
    assert result.outcome in ("failed", "refused") and "3" in result.error["message"]
    assert adder.run("print(1)").outcome == "ok"
    adder.stop()


def test_a_replay_needs_what_its_profile_requires_now(make_adder):
    adder = make_adder("[sandbox]\ncgroup = none\n")
    profile(adder, "strict", "[profile]\ntitle = Strict\n")
    session = adder.call("session", "new", "--profile", "strict").stdout.strip()
    assert adder.call("run", "--session", session, "-c", "x = 1").returncode == 0
    assert adder.call("session", "replay", session).returncode == 0
    profile(adder, "strict", "[profile]\ntitle = Strict\nmin_isolation = 3\n")
    harness.wait_until(lambda: adder.run("1", "--profile", "strict").outcome != "ok", "the daemon has read it")
    ended = adder.call("session", "replay", session)
    assert ended.returncode != 0 and "isolation level 3 is required" in ended.stderr, ended
    adder.stop()


@pytest.mark.quick
def test_the_level_of_another_kernel(make_adder):
    """No sandbox of the host's has one, and none takes over."""
    adder = make_adder("[container]\nengine = none\n")
    profile(adder, "strict", "[profile]\ntitle = Strict\nbackend = auto\nmin_isolation = 4\n")
    result = adder.run("print(1)", "--profile", "strict")
    assert (result.outcome, result.stdout) == ("refused", ""), result.fields
    assert "level 4" in result.error["message"] and "gVisor" in result.error["message"]
    adder.stop()


def test_profile_of_the_users_own(make_adder):
    adder = make_adder()
    profile(
        adder,
        "small",
        "[profile]\ntitle = Small\n\n[limits]\npids = 9\nwall_ms = 700ms\nmemory_bytes = 100M\n",
    )
    result = adder.run("while True: pass", "--profile", "small")
    assert result.outcome == "timeout"
    assert (result.limits["pids"], result.limits["wall_ms"], result.limits["memory_bytes"]) == (
        9,
        700,
        100 << 20,
    )
    assert adder.run("1", "--profile", "small", "--limit", "pids=11").limits["pids"] == 11
    told = adder.call("profile", "list")
    assert told.returncode == 0 and "small" in told.stdout and "standard" in told.stdout
    adder.stop()


@pytest.mark.parametrize(
    "text, word",
    [
        ("[limits]\nno_such_limit = 1\n", "no_such_limit"),
        ("[limits]\npids = many\n", "pids"),
        ("[limits]\npids = 1000000\n", "4096"),
        ("no key file\n", "broken"),
        ("[no such group]\nx = 1\n", "no such group"),
    ],
)
def test_broken_profile(make_adder, text, word):
    adder = make_adder()
    profile(adder, "broken", text)
    result = adder.run("1", "--profile", "broken")
    assert (
        result.outcome == "failed" and word in result.error["message"] and "broken" in result.error["message"]
    )
    assert adder.run("print(1)").outcome == "ok"
    adder.stop()


def inside(adder, preparation, *arguments, user="unshare -U --map-user=1234 --map-group=1234"):
    """A command on a host that PREPARATION (shell) has made poorer: in a user and mount namespace of its own, and there
    as an ordinary user."""
    if not shutil.which("unshare"):
        pytest.skip("no unshare (package util-linux)")
    apart = [*adder.user.prefix, "unshare", "-Urm"]
    if subprocess.run([*apart, "true"], cwd=adder.scratch, capture_output=True).returncode != 0:
        pytest.skip("user namespaces cannot be made here")
    script = f'{preparation} && exec {user} "$@"'
    ended = subprocess.run(
        [*apart, "sh", "-c", script, "sh", str(adder.installation.program), *arguments],
        cwd=adder.scratch,
        env=adder.process_environment(),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=100,
    )
    harness.gathered.append((ended.args, ended.returncode, ended.stdout, ended.stderr))
    return ended


def test_without_user_namespaces(make_adder):
    adder = make_adder()
    ended = inside(adder, NO_MORE, "run", "--no-daemon", "--env", "system", "-c", "print(1)")
    assert ended.returncode == 126 and ended.stdout == ""
    assert "user namespace" in ended.stderr and len(ended.stderr.strip().splitlines()) == 1
    assert "max_user_namespaces" in ended.stderr and "min_isolation = 1" in ended.stderr


def test_without_user_namespaces_where_that_is_allowed(make_adder):
    adder = make_adder("[sandbox]\nmin_isolation = 1\n")
    ended = inside(adder, NO_MORE, "run", "--no-daemon", "--json", "--env", "system", "-c", "print(1)")
    result = harness.Adder.parse(ended.stdout, ended.stderr, ended.returncode)
    assert (result.outcome, result.stdout) == ("ok", "1\n")
    assert result.isolation["level"] == 1 and "user_namespace" in result.isolation["missing"]


def test_doctor_without_user_namespaces(make_adder):
    adder = make_adder()
    ended = inside(adder, NO_MORE, "doctor")
    assert "max_user_namespaces" in ended.stdout + ended.stderr


def test_with_a_masked_proc(make_adder):
    """As in many containers: a fresh /proc is refused by the kernel. Then there is none, and the result says so."""
    adder = make_adder()
    ended = inside(
        adder,
        "mount --bind /dev/null /proc/version",
        "run",
        "--no-daemon",
        "--json",
        "--env",
        "system",
        "-c",
        "print(1)",
    )
    result = harness.Adder.parse(ended.stdout, ended.stderr, ended.returncode)
    if result.outcome == "ok":
        assert any("proc" in name for name in result.isolation["missing"])
    else:
        assert "/proc" in result.error["message"]


@pytest.mark.parametrize(
    "who", ["", "unshare -U --map-user=1234 --map-group=1234"], ids=["as its root", "as a user"]
)
def test_nested_in_a_user_namespace(make_adder, who):
    """Rootless containers and other sandboxes, also with a root that is none: it works as for an ordinary user."""
    adder = make_adder()
    ended = inside(
        adder, "true", "run", "--no-daemon", "--json", "--env", "system", "-c", "print(1)", user=who
    )
    result = harness.Adder.parse(ended.stdout, ended.stderr, ended.returncode)
    if who == "" and adder.user.uid == 0:
        # This root is the host's, and no other id is there that a sandbox could have: refused, and rightly.
        assert result.outcome == "failed" and "root_uid" in result.error["message"]
    else:
        assert (result.outcome, result.stdout) == ("ok", "1\n") and result.isolation["level"] >= 2
