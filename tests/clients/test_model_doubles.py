# SPDX-License-Identifier: Apache-2.0
"""What asks models, against a double that others wrote (llm-mock-api, which speaks all three APIs), and what it sends, held
against the types of the official SDKs."""
import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from anthropic.types import message_create_params
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params
from pydantic import TypeAdapter

from harness import DEADLINE, REPOSITORY
from model_server import EVENTS, Asker, Server, chunked, text_of, user

DOUBLE = REPOSITORY / "tests" / "clients" / "model_double.py"
TOOL = {
    "name": "reverse",
    "description": "Reverses text.",
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
}
DIALECTS = list(EVENTS)


def result(call, text):
    content = [{"type": "text", "text": text}]
    part = {"type": "result", "id": call["id"], "name": call["name"], "content": content, "is_error": False}
    return {"role": "tool", "content": [part]}


@pytest.fixture(scope="module")
def double():
    command = [sys.executable, DOUBLE, "reverse", json.dumps({"text": 'a"é🐍\n\\'})]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()
        process.wait(DEADLINE)


@pytest.mark.parametrize("tool", ["reverse", "", None], ids=["this one", "one of them", "as it likes"])
@pytest.mark.parametrize("stream", ["true", "false"], ids=["stream", "object"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_tool_is_called_and_its_result_read(double, dialect, stream, tool):
    with Asker(double, dialect, stream=stream) as asker:
        messages = [user("What is it in reverse?")]
        asker.send({"instructions": "Reverse.", "messages": messages, "tools": [TOOL], "tool": tool})
        came, seen = asker.receive()
        assert text_of(came) == "I compute." == "".join(seen)
        answer = came["answer"]
        (call,) = [part for part in answer["message"]["content"] if part["type"] == "call"]
        assert answer["stop"] == "calls" and call["arguments"] == {"text": 'a"é🐍\n\\'} and call["name"] == "reverse"
        assert (answer["input_tokens"], answer["output_tokens"]) == (10, 5)
        asker.send({"messages": [*messages, answer["message"], result(call, "done")], "tools": [TOOL]})
        came, seen = asker.receive()
        assert text_of(came) == "The tool said: done" == "".join(seen) and came["answer"]["stop"] == "end"


# ---- what is sent ----

BODIES = {
    "chat": TypeAdapter(completion_create_params.CompletionCreateParams),
    "responses": TypeAdapter(response_create_params.ResponseCreateParams),
    "messages": TypeAdapter(message_create_params.MessageCreateParams),
}
OPAQUE = {
    "chat": {"reasoning_content": "hm"},
    "responses": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"},
    "messages": {"type": "thinking", "thinking": "hm", "signature": "S"},
}
PICTURE = {"type": "image", "mime": "image/png", "data": "QUJD"}
# What the SDK wants and the API does not: the id of a message that no server keeps.
LEFT_OUT = {"responses": {"id": "msg_1"}}


def conversation(dialect):
    calls = [
        {"type": "call", "id": "call_1", "name": "reverse", "arguments": {"text": "a"}},
        {"type": "call", "id": "call_2", "name": "reverse", "arguments": None, "raw": "{oops"},
    ]
    shown = result(calls[0], "a")
    shown["content"][0]["content"].append(PICTURE)
    failed = result(calls[1], "not JSON")
    failed["content"][0]["is_error"] = True
    opaque = {"type": "opaque", "dialect": dialect, "data": OPAQUE[dialect]}
    return [
        {"role": "user", "content": [{"type": "text", "text": "Look"}, PICTURE]},
        {"role": "assistant", "content": [opaque, {"type": "text", "text": "I look."}, *calls]},
        shown,
        failed,
        user("And?"),
    ]


def exhaust(value):
    """Lists are checked when they are looked at."""
    if isinstance(value, dict):
        return {name: exhaust(item) for name, item in value.items()}
    return [exhaust(item) for item in value] if isinstance(value, (list, tuple, Iterator)) else value


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("stream", ["true", "false"], ids=["stream", "object"])
@pytest.mark.parametrize("tool", ["reverse", "", None], ids=["this one", "one of them", "as it likes"])
def test_what_is_sent_is_of_the_types_of_the_official_package(dialect, stream, tool):
    with Server(chunked(*EVENTS[dialect])) as server, Asker(server.url, dialect, stream=stream, sees="true") as asker:
        asker.send({"instructions": "Be good", "messages": conversation(dialect), "tools": [TOOL], "tool": tool})
        assert text_of(asker.receive()[0]) == "Hello"
    body = server.asked[0][2]
    for item in body.get("input", []):
        if item.get("role") == "assistant":
            item.update(LEFT_OUT["responses"])
    typed = exhaust(BODIES[dialect].validate_python(body))
    assert set(typed) == set(body)
