# SPDX-License-Identifier: Apache-2.0
"""Nodes of a cluster, with a real NATS server: they know each other, and who is gone."""
import json
import os
import signal

import pytest

import harness
from cluster_world import SECRET
from harness import unique, wait_until
from nats_client import Client, entry, mac
from nats_world import Nats

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def nats():
    try:
        server = Nats().up()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    yield server
    server.end()


@pytest.fixture
def server(nats):
    """Up and awake, before the test and after it."""
    yield nats
    if nats.server is None:
        nats.up()
    nats.server.send_signal(signal.SIGCONT)


def start_node(adder, nats, name, cluster="", store=""):
    secret = adder.file("secret", SECRET)
    secret.chmod(0o600)
    adder.configure(f"[cluster]\nnats = {nats.url}\nsecret_file = {secret}\n{cluster}\n[store]\nnode = {name}\n{store}")
    started = adder.call("serve", "--background")
    assert started.returncode == 0, started
    return adder


@pytest.fixture
def new_node(make_adder):
    """Makes daemons of one cluster with a NAME of their own."""
    return lambda nats, name, *more: start_node(make_adder(), nats, name, *more)


def listed(adder):
    return harness.strict_json(adder.call("node", "list", "--json").stdout)


def names(adder):
    return [node["node"] for node in listed(adder)["nodes"]]


def wait_for(adder, *nodes):
    """Until ADDER knows them and no others; what it tells of them. For a moment, one may not be there that the machine holds up."""

    def told():
        found = listed(adder)["nodes"]
        return found if [node["node"] for node in found] == sorted(nodes) else None

    return wait_until(told, f"the nodes are {nodes}")


def test_nodes_know_each_other(server, new_node):
    one, other = f"a-{unique()}", f"b-{unique()}"
    first, second = new_node(server, one), new_node(server, other)
    wait_for(second, one, other)
    here, there = wait_for(first, one, other)
    assert (here["here"], there["here"]) == (True, False)
    assert here["state"] == there["state"] == "serving" and here["tag"] != there["tag"]
    run = first.run("1")
    assert run.run_id.endswith(here["tag"]), "an id tells its node"
    session = harness.strict_json(second.call("session", "new", "--json").stdout)
    assert session["session_id"].endswith(there["tag"])
    wait_until(lambda: wait_for(first, one, other)[1]["sessions"] == 1, "its session is known to the other")
    shown = harness.strict_json(first.call("node", "show", other, "--json").stdout)
    assert shown["instance"] == there["instance"]
    assert other in first.call("node", "list").stdout and other in first.call("node", "show", there["tag"]).stdout
    refused = first.call("node", "show", "nobody")
    assert refused.returncode == 125 and "there is no node nobody in the cluster; adder node list lists them" in refused.stderr


def test_one_that_ends_leaves_at_once_and_one_that_dies_soon(server, new_node):
    stays, ends, dies = f"a-{unique()}", f"b-{unique()}", f"c-{unique()}"
    first, second, third = (new_node(server, name) for name in (stays, ends, dies))
    wait_for(first, stays, ends, dies)
    second.call("serve", "stop", "--force")
    wait_until(lambda: ends not in names(first), "it has said so", 1)  # second; one that falls silent stays for two at least
    third.kill()
    wait_for(first, stays)
    third.call("serve", "--background")
    wait_for(first, stays, dies)


class Mallory:
    """Who may publish to the server and has recorded what NODE said, but has no secret. ADDER listens."""

    def __init__(self, server, adder, node):
        self.client, self.adder, self.node = Client(server.port), adder, node
        self.tag = self.told()["tag"]
        self.subject = f"$KV.adder-nodes.{self.tag}"
        self.client.subscribe(self.subject)
        self.recorded = self.client.next()[2]

    def told(self):
        return next(node for node in listed(self.adder)["nodes"] if node["node"] == self.node)

    def says(self, *messages):
        """Until ADDER has heard them: then it lists an entry that came after them."""
        tag = os.urandom(3).hex()
        for message in messages:
            self.client.publish(self.subject, message)
        self.client.publish(*entry(tag, node=f"z-{tag}"))
        after = wait_until(lambda: next((node for node in listed(self.adder)["nodes"] if node["tag"] == tag), None), "it is heard")
        assert not after["signed"] and not after["here"]


def test_only_who_has_the_secret_speaks_for_a_node(server, new_node):
    one, other = f"a-{unique()}", f"b-{unique()}"
    first, second = new_node(server, one), new_node(server, other)
    wait_for(first, one, other)
    mallory = Mallory(server, first, other)
    before = mallory.told()
    second.kill()
    second.call("serve", "--background")
    now = wait_until(lambda: next((node for node in listed(first)["nodes"] if node["instance"] not in ("", before["instance"]) and node["node"] == other), None), "it is back")
    assert now["signed"] and now["tag"] == before["tag"]
    said = json.loads(mallory.recorded) | {"instance": "x", "state": "left"}
    said.pop("signature")
    text = json.dumps(said).encode()
    other_secret = text[:-1] + b',"signature":"' + mac(b"y" * 64, b"entry " + mallory.tag.encode() + b"\n" + text[:-1]).hex().encode() + b'"}'
    for message in (b"", b"nonsense", text, other_secret, mallory.recorded, mallory.recorded.replace(b"serving", b"ending_")):
        mallory.says(message)
        told = mallory.told()
        assert (told["instance"], told["state"], told["signed"]) == (now["instance"], "serving", True), message
    second.kill()

    def is_gone():
        mallory.client.publish(mallory.subject, mallory.recorded)
        return other not in names(first)

    wait_until(is_gone, "what it said keeps no dead node alive")
    mallory.client.close()


def test_a_node_keeps_its_tag(server, new_node):
    """Whatever somebody has put there while it was away."""
    name = f"a-{unique()}"
    first = new_node(server, name)
    (before,) = wait_for(first, name)
    client = Client(server.port)
    server.server.send_signal(signal.SIGSTOP)
    wait_until(lambda: not listed(first)["connected"], "the server is silent")
    client.publish(*entry(before["tag"], node="other", instance="x"))
    server.server.send_signal(signal.SIGCONT)
    client.flush()
    wait_until(lambda: listed(first)["connected"] and listed(first)["problem"] is None, "it is back")
    back = wait_until(lambda: next((node for node in listed(first)["nodes"] if node["here"]), None), "it is in the cluster")
    assert back["tag"] == before["tag"]
    client.close()


def test_a_name_that_is_taken(server, new_node):
    name = f"a-{unique()}"
    first = new_node(server, name)
    wait_for(first, name)
    second = new_node(server, name)
    wait_until(lambda: "another daemon is the node of this name" in (listed(second)["problem"] or ""), "it is told")
    (node,) = wait_until(lambda: listed(second)["nodes"], "it hears the other")
    assert not node["here"] and "is not in the cluster" in second.call("node", "list").stdout
    first.call("serve", "stop", "--force")
    wait_until(lambda: [node["here"] for node in listed(second)["nodes"]] == [True], "it takes the place")
    wait_until(lambda: listed(second)["problem"] is None, "all is well")


def test_without_a_server(server, new_node):
    """A daemon works without it, and joins when it is back, whether or not it has forgotten everything."""
    one, other = f"a-{unique()}", f"b-{unique()}"
    first = new_node(server, one)
    wait_for(first, one)
    server.down()
    wait_until(lambda: not listed(first)["connected"], "it is gone")
    away = f"the NATS server is not connected ({server.url}): "
    wait_until(lambda: (listed(first)["problem"] or "").startswith(away), "it is told")
    second = new_node(server, other)
    assert first.run("print(1)").stdout == second.run("print(2)").stdout.replace("2", "1") == "1\n"
    server.up()
    for adder in (first, second):
        wait_for(adder, one, other)
        assert listed(adder)["problem"] is None


def test_a_server_that_is_silent(server, new_node):
    name = f"a-{unique()}"
    first = new_node(server, name)
    wait_for(first, name)
    server.server.send_signal(signal.SIGSTOP)
    wait_until(lambda: not listed(first)["connected"], "it answers no more")
    server.server.send_signal(signal.SIGCONT)
    wait_for(first, name)


def test_drains_by_a_command_of_another_and_by_sigterm(server, new_node):
    one, other, third = f"a-{unique()}", f"b-{unique()}", f"c-{unique()}"
    first, second, last = (new_node(server, name) for name in (one, other, third))
    wait_for(first, one, other, third)
    session = harness.strict_json(second.call("session", "new", "--json").stdout)["session_id"]
    shown = harness.strict_json(first.call("node", "drain", other, "--json").stdout)
    assert (shown["node"], shown["state"]) == (other, "draining")
    wait_until(lambda: second.run("1").outcome == "busy", "it takes nothing new")
    assert second.json("--session", session, "-c", "6 * 7").value == {"text/plain": "42"}
    wait_until(lambda: {one, other} <= set(names(first)), "its session keeps it")
    assert second.call("session", "rm", session).returncode == 0
    wait_for(first, one, third)
    pid = last.daemon()
    harness.Process(pid).signal(signal.SIGTERM)
    wait_for(first, one)
    wait_until(lambda: last.daemon() is None, "it has ended")
    refused = first.call("node", "drain", "nobody")
    assert refused.returncode == 125 and "there is no node nobody" in refused.stderr


def test_a_gateway_needs_a_cluster(own_adder):
    refused = own_adder.call("serve", "--background", "--gateway")
    assert refused.returncode != 0 and "a gateway needs a cluster" in refused.stderr


def test_a_gateway_by_an_option(server, make_adder):
    adder, name = make_adder(), f"a-{unique()}"
    secret = adder.file("secret", SECRET)
    secret.chmod(0o600)
    adder.configure(f"[cluster]\nnats = {server.url}\nsecret_file = {secret}\n[store]\nnode = {name}\n")
    assert adder.call("serve", "--background", "--gateway").returncode == 0
    (node,) = wait_for(adder, name)
    assert node["gateway"]
    refused = adder.call("run", "-c", "1")
    assert refused.returncode == 125 and "this daemon is a gateway" in refused.stderr


def documented_permissions():
    """Those that docs/cluster.md tells the servers to give."""
    page = (harness.REPOSITORY / "docs/cluster.md").read_text()
    return ", ".join(line.strip() for line in page.splitlines() if line.strip().startswith(("publish: [", "subscribe: [")))


def test_the_documented_permissions_suffice(make_adder):
    try:
        nats = Nats(f"authorization {{ users: [{{user: adder, password: sesame, permissions: {{ {documented_permissions()} }} }}] }}\n").up()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    try:
        nats.account = "adder:sesame@"
        one, other = f"a-{unique()}", f"b-{unique()}"
        first, second = start_node(make_adder(), nats, one), start_node(make_adder(), nats, other)
        wait_for(first, one, other)
        assert harness.strict_json(first.call("node", "drain", other, "--json").stdout)["state"] == "draining", "requests travel"
        wait_for(first, one)
        assert "Permissions Violation" not in (nats.directory / "log").read_text()
        assert "sesame" not in (first.runtime / "adder.log").read_text()
    finally:
        nats.end()


def test_over_http(server, new_node):
    name = f"a-{unique()}"
    first = new_node(server, name)
    wait_for(first, name)
    socket = f"unix:{first.runtime}/adder.http.sock"
    remote = harness.strict_json(first.call("--url", socket, "node", "list", "--json").stdout)
    assert [node["node"] for node in remote["nodes"]] == [name]


def test_a_line_of_the_log_for_each_run(server, new_node):
    name = f"a-{unique()}"
    first = new_node(server, name, "", "[log]\nruns = true\n")
    run = first.run("raise SystemExit(3)")
    line = wait_until(
        lambda: next((line for line in (first.runtime / "adder.log").read_text().splitlines() if "run=" in line), None), "it is logged"
    )
    assert f"run={run.run_id} node={name} " in line and "outcome=error exit_code=3 " in line and "SystemExit" not in line


def test_a_login_that_is_refused_is_tried_again(make_adder):
    """As when the servers learn of an account late: nobody restarts the daemon."""
    users = "authorization {{ users: [{{user: adder, password: {}}}] }}\n"
    try:
        nats = Nats(users.format("other")).up()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    try:
        nats.account, name = "adder:sesame@", f"a-{unique()}"
        adder = start_node(make_adder(), nats, name)
        away = f"the NATS server is not connected (nats://127.0.0.1:{nats.port}): "
        wait_until(lambda: listed(adder)["problem"] == away + "it refuses the login of this daemon", "it is told")
        settings = nats.directory / "nats.conf"
        settings.write_text(settings.read_text().replace("password: other", "password: sesame"))
        nats.server.send_signal(signal.SIGHUP)
        wait_for(adder, name)
        assert adder.call("node", "drain", name).returncode == 0
        assert (adder.runtime / "adder.log").read_text().count("is not connected") == 1, "one line"
    finally:
        nats.end()


def test_without_a_cluster(adder):
    refused = adder.call("node", "list")
    assert refused.returncode == 125 and "[cluster] nats in adder.conf" in refused.stderr


def test_without_a_cluster_no_daemon_is_started(own_adder):
    refused = own_adder.call("node", "list")
    assert refused.returncode == 125 and "in no cluster: [cluster] nats in adder.conf" in refused.stderr
    assert own_adder.daemon() is None


@pytest.mark.parametrize("wrong", ["nats = nats://127.0.0.1:1", "nats = http://127.0.0.1:1", "nats = nats://127.0.0.1:1\ncredentials = /nowhere", "nats = nats://127.0.0.1:1\nca = /nowhere"])
def test_settings_that_cannot_work(make_adder, wrong):
    adder = make_adder()
    secret = adder.file("secret", SECRET)
    secret.chmod(0o600)
    adder.configure(f"[cluster]\n{wrong}\n" + (f"secret_file = {secret}\n" if "\n" in wrong or "http" in wrong else ""))
    refused = adder.call("serve", "--background")
    assert refused.returncode != 0 and "[cluster]" in refused.stderr
