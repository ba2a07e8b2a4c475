# SPDX-License-Identifier: Apache-2.0
"""Lines whose quotes do not fit: `x,"y,z`. What their writer meant shows where only one reading of the quotes, with as few of
them as possible taken for text, has as many fields as the table has columns."""

LONGEST = 1 << 14  # characters of a line that is looked at so
MAX_QUOTES = 32
MAX_LINES = 2000  # of a file: no hostile one takes long


def repair(line, form, width):
    """The fields of LINE, of which there are WIDTH, or None where the line has no such reading or several."""
    line, quote = line.rstrip("\r\n"), form.quote
    if not quote or len(line) > LONGEST or line.count(quote) > MAX_QUOTES or line.count(form.delimiter) < width - 1:
        return None
    starts = [0, *(at + 1 for at, character in enumerate(line) if character == form.delimiter)]
    # From each place that a field may begin at: by the number of fields up to the end, (quotes that are text, the readings).
    known = {}
    for before in range(len(starts) - 1, -1, -1):
        known[starts[before]] = readings_from(line, starts[before], form, known, range(width - before, width + 1))
    readings = known[0].get(width, (0, ()))[1]
    return list(flat(readings[0])) if len(readings) == 1 else None


def readings_from(line, start, form, known, counts):
    """COUNTS: the numbers of fields that are of use."""
    found = {}
    for end, field, cost in fields_at(line, start, form):
        for count, (more, readings) in ({0: (0, [None])} if end == len(line) else known[end + 1]).items():
            if count + 1 not in counts:
                continue
            least, kept = found.get(count + 1, (cost + more, []))
            if cost + more < least:
                least, kept = cost + more, []
            if cost + more == least:
                # Two are enough to know that there is no single one.
                kept = [*kept, *((field, reading) for reading in readings)][:2]
            found[count + 1] = least, kept
    return found


def flat(reading):
    while reading:
        field, reading = reading
        yield field


def fields_at(line, start, form):
    """(end, text, quotes that are text) of each field that could begin at START."""
    quote, delimiter = form.quote, form.delimiter
    end = line.find(delimiter, start)
    end = len(line) if end < 0 else end
    bare = line[start:end]
    bare = unescaped(bare.lstrip(" ") if form.skips_spaces else bare, form)
    yield end, bare.replace("\0", quote), bare.count(quote)
    first = start
    while form.skips_spaces and line[first : first + 1] == " ":
        first += 1
    if line[first : first + 1] != quote:
        return
    close = line.find(quote, first + 1)
    while close >= 0:
        end = close + 1
        while line[end : end + 1] in (" ", "\t") and line[end] != delimiter:
            end += 1
        if (end == len(line) or line[end] == delimiter) and (not form.escape or line[close - 1] != form.escape):
            inner = unescaped(line[first + 1 : close], form).replace(quote * 2, "\0")
            yield end, inner.replace("\0", quote), inner.count(quote)
        close = line.find(quote, close + 1)


def unescaped(text, form):
    """TEXT with NULs, which no line has, for quotes that are text for certain."""
    return text.replace(form.escape + form.quote, "\0") if form.escape else text
