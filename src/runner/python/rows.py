# SPDX-License-Identifier: Apache-2.0
"""A page of the rows of a table: what a grid shows of a DataFrame, a Series or an array that may have millions.

Without an order or a filter only the rows of the page are looked at. The rest is bounded: what would take too long is refused,
since the code that sorts cannot be interrupted."""

import itertools
import json
import math
import reprlib
import sys
import time

from adder_runner import tracebacks

ROWS_MAX = 1000
COLUMNS_MAX = 500
CELLS_MAX = 60_000
TEXT_MAX = 1000  # characters of a cell
PAGE_BYTES = 3 << 20  # of the rows, as JSON
NAME_MAX = 200  # characters of a column's name
EXACT = 1 << 53  # whole numbers beyond it are text: a reader of JSON may round them
SORT_MAX = 5_000_000  # rows: it takes some times the memory of the column
SORT_OBJECTS_MAX = 2_000_000  # of values that are compared one by one
FILTER_S = 7
CHUNK = 50_000
# The letters that values of a kind can have, by numpy's name for it: a text with others is not in them.
LETTERS = {"i": frozenset("0123456789-"), "u": frozenset("0123456789"), "f": frozenset("0123456789+-.einfa"), "M": frozenset("0123456789+-.: nat")}

now = time.monotonic
encode = json.JSONEncoder().encode


class Refused(Exception):
    """KIND is one of those that the daemon has a sentence for."""

    def __init__(self, kind, about=""):
        super().__init__(kind)
        self.kind, self.about = kind, about


def of_variable(names, request):
    """The answer to a question for rows of a variable."""
    return answer(lambda: table_of_variable(names, request["name"]), request)


def answer(find, request):
    """The page of the table that FIND returns, or why there is none."""
    try:
        return page(find(), request)
    except Refused as refused:
        return {"refused": refused.kind, "about": tracebacks.clean(refused.about)[:NAME_MAX]}


# ---- tables ----


class Columns:
    """What has a column at each position, of values in memory."""

    def values(self, position, rows):
        return self.column(position, rows).tolist()

    def matching(self, text):
        return matching_rows(self, text)

    def in_order(self, position, chosen, descending):
        return in_order(self, position, chosen, descending)


class Frame(Columns):
    """A pandas DataFrame."""

    def __init__(self, frame):
        self.frame, self.rows, self.width = frame, len(frame), frame.shape[1]

    def names(self):
        return list(self.frame.columns[:COLUMNS_MAX])

    def types(self):
        return [str(kind) for kind in self.frame.dtypes.iloc[:COLUMNS_MAX]]

    def column(self, position, rows=None):
        column = self.frame.iloc[:, position]
        return column if rows is None else column.iloc[rows]

    def index(self, rows):
        return self.frame.index[rows].tolist()


class Array(Columns):
    """A numpy array of one or two dimensions, where there may be no pandas."""

    def __init__(self, array):
        self.array = array if array.ndim == 2 else array.reshape(-1, 1)
        self.rows, self.width = self.array.shape

    def names(self):
        return list(range(min(self.width, COLUMNS_MAX)))

    def types(self):
        return [str(self.array.dtype)] * min(self.width, COLUMNS_MAX)

    def column(self, position, rows=None):
        column = self.array[:, position]
        return column if rows is None else column[rows]

    def index(self, rows):
        return list(range(*rows.indices(self.rows))) if isinstance(rows, slice) else rows.tolist()


def table_of_variable(names, name):
    if name not in names:
        raise Refused("missing")
    return table_of(names[name])


def table_of(value):
    pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
    kind = type(value)
    if issubclass(kind, getattr(pandas, "DataFrame", ())):
        return Frame(value)
    if issubclass(kind, getattr(pandas, "Series", ())):
        return Frame(value.to_frame(value.name if value.name is not None else "value"))
    if issubclass(kind, getattr(numpy, "ndarray", ())) and value.ndim in (1, 2) and value.dtype.names is None:
        return Array(value)
    raise Refused("no_table", kind.__name__)


# ---- the page ----


def page(table, request):
    """{"columns", "rows", "index", "total", "matching", "offset", "columns_left_out"} of TABLE; fewer rows than were asked for where
    these would be too long."""
    offset, limit = request.get("offset", 0), max(1, min(request.get("limit", 100), ROWS_MAX))
    names = [label(name) for name in table.names()]
    chosen = positions(table, names, request)
    matching = table.rows if chosen is None else len(chosen)
    limit = max(1, min(limit, CELLS_MAX // max(len(names), 1)))
    rows = slice(offset, offset + limit) if chosen is None else chosen[offset : offset + limit]
    columns = [table.values(position, rows) for position in range(len(names))]
    index = [key(item) for item in table.index(rows)]
    lines = fitting([[cell(value) for value in line] for line in zip(*columns)] if columns else [[] for _ in index], index)
    return {
        "columns": [{"name": name, "type": cut(kind, NAME_MAX)} for name, kind in zip(names, table.types())],
        "rows": lines,
        "index": index[: len(lines)],
        "total": table.rows,
        "matching": matching,
        "offset": offset,
        "columns_left_out": table.width - len(names),
    }


def fitting(lines, index):
    """The first of LINES, with what INDEX has for each, that are not too long together, and at least one."""
    left = PAGE_BYTES
    for number, line in enumerate(lines):
        left -= len(encode(line)) + len(encode(index[number])) + 4
        if left < 0:
            return lines[: max(number, 1)]
    return lines


def positions(table, names, request):
    """The rows that match, in order, as an array; None: all of them as they are."""
    chosen = None
    if request.get("filter"):
        chosen = table.matching(request["filter"].casefold())
    if request.get("sort") is not None:
        if request["sort"] not in names:
            raise Refused("no_column", request["sort"])
        chosen = table.in_order(names.index(request["sort"]), chosen, bool(request.get("descending")))
    return chosen


def matching_rows(table, text):
    """Of a Frame or an Array: by parts, so that memory and time are bounded."""
    numpy, until = sys.modules["numpy"], now() + FILTER_S
    found = [numpy.zeros(0, "int64")]
    for begin in range(0, table.rows, CHUNK):
        hits = numpy.zeros(min(CHUNK, table.rows - begin), bool)
        for position in range(table.width):
            hits[hits_of(table.column(position, slice(begin, begin + CHUNK)), text)] = True
            if now() > until:
                raise Refused("slow_filter")
        found.append(begin + hits.nonzero()[0])
    return numpy.concatenate(found)


def hits_of(column, text):
    """Where in COLUMN the text is."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in LETTERS and not LETTERS[kind].issuperset(text):
        return []
    if "pyarrow" in sys.modules:
        try:
            found = arrow_hits(sys.modules["pyarrow"].array(column, from_pandas=True), text)
            return found.to_numpy(zero_copy_only=False).nonzero()[0]
        except Exception:  # values of several types, or of the user's
            pass
    return [place for place, value in enumerate(column.tolist()) if text in (value if type(value) is str else plain(value)).casefold()]


def arrow_hits(values, text):
    """Whether TEXT is in each of VALUES, of Arrow."""
    import pyarrow
    from pyarrow import compute

    if not pyarrow.types.is_string(values.type):
        values = values.cast(pyarrow.string())
    return compute.match_substring(values, text, ignore_case=True).fill_null(False)


def in_order(table, position, chosen, descending):
    """The rows of a Frame or an Array by their values in a column, equal ones as they stood, missing ones last."""
    count = table.rows if chosen is None else len(chosen)
    column = table.column(position, chosen)
    if count > (SORT_MAX if getattr(column.dtype, "kind", "O") in "biufmMc" else SORT_OBJECTS_MAX):
        raise Refused("long_sort")
    order = by_pandas(column, descending) if "pandas" in sys.modules else by_numpy(column, descending)
    return order if chosen is None else chosen[order]


def by_pandas(column, descending):
    series = sys.modules["pandas"].Series(getattr(column, "array", column))
    try:
        ordered = series.sort_values(ascending=not descending, kind="stable", na_position="last")
    except Exception:  # values that do not compare
        ordered = series.map(plain).sort_values(ascending=not descending, kind="stable")
    return ordered.index.to_numpy()


def by_numpy(column, descending):
    order = len(column) - 1 - column[::-1].argsort(kind="stable")[::-1] if descending else column.argsort(kind="stable")
    present = column[order] == column[order]
    return sys.modules["numpy"].concatenate((order[present], order[~present]))


# ---- cells ----


class Short(reprlib.Repr):
    """Containers by their beginning."""

    def __init__(self):
        super().__init__()
        self.maxlevel, self.maxother, self.maxlong, self.maxstring = 4, 1 << 30, 400, TEXT_MAX
        self.maxtuple = self.maxlist = self.maxarray = self.maxdict = self.maxset = self.maxfrozenset = self.maxdeque = 50

    def repr_instance(self, value, level):
        return repr(value)


short = Short()
CONTAINERS = (list, tuple, dict, set, frozenset)


def plain(value):
    """VALUE as text."""
    if isinstance(value, str):
        return value
    try:
        return short.repr(value) if type(value) in CONTAINERS else str(value)
    except Exception as error:
        return f"<{type(error).__name__}>"


def cut(text, most=TEXT_MAX):
    text = tracebacks.clean(text[: most + 1])
    return text if len(text) <= most else text[: most - 1] + "…"


def label(name):
    if isinstance(name, tuple):
        return cut(" / ".join(plain(part) for part in itertools.islice(name, 20) if part != ""), NAME_MAX)
    return cut(plain(name), NAME_MAX)


def key(item):
    """Of a row, shorter than a cell."""
    item = label(item) if isinstance(item, tuple) else cell(item)
    return cut(item, NAME_MAX) if isinstance(item, str) else item


def cell(value):
    """VALUE as JSON has it: missing ones are null, and what JSON has no number for is text."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return cut(value)
    if kind is int:
        return value if -EXACT <= value <= EXACT else cut(plain(value))
    if kind is float:
        return None if value != value else value if math.isfinite(value) else str(value)
    if kind.__name__ in ("NaTType", "NAType"):
        return None
    if hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        item = value.item()
        return cell(item) if type(item) is not kind else cut(plain(value))
    return cut(plain(value))


# ---- files ----


class Arrow:
    """A table of Arrow's, as files are read: only the page becomes Python's."""

    def __init__(self, table, begin=0, rows=None):
        """TABLE has the rows from BEGIN of one that has ROWS."""
        about = (table.schema.pandas_metadata or {}).get("index_columns", [])
        labels = [name for name in about if isinstance(name, str) and name in table.column_names]
        self.labels = [table.column(name) for name in labels]
        self.table = table.drop_columns(labels) if labels else table
        self.begin, self.rows, self.width = begin, table.num_rows if rows is None else rows, self.table.num_columns

    def names(self):
        return self.table.column_names[:COLUMNS_MAX]

    def types(self):
        return [KINDS.get(str(kind), str(kind)) for kind in self.table.schema.types[:COLUMNS_MAX]]

    def part(self, column, rows):
        if isinstance(rows, slice):
            return column.slice(max(0, rows.start - self.begin), rows.stop - rows.start)
        return column.take(sys.modules["pyarrow"].array(rows))

    def values(self, position, rows):
        return self.part(self.table.column(position), rows).to_pylist()

    def index(self, rows):
        if self.labels:
            found = [self.part(column, rows).to_pylist() for column in self.labels]
            return found[0] if len(found) == 1 else list(zip(*found))
        return list(range(*rows.indices(self.rows))) if isinstance(rows, slice) else rows.tolist()

    def matching(self, text):
        from pyarrow import compute

        hits = None
        for column in self.table.columns:
            try:
                found = arrow_hits(column, text)
            except Exception:  # such as lists, which are no texts
                found = sys.modules["pyarrow"].array([value is not None and text in plain(value).casefold() for value in column.to_pylist()])
            hits = found if hits is None else compute.or_(hits, found)
        numpy = sys.modules["numpy"]
        return numpy.zeros(0, "int64") if hits is None else hits.to_numpy(*([] if hasattr(hits, "chunks") else [False])).nonzero()[0]

    def in_order(self, position, chosen, descending):
        import pyarrow
        from pyarrow import compute

        column = self.table.column(position)
        if pyarrow.types.is_dictionary(column.type) or pyarrow.types.is_nested(column.type):
            column = pyarrow.chunked_array([pyarrow.array([None if value is None else plain(value) for value in column.to_pylist()], pyarrow.string())])
        column = column if chosen is None else column.take(pyarrow.array(chosen))
        order = compute.array_sort_indices(column, order="descending" if descending else "ascending", null_placement="at_end").to_numpy()
        return order if chosen is None else chosen[order]


# By pandas' names, which people know.
KINDS = {"double": "float64", "float": "float32", "string": "str", "large_string": "str"}


def of_file(name, request):
    """Prints the page that REQUEST, JSON, wants of the table in the file NAME."""
    request = json.loads(request)
    print(encode(answer(lambda: read(name, request), request)))


def read(name, request):
    if name.endswith(".parquet"):
        return read_parquet(name, request)
    if name.endswith(".json"):
        import pandas

        return Frame(pandas.read_json(name, orient="records", dtype=False, convert_dates=False))
    return read_csv(name)


def read_parquet(name, request):
    """Of a table that is neither sorted nor filtered, the parts that a page needs."""
    from pyarrow import parquet

    file = parquet.ParquetFile(name)
    if request.get("filter") or request.get("sort") is not None:
        return Arrow(file.read())
    groups, first, begin = [], 0, 0
    for number in range(file.num_row_groups):
        end = begin + file.metadata.row_group(number).num_rows
        if begin < request["offset"] + request["limit"] and end > request["offset"]:
            first = first if groups else begin
            groups.append(number)
        begin = end
    return Arrow(file.read_row_groups(groups), first, file.metadata.num_rows)


def read_csv(name):
    """As Arrow reads it, which takes a fraction of the time; what it cannot read, as pandas does."""
    from pyarrow import csv

    with open(name, "rb") as file:
        quoted = any(b'"' in block for block in iter(lambda: file.read(1 << 20), b""))
    try:
        return Arrow(
            csv.read_csv(
                name,
                parse_options=csv.ParseOptions(newlines_in_values=quoted),
                convert_options=csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=["", "NaN", "nan", "NA", "null", "NaT"]),
            )
        )
    except Exception:  # such as whole numbers in a column that has others further down
        import pandas

        return Frame(pandas.read_csv(name))
