# SPDX-License-Identifier: Apache-2.0
"""Calls that are answered before they end: made late, asked for, cancelled, bounded, and nobody else's."""
import signal
import time

import pytest

from harness import named, unique, wait_until, with_name
from mcp_asked import CAN_TASKS, TASKS, AnotherUser, Asked
from mcp_lines import LEGACY, MODERN, META, text

SOON = "[mcp]\ntask_after_ms = 20ms\n"
SLOW = "import time\nprint('begun', flush=True)\ntime.sleep(0.5)\nprint('done')"
SLEEPING = "import time\ntime.sleep(1000)"
WAIT = "signal.sigwait([signal.SIGUSR1])"


@pytest.fixture
def soon(make_adder):
    """An Adder whose calls become tasks nearly at once."""
    return make_adder(SOON)


@pytest.fixture
def lines(soon):
    with Asked(soon, can=CAN_TASKS) as lines:
        yield lines


def waiting(name, code=f"print('begun', flush=True)\n{WAIT}\nprint('done')"):
    """Code that is told when to go on (`go_on`) at each WAIT: a call is a task long before, however busy the host is."""
    return f"import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n{named(name, code)}"


def go_on(name):
    [process] = wait_until(lambda: with_name(name), "the code runs")
    process.signal(signal.SIGUSR1)


def begin(lines, code=SLEEPING, **others):
    result = lines.run(code, **others)
    assert result["resultType"] == "task" and result["status"] == "working", result
    assert not {"content", "result", "error", "inputRequests"} & set(result)
    return result["taskId"]


def show(lines, task):
    return lines.result("tasks/get", {"taskId": task})


def ended(lines, task):
    def look():
        shown = show(lines, task)
        return shown if shown["status"] not in ("working", "input_required") else None

    return wait_until(look, "the task has ended")


def problem(lines, method, task, **params):
    told = lines.problem(method, {"taskId": task, **params})
    assert told["code"] == -32602
    return told["message"]


@pytest.mark.quick
def test_task(lines):
    found = lines.result("server/discover")
    assert found["capabilities"]["extensions"] == {TASKS: {}} and "tasks" not in found["capabilities"]
    name = unique()
    task = begin(lines, waiting(name))
    first = show(lines, task)
    assert first["taskId"] == task and first["createdAt"] <= first["lastUpdatedAt"]
    go_on(name)
    shown = ended(lines, task)
    assert shown["status"] == "completed"
    assert text(shown["result"]) == "begun\ndone" and not shown["result"]["isError"]
    assert shown["result"]["structuredContent"]["outcome"] == "ok"
    assert show(lines, task)["result"] == shown["result"]
    assert shown["ttlMs"] >= first["ttlMs"] > 0


def test_task_that_fails(lines):
    """Code that fails is a result; only what is no result is an error."""
    name = unique()
    task = begin(lines, waiting(name, f"{WAIT}\n1 / 0"))
    go_on(name)
    shown = ended(lines, task)
    assert shown["status"] == "completed" and not shown["result"]["isError"]
    assert "ZeroDivisionError" in text(shown["result"])


def test_what_it_prints_is_told(lines):
    name = unique()
    code = waiting(name, f"print('one', flush=True)\n{WAIT}\nprint('step two', flush=True)\n{WAIT}")
    task = begin(lines, code, meta={"progressToken": "p"})
    go_on(name)
    wait_until(lambda: show(lines, task).get("statusMessage") == "step two", "the task says what it printed")
    go_on(name)
    ended(lines, task)
    # On the call's own stream nothing may come once it was answered.
    assert all("step two" not in each["message"] for each in lines.notices("notifications/progress"))


@pytest.mark.quick
def test_cancelled(lines):
    """And what it ran is dead."""
    name = unique()
    task = begin(lines, named(name, SLEEPING))
    wait_until(lambda: with_name(name), "the code runs")
    assert set(lines.result("tasks/cancel", {"taskId": task})) == {"resultType", "_meta"}
    assert show(lines, task)["status"] == "cancelled"
    wait_until(lambda: not with_name(name), "the code is dead")
    assert set(lines.result("tasks/cancel", {"taskId": task})) == {"resultType", "_meta"}
    assert set(lines.result("tasks/update", {"taskId": task, "inputResponses": {}})) == {"resultType", "_meta"}
    shown = show(lines, task)
    assert shown["status"] == "cancelled" and not {"result", "error"} & set(shown)


def test_cancelled_before_it_was_a_task(make_adder):
    own = make_adder("[mcp]\ntask_after_ms = 1h\n")
    name = unique()
    with Asked(own, can=CAN_TASKS) as lines:
        call = lines.start("tools/call", {"name": "run_python", "arguments": {"code": named(name, SLEEPING)}})
        wait_until(lambda: with_name(name), "the code runs")
        lines.cancel(call)
        wait_until(lambda: not with_name(name), "the code is dead")
        assert text(lines.run("print(1)")) == "1" and lines.end() == ([], 0, "")


def test_client_goes(lines, soon):
    """The task stays, for whoever comes with its id."""
    name = unique()
    task = begin(lines, waiting(name))
    assert lines.end()[1] == 0
    go_on(name)
    with Asked(soon, can=CAN_TASKS) as later:
        assert text(ended(later, task)["result"]) == "begun\ndone"


@pytest.mark.parametrize("version", [MODERN, LEGACY[0]])
def test_client_without_tasks(soon, version):
    with Asked(soon, version=version) as lines:
        assert text(lines.run(SLOW)) == "begun\ndone"
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            told = lines.problem(method, {"taskId": "x", "inputResponses": {}})
            if version == MODERN:
                assert told["code"] == -32021
                assert told["data"]["requiredCapabilities"] == {"extensions": {TASKS: {}}}
            else:
                assert told["code"] == -32601


def test_removed_methods(lines):
    for method in ("tasks/list", "tasks/result"):
        assert lines.problem(method, {"taskId": "x"})["code"] == -32601


def test_quick_calls_are_none(lines):
    """What does not run code is answered at once, whatever the client asks for."""
    params = {"name": "session_list", "arguments": {}, "task": {"ttl": 60000}}
    assert lines.result("tools/call", params)["resultType"] == "complete"


def test_one_call(lines):
    """A request that declares tasks by itself."""
    lines.can = {}
    meta = {META + "clientCapabilities": CAN_TASKS}
    task = begin(lines, meta=meta)
    shown = lines.result("tasks/get", {"taskId": task}, meta=meta)
    assert shown["taskId"] == task


WRONG = {
    "an unknown one": {"taskId": "01a20422-db31-7930-8749-92f286cd310f"},
    "none": {},
    "a number": {"taskId": 7},
    "an empty one": {"taskId": ""},
}


@pytest.mark.parametrize("params", WRONG)
def test_wrong_ids(lines, params):
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        assert lines.problem(method, {"inputResponses": {}, **WRONG[params]})["code"] == -32602


def test_wrong_answers(lines):
    task = begin(lines)
    for answers in (None, [], 7, "x"):
        assert lines.problem("tasks/update", {"taskId": task, "inputResponses": answers})["code"] == -32602
    lines.result("tasks/update", {"taskId": task, "inputResponses": {"nobody": {"asked": "for"}}})


@pytest.mark.both_users
def test_another_owner(make_adder, installation):
    own = make_adder(SOON)
    with Asked(own, can=CAN_TASKS) as lines:
        lines.run("1")  # its daemon is there
        with Asked(AnotherUser(own, installation), can=CAN_TASKS) as other:
            task = begin(lines)
            there = problem(other, "tasks/get", task)
            assert there == problem(other, "tasks/get", "x")  # as if there were none
            problem(other, "tasks/update", task, inputResponses={})
            problem(other, "tasks/cancel", task)
            listen = other.start("subscriptions/listen", {"notifications": {"taskIds": [task]}})
            other.told("notifications/subscriptions/acknowledged")
            lines.result("tasks/cancel", {"taskId": task})
            name = unique()
            mine = begin(other, waiting(name))
            go_on(name)
            ended(other, mine)
            assert other.notices("notifications/tasks") == []
            other.cancel(listen)
        assert show(lines, task)["status"] == "cancelled"


def test_bounds(make_adder):
    """Where none has ended there is no further task, and the call is answered when it is done."""
    own = make_adder(SOON + "max_tasks_per_owner = 2\n")
    with Asked(own, can=CAN_TASKS) as lines:
        tasks = [begin(lines) for _ in range(2)]
        assert text(lines.run(SLOW)) == "begun\ndone"
        lines.result("tasks/cancel", {"taskId": tasks[0]})

        def room():
            result = lines.run(SLOW)
            return result["taskId"] if result["resultType"] == "task" else None

        third = wait_until(room, "the place of the one that ended is free")
        problem(lines, "tasks/get", tasks[0])
        assert show(lines, tasks[1])["status"] == "working"
        assert text(ended(lines, third)["result"]) == "begun\ndone"
        lines.result("tasks/cancel", {"taskId": tasks[1]})


def test_forgotten(make_adder):
    own = make_adder(SOON + "task_age_ms = 500ms\n")
    with Asked(own, can=CAN_TASKS) as lines:
        name = unique()
        task = begin(lines, waiting(name))
        assert show(lines, task)["ttlMs"] >= 500

        def gone():
            return "error" in lines.ask("tasks/get", {"taskId": task})

        went_on = time.monotonic()
        go_on(name)
        wait_until(gone, "the task is forgotten")
        assert time.monotonic() - went_on >= 0.5


def test_daemon_is_kept(make_adder):
    """One that would end for having nothing to do waits for the result to be fetched."""
    own = make_adder("[daemon]\nidle_exit_ms = 100ms\n" + SOON + "task_age_ms = 1h\n")
    with Asked(own, can=CAN_TASKS) as lines:
        name = unique()
        task = begin(lines, waiting(name))
    go_on(name)
    wait_until(lambda: not with_name(name), "the code has ended")
    time.sleep(1)  # without the task, nothing would be there any more
    with Asked(own, can=CAN_TASKS) as later:
        assert text(ended(later, task)["result"]) == "begun\ndone"


def test_many(lines):
    """Side by side, each with its own result."""
    code = "import time\ntime.sleep(0.3)\nprint({})"
    ids = {lines.start("tools/call", {"name": "run_python", "arguments": {"code": code.format(i)}}): i for i in range(6)}
    tasks = {}
    for id, i in ids.items():
        result = lines.answer(id)["result"]
        tasks[i] = result.get("taskId") or result
    for i, task in tasks.items():
        result = ended(lines, task)["result"] if isinstance(task, str) else task
        assert text(result) == str(i)


@pytest.mark.quick
def test_told_of_changes(lines):
    name = unique()
    task = begin(lines, waiting(name))
    wanted = {"taskIds": [task], "toolsListChanged": True}
    listen = lines.start("subscriptions/listen", {"notifications": wanted})
    first = lines.told("notifications/subscriptions/acknowledged")
    assert first["notifications"] == wanted and first["_meta"] == {META + "subscriptionId": listen}
    go_on(name)
    shown = lines.told("notifications/tasks", taskId=task, status="completed")
    assert text(shown["result"]) == "begun\ndone" and shown["_meta"] == {META + "subscriptionId": listen}
    lines.cancel(listen)
    assert lines.end() == ([], 0, "")


def test_stop_ends_them(lines, soon):
    name = unique()
    begin(lines, named(name, SLEEPING))
    wait_until(lambda: with_name(name), "the code runs")
    assert soon.call("serve", "stop", "--force").returncode == 0
    wait_until(lambda: not with_name(name), "the code is dead")
