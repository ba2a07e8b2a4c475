# SPDX-License-Identifier: Apache-2.0
"""The result of an analysis as a program reads it: what kind of thing it is, its shape and columns, its first rows, a small table
in Markdown, and its value where JSON has one. The result is the code's own and may be anything: what fails here is said, and
what is long is cut to the bounds of the report."""

import math
import sys

from adder_runner import tables, tracebacks

TEXT_MAX = 2000
DEPTH_MAX = 8
SCALARS = (("boolean", bool), ("number", (int, float)), ("text", str))


class Bounds:
    """How much of everything is told; a report that is too long is made again with fewer."""

    def __init__(self, columns, rows, characters, items):
        self.columns, self.rows, self.characters, self.items = columns, rows, characters, items
        self.left = 8 * items  # in all, of what is nested

    def cut(self, text):
        text = tracebacks.clean(text)
        return text if len(text) <= self.characters else text[: self.characters - 1] + "…"


def pandas():
    return sys.modules["pandas"]


# ---- what it is ----


def kind_of(value):
    """One of table, series, number, text, boolean, date, list, mapping, none, other."""
    library = pandas()
    if value is None or value is library.NA:
        return "none"
    if isinstance(value, library.DataFrame):
        return "table"
    if isinstance(value, library.Series):
        return "series"
    if value is library.NaT or isinstance(value, (library.Period, datetime_class())):
        return "date"
    if isinstance(value, (list, tuple, set, frozenset, range, library.Index, library.api.extensions.ExtensionArray, numpy().ndarray)):
        return "list" if getattr(value, "ndim", 1) else "other"
    if isinstance(value, dict):
        return "mapping"
    if isinstance(value, numpy().bool_):
        return "boolean"
    if isinstance(value, (numpy().number, decimal_class())) and not isinstance(value, (numpy().complexfloating, numpy().timedelta64)):
        return "number"
    if isinstance(value, numpy().datetime64):
        return "date"
    return next((kind for kind, classes in SCALARS if isinstance(value, classes)), "other")


def numpy():
    return sys.modules["numpy"]


def datetime_class():
    return sys.modules["datetime"].date  # Timestamp and datetime are dates


def decimal_class():
    return getattr(sys.modules.get("decimal"), "Decimal", ())


def settled(value):
    """VALUE as it is looked at: what a Styler dresses, the plain class of what is a class of the code's own, a number for an array
    without dimensions."""
    library = pandas()
    style = getattr(sys.modules.get("pandas.io.formats.style"), "Styler", ())
    if isinstance(value, style):
        value = value.data
    for plain in (library.DataFrame, library.Series):
        if isinstance(value, plain) and type(value) is not plain:
            return plain(value)
    if isinstance(value, numpy().ndarray) and value.ndim == 0:
        return value.item()
    if isinstance(value, numpy().ndarray) and value.ndim == 2:
        return library.DataFrame(value)
    return value


def flat(value):
    """The frame that VALUE, a table or a series, is with its index as columns, where that says something: row numbers do not."""
    frame = value
    if isinstance(value, pandas().Series):
        frame = value.to_frame("value" if value.name is None else value.name)
    index = frame.index
    counted = isinstance(index, pandas().RangeIndex) and index.name is None
    numbered = index.nlevels == 1 and index.name is None and index.dtype.kind in "iu"
    if counted or (numbered and (frame is value or (index == numpy().arange(len(index))).all())):
        return frame
    named = [name if name is not None else "index" if index.nlevels == 1 else f"level_{level}" for level, name in enumerate(index.names)]
    levels = {position: index.get_level_values(position) for position in range(index.nlevels)}
    parts = [pandas().Series(level.array, index=range(len(index)), name=named[position]) for position, level in levels.items()]
    rest = frame.set_axis(range(len(index)), axis=0)
    whole = pandas().concat([*parts, rest], axis=1)
    whole.columns = [*named, *frame.columns]
    return whole


def table_of(value):
    """The frame that has all of VALUE, with the columns that are told of it; None where it is neither a table nor a series."""
    value = settled(value)
    if kind_of(value) not in ("table", "series"):
        return None
    frame = flat(value).copy(deep=False)
    frame.columns, frame.index = [name_of(name) for name in frame.columns], range(len(frame))
    return frame


def name_of(column):
    """The name of a column as text, also of one of several levels."""
    if isinstance(column, tuple):
        return " / ".join(name_of(part) for part in column if part != "")
    return str(column)


# ---- values as JSON ----


def scalar(value, bounds):
    """VALUE as JSON has it, null for what is missing or not finite."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return bounds.cut(str(value))
    if isinstance(value, (pandas().Timestamp, numpy().datetime64)):
        value = pandas().Timestamp(value)
        return None if value is pandas().NaT else date_text(value)
    if isinstance(value, numpy().generic):
        value = value.item()
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value) if -(2**63) <= value < 2**63 else bounds.cut(huge(value))
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is pandas().NA or value is pandas().NaT:
        return None
    if isinstance(value, decimal_class()):
        return float(value) if value.is_finite() else None
    if isinstance(value, bool):
        return value
    if isinstance(value, datetime_class()):
        return date_text(value)
    return text_of(value, bounds)


def huge(value):
    """An integer of more than 64 bits; Python refuses to write out one of many thousand digits."""
    return str(value) if value.bit_length() < 4096 else f"a whole number of {value.bit_length()} bits"


def date_text(value):
    text = value.isoformat()
    return text.removesuffix("T00:00:00")


def text_of(value, bounds):
    try:
        return bounds.cut(str(value))
    except Exception as error:
        return f"<{type(value).__name__[:100]} whose __str__ failed: {type(error).__name__[:100]}>"


def plain(value, bounds, depth=0):
    """VALUE as JSON: of lists and mappings the first items."""
    value = settled(value)
    kind = kind_of(value)
    if depth >= DEPTH_MAX and kind in ("table", "series", "list", "mapping"):
        return "..."
    if kind == "table":
        frame = flat(value)
        names = [bounds.cut(name_of(name)) for name in frame.columns[: bounds.columns]]
        return [dict(zip(names, row)) for row in rows_of(frame.iloc[: bounds.items // 4], bounds)]
    if kind == "series":
        frame = flat(value)
        if frame.shape[1] == 1:
            return [scalar(item, bounds) for item in value.iloc[: bounds.items].tolist()]
        *keys, values = (frame.iloc[: bounds.items, position].tolist() for position in range(frame.shape[1]))
        names = [" / ".join(str(scalar(part, bounds)) for part in parts) for parts in zip(*keys)]
        return {name: plain(item, bounds, depth + 1) for name, item in zip(names, values)}
    if kind == "mapping":
        return {bounds.cut(key_text(key, bounds)): plain(item, bounds, depth + 1) for key, item in first(value.items(), bounds)}
    if kind == "list":
        return [plain(item, bounds, depth + 1) for item in first(value, bounds)]
    return scalar(value, bounds)


def first(items, bounds):
    """As many of ITEMS as may be told."""
    for _, item in zip(range(bounds.items), items):
        if bounds.left <= 0:
            return
        bounds.left -= 1
        yield item


def key_text(key, bounds):
    if isinstance(key, tuple):
        return " / ".join(str(scalar(part, bounds)) for part in key)
    found = scalar(key, bounds)
    return found if isinstance(found, str) else str(key if found is None else found)


def rows_of(frame, bounds):
    columns = [[scalar(settled_cell(item), bounds) for item in frame.iloc[:, position].tolist()] for position in range(min(frame.shape[1], bounds.columns))]
    return [list(row) for row in zip(*columns)]


def settled_cell(value):
    """Lists and their like within a cell are its text."""
    return value if not isinstance(value, (list, tuple, dict, set, frozenset)) else str(value)[:TEXT_MAX]


# ---- the whole ----


def describe(value, bounds):
    """RESULT, of the report."""
    try:
        value = settled(value)
        kind = kind_of(value)
        told = DESCRIBED.get(kind, describe_scalar)(value, kind, bounds)
    except Exception as error:
        why = bounds.cut(f"{type(error).__name__}: {tracebacks.message_of(error)}")
        kind, told = "other", {"text": f"the result is of a class ({bounds.cut(type(value).__name__)}) that cannot be described: {why}"}
    empty = {"shape": None, "columns": [], "hidden_columns": 0, "rows": [], "hidden_rows": 0, "markdown": "", "value": None, "text": ""}
    return {"kind": kind, **empty, **told}


def describe_table(value, kind, bounds):
    frame = flat(value)
    count, width = frame.shape
    shown = frame.iloc[: bounds.rows, : bounds.columns]
    names = [bounds.cut(name_of(name)) for name in shown.columns]
    dtypes = [bounds.cut(str(dtype)) for dtype in shown.dtypes.tolist()]
    cells = [[bounds.cut(text) for text in tables.cells(pandas(), shown.iloc[:, position])] for position in range(shown.shape[1])]
    words = f"{count} row{'' if count == 1 else 's'} x {width} column{'' if width == 1 else 's'}"
    hidden = count - len(shown)
    note = f"[{words}{f'; the first {len(shown)} are shown' if hidden else ''}{f'; {width - shown.shape[1]} columns are hidden' if width > shown.shape[1] else ''}]"
    return {
        "shape": [count, width],
        "columns": [{"name": name, "dtype": dtype} for name, dtype in zip(names, dtypes)],
        "hidden_columns": width - shown.shape[1],
        "rows": rows_of(shown, bounds),
        "hidden_rows": hidden,
        "markdown": tables.markdown(names, [list(line) for line in zip(*cells)], note),
        "text": words,
    }


def describe_list(value, kind, bounds):
    items = list(value) if isinstance(value, (set, frozenset)) else value
    if isinstance(value, (set, frozenset)):
        try:
            items = sorted(items)
        except TypeError:
            pass
    count = len(items)
    found = plain(items, bounds)
    return {"value": found, "text": bounds.cut(f"{count} items: {short(found)}"), "hidden_rows": max(count - len(found), 0)}


def describe_mapping(value, kind, bounds):
    found = plain(value, bounds)
    return {"value": found, "text": bounds.cut(f"{len(value)} items: {short(found)}"), "hidden_rows": max(len(value) - len(found), 0)}


def short(found):
    from adder_runner import display

    return display.to_text(tracebacks.clean_values(found))[:TEXT_MAX]


def describe_scalar(value, kind, bounds):
    longer = Bounds(bounds.columns, bounds.rows, TEXT_MAX, bounds.items)
    if kind == "number" and isinstance(value, int):
        return {"value": scalar(value, longer), "text": huge(value)[:TEXT_MAX]}
    return {"value": scalar(value, longer) if kind != "other" else None, "text": text_of(value, longer)}


DESCRIBED = {"table": describe_table, "series": describe_table, "list": describe_list, "mapping": describe_mapping}
