# SPDX-License-Identifier: Apache-2.0
"""Reads the rows of large files with Arrow, block by block, all fields as texts. It uses one thread, for only so do bad lines
have numbers."""

import array
import collections
import csv
import functools
import io

import numpy
import pyarrow
import pyarrow.compute as compute
import pyarrow.csv

from adder_runner import csv_rows

BLOCK, MIN_BLOCK = 8 << 20, 1 << 16
SET_ASIDE = 1 << 28  # by all columns
TEXT = pyarrow.large_string()
MAX_BAD = 1 << 20
LOOKED_AT = 1000  # rows of a block that may be none


def block_for(form):
    """Arrow sets aside as much for each column as a block is long."""
    return max(MIN_BLOCK, BLOCK * 16 // max(16, form.width))


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
        if len(self.numbers) < MAX_BAD:
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


class Quotes:
    """Looks at whether the quotes of a text fit, which Arrow does not say: how often one opens a field, closes one or is doubled."""

    LONGEST = 1 << 26

    def __init__(self, form):
        self.quote, self.delimiter = form.quote.encode(), form.delimiter.encode()
        self.form, self.rest, self.are_there, self.are_stray = form, b"", False, False

    def look(self, data):
        if self.are_stray or not self.rest and self.quote not in data and data.endswith(b"\n"):
            return
        end = data.rfind(b"\n") + 1
        whole, self.rest = (self.rest + data[:end], data[end:]) if end else (b"", self.rest + data)
        if self.quote in whole:
            self.are_there = True
            self.are_stray = not self.fit(b"\n" + whole + b"\n") and not self.fit_strictly(whole)
        self.are_stray = self.are_stray or len(self.rest) > self.LONGEST

    def fit(self, text):
        """Whether each of the quotes of TEXT, between line ends, begins a field or ends one, but for doubled ones."""
        quote, ends = self.quote, (self.delimiter[0], *b"\r\n")
        text = text.replace(quote * 2, b"") if quote * 2 in text else text
        signs = numpy.frombuffer(text, "u1")
        at = numpy.flatnonzero(signs == quote[0])
        begins, closes = numpy.isin(signs[at - 1], ends), numpy.isin(signs[at + 1], ends)
        return bool((begins != closes).all()) and int(begins.sum()) * 2 == len(at)

    def fit_strictly(self, text):
        try:
            collections.deque(csv_rows.reader(io.StringIO(text.decode("utf-8", "replace"), newline=""), self.form), maxlen=0)
        except csv.Error:
            return False
        return True


def is_other(texts, form):
    """Whether some of TEXTS, the columns of a block, are no rows for csv_rows.no_row: they need a closer look."""
    first = texts[0]
    if first.null_count and all(column.null_count for column in texts):
        absent = [compute.is_null(column) for column in texts]
        if compute.any(functools.reduce(compute.and_, absent)).as_py():
            return True
    at = marked(first, form)
    return any(csv_rows.no_row([column[each].as_py() or "" for column in texts], form) for each in at[:LOOKED_AT]) or len(at) > LOOKED_AT


def marked(first, form):
    """Where FIRST, the first column of a block, begins as rows do that may be none."""
    signs = [compute.starts_with(first, sign) for sign in ("#", "%", "//", ";;")]
    if form.header and form.found_header:
        signs.append(compute.equal(first, form.found_header[0]))
    return compute.indices_nonzero(compute.fill_null(functools.reduce(compute.or_, signs), False)).to_pylist()


def is_doubtful(texts, form):
    """Whether a value of several lines could be the rest of one row and the beginning of another."""
    for place, column in enumerate(texts):
        broken = column.filter(compute.fill_null(compute.match_substring(column, "\n"), False))
        for value in broken.to_pylist():
            first, *_, last = value.split("\n")
            if first.count(form.delimiter) >= form.width - 1 - place and last.count(form.delimiter) >= place:
                return True
    return False


def has_swallowed(values):
    """Whether a quote that nobody closes made one of VALUES of what are many lines."""
    long = values.filter(compute.greater(compute.binary_length(values), csv_rows.MAX_LINES))
    return len(long) > 0 and compute.max(compute.count_substring(long, "\n")).as_py() >= csv_rows.MAX_LINES


def batches(stream, form, bad, wanted, block, is_first=None):
    """The columns WANTED (or all), by blocks; no value where a field is empty. Where the file is read for the first time, the quotes are
    looked at: if all columns are wanted, unless IS_FIRST says so."""
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
    quotes = Quotes(form) if form.quote and not form.escape and (wanted is None if is_first is None else is_first) else None
    stream.watch = quotes.look if quotes else None
    try:
        with pyarrow.csv.open_csv(stream, reading, parsing, converting) as found:
            for batch in found:
                if bad.swallowed or form.quote and any(map(has_swallowed, batch.columns)):
                    raise Misread
                if quotes and quotes.are_stray or wanted is None and is_other(batch.columns, form):
                    raise Misread
                yield batch.columns
    except pyarrow.ArrowInvalid as error:
        if "straddling" in str(error):
            raise TooLong from None
        if "Empty CSV" not in str(error):
            raise Misread from None
    if bad.swallowed or quotes and quotes.are_stray:
        raise Misread
