# SPDX-License-Identifier: Apache-2.0
"""Hosts that offer less: what is lacking is said, and a run below what is asked for does not begin."""
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


# The next one is the user's own; the one after would be the sandbox's.
NO_MORE = "echo 1 > /proc/sys/user/max_user_namespaces"


def profile(adder, name, text):
    folder = adder.config / "profiles"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.conf").write_text(text)
    for path in (folder, folder / f"{name}.conf"):
        adder.own(path)


def test_lowest_level_of_a_profile(make_adder):
    adder = make_adder("[sandbox]\ncgroup = none\n")
    profile(adder, "strict", "[profile]\ntitle = Strict\nmin_isolation = 3\n")
    result = adder.run("print(1)", "--profile", "strict")
    assert result.outcome in ("failed", "refused") and "3" in result.error["message"]
    assert adder.run("print(1)").outcome == "ok"
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
