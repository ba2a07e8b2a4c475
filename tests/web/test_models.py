# SPDX-License-Identifier: Apache-2.0
"""Asking about tables and chatting, with a model whose answers are a script; and what the page says without a model."""
import json
import re

import pytest

import conftest
import harness
import windows
import world
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
    call("submit_code", code="result = int(sales['revenue'].sum())"),
    {"answer": {"text": "The revenue is 460."}},
]
CHATTED = [
    call("run_python", ["six times seven"], code="print(6 * 7)"),
    {"ask": {"contains": ["42"]}, "answer": {"text": "It is **42**, <img src=x onerror=hacked=1> as computed."}},
]


@pytest.fixture
def modelled(make_adder, new_window):
    """Makes a window of the local account at a daemon whose model gives ANSWERS."""
    daemons = []

    def make(answers):
        adder = make_adder()
        world.configuration(adder)  # its profile
        path = adder.directory / "answers.jsonl"
        path.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        adder.own(path)
        daemons.append(conftest.serve(adder, f"[models]\nfor_tools = replay:{path}\n" if answers else ""))
        window = new_window(daemons[-1])
        window.page.goto(windows.opened(adder))
        window.page.get_by_role("navigation", name="Views").wait_for()
        window.served = daemons[-1]
        return window

    yield make
    for daemon in daemons:
        daemon.stop()


def drop(page, name, text):
    page.locator("main input[type=file]").first.set_input_files({"name": name, "mimeType": "text/csv", "buffer": text.encode()})


def test_a_question_about_a_table(modelled):
    window = modelled(ASKED)
    if window.served.adder.environment != "science":
        harness.skip_without("science")
    page = window.open("ask")
    settle(page)
    drop(page, "sales.csv", CSV)
    page.get_by_role("textbox", name="Question").fill("What is the revenue?")
    page.keyboard.press("Enter")
    answer = page.get_by_role("article", name="What is the revenue?")
    expect(answer).to_contain_text("The revenue is 460.")
    expect(answer.get_by_role("region", name="Code")).to_contain_text("sales['revenue'].sum()")
    settle(page)
    assert not windows.axe_violations(page)


def test_a_chat_with_tools(modelled):
    window = modelled(CHATTED)
    page = window.open("chat")
    settle(page)
    page.get_by_role("textbox", name="Message").fill("What is six times seven?")
    page.keyboard.press("Enter")
    log = page.get_by_role("log", name="Conversation")
    expect(log).to_contain_text("It is 42")
    assert log.locator("img").count() == 0
    settle(page)
    assert not windows.axe_violations(page)


@pytest.mark.parametrize("view, what", [("ask", "Asking"), ("chat", "Chatting")])
def test_without_a_model_the_page_says_how_to_configure_one(modelled, view, what):
    page = modelled([]).open(view)
    settle(page)
    expect(page.get_by_role("heading", name=re.compile(f"{what} needs a language model"))).to_be_visible()
    expect(page.get_by_role("region", name="How to configure a model")).to_contain_text("for_tools")
    expect(page.get_by_role("textbox", name=re.compile("Question|Message"))).to_have_count(0)
    assert not windows.axe_violations(page)
