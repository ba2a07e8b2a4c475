# SPDX-License-Identifier: Apache-2.0
"""Data sets inside a sandbox: rows become a Parquet table, and a table becomes rows for people or a file in another format.

What is said of a table is in the file ANSWER. The daemon believes none of it but what it can check."""

import json
import math

ANSWER = "answer.json"
BATCH = 1_000  # rows that are in memory at once
LISTED = 2_000  # columns that are told of
INTEGERS = range(-(2**63), 2**63)

# The columns that every row of an answer has (docs/data.md); what else there is has the type of what is in it.
SCHEMA = {
    "formula": "text",
    "elements": "texts",
    "nelements": "integer",
    "nsites": "integer",
    "space_group": "integer",
    "space_group_symbol": "text",
    "a": "number",
    "b": "number",
    "c": "number",
    "alpha": "number",
    "beta": "number",
    "gamma": "number",
    "volume": "number",
    "density": "number",
    "last_modified": "text",
    "sources": "texts",
}


def kind_of(value):
    """What a value is, as a column would have it."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if value in INTEGERS else "text"
    if isinstance(value, float):
        return "number"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "texts"
    return "text"


def wider(known, kind):
    """The kind of a column that has values of both."""
    if known is None or known == kind:
        return kind
    return "number" if {known, kind} == {"integer", "number"} else "text"


def as_text(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def fit(value, kind):
    if value is None:
        return None
    if kind == "text":
        return as_text(value)
    if kind == "number":
        return float(value)
    return value


def rows_of(path):
    """The rows of a file of JSON lines."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.isspace():
                yield json.loads(line)


def columns_of(rows, start):
    """The kind of each column: those of START first, then in the order in which they come."""
    kinds = dict(start)
    for row in rows:
        for name, value in row.items():
            if value is not None:
                kinds[name] = wider(kinds.get(name), kind_of(value))
            else:
                kinds.setdefault(name)
    return {name: kind or "text" for name, kind in kinds.items()}


def arrow_schema(kinds):
    import pyarrow

    types = {
        "text": pyarrow.string(),
        "texts": pyarrow.list_(pyarrow.string()),
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
    }
    return pyarrow.schema([(name, types[kind]) for name, kind in kinds.items()])


def write_rows(rows, target, start=SCHEMA):
    """Writes ROWS, a function that gives objects from the beginning, as the Parquet file TARGET."""
    import pyarrow
    from pyarrow import parquet

    kinds = columns_of(rows(), start)
    schema = arrow_schema(kinds)
    count = 0

    def write(batch):
        columns = [pyarrow.array([fit(row.get(name), kind) for row in batch], schema.field(name).type) for name, kind in kinds.items()]
        writer.write_table(pyarrow.table(columns, schema=schema))

    with parquet.ParquetWriter(target, schema, compression="zstd") as writer:
        batch = []
        for row in rows():
            batch.append(row)
            count += 1
            if len(batch) == BATCH:
                write(batch)
                batch = []
        if batch or count == 0:
            write(batch)


def take(source, target, called, wanted=None):
    """Makes the Parquet file TARGET of the table in SOURCE, a file of somebody's that is called CALLED. Of several tables, WANTED is the
    one that is meant."""
    from adder_runner import table_read

    format = table_read.format_of(source, called)
    options = {"table": wanted} if wanted else {}
    # What has lists keeps them.
    if format == "json":
        assumed = [*table_read.said_of_name(called, format), *take_objects(source, target, called)]
    elif format in ("parquet", "feather"):
        take_arrow(source, target, format)
        assumed = table_read.said_of_name(called, format)
    else:
        assumed = take_frame(table_read.load(source, options, 0, called), target, called)
    tell(target, assumed)


def take_objects(source, target, called):
    from adder_runner import csv_report, json_read

    read = json_read.Source(source, "json", called, {})
    write_rows(lambda: read.rows(False), target, {})
    return list(csv_report.said_of_bad_lines(csv_report.told_of_bad_lines(read.bad)))


def take_arrow(source, target, format):
    import pandas

    frame = pandas.read_parquet(source) if format == "parquet" else pandas.read_feather(source)
    frame.columns = [str(name) for name in frame.columns]
    if not all_named_once(frame.columns):
        raise ValueError("two columns have the same name")
    frame.to_parquet(target, index=False, compression="zstd")


def take_frame(found, target, called):
    import pyarrow
    from adder_runner import csv_read, csv_report, typed_columns
    from pyarrow import parquet

    if len(found) > 1:
        names = typed_columns.listed(name for name, _, _ in found)
        raise csv_read.CannotRead(f"{called} has {len(found)} tables, and a data set is one: say which one ({names})")
    [(_, frame, told)] = found
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    texts = [field.with_type(pyarrow.string()) if field.type == pyarrow.large_string() else field for field in table.schema]
    parquet.write_table(table.cast(pyarrow.schema(texts)), target, compression="zstd")
    return [*told["assumed"], *csv_report.said_of_bad_lines(told["bad_lines"])]


def all_named_once(names):
    return len(set(names)) == len(names)


def tell(path, assumed=()):
    """Says what a table is: {"rows", "columns": [{"name", "type"}], "assumed"}."""
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    columns = [{"name": field.name, "type": str(field.type)} for field in list(file.schema_arrow)[:LISTED]]
    answer({"rows": file.metadata.num_rows, "columns": columns, "assumed": list(assumed)})


def answer(value):
    with open(ANSWER, "w", encoding="utf-8", errors="replace") as file:
        json.dump(value, file, ensure_ascii=False)


def plain(value):
    """A value of a table as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    return str(value)


def batches_of(path, size=BATCH):
    """The rows of a Parquet file, as lists of objects."""
    from pyarrow import parquet

    for batch in parquet.ParquetFile(path).iter_batches(batch_size=size):
        yield [{name: plain(value) for name, value in row.items()} for row in batch.to_pylist()]


def head(path, count):
    """The first COUNT rows: {"rows": [...]}."""
    rows = next(batches_of(path, count), []) if count else []
    answer({"rows": rows[:count]})


def cell(value):
    """A value in a CSV: lists and objects are JSON there, what is missing is nothing."""
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value


def write_csv(path, target):
    import csv

    from pyarrow import parquet

    names = parquet.ParquetFile(path).schema_arrow.names
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for rows in batches_of(path):
            writer.writerows([cell(row[name]) for name in names] for row in rows)


def write_json(path, target):
    """A list of objects, one on each line."""
    with open(target, "w", encoding="utf-8") as file:
        lead = "[\n"
        for rows in batches_of(path):
            for row in rows:
                file.write(lead + json.dumps(row, ensure_ascii=False))
                lead = ",\n"
        file.write("\n]\n" if lead == ",\n" else "[]\n")


WRITERS = {"csv": write_csv, "json": write_json}


def main(work, source, more, *rest):
    """What the daemon asks for."""
    if work == "rows":
        write_rows(lambda: rows_of(source), more)
        tell(more)
    elif work == "import":
        take(source, more, *rest)
    elif work == "head":
        head(source, int(more))
    else:
        WRITERS[work](source, more)
