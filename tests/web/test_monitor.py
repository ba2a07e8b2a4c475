# SPDX-License-Identifier: Apache-2.0
"""What the daemon does, and what can be done with it: runs, statistics, tools, tokens."""
import re

import pytest

import harness
import windows
import world
from windows import expect, settle

SCIENCE = False


def test_runs_arrive_live_and_are_filtered(page, window, served):
    page.goto("/#/runs")
    settle(page)
    word = harness.unique()
    run = served.adder.run(f"raise ValueError('{word}')").run_id
    page.get_by_label("Code contains").fill(word)
    found = page.get_by_role("main").get_by_role("link", name=re.compile(word))
    expect(found.first).to_be_visible()
    page.get_by_label("Outcome").select_option("ok")
    expect(found).to_have_count(0)
    page.get_by_label("Outcome").select_option("error")
    found.first.click()
    page.wait_for_url(f"**/#/runs/{run}")
    expect(page.get_by_role("region", name="Code")).to_contain_text(word)
    expect(page.get_by_role("main")).to_contain_text("ValueError")


@pytest.fixture
def waiting(served):
    """A run in the foreground, with its word in its code, and its id. It ends when it is cancelled."""
    word = harness.unique()
    process = served.adder.start(f"print('{word}', flush=True); import time; time.sleep(600)", "--timeout", "10m")
    assert process.stdout.readline().decode().strip() == word
    (run,) = (each["run_id"] for each in served.get("/v1/runs?owner=all").json()["runs"] if word in each["code"])
    yield word, run
    served.ask("DELETE", f"/v1/runs/{run}?owner=all")
    assert process.wait(harness.DEADLINE) == 130
    process.stdout.close()
    process.stderr.close()


def outcome(page):
    return page.get_by_role("main").get_by_role("status").first


def test_a_run_is_shown_and_cancelled(page, waiting):
    """It began before the page did. What it writes goes to the command line."""
    word, _ = waiting
    page.goto("/#/runs")
    page.get_by_role("main").get_by_role("link", name=re.compile(word)).click()
    expect(page.get_by_role("region", name="Output")).to_contain_text("goes to the program that began it")
    expect(page.get_by_role("region", name="code")).to_contain_text(word)
    page.get_by_role("button", name="Cancel the run").click()
    expect(outcome(page)).to_contain_text(re.compile("cancelled", re.I))


def test_a_run_in_the_background_is_followed(page, served):
    run = served.post("/v1/runs", {"code": "print('first', flush=True); input_ = __import__('time').sleep(600)", "background": True})
    page.goto(f"/#/runs/{run.json()['run_id']}")
    expect(page.get_by_role("log", name="Output so far")).to_contain_text("first")
    page.get_by_role("button", name="Cancel the run").click()
    expect(outcome(page)).to_contain_text(re.compile("cancelled", re.I))
    expect(page.get_by_role("region", name="Output")).to_contain_text("first")


def test_an_end_is_shown_although_the_request_for_it_fails(page, window, served, waiting):
    window.expect_problem("429")
    _, run = waiting
    page.goto(f"/#/runs/{run}")
    expect(outcome(page)).to_contain_text("running")
    page.route(f"**/v1/runs/{run}*", lambda route: route.fulfill(status=429, json={"title": "busy"}))
    served.ask("DELETE", f"/v1/runs/{run}?owner=all")
    expect(outcome(page)).to_contain_text(re.compile("cancelled", re.I))
    page.unroute(f"**/v1/runs/{run}*")
    expect(page.get_by_role("region", name="Details")).to_contain_text("digest")  # of the record, which is asked for again


def test_a_run_that_ends_while_the_list_is_loaded_does_not_stay(page, served, waiting):
    """The answer comes after the event, and has the run as it was before."""
    word, run = waiting
    with page.expect_request(re.compile(r"/v1/events\?.*after=")):
        page.goto("/#/tokens")  # what the page loads when it begins to listen, it has loaded
    held = []
    page.route(re.compile(r"/v1/runs(\?|$)"), lambda route: held.append((route, served.get("/v1/runs?owner=all").json()["runs"])))
    page.goto("/#/runs")
    row = page.get_by_role("row").filter(has_text=word)
    harness.wait_until(lambda: page.evaluate("1") and held, "the request for the runs under way")
    served.ask("DELETE", f"/v1/runs/{run}?owner=all")
    expect(row).to_contain_text(re.compile("cancelled", re.I))
    ((route, listed),) = held
    marker = {**next(each for each in listed if each["run_id"] == run), "run_id": "marker", "code": "marker"}
    route.fulfill(json={"runs": [*listed, marker]})
    expect(page.get_by_role("row").filter(has_text="marker")).to_have_count(1)
    expect(row).to_have_count(1)


def test_statistics(page, window, seen):
    page.goto("/#/runs/statistics")
    settle(page)
    assert not windows.axe_violations(page)


def test_an_ordinary_user_sees_their_own_runs_alone(user_window, served):
    theirs = harness.unique()
    served.adder.run(f"'{theirs}'")
    window = user_window()
    page = window.open("runs")
    settle(page)
    expect(page.get_by_role("main")).not_to_contain_text(theirs)
    expect(page.get_by_label("Owner")).to_have_count(0)


def test_sessions_are_listed_with_their_memory(page, window, served):
    name = harness.unique()
    session = world.made(served.adder, "session", "new", "--name", name)["session_id"]
    page.goto("/#/daemon/sessions")
    expect(page.get_by_role("main")).to_contain_text(name)
    served.adder.call("session", "rm", session)


def test_a_tool_is_tried(page, window):
    """With the form that its schema makes."""
    page.goto("/#/tools/run_python")
    settle(page)
    if page.get_by_role("form", name="Arguments of run_python").count() == 0:
        page.get_by_role("navigation", name="Tools").get_by_role("link").first.click()
    form = page.get_by_role("form", name=re.compile("Arguments of"))
    expect(form).to_be_visible()
    form.get_by_label("code").first.fill("print(6 * 7)")
    form.get_by_role("button", name=re.compile("Call|Run|Try")).click()
    expect(page.get_by_role("region", name="Reply")).to_contain_text("42")
    assert not windows.axe_violations(page)


def test_a_token_is_made_used_and_revoked(page, window, served, new_window):
    """The secret is shown once. Who has it is signed in until it is revoked."""
    name = harness.unique()
    page.goto("/#/tokens")
    settle(page)
    page.get_by_role("button", name="New token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name, for instance").fill(name)
    dialog.get_by_role("button", name="Make the token").click()
    shown = page.get_by_role("dialog", name=f"The token {name}")
    secret = shown.get_by_label("Secret", exact=True).inner_text().strip()
    assert secret.startswith("adder_") and served.get("/v1/caller", secret=secret).json()["role"] == "user"
    assert not windows.axe_violations(page)
    page.keyboard.press("Escape")
    expect(shown).to_have_count(0)
    assert secret not in page.content()
    page.get_by_role("button", name=f"Revoke {name}").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("Revoke")).click()
    expect(page.get_by_role("button", name=f"Revoke {name}")).to_have_count(0)
    assert served.get("/v1/caller", secret=secret).status == 401


def test_a_user_makes_no_tokens(user_window):
    page = user_window().open("tokens")
    settle(page)
    expect(page.get_by_role("button", name="New token")).to_have_count(0)
