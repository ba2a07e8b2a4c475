# SPDX-License-Identifier: Apache-2.0
"""Every view with something in it: what axe says, whether it fits a narrow window, whether the keyboard reaches all of it."""
import pytest

import windows

ADMIN_ONLY = {"tokens"}
VIEWS = {
    "notebook": lambda seen: "notebook",
    "a session": lambda seen: f"notebook/{seen.session}",
    "branches": lambda seen: "branches",
    "branches of a session": lambda seen: f"branches/{seen.session}",
    "approvals": lambda seen: "approvals",
    "an approval": lambda seen: f"approvals/{seen.approval}",
    "a review": lambda seen: f"approvals/{seen.review}",
    "runs": lambda seen: "runs",
    "a run": lambda seen: f"runs/{seen.runs[1]}",
    "daemon": lambda seen: "daemon",
    "tools": lambda seen: "tools",
    "tokens": lambda seen: "tokens",
    "ask": lambda seen: "ask",
    "chat": lambda seen: "chat",
    "an address that leads nowhere": lambda seen: "nowhere",
}
every_view = pytest.mark.parametrize("view", VIEWS)


def show(window, seen, view):
    page = window.open(VIEWS[view](seen))
    windows.settle(page)
    return page


@every_view
def test_a_wide_window(page, window, seen, view):
    """axe reports nothing, and the Tab key reaches everything."""
    show(window, seen, view)
    faults = windows.axe_violations_in_both_schemes(page) + windows.walk(page)
    assert not faults, "\n".join(faults)


@every_view
def test_a_narrow_window(admin_window, seen, view):
    """At 320 px axe reports nothing, and nothing is beyond the edge."""
    page = show(admin_window(viewport=windows.NARROW), seen, view)
    faults = windows.overflow(page) + windows.axe_violations_in_both_schemes(page)
    assert not faults, "\n".join(faults)


def test_no_view_complains(page, window, seen):
    """One after the other in one window: what one keeps in the browser, or leaves behind, breaks no other."""
    for view in VIEWS:
        show(window, seen, view)
        if view not in ("notebook", "a session", "branches", "branches of a session", "a run"):  # which show an error of the code
            assert page.get_by_role("alert").all_inner_texts() == [], view


@pytest.mark.parametrize("view", ["notebook", "branches", "approvals", "runs", "daemon", "tools", "ask", "chat"])
def test_an_ordinary_user_sees_it(user_window, seen, view):
    """Without anything of others, and without an error."""
    page = user_window().open(view)
    windows.settle(page)
    assert "quarterly" not in page.get_by_role("main").inner_text()


def test_views_have_keys_and_a_list_of_them(page, window):
    windows.settle(window.open())
    for key, title in (("b", "Branches"), ("a", "Approvals"), ("r", "Runs"), ("d", "Daemon"), ("t", "Tools"), ("n", "Notebook")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"**/#/{title.lower()}**")  # the notebook names its session at once
        windows.settle(page)
    page.keyboard.press("Shift+?")
    shown = page.get_by_role("dialog", name="Keyboard shortcuts")
    shown.wait_for()
    assert not windows.axe_violations(page)
    page.keyboard.press("Escape")
    shown.wait_for(state="detached")


def test_the_first_view_is_small(new_window, own_served):
    """Compressed script until the first view stands: 150 kB at most. Without a session there is no cell, and no editor is loaded."""
    window, sizes = new_window(own_served), {}
    window.context.on("requestfinished", lambda request: sizes.update({request.url: request}) if request.resource_type == "script" else None)
    window.page.goto(windows.opened(own_served.adder))
    window.page.get_by_role("navigation", name="Views").wait_for()
    windows.settle(window.page)
    bodies = {url: request.sizes()["responseBodySize"] for url, request in sizes.items()}
    assert bodies and sum(bodies.values()) < 150_000, bodies
