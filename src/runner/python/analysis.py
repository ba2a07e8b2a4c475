# SPDX-License-Identifier: Apache-2.0
"""An analysis run: tables are read as they are, code answers a question with them, and the report says how they were read, what
the answer is, and whether it is what was expected (docs/analysis.md). The report is the run's last display.

Code shares its interpreter with what makes the report, so the report is no more than the code's own word; the daemon takes it as
it takes all output."""

import os

from adder_runner import answers, checks, csv_read, csv_report, display, guarded, places, queries, table_read, tracebacks

MIME = "application/vnd.adder.analysis+json"
SAMPLE_ROWS, PREVIEW_ROWS = 20, 10
INNER_MAX = 100  # characters of the name of a sheet, or of a table of a database

# Columns, characters of a cell and items of what is nested; less of all, until the report fits into one display.
BOUNDS = ((1000, 200, 1000), (300, 200, 300), (100, 100, 100), (40, 60, 40), (20, 30, 10), (5, 20, 5))
BYTES_MAX = 900 << 10
VALUES_MAX = 100000  # the daemon takes twice as many
CPU_SHARE = 0.8  # of the processor time, up to which the whole result is written to a file


class NoResult(Exception):
    """The code leaves no answer."""

    __module__ = "builtins"  # tracebacks call it by its name alone


class Report:
    """What is told at the end, however that comes."""

    def __init__(self, asked):
        self.asked = asked
        self.tables, self.results, self.tests = [], [], []  # there is one result, or none yet
        self.file = None  # that has the whole result

    def publish(self):
        rows = self.asked.get("preview_rows")
        for columns, characters, items in BOUNDS:
            told = tracebacks.clean_values(self.made(answers.Bounds(columns, PREVIEW_ROWS if rows is None else rows, characters, items)))
            text = display.to_text(told)
            if len(text.encode()) <= BYTES_MAX and text.count(",") + text.count(":") <= VALUES_MAX:
                break
        display.publish({MIME: told, "text/plain": self.line(told)})

    def made(self, bounds):
        return {
            "mode": self.asked["mode"],
            "tables": [fitted(table, bounds) for table in self.tables],
            "result": answers.describe(self.results[0], bounds) if self.results else None,
            "tests": self.tests,
            "file": self.file,
        }

    def line(self, told):
        """The report in a line."""
        parts = [f"{table['name']}: {'part of it' if table.get('partial') else str(table.get('rows')) + ' rows'}" for table in told["tables"][:5]]
        if told["result"]:
            parts.append(f"the result is {told['result']['kind']}: {told['result']['text'][:200]}")
        if self.tests:
            parts.append(f"{sum(test['ok'] for test in self.tests)} of {len(self.tests)} tests hold")
        return "; ".join(parts).replace("\n", " ")


def fitted(table, bounds):
    """TABLE, as table_read tells it, within BOUNDS."""
    columns, sample = table["columns"], table["sample"]
    rows = len(sample) if bounds.columns > 20 else 3
    kept = [{key: bounds.cut(value) if isinstance(value, str) else value for key, value in column.items()} for column in columns[: bounds.columns]]
    cells = [[bounds.cut(cell) if isinstance(cell, str) else cell for cell in row[: bounds.columns]] for row in sample[:rows]]
    hidden = table["columns_hidden"] + len(columns) - len(kept)
    return {**table, "columns": kept, "sample": cells, "columns_hidden": hidden, "sample_hidden": len(sample) - len(cells)}


def run(request, outcome):
    """The analysis that REQUEST asks for; OUTCOME gets the answer as its value, and the report, to be published at the end."""
    asked = request["analysis"]
    if asked["mode"] == "scan" and not request.get("check"):
        outcome.report = Report(asked)
        scan(asked, outcome.report)
        return
    code = guarded.Code(request)
    if request.get("check"):
        return
    report = outcome.report = Report(asked)
    exports, display.exports = display.exports, None  # what the code shows on its way is no answer
    tables = load(asked, report)
    # In the code's own, columns come and go; what it is held against has those that were read.
    code.furnish({name: frame.copy(deep=False) for name, frame in tables.items()})
    names, value = code.run()
    if "result" not in names and value is None:
        raise NoResult("the code leaves no answer: put it into the variable result, or end with an expression that has a value")
    result = names.get("result", value)
    report.results.append(result)
    report.tests = checks.look(asked.get("expect") or [], result, tables)
    outcome.value = {"text/plain": answers.describe(result, answers.Bounds(10, 1, 200, 10))["text"]}
    if exports is not None:
        display.exports = exports
        keep(request["tables"], report)


def keep(wanted, report):
    """Writes the result of REPORT to a file, where it is a table. The answer is not lost with it: time is left for what is still to be
    told."""
    frame = display.attempt("the whole result", lambda: answers.table_of(report.results[0]))
    if frame is None:
        return
    display.exports.cpu_s = wanted["cpu_ms"] / 1000 * CPU_SHARE
    display.keep(frame)
    report.file = next((f"tmp/output/{name}" for name in display.exports.names), None)


def reading_of(table, asked):
    """How TABLE is to be read: path, options, rows of the sample and what its file is called."""
    rows = asked.get("sample_rows")
    return os.path.join(places.work, table["file"]), table.get("options") or {}, SAMPLE_ROWS if rows is None else rows, table.get("original")


def scan(asked, report):
    for table in asked["tables"]:
        for inner, told in table_read.scan(*reading_of(table, asked)):
            report.tables.append({**told, "name": full_name(table, inner), "file": table["file"], "sql": queries.is_there()})


def load(asked, report):
    """The frames of the tables, by name."""
    frames = {}
    for table in asked["tables"]:
        for inner, frame, told in table_read.load(*reading_of(table, asked)):
            name = full_name(table, inner)
            if name in frames:
                raise csv_read.CannotRead(f"two tables are called {name!r}: give one of their files another name")
            frames[name] = frame
            report.tables.append({**told, "name": name, "file": table["file"], "sql": queries.is_there()})
    return frames


def full_name(table, inner):
    """The name of TABLE, or of the table INNER of its several."""
    return table["name"] if inner is None else f"{table['name']}.{csv_report.shown(inner, INNER_MAX)}"
