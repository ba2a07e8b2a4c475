# SPDX-License-Identifier: Apache-2.0
"""Tables that code shows, whole, as files in the output folder: CSV, Parquet or JSON.

A table is written beside its place and gets its name when it is whole: what a limit ends, or a run that is killed, leaves no
table that only looks like one. What cannot be written is a warning; the run goes on. Nothing is imported for CSV and JSON: who
has a table has pandas."""

import contextlib
import io
import os
import sys
import time

from adder_runner import _adder, display, places, tracebacks

ROWS = 10_000  # that are put into JSON at once
FREE_BYTES = 1 << 20  # of a table that are written however little time is left
PARQUET_TIMES = 8  # Parquet is made in memory: what is longer there than so many times the limit is not tried


class TooLong(Exception):
    """The table has more bytes than table_bytes allows."""


class TooSlow(Exception):
    """Hardly any processor time is left for the rest of the table."""


class Bounded(io.RawIOBase):
    """A new file at PATH that takes MOST bytes, and but a few of them when the process has used CPU_S of processor time."""

    def __init__(self, path, most, cpu_s=None):
        self.file, self.left = open(_adder.make_file(path), "wb", buffering=0), most
        self.cpu_s, self.free = cpu_s, most - FREE_BYTES

    def writable(self):
        return True

    def write(self, data):
        self.left -= len(data)
        if self.left < 0:
            raise TooLong
        if self.cpu_s is not None and self.left < self.free and time.process_time() > self.cpu_s:
            raise TooSlow
        return self.file.write(data)

    def close(self):
        self.file.close()
        super().close()


class Exports:
    """The tables of one run or cell, as WANTED says: {"format", "most", "bytes"}. KNOWN are files of earlier cells, which may be
    written over."""

    def __init__(self, wanted, known=()):
        self.format, self.most, self.bytes = wanted["format"], wanted["most"], wanted["bytes"]
        self.cpu_s = None  # processor time that tables may take up to, where there is more to tell after them
        self.known = set(known)
        self.count = 0
        self.names = []

    def keep(self, value):
        """Writes VALUE where it is a DataFrame or a Series."""
        frame = frame_of(value)
        if frame is None:
            return
        self.count += 1
        if self.count > self.most:
            display.warn(f"only {self.most} tables are written to files (tables)")
            return
        try:
            self.names.append(self.write(frame, self.format))
        except TooLong:
            display.warn(f"table {self.count} is not written to a file: it is longer than {self.bytes} bytes (table_bytes)")
        except TooSlow:
            display.warn(f"table {self.count} is not written to a file: hardly any processor time is left for it (cpu_ms)")
        except Exception as error:
            display.warn(f"table {self.count} is not written to a file: {type(error).__name__}: {tracebacks.message_of(error)}")

    def write(self, frame, kind):
        folder = os.path.join(places.temporary, "output")
        name = self.free_name(folder, kind)
        path = os.path.join(folder, name)
        part = path + ".part"
        try:
            with io.BufferedWriter(Bounded(part, self.bytes, self.cpu_s)) as file:
                WRITERS[kind](frame, file, self.bytes)
            _adder.move_file(part, path)
            return name
        except (TooLong, TooSlow, OSError, MemoryError):
            raise
        except Exception as error:  # such as values of several types in one column
            if kind == "csv":
                raise
            display.warn(f"table {self.count} is written as CSV, since {kind} cannot hold it: {type(error).__name__}: {tracebacks.message_of(error)}")
            return self.write(frame, "csv")
        finally:
            with contextlib.suppress(OSError):
                _adder.drop_file(part)

    def free_name(self, folder, kind):
        """The name of the table: not that of a file that the code wrote itself."""
        name, number = f"table-{self.count}.{kind}", 1
        while name not in self.known and os.path.lexists(os.path.join(folder, name)):
            number += 1
            name = f"table-{self.count}-{number}.{kind}"
        return name


def frame_of(value):
    pandas = sys.modules.get("pandas")
    if isinstance(value, getattr(pandas, "DataFrame", ())):
        return value
    if isinstance(value, getattr(pandas, "Series", ())):
        return value.to_frame(value.name if value.name is not None else "value")
    return None


def has_plain_index(frame):
    """Whether the index only counts rows, and is no part of the table."""
    index = frame.index
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1 and index.name is None


def write_csv(frame, file, most):
    with io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="", write_through=True) as text:
        frame.to_csv(text, index=not has_plain_index(frame))


def write_parquet(frame, file, most):
    if int(frame.memory_usage(index=False).sum()) > PARQUET_TIMES * most:
        raise TooLong
    frame = frame if all(isinstance(name, str) for name in frame.columns) else frame.set_axis([str(name) for name in frame.columns], axis=1)
    frame.to_parquet(file, index=None if has_plain_index(frame) else True)


def write_json(frame, file, most):
    """A list of objects, one for each row."""
    plain = has_plain_index(frame)
    file.write(b"[")
    for begin in range(0, len(frame), ROWS):
        rows = frame.iloc[begin : begin + ROWS]
        text = (rows if plain else rows.reset_index()).to_json(orient="records", date_format="iso", force_ascii=False)
        file.write((b",\n" if begin else b"") + text[1:-1].encode("utf-8", "backslashreplace"))
    file.write(b"]\n")


WRITERS = {"csv": write_csv, "parquet": write_parquet, "json": write_json}
