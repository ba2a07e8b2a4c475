# SPDX-License-Identifier: Apache-2.0
"""MCP over HTTP beside what the conformance suite looks at: clients that do it wrong, clients that go away and come back,
sessions of the legacy era and their bounds."""
import base64
import itertools
import json
import socket
import threading

import http_bed
import pytest

import harness

MODERN, LEGACY, BATCH = "2026-07-28", "2025-11-25", "2025-03-26"
BOTH = "application/json, text/event-stream"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
SLEEP = "import time\nprint('up', flush=True)\ntime.sleep(600)"
ids = itertools.count(1)


def request(method, params=None, meta=META, number=None):
    params = dict(params or {})
    if meta is not None:
        params["_meta"] = {**meta, **params.get("_meta", {})}
    return {"jsonrpc": "2.0", "id": next(ids) if number is None else number, "method": method, "params": params}


def run(code, **others):
    return {"name": "run_python", "arguments": {"code": code}, **others}


def modern_headers(method, name=None, **more):
    named = {"Mcp_Name": name} if name else {}
    return {"MCP_Protocol_Version": MODERN, "Mcp_Method": method, "Accept": BOTH, **named, **more}


class Stream:
    """A reply of events that is read as it comes."""

    def __init__(self, answer):
        self.answer, self.last = answer, None

    def event(self):
        """The next one with data: (id, value), or None at the end. The event by which a stream begins has the value None."""
        name, data, seen = None, "", False
        for line in iter(self.answer.readline, b""):
            line = line.decode().rstrip("\r\n")
            if line.startswith("id:"):
                name = self.last = line[3:].strip()
            elif line.startswith("data:"):
                data, seen = data + line[5:].strip(), True
            elif not line and seen:
                return name, json.loads(data) if data else None
        return None

    def until(self, wanted):
        """What comes up to, and with, the first for which WANTED is true."""
        got = []
        while (event := self.event()) is not None:
            got.append(event[1])
            if event[1] is not None and wanted(event[1]):
                return got
        raise AssertionError(f"the stream ended: {got}")

    def reply(self):
        return self.until(lambda message: "id" in message and "method" not in message)[-1]


class Client:
    def __init__(self, served, secret=None):
        self.served, self.secret = served, secret

    def modern(self, method, params=None, name=None, **headers):
        return self.served.post(
            "/mcp", request(method, params), secret=self.secret, **modern_headers(method, name, **headers)
        )

    def begin(self, version=LEGACY):
        """Begins a session; later messages are of it."""
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        reply = self.served.post("/mcp", request("initialize", params, meta=None), secret=self.secret, Accept=BOTH)
        assert reply.status == 200 and reply.json()["result"]["protocolVersion"] == version, reply
        self.session = {"Mcp_Session_Id": reply.headers["Mcp-Session-Id"], "MCP_Protocol_Version": version, "Accept": BOTH}
        assert self.legacy({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
        return self

    def legacy(self, message, **headers):
        return self.served.post("/mcp", message, secret=self.secret, **{**self.session, **headers})

    def open(self, connection, message=None, **headers):
        """A POST of MESSAGE, or a GET, whose reply is read as it comes."""
        sent = self.served.headers(
            self.secret, **{name.replace("_", "-"): value for name, value in {**self.session, **headers}.items()}
        )
        body = None if message is None else json.dumps(message).encode()
        if body:
            sent["Content-Type"] = "application/json"
        connection.request("GET" if body is None else "POST", "/mcp", body, sent)
        answer = connection.getresponse()
        assert answer.status == 200 and answer.getheader("Content-Type") == "text/event-stream", answer.headers
        return Stream(answer)


@pytest.fixture
def serve(make_adder):
    made = []

    def begin(lines="", **options):
        made.append(http_bed.Served(make_adder(), lines, **options))
        return made[-1]

    yield begin
    for served in made:
        served.stop()


def code_of(reply):
    return reply.json().get("error", {}).get("code")


ODD = {
    # what: (headers that differ, message, status, code)
    "an answer without Accept": ({"Accept": None}, request("tools/list"), 200, None),
    "an Accept of something else": ({"Accept": "text/plain"}, request("tools/list"), 406, "problem"),
    "any Accept": ({"Accept": "*/*"}, request("tools/list"), 200, None),
    "a wrong type": ({"Content_Type": "text/plain"}, request("tools/list"), 415, -32600),
    "a type with a character set": ({"Content_Type": "Application/JSON; charset=utf-8"}, request("tools/list"), 200, None),
    "no JSON": ({}, b"{", 400, -32700),
    "an empty body": ({}, b"", 400, -32700),
    "no UTF-8": ({}, b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', 400, -32700),
    "no object": ({}, b"7", 400, -32700),
    "a batch": ({}, [request("tools/list")], 400, -32600),
    "no version": ({"MCP_Protocol_Version": None}, request("tools/list"), 400, -32020),
    "another version": ({"MCP_Protocol_Version": LEGACY}, request("tools/list"), 400, -32020),
    "no _meta": ({}, request("tools/list", meta=None), 400, -32602),
    "no method": ({"Mcp_Method": None}, request("tools/list"), 400, -32020),
    "another method": ({"Mcp_Method": "tools/call"}, request("tools/list"), 400, -32020),
    "a method in base64": (
        {"Mcp_Method": "=?base64?" + base64.b64encode(b"tools/list").decode() + "?="}, request("tools/list"), 200, None,
    ),
    "bad base64": ({"Mcp_Method": "=?base64?dG9vbHMvbGlzdA?="}, request("tools/list"), 400, -32020),
    "an unknown method": ({"Mcp_Method": "tools/burn"}, request("tools/burn"), 404, -32601),
    "a method that is gone": ({"Mcp_Method": "ping"}, request("ping"), 404, -32601),
    "a page of elsewhere": ({"Origin": "https://evil.example.com"}, request("tools/list"), 403, "problem"),
    "another host": ({"Host": "evil.example.com"}, request("tools/list"), 421, "problem"),
    "a notification": ({}, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"_meta": META}}, 202, "empty"),
}


def test_odd_requests(serve):
    """The reply to each is said in the words of the protocol, and the daemon goes on."""
    served = serve()
    for what, (headers, message, status, code) in ODD.items():
        sent = {name: value for name, value in {**modern_headers("tools/list"), **headers}.items() if value is not None}
        sent.setdefault("Content_Type", "application/json")
        reply = served.post("/mcp", message, **sent)
        assert reply.status == status, (what, reply)
        if code == "empty":
            assert reply.body == b"", (what, reply)
        elif code == "problem":
            assert reply.headers["Content-Type"] == "application/problem+json", (what, reply)
        else:
            assert code_of(reply) == code, (what, reply)
    assert served.post("/mcp", request("tools/list"), secret="", **modern_headers("tools/list")).status == 401
    for method in ("GET", "DELETE"):
        reply = served.ask(method, "/mcp", Accept=BOTH)
        assert reply.status == 405 and "POST" in reply.headers["Allow"], reply
    reply = served.post("/mcp?toolset=compute", request("tools/list"), **modern_headers("tools/list"))
    assert "compute_with_python" in {tool["name"] for tool in reply.json()["result"]["tools"]}


def test_names_in_headers(serve):
    """Mcp-Name is what the body says, also when it is no ASCII."""
    served = serve()
    client = Client(served)
    for name, status in (
        ("run_python", 200),
        ("  run_python  ", 200),
        ("=?base64?" + base64.b64encode(b"run_python").decode() + "?=", 200),
        ("run_shell", 400),
        ("RUN_PYTHON", 400),
        (None, 400),
    ):
        reply = client.modern("tools/call", run("print(1)"), name)
        assert reply.status == status and (status == 200 or code_of(reply) == -32020), (name, reply)


def test_what_is_said_meanwhile_comes_as_events(serve):
    """One value where there is nothing to say before it, else a stream; and a stream where it takes long."""
    client = Client(serve())
    reply = client.modern("tools/call", run("print(6 * 7)"), "run_python")
    assert reply.headers["Content-Type"] == "application/json" and "42" in reply.body.decode()

    told = run("for i in range(3):\n    print(i, flush=True)", _meta={**META, "progressToken": "p"})
    reply = client.modern("tools/call", told, "run_python")
    assert reply.headers["Content-Type"] == "text/event-stream" and b"id:" not in reply.body
    messages = [json.loads(line[5:]) for line in reply.body.decode().splitlines() if line.startswith("data:")]
    assert [message.get("method") for message in messages[:-1]] == ["notifications/progress"] * (len(messages) - 1)
    assert len(messages) > 1 and messages[-1]["result"]["structuredContent"]["stdout"] == "0\n1\n2\n"

    reply = client.modern("tools/call", told, "run_python", Accept="application/json")
    assert reply.headers["Content-Type"] == "application/json"
    client = Client(serve("[mcp]\nstream_after_ms = 10ms\n"))
    reply = client.modern("tools/call", run("import time; time.sleep(0.5); print('late')"), "run_python")
    assert reply.headers["Content-Type"] == "text/event-stream" and b"late" in reply.body


def running(served):
    return served.adder.status()["running"]


def test_a_modern_client_that_goes_has_cancelled(serve):
    served = serve()
    body = json.dumps(request("tools/call", run(SLEEP))).encode()
    head = "".join(
        f"{name}: {value}\r\n"
        for name, value in {
            "Host": f"127.0.0.1:{served.port}",
            "Authorization": f"Bearer {served.secret}",
            "Content-Type": "application/json",
            "Content-Length": len(body),
            **{key.replace("_", "-"): value for key, value in modern_headers("tools/call", "run_python").items()},
        }.items()
    )
    for leave in (lambda plug: plug.close(), lambda plug: plug.shutdown(socket.SHUT_WR)):
        plug = socket.create_connection(("127.0.0.1", served.port), timeout=harness.DEADLINE)
        plug.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
        harness.wait_until(lambda: running(served) == 1, "the run")
        leave(plug)
        harness.wait_until(lambda: running(served) == 0, "the end of the run")
        plug.close()


@pytest.mark.quick
def test_a_legacy_client_that_goes_finds_what_it_missed(serve):
    """A lost connection is no cancellation; the stream is taken up again, by its events' ids."""
    served = serve()
    client = Client(served).begin()
    number = next(ids)
    with served.connection() as connection:
        code = "import time\nprint('up', flush=True)\ntime.sleep(1)\nprint('done')"
        stream = client.open(connection, request("tools/call", run(code, _meta={"progressToken": 1}), None, number))
        first, nothing = stream.event()
        assert nothing is None
        stream.until(lambda message: message.get("method") == "notifications/progress")
        last = stream.last
    for after, again in ((last, False), (first, True)):
        with served.connection() as connection:
            stream = client.open(connection, Last_Event_ID=after)
            messages = [message for message in stream.until(lambda message: message.get("id") == number) if message]
            assert messages[-1]["result"]["structuredContent"]["stdout"] == "up\ndone\n"
            assert again == any("up" in message["params"].get("message", "") for message in messages[:-1]), messages
            assert stream.event() is None  # that was all
    assert served.ask("GET", "/mcp", **{**client.session, "Last_Event_ID": "99-1"}).status == 400
    assert served.ask("GET", "/mcp", **{**client.session, "Last_Event_ID": "nonsense"}).status == 400


def test_a_legacy_call_is_cancelled_by_a_message(serve):
    served = serve()
    client = Client(served).begin()
    with served.connection() as connection:
        stream = client.open(connection, request("tools/call", run(SLEEP, _meta={"progressToken": 1}), None, 777))
        stream.until(lambda message: message.get("method") == "notifications/progress")
        reply = client.legacy(request("tools/call", run("print(1)"), None, 777))
        assert reply.status == 400 and "is running" in reply.json()["error"]["message"]
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 777}}
        assert client.legacy(note).status == 202
        while (event := stream.event()) is not None:
            assert event[1].get("id") != 777  # nothing more is said of it
    harness.wait_until(lambda: running(served) == 0, "the end of the run")


def test_sessions_have_owners_bounds_and_an_end(serve):
    served = serve("[mcp]\nmax_sessions_per_owner = 2\nsession_idle_ms = 1h\n")
    other = served.token("other", "--role", "admin")
    first, second = Client(served).begin(), Client(served).begin()
    listing = request("tools/list", meta=None)

    assert first.legacy(listing).status == 200
    thief = Client(served, other)
    thief.session = first.session
    assert thief.legacy(listing).status == 404  # as if there were none
    assert served.ask("DELETE", "/mcp", secret=other, **first.session).status == 404
    assert served.ask("GET", "/mcp", secret=other, **first.session).status == 404

    Client(served, other).begin()  # of somebody else: takes nobody's place
    third = Client(served).begin()
    assert second.legacy(listing).status == 404  # it was idle longest
    assert first.legacy(listing).status == 200 and third.legacy(listing).status == 200

    assert served.ask("DELETE", "/mcp", **first.session).status == 204
    assert first.legacy(listing).status == 404
    assert third.legacy(listing, MCP_Protocol_Version="1999-01-01").status == 400
    assert third.legacy(listing, MCP_Protocol_Version=MODERN).status == 400
    assert code_of(third.legacy(request("ping", meta=None))) is None


def accepted(act):
    """What ACT returns, once requests that have just ended, and streams of clients that have gone, no longer count as under way."""

    def tried():
        try:
            return act()
        except AssertionError:
            return None

    return harness.wait_until(tried, "the server to accept it")


def check(reply, status, words=""):
    assert reply.status == status and words in reply.body.decode(), reply
    return reply


def begin_call_and_go(served):
    client = Client(served).begin()
    with served.connection() as connection:
        assert client.open(connection, request("tools/call", run(SLEEP), None)).event()
    return client


def test_what_nobody_waits_for_has_a_bound(serve):
    """A client that goes leaves its calls to themselves; it cannot begin any number so, by any number of sessions."""
    served = serve("[http]\nconcurrent = 2\n")
    for _ in range(2):
        accepted(lambda: begin_call_and_go(served))
    client = accepted(lambda: Client(served).begin())
    accepted(lambda: check(client.legacy(request("tools/call", run("print(1)"), None)), 429, "in this caller's sessions"))
    accepted(lambda: check(client.legacy(request("tools/list", meta=None)), 200))
    accepted(lambda: check(served.ask("DELETE", "/mcp", **client.session), 204))


def test_what_a_session_keeps_of_its_client_has_a_bound(serve):
    served = serve()
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    for name in ("capabilities", "clientInfo"):
        long = {**params, name: {"a": ["a" * 100] * 1000}}
        reply = served.post("/mcp", request("initialize", long, meta=None), Accept=BOTH)
        assert code_of(reply) == -32602 and "Mcp-Session-Id" not in reply.headers, reply


def test_sessions_that_several_end_at_once(serve):
    served = serve()
    for _ in range(10):
        client = Client(served).begin()
        together = threading.Barrier(4)

        def end(session=client.session, together=together):
            with served.connection() as connection:
                connection.connect()
                together.wait()
                assert served.ask("DELETE", "/mcp", connection=connection, **session).status in (204, 404)

        threads = [threading.Thread(target=end) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    Client(served).begin()


def test_a_session_that_ends_cancels_its_calls(serve):
    served = serve()
    client = Client(served).begin()
    with served.connection() as connection, served.connection() as beside:
        stream = client.open(connection, request("tools/call", run(SLEEP), None))
        general = client.open(beside)
        assert general.event()[1] is None
        harness.wait_until(lambda: running(served) == 1, "the run")
        assert served.ask("DELETE", "/mcp", **client.session).status == 204
        harness.wait_until(lambda: running(served) == 0, "the end of the run")
        assert general.event() is None
        while stream.event() is not None:
            pass


def test_what_belongs_to_no_request_has_a_stream(serve):
    """A change of the list of tools is told there, also to a client who was away meanwhile."""
    served = serve()
    client = Client(served).begin()
    with served.connection() as connection:
        stream = client.open(connection)
        begin, nothing = stream.event()
        assert nothing is None
        ended = served.adder.call("tool", "disable", "run_python")
        assert ended.returncode == 0, ended
        client.legacy(request("tools/list", meta=None))  # somebody looks
        stream.until(lambda message: message.get("method") == "notifications/tools/list_changed")
    with served.connection() as connection:
        stream = client.open(connection, Last_Event_ID=begin)
        stream.until(lambda message: message.get("method") == "notifications/tools/list_changed")


def test_messages_of_the_oldest_version_come_together(serve):
    served = serve()
    client = Client(served).begin(BATCH)
    batch = [
        request("tools/call", run("print(1)"), None, 1),
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        request("ping", None, None, 2),
    ]
    reply = client.legacy(batch, Accept="application/json")
    assert [answer["id"] for answer in reply.json()] == [1, 2]
    assert reply.json()[0]["result"]["content"][0]["text"] == "1\n"
    reply = client.legacy(batch)
    assert reply.headers["Content-Type"] == "text/event-stream" and reply.body.count(b"\ndata: {") == 2
    assert client.legacy(batch[1:2]).status == 202
    assert client.legacy([]).status == 400
    assert client.legacy([*batch, {"jsonrpc": "2.0"}]).status == 400
    assert Client(served).begin().legacy(batch).status == 400
