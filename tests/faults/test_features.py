# SPDX-License-Identifier: Apache-2.0
"""Kernels that lack something: either all holds at the level that the result tells, or every run is refused with one
sentence that names what is missing and how to get it."""
import json
import signal

import pytest

import harness
from harness import named, unique, wait_until, with_name

pytestmark = pytest.mark.both_users


class Works:
    """All holds. MISSING: what the results say is not in force; SPARED: levels that this costs."""

    def __init__(self, *missing, level=3, fact=None):
        self.missing, self.level, self.fact = set(missing), level, fact


class Refused:
    """No run begins. WORDS: what the sentence has in it; FACT: the line of `adder doctor` that has it too."""

    def __init__(self, fact, *words):
        self.fact, self.words = fact, words


def call(name):
    return Refused("kernel", f"without {name}", f"allow {name} in the system call filter")


# What `without` can take away, and what comes of it.
FEATURES = {
    # Younger than Linux 5.12.
    "landlock": Works("landlock", fact="landlock"),
    "landlock-on": Works("landlock", fact="landlock"),
    "collapse": Works(),
    "populate": Works(),
    # Nothing needs it.
    "clone3": Works(),
    # In every kernel from Linux 5.12 on.
    "close_range": call("close_range"),
    "openat2": call("openat2"),
    "mount_setattr": call("mount_setattr"),
    "mount-by-descriptor": call("open_tree"),
    "pidfd": call("pidfd_open"),
    "execveat": call("execveat"),
    "memfd": call("memfd_create"),
    "setns": call("setns"),
    "pivot_root": Refused(None, "cannot make the new tree the root"),
    "seccomp": Refused("seccomp", "isolation level 2", "CONFIG_SECCOMP_FILTER=y"),
    "seccomp-filter": Refused("seccomp", "isolation level 2", "seccomp=unconfined"),
    "user-namespaces": Refused("user namespaces", "user namespaces", "--security-opt seccomp=unconfined"),
}


def refusal(expected):
    """Outcome, output and exit code: what the host is known to lack is a matter of min_isolation, the rest is a failure."""
    return ("refused", "", 126) if expected.fact else ("failed", "", 125)


# ---- what must hold ----


def prints(adder):
    result = adder.run("print(2**32)\n6 * 7")
    assert (result.outcome, result.stdout, result.text) == ("ok", "4294967296\n", "42")


def has_files(adder):
    given = adder.file("given.txt", "in and ")
    result = adder.run("open('out.txt', 'w').write(open('given.txt').read() + 'out')", "--file", given)
    assert result.outcome == "ok" and result.names == ["out.txt"]


def tells_errors(adder):
    result = adder.run("open('/etc/shadow')")
    assert (result.outcome, result.error["type"], result.error["line"]) == ("error", "FileNotFoundError", 1)
    assert adder.run("open('/usr/new', 'w')").error["type"] in ("OSError", "PermissionError")


def limits_memory(adder):
    assert adder.run("bytearray(10**9).count(1)", "--memory", "100M").outcome == "memory_limit"


def limits_time(adder):
    assert adder.run("while True: pass", "--timeout", "0.3").outcome == "timeout"


FORKS = """
import os, time
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            time.sleep(100)
        made += 1
except OSError:
    pass
print(made, flush=True)
"""


def limits_processes(adder):
    """A fork bomb is held, and what the run leaves is gone with it."""
    name = unique()
    result = adder.run(named(name, FORKS), "--limit", "pids=20", "--timeout", "30")
    assert 0 < int(result.stdout) <= 20
    wait_until(lambda: not with_name(name), "the forks to be gone")


def runs_two_at_once(adder):
    name = unique()
    both = [adder.start(named(name), "--timeout", "60") for _ in range(2)]
    assert [process.stdout.readline() for process in both] == [b"started\n"] * 2
    for process in both:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=harness.DEADLINE)
        assert process.returncode == 130
    wait_until(lambda: not with_name(name), "both to be gone")


CHECKS = [prints, has_files, tells_errors, limits_memory, limits_time, limits_processes, runs_two_at_once]

FRAME = "import pandas as pd\nprint(pd.DataFrame({'k': [1, 1, 2], 'v': [3, 4, 5]}).groupby('k').v.sum().tolist())"


def full_level(adder):
    """What this user reaches on this host when nothing is taken away."""
    return json.loads(adder.call("doctor", "--json").stdout)["level"]


def check_doctor(served, expected):
    """doctor tells the same as a run: a mechanism that is not good, and how to get it."""
    told = served.inside.call("doctor", "--json")
    found = json.loads(told.stdout)
    if expected.fact:
        fact = next(item for item in found["mechanisms"] if item["name"] == expected.fact)
        assert not fact["good"] and fact["remedy"] and fact["cost"]
    works = isinstance(expected, Works)
    assert told.returncode == (0 if works else 1)
    assert found["trial"]["outcome"] == ("ok" if works else refusal(expected)[0])
    return found


def check_works(served, expected):
    adder, level = served.adder, min(expected.level, full_level(served.adder))
    told = check_doctor(served, expected)
    assert told["trial"]["level"] == level
    for check in CHECKS:
        check(adder)
    result = adder.run("1")
    assert result.isolation["level"] == level
    assert set(result.isolation["missing"]) == expected.missing | ({"cgroup"} if level < 3 else set())


def check_refused(served, expected):
    adder = served.adder
    first = adder.run("print(1)")
    assert (first.outcome, first.stdout, first.exit_status) == refusal(expected)
    message = first.error["message"]
    for word in expected.words:
        assert word in message
    assert "\n" not in message and not message.endswith(".")
    pid = adder.daemon()
    assert adder.run("print(2)").error["message"] == message and adder.daemon() == pid
    assert check_doctor(served, expected)["trial"]["message"] == message


def check(served, expected):
    (check_works if isinstance(expected, Works) else check_refused)(served, expected)
    served.stop()


# ---- one feature at a time ----


@pytest.mark.parametrize(
    "feature", harness.quick(FEATURES, "landlock", "clone3", "mount_setattr", "seccomp", "user-namespaces")
)
def test_without(serve, tools, feature):
    check(serve([tools / "without", feature, "--"]), FEATURES[feature])


@pytest.mark.parametrize("version", range(1, 6))
def test_older_landlock(serve, tools, common_directory, version):
    """The kernel tells a version, and knows of each what it added."""
    file = common_directory / f"landlock-{version}"
    file.write_text(f"landlock_create_ruleset return={version} 2=1")
    served = serve([tools / "inject", file, "landlock_create_ruleset", "--"])
    check(served, Works(fact="landlock"))


@pytest.mark.parametrize("feature", ["collapse", "populate", "landlock"])
def test_pandas_without(serve, science, tools, feature):
    """A zygote of another size: its memory is collapsed, learnt and touched ahead where the kernel knows how."""
    served = serve([tools / "without", feature, "--"])
    result = served.adder.run(FRAME, env="science")
    assert (result.outcome, result.stdout) == ("ok", "[7, 5]\n")
    served.stop()


HIDDEN = "mount -t tmpfs none /sys/fs/cgroup"
# As in a container: there, but not to be changed.
READ_ONLY = "for each in $(awk '$5 ~ \"^/sys/fs/cgroup\" { print $5 }' /proc/self/mountinfo); do mount -o remount,bind,ro $each; done"


def test_stored_files_without_overlays(serve, tools):
    """A large file is copied then, and the limit on the workspace holds."""
    served = serve([tools / "without", "overlay", "--"])
    adder = served.adder
    (file,) = adder.run("open('large.bin', 'wb').write(bytes(20 << 20))").files
    arguments = ("--file", f"@{file['file_id']}")
    assert adder.run("print(len(open('large.bin', 'rb').read()))", *arguments).stdout == f"{20 << 20}\n"
    full = adder.run("1", *arguments, "--limit", "workspace_bytes=4M")
    assert full.outcome == "failed" and "workspace_bytes" in full.error["message"]
    served.stop()


def test_large_files_without_overlays(serve, tools):
    """A file of the caller's is copied then, and what does not fit is told why it had to be."""
    served = serve([tools / "without", "overlay", "--"])
    adder = served.adder
    arguments = ("--file", adder.file("large.bin", bytes(20 << 20)))
    code = "print(len(open('large.bin', 'rb').read()))\nopen('large.bin', 'a').write('x')"
    result = adder.run(code, *arguments)
    assert result.stdout == f"{20 << 20}\n" and result.names == ["large.bin"]
    full = adder.run("1", *arguments, "--limit", "workspace_bytes=4M")
    assert full.outcome == "failed"
    assert "it had to be copied: cannot make an overlay" in full.error["message"]
    served.stop()


@pytest.mark.parametrize("preparation", [HIDDEN, READ_ONLY], ids=["hidden", "read-only"])
def test_without_control_groups(serve, user, preparation):
    if user.uid != 0:
        pytest.skip("only root can hide the control groups from a daemon")
    wrapper = ["unshare", "-m", "--propagation", "private", "sh", "-c", f'{preparation}; exec "$@"', "sh"]
    check(serve(wrapper), Works(level=2, fact="control groups"))


# Of those without which there is no level 2: what level 1 needs as well, and what it does not.
LEVEL_1_TOO = ["close_range", "openat2", "pidfd", "memfd", "seccomp"]
LEVEL_2_ONLY = ["mount_setattr", "mount-by-descriptor", "execveat", "setns", "user-namespaces"]
LEVEL_1 = "[sandbox]\nmin_isolation = 1\n"


@pytest.mark.parametrize("feature", LEVEL_2_ONLY)
def test_level_1_where_it_is_allowed(serve, tools, feature):
    served = serve([tools / "without", feature, "--"], LEVEL_1)
    for check in (prints, has_files, limits_memory, limits_time):
        check(served.adder)
    result = served.adder.run("1")
    assert result.isolation["level"] == 1 and "user_namespace" in result.isolation["missing"]
    served.stop()


@pytest.mark.parametrize("feature", LEVEL_1_TOO)
def test_below_level_1(serve, tools, feature):
    """That nothing is confined is never a fallback."""
    served = serve([tools / "without", feature, "--"], LEVEL_1)
    result = served.adder.run("print(1)")
    assert (result.outcome, result.stdout) == ("refused", "")
    assert "isolation level 1 is required" in result.error["message"] and FEATURES[feature].words[-1] in result.error["message"]
    served.stop()


def test_lowest_level_is_kept(serve, tools):
    """What is not reached is refused, with both levels in the sentence."""
    served = serve([tools / "without", "landlock", "--"], "[sandbox]\ncgroup = none\nmin_isolation = 3\n")
    result = served.adder.run("print(1)")
    assert result.outcome in ("failed", "refused") and result.stdout == ""
    assert "2" in result.error["message"] and "3" in result.error["message"]
    served.stop()
