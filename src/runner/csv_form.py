# SPDX-License-Identifier: Apache-2.0
"""How a table is written: what separates and quotes its fields, where its header is and what its columns are called."""

import collections
import io
import itertools
import re

from adder_runner import csv_rows

LOOKED_AT = 1 << 18  # characters
RECORDS = 200
NAME_LENGTH = 200
# What speaks against each, for texts have colons and spaces of their own.
DELIMITERS = {",": 0.0, ";": 0.0, "\t": 0.0, "|": 0.0, ":": 0.3, " ": 0.35}
COMMENT = re.compile(r"\s*(#|%|//|;;)")
TYPED = re.compile(r"\s*[-+(]?[$€£¥]?\s*(\d[\d.,'  ]*([eE][-+]?\d+)?\s*%?\)?|\d{1,4}[-/.]\d{1,2}([-/.]\d{1,4})?([ T]\d.*)?|\.\d+)\s*$")
YEAR = re.compile(r"(1[89]|20|21)\d\d$")
TOTAL = re.compile(r"(grand |sub)?totals?:?$|sum:?$|(gesamt)?summe:?$|gesamt:?$|total g[ée]n[ée]ral:?$", re.I)
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]+")
LINE_END = re.compile(r"\r\n|\n|\r")
SINGLE_QUOTES = re.compile(r"(^|[,;\t|])'[^'\n]*'([,;\t|\r\n]|$)", re.M)
DOUBLE_QUOTES = re.compile(r'(^|[,;\t|])"', re.M)
SPACED_QUOTES = re.compile(r'[,;\t|] +"[^"\n]*" *[,;\t|\r\n]')


def is_typed(cell):
    """Whether CELL is a number or a date, as far as its looks go."""
    return len(cell) <= 60 and bool(TYPED.match(cell))


class Form:
    """`skip`: how many characters stand before the first row; `line`: of that row; `width`: fields of a row."""

    def __init__(self, delimiter=",", quote='"', escape=None):
        self.delimiter, self.quote, self.escape, self.skips_spaces = delimiter, quote, escape, False
        self.header, self.width, self.skip, self.line = False, 0, 0, 1
        self.pads = self.has_open_quotes = False
        self.originals, self.names, self.assumed = [], [], []

    def is_odd(self):
        """Whether Arrow would read it otherwise."""
        return self.pads or self.has_open_quotes or self.skips_spaces or len(self.delimiter.encode()) != 1 or len((self.quote or "").encode()) > 1


def lines_of(text):
    return io.StringIO(text, newline="")  # with their ends, as they are


def find(text, options, is_cut):
    form = Form()
    sample = text[:LOOKED_AT]
    if len(text) > LOOKED_AT:
        sample, is_cut = sample[: sample.rfind("\n") + 1] or sample, True
    find_marks(form, sample, options)
    find_header(form, text, list(itertools.islice(csv_rows.records(lines_of(sample), form, is_cut=is_cut), RECORDS)), options)
    name_columns(form)
    return form


def brief(text, length=60):
    """TEXT as it can stand in a sentence."""
    text = CONTROL.sub(" ", text).strip()
    return text if len(text) <= length else text[: length - 1] + "…"


def some(words, most=5):
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


# ---- delimiter, quote, escape ----


def find_marks(form, sample, options):
    delimiters = [options["delimiter"]] if "delimiter" in options else [each for each in DELIMITERS if each in sample]
    ranked, has_spaces = [], ' "' in sample and bool(SPACED_QUOTES.search(sample))
    for quote in quotes_of(sample, options):
        for escape in (None, "\\") if quote and "\\" + quote in sample else (None,):
            for delimiter in delimiters:
                tried = Form(delimiter, quote, escape)
                tried.skips_spaces = delimiter == " " or (quote == '"' and has_spaces)
                # Where they say the same, quotes of the rarer kind and escapes were meant.
                ranked.append((score(sample, tried) + 0.001 * (quote == "'") + 0.001 * bool(escape), -len(ranked), tried))
    if "delimiter" in options:
        form.delimiter = options["delimiter"]
    if "quote" in options:
        form.quote = options["quote"]
    if ranked and (max(ranked)[0] > 0.5 or "delimiter" in options):
        best = max(ranked)[2]
        form.delimiter, form.quote, form.escape, form.skips_spaces = best.delimiter, best.quote, best.escape, best.skips_spaces
    if form.escape:
        form.assumed.append("A backslash before a quote makes it part of the text.")
    if form.delimiter == " ":
        form.assumed.append("Fields are separated by spaces, of which several count as one.")


def quotes_of(sample, options):
    if "quote" in options:
        return [options["quote"]]
    if "'" in sample and SINGLE_QUOTES.search(sample) and not DOUBLE_QUOTES.search(sample):
        return ['"', "'"]
    return ['"']


def score(sample, form):
    found = [fields for _, fields, _ in itertools.islice(csv_rows.records(lines_of(sample), form, is_cut=True), RECORDS) if not COMMENT.match(fields[0])]
    counts = collections.Counter(map(len, found))
    counts.pop(1, None)
    if not counts:
        return 0.0
    width, times = max(counts.items(), key=lambda item: (item[1], item[0]))
    cells = [cell for fields in found[1:30] for cell in fields if cell]
    typed = sum(is_typed(cell) for cell in cells) / len(cells) if cells else 0
    return times / len(found) + 0.2 * (len(found[0]) == width) + 0.05 * typed + 0.002 * min(width, 10) - DELIMITERS.get(form.delimiter, 0.0)


# ---- header ----


def find_header(form, text, found, options):
    if not found:
        return
    rows = [fields for _, fields, _ in found]
    width = common_width(rows[1:] or rows)
    first = first_record(rows, width)
    body = [row for row in rows[first + 1 :] if len(row) == width]
    form.header = options["header"] if "header" in options else is_header(rows[first], body)
    form.width = width
    if form.header:
        form.originals = [*([COMMENT.sub("", rows[first][0], 1)] if COMMENT.match(rows[first][0]) else rows[first][:1]), *rows[first][1:]]
    if "header" not in options:
        form.assumed.extend(said_of_header(form, body))
    if first:
        above = found[first][0] - 1
        form.assumed.append(f"{above} {'lines' if above > 1 else 'line'} above the table {'were' if above > 1 else 'was'} left out: {brief(form.delimiter.join(rows[0]), 80)}")
    at = first + form.header
    form.line = found[at][0] if at < len(found) else found[first][0] + len(found[first][2]) if len(found) == 1 else text.count("\n") + 2
    form.skip = offset_of_line(text, form.line)
    fit_width(form, rows[at:])


def common_width(rows):
    counts = collections.Counter(len(fields) for fields in rows if not COMMENT.match(fields[0]))
    return max(counts.items(), key=lambda item: (item[1], item[0]))[0] if counts else len(rows[0])


def first_record(rows, width):
    """The index of the first of ROWS that is the table's: above it may be comments and titles."""
    last = len(rows) - 1
    first = next((at for at, fields in enumerate(rows) if len(fields) == width), 0)
    # A header may be shorter or longer than its rows; a title has hardly a field.
    before = rows[first - 1] if first else None
    if before and len(before) > 1 and len(before) * 2 >= width and not COMMENT.match(before[0]) and any(cell.strip() for cell in before[1:]) and is_header(before, rows[first : first + 50]):
        first -= 1
    while first < last and COMMENT.match(rows[first][0]) and not is_commented_header(rows[first], rows[first + 1 : first + 50]):
        first += 1
    return first


def is_commented_header(fields, following):
    """A comment that names what comes after it: `#year,temperature`."""
    return len(fields) > 1 and len(following[0]) == len(fields) and not COMMENT.match(following[0][0]) and any(is_typed(cell) for cell in following[0]) and is_header(fields, following)


def is_header(fields, body):
    """Whether FIELDS name the columns of BODY."""
    filled = [cell.strip() for cell in fields if cell.strip()]
    typed = [cell for cell in filled if is_typed(cell)]
    if not filled:
        return False
    if typed:
        named = len(filled) > len(typed) or not fields[0].strip()
        return bool(body) and named and len(set(typed)) == len(typed) and all(YEAR.match(cell) for cell in typed)
    if not body:
        return True
    columns = list(zip(*(row for row in body if len(row) == len(body[0]))))
    if any(sum(is_typed(cell) for cell in column) * 2 > len(column) for column in columns):
        return True
    return not any(cell and cell in column for cell, column in zip(fields, columns))


def said_of_header(form, body):
    if not form.header:
        yield "The first line looks like values, so the columns were named column_1, column_2 and so on."
    elif body and not any(is_typed(cell) for row in body[:50] for cell in row):
        yield "All columns hold text; the first line was taken for their names."


def fit_width(form, rows):
    """Rows that end early where the header says that they go on have no values there."""
    while len(form.originals) > form.width and not form.originals[-1].strip():
        form.originals.pop()
    named = len(form.originals)
    short = sum(len(row) < max(named, form.width) for row in rows)
    if not rows:
        form.width = max(named, form.width)
    elif named > form.width and not any(len(row) > named for row in rows) or short * 5 > len(rows) and form.width >= named:
        form.width, form.pads = max(named, form.width), True
        form.assumed.append(f"{'All' if short == len(rows) else 'Many'} rows have fewer fields than there are columns ({form.width}): what they lack at their end is no value.")


def offset_of_line(text, line):
    at = 0
    for _ in range(line - 1):
        found = LINE_END.search(text, at)
        if not found:
            return len(text)
        at = found.end()
    return at


# ---- names ----


def name_columns(form):
    named = len(form.originals)
    if form.header and named < form.width:
        more = [f"column_{at + 1}" for at in range(named, form.width)]
        form.assumed.append(f"Rows have {form.width} fields and the header only {named}, which were taken for the first; the {'others were' if len(more) > 1 else 'other was'} named {some(more)}.")
    form.originals = [*form.originals, *[""] * (form.width - named)]
    wanted = [brief(original, NAME_LENGTH) for original in form.originals]
    reserved, taken, numbered = set(wanted), set(), []
    for at, name in enumerate(wanted):
        chosen = name = name or f"column_{at + 1}"
        number = 2
        while chosen in taken or (chosen in reserved and chosen != wanted[at]):
            chosen, number = f"{name}_{number}", number + 1
        if chosen != name and wanted[at]:
            numbered.append(chosen)
        taken.add(chosen)
        form.names.append(chosen)
    if numbered:
        form.assumed.append(f"Names that the header repeats got a number: {some([brief(name, 40) for name in numbered])}.")
    unnamed = [name for name, original in zip(form.names[:named], wanted) if not original]
    if form.header and unnamed:
        form.assumed.append(f"Columns without a name were named {some(unnamed)}.")


def is_total(fields, column):
    """Whether FIELDS, the last row, sum up the others, whose first fields are COLUMN."""
    word = fields[0].strip()
    return bool(TOTAL.match(word)) and len(column) > 1 and fields[0] not in column
