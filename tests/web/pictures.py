# SPDX-License-Identifier: Apache-2.0
"""Makes pictures of every view: scripts/web-pictures DIRECTORY

Each view with something in it, light and dark, at a desktop (1280 by 800) and on a phone (375 by 812):
DIRECTORY/VIEW-SCHEME-WINDOW.png. Ends with 1 if a page said that something is wrong."""
import pathlib
import sys

from playwright.sync_api import sync_playwright

import place  # first: the others are found by it
import windows
import world

VIEWS = {
    "notebook": "notebook/{0.session}",
    "notebook-empty": "notebook",
    "branches": "branches/{0.session}",
    "approvals": "approvals",
    "approval": "approvals/{0.approval}",
    "review": "approvals/{0.review}",
    "runs": "runs",
    "run": "runs/{0.runs[1]}",
    "daemon": "daemon",
    "tools": "tools",
    "tokens": "tokens",
    "ask": "ask",
    "chat": "chat",
}
WINDOWS = {"desktop": {"viewport": windows.DESKTOP}, "phone": {"viewport": windows.PHONE, "has_touch": True, "device_scale_factor": 2}}


def take(window, seen, suffix, folder):
    for name, view in VIEWS.items():
        page = window.open(view.format(seen))
        windows.settle(page)
        page.screenshot(path=folder / f"{name}-{suffix}.png")
        print(f"{name}-{suffix}.png", flush=True)


def sign_in_picture(browser, daemon, folder):
    window = windows.Window(browser, f"http://127.0.0.1:{daemon.port}")
    window.open()
    windows.settle(window.page)
    window.page.screenshot(path=folder / "sign-in-light-desktop.png")
    window.close()


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.exit(__doc__)
    folder, problems = pathlib.Path(arguments[0]), []
    folder.mkdir(parents=True, exist_ok=True)
    with place.served() as daemon, sync_playwright() as running:
        seen, browser = world.make(daemon.adder), windows.Browser(running)
        sign_in_picture(browser, daemon, folder)
        for scheme in ("light", "dark"):
            for kind, options in WINDOWS.items():
                window = windows.Window(browser, f"http://127.0.0.1:{daemon.port}", color_scheme=scheme, **options)
                window.page.goto(windows.opened(daemon.adder))
                windows.settle(window.page)
                take(window, seen, f"{scheme}-{kind}", folder)
                problems += window.unexpected()
                window.close()
        browser.close()
    sys.exit("\n".join(problems) if problems else 0)


main(sys.argv[1:])
