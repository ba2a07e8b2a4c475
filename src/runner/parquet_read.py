# SPDX-License-Identifier: Apache-2.0
"""Reads a Parquet file into the columns that a CSV of the same would have: scan() looks at its schema and first rows, load()
reads it whole, a part of its rows at a time. Nothing of it is guessed, for the file says its types itself: docs/csv.md."""

import json
import math
import os

from adder_runner import csv_form, csv_kinds, csv_read, csv_report

MAGIC = b"PAR1"
BATCH = 1 << 16  # rows that are turned into columns at once
BUFFER = 1 << 20  # bytes of the file that are held of a column; otherwise all that a group of rows has of it
# By what begins the name of a type of Arrow's.
KINDS = (
    ("bool", "boolean"), ("int", "integer"), ("uint", "integer"), ("float", "number"), ("double", "number"), ("halffloat", "number"),
    ("decimal", "number"), ("duration", "number"), ("timestamp", "date"), ("date", "date"), ("null", "empty"),
)  # fmt: skip
LISTS = ("list", "large_list", "fixed_size_list")


def is_parquet(path):
    """Whether what the file begins with says so: no text goes on with a control character."""
    with open(path, "rb", buffering=0) as file:
        head = file.read(len(MAGIC) + 1)
    return head[:-1] == MAGIC and head[-1] < 32 and head[-1] not in b"\t\n\r"


def load(path, options, sample_rows):
    """As csv_read.load."""
    return Source(path, options).read(sample_rows, False)


def scan(path, options, sample_rows):
    """As csv_read.scan."""
    return Source(path, options).read(sample_rows, True)[1]


def modules():
    try:
        import pyarrow
        import pyarrow.parquet
        from adder_runner import csv_columns

        return pyarrow, csv_columns
    except ImportError:
        raise csv_read.CannotRead("this environment has no pandas with pyarrow, which Parquet files need: take the environment science, or another that has them") from None


class Source:
    def __init__(self, path, options):
        self.path, self.size, self.options = path, os.path.getsize(path), csv_read.check_options(options)
        self.arrow, self.columns_of = modules()

    def read(self, sample_rows, is_scan):
        """(a DataFrame, its TABLE): of a scan, of no more rows than the sample has."""
        try:
            # One thread, as for a CSV: a table costs the same wherever it is read.
            with self.arrow.parquet.ParquetFile(self.path, buffer_size=BUFFER) as file:
                return self.read_rows(file, sample_rows, is_scan)
        except (self.arrow.ArrowInvalid, self.arrow.ArrowNotImplementedError, OSError) as error:
            raise csv_read.CannotRead(f"the Parquet file cannot be read: {csv_form.brief(str(error), 200)}") from None

    def read_rows(self, file, sample_rows, is_scan):
        form, fields = csv_form.Form(None, None, None), list(file.schema_arrow)
        form.header, form.width, form.originals = True, len(fields), [field.name for field in fields]
        csv_form.name_columns(form)
        converters = [Converter(field.type, self.arrow, self.columns_of) for field in fields]
        columns = [self.columns_of.Column(name, original, converter.kind, {}) for name, original, converter in zip(form.names, form.originals, converters)]
        rows = 0
        for batch in file.iter_batches(batch_size=max(1, sample_rows) if is_scan else BATCH, use_threads=False):
            for column, converter, values in zip(columns, converters, batch.columns):
                column.parts.append(converter.converted(values))
            rows += len(batch)
            if is_scan:
                break
        for column, converter in zip(columns, converters):
            column.parts = converter.settled(column)
        frame = self.columns_of.frame(columns, rows, sample_rows)
        is_cut = rows < file.metadata.num_rows
        if is_cut:
            count_missing(file, columns)
        return frame, self.told(form, columns, frame, max(rows, file.metadata.num_rows), is_cut, sample_rows)

    def told(self, form, columns, frame, rows, is_cut, sample_rows):
        assumed = [*form.assumed, *csv_report.said_of_columns(columns)]
        if self.options:
            assumed.insert(0, f"A Parquet file says itself how it is written, so {csv_form.some(list(self.options))} did not count.")
        if not columns:
            assumed.insert(0, "The file holds no table.")
        table = csv_report.common(self, columns, frame, sample_rows, assumed)
        return {**table, "format": "parquet", "rows": rows, "partial": is_cut}


def count_missing(file, columns):
    """How many values are missing in all of the file, where it says so for each group of rows and the column is a plain one."""
    metadata = file.metadata
    paths = [metadata.schema.column(at).path for at in range(metadata.num_columns)]
    for column in columns:
        at = paths.index(column.original) if paths.count(column.original) == 1 else None
        told = [metadata.row_group(group).column(at).statistics for group in range(metadata.num_row_groups)] if at is not None else [None]
        if all(statistics is not None and statistics.has_null_count for statistics in told):
            column.nulls = sum(statistics.null_count for statistics in told)


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
    return arrow.array([said(value) for value in values.to_pylist()], converter.types["text"])


def said(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list) and not any(isinstance(item, (list, dict, tuple)) for item in value):
        return ", ".join("" if item is None else said(item) for item in value)
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, float) and math.isnan(value):
        return None
    return str(value)


CONVERT = {"integer": cast, "number": number, "boolean": cast, "date": date, "text": text, "empty": cast}
