# SPDX-License-Identifier: Apache-2.0
"""What the result of an analysis is held against, and the tables that it was made of. Which checks there are, and what each may
say, stands in library/analysis_form.c; a check that fails tells what was found, so that whoever wrote the code can repair it."""

import math
import re
import sys

from adder_runner import answers, columns, tracebacks

MESSAGE_MAX = 500
EXAMPLES = 3
RELATIVE = 1e-9  # how far numbers may lie apart where no tolerance is given
FREQUENCIES = {"day": "D", "week": "W", "month": "M", "quarter": "Q", "year": "Y"}
EXAMPLE = answers.Bounds(20, 3, 60, 20)


class Failed(Exception):
    """A check that does not hold; its text says what was found."""


def look(checks, result, tables):
    """{"check", "ok", "message"} of each of CHECKS."""
    subject = Subject(result, tables)
    return [told(check, subject) for check in checks]


def told(check, subject):
    wanted = {name: value for name, value in check.items() if value is not None or name == "equals"}
    try:
        message, ok = LOOKS[check["check"]](subject, wanted) or "it holds", True
    except Failed as failure:
        message, ok = str(failure), False
    except Exception as error:
        message, ok = f"it cannot be looked at: {type(error).__name__}: {tracebacks.message_of(error)}", False
    message = tracebacks.clean(message)
    return {"check": check, "ok": ok, "message": message if len(message) <= MESSAGE_MAX else message[: MESSAGE_MAX - 1] + "…"}


class Subject:
    """The result, and the tables by name."""

    def __init__(self, result, tables):
        self.result, self.tables = answers.settled(result), tables
        self.kind = answers.kind_of(self.result)

    def frame(self, check):
        """The table that CHECK is about: one that was given, or the result with its index as columns."""
        if "table" in check:
            return self.given(check)
        if self.kind not in ("table", "series"):
            raise Failed(f"the result is {self.says()}, not a table")
        return answers.flat(self.result)

    def given(self, check):
        """The table that CHECK names. That a file has one of that name shows only when it is read."""
        if check["table"] not in self.tables:
            raise Failed(f"there is no table {check['table']!r}; there are {examples(list(self.tables))}")
        return self.tables[check["table"]]

    def says(self):
        article = "an" if self.kind == "other" else "a"
        return "nothing" if self.kind == "none" else f"{article} {self.kind}{f' ({example(self.result)})' if self.kind in ('number', 'text', 'boolean', 'date') else ''}"

    def values(self, check):
        """What CHECK's column holds; without one the result itself, as a list."""
        if "column" in check:
            return column_of(self.frame(check), check["column"])
        library = answers.pandas()
        if self.kind == "table":
            raise Failed("the result is a table: say which column is meant")
        if self.kind == "series":
            return self.result
        return library.Series(list(self.result) if self.kind == "list" else [self.result])


# ---- what checks need ----


def names_of(frame):
    return [answers.name_of(name) for name in frame.columns]


def column_of(frame, name):
    names = names_of(frame)
    if name not in names:
        raise Failed(f"there is no column {name!r}; there are: {listed(names)}")
    return frame.iloc[:, names.index(name)]


def listed(values, most=20):
    values = list(values)
    return ", ".join(repr(value) for value in values[:most]) + (f" and {len(values) - most} more" if len(values) > most else "")


def example(value):
    found = answers.scalar(value, EXAMPLE) if answers.kind_of(value) not in ("table", "series", "list", "mapping") else answers.text_of(value, EXAMPLE)
    return repr(found) if isinstance(found, str) else "missing" if found is None else str(found)


def examples(values):
    """The first few of VALUES, for a message."""
    values = list(values)
    return ", ".join(example(value) for value in values[:EXAMPLES]) + (f" and {len(values) - EXAMPLES} more" if len(values) > EXAMPLES else "")


def is_numeric(series):
    return series.dtype.kind in "iuf" or (series.dtype.kind == "O" and all(answers.kind_of(item) == "number" for item in series.dropna()))


def numbers_of(series, what):
    if not is_numeric(series):
        raise Failed(f"{what} does not hold numbers but {series.dtype}: {examples(series.dropna())}")
    return series.dropna().astype("float64")


def is_near(found, wanted, tolerance):
    if tolerance is not None:
        return abs(found - wanted) <= tolerance
    return found == wanted or math.isclose(found, wanted, rel_tol=RELATIVE, abs_tol=RELATIVE)


def is_equal(found, wanted, tolerance):
    """Whether FOUND, a value of the code's, is WANTED, of JSON."""
    found = answers.settled(found)
    kind = answers.kind_of(found)
    if kind in ("table", "series", "list", "mapping"):
        return is_same(answers.plain(found, answers.Bounds(10000, 10000, 10000, 10000)), wanted, tolerance)
    if kind == "date" and isinstance(wanted, str):
        return same_date(found, wanted)
    return is_same(answers.scalar(found, answers.Bounds(0, 0, 100000, 0)), wanted, tolerance)


def is_same(found, wanted, tolerance):
    """Of two values of JSON."""
    if isinstance(wanted, bool) or isinstance(found, bool) or found is None or wanted is None:
        return found is wanted
    if isinstance(wanted, (int, float)) and isinstance(found, (int, float)):
        return is_near(found, wanted, tolerance)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(is_same(*pair, tolerance) for pair in zip(found, wanted))
    if isinstance(wanted, dict) and isinstance(found, dict):
        return found.keys() == wanted.keys() and all(is_same(found[name], wanted[name], tolerance) for name in wanted)
    return type(found) is type(wanted) and found == wanted


def same_date(found, wanted):
    library = answers.pandas()
    if isinstance(found, library.Period):
        return str(found) == wanted or library.Period(wanted, freq=found.freq) == found
    return answers.scalar(found, EXAMPLE) == wanted or library.Timestamp(found) == library.Timestamp(wanted)


def within(count, check, what):
    """That COUNT is as CHECK's least, most and equals say."""
    for name, fits, words in (("equals", count.__eq__, "exactly"), ("least", count.__ge__, "at least"), ("most", count.__le__, "at most")):
        if name in check and check[name] is not None and not fits(check[name]):
            raise Failed(f"there are {count} {what}, not {words} {check[name]}")
    return f"there are {count} {what}"


# ---- the checks ----


def look_at_columns(subject, check):
    names = names_of(subject.frame(check))
    missing = [name for name in check["names"] if name not in names]
    if missing:
        raise Failed(f"{listed(missing)} {'is' if len(missing) == 1 else 'are'} not among the columns; there are: {listed(names)}")


def look_at_shape(subject, check):
    rows, width = subject.frame(check).shape
    for name, found in (("rows", rows), ("columns", width)):
        if name in check and check[name] != found:
            raise Failed(f"there are {rows} rows and {width} columns, not {check[name]} {name}")


def look_at_rows(subject, check):
    return within(len(subject.frame(check)), check, "rows")


def look_at_length(subject, check):
    if subject.kind in ("table", "series", "list", "mapping", "text"):
        return within(len(subject.result), check, "characters" if subject.kind == "text" else "items")
    raise Failed(f"the result is {subject.says()}, which has no length")


def look_at_not_empty(subject, check):
    if subject.kind == "none":
        raise Failed("the result is nothing (None)")
    if subject.kind in ("table", "series", "list", "mapping", "text") and len(subject.result) == 0:
        raise Failed(f"the {subject.kind} is empty")


def look_at_kind(subject, check):
    wanted = [check["is"]] if isinstance(check["is"], str) else check["is"]
    if subject.kind not in wanted:
        raise Failed(f"the result is {subject.says()}, not {' or '.join(wanted)}")


def look_at_type(subject, check):
    series, wanted = subject.values(check), check["is"]
    kind = series.dtype.kind
    found = {"b": "boolean", "i": "integer", "u": "integer", "f": "number", "M": "date"}.get(kind)
    if isinstance(series.dtype, answers.pandas().PeriodDtype):
        found = "date"
    if found is None:
        kinds = {answers.kind_of(item) for item in series.dropna()}
        found = kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "empty"
        found = "integer" if found == "number" and all(float(item).is_integer() for item in series.dropna()) else found
    if found == "number" and wanted == "integer" and (series.dropna() % 1 == 0).all():
        found = "integer"  # NaN among them makes them floating point numbers
    if found != wanted and not (found == "integer" and wanted == "number"):
        raise Failed(f"the column {check['column']!r} is of type {found} ({series.dtype}), not {wanted}: {examples(series.dropna())}")


def look_at_order(subject, check):
    frame = subject.frame(check)
    by = [check["by"]] if isinstance(check["by"], str) else check["by"]
    wanted = answers.pandas().concat([column_of(frame, name).reset_index(drop=True) for name in by], axis=1)
    wanted.columns = range(len(by))
    ordered = wanted.sort_values(list(wanted.columns), ascending=check["direction"] == "asc", kind="stable")
    for position in wanted.columns:
        first, second = wanted[position], ordered[position].reset_index(drop=True)
        differing = ((first != second) & (first.notna() | second.notna())).fillna(True).to_numpy(dtype=bool).nonzero()[0]
        if len(differing):
            at = int(differing[0])
            words = "ascending" if check["direction"] == "asc" else "descending"
            raise Failed(f"the rows are not {words} by {listed(by)}: row {at} has {example(first.iloc[at])} where {example(second.iloc[at])} belongs")


def look_at_unique(subject, check):
    frame = subject.frame(check)
    keys = answers.pandas().concat([column_of(frame, name) for name in check["columns"]], axis=1)
    twice = keys[keys.duplicated()]
    if len(twice):
        raise Failed(f"{len(twice)} rows repeat what is in {listed(check['columns'])} of others, such as {examples(tuple(row) for row in twice.itertuples(index=False))}")


def look_at_numeric(subject, check):
    frame = subject.frame(check)
    for name in check["columns"]:
        numbers_of(column_of(frame, name), f"the column {name!r}")


def look_at_no_missing(subject, check):
    if "table" not in check and subject.kind not in ("table", "series"):
        if subject.values(check).isna().any():
            raise Failed("a value is missing (NaN)")
        return
    frame = subject.frame(check)
    names = names_of(frame)
    for name in check.get("columns", ()):
        column_of(frame, name)
    missing = frame.isna().to_numpy()
    for position in missing.any(axis=0).nonzero()[0]:
        if names[position] in check.get("columns", names):
            rows = missing[:, position].nonzero()[0]
            raise Failed(f"{len(rows)} value{'s are' if len(rows) > 1 else ' is'} missing (NaN) in {names[position]!r}, first in row {rows[0]}")


def look_at_range(subject, check):
    series = subject.values(check).dropna()
    dated = any(isinstance(check.get(name), str) for name in ("least", "most"))
    series = columns.dates(series) if dated else numbers_of(series, f"the column {check['column']!r}" if "column" in check else "the result")
    for name, is_outside, words in (("least", series.lt, "under"), ("most", series.gt, "over")):
        if name not in check:
            continue
        bound = answers.pandas().Timestamp(check[name]) if dated else check[name]
        outside = series[is_outside(bound)]
        if len(outside):
            raise Failed(f"{len(outside)} value{'s are' if len(outside) > 1 else ' is'} {words} {check[name]}: {examples(outside)}")


def look_at_value(subject, check):
    found = subject.result
    if "column" in check or "row" in check:
        frame, row = subject.frame(check), check.get("row", 0)
        series = column_of(frame, check["column"]) if "column" in check else frame.iloc[:, -1]
        if not -len(series) <= row < len(series):
            raise Failed(f"there is no row {row}: there are {len(series)}")
        found = series.iloc[row]
    elif subject.kind in ("table", "series") and len(found) == 1 and not isinstance(check["equals"], (list, dict)):
        found = answers.flat(found).iloc[0, -1]  # one number, still in its table
    if not is_equal(found, check["equals"], check.get("tolerance")):
        near = f" (tolerance {check['tolerance']})" if "tolerance" in check else ""
        raise Failed(f"it is {example(found)}, not {check['equals']!r}{near}")


def look_at_sum(subject, check):
    total = numbers_of(subject.values(check), f"the column {check['column']!r}").sum()
    if not is_near(total, check["equals"], check.get("tolerance")):
        raise Failed(f"the column {check['column']!r} adds up to {example(total)}, not {check['equals']}")


def of_table(subject, check):
    """The column of a table that was given, which CHECK compares the result with."""
    return column_of(subject.given(check), check.get("table_column", check["column"]))


def of_result(subject, check):
    return subject.values({"column": check["column"]})


def look_at_same_sum(subject, check):
    total = numbers_of(of_result(subject, check), f"the column {check['column']!r}").sum()
    given = columns.numbers(of_table(subject, check)).sum()
    if not is_near(total, given, check.get("tolerance")):
        raise Failed(f"the column {check['column']!r} adds up to {example(total)}, that of the table {check['table']!r} to {example(given)}")


def look_at_dates(subject, check):
    frame = subject.frame(check)
    found = column_of(frame, check["column"])
    keys = [check["by"]] if isinstance(check.get("by"), str) else check.get("by", [])
    periods = columns.periods(frame, found, FREQUENCIES[check["every"]], "period").reset_index(drop=True)
    if periods.isna().any():
        rows = periods.isna().to_numpy().nonzero()[0]
        raise Failed(f"row {rows[0]} of {check['column']!r} is no date: {example(found.iloc[rows[0]])}")
    groups = periods.groupby([column_of(frame, key).reset_index(drop=True) for key in keys], observed=True) if keys else [("", periods)]
    for name, group in groups:
        look_at_periods(group, check, f" of {', '.join(example(part) for part in name)}" if keys else "")


def look_at_periods(group, check, of_whom):
    twice = group[group.duplicated()]
    if len(twice):
        raise Failed(f"the {check['every']} {twice.iloc[0]} has several rows{of_whom}; one each is wanted")
    if check.get("gaps"):
        return
    ordered = group.sort_values()
    steps = ordered.astype("int64").diff().shift(-1)  # to the next
    if (steps > 1).any():
        missing = ordered[steps > 1].iloc[0] + 1
        raise Failed(f"there is no row for the {check['every']} {missing}{of_whom}: {len(group)} rows from {ordered.iloc[0]} to {ordered.iloc[-1]}")


def look_at_contains(subject, check):
    if subject.kind == "text" and "column" not in check:
        missing = [value for value in check["values"] if str(value) not in subject.result]
    elif subject.kind == "mapping" and "column" not in check:
        missing = [value for value in check["values"] if value not in answers.plain(subject.result, answers.Bounds(0, 0, 1000, 100000))]
    else:
        missing = [value for value in check["values"] if not occurs(value, subject.values(check))]
    if missing:
        raise Failed(f"{listed(missing)} {'is' if len(missing) == 1 else 'are'} not there")


def occurs(value, series):
    if value is None:
        return bool(series.isna().any())
    return any(is_equal(item, value, None) for item in series.dropna().unique())


def look_at_only(subject, check):
    others = [item for item in subject.values(check).dropna().unique() if not any(is_equal(item, value, None) for value in check["values"])]
    if others:
        raise Failed(f"there are others: {examples(others)}")


def look_at_known(subject, check):
    found, given = of_result(subject, check).dropna(), of_table(subject, check)
    unknown = found[~found.isin(given)].unique()
    if len(unknown):
        unknown = set(map(str, unknown)) - set(map(str, given.dropna().unique()))
    if len(unknown):
        raise Failed(f"the table {check['table']!r} has no {examples(sorted(unknown))}")


def look_at_distinct(subject, check):
    return within(int(subject.values(check).nunique()), check, "different values")


def look_at_matches(subject, check):
    pattern = re.compile(check["pattern"])
    others = [item for item in subject.values(check).dropna() if not pattern.fullmatch(str(item))]
    if others:
        raise Failed(f"{len(others)} do not match {check['pattern']}: {examples(others)}")


LOOKS = {name.removeprefix("look_at_"): look_at for name, look_at in vars(sys.modules[__name__]).items() if name.startswith("look_at_") and name != "look_at_periods"}
