# SPDX-License-Identifier: Apache-2.0
"""Reads a CSV as it is: scan() looks at what there is of a file, load() reads it whole. Both say what they found and what they
assumed: docs/csv.md."""

import codecs
import io
import os

from adder_runner import csv_bytes, csv_form, csv_kinds, csv_report, csv_rows, progress

OPTIONS = {"delimiter": str, "quote": str, "encoding": str, "header": bool, "decimal": str, "thousands": str, "day_first": bool, "table": str}
SAMPLE_ROWS = 20
# The numbers of lines of larger files are found by reading so much of them again.
COUNTED = 1 << 28
MAX_BELOW = 10  # lines that are a total or notes


class CannotRead(ValueError):
    """A file that is no table, or options that do not fit: one sentence."""

    __module__ = "builtins"  # tracebacks call it by its name alone


def load(path, options=None, sample_rows=SAMPLE_ROWS):
    """(a DataFrame of the whole file, its TABLE)"""
    source = Source(path, check_options(options))
    return source.read(source.size, sample_rows)


def scan(path, options=None, sample_rows=SAMPLE_ROWS):
    """The TABLE of the file's first part."""
    source = Source(path, check_options(options))
    return source.read(len(source.head), sample_rows)[1]


def prepare(directory):
    """To be called in the zygote: what reading needs is loaded, compiled and done once, with a file in DIRECTORY. It is a small
    one, since for a large one Arrow would start threads."""
    with open(warm_file(directory), "w", encoding="utf-8") as file:
        file.write(REHEARSED)
    load(warm_file(directory))


def warm_file(directory):
    return os.path.join(directory, "adder-warm.csv")


REHEARSED = "a,b,c,d,e,f,g\n" + '1,1.5,2020-01-01,true,x,13/01/2020,"1,200"\n,,,,,,\n2,NA,2020-01-02,false,y,14/01/2020,5\n' * 20


def converter():
    try:
        from adder_runner import csv_columns

        return csv_columns
    except ImportError:
        pass
    try:
        from adder_runner import csv_plain

        return csv_plain
    except ImportError:
        raise CannotRead("this environment has no pandas, which tables need: take the environment science, or another that has it") from None


def check_options(options):
    options = {name: value for name, value in (options or {}).items() if value is not None}
    for name, value in options.items():
        if name not in OPTIONS:
            raise CannotRead(f"there is no option {name!r} for tables; there are {', '.join(OPTIONS)}")
        if not isinstance(value, OPTIONS[name]):
            raise CannotRead(f"the option {name} must be {'true or false' if OPTIONS[name] is bool else 'a text'}")
    for name in ("delimiter", "quote", "decimal", "thousands"):
        if len(options.get(name, "-")) != 1 and (options[name] or name in ("delimiter", "decimal")):
            raise CannotRead(f"the option {name} must be one character")
    if options.get("delimiter", ",") in '"\r\n' or options.get("delimiter") == options.get("quote", '"'):
        raise CannotRead("the option delimiter must be neither a quote nor a line end")
    try:
        codecs.lookup(options.get("encoding", "utf-8"))
        "".encode(options.get("encoding", "utf-8"))
    except (LookupError, ValueError):
        raise CannotRead(f"there is no encoding {options['encoding']!r} of texts; say one that Python knows, such as utf-8 or cp1252") from None
    return options


class Source:
    """A file, and how it is written."""

    def __init__(self, path, options):
        self.path, self.options = path, options
        self.head, self.size = csv_bytes.read_head(path)
        self.encoding = csv_bytes.encoding_of(self.head, options.get("encoding"))
        if self.size > len(self.head):
            self.head = csv_bytes.cut_at_line(self.head, self.encoding.text_name())
        self.text, self.met = csv_bytes.decode(self.head, self.encoding)
        self.form = csv_form.find(self.text, options, self.size > len(self.head))

    def read(self, end, sample_rows):
        """(a DataFrame of what stands before END, its TABLE)"""
        columns_of = converter()
        form, self.bad = self.form, csv_rows.BadLines()
        is_whole = end <= len(self.head) or form.until is not None
        is_cut = end < self.size and form.until is None
        is_open = self.size > len(self.head) and form.until is None
        first = list(csv_rows.batches(csv_form.lines_of(self.text[form.skip : form.until]), form, self.bad, is_open))
        if is_whole and not is_cut:
            first = self.without_end(first)
        kinds = csv_kinds.judge_columns(joined([columns for _, columns in first], form.width), self.options)
        columns = [columns_of.Column(name, original, kind, self.options) for name, original, kind in zip(form.names, form.originals, kinds)]
        if is_whole:
            rows = self.fill(columns, columns_of, lambda wanted=None: texts_of(columns_of, first, wanted))
        else:
            rows = self.read_on(columns, columns_of, first)
        columns = self.columns = self.without_empty(columns, rows)
        frame = columns_of.frame(columns, rows, sample_rows)
        return frame, csv_report.table(self, columns, frame, is_cut, sample_rows)

    def fill(self, columns, columns_of, batches):
        """Reads BATCHES, a function that gives (lines, texts of columns) from the beginning, into COLUMNS. Returns the number of rows."""
        rows = 0
        for lines, texts in batches():
            progress.tell()
            for column, values in zip(columns, texts):
                was_denied = column.denied
                column.add(values)
                if column.denied and not was_denied:
                    column.line = lines[column.denied[0] - rows] if lines else None
            rows += len(texts[0]) if texts else 0
        denied = [at for at, column in enumerate(columns) if column.denied]
        if denied:
            parts = [[] for _ in denied]
            for _, texts in batches(denied):
                for held, values in zip(parts, texts):
                    held.append(values)
            for at in range(len(denied)):
                columns[denied[at]].judge_again(parts[at])
                parts[at] = None
        return rows

    # ---- more than the head ----

    def read_on(self, columns, columns_of, first):
        """Reads the whole into COLUMNS, by blocks where that is possible. Returns the number of rows."""
        end = self.size - len(self.total_line(first))
        kinds = [column.kind.copy() for column in columns]
        rows = self.read_by_blocks(columns, columns_of, end) if columns_of.HAS_ARROW and not self.form.is_odd() else None
        if rows is not None:
            return rows
        start_again(columns, kinds)

        def batches(wanted=None):
            self.bad = csv_rows.BadLines()
            return texts_of(columns_of, csv_rows.batches(self.lines(end), self.form, self.bad), wanted)

        return self.fill(columns, columns_of, batches)

    def read_by_blocks(self, columns, columns_of, end):
        """As read_on, or None where Arrow would misread the file."""
        from adder_runner import csv_arrow

        kinds, block = [column.kind.copy() for column in columns], csv_arrow.block_for(self.form)
        while block * self.form.width <= csv_arrow.SET_ASIDE:
            try:
                return self.read_with_arrow(columns, columns_of, csv_arrow, end, block)
            except csv_arrow.TooLong:
                block *= 8
            except csv_arrow.Misread:
                break
            start_again(columns, kinds)
        return None

    def read_with_arrow(self, columns, columns_of, csv_arrow, end, block):
        bad = csv_arrow.BadRows()
        streams = []

        def batches(wanted=None):
            with self.open() as file:
                stream = self.stream(file, end)
                streams.append(stream)
                for texts in csv_arrow.batches(stream, self.form, bad if len(streams) == 1 else csv_arrow.BadRows(), wanted, block):
                    yield None, texts

        rows = self.fill(columns, columns_of, batches)
        self.met = streams[0].met
        # Fewer rows than lines: empty ones, or fields of several lines, which a stray quote may have joined.
        if self.form.quote and rows + bad.count < self.met.lines + self.met.is_begun and any(csv_arrow.is_doubtful(texts, self.form) for _, texts in batches()):
            raise csv_arrow.Misread
        self.bad.count, self.bad.examples = bad.count, bad.examples
        asked = {row: None for row in bad.numbers[: csv_rows.BadLines.SHOWN]}
        denied = {column: bad.among_all(column.denied[0]) for column in columns if column.denied}
        asked.update(dict.fromkeys(denied.values()))
        found = self.lines_of_rows(sorted(asked), rows + bad.count, streams[0], end)
        self.bad.lines = [found[row] for row in bad.numbers[: csv_rows.BadLines.SHOWN]]
        for column, row in denied.items():
            column.line = found[row]
        return rows

    def open(self):
        return open(self.path, "rb", buffering=0)

    def stream(self, file, end):
        return csv_bytes.Stream(file, self.encoding, len(self.text[: self.form.skip].encode("utf-8", "replace")), end)

    def lines(self, end):
        """The file's lines from its first row."""
        with self.open() as file:
            stream = self.stream(file, end)
            self.met = stream.met
            yield from io.TextIOWrapper(io.BufferedReader(stream, 1 << 20), encoding="utf-8", errors="replace", newline="")

    def lines_of_rows(self, rows, count, stream, end):
        """Where ROWS, counted with bad ones, begin: the same as counting, unless lines are empty or within quotes."""
        if abs(stream.met.lines - count) <= 1 or not rows:
            return {row: self.form.line + row for row in rows}
        found, wanted, number = {}, iter(rows), 0
        row = next(wanted)
        for line, _, _ in csv_rows.records(self.lines(min(end, COUNTED)), self.form, self.form.line, width=self.form.width):
            while row == number:
                found[row] = line
                row = next(wanted, None)
            if row is None:
                return found
            number += 1
        self.form.assumed.append(f"Numbers of lines beyond the first {COUNTED >> 20} MiB are numbers of rows.")
        return {row: found.get(row, self.form.line + row) for row in rows}

    # ---- what is no data ----

    def without_end(self, first):
        """FIRST without the last rows that are none: a total of the others, and notes."""
        for _ in range(MAX_BELOW):
            if not first or len(first[-1][1][0]) < 2:
                break
            lines, columns = first[-1]
            fields = [column[-1] for column in columns]
            if csv_form.is_total(fields, columns[0][:-1]):
                self.say_end(lines[-1], fields, "a total of the others")
            elif csv_form.is_note(self.form, fields, lines[-1], lines[-2]):
                self.say_end(lines[-1], fields, "a note below the table")
            else:
                break
            first = [*first[:-1], (lines[:-1], [column[:-1] for column in columns])]
        return first

    def total_line(self, first):
        """The last line of the file, if that sums up the others."""
        if self.encoding.name not in csv_bytes.BYTEWISE or not first:
            return b""
        tail = csv_bytes.read_tail(self.path, self.size)
        last = tail[tail.rstrip(b"\r\n ").rfind(b"\n") + 1 :]
        fields = next((fields for _, fields, _ in csv_rows.records([last.decode(self.encoding.text_name(), "replace")], self.form)), [])
        if len(fields) != self.form.width or len(last) == len(tail) or not csv_form.is_total(fields, first[0][1][0]):
            return b""
        self.say_end(None, fields, "a total of the others")
        return last

    def say_end(self, line, fields, what):
        place = f"The last line ({line})" if line else "The last line"
        self.form.assumed.append(f"{place} is {what} and was left out: {csv_form.brief(self.form.delimiter.join(fields), 80)}")

    def without_empty(self, columns, rows):
        """COLUMNS but for those without name and values at the end, which are there because lines end in delimiters."""
        if not self.form.header:
            return columns
        while len(columns) > 1 and columns[-1].kind.kind == "empty" and not columns[-1].original.strip():
            columns = columns[:-1]
            self.form.assumed = [each for each in self.form.assumed if columns and f"named column_{len(columns) + 1}." not in each]
            self.form.assumed.append("Lines end in a delimiter: the column after it, without name and values, was left out.")
        return columns


def start_again(columns, kinds):
    for column, kind in zip(columns, kinds):
        column.reset(kind.copy())


def joined(batches, width):
    """The texts of each column."""
    if len(batches) == 1:
        return batches[0]
    return [[value for columns in batches for value in columns[at]] for at in range(width)]


def texts_of(columns_of, batches, wanted=None):
    for lines, columns in batches:
        yield lines, [columns_of.from_texts(columns[at]) for at in (range(len(columns)) if wanted is None else wanted)]
