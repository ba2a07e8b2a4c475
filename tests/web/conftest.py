# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the web interface: a daemon for each file, and windows of a browser at its page. README.md beside
this says how they are organised."""
import pytest

import harness
import http_bed
import ports
import windows
import world

playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: run these with build/web-tests/bin/python")


def pytest_collection_modifyitems(items):
    here = [item for item in items if item.path.is_relative_to(harness.REPOSITORY / "tests/web")]
    for item in here:
        if not windows.CHROMIUM:
            item.add_marker(pytest.mark.skip(reason="there is no chromium on this host (scripts/packages, group test)"))


@pytest.fixture(scope="session")
def browser():
    """Shared by all tests of a process, each of which has windows of its own."""
    with playwright.sync_playwright() as running:
        browser = windows.Browser(running)
        yield browser
        browser.close()


def serve(adder, lines="", science=True, port=0):
    """A daemon of ADDER at whose page tests look. SCIENCE: with the environment of most people where this host has it. It costs
    each start of a daemon seconds."""
    adder.environment = "science" if science and adder.has_environment("science") else "system"
    adder.configure(f"[environment]\ndefault = {adder.environment}\n{lines}")
    served = http_bed.Served(adder, listen=f"127.0.0.1:{port}")
    if not served.get("/", secret="").headers["Content-Type"].startswith("text/html"):
        pytest.skip("this build has no web interface (-Dweb)")
    return served


@pytest.fixture(scope="module")
def served(make_shared_adder, request):
    """The daemon of a file's tests, which leave it as it was. It has a profile that wants approvals, and a scripted model. A file
    whose tests need no pandas says so by `SCIENCE = False`."""
    adder = make_shared_adder()
    served = serve(adder, world.configuration(adder), getattr(request.module, "SCIENCE", True))
    yield served
    served.stop()


@pytest.fixture
def own_served(make_adder):
    """A daemon that a test may stop, and start again: its port is nobody else's meanwhile."""
    with ports.reserve() as reserved:
        served = serve(make_adder(), science=False, port=ports.number_of(reserved))
        yield served
        served.stop()


@pytest.fixture(scope="module")
def seen(served):
    """What that daemon has done (world.py)."""
    return world.make(served.adder)


@pytest.fixture
def no_sessions(served):
    """Ends what a test leaves, since an owner may have ten; after its windows are closed, which ask for what a session has. A file says
    so by `pytestmark`, whose fixtures come before those that a test names."""
    yield
    sessions = [each["session_id"] for each in world.made(served.adder, "session", "list")["sessions"]]
    if sessions:
        served.adder.call("session", "rm", *sessions)


@pytest.fixture
def new_window(browser, request):
    """Makes windows at the page of a daemon, not signed in. A window in which something went wrong fails the test."""
    made = []

    def make(served, **options):
        made.append(windows.Window(browser, f"http://127.0.0.1:{served.port}", **options))
        return made[-1]

    yield make
    problems = [problem for window in made for problem in window.unexpected()]
    for window in made:
        window.close()
    assert not problems, "\n".join(problems)


@pytest.fixture
def admin_window(new_window, served):
    """Makes windows of the local account, which is an admin that may decide: signed in by `adder open`, and with no page yet."""

    def make(**options):
        window = new_window(served, **options)
        window.sign_in_as_account(served.adder)
        return window

    return make


@pytest.fixture
def user_window(new_window, served):
    """Makes windows of an ordinary user, signed in with a token."""
    secrets = []

    def make(**options):
        secrets[:] = secrets or [served.token(harness.unique(), "--role", "user")]
        window = new_window(served, **options)
        window.sign_in(secrets[0])
        return window

    return make


@pytest.fixture
def window(admin_window):
    return admin_window()


@pytest.fixture
def page(window):
    return window.page
