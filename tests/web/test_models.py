# SPDX-License-Identifier: Apache-2.0
"""Asking about tables and chatting, with a model whose answers are a script; and what the page says without a model."""
import json
import re
import threading

import pytest

import conftest
import harness
import model_server
import windows
from windows import expect, settle

ORDERS = "number,amount\n" + "".join(f"{number},{number * 7 % 60}\n" for number in range(60))
PLAN = {"steps": [{"operation": "filter", "detail": "orders with a number"}],
        "target": {"kind": "table", "columns": [], "rows": None, "order": None}, "time": None}


def call(name, contains=(), **arguments):
    line = {"answer": {"calls": [{"name": name, "arguments": arguments}]}}
    return {"ask": {"contains": list(contains)}, **line} if contains else line


ASKED = [
    call("submit_plan", ["Which orders are there?"], **PLAN),
    call("submit_checks", checks=['{"check": "kind", "is": "table"}']),
    call("submit_code", code="result = df[df['number'] >= 0]"),
    {"answer": {"text": "These are **all**."}},
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

    def make(model, science=False):
        """MODEL: a function that prepares the Adder and gives the value of for_tools; None: no model."""
        adder = make_adder()
        daemons.append(conftest.serve(adder, f"[models]\nfor_tools = {model(adder)}\n" if model else "", science))
        window = new_window(daemons[-1])
        window.sign_in_as_account(adder)
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


def served_by(server, streams=False):
    def prepare(adder):
        path = adder.config / "models.conf"
        path.write_text(f"[local]\ndialect = chat\nbase_url = {server.url}/v1\nmodel = m\nstream = {str(streams).lower()}\n")
        path.chmod(0o600)
        adder.own(path)
        return "local"

    return prepare


def drop(page, name, text):
    page.locator("main input[type=file]").first.set_input_files({"name": name, "mimeType": "text/csv", "buffer": text.encode()})


def asked(window, table, question):
    """Asks QUESTION about TABLE: the article with what comes of it."""
    if window.served.adder.environment != "science":
        harness.skip_without("science")
    page = window.open("ask")
    settle(page)
    drop(page, "orders.csv", table)
    page.get_by_role("textbox", name="Question").fill(question)
    page.keyboard.press("Enter")
    return page.get_by_role("article", name=question)


def test_a_question_about_a_table(modelled):
    """The reply has ten rows of its table; the daemon sorts, filters and pages all."""
    window = modelled(replayed(ASKED), science=True)
    answer = asked(window, ORDERS, "Which orders are there?")
    expect(answer).to_contain_text("These are all.")
    answer.get_by_text("Code", exact=True).click()
    expect(answer.get_by_role("group", name="Code")).to_contain_text("df[df['number'] >= 0]")
    table = answer.get_by_role("table", name="Rows of the result")
    first, count = table.get_by_role("row").nth(1), answer.get_by_role("status").filter(has_text="of ")
    expect(count).to_have_text("1–10 of 60 rows")
    table.get_by_role("button", name="amount").click()
    expect(first).to_have_text("00")
    answer.get_by_role("button", name="Last").click()
    expect(count).to_have_text("51–60 of 60 rows")
    expect(table.get_by_role("row").last).to_have_text("1759")
    answer.get_by_role("combobox", name="Rows of a page").select_option("50")
    expect(table.get_by_role("row")).to_have_count(51)
    answer.get_by_role("searchbox", name="Filter rows").fill("59")
    expect(count).to_have_text("1–2 of 2 rows, of 60 in all")
    settle(window.page)
    assert not windows.axe_violations(window.page)


def hanging(ended):
    """A step of a model's server: it answers nothing, and ENDED is set when its client leaves."""

    def step(connection):
        connection.recv(1)
        ended.set()
        return True

    return step


def test_steps_are_shown_as_they_come(modelled):
    ended = threading.Event()
    with model_server.Server(calls("submit_plan", **PLAN), calls("submit_checks", checks=[]), hanging(ended)) as server:
        answer = asked(modelled(served_by(server), science=True), ORDERS, "Which orders are there?")
        steps = answer.get_by_role("listitem")
        expect(steps.filter(has_text="Planning")).to_contain_text("orders with a number")
        expect(steps.filter(has_text="Writing code")).to_contain_text("under way")
        answer.get_by_role("button", name="Stop").click()
        expect(answer).to_contain_text("Stopped.")
        assert ended.wait(harness.DEADLINE), "the model still writes"


def test_an_answer_is_shown_while_it_is_written(modelled):
    goes_on, ended = threading.Event(), threading.Event()
    first, *rest = model_server.EVENTS["chat"]

    def slowly(connection):
        connection.sendall(model_server.stream(first))
        goes_on.wait(harness.DEADLINE)
        connection.sendall("".join(rest).encode())
        return True

    def never(connection):
        connection.sendall(model_server.stream(first))
        return hanging(ended)(connection)

    with model_server.Server(slowly, never) as server:
        page = modelled(served_by(server, streams=True)).open("chat")
        settle(page)
        log, field = page.get_by_role("log", name="Conversation"), page.get_by_role("textbox", name="Message")
        field.fill("Greet me")
        page.keyboard.press("Enter")
        expect(log.get_by_text("Hel", exact=True)).to_be_visible()
        goes_on.set()
        expect(log.get_by_text("Hello", exact=True)).to_be_visible()
        field.fill("Once more")
        page.keyboard.press("Enter")
        expect(log.get_by_text("Hel", exact=True)).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        expect(log).to_contain_text("Stopped.")
        expect(log.get_by_text("Hel", exact=True)).to_be_visible()
        assert ended.wait(harness.DEADLINE), "the model still writes"


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
    page.set_viewport_size(windows.NARROW)
    settle(page)
    assert windows.overflow(page) == []
