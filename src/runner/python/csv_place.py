# SPDX-License-Identifier: Apache-2.0
"""Where the table is in a file: below titles and comments, above another table; and which of its lines name its columns."""

import collections
import re

from adder_runner import csv_rows
from adder_runner.csv_kinds import NO_VALUE, is_typed

MAX_ABOVE = 20  # records that may be titles
YEAR = re.compile(r"(1[89]|20|21)\d\d$")


def filled(fields):
    return [at for at, cell in enumerate(fields) if cell.strip()]


class Row:
    """`gap`: whether blank lines, or some of delimiters alone, stand before it."""

    def __init__(self, line, fields, lines, gap):
        self.line, self.fields, self.next_line, self.gap = line, fields, line + lines, gap
        self.is_comment = bool(csv_rows.COMMENT.match(fields[0]))


def as_rows(found):
    """Rows of the records FOUND, without those in which nothing stands."""
    rows, gap, next_line = [], False, None
    for line, fields, used in found:
        gap = gap or next_line is not None and line > next_line
        next_line = line + len(used)
        if filled(fields) or len(fields) == 1 and not rows:
            rows.append(Row(line, fields, len(used), gap))
            gap = False
        else:
            gap = True
    return rows


# ---- tables ----


def common_width(rows):
    counts = collections.Counter(len(row.fields) for row in rows)
    return max(counts, key=lambda width: (counts[width], width), default=0)


def body_width(rows):
    """The width of most rows below the first, which may be a title. Of several that are as frequent, it is the first's or the largest."""
    widths = collections.Counter(len(row.fields) for row in rows[1:] if not row.is_comment)
    most = [width for width, count in widths.items() if count == max(widths.values())]
    return len(rows[0].fields) if len(rows[0].fields) in most or not most else max(most)


def choose(rows):
    """(where among ROWS the table begins, with whatever may stand above it; where another one begins after it, or their number)"""
    starts = [0, *(at for at in range(2, len(rows)) if begins_table(rows, at)), len(rows)]
    sizes = []
    for start, end in zip(starts, starts[1:]):
        width = body_width(rows[start:end])
        lines = sum(len(row.fields) == width for row in rows[start:end])
        sizes.append((width * lines, width > 2 and lines > 3))
    # The first, unless it is small beside another: facts about the table are often written like a small one.
    chosen = next(at for at, (size, is_one) in enumerate(sizes) if is_one or size * 3 >= max(sizes)[0])
    return starts[chosen], starts[chosen + 1]


def begins_table(rows, at):
    """Whether another table begins at ROWS[AT], with a header of its own, and with another width or after an empty line."""
    header, following = rows[at], [row for row in rows[at + 1 : at + 6]]
    width = len(header.fields)
    before = [row for row in rows[max(0, at - 5) : at] if not row.is_comment]
    if not before or width < 2 or len(filled(header.fields)) < 2 or not following or len(following[0].fields) != width or header.is_comment:
        return False
    if any(is_typed(cell) for cell in header.fields) or len(set(header.fields)) < len(header.fields) and "" not in header.fields:
        return False
    after = [row.fields for row in following if len(row.fields) == width]
    if len(before[-1].fields) == width:
        return header.gap and is_unlike(header.fields, before, rows[0]) and bool(after)
    if not header.gap and (len(after) < 2 or len(before) < 2 or len(before[-2].fields) == width):
        return False
    return any(is_typed(cell) for row in after for cell in row) or header.gap and len(before) > 1 and len(before[-1].fields) > 1


def is_unlike(fields, before, first):
    """Whether FIELDS are texts where the rows BEFORE have numbers or dates."""
    if fields == first.fields:
        return False
    columns = [[row.fields[at] for row in before if at < len(row.fields) and row.fields[at].strip()] for at in range(len(fields))]
    typed = [at for at, column in enumerate(columns) if len(column) > 1 and all(map(is_typed, column))]
    return bool(typed) and not any(is_typed(fields[at]) for at in typed) and any(fields[at].strip() for at in typed)


# ---- the header ----


def first_of(rows, width):
    """(the index of the first of ROWS that is the table's, a header or not; whether it names groups of columns and the next them)"""
    start, last = 0, min(len(rows) - 1, MAX_ABOVE)
    while start < last and rows[start].is_comment and not is_commented_header(rows[start].fields, [row.fields for row in rows[start + 1 : start + 50]]):
        start += 1
    used = used_columns([row.fields for row in rows[start:] if len(row.fields) == width])
    for at in range(start, last + 1):
        fields = rows[at].fields
        if len(fields) < width and at < last or len(filled(fields)) < used:
            continue
        if at == start or names(rows, at, start, width, used):
            has_groups = at > start and names_groups(rows[at - 1], rows[at])
            return at - has_groups, has_groups
        break
    # No header then, or one that is too short, but a title above it has one field alone.
    while start < last and len(rows[start].fields) == 1 < width:
        start += 1
    return start, False


def used_columns(body):
    """How many columns have values in most rows."""
    if not body:
        return 0
    return sum(sum(bool(cell.strip()) for cell in column) * 2 > len(column) for column in zip(*body))


def is_sparse(fields, used):
    """Whether FIELDS are too few to name so many columns: a title has one or two."""
    return len(filled(fields)) <= max(1, used // 2)


def names(rows, at, start, width, used):
    """Whether ROWS[AT] names the columns of those below it, and what stands above it, from START on, is titles."""
    if all(len(row.fields) == 1 for row in rows[start:at]):
        return True
    fields, below = rows[at].fields, [row.fields for row in rows[at + 1 :] if len(row.fields) == width]
    if not below or any(is_typed(cell) and not YEAR.match(cell) for cell in fields):
        return False
    shows = is_header(fields, below) and any(typed_columns(below))
    if all(is_sparse(row.fields, used) for row in rows[start:at]):
        return shows or rows[at].gap or used > 2
    return shows and (rows[at].gap or all(len(row.fields) < width for row in rows[start:at]))


def names_groups(above, header):
    """Whether the row ABOVE names groups of the columns that HEADER names."""
    if header.gap or len(above.fields) != len(header.fields) or any(map(is_typed, above.fields)) and not all(YEAR.match(cell) for cell in above.fields if cell.strip()):
        return False
    names = [cell for cell in header.fields if cell.strip()]
    return len(filled(above.fields)) > 1 and (len(set(names)) < len(names) or not above.fields[0].strip())


def is_commented_header(fields, following):
    """A comment that names what comes after it: `#year,temperature`."""
    return (
        len(fields) > 1
        and bool(following)
        and len(following[0]) == len(fields)
        and not csv_rows.COMMENT.match(following[0][0])
        and any(map(is_typed, following[0]))
        and is_header(fields, following)
    )


def is_header(fields, body):
    """Whether FIELDS name the columns of BODY."""
    cells = [cell.strip() for cell in fields if cell.strip()]
    typed = [cell for cell in cells if is_typed(cell)]
    if not cells:
        return False
    if typed:
        named = len(cells) > len(typed) or not fields[0].strip()
        return bool(body) and named and len(set(typed)) == len(typed) and all(YEAR.match(cell) for cell in typed)
    if not body:
        return True
    columns = list(zip(*(row for row in body if len(row) == len(body[0]))))
    if any(sum(is_typed(cell) for cell in column) * 2 > len(column) for column in columns):
        return True
    return not any(cell and cell in column for cell, column in zip(fields, columns))


def typed_columns(body):
    """Of each column, whether nearly all of its values are numbers or dates."""
    typed = []
    for column in zip(*body):
        present = [cell for cell in column if cell.strip() and cell.strip() not in NO_VALUE]
        typed.append(len(present) > 2 and sum(map(is_typed, present)) >= 0.9 * len(present))
    return typed


def second_header(header, fields, body):
    """Whether FIELDS, the row below HEADER, is a part of it: units, or the names of what HEADER groups."""
    if len(fields) != len(header) or any(is_typed(cell) for cell in fields) or fields == header:
        return False
    typed = typed_columns(body)
    if not any(typed) or any(is_typed(cell) and not YEAR.match(cell) for cell in header):
        return False
    among = [fields[at].strip() for at in range(len(fields)) if at < len(typed) and typed[at]]
    others = [fields[at].strip() for at in range(len(fields)) if at >= len(typed) or not typed[at]]
    texts = [cell for cell in among if cell and cell not in NO_VALUE]
    if not texts or len(texts) < sum(map(bool, among)):
        return False
    # A row of data may have a word for a number, but hardly in all columns, or in one and nothing in those of texts.
    return len(texts) > 1 and len(texts) == len(among) or not any(others) and len(header) > len(texts)


def joined(rows):
    """The names that the ROWS of a header give together."""
    upper = [rows[0][0], *rows[0][1:]]
    spans = len(filled(upper)) < len(filled(rows[-1]))
    for at in range(1, len(upper)):
        if spans and not upper[at].strip() and rows[-1][at].strip():
            upper[at] = upper[at - 1] if upper[at - 1].strip() else ""
    return [" ".join(cell.strip() for cell in cells if cell.strip()) for cells in zip(upper, *rows[1:])]
