# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of an SQLite database. What a database says is done is code of whoever made it, so no view is evaluated that was
not asked for, nothing is written, and no extension or virtual table counts: docs/tables.md."""

import contextlib
import sqlite3
import struct
import urllib.parse

from adder_runner import csv_read, typed_columns

TABLES_MAX = 32
LONGEST = 64 << 20  # bytes of a value
CHECKED = 64 << 20  # bytes of a database that is looked through for damage
# Of its head: the size of a page, how it is read, the number of changes, of pages, and of changes when those were counted.
HEADER = struct.Struct(">16xHxB4xII60xI")
WRITE_AHEAD = 2
ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_PRAGMA)


class Source(typed_columns.Source):
    def __init__(self, path, format, called, options):
        super().__init__(path, format, called, options)
        self.wanted, self.assumed = self.options.pop("table", None), []

    def tables(self, sample_rows, is_scan):
        try:
            with open(self.path, "rb") as file:
                page, self.reading, changes, pages, counted = HEADER.unpack(file.read(HEADER.size))
            if changes == counted and self.size < pages * (page if page > 1 else 1 << 16):
                raise self.cannot("its end is missing")
            with contextlib.closing(self.connect()) as database:
                self.check(database)
                names = self.names(database)
                found = [(name, *self.read(database, name, sample_rows, is_scan)) for name in names]
                found[0][2]["assumed"].extend([*self.assumed, *self.said_of_log()])
        except (sqlite3.Error, OverflowError, struct.error) as error:
            raise self.cannot(error) from None
        return [(None, *found[0][1:])] if len(found) == 1 else found

    def connect(self):
        # Immutable: a file in a read-only workspace has no place for locks or a journal.
        database = sqlite3.connect(f"file:{urllib.parse.quote(self.path)}?mode=ro&immutable=1", uri=True)
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        if hasattr(database, "setlimit"):  # CPython 3.11
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
            database.execute(f"PRAGMA {pragma}")
        database.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY)
        return database

    def check(self, database):
        """Refuses what is damaged: of a page of zeros SQLite reads values."""
        if self.size <= CHECKED:
            [[found]] = database.execute("PRAGMA quick_check(1)")
            if found != "ok":
                raise self.cannot(found)

    def names(self, database):
        """Those of the tables to read."""
        kinds = kinds_of(database)
        plain, views, virtual = ([name for name, kind in kinds if kind == wanted] for wanted in ("table", "view", "virtual"))
        if self.wanted is not None:
            return [self.chosen(self.wanted, plain + views)]
        for what, names in (("Views were not read, and the option table asks for one", views), ("Virtual tables were not read", virtual)):
            if names:
                self.assumed.append(f"{what}: {typed_columns.listed(names)}.")
        if not plain:
            raise csv_read.CannotRead(f"{self.called} is an SQLite database without a table")
        if len(plain) > TABLES_MAX:
            raise csv_read.CannotRead(f"{self.called} is an SQLite database with {len(plain)} tables, and {TABLES_MAX} are read at most: say which one with the option table ({typed_columns.listed(plain)})")
        return plain

    def read(self, database, name, sample_rows, is_scan):
        quoted = '"' + name.replace('"', '""') + '"'
        cursor = database.execute(f"SELECT * FROM {quoted}" + (f" LIMIT {typed_columns.SCANNED + 1}" if is_scan else ""))
        form = typed_columns.form_of([column[0] for column in cursor.description])
        logical = {row[1] for row in database.execute(f"PRAGMA table_info({quoted})") if str(row[2]).upper().startswith("BOOL")}
        flags = [at for at, original in enumerate(form.originals) if original in logical]
        rows, is_cut = typed_columns.Rows(form.width), False
        for row in cursor:
            is_cut = is_scan and rows.count == typed_columns.SCANNED
            if is_cut:
                break
            rows.add(with_flags(row, flags) if flags else row)
        rows.flush()
        columns, frame = typed_columns.frame_of(rows.values, form, rows.count, sample_rows)
        return frame, self.told(columns, frame, sample_rows, form.assumed, None if is_cut else rows.count, is_cut)

    def said_of_log(self):
        if self.reading == WRITE_AHEAD:
            yield "The database keeps its last changes in a file of their own (-wal), which is not read."


def kinds_of(database):
    """[(name, kind)] of all tables; the parts of a virtual one are no tables."""
    try:
        listed = database.execute("PRAGMA main.table_list").fetchall()  # SQLite 3.37
    except sqlite3.DatabaseError:
        listed = []
    order = database.execute("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid").fetchall()
    kinds = {name: kind for _, name, kind, *_ in listed}
    return [(name, kinds.get(name, kind)) for name, kind in order if not name.startswith("sqlite_")]


def with_flags(row, flags):
    """ROW with what is 0 or 1 in the columns FLAGS, which are declared as booleans, as that."""
    row = list(row)
    for at in flags:
        if row[at] in (0, 1):
            row[at] = bool(row[at])
    return row
