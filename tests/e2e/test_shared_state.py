# SPDX-License-Identifier: Apache-2.0
"""What the daemons of a cluster share, with real servers of NATS, PostgreSQL and S3: two gateways, and two nodes."""
import os
import signal
import threading

import pytest

import cluster_world
from cluster_world import FOREVER, LONG, NODES
from harness import strict_json, unique, wait_until
from http_bed import Stream
from test_web_access import Browser, open_page

pytestmark = pytest.mark.slow
GATEWAYS = ("east", "west")
AWAY_MS = 15_000  # within it, what is asked right after the database went must be answered


class Cluster(cluster_world.Cluster):
    def __init__(self, make, user):
        super().__init__(make, user, gateways=GATEWAYS, http=f"failures = 6000\ntokens_away_ms = {AWAY_MS}\n")
        self.east, self.west = (self.gateways[name] for name in GATEWAYS)

    def add(self, name, variables=()):
        """With a profile that asks."""
        adder = super().add(name, variables)
        (adder.config / "profiles").mkdir(exist_ok=True)
        (adder.config / "profiles" / "asking.conf").write_text("[profile]\ntitle = for tests\napproval = always\n")
        adder.own(adder.config / "profiles" / "asking.conf")
        return adder

    def database_up(self):
        """All have noticed."""
        self.postgres.up()
        for gateway in (self.east, self.west):
            # One that was known before is good without the database for a while.
            unknown = lambda: "adder_" + os.urandom(32).hex()[:43]
            wait_until(lambda gateway=gateway: status(gateway, unknown()) == 401, "tokens are known")
            wait_until(lambda gateway=gateway: gateway.get("/v1/caller").status == 200, "its own is")
            wait_until(lambda gateway=gateway: gateway.get("/v1/records?limit=1").status == 200, "records are there")
        for name in NODES:
            wait_until(lambda name=name: self.made[name].call("history", "list", "--json").returncode == 0, "records are there")


@pytest.fixture(scope="module")
def cluster(make_shared_adder, user):
    cluster = Cluster(make_shared_adder, user)
    yield cluster
    cluster.end()


# ---- tokens ----


def new_token(adder, name, *options):
    made = adder.call("token", "new", name, *options)
    assert made.returncode == 0, made
    return made.stdout.strip()


def status(gateway, secret):
    return gateway.get("/v1/caller", secret=secret).status


def names(adder):
    return {token["name"] for token in strict_json(adder.call("token", "list", "--json").stdout)}


@pytest.mark.both_users
def test_a_token_is_good_and_ends_everywhere(cluster):
    name = f"t-{unique()}"
    secret = new_token(cluster.made["two"], name)
    assert status(cluster.east, secret) == status(cluster.west, secret) == 200, "at once"
    assert all(name in names(adder) for adder in cluster.made.values())
    assert secret not in cluster.sql("SELECT body FROM tokens"), "digests alone"
    rotated = cluster.made["one"].call("token", "rotate", name).stdout.strip()
    for gateway in (cluster.east, cluster.west):
        wait_until(lambda gateway=gateway: status(gateway, secret) == 401, "the old one ended")
        assert status(gateway, rotated) == 200
    assert cluster.west.ask("DELETE", f"/v1/tokens/{name}").status == 200
    assert status(cluster.west, rotated) == 401, "at once where it was revoked"
    wait_until(lambda: status(cluster.east, rotated) == 401, "and soon elsewhere")
    assert not any(name in names(adder) for adder in cluster.made.values())


def test_sessions_of_an_owner_count_on_all_nodes(cluster):
    name = f"t-{unique()}"
    secret = new_token(cluster.made["east"], name)

    def counted(number):
        """By each node: what they tell comes to one sooner than to the other."""
        lists = [strict_json(cluster.made[node].call("node", "list", "--json").stdout)["nodes"] for node in NODES]
        return all(sum(node["owners"].get(f"token:{name}", 0) for node in nodes) == number for nodes in lists)

    create = lambda: cluster.east.post("/v1/sessions", {}, secret=secret)
    most = 10  # the default of max_sessions_per_owner
    made = [create().json()["session_id"] for _ in range(most)]  # which nodes have them is chance
    wait_until(lambda: counted(most), "the nodes have told each other")
    for _ in range(4):
        reply = create()
        assert reply.status == 429 and "there are 10 sessions already (max_sessions_per_owner = 10)" in reply.json()["detail"], reply
    ends = cluster.east.ask("DELETE", f"/v1/sessions/{made[0]}", secret=secret)
    assert ends.status == 200, ends
    wait_until(lambda: counted(most - 1), "one has ended")
    assert create().status == 201


def test_one_made_over_http_is_good_at_the_other_gateway(cluster):
    made = cluster.east.post("/v1/tokens", {"name": f"t-{unique()}", "role": "guest"})
    assert made.status == 201, made
    caller = cluster.west.get("/v1/caller", secret=made.json()["secret"])
    assert (caller.status, caller.json()["role"]) == (200, "guest")
    again = cluster.west.post("/v1/tokens", {"name": made.json()["name"]})
    assert again.status == 409, again


def test_what_is_under_way_ends_with_a_token_removed_elsewhere(cluster):
    name = f"t-{unique()}"
    secret = new_token(cluster.made["east"], name)
    forever = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)"
    stream = Stream(cluster.east, "POST", "/v1/runs", {"code": forever, "stream": True}, secret=secret)
    run_id = stream.next()[2]["run_id"]
    waits, last = {}, cluster.east.get("/v1/events", secret=secret).json()["next"]

    def wait():
        waits["reply"] = cluster.east.get(f"/v1/events?after={last}&wait_ms=60000", secret=secret)

    thread = threading.Thread(target=wait)
    thread.start()
    cluster.made["west"].call("token", "rm", name)
    stream.ending()
    thread.join()
    assert waits["reply"].status == 401
    wait_until(lambda: cluster.west.get(f"/v1/records/{run_id}?owner=all").status == 200, "the run has ended")
    assert cluster.west.get(f"/v1/records/{run_id}?owner=all").json()["outcome"] == "cancelled"


def test_tokens_of_a_file_count_as_well(cluster):
    """As those that were made before the daemon was in a cluster; of that machine alone."""
    name = f"t-{unique()}"
    west = cluster.made["west"]
    inside = (west.config / "adder.conf").read_text()
    west.configure(inside.replace("[cluster]\nnats", "[cluster]\n#"))
    secret = new_token(west, name)
    west.configure(inside)
    assert status(cluster.west, secret) == 200 and status(cluster.east, secret) == 401
    assert west.call("token", "new", name).returncode != 0, "the name is taken"
    new_token(cluster.made["east"], name)
    assert west.call("token", "rm", name).returncode == 0
    assert name not in names(west) and status(cluster.west, secret) == 401, "both ended"


def test_a_row_of_a_newer_version_is_nobodys(cluster):
    name = f"t-{unique()}"
    secret = new_token(cluster.made["east"], name)
    cluster.sql(
        f"UPDATE tokens SET body = jsonb_set(body::jsonb, '{{only_on_mondays}}', 'true')::text WHERE name = '{name}';"
        "UPDATE settings SET value = 'other' WHERE name = 'tokens_revision'"
    )
    for gateway in (cluster.east, cluster.west):
        wait_until(lambda gateway=gateway: status(gateway, secret) == 401, "a restriction must not be ignored")
        assert status(gateway, gateway.secret) == 200
    assert cluster.made["east"].call("token", "new", name).returncode != 0
    assert "only_on_mondays" in cluster.sql(f"SELECT body FROM tokens WHERE name = '{name}'")


def test_a_browser_signs_in_at_another_gateway(cluster):
    _, code = open_page(cluster.made["east"])
    browser, other = Browser(cluster.west.port), Browser(cluster.east.port)
    assert browser.sign_in(code=code).status == 200
    assert Browser(cluster.east.port).sign_in(code=code).status == 401, "it works once"
    (secret,) = browser.cookies.values()
    other.cookies[f"adder-token-{cluster.east.port}"] = secret
    assert other.caller().json()["token"].startswith("browser-")
    assert other.ask("DELETE", "/v1/sign-in").status == 204
    wait_until(lambda: browser.caller().status == 401, "it is signed out everywhere")


def test_without_the_database_known_tokens_are_good_for_a_while(cluster):
    name = f"t-{unique()}"
    secret = new_token(cluster.made["east"], name)
    assert status(cluster.west, secret) == 200
    cluster.postgres.down()
    try:
        assert status(cluster.west, secret) == 200, "it is known"
        unknown = cluster.west.get("/v1/caller", secret="adder_" + "A" * 43)
        assert (unknown.status, unknown.json()["code"]) == (503, "unavailable"), unknown
        made = cluster.made["east"].call("token", "new", f"t-{unique()}")
        assert made.returncode != 0 and "database" in made.stderr
        wait_until(lambda: status(cluster.west, secret) == 503, "not for ever")
    finally:
        cluster.database_up()
    wait_until(lambda: status(cluster.west, secret) == 200, "it is good again")
    assert status(cluster.west, "adder_" + "A" * 43) == 401


# ---- what a node leaves ----


def on(cluster, name, make):
    """What MAKE gives, once it was made by the node NAME."""
    while True:
        made = make()
        assert made.get("run_id") or made.get("session_id"), made
        if cluster.of(made.get("run_id") or made["session_id"]) == name:
            return made


def ended(gateway, run_id):
    """The run, if it has ended as far as GATEWAY knows."""
    reply = gateway.get(f"/v1/runs/{run_id}")
    assert reply.status in (200, 503), reply
    return reply.status == 200 and reply.json()["state"] == "ended" and reply.json()


@pytest.mark.both_users
def test_what_a_dead_node_leaves(cluster):
    done = cluster.background("print('kept')", "one")
    assert cluster.east.get(f"/v1/runs/{done}?wait_ms=60000").json()["result"]["stdout"] == "kept\n"
    lost = cluster.background(FOREVER, "one", once=True)
    open_stream, stream = cluster.stream("one")
    session = on(cluster, "one", lambda: cluster.east.post("/v1/sessions", {"name": f"s-{unique()}"}).json())
    wait_until(lambda: cluster.sql(f"SELECT 1 FROM underway WHERE id IN ('{session['session_id']}', '{stream}')").count("1") == 2, "they are noted")
    cluster.made["one"].kill()
    open_stream.ending()
    assert ended(cluster.west, done)["result"]["stdout"] == "kept\n", "the result is there at once"
    for run_id in (lost, stream):
        for gateway in (cluster.west, cluster.east):
            told = wait_until(lambda gateway=gateway, run_id=run_id: ended(gateway, run_id), "it is told")
            assert told["record"]["outcome"] == "failed" and told["record"]["node"].startswith("one-"), told
            assert told["record"]["more"]["error"]["type"] == "NodeLost" and "node_lost" in told["record"]["more"]["error"]["message"]
    for gateway in (cluster.east, cluster.west):
        for place in (session["session_id"], session["name"]):
            reply = wait_until(lambda g=gateway, p=place: (r := g.get(f"/v1/sessions/{p}")).status != 503 and r, "its end is told")
            assert reply.status == 410 and "node_lost" in reply.json()["detail"], reply
        assert gateway.post(f"/v1/sessions/{session['session_id']}/cells", {"code": "1"}).status == 410
    assert cluster.sql(f"SELECT count(*) FROM records WHERE run_id IN ('{lost}', '{stream}')") == "2"
    cluster.start("one")
    assert ended(cluster.east, lost)["record"]["more"]["error"]["type"] == "NodeLost", "once and for all"
    assert ended(cluster.east, done)["result"]["stdout"] == "kept\n"
    verified = cluster.made["two"].call("history", "verify")
    assert verified.returncode == 0, verified


def test_a_node_that_leaves_ends_its_sessions(cluster):
    session = on(cluster, "two", lambda: cluster.east.post("/v1/sessions", {}).json())["session_id"]
    assert cluster.made["two"].call("serve", "stop", "--force").returncode == 0
    reply = wait_until(lambda: (r := cluster.west.get(f"/v1/sessions/{session}")).status != 503 and r, "its end is told")
    assert reply.status == 410 and "node_lost" not in reply.json()["detail"], reply
    cluster.start("two")


def test_an_outage_of_the_database_ends_nobody(cluster):
    session = cluster.east.post("/v1/sessions", {}).json()["session_id"]
    run_id = cluster.background(FOREVER)
    wait_until(lambda: cluster.sql(f"SELECT 1 FROM underway WHERE id = '{session}'") == "1", "it is noted")
    cluster.postgres.down()
    cluster.postgres.up()
    cluster.sql("UPDATE instances SET beat_ms = 1")  # as it would be after a long one
    wait_until(lambda: cluster.sql("SELECT count(*) FROM instances WHERE beat_ms = 1") == "0", "they give signs of life")
    assert cluster.sql(f"SELECT reason FROM underway WHERE id = '{session}'").strip() == ""
    cluster.postgres.down()
    cluster.database_up()
    assert cluster.west.get(f"/v1/sessions/{session}").status == 200
    assert cluster.west.get(f"/v1/runs/{run_id}").json()["state"] == "running"
    assert cluster.west.ask("DELETE", f"/v1/runs/{run_id}").status == 200
    ended_as = cluster.west.get(f"/v1/runs/{run_id}?wait_ms=60000").json()
    assert ended_as["result"]["outcome"] == "cancelled"
    wait_until(lambda: cluster.sql(f"SELECT count(*) FROM queued_runs WHERE id = '{run_id}'") == "0", "it is no longer under way")


def test_a_node_that_was_taken_for_gone(cluster):
    """It was frozen: what it says of its run comes too late, and its session lives on."""
    open_stream, run_id = cluster.stream("two")
    session = on(cluster, "two", lambda: cluster.east.post("/v1/sessions", {}).json())["session_id"]
    wait_until(lambda: cluster.sql(f"SELECT count(*) FROM underway WHERE id IN ('{session}', '{run_id}')") == "2", "they are noted")
    pid = cluster.made["two"].daemon()
    os.kill(pid, signal.SIGSTOP)
    try:
        told = wait_until(lambda: ended(cluster.west, run_id), "it is told")
        assert told["record"]["more"]["error"]["type"] == "NodeLost"
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: len(cluster.nodes()) == 4, "it is back")
    wait_until(lambda: cluster.east.get(f"/v1/sessions/{session}").status == 200, "it lives")
    wait_until(lambda: cluster.sql(f"SELECT ended_ms FROM underway WHERE id = '{session}'") == "0", "others know that")
    open_stream.ending()
    wait_until(lambda: cluster.sql(f"SELECT count(*) FROM underway WHERE id = '{run_id}'") == "0", "it has ended")
    assert cluster.sql(f"SELECT outcome, code_sha256 <> '' FROM records WHERE run_id = '{run_id}'") == "failed|t"
    verified = cluster.made["two"].call("history", "verify")
    assert verified.returncode == 0, verified


# ---- what conversations remember ----


def compute(gateway, conversation, code, secret=None, **arguments):
    """The reply of a call of the tool."""
    body = {"arguments": {"code": code, "description": "", **arguments}, "toolset": "compute", "conversation": conversation}
    reply = gateway.post("/v1/tools/compute_with_python", body, secret=secret)
    assert reply.status == 200, reply
    return reply.json()["reply"]


def test_values_of_a_conversation_are_found_by_every_node(cluster):
    mine, theirs = f"c-{unique()}", f"c-{unique()}"
    other = new_token(cluster.made["east"], f"t-{unique()}", "--may-decide")
    assert compute(cluster.east, mine, "6 * 7", store_as="answer")["text"] == "42"
    first = cluster.of(compute(cluster.west, mine, "answer + '!'")["run_id"])
    cluster.made[first].kill()
    wait_until(lambda: first not in cluster.nodes().values(), "its node is gone")
    reply = compute(cluster.east, mine, "answer + '!'")
    assert reply["text"] == "42!" and cluster.of(reply["run_id"]) != first, "another node has its calls, and knows the value"
    cluster.start(first)
    assert "NameError" in compute(cluster.west, theirs, "answer")["text"], "of another conversation"
    assert "NameError" in compute(cluster.west, mine, "answer", secret=other)["text"], "of another owner"
    assert compute(cluster.west, mine, "last_result")["text"] == "42!"
    cluster.postgres.down()
    try:
        assert "not available" in compute(cluster.west, mine, "answer")["error"]
    finally:
        cluster.database_up()
    wait_until(lambda: compute(cluster.east, mine, "answer").get("text") == "42", "it is there")


# ---- limits ----


def test_limits_of_an_owner_are_of_all_gateways_together(cluster):
    secret = new_token(cluster.made["east"], f"t-{unique()}", "--concurrent", "4")
    begun = []

    def begin(gateway):
        """Whether one more is let in."""
        try:
            begun.append(Stream(gateway, "POST", "/v1/runs", {"code": FOREVER, "limits": LONG, "stream": True}, secret=secret))
        except AssertionError as refused:
            assert "too many requests of this caller are under way" in str(refused)
            return False
        return True

    try:
        assert [begin(gateway) for gateway in (cluster.east, cluster.east, cluster.east)] == [True, True, False]
        assert [begin(gateway) for gateway in (cluster.west, cluster.west, cluster.west)] == [True, True, False]
        cluster.east.stop()
        wait_until(lambda: begin(cluster.west), "what was of the other is its own")
    finally:
        for stream in begun:
            stream.close()
        if cluster.east.process is None:
            cluster.east.start()
    wait_until(lambda: len(cluster.nodes(cluster.east)) == len(cluster.nodes(cluster.west)) == 4, "both know each other again")
    often = new_token(cluster.made["east"], f"t-{unique()}", "--rate", "60")
    passed = [status(gateway, often) for gateway in (cluster.east, cluster.west) for _ in range(10)].count(200)
    assert passed < 20 and passed >= 10, "each grants a half of the ten that come at once"


# ---- approvals ----


def ask(gateway, code, conversation=None):
    reply = gateway.post("/v1/runs", {"code": code, "profile": "asking", **({"conversation": conversation} if conversation else {})})
    assert reply.status == 200, reply
    return reply.json()


def decide(gateway, approval, how, **body):
    reply = gateway.post(f"/v1/approvals/{approval}/{how}", body)
    assert reply.status == 200, reply


def test_an_approval_is_good_at_every_node_and_once(cluster):
    ways = set()
    while len(ways) < 2:  # used where it was asked for, and elsewhere
        code = f"print('{unique()}')"
        first, again = ask(cluster.east, code), [ask(cluster.west, code) for _ in range(4)]
        approval = first["approval_id"]
        assert first["outcome"] == "approval_required"
        assert {each["approval_id"] for each in again} == {approval}, "it is one request, wherever it comes"
        decide(cluster.west, approval, "approve")
        ran = ask(cluster.east, code)
        assert ran["outcome"] == "ok", ran
        ways.add(cluster.of(approval) == cluster.of(ran["run_id"]))
        again = cluster.west.post(f"/v1/approvals/{approval}/approve")
        assert again.status == 404 and "was used" in again.json()["detail"], again
        assert approval not in {each["approval_id"] for each in cluster.east.get("/v1/approvals").json()["approvals"]}
        assert {ask(cluster.west, code)["outcome"] for _ in range(4)} == {"approval_required"}, "once"


def test_always_and_never_hold_at_every_node(cluster):
    yes, no = f"c-{unique()}", f"c-{unique()}"
    decide(cluster.east, ask(cluster.west, "1", yes)["approval_id"], "approve", always=True)
    made = set()
    while len(made) < len(NODES):
        ran = ask(cluster.east, f"print('{unique()}')", yes)
        assert ran["outcome"] == "ok", ran
        made.add(cluster.of(ran["run_id"]))
    decide(cluster.east, ask(cluster.west, "1", no)["approval_id"], "deny", reason="not today")
    for _ in range(8):
        refused = ask(cluster.east, "1", no)
        assert refused["outcome"] == "refused" and "not today" in refused["error"]["message"], refused
