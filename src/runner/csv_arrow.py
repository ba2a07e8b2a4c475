# SPDX-License-Identifier: Apache-2.0
"""Reads the rows of large files with Arrow, block by block, all fields as texts. It uses one thread, for only so do bad lines
have numbers."""

import array

import pyarrow
import pyarrow.compute as compute
import pyarrow.csv

from adder_runner import csv_rows

BLOCK, LEAST_BLOCK = 8 << 20, 1 << 16
SET_ASIDE = 1 << 28  # by all columns
TEXT = pyarrow.large_string()
MOST_BAD = 1 << 20


def block_for(form):
    """Arrow sets aside as much for each column as a block is long."""
    return max(LEAST_BLOCK, BLOCK * 16 // max(16, form.width))


class Misread(Exception):
    """Arrow does not read this file as it is meant."""


class TooLong(Exception):
    """A row is longer than a block."""


class BadRows:
    """Numbers of the rows that were no rows, counted with all others, from 0."""

    def __init__(self):
        self.count, self.numbers, self.examples = 0, array.array("q"), []

    def add(self, row):
        self.count += 1
        if len(self.numbers) < MOST_BAD:
            self.numbers.append(row.number - 1)
        if len(self.examples) < csv_rows.BadLines.EXAMPLES:
            self.examples.append(row.text[: csv_rows.BadLines.LENGTH])
        if row.text.count("\n") > 2:
            self.swallowed = True
        return "skip"

    swallowed = False

    def among_all(self, row):
        """The number among all rows of the good one with the number ROW."""
        for number in self.numbers:
            if number > row:
                break
            row += 1
        return row


def has_swallowed(values):
    """Whether a quote that nobody closes made one of VALUES of what are many lines."""
    long = values.filter(compute.greater(compute.binary_length(values), csv_rows.MOST_LINES))
    return len(long) > 0 and compute.max(compute.count_substring(long, "\n")).as_py() >= csv_rows.MOST_LINES


def batches(stream, form, bad, wanted, block):
    """The columns WANTED (or all), by blocks; no value where a field is empty."""
    keys = [str(at) for at in range(form.width)]
    reading = pyarrow.csv.ReadOptions(use_threads=False, block_size=block, column_names=keys)
    parsing = pyarrow.csv.ParseOptions(
        delimiter=form.delimiter,
        quote_char=form.quote or False,
        double_quote=True,
        escape_char=form.escape or False,
        newlines_in_values=bool(form.quote),
        ignore_empty_lines=True,
        invalid_row_handler=bad.add,
    )
    converting = pyarrow.csv.ConvertOptions(
        check_utf8=False,
        column_types=dict.fromkeys(keys, TEXT),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
        include_columns=[keys[at] for at in wanted] if wanted is not None else keys,
    )
    try:
        with pyarrow.csv.open_csv(stream, reading, parsing, converting) as found:
            for batch in found:
                if bad.swallowed or form.quote and any(map(has_swallowed, batch.columns)):
                    raise Misread
                yield batch.columns
    except pyarrow.ArrowInvalid as error:
        if "straddling" in str(error):
            raise TooLong from None
        if "Empty CSV" not in str(error):
            raise Misread from None
    if bad.swallowed:
        raise Misread
