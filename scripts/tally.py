# SPDX-License-Identifier: Apache-2.0
"""Counts test cases and prints "PASSED FAILED SKIPPED".

    python3 tally.py [--left-out FILE] [--again FILE] FILE...

A FILE is pytest's JUnit XML or Meson's testlog.json, whose TAP is read here: Meson's own JUnit file counts a program
that ran out of time, or died between two cases, as passed. Failed cases are named on standard error; what was skipped,
with its reason, goes to the file of --left-out. What failed and, by the results in the file of --again, did not when it
was run once more by itself counts as it ended then, and is named as unsteady on standard error. A FILE that is missing or
broken counts as one failure, since what should have written it did not come to its end.
"""
import argparse
import json
import re
import sys
import xml.etree.ElementTree

TAP_LINE = re.compile(r"^(ok|not ok)\s+\d+\s*-?\s*(.*?)(?:\s+#\s*(SKIP|TODO)\b\s*(.*))?$", re.IGNORECASE)


def meson_cases(path):
    """Yields (name, "passed" | "failed" | "skipped", reason)."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            test = json.loads(line)
            failed = 0
            cases = [TAP_LINE.match(text) for text in (test.get("stdout") or "").splitlines()]
            for case in filter(None, cases):
                word, name, directive, reason = case.groups()
                state = "skipped" if (directive or "").upper() == "SKIP" else "passed" if word == "ok" else "failed"
                failed += state == "failed"
                yield f"{test['name']} {name}", state, reason
            if test["result"] == "SKIP" and not any(cases):
                yield test["name"], "skipped", None
            elif test["result"] == "OK" and not any(cases):
                yield test["name"], "passed", None
            elif test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL") and not failed:
                yield f"{test['name']}: {test['result']}, it did not come to its end", "failed", None


def pytest_cases(path):
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            yield name, "failed", None
        elif skip is not None:
            yield name, "skipped", skip.get("message")
        else:
            yield name, "passed", None


def run_again(path):
    """How the cases ended that did not fail again: {name: (state, reason)}."""
    try:
        return {name: (state, reason) for name, state, reason in pytest_cases(path) if state != "failed"}
    except (OSError, xml.etree.ElementTree.ParseError):
        return {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--left-out", type=argparse.FileType("a", encoding="utf-8"))
    parser.add_argument("--again", default="")
    parser.add_argument("files", nargs="+")
    given = parser.parse_args()
    again = run_again(given.again) if given.again else {}
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for path in given.files:
        try:
            cases = list((meson_cases if path.endswith(".json") else pytest_cases)(path))
        except (OSError, ValueError, KeyError, xml.etree.ElementTree.ParseError) as error:
            cases = [(f"{path}: {error}", "failed", None)]
        for name, state, reason in cases:
            if state == "failed" and name in again:
                state, reason = again[name]
                print(f"UNSTEADY {name}", file=sys.stderr)
            elif state == "failed":
                print(f"FAILED {name}", file=sys.stderr)
            if state == "skipped" and given.left_out:
                print(f"{name}: {reason or 'no reason given'}", file=given.left_out)
            count[state] += 1
    print(*count.values())


main()
