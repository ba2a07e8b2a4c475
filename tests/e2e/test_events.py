# SPDX-License-Identifier: Apache-2.0
"""What changed lately, for readers that wait: over HTTP and at the local socket, for its owner alone, bounded, and across a
restart."""
import json
import os
import signal
import threading

import harness
import http_bed
import pytest
from harness import wait_until
from http_bed import Stream

WAITERS = 200
HELD = 64
FOREVER = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)"
WORKBENCH = {"profile": "workbench", "environment": "system"}


@pytest.fixture(scope="module")
def served(make_shared_adder):
    adder = make_shared_adder("[environment]\ndefault = system\n")
    lines = f"[http]\nrate = 60000\nconcurrent = 1000\nmax_connections = 1000\n[daemon]\nevents = {HELD}\n"
    bed = http_bed.Served(adder, lines, start=False)
    bed.alice, bed.bob = bed.token("alice"), bed.token("bob")
    bed.start()
    yield bed
    bed.stop()


def events(served, secret=None, **query):
    words = "&".join(f"{name}={value}" for name, value in query.items())
    reply = served.get(f"/v1/events?{words}", secret=secret)
    assert reply.status == 200, reply
    return reply.json()


def now(served, secret=None):
    answer = events(served, secret)
    assert answer["events"] == [] and answer["missed"] is False
    return answer["next"]


def told(answer):
    return [(each["kind"], each["change"]) for each in answer["events"]]


def test_a_run_begins_and_ends(served):
    after = now(served, served.alice)
    code = "print('é')\n" + "#" * 300
    run = served.run(code, served.alice, conversation="talk")
    answer = events(served, served.alice, after=after)
    assert told(answer) == [("run", "created"), ("run", "ended")]
    first, last = answer["events"]
    assert first["id"] == last["id"] == run["run_id"] and after < first["seq"] < last["seq"] <= answer["next"]
    assert first["object"] == {
        **{name: None for name in ("session", "tool", "outcome", "wall_ms")},
        **{"run_id": run["run_id"], "state": "running", "owner": "token:alice", "conversation": "talk"},
        **{"front_end": "http", "code": code[:200], "started": first["object"]["started"]},
    }
    shown = served.get(f"/v1/runs/{run['run_id']}", secret=served.alice).json()
    assert shown["code"] == code[:200] and shown["can_follow"] is False  # as its record has it
    assert last["object"]["state"] == "ended" and last["object"]["outcome"] == "ok" and last["object"]["wall_ms"] > 0
    assert events(served, served.alice, after=answer["next"])["events"] == []


def test_who_hears_of_an_end_finds_the_run_ended(served):
    """Each interface tells of the end before the caller has the result; readers may ask at that moment."""
    after, stale, done = now(served), [], threading.Event()

    def follow():
        nonlocal after
        while not done.is_set():
            answer = events(served, after=after, owner="all", kinds="run", wait_ms=100)
            after = answer["next"]
            for each in answer["events"]:
                shown = served.get(f"/v1/runs/{each['id']}?owner=all")
                if each["change"] == "ended" and (shown.status != 200 or shown.json()["state"] != "ended"):
                    stale.append((each["object"]["front_end"], shown.json()))

    reader = threading.Thread(target=follow)
    reader.start()
    for number in range(100):
        served.run(f"print({number})", served.alice)
        ended = served.adder.call("run", "-c", f"print('x' * {number})")
        assert ended.returncode == 0, ended
    done.set()
    reader.join()
    assert stale == []


def test_a_cell_of_a_replay_is_found_when_its_beginning_was_told(served):
    name, adder = harness.unique(), served.adder
    assert adder.call("session", "new", "--name", name).returncode == 0
    cell = adder.popen("run", "--session", name, "-c", harness.FOREVER)
    assert cell.stdout.readline() == b"started\n"
    assert adder.call("session", "interrupt", name).returncode == 0
    cell.communicate()
    after = now(served)
    replay = adder.popen("session", "replay", name)
    assert replay.stdout.readline() == b"started\n"
    (begun,) = events(served, after=after, owner="all", kinds="run")["events"]
    shown = served.get(f"/v1/runs/{begun['id']}?owner=all").json()
    assert shown["state"] == "running" and shown["code"] == harness.FOREVER and shown["front_end"] == "cli"
    assert served.ask("DELETE", f"/v1/runs/{begun['id']}?owner=all").status == 200
    replay.communicate()
    adder.call("session", "rm", name)


@pytest.fixture
def follow(served):
    """Starts `adder history list --follow`, and returns its process once it follows."""
    made = []

    def start(*options, **others):
        made.append(served.adder.popen("history", "list", "--follow", *options, **others))
        assert b"Ctrl-C ends this" in made[-1].stderr.readline()
        return made[-1]

    yield start
    for process in made:
        process.kill()
        process.communicate()


def test_the_command_line_follows_runs(served, follow):
    failed = follow("--owner", "all", "--outcome", "error")
    served.run("print('well')", served.alice)
    run = served.run("1 / 0", served.alice)
    line = failed.stdout.readline().decode()
    assert run["run_id"] in line and "token:alice" in line and " error " in line and line.endswith(" http        1 / 0\n")
    failed.send_signal(signal.SIGINT)
    assert failed.wait(served.adder.deadline) == 130


def test_the_command_line_follows_runs_of_another_machine(served, follow):
    there = {"ADDER_URL": f"http://127.0.0.1:{served.port}", "ADDER_TOKEN": served.alice}
    all_of_alice = follow("--json", env={**served.adder.process_environment(), **there})
    run = served.run("print(1)", served.alice)
    begun, ended = (json.loads(all_of_alice.stdout.readline()) for _ in range(2))
    assert begun["id"] == ended["id"] == run["run_id"]
    assert (begun["change"], ended["change"], ended["object"]["outcome"]) == ("created", "ended", "ok")


@pytest.mark.parametrize("options", [["--all"], ["--limit=3"], ["--since=2h"], ["--no-daemon"], ["--outcome=never"]])
def test_what_following_does_not_go_with(served, options):
    ended = served.adder.call("history", "list", "--follow", *options)
    assert ended.returncode == 125 and options[0].split("=")[0].lstrip("-") in ended.stderr and ended.stdout == ""


def test_runs_of_all_interfaces(served):
    """Of the command line, of tools and of MCP, all told to a reader who may see them all."""
    after = now(served)
    ended = served.adder.call("run", "-c", "print(1)")
    assert ended.returncode == 0, ended
    called = served.adder.call("tool", "call", "run_python", json.dumps({"code": "print(2)"}))
    assert called.returncode == 0, called
    found = [each["object"] for each in events(served, after=after, owner="all", kinds="run")["events"]]
    own = [each for each in found if each["owner"] == f"uid:{os.geteuid()}"]
    assert [each["code"] for each in own] == ["print(1)", "print(1)", "print(2)", "print(2)"], found
    assert own[0]["front_end"] == "cli" and own[2]["tool"] == "adder.run_python"


def test_other_owners_see_nothing(served):
    after = now(served, served.bob)
    served.run("print(1)", served.alice)
    reply = served.post("/v1/sessions", {"name": "hers"}, secret=served.alice)
    assert reply.status == 201, reply
    assert events(served, served.bob, after=after)["events"] == []
    refused = served.get(f"/v1/events?after={after}&owner=token:alice", secret=served.bob)
    assert refused.status == 403, refused
    hers = events(served, after=after, owner="token:alice")
    assert ("run", "created") in told(hers) and ("session", "created") in told(hers)
    served.ask("DELETE", "/v1/sessions/hers", secret=served.alice)


def test_a_session_lives_and_ends(served):
    after = now(served, served.alice)
    made = served.post("/v1/sessions", {"name": "lives"}, secret=served.alice).json()
    served.post("/v1/sessions/lives/cells", {"code": "x = 1"}, secret=served.alice)
    served.ask("DELETE", "/v1/sessions/lives", secret=served.alice)
    answer = events(served, served.alice, after=after, kinds="session")
    assert told(answer)[0] == ("session", "created") and told(answer)[-1] == ("session", "ended")
    assert {each["change"] for each in answer["events"][1:-1]} == {"changed"}
    assert {each["id"] for each in answer["events"]} == {made["session_id"]}
    assert answer["events"][-1]["object"]["name"] == "lives"


def test_an_approval_is_asked_for_and_decided(served):
    after = now(served)
    asked = served.run("print('mine')", **WORKBENCH)
    assert asked["outcome"] == "approval_required", asked
    answer = events(served, after=after, kinds="approval")
    assert told(answer) == [("approval", "created")]
    assert answer["events"][0]["object"]["first_line"] == "print('mine')"
    assert events(served, served.bob, after=after)["events"] == []
    served.post(f"/v1/approvals/{asked['approval_id']}/approve")
    assert served.run("print('mine')", **WORKBENCH)["outcome"] == "ok"
    answer = events(served, after=answer["next"], kinds="approval")
    assert told(answer) == [("approval", "changed"), ("approval", "ended")]
    assert answer["events"][-1]["object"] is None


def test_a_review_is_seen_by_its_owner_and_admins(served, tmp_path):
    after = now(served)
    served.adder.run("open('new.txt', 'w').write('hi')", "--workdir", tmp_path, "--review")
    account = http_bed.UnixConnection(served.adder.socket.with_name("adder.http.sock"))
    for owner in ("", "&owner=all"):
        found = served.get(f"/v1/events?after={after}&kinds=review{owner}", secret="", connection=account).json()
        assert told(found)[0] == ("review", "created"), found
    account.close()
    assert told(events(served, after=after, kinds="review", owner="all"))[0] == ("review", "created")
    for secret in (served.alice, served.secret):
        assert events(served, secret, after=after, kinds="review")["events"] == []


def test_a_page_of_them(served):
    after = now(served, served.alice)
    for _ in range(3):
        served.run("1", served.alice)
    seen = []
    while True:
        answer = events(served, served.alice, after=after, limit=1)
        if not answer["events"]:
            break
        assert len(answer["events"]) == 1 and answer["next"] == answer["events"][0]["seq"]
        seen, after = seen + told(answer), answer["next"]
    assert seen == [("run", "created"), ("run", "ended")] * 3


def test_too_many_are_missed(served):
    after = now(served, served.alice)
    for _ in range(HELD // 2 + 1):
        served.run("1", served.bob)
    answer = events(served, served.alice, after=after)
    assert answer["missed"] and answer["events"] == []
    assert not events(served, served.alice, after=answer["next"])["missed"]


def test_what_is_not_wanted_is_not_missed_while_waiting(served):
    """Others' events pass while a reader waits, and drop each other from the ring."""
    after, answers = now(served, served.alice), []
    thread = threading.Thread(
        target=lambda: answers.append(events(served, served.alice, after=after, wait_ms=600000)), daemon=True
    )
    thread.start()
    wait_until(lambda: served.waiting() > 0, "the reader to wait")
    for _ in range(HELD):
        served.run("1", served.bob)
    served.run("'hers'", served.alice)
    thread.join(served.adder.deadline)
    assert answers and not answers[0]["missed"] and told(answers[0])[0] == ("run", "created")


def test_many_wait_and_each_is_told(served):
    after, answers = now(served, served.alice), []

    def wait():
        answers.append(events(served, served.alice, after=after, wait_ms=600000))

    threads = [threading.Thread(target=wait, daemon=True) for _ in range(WAITERS)]
    for thread in threads:
        thread.start()
    wait_until(lambda: served.waiting() == WAITERS, "all readers to wait")
    served.run("1", served.bob)  # of no concern to them
    assert served.waiting() == WAITERS and not answers
    run = served.run("2", served.alice)
    for thread in threads:
        thread.join(served.adder.deadline)
    assert len(answers) == WAITERS
    assert {each["events"][0]["id"] for each in answers} == {run["run_id"]}


def test_readers_that_hang_up_leave_nothing_behind(served):
    after = now(served, served.alice)
    for _ in range(20):
        with served.connect() as connection:
            connection.sendall(served.head("GET", f"/v1/events?after={after}&wait_ms=600000", secret=served.alice))
            wait_until(lambda: served.waiting() > 0, "it to wait")
        wait_until(lambda: served.waiting() == 0, "it to be gone")


def forget_token(served, name):
    """Removes it as an editor does that writes into the file."""
    path = served.adder.state / "tokens.json"
    kept = json.loads(path.read_text())
    kept["tokens"] = [each for each in kept["tokens"] if each["name"] != name]
    path.write_text(json.dumps(kept))


@pytest.mark.parametrize("edited", [False, True])
def test_a_token_that_is_revoked_ends_what_is_under_way(served, edited):
    """Waits and streams, and runs that need their caller. What is in the background goes on, as what others do."""
    name = f"leaver-{edited}".lower()
    secret = served.token(name)
    after, answers = now(served, secret), {}
    asked = served.run(f"print('{name}')", secret, **WORKBENCH)["approval_id"]
    detached = Stream(served, "POST", "/v1/runs", {"code": FOREVER, "stream": True, "detach": True}, secret)
    attached = Stream(served, "POST", "/v1/runs", {"code": FOREVER, "stream": True}, secret)
    run_id = detached.next()[2]["run_id"]
    follower = Stream(served, "GET", f"/v1/runs/{run_id}/events", None, secret)
    assert [each.next()[1] for each in (follower, follower, detached, attached, attached)].count("stdout") == 3

    def ask(method, path, body=None, secret=secret):
        answers[path] = served.ask(method, path, body, secret=secret)

    waits = [f"/v1/events?after={after}&kinds=review", f"/v1/runs/{run_id}?", f"/v1/approvals/{asked}?"]
    asks = [("GET", path + "&wait_ms=600000") for path in waits] + [("POST", "/v1/runs", {"code": FOREVER})]
    bystander = f"/v1/events?after={now(served)}&wait_ms=600000&kinds=approval&owner=all"
    threads = [threading.Thread(target=ask, args=each, daemon=True) for each in [*asks, ("GET", bystander, None, served.secret)]]
    for thread in threads:
        thread.start()
    wait_until(lambda: served.waiting() == 4 and len(running(served, name)) == 3, "all to wait")
    if edited:
        forget_token(served, name)
    else:
        assert served.adder.call("token", "rm", name).returncode == 0
    for thread in threads[:-1]:
        thread.join(served.adder.deadline)
    assert [answers[each[1]].status for each in asks] == [401, 401, 401, 200]
    assert answers["/v1/runs"].json()["outcome"] == "cancelled"
    assert [stream.ending() for stream in (follower, detached, attached)] == [[]] * 3
    wait_until(lambda: running(served, name) == [run_id], "runs to end that need their caller")
    assert served.get("/v1/caller", secret=secret).status == 401
    assert served.ask("DELETE", f"/v1/runs/{run_id}?owner=all").status == 200
    assert threads[-1].is_alive()
    assert served.post(f"/v1/approvals/{asked}/deny", {"owner": "all"}).status == 200
    threads[-1].join(served.adder.deadline)
    assert answers[bystander].json()["events"], "who has another token waits on"


def running(served, name):
    return [each["run_id"] for each in served.get(f"/v1/runs?owner=token:{name}").json()["runs"] if each["state"] == "running"]


def test_a_wait_ends_with_the_token(served):
    secret = served.token("brief", "--expires", "10s")
    after = now(served, secret)
    for path in (f"/v1/events?after={after}&wait_ms=600000", "/v1/caller"):
        assert served.get(path, secret=secret).status == 401, path


@pytest.mark.parametrize(
    "query",
    ["after=-1", "after=x", "after=99999999999999999999", "kinds=", "kinds=run,", "kinds=file", "kinds=run;drop", "limit=0"]
    + ["limit=1001", "wait_ms=600001", "owner=" + "a" * 300, "before=1", "after=1&after=2"],
)
def test_bad_queries_are_refused(served, query):
    reply = served.get("/v1/events?" + query)
    assert reply.status in (400, 422), reply


def test_a_number_of_the_future_is_missed(served):
    answer = events(served, after=(1 << 62), wait_ms=600000)
    assert answer["missed"] and answer["next"] < 1 << 62


def test_a_stopping_daemon_and_the_next_one(served):
    after, replies = now(served, served.alice), []
    thread = threading.Thread(
        target=lambda: replies.append(served.get(f"/v1/events?after={after}&wait_ms=600000", secret=served.alice)), daemon=True
    )
    thread.start()
    wait_until(lambda: served.waiting() == 1, "the reader to wait")
    served.stop()
    thread.join(served.adder.deadline)
    assert not thread.is_alive()
    served.start()
    answer = events(served, served.alice, after=after, wait_ms=600000)
    assert answer["missed"] and answer["next"] > after
