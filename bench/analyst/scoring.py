# SPDX-License-Identifier: Apache-2.0
"""Whether an answer is the expected one. An answer is the `result` of an analysis (docs/ask.md): a value, a list, a mapping or
a table; what is expected is one of

    {"value": X}      a number, text, true or false, or a date
    {"list": [X ...]} in this order
    {"rows": [[X ...] ...]}  in this order

A number is right within the tolerance of its question, text in any case and with any blanks around it, a date however much
of a time stands behind it. Names of columns are free, and so is the order of columns and how many more there are: for each
expected column there must be one that holds it."""
import math
import re

DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.0+)?)?(?:Z|\+00:00)?")
CLOSE = 1e-9  # numbers that were computed in another order


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def moment(text):
    """A date as (date, time), or None."""
    found = DATE.fullmatch(text.strip())
    return found and (found[1], (found[2] or "00:00")[:5])


def same(found, expected, tolerance=0.0):
    """Whether two cells are equal."""
    if number(expected):
        if isinstance(found, str):
            try:
                found = float(found)
            except ValueError:
                return False
        return number(found) and math.isclose(found, expected, rel_tol=CLOSE, abs_tol=max(tolerance, 1e-12))
    if isinstance(expected, str):
        if not isinstance(found, str):
            return number(found) and same(expected, found)
        if moment(expected):
            return moment(found) == moment(expected)
        return found.strip().casefold() == expected.strip().casefold()
    return type(found) is type(expected) and found == expected


def rows_of(result):
    """The cells of RESULT as rows, whatever kind it is."""
    kind, value = result["kind"], result.get("value")
    if kind == "list":
        return [item if isinstance(item, list) else [item] for item in value or []]
    if kind == "mapping":
        return [[key, *(item if isinstance(item, list) else [item])] for key, item in (value or {}).items()]
    if kind in ("table", "series"):
        return result["rows"]
    return [[value]]


def holds(rows, expected, tolerance):
    """Whether ROWS hold a column for each of EXPECTED, and are as many, in the same order."""
    if len(rows) != len(expected) or len({len(row) for row in rows}) > 1:
        return False
    free = set(range(len(rows[0]))) if rows else set()
    for wanted in zip(*expected):
        fits = [place for place in sorted(free) if all(same(row[place], cell, tolerance) for row, cell in zip(rows, wanted))]
        if not fits:
            return False
        free.remove(fits[0])
    return True


def right(result, expect, tolerance=0.0):
    """Whether RESULT is what EXPECT says. No result at all is wrong."""
    if not result or result.get("hidden_rows"):
        return False
    rows = rows_of(result)
    if "rows" in expect:
        return holds(rows, expect["rows"], tolerance)
    if "list" in expect:
        return holds(rows, [[item] for item in expect["list"]], tolerance) or (
            len(rows) == 1 and holds([rows[0]], [expect["list"]], tolerance)
        )
    # One value: alone, or at the end of a single row, behind what it belongs to.
    return len(rows) == 1 and len(rows[0]) >= 1 and same(rows[0][-1], expect["value"], tolerance)


def brief(result):
    """RESULT in a line for people."""
    if not result:
        return "no result"
    rows = rows_of(result)
    text = " | ".join(", ".join(f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row) for row in rows[:3])
    more = len(rows) - 3 + (result.get("hidden_rows") or 0)
    return f"found {text}" + (f" and {more} more rows" if more > 0 else "")
