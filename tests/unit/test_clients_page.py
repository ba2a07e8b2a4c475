# SPDX-License-Identifier: Apache-2.0
"""scripts/testing/clients_page.py: what it makes of results, and what of a page it finds wrong."""
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as trees

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "testing" / "clients_page.py"
PAGE = "# Clients\n\n<!-- clients: begin; made by scripts/testing/clients_page.py -->\n<!-- clients: end -->\nafter\n"
ROW = {"section": "MCP", "client": "One", "version": "1.0", "reaches": "text", "changed": "", "tested": "the client"}


class Place:
    """A directory with a page and results."""

    def __init__(self, directory):
        self.directory, self.page = directory, directory / "docs" / "clients.md"
        self.page.parent.mkdir()
        self.page.write_text(PAGE)
        (directory / "build" / "test-results").mkdir(parents=True)

    def results(self, *cases):
        """CASES: (name of a test, its row or None, what it is beside passed)."""
        suite = trees.Element("testsuite")
        for name, row, state in cases:
            case = trees.SubElement(suite, "testcase", classname="tests.clients.test_x", name=name)
            if row:
                trees.SubElement(trees.SubElement(case, "properties"), "property", name="client_row", value=json.dumps(row))
            if state:
                trees.SubElement(case, state)
        trees.ElementTree(suite).write(self.directory / "build" / "test-results" / "clients.xml")

    def check(self, *options):
        ended = subprocess.run([sys.executable, "-I", SCRIPT, *options], cwd=self.directory, capture_output=True, text=True)
        return ended.returncode, ended.stdout + ended.stderr


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def written(place, *cases):
    place.results(*cases)
    assert place.check("--write")[0] == 0
    return place.page.read_text()


def test_rows_are_of_tests_that_passed(place):
    text = written(place, ("test_a[x]", ROW, None), ("test_a[y]", ROW, None), ("test_b", ROW, None), ("test_c", {**ROW, "client": "Two"}, "failure"))
    assert text.startswith("# Clients\n") and text.endswith("\nafter\n") and "Two" not in text
    assert "| One | 1.0 | text | | the client | `clients/test_x.py::test_a`, `clients/test_x.py::test_b` |\n" in text
    assert place.check() == (0, "\n")


def test_a_client_without_a_row_and_a_row_without_a_test(place):
    written(place, ("test_a", ROW, None))
    for version, state in (("1.1", None), ("1.0", "failure")):
        place.results(("test_a", {**ROW, "version": version}, state), ("test_b", {**ROW, "client": "Two"}, None))
        status, said = place.check()
        assert status == 1 and "-| One | 1.0 " in said and "+| Two | 1.0 " in said and "is not current" in said
        assert ("+| One | 1.1 " in said) == (version == "1.1")


def test_a_row_whose_test_is_skipped_stays(place):
    text = written(place, ("test_a", ROW, None), ("test_b", {**ROW, "client": "Two"}, None))
    place.results(("test_a", None, "skipped"), ("test_b", {**ROW, "client": "Two"}, None))
    assert place.check() == (0, "\n") and place.check("--write")[0] == 0 and place.page.read_text() == text


def test_results_of_a_stage_that_still_runs_are_not_read(place):
    written(place, ("test_a", ROW, None))
    (place.directory / "build" / "test-results" / "web.xml").write_text("<testsuite><testc")
    assert place.check() == (0, "\n")


def test_what_cannot_be_a_page_is_said(place):
    assert place.check() == (1, "build/test-results has no rows: run scripts/test first\n")
    place.results(("test_a", ROW, None), ("test_b", {**ROW, "reaches": "pictures"}, None))
    status, said = place.check("--write")
    assert status == 1 and "two tests disagree about One" in said
