# SPDX-License-Identifier: Apache-2.0
"""Tables that are too large to become a DataFrame within a run's memory. Their files are read in parts, anew for each query of
queries.py; whatever else is done with them says so."""

import io
import os

from adder_runner import csv_form, csv_kinds, csv_read, csv_report, csv_rows, progress, queries

SHARE = 0.9  # of the run's memory that a frame may take, by what the head takes: more has never been read to its end
MIN_RATIO = 8  # a frame is no smaller than the file by more than that
BLOCK = 1 << 19  # larger ones take as long and more memory
MIB = 1 << 20


class TableTooLarge(Exception):
    """Something other than a query was asked of such a table."""

    __module__ = "builtins"  # tracebacks call it by its name alone


class Changed(Exception):
    """The file is not what its first part looks like: it is read again, as what it is."""


class LargeTable:
    """What code has in the place of a DataFrame. Everything raises TableTooLarge, but for what the runner needs."""

    __slots__ = ("_rows", "_sentence")

    def __init__(self, rows, sentence):
        object.__setattr__(self, "_rows", rows)
        object.__setattr__(self, "_sentence", sentence)

    def copy(self, deep=True):
        return self

    def __getattr__(self, name):
        raise TableTooLarge(self._sentence)


def refuse(self, *arguments, **named):
    raise TableTooLarge(self._sentence)


for operation in (
    "setattr repr str format len iter getitem setitem delitem contains bool eq ne lt le gt ge add radd sub rsub mul rmul truediv rtruediv and or invert neg".split()
):
    setattr(LargeTable, f"__{operation}__", refuse)


# ---- which are ----


def find(path, format, options, sample_rows, called):
    """[(None, a LargeTable, its TABLE)] where the CSV at PATH is one, else None. It is looked at by its head alone."""
    most = queries.memory_bytes
    if format != "csv" or most is None or os.path.getsize(path) < most / MIN_RATIO or not queries.is_there() or not csv_read.converter().HAS_ARROW:
        return None
    source = HeldFile(path, {name: value for name, value in options.items() if name != "table"})
    if source.form.until is not None:
        return None
    end = source.size - len(source.total_line(source.first_rows()))
    frame, told = source.read(len(source.head), sample_rows)
    needed = int(frame.memory_usage(deep=True).sum() / len(source.head) * source.size)
    if needed < most * SHARE:
        source.close()
        return None
    size = f"it would take about {needed // MIB} MiB, and the run has {most // MIB} MiB"
    told["assumed"].insert(0, f"The table is too large for memory ({size}), so sql() alone reads it.")
    sentence = f"the table of {called} is too large for memory ({size}): ask for what you need of it with sql(\"select ...\"), which reads the file in parts, or give the run more memory (memory_bytes)"
    return [(None, LargeTable(Rows(source, end, told), sentence), told)]


# ---- files ----


class HeldFile(csv_read.Source):
    """A file that stays open: code that runs under a guard's rules lets nobody open it again."""

    def __init__(self, path, options):
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        super().__init__(path, options)

    def open(self):
        return Part(self.descriptor)

    def close(self):
        os.close(self.descriptor)

    def first_rows(self):
        return list(csv_rows.batches(csv_form.lines_of(self.text[self.form.skip :]), self.form, csv_rows.BadLines(), True))


class Part(io.RawIOBase):
    """A file by its open descriptor, with a place of its own in it."""

    def __init__(self, descriptor):
        super().__init__()
        self.descriptor, self.at = descriptor, 0

    def seek(self, at):
        self.at = at

    def read(self, size):
        data = os.pread(self.descriptor, size, self.at)
        self.at += len(data)
        return data


# ---- rows ----


class Rows:
    """The rows of SOURCE up to END, in parts of columns of one type each: as its head has them, until a part shows that it is otherwise.
    TOLD, the report of the table, gets what a reading to the end found."""

    def __init__(self, source, end, told):
        from adder_runner import csv_arrow

        self.source, self.end, self.told = source, end, told
        self.names = [column.name for column in source.columns]
        self.originals = [column.original for column in source.columns]
        self.kinds = [column.kind.copy() for column in source.columns]
        self.denied = set()  # positions of columns that a value did not fit already
        self.block = min(BLOCK, csv_arrow.block_for(source.form))
        self.by_rows, self.is_plain, self.is_sound = source.form.is_odd(), True, not source.form.quote
        self.has_changed = False

    def stream(self, names):
        """The columns NAMES (None: all), for Arrow: a new reading whenever it asks."""
        wanted = [at for at, name in enumerate(self.names) if names is None or name.casefold() in names] or [0]
        return Stream(self, wanted)

    def batches(self, wanted):
        """Record batches of the columns at WANTED. Raises Changed."""
        import pyarrow

        from adder_runner import csv_arrow, csv_columns

        columns = [csv_columns.Column(self.names[at], self.originals[at], self.kinds[at].copy(), self.source.options) for at in wanted]
        schema = self.schema(wanted)
        try:
            for texts in self.texts(wanted):
                progress.tell()
                for at, column, values in zip(wanted, columns, texts):
                    column.add(values)
                    self.hold(at, column)
                yield pyarrow.record_batch([column.parts.pop() for column in columns], schema)
        except csv_arrow.Misread:
            self.by_rows = True
            raise self.changed() from None
        except csv_arrow.TooLong:
            self.block *= 8
            self.by_rows = self.block * self.source.form.width > csv_arrow.SET_ASIDE
            raise self.changed() from None

    def schema(self, wanted):
        import pyarrow

        from adder_runner import csv_columns

        return pyarrow.schema([(self.names[at], csv_columns.TYPES[self.kinds[at].kind]) for at in wanted])

    def changed(self):
        self.has_changed = True
        return Changed()

    def hold(self, at, column):
        """Compares what COLUMN has become with what it was, at position AT."""
        if column.denied:
            kind = csv_kinds.judge_columns([column.seen], self.source.options)[0]
            self.kinds[at] = csv_kinds.text() if at in self.denied else kind
            self.denied.add(at)
            raise self.changed()
        if column.kind.kind != self.kinds[at].kind:
            self.kinds[at] = column.kind.copy()
            raise self.changed()

    # ---- texts ----

    def texts(self, wanted):
        from adder_runner import csv_columns

        if not self.by_rows:
            yield from self.texts_by_blocks(wanted)
            return
        bad = csv_rows.BadLines()
        for _, texts in csv_read.texts_of(csv_columns, csv_rows.batches(self.source.lines(self.end), self.source.form, bad), wanted):
            yield texts
        self.tell(bad)

    def texts_by_blocks(self, wanted):
        """Of a file whose rows are all plain, the columns that are WANTED alone, and the first, which shows whether they are."""
        from adder_runner import csv_arrow

        form, bad, rows = self.source.form, csv_arrow.BadRows(), 0
        read = sorted({0, *wanted}) if self.is_plain else range(form.width)
        places = [read.index(at) for at in wanted]
        stream = self.source.stream(self.source.open(), self.end)
        for columns in csv_arrow.batches(stream, form, bad, read if self.is_plain else None, self.block, True):
            if self.is_plain and (columns[0].null_count or csv_arrow.marked(columns[0], form)):
                self.is_plain = False
                raise self.changed()
            rows += len(columns[0])
            yield [columns[place] for place in places]
        if not self.is_sound and rows + bad.count < stream.met.lines + stream.met.is_begun:
            again = self.source.stream(self.source.open(), self.end)
            if any(csv_arrow.is_doubtful(texts, form) for texts in csv_arrow.batches(again, form, csv_arrow.BadRows(), None, self.block)):
                raise csv_arrow.Misread
        self.is_sound = True
        bad.lines = [form.line + number for number in bad.numbers[: csv_rows.BadLines.SHOWN]]
        self.tell(bad)

    def tell(self, bad):
        self.told["bad_lines"].update(csv_report.told_of_bad_lines(bad))


class Stream:
    """ROWS as Arrow's interface has it: each that asks gets all of them."""

    def __init__(self, rows, wanted):
        self.rows, self.wanted = rows, wanted

    def __arrow_c_schema__(self):
        return self.rows.schema(self.wanted).__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema=None):
        import pyarrow

        batches = self.rows.batches(self.wanted)
        return pyarrow.RecordBatchReader.from_batches(self.rows.schema(self.wanted), batches).__arrow_c_stream__(requested_schema)
