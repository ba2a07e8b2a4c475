# SPDX-License-Identifier: Apache-2.0
"""How a table is written: what separates and quotes its fields, where its header is and what its columns are called."""

import collections
import io
import itertools
import re

from adder_runner import csv_place, csv_quotes, csv_rows
from adder_runner.csv_kinds import NO_VALUE, is_typed

LOOKED_AT = 1 << 18  # characters
RECORDS = 200
NAME_LENGTH = 200
# What speaks against each, for texts have colons and spaces of their own.
DELIMITERS = {",": 0.0, ";": 0.0, "\t": 0.0, "|": 0.0, "\x01": 0.0, "\x1f": 0.0, "^": 0.1, "~": 0.1, ":": 0.3, " ": 0.35}
WEAK = (":", " ")
TOTAL = re.compile(r"(grand |sub)?totals?:?$|sum:?$|(gesamt)?summe:?$|gesamt:?$|total g[ée]n[ée]ral:?$", re.I)
CLOCK = re.compile(r"(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[ T]+)?\d+:\d{1,2}(:\d{1,2}([.,]\d+)?)?( ?[AaPp]\.?[Mm]\.?)?$")
WORDS = re.compile(r"[A-Za-z_]\w*(:[A-Za-z_]\w*)+$")
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+$")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]+")
LINE_END = re.compile(r"\r\n|\n|\r")
SINGLE_QUOTES = re.compile(r"(^|[,;\t|])'[^'\n]*'([,;\t|\r\n]|$)", re.M)
DOUBLE_QUOTES = re.compile(r'(^|[,;\t|])"', re.M)
SPACED_QUOTES = re.compile(r'[,;\t|] +"[^"\n]*" *[,;\t|\r\n]')


class Form:
    """`skip`: how many characters stand before the first row, `until`: before what is below the table (None: nothing is);
    `line`: of the first row; `width`: fields of a row; `typed`: of each, whether it holds numbers or dates; `found_header`: as
    it stands in the file."""

    def __init__(self, delimiter=",", quote='"', escape=None):
        self.delimiter, self.quote, self.escape, self.skips_spaces = delimiter, quote, escape, False
        self.header, self.width, self.skip, self.until, self.line = False, 0, 0, None, 1
        self.pads = self.is_irregular = self.unwraps = False
        self.originals, self.names, self.assumed, self.typed, self.found_header = [], [], [], [], []

    def is_odd(self):
        """Whether Arrow would read it otherwise."""
        one_byte = len(self.delimiter.encode()) == 1 and len((self.quote or "").encode()) < 2
        return self.pads or self.is_irregular or self.unwraps or self.skips_spaces or not one_byte

    def fits_types(self, fields):
        """Whether FIELDS have numbers and dates, or nothing, where the table has them."""
        return all(not typed or is_typed(cell) or cell.strip() in NO_VALUE for cell, typed in zip(fields, self.typed))


def lines_of(text):
    return io.StringIO(text, newline="")  # with their ends, as they are


def find(text, options, is_cut):
    form = Form()
    sample = text[:LOOKED_AT]
    if len(text) > LOOKED_AT:
        sample, is_cut = sample[: sample.rfind("\n") + 1] or sample, True
    find_marks(form, sample, options)
    find_header(form, text, first_records(form, sample, is_cut), options)
    name_columns(form)
    return form


def first_records(form, sample, is_cut):
    """The first records of SAMPLE. Lines whose quotes do not fit are among them where they can be repaired."""
    failed = []
    found = list(itertools.islice(csv_rows.records(lines_of(sample), form, failed=lambda line, text: failed.append((line, text)), is_cut=is_cut), RECORDS))
    width = csv_place.common_width(csv_place.as_rows(found))
    for line, text in failed[:RECORDS]:
        fields = csv_quotes.repair(text, form, width or text.count(form.delimiter) + 1)
        if fields:
            found.append((line, fields, [text]))
    return sorted(found, key=lambda record: record[0])


def brief(text, length=60):
    """TEXT as it can stand in a sentence."""
    text = CONTROL.sub(" ", text).strip()
    return text if len(text) <= length else text[: length - 1] + "…"


def some(words, most=5):
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


# ---- delimiter, quote, escape ----


def find_marks(form, sample, options):
    form.unwraps = is_wrapped(sample, options)
    delimiters = [options["delimiter"]] if "delimiter" in options else [each for each in DELIMITERS if each in sample]
    ranked, has_spaces = [], ' "' in sample and bool(SPACED_QUOTES.search(sample))
    for quote in quotes_of(sample, options):
        for escape in (None, "\\") if quote and "\\" + quote in sample else (None,):
            for delimiter in delimiters:
                tried = Form(delimiter, quote, escape)
                tried.unwraps = form.unwraps
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
    elif "delimiter" not in options and is_decimal(sample):
        form.delimiter = ";"
    if form.escape:
        form.assumed.append("A backslash before a quote makes it part of the text.")
    if form.delimiter == " ":
        form.assumed.append("Fields are separated by spaces, of which several count as one.")
    if form.unwraps:
        form.assumed.append("Each line is in quotes as a whole, and was read as what they hold.")


def is_wrapped(sample, options):
    """Whether each line is in quotes as a whole, with the delimiters and the quotes of its fields within."""
    lines = [line for line in sample.splitlines()[:RECORDS] if line]
    inner = [line[1:-1].replace('""', "") for line in lines if len(line) > 2 and line[0] == line[-1] == '"']
    if "quote" in options or len(inner) < len(lines) or len(lines) < 2 or any('"' in line for line in inner):
        return False
    # `Last, First` is one column of texts.
    return all("," in line or ";" in line for line in inner) and ", " not in inner[0] and "; " not in inner[0]


def quotes_of(sample, options):
    if "quote" in options:
        return [options["quote"]]
    if "'" in sample and SINGLE_QUOTES.search(sample) and not DOUBLE_QUOTES.search(sample):
        return ['"', "'"]
    return ['"']


def score(sample, form):
    failed = []
    reading = csv_rows.records(lines_of(sample), form, failed=lambda line, text: failed.append(line), is_cut=True)
    found = [fields for _, fields, _ in itertools.islice(reading, RECORDS) if not csv_rows.COMMENT.match(fields[0])]
    counts = collections.Counter(map(len, found))
    counts.pop(1, None)
    if not counts:
        return 0.0
    width, times = max(counts.items(), key=lambda item: (item[1], item[0]))
    if is_one_column(found, width, form.delimiter):
        return 0.0
    cells = [cell for fields in found[1:30] for cell in fields if cell]
    typed = sum(is_typed(cell) for cell in cells) / len(cells) if cells else 0
    return times / (len(found) + len(failed)) + 0.2 * (len(found[0]) == width) + 0.05 * typed + 0.002 * min(width, 10) - DELIMITERS.get(form.delimiter, 0.0)


def is_decimal(sample):
    """Whether a name stands above one column of numbers with a decimal comma."""
    name, *values = [line.strip() for line in sample.splitlines()[:RECORDS] if line.strip()] or [""]
    return len(values) > 1 and "," not in name and all(map(DECIMAL_COMMA.match, values))


def is_one_column(found, width, delimiter):
    """Whether what looks like a delimiter is a part of values: of times, moments, ratios or numbers with a decimal comma."""
    lines = [delimiter.join(fields).strip() for fields in found]
    if delimiter == ",":
        return is_decimal("\n".join(lines))
    if delimiter not in WEAK:
        return False
    body = lines[1:] or lines
    if all(map(CLOCK.match, body)) and not (delimiter == ":" and WORDS.match(lines[0])):
        return True
    # A header has it too; only a title may stand above that.
    return len(found[0]) != width and not (len(found) > 3 and len(found[1]) == width and not any(map(is_typed, found[1])) and any(map(is_typed, found[2])))


# ---- header ----


def find_header(form, text, found, options):
    rows = csv_place.as_rows(found)
    if not rows:
        return
    start, end = csv_place.choose(rows)
    table = rows[start:end]
    width = csv_place.body_width(table)
    first, has_groups = csv_place.first_of(table, width)
    named = heading(table, first, has_groups, width)
    body = [row.fields for row in table[first + len(named) :] if len(row.fields) == width]
    form.header = options["header"] if "header" in options else len(named) > 1 or csv_place.is_header(table[first].fields, body)
    form.width, form.typed = width, csv_place.typed_columns(body) or [False] * width
    if form.header:
        form.found_header = table[first + len(named) - 1].fields
        header = csv_place.joined([row.fields for row in named])
        form.originals = [csv_rows.COMMENT.sub("", header[0], 1) if named[0].is_comment else header[0], *header[1:]]
        if len(named) > 1:
            form.assumed.append(f"The first {len(named)} lines together name the columns: {brief(some([repr(name) for name in header if name]), 120)}.")
    if "header" not in options:
        form.assumed.extend(said_of_header(form, body))
    say_other_lines(form, rows[: start + first], table[first], rows[end] if end < len(rows) else None)
    at = first + len(named) * form.header
    form.line = table[at].line if at < len(table) else table[-1].next_line
    form.skip = offset_of_line(text, form.line)
    if end < len(rows):
        form.until = offset_of_line(text, rows[end].line)
    fit_width(form, [row.fields for row in table[at:]])


def heading(table, first, has_groups, width):
    """The rows that name the columns, if any do."""
    if first + 1 == len(table):
        return table[first:]
    below = [row.fields for row in table[first + 2 :] if len(row.fields) == width]
    is_two = has_groups or csv_place.second_header(table[first].fields, table[first + 1].fields, below)
    return table[first : first + 1 + is_two]


def say_other_lines(form, above, first, other):
    if above:
        count = first.line - 1
        form.assumed.append(f"{count} {'lines' if count > 1 else 'line'} above the table {'were' if count > 1 else 'was'} left out: {brief(form.delimiter.join(above[0].fields), 80)}")
    if other:
        form.assumed.append(f"Another table begins at line {other.line}; all from there on was left out: {brief(form.delimiter.join(other.fields), 80)}")


def said_of_header(form, body):
    if not form.header:
        yield "The first line looks like values, so the columns were named column_1, column_2 and so on."
    elif body and not any(is_typed(cell) for row in body[:50] for cell in row):
        yield "All columns hold text; the first line was taken for their names."


def fit_width(form, rows):
    """Rows that end early where the header says that they go on, or as the header does, have no values there."""
    as_header = form.header and len(rows) > 2 and len(form.originals) < form.width and all(len(row) == len(form.originals) > 1 for row in rows[:2])
    while len(form.originals) > form.width and not form.originals[-1].strip():
        form.originals.pop()
    named = len(form.originals)
    short = sum(len(row) < max(named, form.width) for row in rows)
    if not rows:
        form.width = max(named, form.width)
    elif named > form.width and not any(len(row) > named for row in rows) or short and form.width >= named and (short * 5 > len(rows) or as_header):
        form.width, form.pads = max(named, form.width), True
        form.assumed.append(f"{'All' if short == len(rows) else 'Many' if short * 5 > len(rows) else 'Some'} rows have fewer fields than there are columns ({form.width}): what they lack at their end is no value.")


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


def is_note(form, fields, line, line_before):
    """Whether FIELDS, the last row, are a note below the table: a text in the first column alone, and no name of a row."""
    if form.width < 3 or not any(form.typed) or csv_place.filled(fields) != [0] or is_typed(fields[0]):
        return False
    return form.typed[0] or line - line_before > 1


def is_total(fields, column):
    """Whether FIELDS, the last row, sum up the others, whose first fields are COLUMN."""
    word = fields[0].strip()
    return bool(TOTAL.match(word)) and len(column) > 1 and fields[0] not in column
