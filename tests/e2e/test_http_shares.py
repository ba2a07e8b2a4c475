# SPDX-License-Identifier: Apache-2.0
"""What one owner takes of a daemon that serves several: of the disk for uploads under way, of memory for what their runs
were asked with, and of what is held of those that ended."""
import itertools
import json
import os

import harness
import http_bed
import pytest
from harness import wait_until

MIB = 1 << 20
FOREVER = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)\n"
LINES = """
[http]
bodies_bytes = 2MiB
upload_bytes = 8MiB
uploads_bytes = 4MiB
max_background = 4
result_bytes = 100KiB
"""
LEGACY = {"MCP_Protocol_Version": "2025-11-25", "Accept": "application/json, text/event-stream"}
ids = itertools.count(1)


@pytest.fixture(scope="module")
def served(installation, user, common_directory):
    directory = harness.new_directory(common_directory, "http-shares-" + user.name)
    os.chmod(directory, 0o755)
    bed = http_bed.Served(
        harness.Adder(installation, user, directory, "[environment]\ndefault = system\n"), LINES, start=False
    )
    bed.alice, bed.bob, bed.carol = bed.token("alice"), bed.token("bob"), bed.token("carol")
    bed.start()
    yield bed
    bed.stop()


def parts_on_disk(served):
    """Bytes of files without a name in the state directory that the daemon has open."""
    folder, found = f"/proc/{served.adder.daemon()}/fd", 0
    for number in os.listdir(folder):
        try:
            target, status = os.readlink(f"{folder}/{number}"), os.stat(f"{folder}/{number}")
        except OSError:
            continue  # closed meanwhile
        if target.startswith(str(served.adder.state)) and status.st_nlink == 0:
            found += status.st_size
    return found


def begin_upload(served, secret, size):
    """Most of an upload, whose connection stays."""
    body, kind = http_bed.multipart([("file", "slow.bin", b"x" * size)], end=False)
    connection = served.connect()
    length = f"Content-Length: {len(body) + 1000}"
    connection.sendall(served.head("POST", "/v1/files", f"Content-Type: {kind}", length, secret=secret) + body)
    return connection


def put(served, secret, size):
    body, kind = http_bed.multipart([("file", "quick.bin", b"x" * size)])
    return served.ask("POST", "/v1/files", body, secret=secret, Content_Type=kind)


@pytest.mark.quick
def test_uploads_under_way_have_a_bound(served):
    """Of one owner half of what all may have; refused before it is on disk."""
    with begin_upload(served, served.alice, 15 * MIB // 10), begin_upload(served, served.bob, 19 * MIB // 10):
        wait_until(lambda: parts_on_disk(served) > 33 * MIB // 10, "most of both to be there")
        refused = put(served, served.alice, MIB)
        assert refused.status == 503 and "your requests" in refused.json()["detail"], refused
        assert "Retry-After" in refused.headers
        refused = put(served, served.carol, MIB)
        assert refused.status == 503 and "all requests" in refused.json()["detail"], refused
        assert put(served, served.carol, MIB // 4).status == 201
        refused = put(served, served.carol, 3 * MIB)
        assert refused.status in (413, 503) and parts_on_disk(served) <= 4 * MIB
    wait_until(lambda: parts_on_disk(served) == 0, "what was broken off to be gone")
    wait_until(lambda: put(served, served.alice, 15 * MIB // 10).status == 201, "its room to be given back")
    refused = put(served, served.alice, 3 * MIB)
    assert refused.status == 413 and "2097152" in refused.json()["detail"], refused
    assert parts_on_disk(served) == 0


# ---- memory ----


def large(kib):
    return {"code": FOREVER + "#" * (kib * 1024)}


def is_free(served, secret):
    return served.post("/v1/runs", {"code": "1#" + "x" * (900 * 1024)}, secret=secret).status == 200


def end(served, secret):
    for run in served.get("/v1/runs", secret=secret).json()["runs"]:
        assert served.ask("DELETE", f"/v1/runs/{run['run_id']}", secret=secret).status == 200


def test_runs_in_the_background_count_until_they_are_over(served):
    assert served.post("/v1/runs", {**large(600), "background": True}, secret=served.alice).status == 202
    refused = served.post("/v1/runs", {**large(600), "background": True}, secret=served.alice)
    assert refused.status == 503 and "your requests" in refused.json()["detail"], refused
    assert served.run("1 + 1", secret=served.alice)["outcome"] == "ok"
    assert is_free(served, served.bob), "it is not theirs"
    end(served, served.alice)
    wait_until(lambda: is_free(served, served.alice), "what it took to be given back")


def test_streams_count_until_they_are_over(served):
    body = json.dumps({**large(600), "stream": True}).encode()
    lines = ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    with served.connect() as connection:
        connection.sendall(served.head("POST", "/v1/runs", *lines, secret=served.alice) + body)
        http_bed.read_until(connection, b"begun")
        assert not is_free(served, served.alice)
    wait_until(lambda: is_free(served, served.alice), "what it took to be given back")


def test_calls_whose_client_left_count_until_they_are_over(served):
    """Of MCP's legacy era: who goes has not cancelled."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    first = {"jsonrpc": "2.0", "id": next(ids), "method": "initialize", "params": params}
    begun = served.post("/mcp", first, secret=served.alice, Accept=LEGACY["Accept"])
    session = {"Mcp_Session_Id": begun.headers["Mcp-Session-Id"], **LEGACY}
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert served.post("/mcp", told, secret=served.alice, **session).status == 202
    params = {"name": "run_python", "arguments": large(600)}
    call = {"jsonrpc": "2.0", "id": next(ids), "method": "tools/call", "params": params}
    body = json.dumps(call).encode()
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in session.items()]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    with served.connect() as connection:
        connection.sendall(served.head("POST", "/mcp", *lines, secret=served.alice) + body)
        http_bed.read_until(connection, b"200 OK")
        http_bed.reset(connection)
    assert not is_free(served, served.alice)
    assert is_free(served, served.bob)
    told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call["id"]}}
    assert served.post("/mcp", told, secret=served.alice, **session).status == 202
    wait_until(lambda: is_free(served, served.alice), "what it took to be given back")


# ---- results ----


def in_background(served, code, secret):
    begun = served.post("/v1/runs", {"code": code, "background": True}, secret=secret)
    assert begun.status == 202, begun
    place = f"/v1/runs/{begun.json()['run_id']}"
    assert served.get(place + "?wait_ms=30000", secret=secret).json()["state"] == "ended"
    return place


def test_results_of_one_owner_are_not_dropped_for_those_of_another(served):
    mine = in_background(served, "print('x' * 20000)", served.alice)
    others = [in_background(served, "print('y' * 40000)", served.bob) for _ in range(4)]
    assert served.get(mine, secret=served.alice).json()["result"] is not None
    assert [served.get(place, secret=served.bob).json()["result"] is not None for place in others] == [False, False, False, True]


def test_a_run_that_may_not_be_is_not_begun(served):
    places = [served.post("/v1/runs", {"code": FOREVER, "background": True}, secret=served.carol) for _ in range(4)]
    assert [reply.status for reply in places] == [202] * 4
    refused = served.post("/v1/runs", {"code": "1", "background": True}, secret=served.carol)
    assert refused.status == 429 and "max_background" in refused.json()["detail"], refused
    end(served, served.carol)
    for reply in places:
        served.get(f"/v1/runs/{reply.json()['run_id']}?wait_ms=30000", secret=served.carol)
    records = served.get("/v1/records", secret=served.carol).json()["records"]
    assert len(records) == 4, records
    in_background(served, "1", served.carol)
