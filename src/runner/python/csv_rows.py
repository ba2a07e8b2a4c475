# SPDX-License-Identifier: Apache-2.0
"""Reads rows with Python's csv module: of files that are small, and of those that Arrow would misread. A quote that does not fit
costs at most its own line and no other."""

import collections
import csv
import itertools
import re

from adder_runner import csv_quotes

# A field in quotes may have so many lines; more, and its quote was a mistake.
MAX_LINES = 1000
ROWS = 1 << 16
CELLS = 1 << 20
COMMENT = re.compile(r"\s*(#|%|//|;;)")
FIRST_SIGNS = frozenset(("", "#", "%", "/", ";", " ", "\t"))  # of a row that may be none

csv.field_size_limit(1 << 30)


class OpenQuote(Exception):
    pass


class Lines:
    """How many lines, and where the first of them are."""

    SHOWN = 20

    def __init__(self):
        self.count, self.lines = 0, []

    def add(self, line):
        self.count += 1
        if len(self.lines) < self.SHOWN:
            self.lines.append(line)


class BadLines(Lines):
    """Lines that are no rows, and what they look like. Of others that were not read as they stand: `repaired`, whose quotes did not
    fit; `headers`, which repeat the header; `comments`; `blank`, of delimiters alone."""

    EXAMPLES, LENGTH = 3, 200

    def __init__(self):
        super().__init__()
        self.examples = []
        self.repaired, self.headers, self.comments, self.blank = Lines(), Lines(), Lines(), Lines()

    def add(self, line, example):
        super().add(line)
        if len(self.examples) < self.EXAMPLES:
            self.examples.append(example[: self.LENGTH].rstrip("\r\n"))


def reader(lines, form):
    return csv.reader(
        lines,
        delimiter=form.delimiter,
        quotechar=form.quote or None,
        escapechar=form.escape,
        quoting=csv.QUOTE_MINIMAL if form.quote else csv.QUOTE_NONE,
        skipinitialspace=form.skips_spaces,
        strict=True,
    )


class Records:
    """(line, fields, text) of what LINES hold, an iterator of texts with their ends, the first of them having the number FIRST.
    Where quotes do not fit, or make a record of several lines that is not as wide as the table (0: who knows), the first of
    its lines goes to FAILED, a function of (line, text) that gives its fields or None, and the others are read again."""

    def __init__(self, lines, form, first=1, failed=lambda line, text: None, width=0, is_cut=False):
        self.lines, self.form, self.line, self.failed, self.width, self.is_cut = iter(lines), form, first, failed, width, is_cut
        self.waiting, self.used, self.is_over = collections.deque(), [], False

    def feed(self):
        strip = self.form.skips_spaces and self.form.delimiter == " "
        while True:
            line = self.waiting.popleft() if self.waiting else next(self.lines, None)
            if line is None:
                self.is_over = True
                return
            self.used.append(line)
            if len(self.used) > MAX_LINES:
                raise OpenQuote
            line = unwrapped(line) if self.form.unwraps else line
            yield line.strip(" ") if strip else line

    def __iter__(self):
        while not self.is_over:
            try:
                for fields in reader(self.feed(), self.form):
                    if fields and len(self.used) > 1 and self.is_doubtful(fields):
                        raise OpenQuote
                    if fields:
                        yield self.line, fields, self.used.copy()
                    self.line += len(self.used)
                    self.used.clear()
            except (OpenQuote, csv.Error):
                if self.is_over and self.is_cut and len(self.used) <= MAX_LINES:
                    return
                self.form.is_irregular = True
                fields, text = self.failed(self.line, self.used[0]), self.used[0]
                self.waiting.extendleft(reversed(self.used[1:]))
                self.used.clear()
                self.is_over = False
                if fields:
                    yield self.line, fields, [text]
                self.line += 1

    def is_doubtful(self, fields):
        """Whether the record of several lines that FIELDS are is none: it has another width, or each of its lines would be a row."""
        form = self.form
        if not self.width:
            return False
        if len(fields) != self.width:
            return not (form.pads and len(fields) < self.width)
        if self.width < 3 or not any(form.typed) or any(line.count(form.delimiter) < self.width - 1 for line in self.used):
            return False
        parts = (csv_quotes.repair(line, form, self.width) for line in self.used)
        return all(part and form.fits_types(part) for part in parts)


def records(lines, form, first=1, failed=lambda line, text: None, width=0, is_cut=False):
    return iter(Records(lines, form, first, failed, width, is_cut))


def unwrapped(line):
    """What stands in a line that is in quotes as a whole."""
    bare = line.rstrip("\r\n")
    return bare[1:-1].replace('""', '"') + line[len(bare) :] if len(bare) > 1 and bare[0] == bare[-1] == '"' else line


def rows(lines, form, first, bad, is_cut=False):
    """(line, fields) of the records that have as many fields as they should. Others, and those that are no rows, go to BAD."""

    def repair(line, text):
        fields = csv_quotes.repair(text, form, form.width) if bad.repaired.count < csv_quotes.MAX_LINES else None
        if fields and form.fits_types(fields):
            bad.repaired.add(line)
            return fields
        bad.add(line, text)
        return None

    for line, fields, used in records(lines, form, first, repair, form.width, is_cut):
        is_whole = len(fields) == form.width
        other = no_row(fields, form)
        if other:
            form.is_irregular = True
            getattr(bad, other).add(line)
        elif not is_whole and not fields[0].strip() and len(fields) == 1:
            form.is_irregular = True
        elif is_whole:
            yield line, fields
        elif form.pads and len(fields) < form.width:
            yield line, fields + [""] * (form.width - len(fields))
        else:
            bad.add(line, "".join(used))


def no_row(fields, form):
    """What FIELDS are that are no row, by the name that BadLines has for it."""
    first = fields[0]
    if not first.strip() and not any(map(str.strip, fields)):
        return "blank" if len(fields) > 1 else None
    if form.header and first == form.found_header[0] and fields == form.found_header and (form.width > 1 or form.typed[0]):
        return "headers"
    if first[:1] in "#%/; " and COMMENT.match(first) and is_comment(fields, form):
        return "comments"
    return None


def is_comment(fields, form):
    """Whether FIELDS, which begin as a comment, are one and no row."""
    if len(fields) != form.width:
        return form.pads
    others = [at for at in range(1, len(fields)) if fields[at].strip()]
    return form.typed[0] if form.width == 1 else not others or not form.fits_types(fields)


def batches(lines, form, bad, is_cut=False):
    """(the line of each row, the columns) of so many rows at a time."""
    if not form.width:
        return
    most = max(1, min(ROWS, CELLS // max(1, form.width)))
    first, lines = form.line, iter(lines)
    while True:
        chunk = list(itertools.islice(lines, most))
        if not chunk:
            return
        found = regular(chunk, form)
        if found is None:
            break
        yield range(first, first + len(chunk)), found
        first += len(chunk)
    places, found = [], []
    for line, fields in rows(itertools.chain(chunk, lines), form, first, bad, is_cut):
        places.append(line)
        found.append(fields)
        if len(found) == most:
            yield places, list(zip(*found))
            places, found = [], []
    if found:
        yield places, list(zip(*found))


def regular(chunk, form):
    """The columns of the lines CHUNK, if each is a row: much quicker than to look at every line."""
    if form.skips_spaces or form.pads or form.unwraps:
        return None
    try:
        found = list(reader(chunk, form))
    except csv.Error:
        return None
    if len(found) != len(chunk) or set(map(len, found)) != {form.width}:
        return None
    columns = list(zip(*found))
    return None if any(no_row(found[at], form) for at in doubtful(columns[0], form)) else columns


def doubtful(values, form):
    """The indices of the rows, of whose first fields are VALUES, that may be none."""
    name = form.found_header[0] if form.header and form.found_header else None
    if name not in values and FIRST_SIGNS.isdisjoint({value[:1] for value in values}):
        return ()
    return [at for at, value in enumerate(values) if value == name or value[:1] in FIRST_SIGNS]
