# SPDX-License-Identifier: Apache-2.0
"""Lighthouse at the page of somebody signed in."""
import pytest

import lighthouse

CATEGORIES = ("accessibility", "best-practices")


@pytest.fixture(autouse=True)
def installed():
    if not lighthouse.LIGHTHOUSE.exists():
        pytest.skip("there is no Lighthouse: `. scripts/common.sh; web_tests`")


@pytest.mark.parametrize("view", ["notebook", "approvals", "daemon"])
def test_accessibility_and_best_practices(served, seen, view):
    report = lighthouse.report(f"http://127.0.0.1:{served.port}/#/{view}", served.secret, CATEGORIES)
    reached = lighthouse.scores(report)
    for category in CATEGORIES:
        assert reached[category] == 100, "\n".join(lighthouse.faults(report, category))
