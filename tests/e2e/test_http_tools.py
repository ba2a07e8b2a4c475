# SPDX-License-Identifier: Apache-2.0
"""Tools, approvals, reviews, records and numbers over HTTP."""
import csv
import io
import json
import os
import re
import threading

import harness
import http_bed
import pytest
from harness import wait_until

ASKING = "[profile]\ntitle = for tests\napproval = always\n"


@pytest.fixture(scope="module")
def served(installation, user, common_directory):
    directory = harness.new_directory(common_directory, "http-tools-" + user.name)
    os.chmod(directory, 0o755)
    adder = harness.Adder(installation, user, directory, "[environment]\ndefault = system\n")
    (adder.config / "profiles").mkdir(exist_ok=True)
    (adder.config / "profiles" / "asking.conf").write_text(ASKING)
    adder.own(adder.config / "profiles" / "asking.conf")
    adder.folder("data")
    adder.file("data/words.txt", "hello")
    bed = http_bed.Served(adder, f"[http]\nroots = data={adder.scratch}/data:overlay\n", start=False)
    bed.secret = bed.token("boss", "--role", "admin", "--may-decide")
    bed.alice = bed.token("alice", "--roots", "data")
    bed.person = bed.token("person", "--roots", "data", "--may-decide")
    bed.bob = bed.token("bob", "--may-decide")
    bed.guest = bed.token("guest", "--role", "guest", "--toolset", "compute")
    bed.looks = bed.token("looks", "--read-only")
    bed.start()
    yield bed
    bed.stop()


# ---- tools ----


@pytest.mark.quick
def test_tools_are_listed_and_called(served):
    listed = served.get("/v1/tools", secret=served.alice).json()
    named = {tool["name"]: tool for tool in listed["tools"]}
    assert listed["toolset"] == "adder" and "run_python" in named and "compute" in listed["toolsets"]
    assert named["run_python"]["inputSchema"]["properties"]["code"] and named["run_python"]["outputSchema"]
    reply = served.post("/v1/tools/run_python", {"arguments": {"code": "print(6 * 7)"}}, secret=served.alice)
    told = reply.json()
    assert reply.status == 200 and told["reply"]["stdout"] == "42\n" and told["exit_code"] == 0 and not told["is_error"]
    wrong = served.post("/v1/tools/run_python", {"arguments": {"cod": "1"}}, secret=served.alice).json()
    assert wrong["is_error"] and "did you mean code" in wrong["reply"]["error"]
    record = served.get(f"/v1/records/{told['reply']['run_id']}", secret=served.alice).json()
    assert (record["tool"], record["front_end"]) == ("adder.run_python", "http")


def test_tools_of_others_and_none(served):
    narrow = served.get("/v1/tools", secret=served.guest).json()
    assert narrow["toolset"] == "compute" and narrow["toolsets"] == ["compute"]
    expression = {"arguments": {"code": "'NcS9euQa'[::-1]", "description": ""}}
    told = served.post("/v1/tools/compute_with_python", expression, secret=served.guest).json()
    assert "aQue9ScN" in json.dumps(told["reply"])
    code = {"arguments": {"code": "1"}}
    for path, body, secret, status in [
        ("run_python", code, served.guest, 404),
        ("adder.run_python", code, served.guest, 404),
        ("run_python", {**code, "toolset": "adder"}, served.guest, 403),
        ("nothing_like_it", {}, served.alice, 404),
        ("run_python", {**code, "toolset": "none"}, served.alice, 404),
        ("run_python", code, served.looks, 403),
        ("run_python", {"arguments": []}, served.alice, 400),
        ("run_python", {"argument": {}}, served.alice, 400),
    ]:
        reply = served.post(f"/v1/tools/{path}", body, secret=secret)
        assert reply.status == status, (path, body, reply)
    assert served.get("/v1/tools?toolset=adder", secret=served.guest).status == 403
    looked = served.post("/v1/tools/session_list", {}, secret=served.looks)
    assert looked.status == 200 and looked.json()["reply"]["sessions"] == []


def test_a_conversation_is_a_field(served):
    """What calls remember goes by it and by the owner, never by the connection."""
    def compute(code, conversation, secret):
        body = {"arguments": {"code": code, "description": ""}, "toolset": "compute", "conversation": conversation}
        return json.dumps(served.post("/v1/tools/compute_with_python", body, secret=secret).json()["reply"])

    compute("123456789 * 2", "one", served.alice)
    assert "246913578" in compute("last_result", "one", served.alice)
    assert "246913578" not in compute("last_result", "two", served.alice)
    assert "246913578" not in compute("last_result", "one", served.bob)


def test_events_of_a_call(served):
    body = {"arguments": {"code": "print('on', flush=True)\n5"}, "stream": True}
    reply = served.post("/v1/tools/run_python", body, secret=served.alice)
    names = re.findall(r"^event: (\w+)$", reply.body.decode(), re.M)
    assert names[0] == "started" and "stdout" in names and names[-1] == "reply", reply
    last = harness.strict_json(reply.body.decode().strip().split("data: ")[-1])
    assert last["reply"]["value"] == "5" and last["is_error"] is False


# ---- approvals ----


@pytest.mark.quick
def test_a_yes_from_the_person(served):
    asked = {"code": "print('asked')", "profile": "asking", "description": "a try"}
    waiting = served.run(asked["code"], secret=served.person, profile="asking", description="a try")
    assert waiting["outcome"] == "approval_required"
    place = f"/v1/approvals/{waiting['approval_id']}"
    shown = served.get(place, secret=served.person).json()
    assert shown["code"] == asked["code"] and shown["state"] == "pending" and shown["description"] == "a try"
    (listed,) = served.get("/v1/approvals", secret=served.person).json()["approvals"]
    assert listed["first_line"] == "print('asked')" and "code" not in listed
    found = []
    waits = threading.Thread(target=lambda: found.append(served.get(place + "?wait_ms=60000", secret=served.person)))
    waits.start()
    assert served.post(place + "/approve", {}, secret=served.person).json()["state"] == "approved"
    waits.join()
    assert found[0].json()["state"] == "approved"
    again = served.post("/v1/runs", {**asked, "approval": waiting["approval_id"]}, secret=served.person).json()
    assert again["outcome"] == "ok" and again["stdout"] == "asked\n"


def test_an_admin_decides_and_it_is_on_record(served):
    asked = {"code": f"print('{harness.unique()}')", "profile": "asking"}
    waiting = served.run(asked["code"], secret=served.alice, profile="asking")
    place = f"/v1/approvals/{waiting['approval_id']}"
    assert served.get(place).status == 404 and served.get(place + "?owner=token:alice", secret=served.bob).status == 403
    shown = served.get(place + "?owner=all").json()
    assert shown["owner"] == "token:alice" and shown["decided_by"] is None and shown["decided"] is None
    assert shown["network"] == {"mode": "none", "hosts": None, "secret_host": None}
    listed = served.get("/v1/approvals?owner=all").json()["approvals"]
    assert waiting["approval_id"] in [each["approval_id"] for each in listed]
    assert served.post(place + "/approve", {"owner": "token:bob"}).status == 404
    approved = served.post(place + "/approve", {"owner": "token:alice"}).json()
    assert approved["state"] == "approved" and approved["decided_by"] == "token:boss" and approved["decided"]
    ran = served.post("/v1/runs", asked, secret=served.alice).json()
    assert ran["outcome"] == "ok", ran
    record = served.get(f"/v1/runs/{ran['run_id']}", secret=served.alice).json()["record"]
    assert record["approval"] == waiting["approval_id"] and record["more"]["approved_by"] == f"token:boss, {approved['decided']}"


def test_who_may_not_say_yes(served):
    waiting = served.run("print('mine')", secret=served.alice, profile="asking")
    place = f"/v1/approvals/{waiting['approval_id']}"
    assert served.post(place + "/approve", {}, secret=served.alice).status == 403
    assert served.post(place + "/deny", {}, secret=served.alice).status == 403
    for method, path in [("GET", place), ("POST", place + "/approve"), ("POST", place + "/deny")]:
        reply = served.ask(method, path, {} if method == "POST" else None, secret=served.bob)
        assert reply.status == 404 and b"mine" not in reply.body, (method, path, reply)
    assert served.get("/v1/approvals", secret=served.bob).json() == {"approvals": []}
    assert served.post("/v1/runs", {"code": "1", "accept_all": True}, secret=served.alice).status == 400
    denied = served.run("print('no')", secret=served.person, profile="asking")
    no = served.post(f"/v1/approvals/{denied['approval_id']}/deny", {"reason": "why?"}, secret=served.person).json()
    assert no["state"] == "denied" and no["reason"] == "why?"


# ---- reviews ----


def test_a_review(served):
    place = {"root": "data", "mode": "review"}
    word = served.adder.scratch / "data" / "words.txt"

    def change(text):
        result = served.run(f"open('words.txt', 'w').write({text!r})", secret=served.person, workdir=place)
        assert result["outcome"] == "approval_required" and result["changes"][0]["path"] == "words.txt", result
        return f"/v1/reviews/{result['approval_id']}"

    review = change("changed")
    shown = served.get(review, secret=served.person).json()
    assert "+changed" in shown["changes"][0]["diff"] and word.read_text() == "hello"
    assert [r["review_id"] for r in served.get("/v1/reviews", secret=served.person).json()["reviews"]] == [
        shown["review_id"]
    ]
    for secret, status in [(served.bob, 404), (served.alice, 403)]:
        assert served.post(review + "/commit", {}, secret=secret).status == status
        assert served.post(review + "/drop", secret=secret).status == status
    assert served.get(review, secret=served.bob).status == 404
    assert served.post(review + "/commit", {"digest": "0" * 64}, secret=served.person).status == 403
    assert served.post(review + "/commit", {"digest": shown["digest"]}, secret=served.person).status == 200
    assert word.read_text() == "changed"
    others = change("an admin's"), change("not made")
    mine = served.get("/v1/reviews").json()["reviews"]
    listed = {f"/v1/reviews/{each['review_id']}": each["owner"] for each in served.get("/v1/reviews?owner=all").json()["reviews"]}
    assert not mine and [listed[each] for each in others] == ["token:person"] * 2
    for place_of in others:
        assert served.get(place_of).status == 404 and served.get(place_of + "?owner=all", secret=served.bob).status == 403
        assert served.get(place_of + "?owner=token:person").json() == served.get(place_of + "?owner=all").json()
        assert served.get(place_of + "?owner=token:alice").status == 404
    assert served.post(others[0] + "/commit", {"owner": "all"}, secret=served.bob).status == 403
    assert served.post(others[0] + "/commit", {"owner": "all"}).status == 200 and word.read_text() == "an admin's"
    assert served.post(others[1] + "/drop", {"owner": "token:person"}).status == 200
    assert served.get("/v1/reviews", secret=served.person).json()["reviews"] == []
    approvals = served.get("/v1/approvals", secret=served.person).json()["approvals"]
    assert not [each for each in approvals if f"/v1/reviews/{each['review_id']}" in others]
    assert served.get("/v1/reviews/" + "0" * 8 + "?owner=all").status == 404
    word.write_text("changed")
    second = change("dropped")
    assert served.post(second + "/drop", secret=served.person).status == 200
    assert word.read_text() == "changed" and served.get(second, secret=served.person).status == 404


# ---- records ----


def test_records(served):
    ran = [served.run(f"print({number})", secret=served.bob, conversation="rec") for number in range(3)]
    ids = [run["run_id"] for run in ran]
    first = served.get("/v1/records?conversation=rec&limit=2", secret=served.bob).json()
    assert [record["run_id"] for record in first["records"]] == ids[:0:-1] and first["next"]
    rest = served.get(f"/v1/records?conversation=rec&before={first['next']}", secret=served.bob).json()
    assert [record["run_id"] for record in rest["records"]] == ids[:1] and rest["next"] is None
    assert served.get(f"/v1/records/{ids[0]}", secret=served.bob).json()["code"] == "print(0)"
    stats = served.get("/v1/records/stats?conversation=rec", secret=served.bob).json()
    assert stats["records"] == 3 and stats["by"]["outcome"][0] == {**stats["by"]["outcome"][0], "name": "ok", "records": 3}
    lines = served.get("/v1/records/export?conversation=rec", secret=served.bob)
    assert [json.loads(line)["run_id"] for line in lines.body.splitlines()] == ids
    assert lines.headers["Content-Type"] == "application/x-ndjson"
    table = served.get("/v1/records/export?conversation=rec&format=csv", secret=served.bob)
    assert [row["run_id"] for row in csv.DictReader(io.StringIO(table.body.decode()))] == ids
    for query in ("?since=never", "?limit=0", "?outcome=good", "?more=1", "?before=x"):
        assert served.get("/v1/records" + query, secret=served.bob).status == 400, query
    assert served.get("/v1/records/export?outcome=good", secret=served.bob).status == 400
    assert served.get("/v1/records", secret=served.guest).status == 403
    assert served.get("/v1/records/verify", secret=served.bob).status == 403
    assert served.get("/v1/records/verify").json()["ok"] is True


# ---- numbers ----

LINE = re.compile(r'^([a-z_]+)(\{[a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})? (\S+)$')


@pytest.mark.quick
def test_metrics(served):
    """In the form that Prometheus reads: each name with its help and type once, buckets that grow."""
    assert served.get("/metrics", secret=served.alice).status == 403

    def read():
        reply = served.get("/metrics")
        assert reply.status == 200 and reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        values, types = {}, {}
        for line in reply.body.decode().splitlines():
            if line.startswith("# TYPE "):
                name, kind = line.split()[2:]
                assert name not in types, name
                types[name] = kind
            elif not line.startswith("# HELP "):
                name, labels, value = LINE.match(line).groups()
                base = re.sub("_(bucket|sum|count)$", "", name)
                assert name in types or types[base] == "histogram", line
                assert (name, labels) not in values, line
                values[name, labels] = float(value)
        return values

    served.adder.at_rest()  # what other tests had run is counted
    before = read()
    served.run("import socket\ntry: socket.create_connection(('192.0.2.1', 1))\nexcept OSError: pass", secret=served.bob)
    # A request is counted when its reply was sent, so perhaps after the client has it, and one of an earlier test only now.
    asked = ("adder_http_request_seconds_count", '{method="POST",route="/v1/runs",status="200"}')
    wait_until(lambda: read().get(asked, 0) >= before.get(asked, 0) + 1, "the request to be counted")
    after = read()
    ok = ("adder_runs_total", '{outcome="ok"}')
    assert after[ok] == before[ok] + 1
    denied = ("adder_denials_total", '{kind="network"}')
    assert after[denied] >= before[denied] + 1
    wall = ("adder_run_wall_seconds_count", None)
    assert after[wall] == before[wall] + 1 == after["adder_run_wall_seconds_bucket", '{le="+Inf"}']
    grown = [value for (name, _), value in after.items() if name == "adder_run_wall_seconds_bucket"]
    assert grown == sorted(grown)
    text = served.get("/metrics").body.decode()
    for owner in ("alice", "bob", "person", "token:"):
        assert owner not in text
    assert after["adder_memory_bytes", '{kind="most"}'] > 0


def test_mcp_is_counted(served):
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    reply = served.post("/mcp", body, secret=served.bob, Accept="application/json, text/event-stream")
    assert reply.status == 200, reply
    line = 'adder_mcp_request_seconds_count{method="initialize",error="no"} 1\n'
    wait_until(lambda: line in served.get("/metrics").body.decode(), "the request to be counted")


def test_sessions_are_counted(served):
    before = served.get("/metrics").body.decode()
    made = served.post("/v1/sessions", {}, secret=served.bob).json()

    def live(text):
        return float(re.search(r'^adder_sessions\{state="live"\} (\S+)$', text, re.M)[1])

    wait_until(lambda: live(served.get("/metrics").body.decode()) == live(before) + 1, "the session to be counted")
    served.ask("DELETE", f"/v1/sessions/{made['session_id']}", secret=served.bob)


def test_the_page_has_every_route(served):
    """docs/http-routes.md names each route of /openapi.json, with its method."""
    page = (harness.REPOSITORY / "docs" / "http-routes.md").read_text()
    paths = served.get("/openapi.json").json()["paths"]
    assert "/v1/runs" in paths
    for path, methods in paths.items():
        if path.startswith("/v1/"):
            named = re.findall(r"`((?:[A-Z]+, )*[A-Z]+) " + re.escape(path) + "`", page)
            assert named or re.search(f"`{re.escape(path)}`", page), (path, list(methods))
