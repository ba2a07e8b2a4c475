# SPDX-License-Identifier: Apache-2.0
"""The daemon goes away, comes back, or is another one: the page says so, goes on, and loses nothing."""
import re

import pytest

import world
from notebook import Notebook
from windows import expect, settle

GONE = "The daemon does not answer"


@pytest.fixture
def window(new_window, own_served):
    window = new_window(own_served)
    window.sign_in_as_account(own_served.adder)
    window.expect_problem(r"failed request: .*net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|NETWORK_CHANGED)")
    window.expect_problem(r"console error: Failed to load resource: net::ERR_")
    window.expect_problem(r"console error: Failed to load resource: .*(404|410|503)")  # sessions that ended with the daemon
    return window


def restart(served):
    served.stop()
    served.start()


def test_a_restart_in_the_middle(page, window, own_served):
    """The cookie still counts. The sessions are gone, as the page says; what it showed and what was typed is there."""
    book = Notebook(page).new_session()
    book.run("x = 6 * 7\nprint('the answer is', x)")
    book.set_last("unsent = 'typed before the restart'")
    own_served.stop()
    expect(page.get_by_text(GONE)).to_be_visible()
    expect(book.output(1)).to_contain_text("the answer is 42")
    own_served.start()
    expect(page.get_by_text(GONE)).to_have_count(0)
    expect(page.get_by_label("Token")).to_have_count(0)
    expect(page.get_by_text("This session has ended")).to_be_visible()
    expect(book.output(1)).to_contain_text("the answer is 42")
    expect(book.cell(2)).to_contain_text("typed before the restart")
    page.get_by_role("button", name="Start a new session and run all again").click()
    expect(page.get_by_text("This session has ended")).to_have_count(0)
    book.wait_idle()
    expect(book.output(1)).to_contain_text("the answer is 42")
    expect(book.cell(2)).to_contain_text("typed before the restart")


def test_a_restart_while_a_cell_runs(page, window, own_served):
    book = Notebook(page).new_session()
    book.set_last("print('it runs', flush=True)\nimport time\nwhile True: time.sleep(1)").run_last()
    expect(book.output(1)).to_contain_text("it runs")
    restart(own_served)
    expect(page.get_by_text("This session has ended")).to_be_visible()
    expect(book.cell(1)).to_contain_text("it runs")
    book.wait_idle()


def test_a_reload_after_a_restart_shows_the_notebook(page, window, own_served):
    """From what the browser keeps."""
    book = Notebook(page).new_session()
    book.run("print('kept by the browser')")
    settle(page)
    restart(own_served)
    page.reload()
    expect(page.get_by_role("main")).to_contain_text("kept by the browser")


@pytest.mark.parametrize("view", ["runs", "approvals", "branches", "daemon/sessions"])
def test_views_catch_up(page, window, own_served, view):
    """What happened while the page heard nothing is on it afterwards."""
    page.goto(f"/#/{view}")
    settle(page)
    restart(own_served)
    expect(page.get_by_text(GONE)).to_have_count(0)
    name = "caught-up"
    session = world.made(own_served.adder, "session", "new", "--name", name)["session_id"]
    world.cell(own_served.adder, session, "'caught up'")
    if view == "approvals":
        world.configuration(own_served.adder)
        own_served.adder.run("'caught up'", "--profile", "careful", "--description", name)
    expect(page.get_by_role("main")).to_contain_text(re.compile("caught.up"))


def test_another_version_is_noticed(page, window):
    """The page is of the version that served it."""
    window.open("runs")
    page.route("**/v1/caller", lambda route: route.fulfill(json={**route.fetch().json(), "version": "999.0"}))
    page.reload()
    expect(page.get_by_role("button", name="Load the new page")).to_be_visible()
