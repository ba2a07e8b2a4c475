# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of a file, whatever its format: by its content and not by its name, which may be wrong (docs/tables.md)."""

import contextlib
import importlib
import os

from adder_runner import csv_read, large_tables, table_format

ENDINGS = table_format.ENDINGS
# Those of what says its types itself are loaded when the first comes, and need pyarrow.
READERS = {"parquet": "arrow_read", "feather": "arrow_read", "json": "json_read", "excel": "excel_read", "sqlite": "sqlite_read"}


def load(path, options=None, sample_rows=csv_read.SAMPLE_ROWS, called=None):
    """[(name in the file, a DataFrame, its TABLE)]: the name is None where the file holds one table. CALLED is the file's name for
    people. Raises csv_read.CannotRead."""
    return read(path, options, sample_rows, called or os.path.basename(path), False)


def scan(path, options=None, sample_rows=csv_read.SAMPLE_ROWS, called=None):
    """[(name in the file, TABLE of its first part)], likewise."""
    return [(name, table) for name, _, table in read(path, options, sample_rows, called or os.path.basename(path), True)]


def read(path, options, sample_rows, called, is_scan):
    options, format = csv_read.check_options(options), format_of(path, called)
    large = None if is_scan else large_tables.find(path, format, options, sample_rows, called)
    return with_note(large or read_format(path, format, called, options, sample_rows, is_scan), called, format)


def format_of(path, called):
    """The name of the format (table_format.FORMATS). Raises csv_read.CannotRead, which says what else it is."""
    if os.path.getsize(path) == 0:
        raise csv_read.CannotRead(f"{called} is empty: there is no table in it")
    try:
        return table_format.find(path)
    except table_format.NotTable as reason:
        # What it is may end with what to do about it.
        raise csv_read.CannotRead(f"{called} is {reason}" + ("" if ":" in str(reason) else ", not a table")) from None


def read_format(path, format, called, options, sample_rows, is_scan):
    if format in table_format.PACKED:
        return read_packed(path, format, called, options, sample_rows, is_scan)
    if format == "csv":
        return [(None, *read_csv(path, options, sample_rows, is_scan))]
    with contextlib.suppress(ImportError):
        reader = importlib.import_module(f"adder_runner.{READERS[format]}")
        return reader.Source(path, format, called, options).tables(sample_rows, is_scan)
    raise csv_read.CannotRead(f"this environment has no pandas with pyarrow, which {table_format.FORMATS[format][0]} needs: take the environment science, or another that has them")


def read_csv(path, options, sample_rows, is_scan):
    others = {name: value for name, value in options.items() if name != "table"}
    frame, table = (None, csv_read.scan(path, others, sample_rows)) if is_scan else csv_read.load(path, others, sample_rows)
    if others != options:
        table["assumed"].insert(0, "The file is one table, so table did not count.")
    return frame, table


def read_packed(path, format, called, options, sample_rows, is_scan):
    from adder_runner import packed_read

    with packed_read.unpacked(path, format, called, is_scan) as (text, packed, is_cut):
        inner = os.path.splitext(called)[0]
        found = with_note(read_format(text, packed, inner, options, sample_rows, is_scan), inner, packed)
    size = os.path.getsize(path)
    for _, _, table in found:
        table.update(file=os.path.basename(path), bytes=size)
        if is_cut:
            table.update(rows=None, partial=True)
    return found


def with_note(found, called, format):
    """FOUND, whose first table tells where the name CALLED stands for another format."""
    found[0][2]["assumed"][:0] = said_of_name(called, format)
    return found


def said_of_name(called, format):
    """[] or the sentence that the name CALLED stands for another format."""
    if table_format.ending_says(called) in (None, format):
        return []
    return [f"{called} is {table_format.FORMATS[format][0]}, whatever its name says, and was read as such."]
