# SPDX-License-Identifier: Apache-2.0
"""Reads the results of tests: pytest's JUnit XML and Meson's testlog.json.

Meson's own JUnit file counts a program that ran out of time, or died between two cases, as passed, so its TAP is read here.
"""
import json
import re
import typing
import xml.etree.ElementTree

BAIL_OUT = re.compile(r"^Bail out! *(.*)$", re.MULTILINE)
TAP_LINE = re.compile(r"^(ok|not ok)\s+\d+\s*-?\s*(.*?)(?:\s+#\s*(SKIP|TODO)\b\s*(.*))?$", re.IGNORECASE)

# By the element that a test case has in pytest's file; a test that failed may have been torn down with an error as well.
PYTEST_STATES = {"failure": "failed", "error": "failed", "skipped": "skipped"}


class Case(typing.NamedTuple):
    """One test case. `reason` is why it was skipped or failed, `seconds` what it took, or what `timed` took, where that is known."""

    name: str
    state: str  # passed, failed or skipped
    reason: str = ""
    seconds: float | None = None
    timed: str = ""  # a program with several cases, of which the first has its time


def meson_cases(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            test = json.loads(line)
            failed = 0
            bail_out = BAIL_OUT.search(test.get("stdout") or "")
            why = bail_out[1] if bail_out else ""
            cases = [TAP_LINE.match(text) for text in (test.get("stdout") or "").splitlines()]
            seconds = test.get("duration")
            for case in filter(None, cases):
                word, name, directive, reason = case.groups()
                state = "skipped" if (directive or "").upper() == "SKIP" else "passed" if word == "ok" else "failed"
                failed += state == "failed"
                yield Case(f"{test['name']} {name}", state, reason or (why if state == "failed" else ""), seconds, test["name"])
                seconds = None
            if test["result"] in ("OK", "SKIP") and not any(cases):
                yield Case(test["name"], "passed" if test["result"] == "OK" else "skipped", "", seconds)
            elif test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL") and not failed:
                yield Case(f"{test['name']}: {test['result']}, it did not finish", "failed", why, seconds)


def pytest_cases(path):
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        told = {child.tag: child for child in case}
        state, why = next(
            ((state, told[tag].get("message") or "") for tag, state in PYTEST_STATES.items() if tag in told), ("passed", "")
        )
        yield Case(name, state, why, float(case.get("time") or 0))


def cases(path):
    """The cases that PATH lists. A missing or broken file is one failure: what should have written it did not finish."""
    try:
        return list((meson_cases if path.suffix == ".json" else pytest_cases)(path))
    except (OSError, ValueError, KeyError, xml.etree.ElementTree.ParseError) as error:
        return [Case(f"{path}: {error}", "failed")]
