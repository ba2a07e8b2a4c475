# SPDX-License-Identifier: Apache-2.0
"""What code gets to handle the columns of tables safely: found however they are written, read as numbers and as dates, compared
with what was before, put into months and quarters. Models write these five lines again and again, and wrong."""

import re
import sys

FOLDED = re.compile(r"[\W_]+")
MARKS = re.compile(r"[^\d.,()eE+\-]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
EUROPEAN = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+|[+-]?\d{1,3}(\.\d{3}){2,}")
NAMES_SHOWN = 30


def pandas():
    return sys.modules["pandas"]


def folded(name):
    return FOLDED.sub("", str(name)).casefold()


def place_of(frame, name):
    """The name of the one column of FRAME that NAME means."""
    if name in frame.columns:
        return name
    wanted = folded(name)
    fitting = [column for column in frame.columns if folded(column) == wanted]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(repr(column) for column in frame.columns[:NAMES_SHOWN]) + (", ..." if len(frame.columns) > NAMES_SHOWN else "")
    raise KeyError(f"{'several columns are' if fitting else 'no column is'} called {name!r}; there are: {known}")


def col(frame, name):
    """The column of FRAME called NAME, whatever its case, blanks and underscores."""
    return frame[place_of(frame, name)]


def series_of(values):
    return values if isinstance(values, pandas().Series) else pandas().Series(values)


def numbers(values):
    """VALUES as floating point numbers, NaN where there is none: "1,234.50", "$5", "12%" (12) and "(3)" (-3) are numbers."""
    series = series_of(values)
    if series.dtype.kind in "biufc":
        return series.astype("float64")
    read = pandas().to_numeric(series, errors="coerce").astype("float64")
    left = read.isna() & series.notna()
    if left.any():
        read = read.where(~left, series.where(left).map(number_of, na_action="ignore").astype("float64"))
    return read


def number_of(value):
    """The number that the text VALUE says, NaN where it says none."""
    text = MARKS.sub("", str(value))
    if text.startswith("(") and text.endswith(")"):
        text = "-" + text[1:-1]
    if GROUPED.fullmatch(text):
        text = text.replace(",", "")
    elif EUROPEAN.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    return float(text) if NUMBER.fullmatch(text) else float("nan")


def dates(values, day_first=False):
    """VALUES as dates, NaT where there is none; 3/4/2024 is in March unless DAY_FIRST."""
    series = series_of(values)
    if series.dtype.kind == "M":
        return series
    if isinstance(series.dtype, pandas().PeriodDtype):
        return series.dt.to_timestamp()
    if series.dtype.kind in "iuf":  # years: what else would be meant by 2024
        series = series.astype("Int64").astype("string")
    read = pandas().to_datetime(series, errors="coerce", dayfirst=day_first)
    left = read.isna() & series.notna()
    if left.any() and not left.all():  # written in several ways
        read = read.where(~left, pandas().to_datetime(series.where(left), errors="coerce", dayfirst=day_first, format="mixed"))
    return read


def change(values, by=None):
    """(current - previous) / previous, in the order of VALUES, within each group of BY. NaN for the first, and after a 0."""
    series = series_of(values)
    series = series if series.dtype.kind in "iuf" else numbers(series)
    previous = series.shift(1) if by is None else series.groupby(by).shift(1)
    return (series - previous) / previous.where(previous != 0)


def periods(frame, column, frequency, name):
    found = column if isinstance(column, pandas().Series) else col(frame, column)
    if not isinstance(found.dtype, pandas().PeriodDtype):
        found = dates(found)
        found = found.dt.tz_localize(None) if found.dt.tz is not None else found
        found = found.dt.to_period(frequency)
    else:
        found = found.dt.asfreq(frequency)
    return found.rename(name)


def by_month(frame, column):
    """The month of each row of FRAME by its COLUMN, to group by."""
    return periods(frame, column, "M", "month")


def by_quarter(frame, column):
    """The quarter of each row of FRAME by its COLUMN, to group by."""
    return periods(frame, column, "Q", "quarter")


def by_year(frame, column):
    """The year of each row of FRAME by its COLUMN, to group by."""
    return periods(frame, column, "Y", "year")


GIVEN = {function.__name__: function for function in (col, numbers, dates, change, by_month, by_quarter, by_year)}
