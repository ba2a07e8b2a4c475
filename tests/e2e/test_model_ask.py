# SPDX-License-Identifier: Apache-2.0
"""A question to the daemon's own model over HTTP: one answer, bounded, and nothing of it is carried out."""
import json
import re

import http_bed
import pytest
from harness import unique

CALL = {"type": "call", "id": "call_1", "name": "run_python", "arguments": {"code": "1"}}
TOOL = {"name": "run_python", "description": "Runs Python.", "parameters": {"type": "object", "properties": {}}}
ANSWERS = [
    {"answer": {"calls": [{"name": "run_python", "arguments": {"code": "6 * 7"}}]}},
    {"ask": {"contains": ["42"]}, "answer": {"text": "It is 42."}},
]


def user(text):
    return {"role": "user", "content": [{"type": "text", "text": text}]}


@pytest.fixture
def make_served(make_adder, adder):
    beds = []

    def make(answers=ANSWERS, lines=""):
        model = adder.directory / f"{unique()}.jsonl"
        model.write_text("".join(json.dumps(line) + "\n" for line in answers))
        adder.own(model)
        named = f"for_tools = replay:{model}\n" if answers is not None and answers else ""
        beds.append(http_bed.Served(make_adder(f"[environment]\ndefault = system\n[models]\n{named}{lines}"), start=False))
        beds[-1].guest = beds[-1].token("guest", "--role", "guest")
        beds[-1].reader = beds[-1].token("reader", "--read-only")
        beds[-1].start()
        return beds[-1]

    yield make
    for bed in beds:
        bed.stop()


def ask(served, messages, status=200, model="default", **body):
    reply = served.post(f"/v1/models/{model}/ask", {"messages": messages, **body})
    assert reply.status == status, reply
    return reply.json()


def test_a_loop_of_tools(make_served):
    served = make_served()
    first = ask(served, [user("6 * 7?")], tools=[TOOL], instructions="Be short.")
    assert first["stop"] == "calls" and first["attempts"] == 1 and "input_tokens" in first["usage"]
    (call,) = [part for part in first["message"]["content"] if part["type"] == "call"]
    assert call["name"] == "run_python" and call["arguments"] == {"code": "6 * 7"}
    result = {"type": "result", "id": call["id"], "name": call["name"], "is_error": False}
    told = {"role": "tool", "content": [{**result, "content": [{"type": "text", "text": "42"}]}]}
    # A replay is begun anew by each question.
    second = ask(make_served(ANSWERS[1:]), [user("6 * 7?"), first["message"], told], tools=[TOOL])
    assert [part["text"] for part in second["message"]["content"] if part["type"] == "text"] == ["It is 42."]
    assert served.get("/v1/records").json()["records"] == [], "nothing ran"


def streamed(served, **body):
    """The events of a streamed question, to its end: (name, data) each."""
    reply = served.post("/v1/models/default/ask", {"messages": [user("6 * 7?")], "stream": True, **body})
    assert reply.status == 200 and reply.headers["Content-Type"].startswith("text/event-stream"), reply
    return [(name, json.loads(data)) for name, data in re.findall(r"event: (\w+)\ndata: (.*)\n\n", reply.body.decode())]


def test_an_answer_is_streamed(make_served):
    *pieces, (last, answer) = streamed(make_served([{"answer": {"text": "é 42 " * 40}}]))
    assert len(pieces) > 1 and {name for name, _ in pieces} == {"text"}
    assert "".join(piece["text"] for _, piece in pieces) == "é 42 " * 40
    assert last == "answer" and answer["stop"] == "end" and answer["message"]["content"] == [{"type": "text", "text": "é 42 " * 40}]
    ((last, problem),) = streamed(make_served(ANSWERS[:0]))
    assert last == "problem" and problem["status"] == 422 and "for_tools" in problem["detail"]


@pytest.mark.parametrize(
    "messages",
    [[], [{"role": "assistant", "content": [CALL]}], [user("a"), {"role": "assistant", "content": []}]]
    + [[{"role": "system", "content": []}], [{"role": "user", "content": "text"}], [{"role": "user", "content": [CALL]}]]
    + [[{"role": "user", "content": [{"type": "text"}]}], [{"role": "user", "content": [{"type": "text", "text": 5}]}]]
    + [[{"role": "user", "content": [{"type": "opaque", "dialect": "chat", "data": {}}]}], [{"role": "user", "content": ["x"]}]]
    + [[{"role": "tool", "content": [{"type": "result", "id": "a", "name": "b", "is_error": False, "content": [CALL]}]}]]
    + [[{"role": "tool", "content": [{"type": "result", "id": "a", "name": "b"}]}], [user("a")] * 1001, "x", None]
    + [[{"role": "user", "content": [{"type": "video", "data": "x"}]}], [{"role": "user", "content": [{}] * 257}]],
)
def test_bad_messages_are_refused(served_once, messages):
    assert served_once.post("/v1/models/default/ask", {"messages": messages}).status == 400


@pytest.mark.parametrize(
    "body",
    [{"tools": [{"name": "a b", "description": "", "parameters": {}}]}, {"tools": [{"name": "a"}]}, {"tools": [TOOL] * 129}]
    + [{"tools": {}}, {"output_tokens": -1}, {"output_tokens": 10**9}, {"stream": 1}, {"instructions": "x" * 100001}],
)
def test_bad_bodies_are_refused(served_once, body):
    assert served_once.post("/v1/models/default/ask", {"messages": [user("a")], **body}).status == 400


@pytest.fixture(scope="module")
def served_once(make_shared_adder):
    bed = http_bed.Served(make_shared_adder("[environment]\ndefault = system\n[models]\nfor_tools = replay:/nowhere\n"))
    yield bed
    bed.stop()


def test_too_long_or_deep(served_once):
    long = ask(served_once, [user("x" * (5 << 20))], status=400)
    assert "longer than" in long["detail"]
    deep = {"type": "object"}
    for _ in range(100):
        deep = {"a": deep}
    ask(served_once, [user("a")], status=400, tools=[{**TOOL, "parameters": deep}])


def test_only_that_model(served_once, make_served):
    told = ask(served_once, [user("a")], status=404, model="gpt")
    assert "default" in told["detail"]
    told = ask(served_once, [user("a")], status=503)
    assert "nowhere" not in told["detail"], "a path of the machine"
    told = ask(make_served([]), [user("a")], status=422)
    assert "for_tools" in told["detail"]


def test_who_may_ask_and_how_often(make_served):
    served = make_served([{"answer": {"text": "yes"}}] * 3, "rate = 1\n")
    for secret in (served.guest, served.reader):
        assert served.post("/v1/models/default/ask", {"messages": [user("a")]}, secret=secret).status == 403
    assert ask(served, [user("a")])["stop"] == "end"
    told = served.post("/v1/models/default/ask", {"messages": [user("a")]})
    assert told.status == 429 and "[models] rate" in told.json()["detail"] and told.headers["Retry-After"]
