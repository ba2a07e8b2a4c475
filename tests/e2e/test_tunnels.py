# SPDX-License-Identifier: Apache-2.0
"""What nodes of a cluster send each other: seen, repeated, forged and lost on its way; nodes that freeze; slow readers."""
import collections
import hashlib
import json
import signal

import pytest

import harness
from harness import strict_json, unique, wait_until
from http_bed import Served, Stream
from nats_client import Asker, Client
from nats_world import Nats
from test_cluster import SECRET, listed, start_node, wait_for

pytestmark = pytest.mark.slow
RUN = b'{"code": "print(6 * 7)"}'


def server():
    try:
        server = Nats().up()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    yield server
    server.end()


nats = pytest.fixture(server, scope="module")
own_nats = pytest.fixture(server)


class Cluster:
    """A gateway and nodes, and a client at their server."""

    def __init__(self, make, nats, *nodes):
        self.nats = nats
        self.nodes = [start_node(make(), nats, name, "[environment]\ndefault = system") for name in nodes]
        adder, self.name = make(), f"gateway-{unique()}"
        secret = adder.file("secret", SECRET)
        secret.chmod(0o600)
        adder.configure(
            f"[environment]\ndefault = system\n[cluster]\nnats = {nats.url}\nsecret_file = {secret}\ngateway = true\n"
            f"[http]\nrate = 60000\n[store]\nnode = {self.name}\n"
        )
        self.gateway = Served(adder)
        wait_for(adder, self.name, *nodes)
        self.client = Client(nats.port)

    def entry(self, name):
        return next(node for node in listed(self.gateway.adder)["nodes"] if node["node"] == name)

    def asker(self, secret=SECRET):
        return Asker(self.client, secret)

    def runs(self):
        """How many have ended, on all nodes."""
        return sum(sum(strict_json(node.call("serve", "status", "--json").stdout)["engine"]["runs"].values()) for node in self.nodes)

    def run(self, code="1"):
        reply = self.gateway.post("/v1/runs", {"code": code})
        assert reply.status == 200, reply
        return reply.json()

    def end(self):
        self.client.close()
        self.gateway.stop()
        for node in self.nodes:
            node.kill()


@pytest.fixture(scope="module")
def cluster(make_shared_adder, nats):
    """One node."""
    made = Cluster(make_shared_adder, nats, f"a-{unique()}")
    yield made
    made.end()


@pytest.fixture
def tag(cluster):
    return next(node["tag"] for node in listed(cluster.nodes[0])["nodes"] if node["here"])


# ---- the protocol ----


def by_hand(cluster, tag, subject, *request):
    """Status and value."""
    asker = cluster.asker()
    asker.ask(subject, asker.message(*request))
    assert asker.taken() == tag
    asker.tell("G")
    status, body = asker.reply()
    return status, json.loads(body or "null")


def test_a_request_by_hand(cluster, tag):
    for subject in ("adder.1.any", f"adder.1.node.{tag}"):
        status, result = by_hand(cluster, tag, subject, "POST", "/v1/runs", RUN)
        assert status == 200 and result["stdout"] == "42\n"


def test_nothing_starts_without_go(cluster, tag):
    before = cluster.runs()
    asker = cluster.asker()
    asker.ask("adder.1.any", asker.message("POST", "/v1/runs", RUN))
    asker.taken()
    asker.tell("L")
    asker.tell("G")
    cluster.run()
    assert cluster.runs() == before + 1
    silent = cluster.asker()
    silent.ask("adder.1.any", silent.message("POST", "/v1/runs", RUN))
    silent.taken()  # and never GO: the node forgets it, and has room as before
    assert all(cluster.run("6 * 7")["value"] == {"text/plain": "42"} for _ in range(5))
    assert cluster.runs() == before + 6


def test_a_request_without_body_waits_for_go(cluster, tag):
    """The node's server has read all of it but the end."""
    node = f"adder.1.node.{tag}"
    session = f"/v1/sessions/{by_hand(cluster, tag, node, 'POST', '/v1/sessions', b'{}')[1]['session_id']}"
    asker = cluster.asker()
    asker.ask(node, asker.message("DELETE", session))
    assert asker.taken() == tag
    assert by_hand(cluster, tag, node, "GET", session)[1]["state"] != "ended"
    asker.tell("G")
    assert asker.reply()[0] == 200
    assert by_hand(cluster, tag, node, "GET", session)[1]["state"] == "ended"


def test_what_no_node_sent_is_ignored(cluster, tag):
    before = cluster.runs()
    good, forger = cluster.asker(), cluster.asker(secret="x" * 32)
    right = good.message("POST", "/v1/runs", RUN)
    bad = [
        forger.message("POST", "/v1/runs", RUN),
        right.replace(b"6 * 7", b"6 * 8"),  # another body
        right.replace(b"asker", b"admin"),  # another head
        right + b"x",
        right[:-1],
        right[1:],
        right.replace(b"\n", b" "),
        good.message("POST", "/v1/runs", RUN, length=1),
        good.message("POST", "/v1/runs", RUN, length="9" * 30),
        good.message("POST", "/v1/runs", RUN, length=-1),
        good.message("POST", "/v1/runs", RUN, changed={"sha256": None}),
        b"",
        b"\n",
        b"\0" * 65 + b"\n",
        b"x" * (512 << 10),
    ]
    for message in bad:
        good.ask(f"adder.1.node.{tag}", message)
    for to in ("", "x", "a.b.c", "a.*", "a.>", "a b.1", "a." + "0" * 100, 1, None):  # signed by a node that is wrong itself
        good.ask(f"adder.1.node.{tag}", good.message("POST", "/v1/runs", RUN, changed={"to": to}))
    good.ask(f"adder.1.node.{tag}", right)
    good.taken()  # the first that is answered
    good.tell("G")
    assert good.reply()[0] == 200 and cluster.runs() == before + 1
    assert "is not signed with the secret of this cluster" in (cluster.nodes[0].runtime / "adder.log").read_text()


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "GET /v1/runs HTTP/1.1\r\nX:"},
        {"target": "/v1/runs HTTP/1.1\r\nX: y"},
        {"headers": [["A\r\nB", "c"]]},
        {"headers": [["A", "b\r\n\r\nGET / HTTP/1.0"]]},
        {"headers": [[1, 2]]},
        {"headers": [["A"]]},
        {"caller": None},
        {"caller": {"role": "king", "owner": "a"}},
        {"caller": {"role": "admin"}},
    ],
)
def test_heads_that_make_no_request_are_refused(cluster, tag, wrong):
    asker = cluster.asker()
    asker.ask(f"adder.1.node.{tag}", asker.message("POST", "/v1/runs", RUN, changed=wrong))
    asker.taken()
    asker.tell("G")
    assert asker.next()[0] == "F"


def test_a_frame_that_is_lost(cluster, tag):
    body = b'{"code": "%s"}' % (b"#" * 100)
    asker = cluster.asker()
    asker.ask(f"adder.1.node.{tag}", asker.message("POST", "/v1/runs", body[:10], length=len(body)))
    asker.taken()
    asker.tell("G")
    asker.raw(asker.sealed("D", body[20:], number=2))
    kind, reason = asker.next()
    assert kind == "F" and b"lost" in reason


def test_frames_of_others_are_ignored(cluster, tag):
    body = b'{"code": "print(6 * 7)#%s"}' % (b"#" * 100)
    asker, other = cluster.asker(), cluster.asker(secret="y" * 32)
    asker.ask(f"adder.1.node.{tag}", asker.message("POST", "/v1/runs", body[:10], length=len(body)))
    asker.taken()
    other.to = asker.to
    for kind in "GDELFX":
        other.raw(other.sealed(kind, b"x", number=0))
    asker.raw(b"")
    asker.raw(b"G")
    asker.tell("G")
    asker.raw(asker.sealed("G", number=0))  # the same again
    whole = asker.sealed("D", body[10:])
    asker.raw(whole[:30] + b"!" + whole[31:])  # changed on its way
    asker.raw(whole)
    asker.raw(whole)  # twice
    status, reply = asker.reply()
    assert status == 200 and json.loads(reply)["stdout"] == "42\n"


def test_more_body_than_was_said(cluster, tag):
    asker = cluster.asker()
    asker.ask(f"adder.1.node.{tag}", asker.message("POST", "/v1/runs", RUN))
    asker.taken()
    asker.raw(asker.sealed("D", b"GET / HTTP/1.0\r\n\r\n"))
    asker.sent += 1
    asker.tell("G")
    cluster.run()
    silent = cluster.asker()
    silent.ask(f"adder.1.node.{tag}", silent.message("GET", "/healthz"))
    silent.taken()
    silent.tell("G")
    assert silent.reply()[0] == 200, "the node lives"


# ---- a real gateway ----


def test_recorded_requests_do_not_run_again(cluster, make_shared_adder, nats, tag):
    recorder = Client(nats.port)
    for subject in ("adder.1.any", "adder.1.end.>"):
        recorder.subscribe(subject)
    before = cluster.runs()
    cluster.run("6 * 7")
    seen = []
    while not seen or not (seen[-1][2].startswith(b"E") and seen[-1][0].startswith("adder.1.end.")):
        seen.append(recorder.next())
    request = next(message for message in seen if message[0] == "adder.1.any")
    assert b"6 * 7" in request[2]
    for subject in ("adder.1.any", f"adder.1.node.{tag}"):
        cluster.client.publish(subject, request[2], request[1])
        cluster.client.flush()
    for subject, reply, data in seen:  # and all that followed, with its GO
        cluster.client.publish(subject, data, reply)
    cluster.client.flush()
    taken = [message for message in (recorder.next() for _ in range(2 + len(seen) + 4)) if message[2].startswith(b"T") and message not in seen]
    assert taken, "nodes took it for what it says it is"
    cluster.run()
    assert cluster.runs() == before + 2
    recorder.close()


def test_a_slow_reader(cluster):
    stream = Stream(cluster.gateway, "POST", "/v1/runs", {"code": "for i in range(200): print(f'{i:06}' * 8000)", "stream": True, "limits": {"output_bytes": 16 << 20}})
    assert stream.next()[1] == "started"
    for _ in range(20):
        cluster.run()  # meanwhile its window is full
    events = stream.rest()
    text = "".join(data["text"] for _, name, data in events if name == "stdout")
    assert text == "".join(f"{i:06}" * 8000 + "\n" for i in range(200)) and events[-1][2]["outcome"] == "ok"


def test_a_large_upload(cluster):
    text = "".join(f"{i:08}" for i in range(1_000_000))
    code = "import hashlib; print(hashlib.sha256(open('x.txt', 'rb').read()).hexdigest())"
    reply = cluster.gateway.post("/v1/runs", {"code": code, "files": [{"name": "x.txt", "text": text}]})
    assert reply.json()["stdout"] == hashlib.sha256(text.encode()).hexdigest() + "\n", reply


def test_the_servers_restart(cluster):
    stream = Stream(cluster.gateway, "POST", "/v1/runs", {"code": "import time\nfor i in range(100): print(i, flush=True); time.sleep(0.05)", "stream": True})
    assert stream.next()[1] == "started"
    cluster.nats.down()
    cluster.nats.up()
    events = stream.rest()
    text = "".join(data["text"] for _, name, data in events if name == "stdout")
    assert "".join(f"{i}\n" for i in range(100)).startswith(text)
    if events[-1][1] == "result":
        assert text.endswith("99\n")
    else:
        assert events[-1][1] == "problem" and events[-1][2]["status"] == 503
    wait_until(lambda: cluster.gateway.post("/v1/runs", {"code": "1"}).status == 200, "it works again")
    cluster.client = Client(cluster.nats.port)


def test_a_list_asks_each_node_once(make_adder, own_nats):
    """All at the same time, so that one that is frozen delays it by one wait, and the others' answers are there."""
    names = [f"{letter}-{unique()}" for letter in "fg"]
    cluster = Cluster(make_adder, own_nats, *names)
    frozen, recorder = harness.Process(cluster.nodes[0].daemon()), Client(own_nats.port)
    try:
        tag = cluster.entry(names[1])["tag"]
        session = next(s for s in iter(lambda: cluster.gateway.post("/v1/sessions", {}).json()["session_id"], None) if s.endswith(tag))
        recorder.subscribe("adder.1.node.*")
        frozen.signal(signal.SIGSTOP)
        listed = cluster.gateway.get("/v1/sessions").json()["sessions"]
        assert session in [each["session_id"] for each in listed]
        recorder.publish("adder.1.node.last", b"")
        asked = collections.Counter(iter(lambda: recorder.next()[0], "adder.1.node.last"))
        assert asked[f"adder.1.node.{tag}"] == 1 and set(asked.values()) == {1}, asked
    finally:
        frozen.signal(signal.SIGCONT)
        recorder.close()
        cluster.end()


def test_a_frozen_node(make_adder, own_nats):
    names = [f"{letter}-{unique()}" for letter in "fg"]
    cluster = Cluster(make_adder, own_nats, *names)
    frozen = harness.Process(cluster.nodes[0].daemon())
    try:
        before = cluster.runs()
        frozen.signal(signal.SIGSTOP)
        for _ in range(20):
            cluster.run()
        frozen.signal(signal.SIGCONT)
        wait_until(lambda: names[0] in [node["node"] for node in listed(cluster.gateway.adder)["nodes"]], "it is back")
        cluster.run()
        assert cluster.runs() == before + 21
    finally:
        frozen.signal(signal.SIGCONT)
        cluster.end()


def same_tags():
    """Two names whose tags are the same."""
    found, i = {}, 0
    while True:
        name = f"tag-{unique()}-{i}"
        tag = hashlib.sha256(name.encode()).hexdigest()[:6]
        if tag in found:
            return found[tag], name
        found[tag], i = name, i + 1


def test_names_with_the_same_tag(make_adder, own_nats):
    names = same_tags()
    cluster = Cluster(make_adder, own_nats, *names)
    try:
        tags = {cluster.entry(name)["tag"] for name in names}
        assert len(tags) == 2
        sessions = []
        while {session[-6:] for session in sessions} != tags:
            sessions.append(cluster.gateway.post("/v1/sessions", {}).json()["session_id"])
        for session in sessions:
            cell = cluster.gateway.post(f"/v1/sessions/{session}/cells", {"code": "6 * 7"})
            assert cell.status == 200 and cell.json()["value"] == {"text/plain": "42"}
    finally:
        cluster.end()
