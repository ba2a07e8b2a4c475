# SPDX-License-Identifier: Apache-2.0
"""Windows of Debian's Chromium at a daemon's page. Each has its own cookies and storage, and notes all that a page must not do:
errors of scripts and on the console, violations of a Content-Security-Policy, requests that fail or go to another host."""
import json
import os
import re
import shutil
import tempfile
import urllib.parse

from playwright import sync_api

import harness

expect = sync_api.expect
expect.set_options(timeout=1000 * harness.DEADLINE)
CHROMIUM = shutil.which("chromium")
BUILD = harness.REPOSITORY / "build"
AXE = BUILD / "web-test-packages/node_modules/axe-core/axe.min.js"
DESKTOP, PHONE, NARROW, LARGE = (
    {"width": width, "height": height} for width, height in ((1280, 800), (375, 812), (320, 640), (2560, 1440))
)

# In every frame, before its own scripts. Violations are reported by the browser itself; the page cannot hide them.
REPORT_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) => {
  const { effectiveDirective, blockedURI, documentURI, sample, sourceFile, lineNumber } = event;
  adderTestViolation(`${effectiveDirective} of ${documentURI} refused ${blockedURI} (${sample}) ${sourceFile ?? ""}:${lineNumber}`);
}, true);
"""
OWN_SCHEMES = ("data", "blob", "about")


def arguments():
    """Chromium's own sandbox needs an ordinary user. No name is resolved, so no request leaves this machine."""
    chosen = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-background-networking", "--disable-gpu"]
    return chosen + (["--no-sandbox"] if os.geteuid() == 0 else [])


class Browser:
    """One Chromium, whose state is in a temporary directory."""

    def __init__(self, playwright, *more):
        self.directory = tempfile.mkdtemp(prefix="adder-chromium-")
        places = {name: self.directory for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR")}
        self.playwright = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*arguments(), *more], env={**os.environ, **places}
        )
        self.version = self.playwright.version

    def close(self):
        self.playwright.close()
        shutil.rmtree(self.directory, ignore_errors=True)


class Window:
    """A page of a context of its own. PROBLEMS are texts; those that a test expects, it names by `expect_problem`."""

    def __init__(self, browser, base, **options):
        self.base, self.problems, self.expected = base, [], []
        options = {"viewport": DESKTOP, "accept_downloads": True, **options}
        self.context = browser.playwright.new_context(base_url=base, **options)
        self.context.set_default_timeout(1000 * harness.DEADLINE)
        self.context.expose_binding("adderTestViolation", lambda _, text: self.problems.append(f"CSP violation: {text}"))
        self.context.add_init_script(REPORT_VIOLATIONS)
        self.context.on("request", self.note_request)
        self.context.on("requestfailed", self.note_failure)
        self.context.on("console", self.note_console)
        self.context.on("weberror", lambda error: self.problems.append(f"page error: {error.error}"))
        self.page = self.context.new_page()

    def note_request(self, request):
        if urllib.parse.urlsplit(request.url).scheme not in OWN_SCHEMES and not request.url.startswith(self.base + "/"):
            self.problems.append(f"request to another host: {request.url}")

    def note_failure(self, request):
        """What the page itself gives up, such as the wait for the next event, is no failure."""
        if request.failure != "net::ERR_ABORTED":
            self.problems.append(f"failed request: {request.method} {request.url}: {request.failure}")

    def note_console(self, message):
        if message.type == "error" or "Content Security Policy" in message.text or "TrustedType" in message.text:
            place = message.location
            self.problems.append(f"console {message.type}: {message.text} ({place['url']}:{place['lineNumber']})")

    def expect_problem(self, pattern):
        """Problems that PATTERN is found in are part of the test."""
        self.expected.append(pattern)

    def unexpected(self):
        return [text for text in self.problems if not any(re.search(pattern, text) for pattern in self.expected)]

    # ---- signing in ----

    # No page is loaded: a test opens the view that it is about.

    def sign_in(self, secret):
        """With the token SECRET, as the page's own form does it."""
        self.ask_for_cookie({"token": secret})

    def sign_in_as_account(self, adder):
        """With the code of `adder open`, as the page does it."""
        self.ask_for_cookie({"code": opened(adder).partition("#code=")[2]})

    def ask_for_cookie(self, by):
        answer = self.context.request.post("/v1/sign-in", data=by, headers={"Origin": self.base})
        assert answer.ok, (answer.status, answer.text())

    def open(self, view="notebook"):
        """The page at VIEW, such as `runs/ID`, when it is shown."""
        self.page.goto(f"/#/{view}")
        return self.page

    def close(self):
        self.context.close()


def opened(adder):
    """The one-time address of `adder open`."""
    ended = adder.call("open", "--print", "--json")
    assert ended.returncode == 0 and ended.stderr == "", ended
    return json.loads(ended.stdout)["url"]


# ---- accessibility ----

# Everything that axe has for pages, and the sizes of targets, which WCAG 2.2 wants and axe leaves out by default.
AXE_OPTIONS = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
# What can differ in the dark: light and dark are the same elements with other values of colours (web/src/styles/tokens.css).
AXE_COLOURS = {"resultTypes": ["violations"], "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


def load_axe(frame):
    """Each frame has its own, since those of hostile output share no origin with the page."""
    if not frame.evaluate("() => typeof axe !== 'undefined'"):
        frame.evaluate(AXE.read_text(encoding="utf-8") + "\n;undefined")


def axe_parts(frame, context, options):
    """What axe finds in FRAME and the frames in it, in its own order: texts, since there is much of it and nobody reads it here."""
    load_axe(frame)
    inner = frame.evaluate("(context) => axe.utils.getFrameContexts(context)", context)
    part = "([context, options]) => axe.runPartial(context, options).then((found) => JSON.stringify(found))"
    parts = [frame.evaluate(part, [context, options])]
    for each in inner:
        element = frame.evaluate_handle("(selector) => axe.utils.shadowSelect(selector)", each["frameSelector"]).as_element()
        content = element.content_frame() if element else None
        parts += axe_parts(content, each["frameContext"], options) if content else ["null"]
    return parts


def axe_violations(page, options=AXE_OPTIONS):
    """One line for each element that breaks a rule."""
    parts = axe_parts(page.main_frame, {"include": [["html"]], "exclude": []}, options)
    finish = "([parts, options]) => axe.finishRun(parts.map((part) => JSON.parse(part)), options).then(({ violations }) => violations)"
    return [
        f"{rule['id']} ({rule['impact']}): {node['target']} {node['html'][:200]} {' '.join(node['failureSummary'].split())[:300]}"
        for rule in page.evaluate(finish, [parts, options])
        for node in rule["nodes"]
    ]


def axe_violations_in_both_schemes(page):
    """The same in the light, and then what colours can break in the dark, to which the page turns meanwhile."""
    found = axe_violations(page)
    page.emulate_media(color_scheme="dark")
    settle(page)
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    found += [f"in the dark: {line}" for line in axe_violations(page, AXE_COLOURS)]
    page.emulate_media(color_scheme="light")
    settle(page)
    return found


# ---- what a view is like ----

# When nothing in the document has changed for a while, at most for ten seconds.
SETTLED = """
() => document.fonts.ready.then(() => new Promise((resolve) => {
  const settle = () => { watch.disconnect(); resolve(); };
  let timer = setTimeout(settle, 400);
  const watch = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(settle, 400); });
  watch.observe(document.documentElement, { subtree: true, childList: true, attributes: true, characterData: true });
  setTimeout(settle, 10000);
}))
"""


def settle(page):
    """Waits until the view of PAGE shows what it has."""
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.get_by_text("Loading…", exact=True)).to_have_count(0)
    page.evaluate(SETTLED)
    frames = page.locator("iframe")
    for number in range(frames.count()):  # processes of their own: until they have their HTML, nothing of the page changes
        expect(frames.nth(number).content_frame.locator("html[style*='color-scheme']")).to_be_attached()
    if frames.count():
        page.evaluate(SETTLED)


OVERFLOW = """
() => {
  const scrolls = (element) => {
    for (let each = element.parentElement ?? element.getRootNode().host; each && each !== document.body; each = each.parentElement ?? each.getRootNode().host)
      if (getComputedStyle(each).overflowX !== "visible") return true;
    return false;
  };
  const wide = [...document.querySelectorAll("button, input, select, textarea, a[href], h1, h2, h3, p")].filter((element) => {
    const { right, left, width } = element.getBoundingClientRect();
    return width > 0 && (right > innerWidth + 1 || left < -1) && !scrolls(element) && !element.closest(".skip");
  });
  const page = document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth;
  return [...(page > 0 ? [`the page scrolls by ${page} px`] : []), ...wide.map((element) => `beyond the edge: ${element.outerHTML.slice(0, 200)}`)];
}
"""


def overflow(page):
    """What does not fit into the width of PAGE."""
    return page.evaluate(OVERFLOW)


# What has the focus, down into shadow roots: how it is called, and whether one sees that it has it.
FOCUS = """
() => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  if (!element || element === document.body) return null;
  window.adderTestNumbers ??= new Map();
  if (!adderTestNumbers.has(element)) adderTestNumbers.set(element, adderTestNumbers.size);
  const shows = (each) => [null, "::before", "::after"].some((part) => {
    const style = getComputedStyle(each, part);
    return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
  });
  const drawn = (each) => getComputedStyle(each).stroke !== "none" && parseFloat(getComputedStyle(each).strokeWidth) > 0;
  let seen = element.isContentEditable || element.tagName === "IFRAME" || (element instanceof SVGElement && [...element.children].some(drawn));
  for (let each = element, depth = 0; each && depth < 3; each = each.parentElement ?? each.getRootNode().host, depth++) seen ||= shows(each);
  const box = element.getBoundingClientRect();
  return { number: adderTestNumbers.get(element), tag: element.tagName, editable: element.isContentEditable, seen,
           visible: box.width > 0 && box.height > 0, html: element.outerHTML.slice(0, 160) };
}
"""
REACHABLE = """
() => [...document.querySelectorAll("main button, main a[href], main input, main select, main textarea, main [tabindex='0']:not([aria-current]), nav button, nav a[href]")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled && element.tabIndex >= 0
    && !element.closest("[inert]") && !(element.type === "radio" && !element.checked))
  .filter((element) => !window.adderTestNumbers?.has(element)).map((element) => element.outerHTML.slice(0, 160))
"""
STEPS = 400

# Numbers what gets the focus from now on, also between two looks at it.
BEGIN_WALK = """
() => {
  document.activeElement?.blur();
  getSelection().removeAllRanges();
  if (!window.adderTestNumbers)
    document.addEventListener("focusin", (event) => {
      const [element] = event.composedPath();
      if (!adderTestNumbers.has(element)) adderTestNumbers.set(element, adderTestNumbers.size);
    }, true);
  window.adderTestNumbers = new Map();
}
"""


def walk(page):
    """Walks through PAGE with the Tab key. What is wrong: a trap, something without a mark of the focus, something out of reach.

    Nothing has the focus after the last element, and for a moment on the way out of a frame, which is a process of its own."""
    faults, stuck, before = [], 0, None
    page.evaluate(BEGIN_WALK)
    for _ in range(STEPS):
        page.keyboard.press("Tab")
        now = page.evaluate(FOCUS)
        if now is None:
            continue
        if before and now["number"] == before["number"]:
            stuck += 1
            if now["editable"] or stuck < 2:
                page.keyboard.press("Escape")  # an editor keeps the Tab key until then
            if stuck > (30 if now["tag"] == "IFRAME" else 3):
                return [f"the focus does not leave {now['html']}"]
            continue
        stuck = 0
        if now["number"] == 0 and before:
            break
        if now["visible"] and not now["seen"]:
            faults.append(f"no mark of the focus: {now['html']}")
        before = now
    else:
        return [f"no end after {STEPS} steps"]
    return faults + [f"out of reach: {html}" for html in page.evaluate(REACHABLE)]
