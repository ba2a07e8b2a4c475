# SPDX-License-Identifier: Apache-2.0
"""Control groups v2 of a real kernel, with systemd: who gets one, and that it holds and counts what runs do."""
import json
import pathlib
import subprocess

import pytest

import harness
from people import by_systemd, logged_in

pytestmark = pytest.mark.quick  # what an emulated machine is asked to do

GROUPS = pathlib.Path("/sys/fs/cgroup")
PEOPLE = ("root", "someone")


def group(pid):
    """The directory of the control group that a process is in."""
    [line] = pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    return GROUPS / line.removeprefix("0::/")


def groups_of(pid):
    return [path for path in harness.host_cgroups() if f"adder-{pid}-" in path]


def doctor(adder):
    ended = adder.call("doctor", "--json")
    told = json.loads(ended.stdout)
    return {mechanism["name"]: mechanism for mechanism in told["mechanisms"]}["control groups"], told


@pytest.fixture(scope="module", params=PEOPLE)
def adder(request, installation, common_directory):
    """One person's, with a daemon that a command of a login session starts."""
    adder = harness.Adder(installation, logged_in(request.param), harness.new_directory(common_directory, f"{request.param}-session"))
    adder.environment = "system"
    subprocess.run(["loginctl", "enable-linger", "someone"], check=True)  # their manager stays between their sessions
    yield adder
    try:
        adder.stop()
    finally:
        adder.kill()


# ---- who gets a control group ----


def test_a_daemon_that_a_command_starts_has_a_group_of_its_own(adder):
    result = adder.run("print(6 * 7)")
    assert (result.stdout, result.isolation["level"], result.isolation["missing"]) == ("42\n", 3, [])
    own = group(adder.daemon())
    assert own.name == "supervisor" and own.parent.suffix == ".scope"
    assert {"memory", "pids", "cpu"} <= set((own.parent / "cgroup.subtree_control").read_text().split())
    manager = "system.slice" if adder.user.uid == 0 else f"user@{adder.user.uid}.service"
    assert manager in own.parts


def test_doctor_tells_what_a_run_reaches(adder):
    groups, told = doctor(adder)
    assert (groups["state"], groups["good"]) == ("v2", True)
    assert (told["level"], told["trial"]["level"], told["trial"]["missing"]) == (3, 3, [])


def test_without_a_login_session_there_is_none(new_adder):
    """A service of an ordinary user, for whom no manager of systemd can be reached, is not given a group to divide."""
    adder = new_adder(by_systemd("someone"))
    result = adder.run("b = []\nwhile True: b.append(b'x' * 1_000_000)", "--memory", "100M")
    assert (result.outcome, result.isolation["level"], result.isolation["missing"]) == ("memory_limit", 2, ["cgroup"])
    groups, told = doctor(adder)
    assert (groups["state"], told["level"], told["trial"]["level"]) == ("v2-undelegated", 2, 2)
    assert "Delegate=yes" in groups["remedy"]
    adder.stop()


@pytest.mark.parametrize("delegated", [True, False])
def test_a_service(new_adder, delegated):
    """As doctor advises: Delegate=yes in the unit of an ordinary user's daemon makes the difference."""
    adder = new_adder(by_systemd("someone"))
    unit = f"adder-{harness.unique()}"
    settings = [f"--setenv={name}={value}" for name, value in adder.process_environment().items()]
    subprocess.run(["systemd-run", "--quiet", "--collect", f"--unit={unit}", "--property=Type=notify", "--property=User=someone",
                    f"--property=Delegate={'yes' if delegated else 'no'}", *settings, adder.installation.program, "serve"], check=True)
    try:
        result = adder.run("print(6 * 7)")
        assert (result.stdout, result.isolation["level"]) == ("42\n", 3 if delegated else 2)
    finally:
        subprocess.run(["systemctl", "stop", unit], check=True)
    assert not (GROUPS / "system.slice" / f"{unit}.service").exists()


@pytest.mark.parametrize("enabled", ["adder.service", "adder.socket"])
def test_the_units_of_a_user(new_adder, enabled):
    """What is installed, as packaging/README.md says. The first command starts the daemon of the socket."""
    manage = ["systemctl", "--user", "--machine=someone@"]
    subprocess.run([*manage, "enable", "--now", enabled], check=True)
    adder = new_adder(logged_in("someone"))
    adder.variables = {"ADDER_RUNTIME_DIR": "", "ADDER_CONFIG_DIR": "", "ADDER_STATE_DIR": "", "HOME": "/home/someone"}
    try:
        result = adder.run("print(6 * 7)")
        assert (result.stdout, result.isolation["level"]) == ("42\n", 3)
        shown = subprocess.run([*manage, "show", "--value", "--property=ControlGroup", "adder"], check=True, capture_output=True, text=True)
        unit = GROUPS / shown.stdout.strip().lstrip("/")
        assert [path for path in unit.iterdir() if path.name.startswith("adder-")]
        subprocess.run([*manage, "reload", "adder"], check=True)
        assert adder.run("1").isolation["level"] == 3
    finally:
        subprocess.run([*manage, "disable", "--now", enabled], check=True)
        subprocess.run([*manage, "stop", "adder.service"], check=True)
    assert not unit.exists()


# ---- what it holds ----


def test_all_processes_die_together_when_memory_runs_out(adder):
    """memory.oom.group: what is left of a run would not know what it lost."""
    code = "import os\nif os.fork():\n    os.wait()\n    print('survived')\nelse:\n    b = []\n    while True: b.append(b'x' * 1_000_000)"
    result = adder.run(code, "--memory", "100M")
    assert (result.outcome, result.stdout) == ("memory_limit", "")
    assert 50_000_000 < result.usage["peak_memory_bytes"] <= result.limits["memory_bytes"]


def test_processes(adder):
    code = "import os, time\nfor _ in range(100):\n    if os.fork() == 0: time.sleep(1000)"
    result = adder.run(code, "--limit", "pids=20")
    assert result.outcome == "error" and [denial["kind"] for denial in result.denials] == ["processes"]


def test_share_of_the_processors(adder):
    code = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass"
    result = adder.run(code, "--limit", "cpu_percent=20", "--timeout", "2min")
    assert result.outcome == "ok" and result.usage["wall_ms"] > 3 * result.usage["cpu_ms"] > 0


def test_processor_time_of_all_that_ran_is_counted(adder):
    code = "import os, time\nif os.fork() == 0:\n    end = time.process_time() + 0.5\n    while time.process_time() < end: pass\n    os._exit(0)\nos.wait()"
    result = adder.run(code)
    assert result.outcome == "ok" and result.usage["cpu_ms"] >= 500


def test_nothing_outlives_a_run(adder):
    name = harness.unique()
    assert adder.run(f"import os\nif os.fork() == 0:\n    os.setsid()\n    exec({harness.named(name)!r})").outcome == "ok"
    harness.wait_until(lambda: not harness.with_name(name), "the end of a detached process")


def test_sessions_and_branches(adder):
    sessions = harness.Sessions(adder)
    session = sessions.new()
    assert sessions.cell(session, "x = 1").isolation["level"] == 3
    [branch] = [one["session_id"] for one in sessions.ask("branch", session)["sessions"]]
    sessions.made.append(branch)
    assert sessions.cell(branch, "x += 1\nx").text == "2"
    lost = sessions.cell(branch, "b = []\nwhile True: b.append(b'x' * 10_000_000)")
    assert lost.outcome == "memory_limit"
    assert sessions.cell(session, "x").text == "1"
    sessions.end_all()


def test_a_killed_daemon_leaves_no_group(adder):
    adder.run("1")
    pid = adder.daemon()
    assert groups_of(pid)
    for process in adder.traces().processes:
        process.signal(9)
    harness.wait_until(lambda: not groups_of(pid), "the end of its scope")
    assert adder.run("print(6 * 7)").isolation["level"] == 3


def test_a_daemon_that_ends_leaves_no_group(adder):
    adder.run("1")
    pid = adder.daemon()
    scope = group(pid).parent
    adder.stop()
    harness.wait_until(lambda: not scope.exists(), "the end of its scope")
    assert groups_of(pid) == []
