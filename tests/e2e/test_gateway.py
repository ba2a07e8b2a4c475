# SPDX-License-Identifier: Apache-2.0
"""A gateway and two nodes, with real servers of NATS, PostgreSQL and S3: who asks the gateway finds what one machine would have."""
import concurrent.futures
import os
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from cluster_world import FOREVER, LONG, NODES, Cluster
from harness import REPOSITORY, unique, wait_until
from http_bed import Stream
from test_server_image import OUTSIDE, OUTSIDE_MIN

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(make_shared_adder, user):
    cluster = Cluster(make_shared_adder, user)
    yield cluster
    cluster.end()


def test_runs_go_to_all_nodes(cluster):
    made = {cluster.of(cluster.run("6 * 7")["run_id"]) for _ in range(40)}
    assert made == {"one", "two"}


def test_a_stream_and_its_end(cluster):
    events = Stream(cluster.gateway, "POST", "/v1/runs", {"code": "for i in range(3): print(i, flush=True)", "stream": True}).rest()
    assert [name for _, name, _ in events][0] == "started" and events[-1][2]["outcome"] == "ok"
    assert "".join(data["text"] for _, name, data in events if name == "stdout") == "0\n1\n2\n"


def test_who_leaves_cancels(cluster):
    stream = Stream(cluster.gateway, "POST", "/v1/runs", {"code": FOREVER, "limits": LONG, "stream": True})
    run_id = stream.next()[2]["run_id"]
    assert [each["run_id"] for each in cluster.gateway.get("/v1/runs").json()["runs"]] == [run_id]
    stream.close()
    wait_until(lambda: not cluster.gateway.get("/v1/runs").json()["runs"], "it is cancelled")


def test_a_run_in_the_background_is_shown_and_cancelled(cluster):
    run_id = cluster.background(FOREVER)
    assert cluster.gateway.get(f"/v1/runs/{run_id}").json()["state"] == "running"
    assert cluster.gateway.ask("DELETE", f"/v1/runs/{run_id}").status == 200
    ended = cluster.gateway.get(f"/v1/runs/{run_id}?wait_ms=30000").json()
    assert ended["result"]["outcome"] == "cancelled"
    record = cluster.gateway.get(f"/v1/records/{run_id}").json()
    assert record["outcome"] == "cancelled" and record["node"].partition("-")[0] in NODES


def test_sessions_are_found_by_id_and_by_name(cluster):
    made = [cluster.gateway.post("/v1/sessions", {"name": f"s{i}-{unique()}"}).json() for i in range(6)]
    for session in made:
        for place in (session["session_id"], session["name"]):
            cell = cluster.gateway.post(f"/v1/sessions/{place}/cells", {"code": "x = globals().get('x', 40) + 1; x"})
            assert cell.status == 200, cell
        assert cell.json()["value"] == {"text/plain": "42"}
    listed = {session["session_id"] for session in cluster.gateway.get("/v1/sessions").json()["sessions"]}
    assert {session["session_id"] for session in made} <= listed
    for session in made:
        assert cluster.gateway.ask("DELETE", f"/v1/sessions/{session['session_id']}").status == 200


def test_runs_and_tools_find_the_session_that_they_name(cluster):
    for i in range(6):
        session = cluster.gateway.post("/v1/sessions", {"name": f"s{i}-{unique()}"}).json()
        for place in (session["session_id"], session["name"]):
            result = cluster.run("x = globals().get('x', 40) + 1; x", session=place)
            assert result["outcome"] == "ok", result
        assert result["value"] == {"text/plain": "42"}
        called = cluster.gateway.post("/v1/tools/run_python", {"toolset": "adder", "arguments": {"code": "print(x)", "session": session["name"]}})
        assert called.status == 200 and "42" in str(called.json()), called
        assert cluster.gateway.ask("DELETE", f"/v1/sessions/{session['session_id']}").status == 200


def test_calls_of_a_conversation_share_what_its_tool_keeps(cluster):
    """A session that the tool made for it is on one node."""
    for _ in range(4):
        asked = {"toolset": "assistant", "conversation": unique()}
        for code in ("x = 41", "x += 1", "print('it is', x)"):
            called = cluster.gateway.post("/v1/tools/run_python", {**asked, "arguments": {"code": code, "use_session": True}})
            assert called.status == 200, called
        assert "it is 42" in str(called.json()), called
        assert cluster.gateway.post("/v1/tools/python_end", {**asked, "arguments": {}}).status == 200


def test_large_bodies_both_ways(cluster):
    code = f"text = {'x' * 700_000!r}\nfor i in range(3): print(text)"
    result = cluster.run(code, limits={"output_bytes": 8 << 20})
    assert result["outcome"] == "ok" and result["stdout_bytes"] == 3 * 700_001


def test_mistakes_are_told_as_on_one_machine(cluster):
    assert cluster.gateway.post("/v1/runs", {"code": 1}).status == 400
    assert cluster.gateway.get("/v1/sessions/no-such").status == 404
    assert cluster.gateway.get(f"/v1/runs/01a228ac-0000-7000-8000-000000{'0' * 5}1").status == 503, "a node that never was"


def test_metrics_are_of_all_nodes(cluster):
    text = cluster.gateway.get("/metrics").body.decode()
    up = [line for line in text.splitlines() if line.startswith("adder_node_up{")]
    assert len(up) == 3 and sum('gateway="yes"' in line for line in up) == 1 and "adder_cluster_connected 1\n" in text
    assert sum(line.startswith("adder_node_waiting{") for line in text.splitlines()) == 3


def test_what_waits_for_a_node_is_counted(cluster):
    """By the metric that Kubernetes makes further nodes for."""
    places = len(NODES) * max(8, 4 * os.cpu_count())  # [pool] max_running
    begun = [cluster.stream() for _ in range(places)]
    gateway = f'{{node="{cluster.name_of("gateway")}"}}'

    def waiting(count):
        lines = cluster.gateway.get("/metrics").body.decode().splitlines()
        return {f"adder_runs_waiting {count}", f"adder_node_waiting{gateway} {count}"} <= set(lines)

    with concurrent.futures.ThreadPoolExecutor() as threads:
        last = threads.submit(cluster.run, "6 * 7")
        wait_until(lambda: waiting(1), "the gateway counts it")
        for stream, run_id in begun:
            assert cluster.gateway.ask("DELETE", f"/v1/runs/{run_id}").status == 200
            stream.close()
        assert last.result()["outcome"] == "ok"
    wait_until(lambda: waiting(0), "nothing waits")


def test_a_gateway_runs_nothing_itself(cluster):
    refused = cluster.made["gateway"].call("run", "-c", "1")
    assert refused.returncode == 125 and "this daemon is a gateway" in refused.stderr, refused
    assert cluster.gateway.get("/readyz").status == 200


def test_a_node_that_drains_ends_after_its_work(cluster):
    """It gets no new work, what it has goes on, and then it ends by itself."""
    begun = cluster.on_every_node(cluster.stream)
    sessions = [id for _, id in cluster.on_every_node(lambda: (None, cluster.gateway.post("/v1/sessions", {}).json()["session_id"]))]
    on_one = [session for session in sessions if cluster.of(session) == "one"]
    name = cluster.name_of("one")
    drained = cluster.gateway.ask("POST", f"/v1/nodes/{name}/drain", {"wait_ms": 600_000})
    assert drained.status == 200 and drained.json()["state"] == "draining", drained
    wait_until(lambda: cluster.gateway.get(f"/v1/nodes/{name}").json()["state"] == "draining", "the others know")
    wait_until(lambda: cluster.made["one"].run("1").outcome == "busy", "its own callers are told")
    assert all(cluster.of(cluster.run("1")["run_id"]) == "two" for _ in range(10))
    for session in on_one:
        cell = cluster.gateway.post(f"/v1/sessions/{session}/cells", {"code": "6 * 7"})
        assert cell.json()["value"] == {"text/plain": "42"}, "its sessions go on"
    for session in sessions:
        assert cluster.gateway.ask("DELETE", f"/v1/sessions/{session}").status == 200
    assert cluster.of(begun[0][1]) and "one" in cluster.nodes().values(), "its runs go on"
    for stream, run_id in begun:
        assert stream.next()[1] == "stdout"
        assert cluster.gateway.ask("DELETE", f"/v1/runs/{run_id}").status == 200
        assert stream.rest()[-1][2]["outcome"] == "cancelled"
    wait_until(lambda: "one" not in cluster.nodes().values(), "it has ended")
    cluster.start("one")


def test_what_a_node_that_stops_leaves_unanswered_is_unavailable(cluster):
    """Among those who ask all the time some ask when it no longer reads their request."""
    made = cluster.on_every_node(lambda: (None, cluster.gateway.post("/v1/sessions", {}).json()["session_id"]))
    session = next(id for _, id in made if cluster.of(id) == "one")

    def ask_until_it_is_gone():
        while (reply := cluster.gateway.get(f"/v1/sessions/{session}")).status == 200 and reply.json()["state"] != "ended":
            pass
        return reply

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        asking = [pool.submit(ask_until_it_is_gone) for _ in range(12)]
        wait_until(lambda: any(future.running() for future in asking), "they ask")
        assert cluster.made["one"].call("serve", "stop", "--force").returncode == 0
        replies = [future.result() for future in asking]
    assert all(reply.status in (200, 410, 503) for reply in replies), replies
    cluster.start("one")


def test_quick_tests_pass_from_outside(cluster, tmp_path):
    results = tmp_path / "results.xml"
    files = [str(REPOSITORY / f"tests/e2e/{name}.py") for name in OUTSIDE]
    url = f"http://127.0.0.1:{cluster.gateway.port}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "quick", f"--junitxml={results}", *files],
        env={**os.environ, "ADDER_TEST_SERVER": f"{url} {cluster.gateway.secret}"}, cwd=REPOSITORY, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=1800,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    suite = xml.etree.ElementTree.parse(results).getroot().find("testsuite")
    assert int(suite.get("tests")) - int(suite.get("skipped")) >= OUTSIDE_MIN, suite.attrib


def run_of_the_program(cluster, name):
    """`adder --url` whose run is on the node NAME."""

    def runs():
        return {run["run_id"] for run in cluster.gateway.get("/v1/runs").json()["runs"]}

    adder = cluster.gateway.adder
    variables = {**adder.process_environment(), "ADDER_TOKEN": cluster.gateway.secret}
    while True:
        before = runs()
        program = adder.popen("--url", f"http://127.0.0.1:{cluster.gateway.port}", "run", "--timeout=10min", "-c", FOREVER, env=variables)
        (made,) = wait_until(lambda before=before: runs() - before, "it runs")
        assert program.stdout.readline() == b"begun\n"
        if cluster.of(made) == name:
            return program
        program.kill()
        program.communicate()


def test_a_node_that_dies_loses_its_runs_soon_and_no_others(cluster):
    begun = cluster.on_every_node(cluster.stream)
    of = {run_id: cluster.of(run_id) for _, run_id in begun}
    program = run_of_the_program(cluster, "one")
    cluster.made["one"].kill()
    _, told = program.communicate(timeout=60)
    assert program.returncode == 75 and told == b"adder: node_lost: the node that has it is gone\n", told
    for stream, run_id in begun:
        if of[run_id] == "one":
            stream.rest()
    assert all(cluster.of(cluster.run("1")["run_id"]) == "two" for _ in range(10))
    lost = next(run_id for run_id, name in of.items() if name == "one")
    wait_until(lambda: cluster.gateway.get(f"/v1/runs/{lost}").status == 503, "it is gone")
    for stream, run_id in begun:
        if of[run_id] == "two":
            assert stream.next()[1] == "stdout"
            stream.close()
    cluster.start("one")
    wait_until(lambda: {cluster.of(cluster.run("1")["run_id"]) for _ in range(10)} == {"one", "two"}, "it has work again")
