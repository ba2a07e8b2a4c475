# SPDX-License-Identifier: Apache-2.0
"""The readers that are compared, each as a function from a path to what it read: all fields as texts."""

import csv
import importlib
import io
import pathlib
import sys
import types
import warnings

RUNNER = pathlib.Path(__file__).resolve().parents[2] / "src" / "runner" / "python"


class Table:
    """`names` and `rows` are lists of texts, an empty one where there is no value. `said` is what the reader reports beyond the
    table, `bad` the lines that it left out by number, `refused` why it read nothing."""

    def __init__(self, names=(), rows=(), said=(), bad=(), refused=None):
        self.names, self.rows, self.said, self.bad, self.refused = list(names), [list(row) for row in rows], list(said), list(bad), refused


def texts(frame):
    return [list(row) for row in frame.astype(object).where(frame.notna(), "").itertuples(index=False, name=None)]


# ---- Adder ----


def adder_modules():
    if "adder_runner" not in sys.modules:
        package = types.ModuleType("adder_runner")
        package.__path__ = [str(RUNNER)]
        sys.modules["adder_runner"] = package
    return [importlib.import_module(f"adder_runner.{name}") for name in ("table_read", "csv_read", "csv_kinds")]


def adder(path):
    """Read twice: as a user gets it, for what is said; and with all columns taken for text, for what stands in the cells."""
    table_read, csv_read, csv_kinds = adder_modules()
    try:
        _, table = table_read.load(str(path))
        judge = csv_kinds.judge_columns
        csv_kinds.judge_columns = lambda columns, options: [all_text(kind, csv_kinds) for kind in judge(columns, options)]
        try:
            frame, _ = table_read.load(str(path))
        finally:
            csv_kinds.judge_columns = judge
    except csv_read.CannotRead as error:
        return Table(refused=str(error))
    names = frame.columns if table["header"] else []
    bad = table["bad_lines"]
    said = [*table["assumed"], *([f"{bad['count']} bad lines: {bad['lines']}"] if bad["count"] else [])]
    return Table(names, texts(frame), said, bad["lines"])


def all_text(kind, csv_kinds):
    if kind.kind != "empty":
        kind = csv_kinds.text()
        kind.keeps = csv_kinds.MISSING_TEXT
    return kind


# ---- the alternatives ----


def duckdb_with(**options):
    def read(path):
        import duckdb

        connection = duckdb.connect()
        try:
            relation = connection.read_csv(str(path), all_varchar=True, sample_size=-1, **options)
            names, rows = relation.columns, relation.fetchall()
            bad = []
            if options.get("store_rejects"):
                bad = [line for (line,) in connection.execute("select distinct line from reject_errors order by line").fetchall()]
            header = connection.execute(f"select HasHeader from sniff_csv('{quoted(path)}', sample_size=-1)").fetchone()[0]
        except (duckdb.Error, UnicodeDecodeError) as error:
            return Table(refused=str(error))
        finally:
            connection.close()
        said = [f"rejected: {bad}"] if bad else []
        return Table(names if header else [], [["" if value is None else value for value in row] for row in rows], said, bad)

    return read


def quoted(path):
    return str(path).replace("'", "''")


def clevercsv(path):
    """The dialect that it finds, and its rows as they come: with pandas behind it, one row of another length refuses the file."""
    import clevercsv

    try:
        with open(path, newline="", encoding=clevercsv.encoding.get_encoding(path)) as file:
            dialect = clevercsv.Sniffer().sniff(file.read())
            file.seek(0)
            rows = list(clevercsv.reader(file, dialect))
    except (clevercsv.exceptions.Error, csv.Error, ValueError, OSError, LookupError, TypeError) as error:
        return Table(refused=f"{type(error).__name__}: {error}")
    return Table(rows[0] if rows else [], rows[1:])


def pandas_with(**options):
    def read(path):
        import pandas

        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                frame = pandas.read_csv(io.BytesIO(pathlib.Path(path).read_bytes()), dtype=str, keep_default_na=False, **options)
        except (pandas.errors.ParserError, pandas.errors.EmptyDataError, csv.Error, ValueError, OSError) as error:
            return Table(refused=f"{type(error).__name__}: {error}")
        return Table(frame.columns, texts(frame), [str(each.message) for each in warned])

    return read


READERS = {
    "adder": adder,
    "duckdb": duckdb_with(store_rejects=True),
    "duckdb-padded": duckdb_with(null_padding=True, ignore_errors=True, strict_mode=False),
    "clevercsv": clevercsv,
    "pandas": pandas_with(on_bad_lines="warn"),
    "pandas-sniffed": pandas_with(on_bad_lines="warn", sep=None, engine="python"),
}
