# SPDX-License-Identifier: Apache-2.0
"""The worked example of exact computation inside an agent loop: fetch a secret, reverse it exactly, submit it, report
completion, in four typed steps. The secret is new each time, and whoever plays the model sends back what it was sent: a
wrong reversal is neither made up nor accepted."""
import json
import os
import secrets
import string
import subprocess
import urllib.request

import pytest

import harness
import ports
from agents import Agents, Turn, report, typed
from harness import wait_until

TASK = "Fetch the secret, reverse it exactly, submit the reversed secret, and report completion."
STEPS = ["get_secret", "compute_with_python", "submit_secret", "report_completion"]
NODE = harness.REPOSITORY / "build/node/bin/node"
MOCK = harness.REPOSITORY / "build/node-packages/node_modules/@dwmkerr/mock-llm/dist/main.js"

FETCH = """
import json, sys
assert json.load(sys.stdin) == {}
print(open('secret').read(), end='')
"""
SUBMIT = """
import json, sys
value = json.load(sys.stdin)['value']
open('submitted', 'a').write(value + '\\n')
if value != open('secret').read()[::-1]:
    sys.exit('that is not the secret reversed')
print('accepted')
"""


@pytest.fixture
def secret(adder):
    made = "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(24))
    adder.file("secret", made)
    return made


@pytest.fixture
def agents(adder):
    return Agents(adder)


def options(agents):
    return [
        *("--toolset", "compute"),
        *agents.tool("get_secret", FETCH),
        *agents.tool("submit_secret", SUBMIT, {"value": {"type": "string", "description": "The secret, reversed."}}),
    ]


def check(turn, agents, secret):
    assert turn.end["completed"] and turn.end["steps"] == 4 and turn.head["steps"] == "typed"
    assert turn.names == STEPS and not any(step["is_error"] for step in turn.steps)
    assert turn.results == [secret, secret[::-1], "accepted", "Reported."]
    assert all(step["current_state"] for step in turn.steps)
    assert (agents.adder.scratch / "submitted").read_text() == secret[::-1] + "\n"


# ---- replay ----


@pytest.mark.quick
def test_replay(agents, secret):
    reverse = {"code": f"'{secret}'[::-1]", "description": "Reverse the secret."}
    turn = agents.run(
        [
            typed("get_secret", contains=TASK),
            typed("compute_with_python", reverse, contains=secret),
            typed("submit_secret", {"value": secret[::-1]}, contains=secret[::-1]),
            report("The reversed secret was accepted.", contains="accepted"),
        ],
        *options(agents),
        task=TASK,
    )
    check(turn, agents, secret)
    assert turn.head["replay"] and turn.head["provider"].startswith("a replay of ")


def test_the_example_of_the_documentation(adder):
    for name in ("get_secret.json", "submit_secret.json", "submit_secret.py", "secret.jsonl"):
        adder.file(f"examples/agent/{name}", (harness.REPOSITORY / "examples/agent" / name).read_text())
    tools = [f"--tool=examples/agent/{name}" for name in ("get_secret.json", "submit_secret.json")]
    task = "Fetch the secret, reverse it, submit it."
    ended = adder.call(
        "agent", task, "--toolset", "compute", *tools, "--model", "replay:examples/agent/secret.jsonl"
    )
    assert ended.returncode == 0 and ended.stdout == "The reversed secret, aQue9ScN, was accepted.\n"
    page = (harness.REPOSITORY / "docs/agent.md").read_text()
    shown = "".join(f"    {line}\n" if line else "\n" for line in (ended.stderr + ended.stdout).splitlines())
    assert shown in page


# ---- three APIs, spoken by a server that others wrote ----




def chat(arguments, name="next_step"):
    call = {"id": "call_{{timestamp}}", "type": "function"}
    call["function"] = {"name": name, "arguments": json.dumps(arguments)}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    choices = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "double", "choices": choices, "usage": usage}


def responses(arguments, name="next_step"):
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_{{timestamp}}", "name": name}
    item |= {"arguments": json.dumps(arguments), "status": "completed"}
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    return {"id": "r", "object": "response", "status": "completed", "model": "double", "output": [item], "usage": usage}


def messages(arguments, name="next_step"):
    block = {"type": "tool_use", "id": "toolu_{{timestamp}}", "name": name, "input": arguments}
    fields = {"id": "m", "type": "message", "role": "assistant", "model": "double", "content": [block]}
    return {**fields, "stop_reason": "tool_use", "usage": {"input_tokens": 100, "output_tokens": 20}}


class Dialect:
    """Where an API has what: its path, what was said last, the tool that must be called, and its answers."""

    def __init__(self, name, path, first, last, forced, schema, strict, answer):
        self.name, self.path, self.first, self.last = name, path, first, last
        self.forced, self.schema, self.strict, self.answer = forced, schema, strict, answer

    def __repr__(self):
        return self.name


DIALECTS = [
    Dialect(
        "chat",
        "/v1/chat/completions",
        "body.messages[-1].content",
        "body.messages[-1].content",
        "(body.tool_choice == 'required' && length(body.tools) == `1` && body.tools[0].function.name)",
        "body.tools[0].function.parameters",
        "body.tools[0].function.strict",
        chat,
    ),
    Dialect(
        "responses",
        "/v1/responses",
        "body.input[-1].content[0].text",
        "body.input[-1].output",
        "body.tool_choice.name",
        "body.tools[0].parameters",
        "body.tools[0].strict",
        responses,
    ),
    Dialect(
        "messages",
        "/v1/messages",
        "body.messages[-1].content[0].text",
        "body.messages[-1].content[0].content[0].text",
        "body.tool_choice.name",
        "body.tools[0].input_schema",
        "`true`",  # it is not asked to be strict there
        messages,
    ),
]


def step(name, arguments, state):
    return {"current_state": state, "function": {"name": name, "arguments": arguments}}


def rules(dialect, secret):
    """What the double says to the n-th question, and what must have been sent for it to say so. The values of the second and
    third answers are taken from what it was sent: nothing but the tools knows them."""
    told = "{{jmes request " + dialect.last + "}}"
    answers = [
        (f"contains({dialect.first}, 'Fetch the secret')", step("get_secret", {}, "I need the secret.")),
        (
            f"{dialect.last} == '{secret}'",
            step(
                "compute_with_python",
                {"code": f"'{told}'[::-1]", "description": "Reverse the secret.", "store_as": None},
                "Now I reverse it exactly.",
            ),
        ),
        (f"length({dialect.last}) == `{len(secret)}`", step("submit_secret", {"value": told}, "I submit it.")),
        (
            f"{dialect.last} == 'accepted'",
            step("report_completion", {"completed": True, "answer": "It was accepted."}, "All is done."),
        ),
    ]
    forced = f"{dialect.strict} && {dialect.forced} == 'next_step'"
    forced += f" && length({dialect.schema}.properties.function.anyOf) == `4`"
    return [
        rule(dialect, number, f"{forced} && {match}", dialect.answer(arguments))
        for number, (match, arguments) in enumerate(answers)
    ]


def rule(dialect, number, match, answer):
    response = {"status": 200, "content": json.dumps(answer)}
    return {"path": f"^{dialect.path}$", "method": "POST", "sequence": number, "match": match, "response": response}


class Double:
    """mock-llm, which answers by rules."""

    def __init__(self, directory, rules):
        self.reserved = ports.reserve()
        self.port = ports.number_of(self.reserved)
        config = directory / "mock-llm.yaml"
        config.write_text(json.dumps({"streaming": {"chunkSize": 50, "chunkIntervalMs": 1}, "rules": rules}))
        self.log = open(directory / "mock-llm.log", "wb")
        surroundings = {**os.environ, "HOST": "127.0.0.1", "PORT": str(self.port)}
        self.process = subprocess.Popen(
            [NODE, MOCK, "--config", config], stdout=self.log, stderr=self.log, env=surroundings
        )
        wait_until(self.is_ready, "the model double to listen")

    def is_ready(self):
        assert self.process.poll() is None, "the model double ended"
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ready", timeout=5).status == 200
        except OSError:
            return False

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.reserved.close()
        self.log.close()


@pytest.fixture
def double(tmp_path):
    started = []

    def start(rules):
        started.append(Double(tmp_path, rules))
        return started[0]

    yield start
    for each in started:
        each.end()


def configure(adder, dialect, port, *more):
    base = f"http://127.0.0.1:{port}" + ("" if dialect.name == "messages" else "/v1")
    path = adder.config / "models.conf"
    lines = [f"[{dialect.name}]", f"dialect = {dialect.name}", f"base_url = {base}", "model = double", "stream = false"]
    lines += more
    path.write_text("\n".join(lines) + "\n")
    path.chmod(0o600)
    adder.own(path)


needs_double = pytest.mark.skipif(
    not (NODE.exists() and MOCK.exists()), reason="mock-llm is not installed: scripts/mcp-conformance"
)


@needs_double
@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
def test_in_each_dialect(own_adder, double, dialect):
    agents = Agents(own_adder)
    secret = "".join(secrets.choice(string.ascii_letters) for _ in range(24))
    own_adder.file("secret", secret)
    configure(own_adder, dialect, double(rules(dialect, secret)).port)
    ended = own_adder.call("agent", TASK, "--json", "--model", dialect.name, *options(agents))
    assert ended.returncode == 0 and ended.stderr == "", ended
    turn = Turn(ended.stdout)
    check(turn, agents, secret)
    assert turn.end["tokens"] == 480 and not turn.end["tokens_estimated"] and not turn.head["replay"]


@needs_double
@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
def test_a_wrong_reversal_fails(own_adder, double, dialect):
    """The tooth of the test above: the double passes on what it is sent, so that a tool which reverses otherwise is found
    out by the one that takes the secret."""
    agents = Agents(own_adder)
    secret = "".join(secrets.choice(string.ascii_letters) for _ in range(24))
    own_adder.file("secret", secret)
    wrong = rules(dialect, secret)
    wrong[1]["response"]["content"] = wrong[1]["response"]["content"].replace("[::-1]", "[:]")
    configure(own_adder, dialect, double(wrong).port)
    ended = own_adder.call("agent", TASK, "--json", "--model", dialect.name, *options(agents))
    assert ended.returncode != 0
    turn = Turn(ended.stdout)
    assert "that is not the secret reversed" in turn.results[2] and not turn.end["completed"]


DRAW = """
import base64, json, struct, zlib
def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
header = struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0)
png = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(b'\\0\\x7f')) + chunk(b'IEND', b'')
picture = base64.b64encode(png).decode()
open('picture', 'w').write(picture)
print(json.dumps({'text': 'drawn', 'pictures': [picture]}))
"""


@needs_double
@pytest.mark.parametrize("sees", [True, False])
@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
def test_pictures_reach_models_that_see(own_adder, double, dialect, sees):
    """The double goes on only where it was, or was not, sent the beginning of a PNG."""
    agents = Agents(own_adder)
    shown = "contains(to_string(body), 'iVBORw0KGgo')"
    report = {"completed": True, "answer": "I looked at it."}
    server = double(
        [
            rule(dialect, 0, "@", dialect.answer({}, "draw")),
            rule(dialect, 1, shown if sees else f"!{shown}", dialect.answer(report, "report_completion")),
        ]
    )
    configure(own_adder, dialect, server.port, f"sees = {str(sees).lower()}")
    tool = agents.tool("draw", DRAW)
    ended = own_adder.call("agent", "Draw.", "--json", "--model", dialect.name, "--out", "drawn", *tool)
    assert ended.returncode == 0, ended
    turn = Turn(ended.stdout)
    assert turn.names == ["draw", "report_completion"] and turn.steps[0]["pictures"] == ["drawn/picture-1.png"]
    assert (own_adder.scratch / "drawn/picture-1.png").read_bytes().startswith(b"\x89PNG")
    assert ("You cannot see it" in turn.results[0]) != sees
