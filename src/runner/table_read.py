# SPDX-License-Identifier: Apache-2.0
"""Reads a table from a file, whatever kind it is of: by what stands in it and not by its name, which is somebody's word."""

from adder_runner import csv_read, parquet_read

ENDINGS = (".csv", ".tsv", ".parquet")


def load(path, options=None, sample_rows=csv_read.SAMPLE_ROWS):
    """(a DataFrame of the whole file, its TABLE)"""
    return reader(path).load(path, options, sample_rows)


def scan(path, options=None, sample_rows=csv_read.SAMPLE_ROWS):
    """The TABLE of the file's first part."""
    return reader(path).scan(path, options, sample_rows)


def reader(path):
    return parquet_read if parquet_read.is_parquet(path) else csv_read
