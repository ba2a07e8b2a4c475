# SPDX-License-Identifier: Apache-2.0
"""The inbox: code and changes of directories that wait for a person, seen in one window while another asks."""
import re

import pytest

import harness
import windows
import world
from notebook import Notebook
from windows import expect, settle

SCIENCE = False


def detail(page):
    return page.get_by_role("article", name="The request")


def ask(adder, code, *options, profile="careful"):
    """The id of the approval that CODE waits for."""
    result = adder.run(code, "--profile", profile, *options)
    assert result.outcome == "approval_required", result
    return result.approval_id


def show(page, approval):
    page.goto(f"/#/approvals/{approval}")
    detail(page).get_by_role("button", name="Approve").wait_for()


def state_of(adder, approval):
    listed = world.made(adder, "approval", "list")["approvals"]
    return next((each for each in listed if each["approval_id"] == approval), {"state": "gone"})


@pytest.mark.quick
def test_it_arrives_live_and_is_approved(page, window, served):
    """The count in the title and in the navigation grows without a reload; the code then runs once."""
    page.goto("/#/approvals")
    settle(page)
    purpose, code = harness.unique(), f"print('{harness.unique()}')"
    approval = ask(served.adder, code, "--description", purpose)
    row = page.get_by_role("navigation", name="Approvals and reviews").get_by_role("link", name=re.compile(purpose))
    expect(row).to_be_visible()
    expect(page).to_have_title(re.compile(r"^\(\d+\) "))
    row.click()
    expect(detail(page).get_by_role("heading", name=purpose)).to_be_visible()
    expect(detail(page)).to_contain_text(code)
    expect(detail(page).get_by_role("region", name="Access")).to_be_visible()
    assert not windows.axe_violations(page)
    detail(page).get_by_role("button", name="Approve").click()
    expect(detail(page).get_by_role("status")).to_contain_text("Approved by")
    assert state_of(served.adder, approval)["state"] == "approved"
    assert served.adder.run(code, "--profile", "careful", "--description", purpose, "--approval", approval).outcome == "ok"


def test_a_denial_has_a_reason(page, window, served):
    approval = ask(served.adder, f"print('{harness.unique()}')")
    page.goto(f"/#/approvals/{approval}")
    detail(page).get_by_role("button", name="Deny…").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("use the copy")
    page.get_by_role("dialog").get_by_role("button", name="Deny").click()
    expect(detail(page).get_by_role("status")).to_contain_text("use the copy")
    denied = state_of(served.adder, approval)
    assert (denied["state"], denied["reason"]) == ("denied", "use the copy")


def test_by_keys_alone(page, window, served):
    approval = ask(served.adder, f"print('{harness.unique()}')")
    page.goto(f"/#/approvals/{approval}")
    detail(page).get_by_role("button", name="Approve").wait_for()
    page.keyboard.press("n")
    page.keyboard.type("not now")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(detail(page).get_by_role("status")).to_contain_text("not now")
    second = ask(served.adder, f"print('{harness.unique()}')")
    page.goto(f"/#/approvals/{second}")
    detail(page).get_by_role("button", name="Approve").wait_for()
    page.keyboard.press("y")
    page.keyboard.press("Enter")
    expect(detail(page).get_by_role("status")).to_contain_text("Approved")
    assert [state_of(served.adder, one)["state"] for one in (approval, second)] == ["denied", "approved"]


def test_hidden_characters_are_made_visible(page, window, served):
    """A text that runs backwards, or that nobody sees, cannot hide in what is approved."""
    approval = ask(served.adder, "access = 'user\u202e\u2066# checked\u2069\u2066'\nzero\u200bwidth = 1\n\u0430 = 'a Cyrillic letter'")
    page.goto(f"/#/approvals/{approval}")
    code = detail(page).get_by_role("region", name="Code")
    expect(code).to_contain_text(re.compile("U\\+202E|RLO|202E", re.I))
    text = code.inner_text()
    assert not set(text) & set("\u202e\u2066\u2069\u200b"), ascii(text)


def test_a_second_window_decides(page, window, admin_window, served):
    """Both show the decision; the first cannot decide again."""
    approval = ask(served.adder, f"print('{harness.unique()}')")
    other = admin_window().page
    for each in (page, other):
        each.goto(f"/#/approvals/{approval}")
        detail(each).get_by_role("button", name="Approve").wait_for()
    detail(other).get_by_role("button", name="Approve").click()
    expect(detail(page).get_by_role("status")).to_contain_text("Approved")
    expect(detail(page).get_by_role("button", name="Approve")).to_have_count(0)


@pytest.mark.usefixtures("no_sessions")
def test_a_cell_waits_for_the_other_window(page, window, admin_window, served):
    """A cell of a careful session asks; somebody approves it in another window; it runs."""
    session = world.made(served.adder, "session", "new", "--profile", "careful")["session_id"]
    book = Notebook(page).show(session)
    book.set_last("print('after the yes')").run_last()
    expect(page.get_by_role("main")).to_contain_text(re.compile("approv", re.I))
    other = admin_window().page
    other.goto("/#/approvals")
    waiting = other.get_by_role("navigation", name="Approvals and reviews").get_by_role("link")
    waiting.first.click()
    expect(detail(other)).to_contain_text("after the yes")
    detail(other).get_by_role("button", name="Approve").click()
    expect(detail(other).get_by_role("status")).to_contain_text("Approved")
    expect(page.get_by_role("main")).to_contain_text(re.compile("approved", re.I))
    page.get_by_role("button", name="Run the cell").click()
    expect(book.output(1)).to_contain_text("after the yes")


@pytest.mark.parametrize("first, second", [("approve", "deny"), ("deny", "approve")])
def test_the_first_of_two_decisions_stays(page, window, served, first, second):
    """Another window decides after this one looked for the last time: this one shows the other's decision."""
    approval = ask(served.adder, f"print('{harness.unique()}')")
    show(page, approval)

    def decide_first(route):
        world.made(served.adder, "approval", first, approval)
        route.continue_()

    page.route(f"**/approvals/{approval}/{second}", decide_first)
    window.expect_problem(f"409 .*/approvals/{approval}/{second}")
    page.keyboard.press("y" if second == "approve" else "n")
    page.get_by_role("dialog").get_by_role("button", name=second.capitalize(), exact=True).click()
    state = {"approve": "approved", "deny": "denied"}[first]
    expect(detail(page).get_by_role("status")).to_contain_text(f"{state.capitalize()} by")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert state_of(served.adder, approval)["state"] == state


def test_always_for_a_conversation(page, window, served):
    """What it asks for later in the same place runs at once; what others ask for does not."""
    conversation = harness.unique()
    show(page, ask(served.adder, f"print('{harness.unique()}')", "--conversation", conversation))
    detail(page).get_by_label(f"Always allow for conversation {conversation}").check()
    assert not windows.axe_violations(page)
    detail(page).get_by_role("button", name="Approve").click()
    expect(detail(page).get_by_role("status")).to_contain_text("Approved by")
    code = f"print('{harness.unique()}')"
    assert served.adder.run(code, "--profile", "careful", "--conversation", conversation).outcome == "ok"
    ask(served.adder, code, "--conversation", harness.unique())


def test_without_a_conversation_there_is_no_always(page, window, served):
    show(page, ask(served.adder, f"print('{harness.unique()}')"))
    expect(detail(page).get_by_role("checkbox")).to_have_count(0)


def test_what_arrives_does_not_take_the_place_of_what_is_shown(page, window, served):
    """Nobody should approve what came under their hand."""
    purpose = harness.unique()
    ask(served.adder, f"print('{harness.unique()}')", "--description", purpose)
    page.goto("/#/approvals")
    expect(detail(page).get_by_role("heading", name=purpose)).to_be_visible()
    later = harness.unique()
    ask(served.adder, f"print('{harness.unique()}')", "--description", later)
    expect(page.get_by_role("navigation", name="Approvals and reviews").get_by_role("link", name=re.compile(later))).to_be_visible()
    expect(detail(page).get_by_role("heading", name=purpose)).to_be_visible()


def test_an_admin_decides_for_a_token_that_may_not(page, window, new_window, served):
    """Who asked over HTTP sees what waits, and why they cannot decide; then who decided."""
    secret, code = served.token(harness.unique(), "--role", "user"), f"print('{harness.unique()}')"
    approval = served.run(code, secret=secret, profile="careful")["approval_id"]
    asker = new_window(served)
    asker.sign_in(secret)
    asker.open(f"approvals/{approval}")
    expect(detail(asker.page)).to_contain_text(code)
    expect(detail(asker.page)).to_contain_text("may look at this, but not decide")
    expect(detail(asker.page).get_by_role("button", name=re.compile("Approve|Deny"))).to_have_count(0)
    asker.page.keyboard.press("y")
    expect(asker.page.get_by_role("dialog")).to_have_count(0)
    show(page, approval)
    detail(page).get_by_role("button", name="Approve").click()
    for each in (page, asker.page):
        expect(detail(each).get_by_role("status")).to_contain_text("Approved by uid:")
    used = served.run(code, secret=secret, profile="careful", approval=approval)
    assert used["outcome"] == "ok" and used["stdout"]
    for each in (page, asker.page):  # it is used up, and stays in sight
        expect(detail(each)).to_contain_text(code)
        each.reload()
        expect(each.get_by_text("This request is gone.")).to_be_visible()


def test_an_ordinary_user_may_look_at_their_own_and_decide_nothing(user_window, served):
    window = user_window()
    page = window.open("approvals")
    settle(page)
    ask(served.adder, f"print('{harness.unique()}')")  # of the local account
    expect(page.get_by_text("Nothing waits for a decision.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


# ---- changes of a directory ----


@pytest.fixture
def folder(served):
    name = harness.unique()
    for file, text in (("report.md", world.REPORT), ("old.txt", "obsolete\n")):
        served.adder.file(f"{name}/{file}", text)
    return served.adder.own(served.adder.scratch / name)


def review(served, folder):
    result = served.adder.run(world.CHANGE, "--workdir", folder, "--review", "--description", "Publish")
    assert result.outcome == "approval_required"
    return result.approval_id


def test_a_review_shows_the_diff_and_makes_the_changes(page, window, served, folder):
    page.goto(f"/#/approvals/{review(served, folder)}")
    for name in ("report.md", "summary.csv", "old.txt"):
        expect(detail(page)).to_contain_text(name)
    expect(detail(page)).to_contain_text("Quarterly report (final)")
    expect(detail(page)).to_contain_text("Approved figures only.")
    assert not windows.axe_violations(page)
    assert (folder / "old.txt").exists()
    detail(page).get_by_role("button", name="Make the changes").click()
    expect(detail(page).get_by_role("status")).to_contain_text("The changes were made")
    assert not (folder / "old.txt").exists() and "final" in (folder / "report.md").read_text()


def test_dropped_changes_change_nothing(page, window, served, folder):
    page.goto(f"/#/approvals/{review(served, folder)}")
    detail(page).get_by_role("button", name="Drop…").click()
    page.get_by_role("dialog").get_by_role("button", name="Drop the changes").click()
    expect(detail(page).get_by_role("status")).to_contain_text("The changes were dropped")
    assert (folder / "old.txt").exists() and "draft" in (folder / "report.md").read_text()


def test_interrupted_changes_are_undone_and_made(page, window, served, folder):
    """As a daemon leaves them that died while it made them."""
    waiting = review(served, folder)
    (served.adder.state / "reviews" / waiting / "journal").write_text("writing\n")
    page.goto(f"/#/approvals/{waiting}")
    expect(detail(page)).to_contain_text("was interrupted")
    expect(detail(page).get_by_role("button", name="Drop…")).to_have_count(0)
    assert not windows.axe_violations(page)
    detail(page).get_by_role("button", name="Undo").click()
    expect(detail(page).get_by_role("button", name="Drop…")).to_be_visible()
    assert (folder / "old.txt").exists() and "draft" in (folder / "report.md").read_text()
    (served.adder.state / "reviews" / waiting / "journal").write_text("writing\n")
    page.reload()
    detail(page).get_by_role("button", name="Finish the changes").click()
    expect(detail(page).get_by_role("status")).to_contain_text("The changes were made")
    assert not (folder / "old.txt").exists() and "final" in (folder / "report.md").read_text()


def test_on_a_phone(admin_window, served):
    """The list, the request, the decision, and back, by touch."""
    window = admin_window(viewport=windows.PHONE, has_touch=True, is_mobile=True)
    purpose = harness.unique()
    ask(served.adder, f"print('{harness.unique()}')", "--description", purpose)
    page = window.open("approvals")
    page.get_by_role("navigation", name="Approvals and reviews").get_by_role("link", name=re.compile(purpose)).tap()
    assert windows.overflow(page) == []
    detail(page).get_by_role("button", name="Approve").tap()
    expect(detail(page).get_by_role("status")).to_contain_text("Approved")
    page.get_by_role("link", name="All approvals").tap()
    expect(page.get_by_role("navigation", name="Approvals and reviews")).to_be_visible()
