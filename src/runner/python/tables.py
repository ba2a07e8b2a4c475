# SPDX-License-Identifier: Apache-2.0
"""Tables and arrays as a model reads them: a DataFrame as Markdown, HTML and data, 20 rows whole or the first and last ten; an
array with its shape and type. Nothing is imported: who has such an object has its library."""

import html
import math
import sys

from adder_runner import tracebacks

EDGE = 10  # rows, and columns, that are shown from each end
CELL_MAX = 100  # characters
COLUMNS_MAX = 100  # of the data form
STATISTICS_MAX = 5_000_000  # values that are looked at for statistics
UNIQUE_MAX = 100_000  # rows
TABLE = "application/vnd.adder.table+json"


def represent(value):
    """The bundle of a DataFrame, Series or array; None for anything else."""
    pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
    if pandas is not None:
        frame_class, series_class = getattr(pandas, "DataFrame", None), getattr(pandas, "Series", None)
        if frame_class is not None and isinstance(value, frame_class):
            return represent_frame(pandas, value, value, f"{len(value)} rows x {value.shape[1]} columns")
        if series_class is not None and isinstance(value, series_class):
            name = value.name if value.name is not None else 0
            note = f"Series of {len(value)} values, {value.dtype}"
            return represent_frame(pandas, value, value.to_frame(name), note)
    if numpy is not None and isinstance(value, getattr(numpy, "ndarray", ())):
        return {"text/plain": f"{value!r}\nshape {tuple(value.shape)}, dtype {value.dtype}"}
    return None


def represent_frame(pandas, value, frame, note):
    rows, columns = chosen(len(frame)), chosen(frame.shape[1])
    shown = frame.iloc[rows[0] + rows[1], columns[0] + columns[1]]
    header, lines = grid(pandas, shown)
    hidden = []
    if rows[1]:
        hidden.append(f"{len(frame) - 2 * EDGE} rows in the middle are hidden")
        lines.insert(EDGE, ["..."] * len(header))
    if columns[1]:
        hidden.append(f"{frame.shape[1] - 2 * EDGE} columns in the middle are hidden")
        at = len(header) - EDGE
        for line in (header, *lines):
            line.insert(at, "...")
    note = f"[{'; '.join([note, *hidden])}]"
    return {
        "text/plain": repr(value),
        "text/markdown": markdown(header, lines, note),
        "text/html": page(header, lines, note, frame.index.nlevels),
        TABLE: data(pandas, value, frame),
    }


def chosen(count):
    """The first and the last of COUNT positions, or all and none."""
    if count <= 2 * EDGE:
        return list(range(count)), []
    return list(range(EDGE)), list(range(count - EDGE, count))


# ---- text ----


def grid(pandas, frame):
    """The names of all columns of FRAME, its index first, and its lines, as text."""
    index = frame.index
    names = [label(name) if name is not None else "" for name in index.names]
    header = names + [label(name) for name in frame.columns]
    levels = [index.get_level_values(level) for level in range(index.nlevels)]
    columns = [[label(item) for item in level] for level in levels]
    columns += [cells(pandas, frame.iloc[:, position]) for position in range(frame.shape[1])]
    return header, [list(line) for line in zip(*columns)]


def label(name):
    if isinstance(name, tuple):
        return " / ".join(label(part) for part in name if part != "")
    return cut(str(name))


def cut(text):
    text = tracebacks.clean(text)
    return text if len(text) <= CELL_MAX else text[: CELL_MAX - 1] + "…"


def cells(pandas, column):
    """The values of COLUMN as text; floating point numbers with as many digits as the longest of them needs, at most six."""
    values = column.tolist()
    if column.dtype.kind != "f":
        return [cut(str(value)) for value in values]
    custom = pandas.get_option("display.float_format")
    if custom is not None:
        return [cut(custom(value)) for value in values]
    finite = [abs(value) for value in values if isinstance(value, float) and math.isfinite(value) and value]
    if finite and (max(finite) >= 1e15 or min(finite) < 1e-4):
        return [number(value, "g") for value in values]
    texts = [number(value, "f") for value in values]
    while all(not text.endswith(tuple("123456789")) for text in texts) and any(text.endswith("0") and not text.endswith(".0") for text in texts):
        texts = [text[:-1] if text.endswith("0") and not text.endswith(".0") else text for text in texts]
    return texts


def number(value, kind):
    if not isinstance(value, float) or value != value:
        return "NaN"
    return format(value, ".6" + kind)


def markdown(header, lines, note):
    def line(texts):
        return "| " + " | ".join(text.replace("|", "\\|").replace("\n", " ") for text in texts) + " |"

    return "\n".join([line(header), "|" + " --- |" * len(header), *map(line, lines), "", note])


def page(header, lines, note, levels):
    def row(texts, names):
        parts = [f"<{'th' if position < names else 'td'}>{html.escape(text)}</{'th' if position < names else 'td'}>" for position, text in enumerate(texts)]
        return "<tr>" + "".join(parts) + "</tr>"

    body = "\n".join(row(line, levels) for line in lines)
    head = row(header, len(header))
    return f'<table border="1" class="dataframe">\n<thead>\n{head}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n<p>{html.escape(note[1:-1])}</p>'


# ---- data ----


def data(pandas, value, frame):
    """What a program wants to know of FRAME: columns with their types and statistics, and the first rows."""
    head = frame.iloc[: 2 * EDGE, :COLUMNS_MAX]
    columns = [{"name": label(name), "dtype": str(kind)} for name, kind in zip(frame.columns[:COLUMNS_MAX], frame.dtypes.tolist())]
    if frame.size <= STATISTICS_MAX:
        add_statistics(frame.iloc[:, :COLUMNS_MAX], columns)
    return {
        "kind": "series" if value is not frame else "frame",
        "shape": list(value.shape),
        "index": [{"name": None if name is None else label(name), "dtype": str(level.dtype)} for name, level in levels(frame.index)],
        "columns": columns,
        "head": [[scalar(item) for item in row] for row in zip(*(head.iloc[:, position].tolist() for position in range(head.shape[1])))],
        "head_index": [[scalar(part) for part in item] if isinstance(item, tuple) else scalar(item) for item in head.index.tolist()],
        "columns_left_out": max(frame.shape[1] - COLUMNS_MAX, 0),
    }


def levels(index):
    return [(name, index.get_level_values(level)) for level, name in enumerate(index.names)]


def add_statistics(frame, columns):
    """Puts simple statistics of FRAME's columns into COLUMNS. Whole blocks at a time: a call for each column costs more than what it
    counts."""
    kinds = [getattr(kind, "kind", "O") for kind in frame.dtypes.tolist()]
    for entry, nulls in zip(columns, frame.isna().sum().tolist()):
        entry["nulls"] = int(nulls)
    if not len(frame):
        return
    for group, names in (("iuf", ("min", "max", "mean", "std")), ("M", ("min", "max"))):
        chosen_ones = [position for position, kind in enumerate(kinds) if kind in group]
        part = frame.iloc[:, chosen_ones]
        for name in names if chosen_ones else ():
            try:
                found = getattr(part, name)().tolist()
            except Exception:  # values that do not compare
                continue
            for position, value in zip(chosen_ones, found):
                whole = kinds[position] in "iu" and name in ("min", "max")
                columns[position][name] = int(value) if whole else scalar(value)
    for position, kind in enumerate(kinds):
        try:
            if kind == "b":
                columns[position]["true"] = int(frame.iloc[:, position].sum())
            elif kind == "O" and len(frame) <= UNIQUE_MAX:
                columns[position]["unique"] = int(frame.iloc[:, position].nunique())
        except Exception:  # values that cannot be counted, such as lists
            pass


def scalar(value):
    """VALUE as JSON has it."""
    if value is None or isinstance(value, (bool, str)):
        return cut(value) if isinstance(value, str) else value
    if hasattr(value, "item") and not hasattr(value, "isoformat"):
        value = value.item()
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value != value:  # NaT and its kin
        return None
    return cut(value.isoformat() if hasattr(value, "isoformat") else str(value))
