# SPDX-License-Identifier: Apache-2.0
"""Runs and sessions over HTTP: results, streams of events, the background, and whose they are."""
import base64
import contextlib
import json
import os
import re
import threading

import harness
import http_bed
import pytest
from harness import wait_until

FOREVER = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)"


@pytest.fixture(scope="module")
def served(installation, user, common_directory):
    """One daemon and three who ask: an admin that decides, and two users."""
    directory = harness.new_directory(common_directory, "http-runs-" + user.name)
    os.chmod(directory, 0o755)
    adder = harness.Adder(installation, user, directory, "[environment]\ndefault = system\n")
    adder.folder("data")
    adder.file("data/words.txt", "hello")
    lines = f"[http]\nroots = data={adder.scratch}/data:overlay\nmax_background = 2\nresult_bytes = 64KiB\n"
    bed = http_bed.Served(adder, lines, start=False)
    bed.alice = bed.token("alice", "--roots", "data", "--may-decide")
    bed.bob = bed.token("bob")
    bed.tool_only = bed.token("narrow", "--toolset", "compute")
    bed.looks = bed.token("looks", "--read-only")
    bed.start()
    yield bed
    bed.stop()


def events(served, path, body, secret=None):
    """The events of a stream, to its end: (name, data) each."""
    reply = served.post(path, {**body, "stream": True}, secret=secret)
    assert reply.status == 200 and reply.headers["Content-Type"].startswith("text/event-stream"), reply
    found = []
    for block in reply.body.decode().split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if lines:
            fields = dict(line.split(": ", 1) for line in lines)
            found.append((fields["event"], harness.strict_json(fields["data"])))
    return found


@pytest.mark.quick
def test_a_run_is_its_result(served):
    result = served.run("import sys\nprint(2**32)\nprint('oh', file=sys.stderr)\n6 * 7", secret=served.alice)
    harness.check_result(result, 0)
    assert result["stdout"] == "4294967296\n" and result["stderr"] == "oh\n"
    assert result["value"] == {"text/plain": "42"} and result["outcome"] == "ok"
    failed = served.run("1/0", secret=served.alice)
    assert failed["outcome"] == "error" and failed["error"]["type"] == "ZeroDivisionError"


def test_what_a_run_is_given(served):
    code = (
        "import sys, os, json\n"
        "print(json.dumps([open('a/b.txt').read(), list(open('c.bin', 'rb').read()), sys.stdin.read(), "
        "sys.argv, os.environ['GREETING'], numbers]))"
    )
    result = served.run(
        code,
        files=[
            {"name": "a/b.txt", "text": "hällo"},
            {"name": "c.bin", "base64": base64.b64encode(bytes(range(256))).decode()},
        ],
        stdin="from stdin",
        name="mine.py",
        arguments=["one", "two words"],
        variables={"GREETING": "hi"},
        values={"numbers": [1, {"two": None}]},
        limits={"wall_ms": 50_000},
        description="a test",
        conversation="talk-1",
    )
    assert json.loads(result["stdout"]) == [
        "hällo", list(range(256)), "from stdin", ["mine.py", "one", "two words"], "hi", [1, {"two": None}],
    ]  # fmt: skip
    assert result["limits"]["wall_ms"] == 50_000
    record = served.get(f"/v1/records/{result['run_id']}").json()
    assert (record["front_end"], record["conversation"], record["owner"]) == ("http", "talk-1", "token:tester")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "code is missing"),
        ({"code": 5}, "code must be text"),
        ({"code": "1", "limit": {}}, "did you mean limits"),
        ({"code": "1", "limits": {"wall_ms": 10**15}}, "limits.wall_ms must be at most"),
        ({"code": "1", "limits": {"wall": 1}}, "limits.wall"),
        ({"code": "1", "files": [{"name": "x"}]}, "one of text, base64 and file_id"),
        ({"code": "1", "files": [{"name": "x", "text": "", "file_id": "a"}]}, "one of text, base64 and file_id"),
        ({"code": "1", "files": [{"name": "x", "base64": "?"}]}, "not base64"),
        ({"code": "1", "files": [{"name": "x", "base64": "QUI=QUI="}]}, "not base64"),
        ({"code": "1", "files": [{"name": "../x", "text": ""}]}, "../x"),
        ({"code": "1", "files": [{"name": "x", "text": "", "mode": 1}]}, "files[0].mode"),
        ({"code": "1", "values": {"a": 2**63}}, "whole numbers have at most 64 bits"),
        ({"code": "1", "values": {"a": [-(10**400)]}}, "whole numbers have at most 64 bits"),
        ({"code": "1\0"}, "the character U+0000, which no text may have"),
        ({"code": "1", "values": {"a\0": 1}}, "the character U+0000, which no text may have"),
        ({"code": "1", "variables": {"A": 1}}, "each value of variables must be text"),
        ({"code": "1", "isolation": "weak"}, "isolation must be"),
        ({"code": "1", "tables": "xls"}, "tables must be"),
        ({"code": "1", "stream": True, "background": True}, "not both"),
        ({"code": "1", "values": {"1x": 1}}, "1x"),
        ({"code": "1", "conversation": "x" * 201}, "conversation must be at most"),
        ({"code": "1", "workdir": {"root": "data", "mode": "write"}}, "workdir.mode"),
    ],
)
def test_bodies_that_are_wrong(served, body, words):
    reply = served.post("/v1/runs", body)
    assert reply.status == 400, reply
    assert reply.headers["Content-Type"] == "application/problem+json"
    problem = reply.json()
    assert words in problem["detail"] and problem["code"] == "invalid" and problem["status"] == 400


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "body",
    [{"profile": "no-such"}, {"environment": "no-such"}, {"session": "no-such"}, {"session": "no-such", "profile": "x"}],
)
def test_what_a_run_names_and_is_not_there(served, body, stream):
    """404, before anything of a run is there; nor is there a command that would help who asks over HTTP."""
    refused = served.post("/v1/runs", {"code": "1", "stream": stream, **body}, secret=served.alice)
    assert refused.status == 404 and refused.json()["code"] == "not_found", refused
    assert "no-such" in refused.json()["detail"] and "adder " not in refused.json()["detail"], refused.json()


COMMANDS = {
    "/v1/sessions/no-such": None,
    "/v1/tokens/no-such": None,
    "/v1/sessions": {"environment": "no-such"},
    "/v1/runs/01a2227e-6a73-7b4f-841e-670d8302b6f1/tables/1": {},
}


@pytest.mark.parametrize("path, body", COMMANDS.items(), ids=COMMANDS)
def test_problems_name_no_commands(served, path, body):
    told = served.post(path, body) if body is not None else served.get(path)
    detail = told.json()["detail"]
    assert told.status == 404 and detail.startswith(("there is no", "no table")), detail
    assert not re.search(r"adder [a-z]|--[a-z]", detail) and detail[-1] not in "(;,: ", detail


def test_a_name_that_is_taken(served):
    for name in ("taken", "other"):
        assert served.post("/v1/sessions", {"name": name}, secret=served.alice).status == 201
    served.post("/v1/sessions/other/cells", {"code": "x = 1"}, secret=served.alice)
    again = served.post("/v1/sessions", {"name": "taken"}, secret=served.alice)
    replayed = served.post("/v1/sessions/other/replay", {"name": "taken"}, secret=served.alice)
    for refused in (again, replayed):
        assert refused.status == 409 and refused.json()["code"] == "conflict", refused
        assert '"taken" already' in refused.json()["detail"]
    assert served.post("/v1/sessions", {"name": "taken"}).status == 201, "another owner's"
    for name, secret in (("taken", served.alice), ("other", served.alice), ("taken", None)):
        assert served.ask("DELETE", f"/v1/sessions/{name}", secret=secret).status == 200


def test_what_is_not_for_everybody(served):
    reply = served.post("/v1/runs", {"code": "1", "isolation": "none"}, secret=served.bob)
    assert reply.status == 403
    assert served.run("1", secret=served.tool_only)["outcome"] == "refused"
    assert served.post("/v1/runs", {"code": "1"}, secret=served.looks).status == 403
    assert served.post("/v1/sessions", {}, secret=served.looks).status == 403
    assert served.get("/v1/sessions", secret=served.looks).status == 200


@pytest.mark.quick
def test_events_of_a_run(served):
    code = (
        "import sys, os\nos.write(1, 'é€'.encode()[:3]); os.write(1, 'é€'.encode()[3:] + b'\\xff')\n"
        "print('to err', file=sys.stderr)\ndisplay({'a': 1}, display_id='d')\nlen('abc')"
    )
    found = events(served, "/v1/runs", {"code": code}, served.bob)
    names = [name for name, _ in found]
    assert names[0] == "started" and names[-1] == "result" and set(names) >= {"stdout", "stderr", "display"}
    assert "".join(data["text"] for name, data in found if name == "stdout") == "é€\ufffd"
    shown = dict(found)["display"]
    assert shown["data"]["text/plain"] == "{'a': 1}" and shown["display_id"] == "d" and shown["update"] is False
    result = found[-1][1]
    harness.check_result(result, 0)
    assert found[0][1] == {"run_id": result["run_id"]}


def test_events_come_while_the_run_goes_on(served):
    """The first line is there before the code has got what it waits for, and the end of the stream ends the run."""
    body = json.dumps({"code": FOREVER, "stream": True}).encode()
    lines = ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    with served.connect() as connection:
        connection.sendall(served.head("POST", "/v1/runs", *lines, secret=served.alice) + body)
        seen = http_bed.read_until(connection, b"begun")
        run_id = json.loads(seen.split(b"event: started")[1].split(b"data: ")[1].split(b"\n")[0])["run_id"]
        listed = served.get("/v1/runs", secret=served.alice).json()["runs"]
        assert [run["run_id"] for run in listed] == [run_id] and listed[0]["state"] == "running"
        http_bed.reset(connection)
    wait_until(lambda: outcome_of(served, run_id, served.alice) == "cancelled", "the run to be cancelled")


def outcome_of(served, run_id, secret):
    shown = served.get(f"/v1/runs/{run_id}", secret=secret).json()
    return shown["record"] and shown["record"]["outcome"]


def test_who_goes_away_cancels_his_run(served):
    body = json.dumps({"code": FOREVER}).encode()
    lines = ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    connection = served.connect()
    connection.sendall(served.head("POST", "/v1/runs", *lines, secret=served.bob) + body)
    wait_until(lambda: served.get("/v1/runs", secret=served.bob).json()["runs"], "the run to begin")
    (run,) = served.get("/v1/runs", secret=served.bob).json()["runs"]
    connection.close()
    wait_until(lambda: outcome_of(served, run["run_id"], served.bob) == "cancelled", "the run to be cancelled")
    assert served.get("/v1/runs", secret=served.bob).json()["runs"] == []


def test_background(served):
    reply = served.post("/v1/runs", {"code": "print('on')", "background": True, "conversation": "c"}, secret=served.bob)
    assert reply.status == 202, reply
    begun = reply.json()
    place = f"/v1/runs/{begun['run_id']}"
    assert reply.headers["Location"] == place and begun["state"] in ("running", "ended")
    shown = served.get(place + "?wait_ms=30000", secret=served.bob).json()
    assert shown["state"] == "ended" and shown["result"]["stdout"] == "on\n" and shown["conversation"] == "c"
    assert shown["record"]["outcome"] == "ok" and shown["owner"] == "token:bob"
    for method, path in ("GET", place[:-1]), ("DELETE", place[:-1]), ("GET", place[:-1] + "/events"):
        assert served.ask(method, path, secret=served.bob).status == 404, (method, path)  # of a record alone


def test_background_has_bounds(served):
    """So many at once of one owner, and so many bytes of results."""
    begun = [served.post("/v1/runs", {"code": FOREVER, "background": True}, secret=served.bob).json() for _ in range(2)]
    refused = served.post("/v1/runs", {"code": "1", "background": True}, secret=served.bob)
    assert refused.status == 429 and "Retry-After" in refused.headers and "max_background" in refused.json()["detail"]
    assert served.post("/v1/runs", {"code": "1", "background": True}, secret=served.alice).status == 202
    for run in begun:
        place = f"/v1/runs/{run['run_id']}"
        assert served.ask("DELETE", place, secret=served.alice).status == 404
        assert served.ask("DELETE", place, secret=served.bob).status == 200
        assert served.get(place + "?wait_ms=30000", secret=served.bob).json()["result"]["outcome"] == "cancelled"
        assert served.ask("DELETE", place, secret=served.bob).json()["state"] == "ended"
    for _ in range(2):
        code = "print('x' * 40000)"
        long = served.post("/v1/runs", {"code": code, "background": True}, secret=served.bob).json()
        place = f"/v1/runs/{long['run_id']}?wait_ms=30000"
        assert len(served.get(place, secret=served.bob).json()["result"]["stdout"]) == 40001
    first = served.get(f"/v1/runs/{begun[0]['run_id']}", secret=served.bob).json()
    assert first["result"] is None and first["record"]["outcome"] == "cancelled", "the oldest result went for it"


def connections(served):
    """The threads that serve one each."""
    folder, found = f"/proc/{served.adder.daemon()}/task", set()
    for thread in os.listdir(folder):
        with contextlib.suppress(OSError), open(f"{folder}/{thread}/comm") as name:
            if name.read() == "http\n":
                found.add(thread)
    return found


def test_waiting_ends_when_the_client_goes(served):
    begun = served.post("/v1/runs", {"code": FOREVER, "background": True}, secret=served.alice).json()
    before = connections(served)
    with served.connect() as connection:
        connection.sendall(served.head("GET", f"/v1/runs/{begun['run_id']}?wait_ms=600000", secret=served.alice))
        wait_until(lambda: connections(served) - before, "the waiting")
        waiting = connections(served) - before
        http_bed.reset(connection)
    wait_until(lambda: not waiting & connections(served), "the end of the waiting")
    assert served.ask("DELETE", f"/v1/runs/{begun['run_id']}", secret=served.alice).status == 200


# ---- whose ----


@pytest.mark.quick
def test_nothing_of_another_owner(served):
    """Whatever belongs to one token is not there for the other, by any route."""
    run = served.run("print('secret of alice')", secret=served.alice, keep_over=1)
    session = served.post("/v1/sessions", {"name": "mine"}, secret=served.alice).json()
    cell = served.post("/v1/sessions/mine/cells", {"code": "secret = 1"}, secret=served.alice).json()
    assert cell["session"]["cell"] == 1 and run["result_id"] == run["run_id"]
    for name in ("mine", session["session_id"]):
        place = f"/v1/sessions/{name}"
        asked = [
            ("GET", place, None),
            ("DELETE", place, None),
            ("POST", place + "/cells", {"code": "print(secret)"}),
            ("POST", place + "/cells", {"code": "print(secret)", "stream": True}),
            ("GET", place + "/variables", None),
            ("GET", place + "/variables?names=secret", None),
            ("GET", place + "/history", None),
            ("POST", place + "/reset", {}),
            ("POST", place + "/interrupt", {}),
            ("GET", place + "/checkpoints", None),
            ("POST", place + "/checkpoints", {}),
            ("DELETE", place + "/checkpoints/one", None),
            ("POST", place + "/rollback", {"checkpoint": "one"}),
            ("POST", place + "/branches", {}),
            ("POST", place + "/replay", {}),
            ("POST", "/v1/runs", {"code": "print(secret)", "session": name}),
        ]
        for method, path, body in asked:
            reply = served.ask(method, path, body, secret=served.bob)
            assert reply.status == 404 and b"alice" not in reply.body, (method, path, reply)
    run_id = run["run_id"]
    for method, path in [
        ("GET", f"/v1/runs/{run_id}"),
        ("DELETE", f"/v1/runs/{run_id}"),
        ("GET", f"/v1/results/{run_id}"),
        ("GET", f"/v1/records/{run_id}"),
    ]:
        assert served.ask(method, path, secret=served.alice).status == 200, path
        reply = served.ask(method, path, secret=served.bob)
        assert reply.status == 404 and b"secret of" not in reply.body, (method, path, reply)
    assert served.post(f"/v1/runs/{run_id}/tables/1", {}, secret=served.bob).status == 404
    assert served.get("/v1/sessions", secret=served.bob).json() == {"sessions": []}
    for place in ("/v1/records?limit=1000", "/v1/records/export", "/v1/files?outputs=true", "/v1/runs"):
        assert run_id.encode() not in served.get(place, secret=served.bob).body
        asked = place + ("&" if "?" in place else "?") + "owner=token:alice"
        assert served.get(asked, secret=served.bob).status == 403
    assert run_id.encode() in served.get("/v1/records/export?owner=token:alice").body
    assert served.ask("DELETE", "/v1/sessions/mine", secret=served.alice).json()["state"] == "ended"


def test_an_admin_sees_and_ends_what_others_have(served):
    session = served.post("/v1/sessions", {"name": "theirs"}, secret=served.alice).json()
    begun = served.post("/v1/runs", {"code": FOREVER, "background": True}, secret=served.alice).json()
    of_alice = "owner=token:alice"
    for owner in (of_alice, "owner=all"):
        listed = served.get(f"/v1/sessions?{owner}").json()["sessions"]
        assert session["session_id"] in [each["session_id"] for each in listed]
    assert session["session_id"].encode() not in served.get("/v1/sessions").body
    for path in ("/v1/sessions", "/v1/sessions/theirs", f"/v1/runs/{begun['run_id']}"):
        assert served.get(f"{path}?{of_alice}", secret=served.bob).status == 403
        assert served.get(f"{path}?{of_alice}").status == 200, path
    served.post("/v1/sessions/theirs/cells", {"code": "it = [4, 2]"}, secret=served.alice)
    for name, owner in (("theirs", of_alice), (session["session_id"], "owner=all"), (session["session_id"][:34], "owner=all")):
        asked = {what: f"/v1/sessions/{name}{what}{owner}" for what in ("?", "/history?", "/variables?", "/checkpoints?", "/rows?name=it&")}
        assert all(served.get(path, secret=served.bob).status == 403 for path in asked.values())
        told = {what: served.get(path) for what, path in asked.items()}
        assert [told["?"].json()["name"], told["/checkpoints?"].json()] == ["theirs", {"checkpoints": []}]
        assert told["/history?"].json()["cells"][0]["code"] == "it = [4, 2]" and told["/variables?"].json()["count"] == 1
        assert told["/rows?name=it&"].status == 400 and b"list" in told["/rows?name=it&"].body, "it is found, and is no table"
    assert served.get("/v1/sessions/theirs?owner=all").status == 404, "names are each owner's own"
    for path in ("/v1/sessions/theirs", f"/v1/runs/{begun['run_id']}"):
        assert served.ask("DELETE", path).status == 404
        assert served.ask("DELETE", f"{path}?{of_alice}", secret=served.bob).status == 403
        assert served.ask("DELETE", f"{path}?{of_alice}").status == 200, path
    ended = served.get(f"/v1/runs/{begun['run_id']}?wait_ms=60000", secret=served.alice).json()
    assert ended["record"]["outcome"] == "cancelled"


def test_directories_by_their_names(served):
    place = {"root": "data", "path": "", "mode": "read"}
    read = served.run("print(open('words.txt').read())", secret=served.alice, workdir=place)
    assert read["stdout"] == "hello\n", read
    changed = served.run(
        "open('words.txt', 'a').write('!'); open('new', 'w').write('n')",
        secret=served.alice,
        workdir={**place, "mode": "overlay"},
    )
    assert {change["path"]: change["change"] for change in changed["changes"]} == {
        "words.txt": "changed",
        "new": "created",
    }
    for secret, asked, status in [
        (served.bob, place, 404),
        (served.alice, {**place, "root": "other"}, 404),
        (served.alice, {**place, "mode": "rw"}, 403),
        (served.alice, {**place, "path": "../"}, 403),
        (served.alice, {**place, "path": "/etc"}, 400),
    ]:
        reply = served.post("/v1/runs", {"code": "1", "workdir": asked}, secret=secret)
        assert reply.status == status and str(served.adder.scratch).encode() not in reply.body, (asked, reply)


# ---- sessions ----


def test_a_replay_has_the_arguments_of_its_session(served):
    options = {"arguments": ["one", "two"], "variables": {"A": "1"}}
    made = served.post("/v1/sessions", options, secret=served.alice).json()
    place = "/v1/sessions/" + made["session_id"]
    code = "import os, sys\nsys.argv[1:], os.environ['A']"
    first = served.post(place + "/cells", {"code": code}, secret=served.alice).json()
    assert first["value"] == {"text/plain": "(['one', 'two'], '1')"}, first
    for asked, value in (({}, first["value"]), ({"arguments": []}, {"text/plain": "([], '1')"})):
        (cell,) = served.post(place + "/replay", asked, secret=served.alice).json()["cells"]
        assert cell["result"]["value"] == value, (asked, cell)


def test_cells_of_a_session_with_svg_have_it(served):
    if not served.adder.has_environment("science"):
        harness.skip_without("science")
    made = served.post("/v1/sessions", {"svg": True, "environment": "science"}, secret=served.alice).json()
    place = "/v1/sessions/" + made["session_id"]
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    cell = served.post(place + "/cells", {"code": code}, secret=served.alice).json()
    assert "<svg" in cell["displays"][0]["image/svg+xml"]
    (again,) = served.post(place + "/replay", {}, secret=served.alice).json()["cells"]
    assert "<svg" in again["result"]["displays"][0]["image/svg+xml"]


def test_a_session_from_its_making_to_its_end(served):
    made = served.post("/v1/sessions", {"name": "life", "limits": {"wall_ms": 90_000}}, secret=served.alice)
    assert made.status == 201 and made.headers["Location"] == "/v1/sessions/" + made.json()["session_id"]
    place = made.headers["Location"]

    def ask(method, path, body=None):
        reply = served.ask(method, place + path, body, secret=served.alice)
        assert reply.status in (200, 201), (method, path, reply)
        return reply.json()

    assert ask("POST", "/cells", {"code": "x = 20"})["limits"]["wall_ms"] == 90_000
    assert ask("POST", "/cells", {"code": "x += 1\nx"})["value"] == {"text/plain": "21"}
    assert [(v["name"], v["type"]) for v in ask("GET", "/variables")["variables"]] == [("x", "int")]
    assert ask("GET", "/variables?names=x")["variables"][0]["value"] == "21"
    assert [cell["code"] for cell in ask("GET", "/history")["cells"]] == ["x = 20", "x += 1\nx"]
    point = ask("POST", "/checkpoints", {"name": "before"})
    assert [c["checkpoint_id"] for c in ask("GET", "/checkpoints")["checkpoints"]] == [point["checkpoint_id"]]
    ask("POST", "/cells", {"code": "x = 0"})
    assert ask("POST", "/rollback", {"checkpoint": "before"})["cells"] == 2
    assert ask("POST", "/cells", {"code": "x"})["value"] == {"text/plain": "21"}
    (branch,) = ask("POST", "/branches", {"checkpoint": point["checkpoint_id"]})["sessions"]
    branched = served.post(f"/v1/sessions/{branch['session_id']}/cells", {"code": "x * 2"}, secret=served.alice)
    assert branched.json()["value"] == {"text/plain": "42"} and branch["parent"] == made.json()["session_id"]
    assert ask("DELETE", "/checkpoints/before")["checkpoints"] == []
    assert ask("POST", "/interrupt", {})["state"] == "idle"
    again = ask("POST", "/replay", {"name": "again"})
    assert [cell["result"]["outcome"] for cell in again["cells"]] == ["ok"] * 3 and again["left_out"] == []
    found = events(served, place + "/replay", {"from": 2}, served.alice)
    names, end = [name for name, _ in found], found[-1][1]
    assert names[:2] == ["replay", "cell"] and names.count("cell") == 2 and names[-1] == "end", names
    assert found[1][1] == {"cell": 2} and end["problem"] is None and end["left_out"] == []
    told = [(cell["cell"], cell["outcome"], cell["before"]) for cell in end["cells"]]
    assert told == [(2, "error", "ok"), (3, "error", "ok")], "x is not there without the first"
    (stopped,) = [told for name, told in events(served, place + "/replay", {"from": 2, "keep_going": False}, served.alice) if name == "end"]
    assert stopped["session"] is None and "nothing has changed, since cell 2 failed" in stopped["problem"]
    stopped = served.post(place + "/replay", {"from": 2, "keep_going": False}, secret=served.alice)
    assert stopped.status == 422 and "nothing has changed, since cell 2 failed" in stopped.json()["detail"], stopped.json()
    for options in ({"profile": ""}, {"profile": "no-such"}, {"environment": "no-such"}):
        refused = served.post(place + "/replay", options, secret=served.alice)
        assert refused.status == 404 and refused.json()["detail"].startswith("there is no"), refused.json()
    assert ask("POST", "/reset", {})["variables"] == 0
    assert ask("DELETE", "")["state"] == "ended"
    gone = served.post(place + "/cells", {"code": "1"}, secret=served.alice)
    assert gone.status == 410 and gone.json()["code"] == "ended"
    assert served.post("/v1/sessions/none/cells", {"code": "1"}, secret=served.alice).status == 404
    for session in served.get("/v1/sessions", secret=served.alice).json()["sessions"]:
        served.ask("DELETE", f"/v1/sessions/{session['session_id']}", secret=served.alice)


def test_a_cell_is_interrupted_and_streams(served):
    served.post("/v1/sessions", {"name": "busy"}, secret=served.alice)
    found = []
    asking = threading.Thread(
        target=lambda: found.extend(events(served, "/v1/sessions/busy/cells", {"code": FOREVER}, served.alice))
    )
    asking.start()
    wait_until(lambda: served.get("/v1/sessions/busy", secret=served.alice).json()["state"] == "busy", "the cell")
    wait_until(
        lambda: served.get("/v1/runs", secret=served.alice).json()["runs"], "the cell to be listed"
    )
    assert served.get("/v1/runs", secret=served.alice).json()["runs"][0]["session"] == "busy"
    refused = served.post("/v1/sessions/busy/cells", {"code": "1", "wait": False}, secret=served.alice)
    assert refused.status == 429
    while asking.is_alive():  # what is interrupted before its code runs goes on
        assert served.post("/v1/sessions/busy/interrupt", {}, secret=served.alice).status == 200
        asking.join(timeout=0.2)
    assert found[-1][0] == "result" and found[-1][1]["error"]["type"] == "KeyboardInterrupt"
    assert served.ask("DELETE", "/v1/sessions/busy", secret=served.alice).status == 200


def test_a_table_is_exported(served):
    pytest.importorskip("pandas")
    shown = served.run(
        "import pandas as pd\npd.DataFrame({'a': [1, 2]})",
        secret=served.alice,
        environment="science",
        tables="csv",
    )
    reply = served.post(f"/v1/runs/{shown['run_id']}/tables/1", {"format": "json", "environment": "science"},
                        secret=served.alice)  # fmt: skip
    assert reply.status == 201, reply
    content = served.get(f"/v1/files/{reply.json()['file_id']}/content", secret=served.alice)
    assert json.loads(content.body) == [{"a": 1}, {"a": 2}]
    assert served.post(f"/v1/runs/{shown['run_id']}/tables/2", {}, secret=served.alice).status == 404
    assert served.post(f"/v1/runs/{shown['run_id']}/tables/0", {}, secret=served.alice).status == 400
    for owner in ("token:alice", "all"):
        asked = {"format": "parquet", "environment": "science", "owner": owner}
        assert served.post(f"/v1/runs/{shown['run_id']}/tables/1", asked, secret=served.bob).status == 403
        reply = served.post(f"/v1/runs/{shown['run_id']}/tables/1", asked)
        assert (reply.status, reply.json()["owner"]) == (201, "token:alice"), reply


def test_the_unix_socket_is_somebody_else(served):
    """A user at the other end of the local socket has what they ran there, not what a token ran."""
    run = served.adder.run("1")
    assert served.get(f"/v1/records/{run.run_id}", secret=served.alice).status == 404
    assert served.get(f"/v1/records/{run.run_id}?owner=all").status == 200
    assert served.get("/v1/records/00000000").status == 404
