# SPDX-License-Identifier: Apache-2.0
"""The branches of live sessions: what the graph shows, and what can be done through it."""
import re

import pytest

import harness
import windows
import world
from windows import expect, settle

pytestmark = pytest.mark.usefixtures("no_sessions")
GRAPH = "Cells, checkpoints and branches"


@pytest.fixture
def session(served):
    """One with two cells and a checkpoint between them."""
    session = world.made(served.adder, "session", "new", "--name", harness.unique(), "--env", served.adder.environment)
    world.cell(served.adder, session["session_id"], "x = 1; log = ['first']")
    world.made(served.adder, "session", "checkpoint", session["session_id"], "safe")
    world.cell(served.adder, session["session_id"], "x = 2; log.append('second'); extra = 'new'")
    return session


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


# ---- tables and charts ----

SALES = """import pandas as pd
sales = pd.DataFrame({"shop": ["north", "south", "west"] * 40, "units": [float(day) for day in range(120)]})
rate, notes, unchanged = 1.0, ["begun"], "the same"
"""
CHART = """import matplotlib.pyplot as plt
sales.groupby("shop").units.sum().plot.bar(title=f"Units at {rate}")
plt.show()
"""
CHANGES = (
    "sales.loc[3, 'units'] = -1.0; rate = 1.5; notes.append('A'); only_a = [1]\n" + CHART,
    "sales['tax'] = 0.19; rate = 2.5; notes.append('B'); only_b = lambda: 1\n" + CHART,
)


@pytest.fixture
def pair(served):
    """Two branches, in which a table, a number and a list differ, and each of which ends with a chart."""
    if served.adder.environment != "science":
        pytest.skip("this host has no environment with pandas and matplotlib (science)")
    root = world.made(served.adder, "session", "new", "--name", harness.unique(), "--env", "science")["session_id"]
    world.cell(served.adder, root, SALES)
    world.made(served.adder, "session", "checkpoint", root, "loaded")
    branches = [one["session_id"] for one in world.made(served.adder, "session", "branch", root, "-n", "2", "--from", "loaded")["sessions"]]
    for branch, code in zip(branches, CHANGES):
        assert world.cell(served.adder, branch, code).outcome == "ok"
    return branches


def compared(window, pair):
    page = window.open("branches/" + "/".join(pair))
    region = page.get_by_role("region", name="Comparison")
    expect(region.get_by_role("group", name="sales in B")).to_be_visible()
    expect(region.get_by_role("img")).to_have_count(2)
    settle(page)
    return page, region


def test_tables_and_charts_side_by_side(window, pair):
    page, region = compared(window, pair)
    values = region.get_by_role("group", name="Variables that differ")
    for name, here, there in (("rate", "1.5", "2.5"), ("notes", "'A'", "'B'")):
        row = values.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name))
        expect(row.get_by_role("cell").nth(0)).to_contain_text(here)
        expect(row.get_by_role("cell").nth(1)).to_contain_text(there)
    expect(values).not_to_contain_text("unchanged")
    expect(region).to_contain_text("only_a")
    expect(region).to_contain_text("only_b")
    left, right = (region.get_by_role("group", name=f"sales in {side}") for side in "AB")
    expect(left.get_by_role("row")).to_have_count(51)
    expect(right.get_by_role("columnheader", name="tax")).to_be_visible()
    expect(left.get_by_role("columnheader", name="tax")).to_have_count(0)
    expect(left.get_by_role("cell", name="-1 (differs)")).to_be_visible()
    region.get_by_role("button", name="Next").click()
    expect(region.get_by_text("Rows 51–100 of 120")).to_be_visible()
    expect(left.get_by_role("rowheader", name="50", exact=True)).to_be_visible()


def test_axe_reports_nothing_of_the_view(admin_window, session, pair):
    """Wide and narrow, with the dialogs and a comparison."""
    for size in (windows.DESKTOP, windows.PHONE):
        window = admin_window(viewport=size)
        page = shown(window, session)
        found = windows.axe_violations_in_both_schemes(page)
        node(page, "Checkpoint safe").click()
        for key in "br":
            page.keyboard.press(key)
            page.get_by_role("dialog").wait_for()
            found += windows.axe_violations_in_both_schemes(page)
            page.keyboard.press("Escape")
        page.get_by_role("button", name="What is this?").click()
        found += windows.axe_violations_in_both_schemes(page)
        page.keyboard.press("Escape")
        compared(window, pair)
        found += windows.axe_violations_in_both_schemes(page)
        assert not found, "\n".join(found)


def test_it_fits_320_pixels(admin_window, session, pair):
    window = admin_window(viewport=windows.NARROW)
    page = shown(window, session)
    assert windows.overflow(page) == []
    node(page, "Checkpoint safe").click()
    assert windows.overflow(page) == []
    page.get_by_role("button", name="Branch from here").click()
    page.get_by_role("dialog").wait_for()
    assert windows.overflow(page) == []
    page.keyboard.press("Escape")
    compared(window, pair)
    assert windows.overflow(page) == []


def test_a_branch_and_the_way_back_by_keys_alone(page, window, served, session):
    """From the checkpoint: a branch with a name, the comparison, and the rollback of the first session."""
    shown(window, session)
    selected = page.get_by_role("listbox", name=GRAPH).get_by_role("option", selected=True)
    page.keyboard.press("ArrowLeft")  # the graph gets the focus
    page.keyboard.press("ArrowLeft")
    expect(selected).to_have_accessible_name(re.compile("Cell 2 of"))
    page.keyboard.press("ArrowLeft")
    expect(selected).to_have_accessible_name(re.compile("Checkpoint safe"))
    page.keyboard.press("b")
    name = harness.unique()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(selected).to_have_accessible_name(re.compile(f"^{name} now"))
    page.keyboard.press("=")
    expect(page.get_by_role("region", name="Comparison")).to_be_visible()
    (made,) = [one for one in world.made(served.adder, "session", "list")["sessions"] if one["name"] == name]
    assert value_of(served, made["session_id"], "x, log") == "(1, ['first'])"
    page.goto(f"/#/branches/{session['session_id']}")
    expect(selected).to_have_accessible_name(re.compile(f"^{session['name']} now"))
    node(page, f"{session['name']} now").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(selected).to_have_accessible_name(re.compile("Checkpoint safe"))
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert value_of(served, session["session_id"], "x, log, 'extra' in globals()") == "(1, ['first'], False)"
