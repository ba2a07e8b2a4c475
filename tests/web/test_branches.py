# SPDX-License-Identifier: Apache-2.0
"""The branches of live sessions: what the graph shows, and what can be done through it."""
import re

import pytest

import harness
import world
from windows import expect, settle

GRAPH = "Cells, checkpoints and branches"


@pytest.fixture
def session(served):
    """One with two cells and a checkpoint between them."""
    session = world.made(served.adder, "session", "new", "--name", harness.unique(), "--env", served.adder.environment)
    world.cell(served.adder, session["session_id"], "x = 1; log = ['first']")
    world.made(served.adder, "session", "checkpoint", session["session_id"], "safe")
    world.cell(served.adder, session["session_id"], "x = 2; log.append('second'); extra = 'new'")
    yield session
    ended = [one["session_id"] for one in world.made(served.adder, "session", "list")["sessions"]]
    served.adder.call("session", "rm", *ended)


def value_of(served, session, code):
    return world.cell(served.adder, session, code).text


def shown(window, session):
    page = window.open(f"branches/{session['session_id']}")
    expect(page.get_by_role("listbox", name=GRAPH)).to_be_visible()
    settle(page)
    return page


def node(page, name):
    return page.get_by_role("listbox", name=GRAPH).get_by_role("option", name=name)


@pytest.mark.quick
def test_the_graph_shows_cells_and_checkpoints(page, window, session):
    shown(window, session)
    expect(node(page, "Cell 1 of")).to_be_visible()
    expect(node(page, "Cell 2 of")).to_be_visible()
    node(page, "Checkpoint safe").click()
    expect(page.get_by_text("after cell 1").first).to_be_visible()
    node(page, "Cell 2 of").click()
    expect(page.get_by_role("main").get_by_text("log.append('second')").first).to_be_visible()


def test_back_to_a_checkpoint(page, window, served, session):
    shown(window, session)
    node(page, "Checkpoint safe").click()
    page.get_by_role("button", name="Roll back").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Roll back").click()
    expect(dialog).to_have_count(0)
    assert value_of(served, session["session_id"], "x, log, 'extra' in globals()") == "(1, ['first'], False)"


def test_branches_from_a_checkpoint(page, window, served, session):
    """Each goes its own way, and the session stays as it is."""
    shown(window, session)
    node(page, "Checkpoint safe").click()
    page.get_by_role("button", name="Branch").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("How many").fill("2")
    dialog.get_by_role("button", name="Make 2 branches").click()
    expect(dialog).to_have_count(0)
    expect(node(page, "now")).to_have_count(3)
    made = [one for one in world.made(served.adder, "session", "list")["sessions"] if one["parent"] == session["session_id"]]
    assert len(made) == 2
    for one in made:
        assert value_of(served, one["session_id"], "x, log") == "(1, ['first'])"
    assert value_of(served, session["session_id"], "x, log") == "(2, ['first', 'second'])"


def test_what_others_do_appears(page, window, served, session):
    """The graph follows what happens at the daemon."""
    shown(window, session)
    world.cell(served.adder, session["session_id"], "third = 3")
    expect(node(page, "Cell 3 of")).to_be_visible()
    world.made(served.adder, "session", "branch", session["session_id"])
    expect(node(page, "now")).to_have_count(2)


def test_names_and_checkpoints(page, window, served, session):
    shown(window, session)
    page.get_by_role("button", name="Checkpoint").first.click()
    page.get_by_role("dialog").get_by_label("Name").fill("after-two")
    page.get_by_role("dialog").get_by_role("button", name="Make the checkpoint").click()
    expect(node(page, "Checkpoint after-two")).to_be_visible()
    node(page, "Checkpoint after-two").click()
    page.get_by_role("button", name="Delete this checkpoint").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the checkpoint").click()
    expect(node(page, "Checkpoint after-two")).to_have_count(0)
    assert [each["name"] for each in world.made(served.adder, "session", "show", session["session_id"])["checkpoints"]] == ["safe"]


def test_by_keys_alone(page, window, session):
    """The graph has one stop of the Tab key; arrows lead through it."""
    shown(window, session)
    node(page, "now").focus()
    selected = page.get_by_role("listbox", name=GRAPH).get_by_role("option", selected=True)
    page.keyboard.press("ArrowLeft")
    expect(selected).to_have_accessible_name(re.compile("Cell 2 of"))
    page.keyboard.press("ArrowLeft")
    expect(selected).to_have_accessible_name(re.compile("Checkpoint safe|Cell 1 of"))


def test_two_branches_are_compared(page, window, served, session):
    (branch,) = world.made(served.adder, "session", "branch", session["session_id"], "--from", "safe")["sessions"]
    world.cell(served.adder, branch["session_id"], "x = 10; only_branch = 1")
    page = window.open(f"branches/{session['session_id']}/{branch['session_id']}")
    compared = page.get_by_role("region", name="Comparison")
    expect(compared).to_be_visible()
    expect(compared.get_by_text("only_branch").first).to_be_visible()
    expect(compared.get_by_text("extra").first).to_be_visible()
    expect(compared.get_by_role("group", name="Variables that differ").get_by_text("log").first).to_be_visible()
    settle(page)
