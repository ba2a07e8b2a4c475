# SPDX-License-Identifier: Apache-2.0
"""Columns of values that have types already: of workbooks, JSON, databases. Each becomes what a column of a CSV would be, so that
code and checks need not care; texts that are all ISO dates are dates."""

import datetime
import itertools
import json
import math
import os

from adder_runner import csv_form, csv_kinds, csv_read, csv_report, table_format

CELLS = 1 << 18  # that are turned into columns at once
MIN_ROWS = 64
MAX_COLUMNS = 20_000
SCANNED = 1000  # rows that a scan looks at
ISO = "%Y-%m-%d"


class Source:
    """A file of a format that says its types itself."""

    def __init__(self, path, format, called, options):
        self.path, self.format, self.called, self.options = path, format, called, options
        self.size = os.path.getsize(path)

    def cannot(self, reason):
        """The error of what is damaged."""
        what = table_format.FORMATS[self.format][0]
        return csv_read.CannotRead(f"{self.called} is {what} that cannot be read: {csv_form.brief(str(reason), 200) or type(reason).__name__}")

    def chosen(self, wanted, names):
        """WANTED, if it is one of NAMES, those of the tables in the file."""
        if wanted not in names:
            raise csv_read.CannotRead(f"{self.called} has no table {csv_form.brief(wanted, 60)!r}; it has {listed(names) or 'none'}")
        return wanted

    def told(self, columns, frame, sample_rows, assumed, rows, is_cut):
        said = [*assumed, *csv_report.said_of_columns(columns)]
        if self.options:
            said.insert(0, f"The file says itself how it is written, so {csv_form.some(list(self.options))} did not count.")
        return {**csv_report.common(self, columns, frame, sample_rows, said), "format": self.format, "rows": rows, "partial": is_cut}


def listed(names):
    """NAMES of tables, for a sentence."""
    return csv_form.some([csv_form.brief(name, 40) for name in names], 20)


def form_of(names, header=True):
    """The names of columns as code has them."""
    form = csv_form.Form(None, None, None)
    form.header, form.width, form.originals = header, len(names), names
    csv_form.name_columns(form)
    return form


class Rows:
    """A table that comes row by row, some of them wider than those before."""

    def __init__(self, width):
        self.values = [Values() for _ in range(width)]
        self.count, self.pending = 0, []

    def add(self, row):
        self.pending.append(row)
        self.count += 1
        if len(row) > len(self.values):
            before = self.count - len(self.pending)
            self.values.extend(Values(before) for _ in range(len(row) - len(self.values)))
        if len(self.pending) * len(self.values) >= CELLS and len(self.pending) >= MIN_ROWS:
            self.flush(1)

    def take_back(self):
        """Forgets the last row."""
        self.count -= 1
        return self.pending.pop()

    def flush(self, kept=0):
        """Turns rows into parts of columns, but for the last KEPT."""
        cut = len(self.pending) - kept
        done, self.pending = self.pending[:cut], self.pending[cut:]
        columns = list(itertools.zip_longest(*done))
        for at, values in enumerate(self.values):
            values.add(columns[at] if at < len(columns) else (None,) * len(done))


def frame_of(values, form, rows, sample_rows):
    """(columns, a DataFrame) of VALUES, those of each column."""
    from adder_runner import csv_columns

    columns = [each.column(csv_columns, name, original) for each, name, original in zip(values, form.names, form.originals)]
    return columns, csv_columns.frame(columns, rows, sample_rows)


class Values:
    """Values of one column, as parts of one kind each; what the column is shows at the end."""

    def __init__(self, before=0):
        """BEFORE: of so many rows there is no value."""
        self.parts = [("empty", None, before)] if before else []
        self.kinds, self.notes, self.missing = set(), [], set()

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def add(self, values):
        kind, values = self.judged(values)
        if kind != "empty":
            self.kinds.add(kind)
        self.parts.append((kind, None if kind == "empty" else array_of(kind, values), len(values)))

    def judged(self, values):
        """(kind, VALUES as that has them)"""
        types = {*map(type, values)} - {type(None)}
        if str in types and types <= {str, int, float}:
            words = {value for value in values if isinstance(value, str)}
            if len(types) > 1 and all(word.strip() in csv_kinds.NO_VALUE for word in words):
                self.missing |= words
                types, values = types - {str}, [None if isinstance(value, str) else value for value in values]
        if not types:
            return "empty", values
        for kind, fits in FITS:
            if types <= fits:
                return self.checked(kind, values)
        if types == {datetime.timedelta}:
            self.note("durations are in seconds")
            return "number", [None if value is None else value.total_seconds() for value in values]
        if len(types) > 1 and not types & {list, dict}:
            self.note("it holds values of different types, so all were read as texts")
        return "text", self.texts(values)

    def checked(self, kind, values):
        if kind == "integer" and any(value is not None and not -(2**63) <= value < 2**63 for value in values):
            self.note("some numbers have more than 63 bits, so all were read as floating point")
            kind = "number"
        if kind != "number":
            return kind, values
        try:
            return kind, [None if value is None or value != value else float(value) for value in values]
        except OverflowError:
            return "text", self.texts(values)

    def texts(self, values):
        if any(isinstance(value, (list, dict)) for value in values):
            self.note("what is nested was read as JSON, and lists as texts with a comma and a blank between their items")
        return [said(value) for value in values]

    def column(self, csv_columns, name, original):
        """The whole, and nothing is left here."""
        kind = self.kinds.pop() if len(self.kinds) == 1 else "empty" if not self.kinds else "number" if self.kinds == {"integer", "number"} else "text"
        if kind == "text" and self.kinds:
            self.note("it holds values of different types, so all were read as texts")
        parts = [settled(csv_columns, kind, *part) for part in self.parts]
        column = csv_columns.Column(name, original, csv_kinds.Kind(kind), {})
        if kind == "text":
            parts = as_dates(csv_columns, column, parts)
        column.parts, column.missing = parts, self.missing
        column.kind.notes.extend(self.notes)
        return column


def said(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list) and not any(isinstance(item, (list, dict, tuple)) for item in value):
        return ", ".join("" if item is None else said(item) for item in value)
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, float) and math.isnan(value):
        return None
    return str(value)


FITS = (
    ("boolean", {bool}), ("integer", {int}), ("number", {int, float}), ("date", {datetime.date, datetime.datetime}), ("text", {str}),
)  # fmt: skip


def array_of(kind, values):
    import pyarrow

    from adder_runner import csv_columns

    if kind == "date":
        values = [datetime.datetime(value.year, value.month, value.day) if type(value) is datetime.date else value for value in values]
    try:
        return pyarrow.array(values, csv_columns.TYPES[kind])
    except UnicodeEncodeError:  # half a character, which JSON can hold
        return pyarrow.array([None if value is None else value.encode("utf-8", "replace").decode() for value in values], csv_columns.TYPES[kind])


def settled(csv_columns, kind, of, array, count):
    """A part of kind OF, as one of KIND."""
    import pyarrow

    wanted = csv_columns.TYPES[kind]
    if array is None:
        return pyarrow.nulls(count, wanted)
    if kind == "text" and of != "text":
        return pyarrow.array([said(value) for value in array.to_pylist()], wanted)
    return array.cast(wanted)


def as_dates(csv_columns, column, parts):
    """PARTS, texts, as dates where all are ISO dates. Sets the kind of COLUMN."""
    seen = next((values for part in parts if (values := [value for value in csv_columns.unique(part) if value])), [])
    judged = csv_kinds.judge_columns([seen], {})[0] if seen else column.kind
    if judged.kind != "date" or judged.format != ISO:
        return parts
    made = []
    for part in parts:
        dates, zones = csv_columns.moments(part, ISO)
        if dates.null_count != part.null_count:
            return parts
        if zones is not None:
            column.zones.update(value for value in csv_columns.unique(zones))
        made.append(dates)
    column.kind = csv_kinds.Kind("date", format=ISO)
    return made
