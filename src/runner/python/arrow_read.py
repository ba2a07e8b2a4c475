# SPDX-License-Identifier: Apache-2.0
"""Reads a Parquet or Feather file into the columns that a CSV of the same would have: of a scan its schema and first rows, else all
of it, a part of its rows at a time. Nothing of it is guessed, for the file says its types itself: docs/tables.md."""

import contextlib

from adder_runner import csv_columns, csv_form, csv_kinds, typed_columns

BATCH = 1 << 16  # rows that are turned into columns at once
BUFFER = 1 << 20  # bytes of the file that are held of a column; otherwise all that a group of rows has of it
# By what begins the name of a type of Arrow's.
KINDS = (
    ("bool", "boolean"), ("int", "integer"), ("uint", "integer"), ("float", "number"), ("double", "number"), ("halffloat", "number"),
    ("decimal", "number"), ("duration", "number"), ("timestamp", "date"), ("date", "date"), ("null", "empty"),
)  # fmt: skip
LISTS = ("list", "large_list", "fixed_size_list")


class Source(typed_columns.Source):
    """A file of record batches."""

    def tables(self, sample_rows, is_scan):
        import pyarrow

        try:
            with OPEN[self.format](self.path) as (schema, batches, count):
                return [(None, *self.read(pyarrow, schema, batches, count, sample_rows, is_scan))]
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, OSError) as error:
            raise self.cannot(error) from None

    def read(self, arrow, schema, batches, count, sample_rows, is_scan):
        """(a DataFrame, its TABLE): of a scan, of no more rows than the sample has."""
        fields = list(schema)
        form = typed_columns.form_of([field.name for field in fields])
        converters = [Converter(field.type, arrow, csv_columns) for field in fields]
        columns = [csv_columns.Column(name, original, converter.kind, {}) for name, original, converter in zip(form.names, form.originals, converters)]
        rows = 0
        for batch in batches(max(1, sample_rows) if is_scan else BATCH):
            for column, converter, values in zip(columns, converters, batch.columns):
                column.parts.append(converter.converted(values))
            rows += len(batch)
            if is_scan:
                break
        for column, converter in zip(columns, converters):
            column.parts = converter.settled(column)
        frame = csv_columns.frame(columns, rows, sample_rows)
        total, missing = count() if rows or not is_scan else (0, None)
        if missing is not None and rows < total:
            for column in columns:
                nulls = missing(column.original)
                column.nulls = column.nulls if nulls is None else nulls
        assumed = [*form.assumed] if columns else ["The file holds no table.", *form.assumed]
        return frame, self.told(columns, frame, sample_rows, assumed, max(rows, total), rows < total)


@contextlib.contextmanager
def open_parquet(path):
    """(schema, a function that gives batches of at most so many rows, a function that counts: rows, and what is missing of a column)"""
    from pyarrow import parquet

    # One thread, as for a CSV: a table costs the same wherever it is read.
    with parquet.ParquetFile(path, buffer_size=BUFFER) as file:
        yield file.schema_arrow, lambda most: file.iter_batches(batch_size=most, use_threads=False), lambda: (file.metadata.num_rows, lambda name: missing_of(file, name))


def missing_of(file, name):
    """How many values are missing of the column NAME in all of the file, where it says so for each group of rows and the column is a
    plain one; else None."""
    metadata = file.metadata
    paths = [metadata.schema.column(at).path for at in range(metadata.num_columns)]
    if paths.count(name) != 1:
        return None
    told = [metadata.row_group(group).column(paths.index(name)).statistics for group in range(metadata.num_row_groups)]
    if any(statistics is None or not statistics.has_null_count for statistics in told):
        return None
    return sum(statistics.null_count for statistics in told)


@contextlib.contextmanager
def open_feather(path):
    """As open_parquet."""
    from pyarrow import ipc

    with ipc.open_file(path) as file:

        def batches(most):
            for at in range(file.num_record_batches):
                batch = file.get_batch(at)
                # What a batch says of its buffers is followed without a look, unless this has looked.
                batch.validate(full=True)
                for begin in range(0, len(batch), most):
                    yield batch.slice(begin, most)

        yield file.schema, batches, lambda: (sum(file.get_batch(at).num_rows for at in range(file.num_record_batches)), None)


OPEN = {"parquet": open_parquet, "feather": open_feather}


class Converter:
    """What a column's type becomes. `kind` is that of the column, and changes when a value does not fit."""

    def __init__(self, type, arrow, columns_of):
        self.arrow, self.type = arrow, type
        self.types = columns_of.TYPES
        is_kept = arrow.types.is_dictionary(type)
        named = str(type.value_type if is_kept else type)
        self.kind = csv_kinds.Kind(next((kind for begin, kind in KINDS if named.startswith(begin)), "text"))
        if named.startswith("decimal"):
            self.kind.notes.append("decimal numbers were read as floating point")
        if named.startswith("duration"):
            self.kind.notes.append("durations are in seconds")
        if named.startswith("timestamp") and "tz=" in named:
            self.kind.notes.append("times are in UTC, and without their zone")
        if arrow.types.is_nested(type):
            is_plain = named.startswith(LISTS) and not arrow.types.is_nested(type.value_type)
            self.kind.notes.append("lists were read as texts, with a comma and a blank between their items" if is_plain else "what is nested was read as JSON")

    def converted(self, values):
        """VALUES, an array of Arrow's, as one of the kind's type."""
        if self.arrow.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        try:
            return CONVERT[self.kind.kind](self, values)
        except (self.arrow.ArrowInvalid, self.arrow.ArrowNotImplementedError):
            return self.instead(values)

    def instead(self, values):
        """Of VALUES that their kind cannot hold."""
        if self.kind.kind == "integer":
            self.kind.kind = "number"
            self.kind.notes.append("some numbers have more than 63 bits, so all were read as floating point")
            return self.converted(values)
        if self.kind.kind != "text":
            self.kind.kind = "text"
            self.kind.notes.append("some values do not fit, so all were read as texts")
        return as_texts(self, values)

    def settled(self, column):
        """The parts of COLUMN, all of one type: it may have changed on the way."""
        if self.kind.kind == "text":
            return [part if part.type == self.types["text"] else as_texts(self, part) for part in column.parts]
        return [part.cast(self.types[self.kind.kind]) for part in column.parts]


def cast(converter, values):
    return values.cast(converter.types[converter.kind.kind])


def number(converter, values):
    compute = converter.arrow.compute
    if converter.arrow.types.is_duration(values.type):
        seconds = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[values.type.unit]
        return compute.divide(values.cast(converter.arrow.int64()).cast(converter.types["number"]), float(seconds))
    values = values.cast(converter.types["number"], safe=False)
    # What is no number is no value, as in a CSV.
    return compute.if_else(compute.is_nan(values), converter.arrow.scalar(None, values.type), values)


def date(converter, values):
    """To the microsecond, as everywhere here."""
    return values.cast(converter.arrow.timestamp("us", getattr(values.type, "tz", None)), safe=False).cast(converter.types["date"])


def text(converter, values):
    if not (converter.arrow.types.is_string(values.type) or converter.arrow.types.is_large_string(values.type)):
        return as_texts(converter, values)
    values.validate(full=True)
    return values.cast(converter.types["text"])


def as_texts(converter, values):
    """Each of VALUES by itself, whatever it is."""
    arrow = converter.arrow
    if arrow.types.is_string(values.type) or arrow.types.is_large_string(values.type):
        values = values.cast(arrow.large_binary())
    return arrow.array([typed_columns.said(value) for value in values.to_pylist()], converter.types["text"])


CONVERT = {"integer": cast, "number": number, "boolean": cast, "date": date, "text": text, "empty": cast}
