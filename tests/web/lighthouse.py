# SPDX-License-Identifier: Apache-2.0
"""Lighthouse, which judges a page as a browser shows it: scores of 0 to 100, and what keeps one from 100."""
import json
import os
import subprocess
import tempfile

import harness
import windows

BUILD = harness.REPOSITORY / "build"
NODE, LIGHTHOUSE = BUILD / "node/bin/node", BUILD / "web-test-packages/node_modules/lighthouse/cli/index.js"
CATEGORIES = ("performance", "accessibility", "best-practices")
SECONDS = 180
# The page asks for the next event as soon as it has one, so Lighthouse never finds its network idle and would wait for 45 seconds.
LOADED_MS = 15_000
ATTEMPTS = 3
# Now and then, on a busy machine, its recording of a page has no beginning, or Chromium does not answer in time; and it looks up a
# free port for Chromium, which may be another's by then.
TRANSIENT = ("NO_NAVSTART", "PROTOCOL_TIMEOUT", "CRI_TIMEOUT", "ECONNREFUSED")


def report(url, secret, categories=CATEGORIES, preset="desktop"):
    """What Lighthouse says of URL in those CATEGORIES, asked for with the token SECRET: its report as it is."""
    with tempfile.TemporaryDirectory(prefix="adder-lighthouse-") as own:
        flags = " ".join(["--headless=new", f"--user-data-dir={own}/profile", *(word for word in windows.arguments() if " " not in word)])
        command = [NODE, LIGHTHOUSE, url, "--quiet", "--output=json", f"--output-path={own}/report.json", f"--chrome-flags={flags}"]
        command += [f"--only-categories={','.join(categories)}", "--no-enable-error-reporting"]
        command += [f"--max-wait-for-load={LOADED_MS}"]
        command += ["--extra-headers", json.dumps({"Authorization": f"Bearer {secret}"})]
        command += [f"--preset={preset}"] if preset else []
        places = {name: own for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR")}
        for _ in range(ATTEMPTS):
            ended = subprocess.run(
                command, env={**os.environ, **places, "CHROME_PATH": windows.CHROMIUM, "CI": "1"}, capture_output=True, text=True, timeout=SECONDS
            )
            if not any(word in ended.stderr for word in TRANSIENT):
                break
        assert ended.returncode == 0, ended.stderr[-3000:]
        with open(f"{own}/report.json", encoding="utf-8") as file:
            return json.load(file)


def scores(report):
    """{category: 0 to 100}."""
    return {name: round(100 * (category["score"] or 0)) for name, category in report["categories"].items()}


def faults(report, category):
    """The audits that cost CATEGORY points, a line each."""
    lines = []
    for reference in report["categories"][category]["auditRefs"]:
        audit = report["audits"][reference["id"]]
        if reference["weight"] and audit["score"] is not None and audit["score"] < 1:
            items = json.dumps(audit.get("details", {}).get("items", []))[:1500]
            lines.append(f"{audit['id']}: {audit['title']} {audit.get('displayValue', '')} {items}")
    return lines
