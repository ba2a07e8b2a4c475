# SPDX-License-Identifier: Apache-2.0
"""The units under a real systemd, in a Debian root that has the packages: enabled, used, reloaded, upgraded, purged."""
import json
import re

import pytest

import booted
import debian_root
import harness
from debian_machine import APT, Machine, packaged, skip_without

SOCKET = "unix:/run/adder-server/adder.http.sock"
URL = "http://127.0.0.1:7117"
UNITS = ("adder.service", "adder.socket")
PACKAGE = "/root/adder.deb"


@pytest.fixture(scope="module")
def system():
    """Debian 12's systemd works with both versions of control groups, later ones only with the second."""
    skip_without("bookworm")
    if booted.hierarchy() is None:
        pytest.skip("no control groups that systemd could use")
    with Machine("bookworm") as machine:
        machine.do(f"{APT} install systemd nats-server openssl")
        machine.install("adder", "adder-nats")
        machine.do(f"cp {packaged('adder')} {PACKAGE}")
        with booted.Booted(machine) as running:
            running.wait_until_up()
            yield running


def state(system, unit):
    return system.run("systemctl", "is-active", unit, check=False).stdout.strip()


@pytest.fixture
def served(system):
    """The daemon of the system, as docs/service.md has it; and a token of anna's."""
    system.run("systemctl", "enable", "--now", "adder.socket")
    system.run("systemctl", "start", "adder.service")
    token = system.run("adder", "token", "new", "anna", "--url", SOCKET).stdout.strip().splitlines()[-1]
    yield {"ADDER_URL": URL, "ADDER_TOKEN": token}
    system.run("adder", "token", "rm", "anna", "--url", SOCKET)
    system.run("systemctl", "disable", "--now", "adder.socket", "adder.service")


def status(system):
    return json.loads(system.run("adder", "serve", "status", "--json", "--url", SOCKET).stdout)


def test_nothing_is_enabled_and_the_units_are_valid(system):
    assert [state(system, unit) for unit in UNITS] == ["inactive", "inactive"]
    for manager, folder in (("--system", "/lib/systemd/system"), ("--user", "/usr/lib/systemd/user")):
        told = system.run("systemd-analyze", "verify", manager, "--man=no", *(f"{folder}/{unit}" for unit in UNITS),
                          check=False, variables={"XDG_RUNTIME_DIR": "/run"})
        assert (told.returncode, told.stdout + told.stderr) == (0, "")


def test_the_first_request_starts_it_and_runs_are_isolated(system, served):
    system.run("systemctl", "stop", "adder.service")
    assert (state(system, "adder.socket"), state(system, "adder.service")) == ("active", "inactive")
    result = json.loads(system.run("adder", "run", "--json", "-c", "print(6 * 7)", user="someone", variables=served).stdout)
    assert (result["stdout"], result["outcome"]) == ("42\n", "ok") and result["isolation"]["level"] >= 2
    assert state(system, "adder.service") == "active" and status(system)["http"][-1] == URL
    # Its end leaves the port to systemd.
    system.run("systemctl", "stop", "adder.service")
    assert system.run("adder", "run", "-c", "print(1)", user="someone", variables=served).stdout == "1\n"


def test_only_root_and_holders_of_tokens_are_answered(system, served):
    for variables in ({"ADDER_URL": URL}, {**served, "ADDER_TOKEN": "adder_wrong"}, {"ADDER_URL": SOCKET}):
        refused = system.run("adder", "run", "-c", "1", user="someone", variables=variables, check=False)
        assert refused.returncode != 0 and not refused.stdout
    assert system.run("ls", "/run/adder-server", user="someone", check=False).returncode != 0
    # Its user has nothing of root's, and cannot change what it runs.
    pid = status(system)["pid"]
    assert "CapEff:\t0000000000000000" in system.shell(f"cat /proc/{pid}/status")
    probe = f"nsenter --target {pid} --mount setpriv --reuid adder --regid adder --init-groups sh -c"
    for attempt in ("touch /usr/x", "touch /etc/adder/x", "touch /var/lib/adder/x", "ls /root", "ls /home/someone"):
        assert system.run(*probe.split(), attempt, check=False).returncode != 0, attempt


def test_sessions_outlive_a_reload_and_an_upgrade(system, served):
    system.run("adder", "session", "new", "--name", "kept", user="someone", variables=served)
    system.run("adder", "run", "--session", "kept", "-c", "x = 42", user="someone", variables=served)
    system.run("systemctl", "reload", "adder.service")
    before = status(system)
    told = system.run("dpkg", "-i", PACKAGE).stdout
    assert re.search("still runs the previous version.*systemctl restart adder.service", told, re.DOTALL)
    after = status(system)
    assert after["pid"] == before["pid"] and after["program_replaced"] and not before["program_replaced"]
    assert system.run("adder", "run", "--session", "kept", "-c", "print(x)", user="someone", variables=served).stdout == "42\n"
    system.run("systemctl", "restart", "adder.service")
    assert not status(system)["program_replaced"]
    assert "ok" in system.run("adder", "history", "list", user="someone", variables=served).stdout


@pytest.fixture
def three_lines(system):
    """Of a node's configuration; with Debian's NATS server and the secret of a cluster, all as docs/service.md has them."""
    page = (debian_root.SOURCE / "docs/service.md").read_text().partition("## Three machines of a cluster")[2]
    commands = re.search(r"```sh\napt-get install adder adder-nats nats-server\n(.*?)```", page, re.S)[1]
    system.shell(commands.replace("0.0.0.0", "127.0.0.1"))
    yield re.search(r"\[cluster\]\n.*\n.*\n", page)[0].replace("//gate:", "//127.0.0.1:")
    system.run("systemctl", "disable", "--now", "nats-server")
    system.shell("rm /etc/adder/adder.conf /etc/adder/cluster-secret")


def nodes(system):
    told = json.loads(system.run("adder", "node", "list", "--json", "--url", SOCKET).stdout)
    return {node["node"]: (node["gateway"], node["state"]) for node in told["nodes"] if node["here"]}


def journal(system):
    return system.run("journalctl", "--unit", "adder.service", "--lines", "20", "--output", "cat").stdout


def test_a_node_of_a_cluster_is_the_unit_with_three_lines_more(system, three_lines, served):
    """And so is a gateway, which runs nothing itself."""
    host = system.run("hostname").stdout.strip()
    for lines, gateway in (("", False), ("gateway = true\n[pool]\nqueue_wait_ms = 100\n", True)):
        system.shell(f"cat >/etc/adder/adder.conf <<'END'\n{three_lines}{lines}END\nsystemctl restart adder.service")
        harness.wait_until(lambda: nodes(system) == {host: (gateway, "serving")}, "it is a node")
        ended = system.run("adder", "run", "-c", "print(6 * 7)", user="someone", variables=served, check=False)
        assert (ended.stdout, ended.returncode == 0) == (("", False) if gateway else ("42\n", True)), ended.stderr
        system.run("systemctl", "stop", "adder.service")
        harness.wait_until(lambda: "ending: drained" in journal(system), "what it said last, in the journal")
    system.run("systemctl", "start", "adder.service")


def test_purging_ends_it_and_leaves_nothing(system):
    system.run("systemctl", "enable", "--now", "adder.socket", "adder.service")
    pid = status(system)["pid"]
    system.run("dpkg", "--remove", "adder-nats", "adder")
    assert system.run("test", "-e", f"/proc/{pid}", check=False).returncode != 0
    assert system.run("test", "-d", "/var/lib/adder-server/store").returncode == 0
    system.run("dpkg", "--purge", "adder-nats", "adder")
    left = system.shell("find / -xdev -name '*adder*' -not -path '/proc/*' -not -path '/sys/*' -not -path '/home/*'")
    assert left.split() == [PACKAGE]
    assert system.run("getent", "passwd", "adder", check=False).returncode != 0
    system.run("dpkg", "-i", PACKAGE)
