# SPDX-License-Identifier: Apache-2.0
"""What hostile code displays reaches neither the page, nor its origin, nor another host. The corpus is in hostile.py."""
import pytest

import hostile
import windows
import world

pytestmark = pytest.mark.usefixtures("no_sessions")
GLOBALS = "() => [typeof hacked, typeof window.hostile, window.name, document.title, location.hash, document.cookie, opener === null]"
OWN_KEYS = ("adder-",)  # of what the page itself keeps in the browser
PICTURES = "main img:not(.cm-widgetBuffer)"  # an empty editor has one of those, without an address, beside its placeholder


@pytest.fixture
def trap():
    trap = hostile.Trap()
    yield trap
    trap.close()


class Victim:
    """A window that shows what a cell displays, and what came of it."""

    def __init__(self, window, trap, adder):
        self.window, self.page, self.trap, self.adder = window, window.page, trap, adder
        self.requests = []
        window.context.on("request", lambda request: self.requests.append(f"{request.method} {request.url}"))
        window.page.on("download", lambda download: self.requests.append(f"download of {download.url}"))
        window.page.on("dialog", lambda dialog: (self.requests.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def show(self, code, alone=True):
        """Runs CODE in a session and shows that. ALONE: it prints nothing itself."""
        session = world.made(self.adder, "session", "new")["session_id"]
        world.cell(self.adder, session, self.trap.set(code) + "\nprint('this is the end')")
        self.window.open(f"notebook/{session}")
        self.page.get_by_role("main").get_by_text("this is the end", exact=alone).last.wait_for()
        windows.settle(self.page)
        return session

    def check(self):
        """Nothing has run, and nobody was asked for anything."""
        for frame in self.page.frames:
            assert frame.evaluate("() => typeof hacked") in ("undefined", "object"), frame.url  # an element of that name is none
            assert frame is self.page.main_frame or frame.url == f"{self.window.base}/frame.html", frame.url
        assert self.page.evaluate("() => typeof hacked") == "undefined"
        assert self.page.evaluate("() => [window.name, document.cookie, opener]") == ["", "", None]
        assert not [key for key in self.page.evaluate("() => Object.keys(localStorage)") if not key.startswith(OWN_KEYS)]
        assert self.page.url.startswith(f"{self.window.base}/#/notebook/") and len(self.window.context.pages) == 1
        assert not [request for request in self.requests if "hostile" in request or not request.split()[1].startswith((self.window.base, "data:", "blob:"))]
        assert not [cookie["name"] for cookie in self.window.context.cookies() if not cookie["name"].startswith("adder-token-")]
        assert self.trap.seen == []


@pytest.fixture
def victim(window, trap, served):
    victim = Victim(window, trap, served.adder)
    yield victim
    victim.check()


def frames_of(page):
    return [frame for frame in page.frames if frame is not page.main_frame]


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.quick) if name == "script" else name for name in hostile.HTML])
def test_html(victim, name):
    victim.show(hostile.shown({"text/html": hostile.HTML[name], "text/plain": "plain"}))
    assert victim.page.locator("iframe").count() == 1
    box = victim.page.locator("iframe").bounding_box()
    assert box["height"] < 3000 and windows.overflow(victim.page) == []
    for frame in frames_of(victim.page):
        left = "script, iframe, object, embed, link, meta, base, form, input, button, textarea, audio, video, portal, [srcset], [ping]"
        body = frame.locator("body")
        assert body.locator(left).count() == 0, body.inner_html()[:3000]
        assert frame.evaluate("() => [...document.querySelectorAll('body *')].flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith('on'))") == []


def test_a_click_on_a_link_leads_nowhere(victim):
    """Not even a link that was kept: the frame may open no window and lead the page nowhere else."""
    victim.show(hostile.shown({"text/html": hostile.HTML["links"] + "<a href='https://192.0.2.1/kept'>kept</a>", "text/plain": "plain"}))
    victim.window.expect_problem("allow-popups")
    (frame,) = frames_of(victim.page)
    links = frame.locator("a")
    for number in range(links.count()):
        links.nth(number).dispatch_event("click")
    victim.page.evaluate(windows.SETTLED)
    assert frames_of(victim.page) == [frame]


def test_a_frame_is_apart_from_the_page(victim):
    """If something did run in the frame, it would find itself alone: no page, no storage, no cookie, no request."""
    victim.show(hostile.shown({"text/html": "<p>quiet</p>", "text/plain": "plain"}))
    (frame,) = frames_of(victim.page)
    victim.window.expect_problem("CSP violation: (connect|img|frame|script|form-action)")
    victim.window.expect_problem("console error: .*(Content Security Policy|sandboxed|Unsafe attempt|SecurityError)")
    victim.window.expect_problem("console error: (Failed to load|Refused to)")
    tried = {
        "the page": "() => parent.document.title",
        "its storage": "() => localStorage.length",
        "cookies": "() => document.cookie",
        "databases": "() => new Promise((yes, no) => { const open = indexedDB.open('x'); open.onsuccess = yes; open.onerror = no; })",
        "another page": "() => { top.location = '/v1/hostile'; }",
        "a window": "() => open('/v1/hostile').document",
        "the daemon": "() => fetch('/v1/caller')",
        "the daemon's address": f"() => fetch('{victim.window.base}/v1/hostile', {{ credentials: 'include', mode: 'no-cors' }})",
        "another host": f"() => fetch('{victim.trap.address}/hostile', {{ mode: 'no-cors' }})",
        "a worker": "() => new Promise((yes, no) => { const worker = new Worker('/frame.js'); worker.onerror = no; worker.onmessage = yes; setTimeout(no, 500); })",
    }
    reached = []
    for what, script in tried.items():
        try:
            frame.evaluate(f"async () => {{ await ({script})(); }}")
            reached.append(what)
        except windows.sync_api.Error:
            pass
    assert reached == []


def test_forged_messages(victim):
    """The frame may tell its height, within bounds, and nothing else."""
    victim.show(hostile.shown({"text/html": "<p>quiet</p>", "text/plain": "plain"}))
    (frame,) = frames_of(victim.page)
    before = victim.page.get_by_role("navigation", name="Views").inner_html()
    for message in ("{ height: 1e12 }", "{ height: -1e12 }", "{ height: NaN }", "{ height: '9px;background:red' }", "{ height: { valueOf: 1 } }", "null",
                    "'x'", "{ html: '<img src=x onerror=hacked=1>' }", "{ __proto__: null, height: Infinity }", "[1, 2]", "new Map([['height', 1]])",
                    "{ type: 'navigate', url: '/v1/hostile' }"):
        frame.evaluate(f"() => parent.postMessage({message}, '*')")
    victim.page.evaluate(windows.SETTLED)
    assert 0 < victim.page.locator("iframe").bounding_box()["height"] < 3000
    assert victim.page.get_by_role("navigation", name="Views").inner_html() == before


@pytest.mark.parametrize("kind", ["markdown", "latex", "svg", "png", "json", "plain", "unknown", "chart"])
def test_other_kinds(victim, kind):
    bundle = {
        "markdown": [{"text/markdown": hostile.MARKDOWN}],
        "latex": [{"text/latex": f"${text}$"} for text in hostile.TEX],
        "svg": [{"image/svg+xml": hostile.SVG}],
        "png": [{"image/png": hostile.picture(hostile.SVG)}, {"image/jpeg": "' onerror='hacked=1"}],
        "json": [{"application/json": {"__proto__": {"hacked": 1}, "constructor": {"prototype": {"hacked": 1}}, hostile.TEXT: hostile.TEXT}}],
        "plain": [{"text/plain": hostile.TEXT}],
        "unknown": [{"application/javascript": "hacked=1"}, {"text/x-hostile": hostile.TEXT}, {f"text/{hostile.TEXT}": "x"}],
        "chart": [{"application/vnd.vegalite.v5+json": {"data": {"url": "TRAP/vega.json"}, "mark": "bar", "title": hostile.TEXT}},
                  {"application/vnd.plotly.v1+json": {"data": [{"type": "scatter", "y": [1], "name": hostile.TEXT}]}}],
    }[kind]
    victim.window.expect_problem(r"ERR_INVALID_URL \(data:image")  # what is no picture
    victim.show("\n".join(hostile.shown({"text/plain": "plain", **each}) for each in bundle))


def test_text_is_text(victim):
    """Output, errors, names of variables' values, files: the same in each."""
    code = f"text = {hostile.TEXT!r}; terminal = {hostile.TERMINAL!r}\nprint(text, terminal)\nimport sys; print(text, terminal, file=sys.stderr)\n"
    code += "open('<img src=x onerror=hacked=1>.txt', 'w').write(text)\nvalues = {text: [text]}\ntext"
    victim.show(code, alone=False)
    assert victim.page.locator(PICTURES).count() == 0
    assert "<img src=" in victim.page.get_by_role("main").inner_text()


def test_an_error_is_text(victim, served):
    session = world.made(served.adder, "session", "new")["session_id"]
    world.cell(served.adder, session, victim.trap.set(f"raise ValueError({hostile.TEXT + hostile.TERMINAL!r})"))
    victim.window.open(f"notebook/{session}")
    victim.page.get_by_role("main").get_by_text("ValueError").first.wait_for()
    windows.settle(victim.page)
    assert victim.page.locator(PICTURES).count() == 0


def test_tables(victim, served):
    if served.adder.environment != "science":
        pytest.skip("no environment `science`: make it with `adder env new science`")
    victim.show(f"import pandas as pd\ntext = {hostile.TEXT!r}\ndisplay(pd.DataFrame({{text: [text], '=1+1': [{hostile.TERMINAL!r}]}}, index=[text]))")
    assert victim.page.locator(PICTURES).count() == 0
