# SPDX-License-Identifier: Apache-2.0
"""A node that drains hands over those of its sessions that another one can make again, with real servers of NATS, PostgreSQL and S3."""
import contextlib

import pytest

from cluster_world import FOREVER, NODES, Cluster
from harness import skip_without, unique, wait_until
from nats_client import Client, entry

pytestmark = pytest.mark.slow

NAME = "one"
DRAIN_MS = 600_000
LOGS_NAMES = "[log]\ncode = true\n"


@pytest.fixture(scope="module")
def cluster(make_shared_adder, user):
    cluster = Cluster(make_shared_adder, user)
    yield cluster
    cluster.end()


@pytest.fixture(autouse=True)
def both_serve(cluster):
    states = {node["node"].partition("-")[0]: node["state"] for node in cluster.gateway.get("/v1/nodes").json()["nodes"]}
    for node in (node for node in NODES if states.get(node) != "serving"):
        cluster.made[node].kill()
        cluster.start(node)


def session_on(cluster, node, secret=None, **body):
    """The id of a new session on NODE."""
    for _ in range(60):
        made = cluster.gateway.post("/v1/sessions", {"name": f"s-{unique()}", **body}, secret=secret)
        assert made.status == 201, made
        session = made.json()["session_id"]
        if cluster.of(session) == node:
            return session
        assert cluster.gateway.ask("DELETE", f"/v1/sessions/{session}", secret=secret).status == 200
    raise AssertionError(f"no session is made on {node}")


def cell(cluster, session, code, secret=None):
    return cluster.gateway.post(f"/v1/sessions/{session}/cells", {"code": code}, secret=secret)


def value(cluster, session, code, secret=None):
    reply = cell(cluster, session, code, secret)
    assert reply.status == 200 and reply.json()["outcome"] == "ok", reply
    return reply.json()["value"]["text/plain"]


def drain(cluster, node=NAME, wait_ms=DRAIN_MS):
    drained = cluster.gateway.ask("POST", f"/v1/nodes/{cluster.name_of(node)}/drain", {"wait_ms": wait_ms})
    assert drained.status == 200, drained


def await_end(cluster, node=NAME):
    wait_until(lambda: node not in cluster.nodes().values(), "it has ended")


def guests(cluster, node):
    return cluster.gateway.get(f"/v1/nodes/{cluster.name_of(node)}").json()["guests"]


def await_replay(cluster):
    """Asks the node itself: what it tells the others each second may come when the cell has ended."""
    wait_until(lambda: cluster.made["two"].status()["running"], "it runs its cell again")


def end(cluster, session):
    """As a client that asks again when it is told to: the gateway may hear later than the node that a session has moved."""

    def ask():
        reply = cluster.gateway.ask("DELETE", f"/v1/sessions/{session}")
        assert reply.status == 200 or reply.status == 429 and reply.headers["Retry-After"], reply
        return reply.status == 200

    wait_until(ask, "the session ends")


def living(cluster):
    return [each["session_id"] for each in cluster.gateway.get("/v1/sessions").json()["sessions"] if each["state"] != "ended"]


def log(cluster):
    return (cluster.made[NAME].runtime / "adder.log").read_text()


def await_log(cluster, text):
    wait_until(lambda: text in log(cluster), f"the log says: {text}")


def stop(cluster, node):
    """Until it is not listed, so that nobody takes it for the one that starts next."""
    cluster.made[node].call("serve", "stop", "--force")
    await_end(cluster, node)


@contextlib.contextmanager
def settings(cluster, node, lines):
    """NODE is started again with LINES more, and without them at the end."""
    file = cluster.made[node].config / "adder.conf"
    before = file.read_text()

    def start(text):
        stop(cluster, node)
        file.write_text(text)
        cluster.start(node)

    start(before + lines)
    try:
        yield
    finally:
        start(before)


def patient_value(cluster, session, code):
    """As a client that asks again when it is told to."""

    def ask():
        reply = cell(cluster, session, code)
        assert reply.status == 200 or reply.status == 429 and reply.headers["Retry-After"], reply
        return reply.status == 200 and reply.json()

    return wait_until(ask, "the session answers")["value"]["text/plain"]


def test_a_session_moves_with_all_that_it_has(cluster):
    session = session_on(cluster, NAME, variables={"COLOUR": "blue"})
    for code in ("x = 41\ndef f(): return x + 1", "1 / 0", "open('/work/a', 'w').write('kept'); _hidden = [1, 2]", "f()"):
        assert cell(cluster, session, code).status == 200
    before = cluster.gateway.get(f"/v1/sessions/{session}").json()
    history = cluster.gateway.get(f"/v1/sessions/{session}/history?results=true").json()
    drain(cluster)
    await_end(cluster)
    after = cluster.gateway.get(f"/v1/sessions/{session}").json()
    same = ("session_id", "name", "owner", "environment", "profile", "created", "cells", "variables", "state")
    assert {key: after[key] for key in same} == {key: before[key] for key in same}
    assert cluster.gateway.get(f"/v1/sessions/{session}/history?results=true").json() == history
    assert value(cluster, session, "import os; (f(), open('/work/a').read(), _hidden, os.environ['COLOUR'])") == "(42, 'kept', [1, 2], 'blue')"
    listed = [each["session_id"] for each in cluster.gateway.get("/v1/sessions").json()["sessions"]]
    assert listed.count(session) == 1
    assert value(cluster, before["name"], "x") == "41", "by its name"
    assert cluster.run("x", session=session)["value"] == {"text/plain": "41"}
    assert guests(cluster, "two") == [session]
    cluster.start(NAME)
    assert value(cluster, session, "x") == "41", "the tag of its id is that of a node which serves again"
    assert cluster.gateway.ask("DELETE", f"/v1/sessions/{session}").status == 200
    assert cell(cluster, session, "x").status == 410


def test_it_returns_with_its_files_when_the_other_node_drains(cluster):
    session = session_on(cluster, NAME, files=[{"name": "a.txt", "text": "given"}])
    assert cell(cluster, session, "text = open('/work/a.txt').read()").status == 200
    drain(cluster)
    await_end(cluster)
    assert value(cluster, session, "text") == "'given'"
    cluster.start(NAME)
    drain(cluster, "two")
    await_end(cluster, "two")
    assert value(cluster, session, "text + open('/work/a.txt').read()") == "'givengiven'"
    assert guests(cluster, NAME) == [session]
    cluster.start("two")
    assert cluster.gateway.ask("DELETE", f"/v1/sessions/{session}").status == 200


@pytest.mark.parametrize(
    "code, why",
    [
        ("import time; _t = time.time()", "differ when its cells run again"),
        ("import random; random.random()", "cell 1 has another result when it runs again"),
        ("open('/work/a', 'w').write(str(__import__('os').urandom(8).hex()))", "differ when its cells run again"),
        ("open('/dev/shm/a', 'w').write(str(__import__('os').urandom(8).hex()))", "differ when its cells run again"),
        ("g = (i for i in range(3)); next(g)", "the variable g cannot be compared"),
        ("import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()", "it has threads"),
    ],
)
def test_what_a_replay_cannot_make_stays_and_says_so(cluster, code, why):
    session = session_on(cluster, NAME)
    assert cell(cluster, session, code).json()["outcome"] == "ok"
    name = cluster.name_of(NAME)
    drain(cluster)
    told = lambda line: f"does not take the session {session}: " in line or f"the session {session} stays: " in line
    lines = wait_until(lambda: [line for line in log(cluster).splitlines() if told(line)], "another node was asked, or none could be")
    assert not any("variable g" in line or "cell 1" in line for line in lines), lines
    assert value(cluster, session, "6 * 7") == "42", "it goes on where it is"
    drain(cluster, wait_ms=0)
    await_end(cluster)
    ended = cell(cluster, session, "1")
    assert ended.status == 410 and f"the node {name} was drained; " in ended.json()["detail"] and why in ended.json()["detail"], ended.json()
    shown = cluster.gateway.get(f"/v1/sessions/{session}")
    assert shown.status == 410 and "was drained" in shown.json()["detail"]
    called = cluster.gateway.post("/v1/tools/run_python", {"toolset": "adder", "arguments": {"code": "1", "session": session}})
    assert "was drained" in str(called.json()), called.json()
    at = {"ADDER_URL": f"http://127.0.0.1:{cluster.gateway.port}", "ADDER_TOKEN": cluster.gateway.secret}
    here = cluster.made["gateway"]
    shell = here.call("run", "--session", session, "-c", "1", env={**here.process_environment(), **at})
    assert shell.returncode != 0 and "was drained" in shell.stderr, shell
    cluster.start(NAME)


def test_names_are_logged_where_code_may_be(cluster):
    with settings(cluster, NAME, LOGS_NAMES):
        session = session_on(cluster, NAME)
        assert cell(cluster, session, "g = (i for i in range(3))").json()["outcome"] == "ok"
        drain(cluster)
        await_log(cluster, f"the session {session} stays: the variable g cannot be compared")
        end(cluster, session)
        await_end(cluster)


def test_what_it_may_not_read_is_not_compared(cluster):
    """A daemon that is not root's makes the directories of a session readable after each cell, to see its files."""
    session = session_on(cluster, NAME)
    assert cell(cluster, session, "import os\nos.makedirs('/work/a/b')\nos.chmod('/work/a', 0)").json()["outcome"] == "ok"
    may = value(cluster, session, "os.access('/work/a', os.R_OK)")
    drain(cluster)
    await_log(cluster, f"the session {session} " + ("has moved" if may == "True" else "stays: something in it cannot be compared"))
    end(cluster, session)
    await_end(cluster)
    cluster.start(NAME)


def test_who_comes_while_it_moves_is_answered(cluster):
    session = session_on(cluster, NAME)
    assert cell(cluster, session, "import time; time.sleep(2); x = 41").status == 200
    drain(cluster)
    await_replay(cluster)
    assert patient_value(cluster, session, "x += 1; x") == "42"
    await_end(cluster)
    assert value(cluster, session, "x += 1; x") == "43", "each cell ran once"
    cluster.start(NAME)
    assert cluster.gateway.ask("DELETE", f"/v1/sessions/{session}").status == 200


def test_one_that_is_ended_while_it_moves_is_ended_everywhere(cluster):
    session = session_on(cluster, NAME)
    assert cell(cluster, session, "import time; time.sleep(2)").status == 200
    drain(cluster)
    await_replay(cluster)
    end(cluster, session)
    await_end(cluster)
    wait_until(lambda: cell(cluster, session, "1").status == 410, "it has ended there as well")
    wait_until(lambda: session not in living(cluster), "it lives nowhere")


def test_a_node_that_dies_on_the_way_leaves_it_where_it_is(cluster):
    session = session_on(cluster, NAME)
    assert cell(cluster, session, "import time; time.sleep(3); x = 41").status == 200
    drain(cluster)
    await_replay(cluster)
    cluster.made["two"].kill()
    assert patient_value(cluster, session, "x += 1; x") == "42"
    cluster.start("two")
    await_end(cluster)
    assert value(cluster, session, "x += 1; x") == "43", "then it moves after all"
    cluster.made["two"].kill()
    lost = lambda: cell(cluster, session, "x")
    wait_until(lambda: lost().status == 410, "the record has its end")
    assert "node_lost" in lost().json()["detail"]
    cluster.start(NAME, "two")


def test_a_node_without_room_for_its_cells_is_asked_again(cluster):
    session = session_on(cluster, NAME)
    assert cell(cluster, session, "x = 41").status == 200
    with settings(cluster, "two", "[pool]\nmax_running = 1\nqueue_wait_ms = 100\n"):
        run = cluster.background(FOREVER, "two")
        drain(cluster)
        await_log(cluster, f"does not take the session {session}: ")
        assert cluster.gateway.ask("DELETE", f"/v1/runs/{run}").status == 200
        await_end(cluster)
        assert value(cluster, session, "x + 1") == "42"
        cluster.start(NAME)


@pytest.mark.parametrize(
    "line, why",
    [
        ("[network]\nmode = allow\nallow = api.example.org", "on that node its profile allows network access"),
        ("approval = always", "on that node its cells need approval"),
        ("role = admin", "needs the role admin; the caller's is user"),
    ],
)
def test_a_node_whose_profile_differs_does_not_run_them(cluster, line, why):
    """It lets cells do more, or its owner may not use it there."""
    profile = f"careful-{unique()}"
    for node in NODES:
        file = cluster.made[node].config / "profiles" / f"{profile}.conf"
        file.parent.mkdir(exist_ok=True)
        file.write_text("[profile]\ntitle = for tests\n")
        cluster.made[node].own(file)
    user = cluster.gateway.token(f"user-{unique()}", "--role", "user")
    with settings(cluster, NAME, LOGS_NAMES):
        session = session_on(cluster, NAME, user, profile=profile)
        assert cell(cluster, session, "x = 41", user).status == 200
        file.write_text(f"[profile]\ntitle = for tests\n{line}\n")
        stop(cluster, "two")  # a daemon reads a profile once a second
        cluster.start("two")
        drain(cluster)
        wait_until(lambda: any(f"does not take the session {session}: " in line and why in line for line in log(cluster).splitlines()), "it is refused")
        assert value(cluster, session, "x + 1", user) == "42", "it goes on where it is"
        file.write_text("[profile]\ntitle = for tests\n")
        await_end(cluster)
        assert value(cluster, session, "x + 1", user) == "42"
        record = cluster.gateway.get("/v1/records?front_end=handover&limit=1", secret=user).json()["records"][0]
        assert record["role"] == "user" and record["code_start"] == "x + 1", record


def test_one_that_ended_after_it_moved_has_ended_while_the_node_drains(cluster):
    stays, session = session_on(cluster, NAME), session_on(cluster, NAME)
    assert cell(cluster, stays, "_secret = __import__('os').urandom(8)").status == 200
    assert cell(cluster, session, "x = 41").status == 200
    drain(cluster)
    wait_until(lambda: session in guests(cluster, "two"), "it has moved")
    await_log(cluster, f"the session {session} has moved")
    count = lambda: cluster.gateway.get(f"/v1/nodes/{cluster.name_of('two')}").json()["sessions"]
    before = wait_until(count, "its node counts it")
    assert cluster.gateway.ask("DELETE", f"/v1/sessions/{session}").status == 200
    wait_until(lambda: count() < before, "its node has told of that")
    ended = cell(cluster, session, "x")
    assert ended.status == 410 and "moved" not in ended.json()["detail"], ended
    assert cluster.gateway.ask("DELETE", f"/v1/sessions/{stays}").status == 200
    await_end(cluster)
    cluster.start(NAME)


def test_no_client_can_bring_a_session(cluster):
    assert cluster.gateway.post("/v1/handover", {"session": {}}).status == 404


def test_a_session_of_a_user_of_the_machine_stays_there(cluster):
    """On another machine the same number may be somebody else."""
    here, name = cluster.made[NAME], cluster.name_of(NAME)
    session = here.call("session", "new").stdout.strip()
    drain(cluster)
    await_log(cluster, f"the session {session} stays: its owner is a user of this machine")
    assert here.call("run", "--session", session, "-c", "6 * 7").stdout == "42\n"
    drain(cluster, wait_ms=0)
    await_end(cluster)
    cluster.start(NAME)
    ended = here.call("run", "--session", session, "-c", "1")
    assert ended.returncode != 0 and f"the node {name} was drained; " in ended.stderr, ended


@pytest.mark.deep
def test_one_of_ipython_moves_with_its_tables(cluster):
    if not cluster.made[NAME].has_environment("science"):
        skip_without("science")
    session = session_on(cluster, NAME, environment="science")
    for code in ("import pandas as pd, numpy as np; data = pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})", "data", "%pwd\n6 * 7", "_ + 1", "array = np.arange(3)"):
        assert cell(cluster, session, code).json()["outcome"] == "ok", code
    assert cluster.gateway.get(f"/v1/sessions/{session}").json()["shell"] == "ipython"
    drain(cluster)
    await_end(cluster)
    assert value(cluster, session, "len(data), Out[4], int(array.sum())") == "(2, 43, 3)"
    assert cluster.gateway.ask("DELETE", f"/v1/sessions/{session}").status == 200


def test_no_session_is_where_anybody_says(cluster):
    """Without the cluster's secret."""
    session, tag = session_on(cluster, NAME), "abcdef"
    assert value(cluster, session, "x = 41; x") == "41"
    client = Client(cluster.nats.port)
    client.publish(*entry(tag, instance="x", gateway=False, guests=[session]))
    wait_until(lambda: tag in cluster.nodes(), "it is listed")
    assert value(cluster, session, "x + 1") == "42"
    client.close()
    end(cluster, session)
