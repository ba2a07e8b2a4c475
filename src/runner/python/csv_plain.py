# SPDX-License-Identifier: Apache-2.0
"""What csv_columns.py does, value by value, where an environment has pandas and no pyarrow: slower, and texts are pandas' own."""

import numpy
import pandas

from adder_runner import csv_kinds

EXACT = 2**53
HAS_ARROW = False
TRUE, FALSE = frozenset(csv_kinds.TRUE), frozenset(csv_kinds.FALSE)


class Misfit(ValueError):
    pass


def from_texts(values):
    return [value or None for value in values]


class Column:
    """As csv_columns.Column."""

    def __init__(self, name, original, kind, options):
        self.name, self.original, self.options = name, original, options
        self.reset(kind)

    def reset(self, kind):
        self.kind = kind
        self.values, self.rows = [], 0
        self.missing, self.zones = set(), set()
        self.denied = self.line = None
        self.nulls, self.sample = 0, []

    def add(self, values):
        if self.denied is None:
            at = self.take(values)
            if at is not None:
                self.denied = self.rows + at, values[at]
                self.seen = [values[at], *distinct(values)]
                self.values = []
        self.rows += len(values)

    def take(self, values):
        """Converts VALUES. Returns the index of one that does not fit."""
        if self.kind.kind == "empty" and any(values):
            self.kind = csv_kinds.judge_columns([distinct(values)], self.options)[0]
        for at, value in enumerate(values):
            try:
                self.values.append(None if value is None else CONVERT[self.kind.kind](self, value))
            except ValueError:
                if self.kind.kind != "integer" or not self.widens(value):
                    return at
                self.values.append(number(self, value))
        return None

    def widens(self, value):
        """Makes what were integers so far numbers, if VALUE is one and that loses nothing."""
        try:
            number(self, value)
        except ValueError:
            return False
        if csv_kinds.regex(csv_kinds.LEADING_ZERO).match(value.strip()) or any(abs(each or 0) > EXACT for each in self.values):
            return False
        self.kind.kind = "number"
        self.values = [None if each is None else float(each) for each in self.values]
        return True

    def judge_again(self, parts):
        seen = [*(distinct(parts[0]) if parts else ()), *self.seen]
        for self.kind in (csv_kinds.judge_columns([seen], self.options)[0], csv_kinds.text()):
            self.values, self.missing, self.zones = [], set(), set()
            if all(self.take(part) is None for part in parts):
                return


def distinct(values):
    return [value for value in dict.fromkeys(values) if value is not None]


def present(column, value):
    """VALUE without space around it, or None where it is a word for no value."""
    value = value.strip()
    if value not in csv_kinds.NO_VALUE:
        return value
    column.missing.add(value)
    return None


def number(column, value):
    value = present(column, value)
    if value is None:
        return None
    kind = column.kind
    if not csv_kinds.regex(csv_kinds.NUMBER if kind.is_plain() else kind.pattern()).match(value):
        raise Misfit(value)
    return float(value if kind.is_plain() else csv_kinds.strip(value, kind))


def integer(column, value):
    value = present(column, value)
    if value is None:
        return None
    if not column.kind.is_plain():
        if not csv_kinds.regex(column.kind.pattern()).match(value):
            raise Misfit(value)
        value = csv_kinds.strip(value, column.kind)
    if not csv_kinds.regex(csv_kinds.INTEGER).match(value) or csv_kinds.regex(csv_kinds.LEADING_ZERO).match(value) or not csv_kinds.fits(value):
        raise Misfit(value)
    return int(value)


def boolean(column, value):
    value = present(column, value)
    if value is None:
        return None
    if value.lower() not in TRUE | FALSE:
        raise Misfit(value)
    return value.lower() in TRUE


def date(column, value):
    value = present(column, value)
    if value is None:
        return None
    found = csv_kinds.parts(value, csv_kinds.PATTERNS[column.kind.format])
    if found is None:
        raise Misfit(value)
    column.zones.add(found[1])
    return found[0]


def text(column, value):
    if value in csv_kinds.MISSING_TEXT and value not in column.kind.keeps:
        column.missing.add(value)
        return None
    return value


def empty(column, value):
    return None


CONVERT = {"integer": integer, "number": number, "boolean": boolean, "date": date, "text": text, "empty": empty}


def frame(columns, rows, sample_rows):
    made = {}
    for column in columns:
        column.nulls = sum(value is None for value in column.values)
        column.sample = column.values[:sample_rows]
        made[column.name] = finish(column)
        column.values = None
    return pandas.DataFrame(made, index=pandas.RangeIndex(rows))


def finish(column):
    kind, values = column.kind.kind, column.values
    if kind == "integer" and column.nulls:
        is_exact = all(abs(value or 0) <= EXACT for value in values)
        return numpy.array([numpy.nan if value is None else value for value in values], float) if is_exact else pandas.array(values, "Int64")
    if kind in ("integer", "number"):
        return numpy.array([numpy.nan if value is None else value for value in values], "int64" if kind == "integer" else float)
    if kind == "boolean":
        return pandas.array(values, "boolean") if column.nulls else numpy.array(values, bool)
    if kind == "date":
        return as_moments(column)
    if kind == "empty":
        return numpy.full(len(values), numpy.nan)
    return pandas.array(values, pandas.StringDtype("python"))


def as_moments(column):
    values = numpy.array(column.values, "M8[us]")
    years = [value.year for value in column.values if value is not None]
    if not years or (min(years) >= 1678 and max(years) <= 2261):
        return values.astype("M8[ns]")
    column.kind.notes.append("some dates are before 1678 or after 2261, so they are counted in microseconds")
    return values
