# SPDX-License-Identifier: Apache-2.0
"""What a cluster does when something fails, with real servers: a gateway, NATS, PostgreSQL, S3, a clock. That of a node is in
test_gateway.py, but for one that is cut off."""
import os
import pathlib
import threading
import time

import pytest

import harness
from cluster_world import FOREVER, LONG, NODES, Cluster
from harness import unique, wait_until
from http_bed import Stream

pytestmark = pytest.mark.slow
EARLIER = os.environ.get("ADDER_EARLIER_BUILD")
FAKETIME = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


@pytest.fixture(scope="module")
def shared(make_shared_adder, user):
    cluster = Cluster(make_shared_adder, user, cabled=("two",))
    yield cluster
    cluster.end()


@pytest.fixture
def cluster(shared):
    """Whose servers are up, before a test and after it."""
    yield shared
    for server in shared.servers:
        if server.server is None:
            server.up()
    wait_until(lambda: works(shared), "it works again")


def works(cluster):
    return cluster.gateway.post("/v1/runs", {"code": "print(1)"}).status == 200


def test_a_gateway_that_dies(cluster):
    """What someone waited for at it is cancelled; the rest goes on, and another gateway finds it."""
    cluster.add("gateway2")
    second = cluster.serve("gateway2")
    waited = Stream(second, "POST", "/v1/runs", {"code": FOREVER, "limits": LONG, "stream": True})
    attached = waited.next()[2]["run_id"]
    background = cluster.background(FOREVER, gateway=second)
    session = second.post("/v1/sessions", {"name": f"s-{unique()}"}).json()
    second.process.kill()
    second.process.wait()
    del cluster.gateways["gateway2"]
    assert cluster.gateway.get(f"/v1/runs/{background}").json()["state"] == "running"
    cell = cluster.gateway.post(f"/v1/sessions/{session['name']}/cells", {"code": "6 * 7"})
    assert cell.json()["value"] == {"text/plain": "42"}
    wait_until(lambda: cluster.gateway.get(f"/v1/records/{attached}").status == 200, "it has ended")
    assert cluster.gateway.get(f"/v1/records/{attached}").json()["outcome"] == "cancelled"
    assert cluster.gateway.ask("DELETE", f"/v1/runs/{background}").status == 200
    assert cluster.gateway.ask("DELETE", f"/v1/sessions/{session['session_id']}").status == 200


def begun(cluster, name):
    """How many runs the node NAME has started; those in the engine's counts have also been recorded."""
    return cluster.made[name].status()["runs"]


class Clients:
    """Each asks CLUSTER for runs, one after the other, all with code of their own, until they are stopped."""

    def __init__(self, cluster, count):
        self.cluster, self.replies, self.stopping = cluster, [], threading.Event()
        self.threads = [threading.Thread(target=self.ask) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        while not self.stopping.is_set():
            self.replies.append(self.cluster.gateway.post("/v1/runs", {"code": f"print('{unique()}')"}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()


@pytest.mark.parametrize("seconds", [0, pytest.param(30, marks=pytest.mark.deep)], ids=["until-it-is-noticed", "for-30-s"])
def test_a_node_is_cut_off(cluster, seconds):
    """From all servers. Every client gets an answer or an error, nothing runs twice, and the node starts nothing that it hears of
    too late; joined again, it serves. SECONDS: at least."""
    session = next(s for s in iter(lambda: cluster.gateway.post("/v1/sessions", {}).json()["session_id"], None) if cluster.of(s) == "two")
    cluster.gateway.post(f"/v1/sessions/{session}/cells", {"code": "x = 41"})
    stream, _ = cluster.stream("two")
    before = sum(begun(cluster, name) for name in NODES)
    with Clients(cluster, 4) as clients:
        wait_until(lambda: len(clients.replies) > 20, "there is work")
        cluster.cables["two"].cut()
        cut = time.monotonic()
        try:
            assert stream.rest()[-1][1] == "problem", "who follows its run is told"
            wait_until(lambda: "two" not in cluster.nodes().values(), "the gateway has noticed")
            lost = cluster.gateway.get(f"/v1/sessions/{session}")
            assert lost.status == 503 and "node_lost" in lost.json()["detail"], lost
            noticed, held = len(clients.replies), begun(cluster, "two")
            wait_until(lambda: len(clients.replies) > noticed + 20 and time.monotonic() - cut > seconds, "the others work", seconds + 60)
            assert begun(cluster, "two") == held, "it got no more work"
        finally:
            cluster.cables["two"].join()
        wait_until(lambda: any(r.status == 200 and cluster.of(r.json()["run_id"]) == "two" for r in clients.replies[noticed:][-8:]), "it serves again")
    assert sum(begun(cluster, name) for name in NODES) - before <= len(clients.replies), "nothing ran twice"
    assert {reply.status for reply in clients.replies} <= {200, 503}
    assert all(reply.json()["detail"] for reply in clients.replies if reply.status == 503)
    cell = cluster.gateway.post(f"/v1/sessions/{session}/cells", {"code": "x + 1"})
    assert cell.json()["value"] == {"text/plain": "42"}, "its sessions live on"
    cluster.gateway.ask("DELETE", f"/v1/sessions/{session}")


def test_nats_restarts(cluster):
    """Meanwhile every request gets an answer; sessions are still there afterwards."""
    session = cluster.gateway.post("/v1/sessions", {}).json()["session_id"]
    cluster.gateway.post(f"/v1/sessions/{session}/cells", {"code": "x = 41"})
    cluster.nats.down()
    guest = cluster.gateway.token(f"g-{unique()}")
    refused, other = (cluster.gateway.post("/v1/runs", {"code": "print(1)"}, secret=secret) for secret in (None, guest))
    assert refused.status == 503 and f"({cluster.nats.url}): " in refused.json()["detail"], refused
    assert other.status == 503 and other.json()["detail"] == "the cluster is not connected at the moment: try again later", other
    assert cluster.made["one"].run("print(2)").stdout == "2\n", "each works for its own callers"
    cluster.nats.up()
    wait_until(lambda: works(cluster), "it works again")
    wait_until(lambda: len(cluster.nodes()) == 3, "all are there")
    cell = cluster.gateway.post(f"/v1/sessions/{session}/cells", {"code": "x + 1"})
    assert cell.json()["value"] == {"text/plain": "42"}
    cluster.gateway.ask("DELETE", f"/v1/sessions/{session}")


def test_postgresql_is_away(cluster):
    """Runs go on, and say that they are not on record; those after it are."""
    cluster.postgres.down()
    result = cluster.run("print(1)")
    assert result["stdout"] == "1\n" and any("not on record" in warning for warning in result["warnings"]), result
    assert cluster.gateway.get(f"/v1/records/{result['run_id']}").status == 503
    cluster.postgres.up()
    wait_until(lambda: cluster.gateway.get(f"/v1/records/{cluster.run('print(2)')['run_id']}").status == 200, "they are on record again")


def test_s3_is_away(cluster):
    """The same for files."""
    code = "open('a.txt', 'w').write('a')"
    cluster.s3.down()
    result = cluster.run(code)
    assert result["outcome"] == "ok" and any("not kept" in warning for warning in result["warnings"]), result
    cluster.s3.up()
    wait_until(lambda: not cluster.run(code)["warnings"], "files are kept again")


@pytest.mark.skipif(not FAKETIME, reason="there is no libfaketime on this host (the package faketime)")
def test_clocks_that_differ(make_adder, user):
    """By hours, in both directions: nothing between nodes depends on them."""
    skewed = {name: {"LD_PRELOAD": str(FAKETIME), "FAKETIME": skew, "FAKETIME_DONT_FAKE_MONOTONIC": "1"} for name, skew in (("one", "+3h"), ("two", "-3h"))}
    cluster = Cluster(make_adder, user, skewed)

    def run():
        told = cluster.run("6 * 7")
        return told["value"]["text/plain"], told["run_id"]

    try:
        started = {node["node"].partition("-")[0]: node["started"] for node in cluster.gateway.get("/v1/nodes").json()["nodes"]}
        assert started["two"] < started["gateway"] < started["one"], "their clocks differ"
        assert {text for text, _ in cluster.on_every_node(run)} == {"42"}
        for _ in range(4):
            session = cluster.gateway.post("/v1/sessions", {}).json()["session_id"]
            assert cluster.gateway.post(f"/v1/sessions/{session}/cells", {"code": "42"}).json()["value"] == {"text/plain": "42"}
    finally:
        cluster.end()


@pytest.mark.skipif(not EARLIER, reason="there is no earlier release yet; ADDER_EARLIER_BUILD names the build directory of one")
@pytest.mark.parametrize("earlier", [("gateway",), NODES, ("one",)], ids="+".join)
def test_nodes_of_this_version_and_the_one_before(make_adder, user, common_directory, earlier):
    """EARLIER of them have that version."""
    installed = harness.Installation(EARLIER, common_directory / "earlier")
    names = iter(("gateway", *NODES))

    def make():
        adder = make_adder()
        if next(names) in earlier:
            adder.installation = installed
        return adder

    cluster = Cluster(make, user)
    try:

        def run():
            result = cluster.run("6 * 7")
            return result["value"], result["run_id"]

        assert all(value == {"text/plain": "42"} for value, _ in cluster.on_every_node(run))

        def session():
            created = cluster.gateway.post("/v1/sessions", {"name": f"s-{unique()}"}).json()
            return created["name"], created["session_id"]

        sessions = cluster.on_every_node(session)
        for name, id in sessions:
            for asked in (name, id):
                cell = cluster.gateway.post(f"/v1/sessions/{asked}/cells", {"code": "x = globals().get('x', 40) + 1; x"})
            assert cell.json()["value"] == {"text/plain": "42"}
        listed = {session["session_id"] for session in cluster.gateway.get("/v1/sessions").json()["sessions"]}
        assert {id for _, id in sessions} <= listed
        stream, followed = cluster.stream()
        assert cluster.gateway.ask("DELETE", f"/v1/runs/{followed}").status == 200
        stream.close()
        if earlier != NODES:
            background = cluster.run("6 * 7", background=True)["run_id"]
            wait_until(lambda: cluster.gateway.get(f"/v1/records/{background}").status == 200, "it is run")
        # A node that drains keeps what the other one does not know how to take.
        assert cluster.made["two"].call("node", "drain", cluster.name_of("two")).returncode == 0
        wait_until(lambda: cluster.of(cluster.run("1")["run_id"]) == "one", "the other one takes all")
    finally:
        cluster.end()
