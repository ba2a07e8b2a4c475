# SPDX-License-Identifier: Apache-2.0
"""What was under way when a daemon died: runs are on record, and sessions say that they have ended, whoever asks and how."""
import contextlib
import os

import harness
import http_bed
import pytest
from harness import FOREVER, wait_until
from store_world import Postgres

DIED = "the daemon ended"


def recorded(adder, **filters):
    options = [word for name, value in filters.items() for word in ("--" + name, value)]
    ended = adder.call("history", "list", "--json", *options)
    assert ended.returncode == 0, ended
    return harness.strict_json(ended.stdout)["records"]


UNKNOWN = {"queue_ms": None, "wall_ms": None, "cpu_ms": None, "peak_memory_bytes": None}


def assert_died(record):
    assert record["usage"] == UNKNOWN
    assert (record["outcome"], record["exit_code"]) == ("failed", 125)
    assert record["more"]["error"] == {"type": "Failed", "message": DIED, "line": None}


def verified(adder):
    ended = adder.call("history", "verify", "--json")
    assert ended.returncode == 0, ended
    return harness.strict_json(ended.stdout)


def started(adder, code=FOREVER):
    """A run that is at work."""
    process = adder.start(code, "--timeout", "60")
    assert process.stdout.readline() == b"started\n"
    return process


def journals(adder):
    return sorted(os.listdir(adder.state / "store/running"))


@pytest.fixture
def served(make_adder):
    bed = http_bed.Served(make_adder("[environment]\ndefault = system\n"), start=False)
    bed.alice, bed.bob = bed.token("alice"), bed.token("bob")
    bed.start()
    yield bed
    bed.stop()


def die(bed):
    bed.adder.kill()
    bed.process.wait()
    bed.process.stdout.close()
    bed.process.stderr.close()
    bed.process = None


def test_over_http(served):
    code = "print('on', flush=True)\n" + FOREVER
    session = served.post("/v1/sessions", {"name": "work"}, secret=served.alice).json()["session_id"]
    ended = served.post("/v1/sessions", {"name": "over"}, secret=served.alice).json()["session_id"]
    served.ask("DELETE", f"/v1/sessions/{ended}", secret=served.alice)
    fields = {"code": code, "background": True, "conversation": "c"}
    run = served.post("/v1/runs", fields, secret=served.alice).json()["run_id"]
    done = served.run("print(1)", secret=served.alice)["run_id"]
    wait_until(lambda: served.get(f"/v1/runs/{run}", secret=served.alice).json()["state"] == "running", "the run")
    die(served)
    served.start()
    # The first that is asked after the restart knows it.
    shown = served.get(f"/v1/runs/{run}", secret=served.alice)
    assert shown.status == 200, shown
    record = shown.json()["record"]
    assert_died(record)
    assert (record["run_id"], record["owner"], record["conversation"]) == (run, "token:alice", "c")
    assert record["code"] == code and record["front_end"] == "http"
    assert served.get(f"/v1/runs/{run}", secret=served.bob).status == 404
    # Nobody follows it any more, and it is not unknown.
    for ended_run in (run, done):
        events = served.get(f"/v1/runs/{ended_run}/events", secret=served.alice)
        assert events.status == 410 and events.json()["code"] == "ended", events
        assert f"/v1/runs/{ended_run}" in events.json()["detail"], events
        assert served.get(f"/v1/runs/{ended_run}/events", secret=served.bob).status == 404
    assert served.get(f"/v1/runs/{done}", secret=served.alice).json()["record"]["outcome"] == "ok"
    for name, why in ((session, DIED), ("work", DIED), (ended, "on request"), ("over", "on request")):
        for reply in (
            served.get(f"/v1/sessions/{name}", secret=served.alice),
            served.post("/v1/runs", {"code": "1", "session": name}, secret=served.alice),
        ):
            assert reply.status == 410 and reply.json()["code"] == "ended", reply
            assert f"ended: {why}" in reply.json()["detail"], reply
        assert served.get(f"/v1/sessions/{name}", secret=served.bob).status == 404
    # A tool, by its route and over MCP.
    called = served.post("/v1/tools/adder.session_show", {"arguments": {"session": session}}, secret=served.alice)
    assert f"ended: {DIED}" in called.body.decode(), called
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    asked["params"] = {"name": "run_python", "arguments": {"code": "1", "session": session}, "_meta": meta}
    told = served.ask(
        "POST", "/mcp?toolset=adder", asked, secret=served.alice, Accept="application/json, text/event-stream",
        MCP_Protocol_Version="2026-07-28", Mcp_Method="tools/call", Mcp_Name="run_python",
    )  # fmt: skip
    assert f"ended: {DIED}" in told.body.decode(), told
    # Its name is free for another.
    again = served.post("/v1/sessions", {"name": "work"}, secret=served.alice)
    assert again.status == 201 and served.get("/v1/sessions/work", secret=served.alice).json()["state"] == "idle"


def test_on_the_command_line(own_adder):
    adder = own_adder
    assert adder.call("session", "new", "--name", "mine").returncode == 0
    adder.run("print('before')")
    process = started(adder)
    adder.kill()
    process.communicate()
    died, before = recorded(adder)
    assert_died(harness.strict_json(adder.call("history", "show", died["run_id"], "--json").stdout))
    assert before["outcome"] == "ok"
    assert verified(adder)["ok"]
    result = adder.json("--session", "mine", "-c", "1")
    assert result.outcome == "failed" and DIED in result.error["message"]
    # It is known after a daemon that was told to end, too, and is not completed again.
    adder.stop()
    result = adder.json("--session", "mine", "-c", "1")
    assert DIED in result.error["message"]
    assert [record["run_id"] for record in recorded(adder)].count(died["run_id"]) == 1
    assert verified(adder)["ok"]
    adder.stop()
    assert len(journals(adder)) == 1


def test_what_it_took_is_not_known(own_adder):
    process = started(own_adder)
    own_adder.kill()
    process.communicate()
    (died,) = recorded(own_adder)
    own_adder.run("print(1)")
    said = own_adder.call("history", "list").stdout
    (row,) = [line for line in said.splitlines() if died["run_id"] in line]
    assert row.split()[4] == "-", said
    said = own_adder.call("history", "show", died["run_id"]).stdout
    assert "-, processor -, waited -, memory -" in said
    stats = harness.strict_json(own_adder.call("history", "stats", "--outcome", "failed", "--json").stdout)
    assert (stats["records"], stats["wall_ms_total"], stats["cpu_ms_total"]) == (1, 0, 0)


def test_one_that_waits_for_a_sandbox(make_adder):
    """It is noted when it is accepted, though it has nothing to do yet."""
    adder = make_adder("[environment]\ndefault = system\n[pool]\nmax_running = 1\n")
    first = started(adder)
    waiting = adder.start("print('never')", "--timeout", "60")
    wait_until(lambda: adder.status()["engine"]["waiting"] == 1, "it to wait")
    adder.kill()
    for process in (first, waiting):
        process.communicate()
    records = recorded(adder)
    assert len(records) == 2
    for record in records:
        assert_died(harness.strict_json(adder.call("history", "show", record["run_id"], "--json").stdout))
    assert {record["code_start"].strip() for record in records} >= {"print('never')"}


def test_nothing_is_left_where_nothing_was_under_way(own_adder):
    own_adder.run("print(1)")
    assert len(journals(own_adder)) == 1
    own_adder.stop()
    assert journals(own_adder) == []


def test_what_is_long(own_adder):
    """Code that does not fit into its place is known by its digest."""
    process = started(own_adder, FOREVER + "#" + "x" * 20000)
    own_adder.kill()
    process.communicate()
    (record,) = recorded(own_adder)
    shown = harness.strict_json(own_adder.call("history", "show", record["run_id"], "--json").stdout)
    assert shown["outcome"] == "failed" and shown["code"] is None and len(shown["code_sha256"]) == 64


@pytest.fixture
def postgres():
    with contextlib.ExitStack() as ending:
        try:
            server = Postgres()
        except FileNotFoundError as missing:
            pytest.skip(str(missing))
        ending.callback(server.end)
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("shared", ("directory", "postgresql"))
def test_several_daemons(make_adder, request, shared):
    """Each completes what its own predecessor left, and nothing of one that lives."""
    config = "[environment]\ndefault = system\n"
    if shared == "postgresql":
        config += f"[store]\nrecords = {request.getfixturevalue('postgres').new()}\n"
    first, second = make_adder(config), make_adder(config)
    if shared == "directory":
        second.variables["ADDER_STATE_DIR"] = str(first.state)
    living, dying = started(first), started(second)
    second.kill()
    dying.communicate()
    second.run("print('again')")

    def outcomes():
        return sorted(record["outcome"] for record in recorded(second))

    assert outcomes() == ["failed", "ok"], "the run of the first daemon is still under way"
    living.terminate()
    living.communicate()
    assert outcomes() == ["cancelled", "failed", "ok"]
    assert verified(second)["ok"]
