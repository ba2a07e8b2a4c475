# SPDX-License-Identifier: Apache-2.0
"""SQL over the tables of a run, by DuckDB: sql("select ...") beside pandas (docs/tables.md#sql).

A query is held against rules before it runs, as DuckDB's own parser has read it: one statement that only reads, the tables that
code has, no functions that reach anything else. DuckDB itself reads no files, loads no extensions and cannot be set otherwise. It
is loaded with the first query: in the zygote it would cost every run its share."""

import importlib.util
import json
import re

from adder_runner import csv_form, guard

SHARE = 2  # of the run's memory DuckDB gets one part in so many: the tables and what comes out are beside it
MESSAGE_MAX, NAMES_MAX, NAME_MAX = 500, 20, 60
KIND = re.compile(r"^[A-Z][A-Za-z -]{0,30} Error: ")  # which DuckDB puts before what was wrong
READINGS_MAX = 200  # of a file that is not what its first part looks like
MEMORY = "the query needs more memory than it may take of the run's limit memory_bytes"
ARROW_MEMORY = ": Out of memory: "  # what Arrow ran out of, in the words of DuckDB that reads from it
INSTALL = "sql needs the package duckdb, which this environment does not have: make the environment science again, or add duckdb to your own"
HINT = "Write one SELECT over the tables that are there."

SETTINGS = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    "python_scan_all_frames": False,
    "temp_directory": "",
    "threads": 1,
    "lock_configuration": True,
}
NODES = frozenset(("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"))
WHOLE = frozenset(("STAR", "POSITIONAL_REFERENCE", "SHOW_REF", "PIVOT"))  # what may read each column, whatever it names
FOREIGN = frozenset(("BIT", "BIGNUM", "UHUGEINT", "VARINT"))
SOURCES = frozenset(("unnest", "range", "generate_series", "json_each", "json_tree"))  # functions that stand for tables
# What reads the database's own state or makes functions' inner states of bytes; and what waits.
FUNCTIONS = guard.Words("__internal* getenv getvariable current_setting currval nextval setval setseed write_log finalize combine combine_aggr to_aggregate_state json_serialize_* json_deserialize_* *sleep* has_*privilege pg_*".split())  # fmt: skip
TOO_DEEP = "the query cannot be read: it is nested too deeply"

memory_bytes = None  # of the run
variables = {}  # of the code


class SQLError(ValueError):
    """A query that cannot be run: one sentence, and what there is."""

    __module__ = "builtins"  # tracebacks call it by its name alone


def is_there():
    """Whether this environment has DuckDB. Nothing is loaded."""
    return importlib.util.find_spec("duckdb") is not None


def sql(query):
    """The DataFrame that QUERY, one SELECT of SQL over the tables by their names (`df` is one), gives."""
    if not isinstance(query, str):
        raise SQLError(f"sql takes the text of a query, not {type(query).__name__}")
    (database, own), tables, text = open_database(), tables_of(variables), str.__str__(query)
    nodes = list(dicts(read(database, text)))
    used, wanted = look(nodes, tables, own), needed(nodes)
    for _ in range(READINGS_MAX):
        large = [rows for rows in map(rows_of, used.values()) if rows is not None]
        for rows in large:
            rows.has_changed = False
        try:
            with database.cursor() as cursor:
                for name, frame in used.items():
                    register(cursor, name, frame, wanted)
                found = ask(lambda: cursor.sql(text))
                check_types(found)
                return frame_of(ask(found.to_arrow_table))
        except SQLError:
            if not any(rows.has_changed for rows in large):
                raise
    raise SQLError("the query cannot be run: the file changes its columns too often")


def register(cursor, name, frame, wanted):
    source = source_of(frame, wanted)
    ask(lambda: cursor.register(name, source))


opened = []


def open_database():
    """(the database, the names that it has tables for by itself)."""
    if not opened:
        if not is_there():
            raise SQLError(INSTALL)
        import duckdb

        most = {"memory_limit": f"{memory_bytes // SHARE // 1024}KiB"} if memory_bytes else {}
        database = duckdb.connect(":memory:", config={**most, **SETTINGS})
        opened.append((database, own_names(database)))
    return opened[0]


def ask(question):
    """What QUESTION, a function that asks DuckDB, gives."""
    import duckdb

    try:
        return question()
    except duckdb.OutOfMemoryException:
        raise MemoryError(MEMORY) from None
    except duckdb.Error as error:
        if ARROW_MEMORY in str(error):
            raise MemoryError(MEMORY) from None
        if "expression depth" in str(error):
            raise SQLError(TOO_DEEP) from None
        if isinstance(error, (duckdb.FatalException, duckdb.InternalException)):
            opened.clear()  # it takes no further query
        raise SQLError(f"the query cannot be run: {brief(str(error))}") from None


def brief(text):
    """What DuckDB says, in one line: without its name for the kind of error, and without the place in the query."""
    text = " ".join(KIND.sub("", text.partition("\n\nLINE ")[0]).split())
    return text if len(text) <= MESSAGE_MAX else text[: MESSAGE_MAX - 3] + "..."


# ---- what a query may say ----


def read(database, query):
    """The syntax tree of QUERY, one statement that gives rows."""
    if "\0" in query:
        raise SQLError("a query has no zero characters")
    try:
        said = json.loads(ask(lambda: database.execute("select json_serialize_sql(?)", [query]).fetchone()[0]))
    except RecursionError:
        raise SQLError(TOO_DEEP) from None
    if said["error"] and said["error_type"] == "not implemented":
        raise SQLError(f"sql only reads: this is no SELECT. {HINT}")
    if said["error"]:
        raise SQLError(f"the query cannot be read: {brief(said['error_message'])}")
    if len(said["statements"]) != 1:
        raise SQLError(f"sql takes one statement, and here are {len(said['statements'])}. {HINT}")
    return said["statements"][0]


def dicts(tree):
    """Each object in TREE, which may be nested deeper than Python's calls."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def folded(name):
    """NAME as DuckDB compares names: of ASCII alone, capital letters are small ones."""
    return str.__str__(name).encode("utf-8", "surrogatepass").lower()


def own_names(database):
    """What DuckDB has tables for without anybody's doing, folded: of its settings, for instance."""
    return {folded(name) for (name,) in ask(lambda: database.execute("select view_name from duckdb_views()").fetchall())}


def look(nodes, tables, own):
    """Those of TABLES that a query with NODES reads. Raises SQLError where it asks for anything else. What the query makes cannot be
    called as one of DuckDB's OWN is, which another part of the query could mean."""
    made = {folded(pair["key"]) for node in nodes for pair in (node.get("cte_map") or {}).get("map", ())} - own
    known, used = {}, {}
    for name in tables:
        known.setdefault(folded(name), []).append(name)
    for node in nodes:
        kind = kind_of(node)
        if kind == "BASE_TABLE":
            name = named(node, known, made)
            if name is not None:
                used[name] = tables[name]
        elif kind == "TABLE_FUNCTION" and node["function"]["function_name"].casefold() not in SOURCES:
            raise SQLError(f"{node['function']['function_name']}() cannot be read from here; {there_are(tables)}")
        elif kind == "SHOW_REF" and node["query"] is None or kind and kind.endswith("_NODE") and kind not in NODES:
            raise SQLError(f"sql only reads tables. {HINT}")
        if "function_name" in node and (node["function_name"].casefold() in FUNCTIONS or node.get("export_state")):
            raise SQLError(f"{node['function_name']}() cannot be called in a query here. {HINT}")
    return used


def kind_of(node):
    """The type of NODE, None where that is one of a value."""
    kind = node.get("type")
    return kind if isinstance(kind, str) else None


def needed(nodes):
    """Names among which are all columns that a query with NODES could read, folded; None where that may be every one."""
    names = {name.casefold() for node in nodes for key in ("table_name", "alias") for name in [node.get(key)] if name and "sample" in node}
    texts = set()
    for node in nodes:
        kind = kind_of(node)
        path = node.get("column_names", ())
        is_row = kind == "COLUMN_REF" and path[-1].casefold() in names  # of a table, as one value
        if kind in WHOLE or node.get("ref_type") == "NATURAL" or node.get("column_name_alias") or is_row:
            return None
        for value in node.values():
            texts.update(each.casefold() for each in (value if isinstance(value, list) else [value]) if isinstance(each, str))
    return texts


def named(node, known, made):
    """The name of the table that NODE reads, None where the query makes it."""
    # DuckDB 1, of CPython 3.9 and 3.10, has the parts by name.
    parts = node["qualified_name"]["path"] if "qualified_name" in node else [node["catalog_name"], node["schema_name"], node["table_name"]]
    path = [part for part in parts if part]
    found = known.get(folded(path[-1]), ())
    if len(path) == 1 and len(found) == 1:
        return found[0]
    if len(path) == 1 and folded(path[0]) in made:
        return None
    whole = ".".join(path)
    several = "several tables are" if len(found) > 1 else "no table is"
    quotes = " (with the double quotes)" if folded(whole) in known else ""
    raise SQLError(f"{several} called {whole!r}; {there_are([name for names in known.values() for name in names])}{quotes}")


def there_are(tables):
    names = ", ".join(name if name.isidentifier() else f'"{csv_form.brief(name, NAME_MAX)}"' for name in list(tables)[:NAMES_MAX])
    return f"there are {names or 'none'}{', ...' if len(tables) > NAMES_MAX else ''}"


# ---- tables, there and back ----


def check_types(found):
    """Refuses what Arrow has no values for."""
    for name, type in zip(found.columns, found.types):
        if str(type) in FOREIGN:
            raise SQLError(f"the column {csv_form.brief(name)!r} is of the type {type}, which tables do not have: cast it to text (::varchar)")


def tables_of(names):
    """What NAMES, the variables of code, have for tables: `df` as it is now, and dfs."""
    import pandas

    from adder_runner import large_tables

    given = names.get("dfs")
    found = {name: frame for name, frame in given.items() if isinstance(name, str)} if isinstance(given, dict) else {}
    found["df"] = names.get("df")
    return {name: frame for name, frame in found.items() if isinstance(frame, (pandas.DataFrame, large_tables.LargeTable))}


def rows_of(frame):
    """The rows of FRAME that are read from its file, None where it is in memory."""
    from adder_runner import large_tables

    return frame._rows if isinstance(frame, large_tables.LargeTable) else None


def source_of(frame, wanted):
    """FRAME as Arrow has it, with an index that says something as columns. WANTED are the columns that count, None: all."""
    if rows_of(frame) is not None:
        return rows_of(frame).stream(wanted)
    import pyarrow

    from adder_runner import answers, typed_columns

    whole = answers.table_of(frame)
    names = typed_columns.form_of(list(whole.columns)).names
    return pyarrow.table([array_of(whole.iloc[:, at]) for at in range(len(names))], names)


def array_of(series):
    import pandas
    import pyarrow

    if isinstance(series.dtype, pandas.PeriodDtype):
        series = series.dt.to_timestamp()
    try:
        return pyarrow.chunked_array(pyarrow.array(series, from_pandas=True))
    except (pyarrow.ArrowException, TypeError, OverflowError):
        return pyarrow.chunked_array(pyarrow.array(series.astype("string[pyarrow]"), from_pandas=True))
    except UnicodeEncodeError:
        raise SQLError(f"the column {csv_form.brief(str(series.name))!r} has half a character (a surrogate), of which there can be no query") from None


def frame_of(table):
    """TABLE of Arrow's as a DataFrame with the types that tables have (docs/tables.md)."""
    import pyarrow

    from adder_runner import arrow_read, csv_columns, typed_columns

    form = typed_columns.form_of(table.column_names)
    columns = []
    for name, values in zip(form.names, table.columns):
        values = plain(pyarrow, values)
        converter = arrow_read.Converter(values.type, pyarrow, csv_columns)
        column = csv_columns.Column(name, name, converter.kind, {})
        column.parts = [converter.converted(part) for part in values.chunks]
        column.parts = converter.settled(column)
        columns.append(column)
    return csv_columns.frame(columns, table.num_rows, 0)


def plain(pyarrow, values):
    """VALUES, if they are what DuckDB makes of columns that tables do not have: a sum of integers is one where it fits into 64 bits, and
    the time between two moments is in seconds."""
    if pyarrow.types.is_decimal(values.type) and values.type.scale == 0:
        try:
            return values.cast(pyarrow.int64())
        except pyarrow.ArrowInvalid:
            return values
    if pyarrow.types.is_timestamp(values.type) or pyarrow.types.is_date(values.type):
        try:
            values.cast(pyarrow.timestamp("ns", getattr(values.type, "tz", None)))
        except pyarrow.ArrowInvalid:
            raise SQLError("a moment of the result is before 1677, after 2262 or infinite: cast it to text (::varchar)") from None
    if values.type == pyarrow.month_day_nano_interval():
        spans = values.to_pylist()
        if not any(span and span.months for span in spans):
            return pyarrow.chunked_array([pyarrow.array([span and span.days * 86400 + span.nanoseconds / 1e9 for span in spans], pyarrow.float64())])
    return values
