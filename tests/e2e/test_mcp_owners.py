# SPDX-License-Identifier: Apache-2.0
"""Several owners at one daemon, over HTTP: what is one's does not exist for the other, and who decides nothing is asked nothing."""
import itertools
import signal

import http_bed
import pytest

from harness import named, unique, wait_until, with_name
from mcp_asked import CAN_ASK, CAN_TASKS
from mcp_lines import META, MODERN, text

CODE = {"code": "print('it', 'ran')"}
WRITE = "open('made.txt', 'w').write('x')\nprint('y' * 300000)"


class Token:
    """A client of one token, which can be asked and knows tasks."""

    def __init__(self, served, name, *options):
        self.served, self.secret = served, served.token(name, *options)
        self.numbers = itertools.count(1)

    def ask(self, method, params=None, name=None, can=None):
        meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": {**CAN_ASK, **(can or {})}}
        body = {
            "jsonrpc": "2.0",
            "id": next(self.numbers),
            "method": method,
            "params": {**(params or {}), "_meta": meta},
        }
        named = {"Mcp_Name": name} if name else {}
        headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method, **named}
        # Of one who takes events as well, a call that takes long is answered by a stream.
        reply = self.served.post("/mcp", body, secret=self.secret, Accept="application/json", **headers)
        return reply.json()

    def call(self, name, arguments, can=None, **more):
        return self.ask("tools/call", {"name": name, "arguments": arguments, **more}, name, can)

    def run(self, code, **more):
        return self.call("run_python", {"code": code}, **more)["result"]

    def read(self, uri):
        return self.ask("resources/read", {"uri": uri}, uri)

    def task(self, method, task, **params):
        return self.ask(method, {"taskId": task, **params}, task, CAN_TASKS)


@pytest.fixture
def served(make_adder):
    served = http_bed.Served(make_adder(), "[mcp]\ntask_after_ms = 20ms\n")
    yield served
    served.stop()


@pytest.mark.quick
def test_nothing_of_the_other(served):
    one, other = Token(served, "one"), Token(served, "other")
    made = one.run(WRITE)["structuredContent"]
    session = one.call("session_new", {"name": "mine"})["result"]["structuredContent"]["session_id"]
    mine = [
        f"adder://files/{made['files'][0]['file_id']}",
        f"adder://results/{made['result_id']}",
        f"adder://sessions/{session}",
        "adder://sessions/mine",
    ]
    for uri in mine:
        assert one.read(uri)["result"]["contents"][0]["text"]
        told = other.read(uri)["error"]
        assert told["code"] == -32602 and told["data"] == {"uri": uri}
    listed = {row["uri"] for row in other.ask("resources/list")["result"]["resources"]}
    assert listed == {"adder://prompt"}
    ref = {"ref": {"type": "ref/resource", "uri": "adder://files/{file_id}"}, "argument": {"name": "file_id", "value": ""}}
    assert other.ask("completion/complete", ref)["result"]["completion"]["values"] == []
    prompt = {"name": "analyse_file", "arguments": {"file": made["files"][0]["file_id"]}}
    assert other.ask("prompts/get", prompt, "analyse_file")["error"]["code"] == -32602
    assert one.ask("prompts/get", prompt, "analyse_file")["result"]["messages"]


def test_tasks_of_the_other(served):
    one, other = Token(served, "one"), Token(served, "other")
    name, told_to = unique(), "[signal.SIGUSR1]"
    code = named(name, f"signal.sigwait({told_to})\nprint('done')")
    # It does not end before it is told to, so it becomes a task however slow the daemon is.
    task = one.run(f"import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {told_to})\n{code}", can=CAN_TASKS)["taskId"]
    for method in ("tasks/get", "tasks/cancel", "tasks/update"):
        told = other.task(method, task, inputResponses={})
        assert told["error"] == other.task(method, "x", inputResponses={})["error"]
    [process] = wait_until(lambda: with_name(name), "the code to run")
    process.signal(signal.SIGUSR1)

    def ended():
        shown = one.task("tasks/get", task)["result"]
        return shown if shown["status"] == "completed" else None

    assert text(wait_until(ended, "the task has ended")["result"]) == "done"


def test_who_decides(served):
    """A token that speaks for a person is asked; one that does not is told how a person says yes."""
    person = Token(served, "person", "--may-decide", "--toolset", "workbench")
    agent = Token(served, "agent", "--toolset", "workbench")
    asked = person.call("execute_python", CODE)["result"]
    [key] = asked["inputRequests"]
    yes = {key: {"action": "accept", "content": {"decision": "yes"}}}
    again = {"requestState": asked["requestState"], "inputResponses": yes}
    # Neither the state nor the approval is of use to the other.
    assert agent.call("execute_python", CODE, **again)["error"]["code"] == -32602
    told = agent.call("execute_python", CODE, inputResponses=yes)["result"]
    assert told["isError"] and "adder approval approve" in text(told) and "it ran" not in text(told)
    done = person.call("execute_python", CODE, **again)["result"]
    assert text(done) == "it ran" and not done["isError"]
