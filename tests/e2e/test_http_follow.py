# SPDX-License-Identifier: Apache-2.0
"""Events of runs that go on without their client: numbered, held, and followed from any of them on."""
import json
import pathlib
import re
import textwrap

import http_bed
import pytest
from harness import REPOSITORY, wait_until
from http_bed import Stream

FOREVER = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)"
LINES = 80  # fewer events than the daemon holds with the limit below, so a slow reader misses none
MANY = f"for i in range({LINES}): print(i, flush=True)"
SHOWN = 300  # more than it holds


@pytest.fixture(scope="module")
def served(make_shared_adder):
    bed = http_bed.Served(make_shared_adder("[http]\nevent_bytes = 16KiB\nrate = 60000\n"), start=False)
    bed.alice = bed.token("alice")
    bed.start()
    yield bed
    bed.stop()


def run(served, code, **body):
    return Stream(served, "POST", "/v1/runs", {"code": code, "stream": True, **body})


def follow(served, run_id, **headers):
    return Stream(served, "GET", f"/v1/runs/{run_id}/events", **headers)


def output(events):
    return "".join(data["text"] for _, name, data in events if name == "stdout")


def under_way(served):
    return [each["run_id"] for each in served.get("/v1/runs").json()["runs"]]


def threads(served):
    """Threads of the daemon that write streams."""
    names = []
    for task in pathlib.Path(f"/proc/{served.process.pid}/task").iterdir():
        try:
            names.append((task / "comm").read_text().strip())
        except OSError:
            pass  # it has ended
    return names.count("http-stream")


@pytest.mark.parametrize("detach", [False, True])
def test_events_are_numbered(served, detach):
    events = run(served, MANY, detach=detach).rest()
    assert [number for number, _, _ in events if number is not None] == list(range(1, len(events) + 1))
    assert (events[0][1], events[-1][1]) == ("started", "result") and output(events) == "".join(f"{i}\n" for i in range(LINES))


def shown_as(text):
    """TEXT as the page shows such a reply: run ids are all the same, long lines are cut."""
    lines = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "RUN", text).splitlines()
    return [line.removesuffix(" ...")[:80] for line in lines if line]


def test_the_examples_of_the_page(served):
    """docs/http-routes.md shows streams as they are sent, from their comment to the id of each event."""
    page = (REPOSITORY / "docs" / "http-routes.md").read_text()
    body, reply = re.search(r"^    \$ curl -N \$A/v1/runs -d '(.*?)'\n((?:    .*\n|\n)+)", page, re.M).groups()
    with served.connection() as connection:
        connection.request("POST", "/v1/runs", body, {**served.headers(), "Content-Type": "application/json"})
        assert shown_as(connection.getresponse().read().decode()) == shown_as(textwrap.dedent(reply))
    run = served.post("/v1/runs", {"code": "6 * 7", "background": True}).json()["run_id"]
    [reply] = re.findall(r"^    \$ curl -N \$A/v1/runs/\$BACK/events -H 'Last-Event-ID: 1'\n((?:    .*\n|\n)+)", page, re.M)
    with served.connection() as connection:
        connection.request("GET", f"/v1/runs/{run}/events", None, {**served.headers(), "Last-Event-ID": "1"})
        assert shown_as(connection.getresponse().read().decode()) == shown_as(textwrap.dedent(reply))


def test_a_detached_run_outlives_its_client_and_is_resumed(served):
    first = run(served, MANY, detach=True)
    seen = [first.next() for _ in range(3)]
    run_id = seen[0][2]["run_id"]
    first.close()
    seen += follow(served, run_id, Last_Event_ID=str(seen[-1][0])).rest()
    assert [number for number, _, _ in seen] == list(range(1, len(seen) + 1))
    assert output(seen) == "".join(f"{i}\n" for i in range(LINES)) and seen[-1][1] == "result" and seen[-1][2]["outcome"] == "ok"
    shown = served.get(f"/v1/runs/{run_id}").json()
    assert shown["state"] == "ended" and shown["result"]["run_id"] == run_id
    assert follow(served, run_id, Last_Event_ID=str(seen[-1][0])).rest() == [], "nothing is after the result"


def test_a_detached_run_goes_on_and_is_followed_live(served):
    first = run(served, FOREVER, detach=True)
    (_, _, started), (number, name, begun) = first.next(), first.next()
    assert (number, name, begun) == (2, "stdout", {"text": "begun\n"})
    first.close()
    run_id = started["run_id"]
    followers = [follow(served, run_id), follow(served, run_id, Last_Event_ID="2")]
    assert [followers[0].next()[:2], followers[0].next()[:2]] == [(1, "started"), (2, "stdout")]
    assert under_way(served) == [run_id], "nobody's going away has cancelled it"
    assert served.ask("DELETE", f"/v1/runs/{run_id}").status == 200
    for follower in followers:
        ((number, name, result),) = follower.rest()
        assert (number, name, result["outcome"]) == (3, "result", "cancelled")


def test_a_run_in_the_background_is_followed(served):
    made = served.post("/v1/runs", {"code": FOREVER, "background": True})
    assert made.status == 202
    follower = follow(served, made.json()["run_id"])
    assert [follower.next()[1], follower.next()[1]] == ["started", "stdout"]
    served.ask("DELETE", f"/v1/runs/{made.json()['run_id']}")
    assert [name for _, name, _ in follower.rest()] == ["result"]


def test_cells_are_followed(served):
    session = served.post("/v1/sessions", {}).json()["session_id"]
    cell = Stream(served, "POST", f"/v1/sessions/{session}/cells", {"code": "print(1)\n2", "stream": True, "detach": True})
    events = cell.rest()
    assert output(events) == "1\n" and events[-1][2]["session"]["cell"] == 1
    assert follow(served, events[0][2]["run_id"]).rest() == events
    served.ask("DELETE", f"/v1/sessions/{session}")


def test_what_is_not_held_any_more_is_said(served):
    made = served.post("/v1/runs", {"code": f"for i in range({SHOWN}): display(i)", "background": True}).json()
    served.get(f"/v1/runs/{made['run_id']}?wait_ms=60000")
    (number, name, missed), *events = follow(served, made["run_id"]).rest()
    assert (number, name) == (None, "missed") and missed["events"] > 0
    assert [number for number, _, _ in events] == list(range(missed["events"] + 1, missed["events"] + 1 + len(events)))
    assert events[-1][1] == "result" and events[-1][2]["outcome"] == "ok"


def test_what_cannot_be_followed(served):
    streamed = run(served, FOREVER)
    run_id = streamed.next()[2]["run_id"]
    shown = served.get(f"/v1/runs/{run_id}").json()
    assert shown["can_follow"] is False and shown["code"] == FOREVER
    refused = served.get(f"/v1/runs/{run_id}/events")
    assert refused.status == 422 and "neither runs in the background nor is detached" in refused.json()["detail"]
    streamed.close()
    wait_until(lambda: under_way(served) == [], "who goes away to cancel a run that is not detached")
    assert served.get("/v1/runs/01a2227e-6a73-7b4f-841e-670d8302b6f1/events").status == 404
    made = served.post("/v1/runs", {"code": "1", "background": True}).json()
    shown = served.get(f"/v1/runs/{made['run_id']}").json()
    assert shown["can_follow"] is True and shown["code"] == "1"
    assert served.get(f"/v1/runs/{made['run_id']}/events", secret=served.alice).status == 404, "another's"
    for last in ("x", "-1", "1.5", "9" * 30):
        assert served.get(f"/v1/runs/{made['run_id']}/events", Last_Event_ID=last).status == 400, last
    for body in ({"detach": True}, {"detach": True, "background": True}, {"stream": True, "detach": True, "background": True}):
        refused = served.post("/v1/runs", {"code": "1", **body})
        assert refused.status == 400 and "only one that is streamed can be detached" in refused.json()["detail"]
    assert served.ask("HEAD", f"/v1/runs/{made['run_id']}/events").status == 200


def test_followers_that_go_leave_nothing_behind(served):
    made = served.post("/v1/runs", {"code": FOREVER, "background": True}).json()
    followers = [follow(served, made["run_id"]) for _ in range(8)]
    assert all(follower.next()[1] == "started" for follower in followers)
    wait_until(lambda: threads(served) == 8, "one thread for each, and none of earlier streams")
    for follower in followers:
        follower.close()
    wait_until(lambda: threads(served) == 0, "the threads of followers to end")
    served.ask("DELETE", f"/v1/runs/{made['run_id']}")
