# SPDX-License-Identifier: Apache-2.0
"""Holds the tables of docs/clients.md against the results of a run of the tests in build/test-results; --write puts them in.

A row is what a test that passed put down (the fixture client_row of tests/conftest.py), as a property of its case in JUnit's XML. A
row of the page that is missing there stays while cases of its tests were skipped.
"""
import difflib
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

PAGE, RESULTS = pathlib.Path("docs/clients.md"), pathlib.Path("build/test-results")
BEGIN, END = "<!-- clients: begin; made by scripts/testing/clients_page.py -->\n", "<!-- clients: end -->\n"
STAGES = ("clients", "e2e")  # which have ended: the results of those that run beside this one may be half written
SECTIONS = ("MCP", "Agent frameworks", "HTTP")
TITLES = ("client", "version", "parts of a reply that arrive", "how Adder adapts", "tested with", "tests")
TEST = re.compile(r"`([^` ]+\.py::[^` ]+)`")


def test_of(case):
    """FILE::FUNCTION below tests/, whatever the parameters."""
    file = case.get("classname", "").removeprefix("tests.").replace(".", "/")
    return f"{file}.py::{case.get('name', '').partition('[')[0]}"


def read_results():
    """The rows of tests that passed, {section: {(client, version): (row, tests)}}; the tests of which cases were skipped; and which
    rows do not agree."""
    rows, skipped, problems = {section: {} for section in SECTIONS}, set(), []
    for path in filter(pathlib.Path.exists, (RESULTS / f"{stage}.xml" for stage in STAGES)):
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            if case.find("skipped") is not None:
                skipped.add(test_of(case))
            if any(case.find(tag) is not None for tag in ("failure", "error", "skipped")):
                continue
            for row in (json.loads(each.get("value")) for each in case.iter("property") if each.get("name") == "client_row"):
                known, tests = rows[row["section"]].setdefault((row["client"], row["version"]), (row, set()))
                tests.add(test_of(case))
                if known != row:
                    problems.append(f"two tests disagree about {row['client']}:\n  {known}\n  {row}")
    return rows, skipped, problems


def line_of(row, tests):
    cells = [row[name] for name in ("client", "version", "reaches", "changed", "tested")]
    cells.append(", ".join(f"`{test}`" for test in sorted(tests)))
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def lines_of_page(block, skipped):
    """{section: {(client, version): line}} of those rows that stay where they are missing."""
    kept = {section: {} for section in SECTIONS}
    for section, table in re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", block, re.M):
        for line in re.findall(r"^\|.*\|$", table, re.M):
            if section in kept and skipped.intersection(TEST.findall(line)):
                kept[section][tuple(cell.strip() for cell in line.split("|")[1:3])] = line
    return kept


def made(rows, kept):
    text = ""
    for section in SECTIONS:
        lines = {**kept[section], **{key: line_of(*each) for key, each in rows[section].items()}}
        text += f"\n## {section}\n\n| {' | '.join(TITLES)} |\n|{'---|' * len(TITLES)}\n"
        text += "".join(f"{lines[key]}\n" for key in sorted(lines, key=lambda key: (key[0].lower(), key[1])))
    return text + "\n"


def main():
    rows, skipped, problems = read_results()
    if not any(rows.values()):
        sys.exit(f"{RESULTS} has no rows: run scripts/test first")
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    block, tail = rest.split(END)
    current = head + BEGIN + made(rows, lines_of_page(block, skipped)) + END + tail
    if "--write" in sys.argv:
        PAGE.write_text(current)
    elif current != page:
        problems += difflib.unified_diff(page.splitlines(), current.splitlines(), str(PAGE), "what the tests saw", lineterm="", n=0)
        problems.append(f"{PAGE} is not current: after scripts/test, /usr/bin/python3 -I scripts/testing/clients_page.py --write")
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(main())
