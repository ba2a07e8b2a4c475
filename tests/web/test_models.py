# SPDX-License-Identifier: Apache-2.0
"""Asking about tables and chatting, with a model whose answers are a script; and what the page says without a model."""
import json
import re

import pytest

import conftest
import harness
import model_server
import windows
from windows import expect, settle

CSV = "region,revenue\nNorth,400\nSouth,60\n"
PLAN = {"steps": [{"operation": "aggregate", "detail": "the sum of revenue"}],
        "target": {"kind": "number", "columns": [], "rows": None, "order": None}, "time": None}


def call(name, contains=(), **arguments):
    line = {"answer": {"calls": [{"name": name, "arguments": arguments}]}}
    return {"ask": {"contains": list(contains)}, **line} if contains else line


ASKED = [
    call("submit_plan", ["What is the revenue?"], **PLAN),
    call("submit_checks", checks=['{"check": "kind", "is": "number"}']),
    call("submit_code", code="result = int(df['revenue'].sum())"),
    {"answer": {"text": "The revenue is 460."}},
]
SAID = "It is **42**, <img src=x onerror=hacked=1> as computed."


def completed(**message):
    """An answer of OpenAI's Chat Completions."""
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return model_server.answer(json.dumps({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}))


def calls(name, **arguments):
    return completed(tool_calls=[{"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}])


@pytest.fixture
def modelled(make_adder, new_window):
    """Makes a window of the local account at a daemon with that model."""
    daemons = []

    def make(model):
        """MODEL: a function that prepares the Adder and gives the value of for_tools; None: no model."""
        adder = make_adder()
        daemons.append(conftest.serve(adder, f"[models]\nfor_tools = {model(adder)}\n" if model else ""))
        window = new_window(daemons[-1])
        window.page.goto(windows.opened(adder))
        window.page.get_by_role("navigation", name="Views").wait_for()
        window.served = daemons[-1]
        return window

    yield make
    for daemon in daemons:
        daemon.stop()


def replayed(answers):
    def prepare(adder):
        path = adder.directory / "answers.jsonl"
        path.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        return f"replay:{adder.own(path)}"

    return prepare


def served_by(server):
    def prepare(adder):
        path = adder.config / "models.conf"
        path.write_text(f"[local]\ndialect = chat\nbase_url = {server.url}/v1\nmodel = m\nstream = false\n")
        path.chmod(0o600)
        adder.own(path)
        return "local"

    return prepare


def drop(page, name, text):
    page.locator("main input[type=file]").first.set_input_files({"name": name, "mimeType": "text/csv", "buffer": text.encode()})


def test_a_question_about_a_table(modelled):
    window = modelled(replayed(ASKED))
    if window.served.adder.environment != "science":
        harness.skip_without("science")
    page = window.open("ask")
    settle(page)
    drop(page, "sales.csv", CSV)
    page.get_by_role("textbox", name="Question").fill("What is the revenue?")
    page.keyboard.press("Enter")
    answer = page.get_by_role("article", name="What is the revenue?")
    expect(answer).to_contain_text("The revenue is 460.")
    answer.get_by_text("Code", exact=True).click()
    expect(answer.get_by_role("group", name="Code")).to_contain_text("df['revenue'].sum()")
    settle(page)
    assert not windows.axe_violations(page)


def test_a_chat_with_tools(modelled):
    with model_server.Server(calls("run_python", code="print(6 * 7)"), completed(content=SAID)) as server:
        page = modelled(served_by(server)).open("chat")
        settle(page)
        page.get_by_role("textbox", name="Message").fill("What is six times seven?")
        page.keyboard.press("Enter")
        log = page.get_by_role("log", name="Conversation")
        expect(log).to_contain_text("It is 42")
        assert log.locator("img").count() == 0
        assert "42" in json.dumps(server.asked[-1][2]["messages"][-1]), "the model saw what the tool gave"
        settle(page)
        assert not windows.axe_violations(page)
        page.reload()
        expect(log).to_contain_text("It is 42")


def careful(model):
    """MODEL, where code that it runs needs an approval."""

    def prepare(adder):
        folder = adder.config / "profiles"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        (folder / "snippet.conf").write_text("[profile]\ntitle = Asks before it runs\napproval = always\n")
        (folder / "snippet.conf").chmod(0o644)
        return model(adder)

    return prepare


@pytest.mark.parametrize("decision", ["Approve", "Deny"])
def test_a_chat_waits_for_an_approval_in_place(modelled, decision):
    """The code is shown where it is decided about; then the chat goes on by itself."""
    with model_server.Server(calls("run_python", code="print(6 * 7)"), completed(content="That was **all**.")) as server:
        page = modelled(careful(served_by(server))).open("chat")
        settle(page)
        page.get_by_role("textbox", name="Message").fill("What is six times seven?")
        page.keyboard.press("Enter")
        card = page.get_by_role("region", name="Approval", exact=True)
        expect(card).to_contain_text("print(6 * 7)")
        settle(page)
        assert not windows.axe_violations(page)
        assert len(server.asked) == 1, "nothing goes on before the decision"
        if decision == "Deny":
            card.get_by_label("Reason").fill("not today")
        card.get_by_role("button", name=decision).click()
        log = page.get_by_role("log", name="Conversation")
        expect(log).to_contain_text("That was all.")
        expect(card).to_have_count(0)
        expect(log).to_contain_text("Approved." if decision == "Approve" else "Denied: not today")
        told = json.dumps(server.asked[-1][2]["messages"][-1])
        assert ("42" in told) == (decision == "Approve") and ("not today" in told) == (decision == "Deny"), told


@pytest.mark.parametrize("view, what", [("ask", "Asking"), ("chat", "Chatting")])
def test_without_a_model_the_page_says_how_to_configure_one(modelled, view, what):
    page = modelled(None).open(view)
    settle(page)
    expect(page.get_by_role("heading", name=re.compile(f"{what} needs a language model"))).to_be_visible()
    expect(page.get_by_role("region", name="How to configure a model")).to_contain_text("for_tools")
    expect(page.get_by_role("textbox", name=re.compile("Question|Message"))).to_have_count(0)
    assert not windows.axe_violations(page)
