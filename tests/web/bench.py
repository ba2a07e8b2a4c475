# SPDX-License-Identifier: Apache-2.0
"""Measures the page in Chromium, with a daemon of this machine: scripts/web-bench [--output FILE]

Prints the figures, and writes them to FILE for `scripts/bench-docs web=FILE`. Times are of the page's own clock: from the key's
event, as the browser stamps it, to the first moment after the frame that shows what came of it was painted. A frame comes every
16.7 ms, so half of that is waiting; "work" leaves the waiting out."""
import argparse
import http.server
import json
import pathlib
import statistics
import sys
import threading

from playwright.sync_api import sync_playwright

import place  # first: the others are found by it
import notebook
import windows

KEYS, KEY_MS, CELLS = 200, 20, 20
SECONDS = 5  # of 1,000 lines each
ROWS = 1_000_000
LINES = "for number in range(5000): print(number, 'a line of output')"
FLOOD = f"""import time
begun = time.monotonic()
for number in range({SECONDS * 100}):
    for line in range(10): print(number, line, 'a line of output')
    time.sleep(max(0, begun + number / 100 - time.monotonic()))"""

WATCH_KEYS = """
() => {
  window.adderTestKeys = [];
  const soon = (then) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = then; port2.postMessage(0); };
  addEventListener("keydown", (event) => {
    const times = { begun: event.timeStamp };
    adderTestKeys.push(times);
    requestAnimationFrame(() => { times.frame = performance.now(); soon(() => { times.painted = performance.now(); }); });
  }, { capture: true });
  // After the editor's own observers, which were told of the change first.
  addEventListener("input", () => queueMicrotask(() => { adderTestKeys.at(-1).handled = performance.now(); }));
}
"""
WATCH_TEXT = """
(text) => {
  window.adderTestSeen = new Promise((seen) => {
    const watch = new MutationObserver(() => {
      if (!document.querySelector("main").textContent.includes(text)) return;
      watch.disconnect();
      requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = () => seen(performance.now()); port2.postMessage(0); });
    });
    watch.observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });
  });
}
"""
WATCH_FRAMES = """
() => {
  window.adderTestFrames = [];
  const step = (before) => (now) => { adderTestFrames.push(now - before); requestAnimationFrame(step(now)); };
  requestAnimationFrame((now) => requestAnimationFrame(step(now)));
}
"""
PAINT = """
() => new Promise((resolve) => {
  const first = performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
  new PerformanceObserver((list) => resolve({ first, largest: list.getEntries().at(-1).startTime })).observe({ type: "largest-contentful-paint", buffered: true });
})
"""


def share(values, part):
    return sorted(values)[min(int(part * len(values)), len(values) - 1)]


class Figures:
    """Rows of (what, median, 95th of 100, most) with their units."""

    def __init__(self):
        self.rows = []

    def put(self, what, values, unit="ms"):
        figures = [f"{value:.1f}" for value in (statistics.median(values), share(values, 0.95), max(values))]
        self.rows.append([what, *(f"{figure} {unit}" for figure in figures)])
        print(f"{what:58} {figures[0]:>9} {figures[1]:>9} {figures[2]:>9} {unit}", flush=True)


def type_keys(page):
    """The times of KEYS keys in the editor that has the focus."""
    page.evaluate(WATCH_KEYS)
    page.keyboard.type("value = 1\n" * (KEYS // 10), delay=KEY_MS)
    page.evaluate(windows.SETTLED)
    times = [each for each in page.evaluate("() => adderTestKeys") if "painted" in each]
    whole = [each["painted"] - each["begun"] for each in times]
    typed = [each for each in times if each.get("handled", each["frame"]) < each["frame"]]
    return whole, [each["handled"] - each["begun"] + each["painted"] - each["frame"] for each in typed]


def first_view(browser, daemon, figures):
    firsts, largests, sizes = [], [], []
    for _ in range(10):
        window, bodies = windows.Window(browser, f"http://127.0.0.1:{daemon.port}"), []
        window.sign_in(daemon.secret)
        window.context.on("requestfinished", lambda request, to=bodies: to.append(request) if request.resource_type == "script" else None)
        window.open()
        windows.settle(window.page)
        paint = window.page.evaluate(PAINT)
        firsts.append(paint["first"])
        largests.append(paint["largest"])
        sizes.append(sum(request.sizes()["responseBodySize"] for request in bodies) / 1000)
        window.close()
    figures.put("first view: first paint of content", firsts)
    figures.put("first view: largest paint of content", largests)
    figures.put("first view: compressed script", sizes, "kB")


def typing(page, figures):
    book = notebook.Notebook(page)
    book.new_session()
    whole, work = type_keys(book.focus_last().page)
    figures.put("a key in an empty notebook", whole)
    figures.put("a key in an empty notebook, work", work)
    book.set_last(LINES)
    book.run_last()
    book.wait_idle()
    whole, work = type_keys(book.focus_last().page)
    figures.put("a key below 5,000 lines of output", whole)
    figures.put("a key below 5,000 lines of output, work", work)


def first_output(page, figures):
    book, times = notebook.Notebook(page), []
    book.new_session()
    for number in range(CELLS):
        book.set_last(f"print({number} + 10**6)")
        page.evaluate(WATCH_TEXT, str(number + 10**6))
        page.evaluate(WATCH_KEYS)
        book.run_last()
        seen = page.evaluate("() => adderTestSeen")
        times.append(seen - page.evaluate("() => adderTestKeys.at(-1).begun"))
        book.wait_idle()
    figures.put("from Shift+Enter to the first output of a cell", times)


class Smallest(http.server.BaseHTTPRequestHandler):
    """A page that shows what it is sent when a key is pressed, and no more."""

    PAGE = b"""<main contenteditable></main><script>document.onkeydown = async () => {
        document.querySelector("main").textContent = await (await fetch("/text", { method: "POST", cache: "no-store" })).text(); }</script>"""
    protocol_version = "HTTP/1.1"

    def answer(self, kind, body):
        """At once: of two packets, the second would wait for the first to be acknowledged."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (kind, len(body), body))

    def do_GET(self):
        self.answer(b"text/html", self.PAGE)

    def do_POST(self):
        self.answer(b"text/plain", b"%d" % self.server.number)

    def log_message(self, *_):
        pass


def smallest_page(browser, figures):
    """What the browser takes for any page: a key, a request, a text."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Smallest) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        window, times = windows.Window(browser, f"http://127.0.0.1:{server.server_port}"), []
        window.page.goto("/")
        for server.number in range(10**6, 10**6 + CELLS):
            window.page.evaluate(WATCH_TEXT, str(server.number))
            window.page.evaluate(WATCH_KEYS)
            window.page.keyboard.press("Enter")
            seen = window.page.evaluate("() => adderTestSeen")
            times.append(seen - window.page.evaluate("() => adderTestKeys.at(-1).begun"))
        window.close()
        server.shutdown()
    figures.put("from a key to the answer of a request in a page of one line", times)


def flood(page, figures):
    book = notebook.Notebook(page)
    book.new_session()
    book.set_last(FLOOD)
    page.evaluate(WATCH_FRAMES)
    book.run_last()
    whole, work = type_keys(book.focus_last().page)
    book.wait_idle()
    figures.put("a frame while 1,000 lines a second arrive", page.evaluate("() => adderTestFrames"))
    figures.put("a key while 1,000 lines a second arrive", whole)
    figures.put("a key while 1,000 lines a second arrive, work", work)


def machine(adder):
    ended = adder.call("bench", "--only", "print", "--rounds", "1", "--json", timeout=600)
    return json.loads(ended.stdout)["machine"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--output", type=pathlib.Path)
    chosen, figures = parser.parse_args(), Figures()
    with place.served() as daemon, sync_playwright() as running:
        browser = windows.Browser(running)
        print(f"{'Chromium ' + browser.version:58} {'median':>9} {'p95':>9} {'most':>9}")
        first_view(browser, daemon, figures)
        smallest_page(browser, figures)
        for measure in (typing, first_output, flood):
            window = windows.Window(browser, f"http://127.0.0.1:{daemon.port}")
            window.page.goto(windows.opened(daemon.adder))
            measure(window.page, figures)
            window.close()
        if chosen.output:
            table = {"name": "web", "columns": [f"in Chromium {browser.version}", "median", "95 % below", "most"], "rows": figures.rows}
            chosen.output.write_text(json.dumps({"machine": machine(daemon.adder), "tables": [table]}, indent=2))
        browser.close()


sys.exit(main())
