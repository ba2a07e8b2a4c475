# SPDX-License-Identifier: Apache-2.0
"""Reads rows with Python's csv module: of files that are small, and of those that Arrow would misread. A quote that nobody
closes costs its own line and no other."""

import collections
import csv
import itertools

# A field in quotes may have so many lines; more, and its quote was a mistake.
MOST_LINES = 1000
ROWS = 1 << 16
CELLS = 1 << 20

csv.field_size_limit(1 << 30)


class OpenQuote(Exception):
    pass


class BadLines:
    """Lines that are no rows: how many, where the first of them are, what they look like."""

    SHOWN, EXAMPLES, LENGTH = 20, 3, 200

    def __init__(self):
        self.count, self.lines, self.examples = 0, [], []

    def add(self, line, example):
        self.count += 1
        if len(self.lines) < self.SHOWN:
            self.lines.append(line)
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
    )


def records(lines, form, first=1, bad=None, is_cut=False):
    """(line, fields, text) of what LINES hold, an iterator of texts with their ends, the first of them having the number FIRST.
    Lines whose quotes are never closed go to BAD, or nowhere where the text IS_CUT there."""
    lines, waiting, used = iter(lines), collections.deque(), []

    def feed():
        while True:
            line = waiting.popleft() if waiting else next(lines, None)
            if line is None:
                return
            used.append(line)
            if len(used) > MOST_LINES:
                raise OpenQuote
            yield line.strip(" ") if form.skips_spaces and form.delimiter == " " else line

    line, ended = first, False
    while not ended:
        try:
            for fields in reader(feed(), form):
                if fields:
                    if is_open(used, fields[-1], form):
                        raise OpenQuote
                    yield line, fields, used.copy()
                line += len(used)
                used.clear()
            ended = True
        except (OpenQuote, csv.Error):
            if is_cut and not waiting and next(lines, None) is None and len(used) <= MOST_LINES:
                return
            if bad is not None:
                bad.add(line, used[0])
            form.has_open_quotes = True
            waiting.extendleft(reversed(used[1:]))
            line += 1
            used.clear()


def is_open(used, last, form):
    """Whether the lines USED ended within the quotes of their LAST field: only then it has the end of the last line, and well-formed
    ones have an even number of quotes."""
    if not form.quote or form.quote not in used[0]:
        return False
    text = "".join(used)
    quotes = text.count(form.quote) - (text.count(form.escape + form.quote) if form.escape else 0)
    if quotes % 2 == 0:
        return False
    if len(used) > 1:
        return last.endswith(used[-1].replace(form.quote * 2, form.quote))
    return last.endswith(("\n", "\r")) or bool(last) and text.endswith(form.quote + last)


def rows(lines, form, first, bad, is_cut=False):
    """(line, fields) of the records that have as many fields as they should; others go to BAD."""
    for line, fields, used in records(lines, form, first, bad, is_cut):
        if len(fields) == form.width:
            yield line, fields
        elif form.pads and len(fields) < form.width:
            yield line, fields + [""] * (form.width - len(fields))
        else:
            bad.add(line, "".join(used))


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
    if form.skips_spaces or form.pads:
        return None
    try:
        found = list(reader(chunk, form))
    except csv.Error:
        return None
    if len(found) != len(chunk) or set(map(len, found)) != {form.width} or is_open(chunk[-1:], found[-1][-1], form):
        return None
    return list(zip(*found))
