# SPDX-License-Identifier: Apache-2.0
"""Reads the sheets of an Excel workbook (.xlsx), each with data a table, by openpyxl and row by row. Values and their types are those
that the workbook keeps; formulas are not computed: docs/tables.md."""

import contextlib
import itertools
import statistics
import warnings
import zipfile

from adder_runner import csv_form, csv_place, csv_read, typed_columns

LOOKED_AT = 200  # rows among which the header is
SHEETS_MAX = 32
# A sheet has room for 17 thousand million cells, most of which a file does not have to hold.
COLUMNS_MAX, ROWS_MAX, CELLS_MAX = 16384, 1 << 20, 100_000_000
UNPACKED_MAX, FILES_MAX = 1 << 30, 10_000
PROLOGUE = 1 << 16


class Source(typed_columns.Source):
    def __init__(self, path, format, called, options):
        super().__init__(path, format, called, options)
        self.wanted = self.options.pop("table", None)
        self.header = self.options.pop("header", None)

    def tables(self, sample_rows, is_scan):
        try:
            self.look_inside()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.sheets(sample_rows, is_scan)
        except (csv_read.CannotRead, MemoryError):
            raise
        except ImportError:
            raise csv_read.CannotRead("this environment has no openpyxl, which Excel workbooks need: take the environment science, or another that has it") from None
        except Exception as error:  # of all kinds, where a workbook is damaged
            raise self.cannot(error) from None

    def look_inside(self):
        """Refuses what is only small while it is packed, before any of it is unpacked."""
        with zipfile.ZipFile(self.path) as archive:
            files = archive.infolist()
            parts = [file for file in files if file.filename.endswith((".xml", ".rels"))]
            if len(files) > FILES_MAX or sum(part.file_size for part in parts) > UNPACKED_MAX:
                raise self.cannot(f"it unpacks to more than {UNPACKED_MAX >> 20} MiB or {FILES_MAX} files")
            for part in parts:
                with archive.open(part) as file:
                    begin = file.read(PROLOGUE)
                # Excel writes none, and its entities could be multiplied without end.
                if b"<!DOCTYPE" in begin or b"<!ENTITY" in begin or begin[:2] in (b"\xff\xfe", b"\xfe\xff"):
                    raise self.cannot(f"{csv_form.brief(part.filename, 60)} has a document type, or is no UTF-8")

    def sheets(self, sample_rows, is_scan):
        import openpyxl

        # Not by its path: openpyxl goes by endings.
        with open(self.path, "rb") as file, contextlib.closing(openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)) as book:
            return self.with_data(book, sample_rows, is_scan)

    def with_data(self, book, sample_rows, is_scan):
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        self.left = CELLS_MAX
        if self.wanted is not None:
            sheets = {self.wanted: sheets[self.chosen(self.wanted, list(sheets))]}
        if len(sheets) > SHEETS_MAX:
            raise csv_read.CannotRead(f"{self.called} has {len(sheets)} sheets, and {SHEETS_MAX} are read at most: say which one with the option table ({typed_columns.listed(sheets)})")
        found = []
        for title, sheet in sheets.items():
            read = self.read(title, sheet, sample_rows, is_scan)
            if read:
                found.append((title, *read))
        if not found:
            raise csv_read.CannotRead(f"{self.called} is an Excel workbook without data")
        if self.wanted is None and len(found) == 1 and len(book.worksheets) > 1:
            found[0][2]["assumed"].insert(0, f"The table is the sheet {csv_form.brief(found[0][0], 40)!r}, one of {len(book.worksheets)}.")
        return [(None, *found[0][1:])] if len(found) == 1 else found

    def read(self, title, sheet, sample_rows, is_scan):
        """(a DataFrame, its TABLE), or None: the sheet is empty."""
        rows = self.rows(title, sheet)
        first = list(itertools.islice(rows, LOOKED_AT))
        if not first:
            return None
        names, at, assumed = find_header(first, self.header)
        table, is_cut = typed_columns.Rows(len(names or ())), False
        for _, row in itertools.chain(first[at:], rows):
            is_cut = is_scan and table.count == typed_columns.SCANNED
            if is_cut:
                break
            table.add(row)
        if not is_cut:
            assumed.extend(without_total(table))
        table.flush()
        form, values = named(names, table.values)
        if not values:
            return None
        columns, frame = typed_columns.frame_of(values, form, table.count, sample_rows)
        told = self.told(columns, frame, sample_rows, [*assumed, *form.assumed], None if is_cut else table.count, is_cut)
        return frame, {**told, "header": form.header}

    def rows(self, title, sheet):
        """(number, values) of the rows of SHEET that are not empty, without what is empty at their end."""
        sheet.reset_dimensions()  # which are what a file says, and often wrong
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            self.left -= len(row)
            if number > ROWS_MAX or len(row) > COLUMNS_MAX or self.left < 0:
                raise self.cannot(f"the sheet {csv_form.brief(title, 40)!r} has more than {ROWS_MAX} rows, {COLUMNS_MAX} columns or {CELLS_MAX} cells")
            width = len(row)
            while width and (row[width - 1] is None or row[width - 1] == ""):
                width -= 1
            if width:
                yield number, [None if value == "" else value for value in row[:width]]


# ---- what is no data ----


def find_header(rows, given):
    """(the names or None, the index of the first row with data, what was assumed) of ROWS, the first of a sheet."""
    texts = [["" if cell is None else typed_columns.said(cell) for cell in row] for _, row in rows]
    filled = [sum(bool(text.strip()) for text in row) for row in texts]
    usual = statistics.median_high(filled[1:] or filled)
    # A title or a note has hardly a cell; a header, about as many as its rows.
    first = next(at for at, count in enumerate(filled) if count * 2 >= usual and (count > 1 or usual < 2))
    width = max(map(len, texts[first:]))
    padded = [row + [""] * (width - len(row)) for row in texts[first:]]
    form = csv_form.Form(None, None, None)
    form.header = csv_place.is_header(padded[0], padded[1:]) if given is None else given
    assumed = [] if given is not None else list(csv_form.said_of_header(form, padded[1:]))
    if first:
        above = csv_form.brief(" ".join(text for text in texts[0] if text), 80)
        assumed.append(f"{first} {'rows' if first > 1 else 'row'} above the table {'were' if first > 1 else 'was'} left out: {above}")
    return (texts[first] if form.header else None), first + form.header, assumed


def without_total(table):
    """Takes back the last row of TABLE if it sums up the others, and says so."""
    last = table.pending[-1] if table.pending else []
    if last and isinstance(last[0], str) and csv_form.is_total(last, range(table.count - 1)):
        table.take_back()
        yield f"The last row is a total of the others and was left out: {csv_form.brief(' '.join(typed_columns.said(cell) for cell in last if cell is not None), 80)}"


def named(names, values):
    """(the form of the columns, VALUES) of those columns that have a name or values."""
    names = [*(names or ()), *[""] * (len(values) - len(names or ()))]
    kept = [at for at in range(len(values)) if names[at].strip() or values[at].kinds]
    return typed_columns.form_of([names[at] for at in kept], any(map(str.strip, names))), [values[at] for at in kept]
