# SPDX-License-Identifier: Apache-2.0
"""Reads JSON that is a table: a list of objects, one object with lists of one length, what pandas writes where it cannot be mistaken,
and JSON Lines, of which bad ones are counted. All other JSON is refused: docs/tables.md."""

import contextlib
import itertools
import json
import re

from adder_runner import csv_bytes, csv_form, csv_read, csv_report, csv_rows, typed_columns

SPACE = re.compile(r"[ \t\r\n]*")
NUMBERED = re.compile(r"[0-9]+$")
SCALARS = (str, int, float, bool, type(None))
LISTED = 5


class NotThis(ValueError):
    """Why it is no table, as it stands after the file's name: "holds a list of numbers"."""


class Source(typed_columns.Source):
    def tables(self, sample_rows, is_scan):
        with self.saying():
            rows = Objects(self.objects(is_scan))
        columns, frame = rows.frame(sample_rows)
        told = self.told(columns, frame, sample_rows, [*self.said_of_text(), *rows.assumed()], None if self.is_cut else rows.count, self.is_cut)
        return [(None, frame, {**told, "bad_lines": csv_report.told_of_bad_lines(self.bad), "encoding": self.encoding.text_name(), "bom": bool(self.encoding.mark)})]

    def rows(self, is_scan):
        """The rows, as objects."""
        with self.saying():
            yield from self.objects(is_scan)

    @contextlib.contextmanager
    def saying(self):
        """What is wrong becomes a sentence."""
        try:
            yield
        except csv_read.CannotRead:
            raise
        except NotThis as reason:
            raise csv_read.CannotRead(f"{self.called} is JSON and no table: it {reason}") from None
        except RecursionError:
            raise csv_read.CannotRead(f"{self.called} is JSON and no table: it is nested too deeply") from None
        except json.JSONDecodeError as error:
            raise self.cannot(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
        except ValueError:
            raise self.cannot("it holds a number of too many digits") from None

    def objects(self, is_scan):
        self.bad, self.is_cut, self.broken = csv_rows.BadLines(), False, 0
        head, size = csv_bytes.read_head(self.path)
        self.encoding = csv_bytes.encoding_of(head)
        self.is_cut = is_scan and size > len(head)
        begin, _ = csv_bytes.decode(csv_bytes.cut_at_line(head, self.encoding.text_name()) if size > len(head) else head, self.encoding)
        if are_lines(begin, self.called):
            self.format = "jsonl"
            return self.of_lines(begin if self.is_cut else None, is_scan)
        if self.is_cut and begin.lstrip("\ufeff \t\r\n").startswith("["):
            rows = list(self.first_items(begin))
            if rows:
                return rows
        self.is_cut = False
        with open(self.path, "rb") as file:
            text, met = csv_bytes.decode(file.read(), self.encoding)
        self.broken = met.broken
        return self.limited(of_document(text), is_scan)

    def said_of_text(self):
        if not self.encoding.certain:
            yield f"The bytes look like {self.encoding.name} and were read so; JSON should be UTF-8."
        if self.broken:
            yield f"{self.broken} {'characters' if self.broken > 1 else 'character'} could not be decoded as {self.encoding.text_name()}: they are \ufffd now."

    def limited(self, rows, is_scan):
        for at, row in enumerate(rows):
            if is_scan and at == typed_columns.SCANNED:
                self.is_cut = True
                return
            yield row

    def first_items(self, text):
        """Those of a list of which TEXT is the beginning."""
        rows = items(text)
        for _ in range(typed_columns.SCANNED):
            try:
                yield checked(next(rows))
            except (StopIteration, json.JSONDecodeError):
                return

    # ---- JSON Lines ----

    def of_lines(self, text, is_scan):
        with open(self.path, encoding=self.encoding.text_name(), errors="replace", newline="\n") as file:
            rows = self.good_lines(text.split("\n") if text is not None else file)
            yield from self.limited(rows, is_scan)
        if not self.good:
            raise NotThis("has no line that is a JSON object")

    def good_lines(self, lines):
        self.good = 0
        for number, line in enumerate(lines, 1):
            line = line.strip("\ufeff \t\r\n")
            if not line:
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            if isinstance(value, dict):
                self.good += 1
                yield value
            else:
                self.bad.add(number, line)


def are_lines(text, called):
    """Whether the beginning TEXT of a file is that of JSON Lines: most of its first lines are objects, and there are several."""
    lines = [line for line in text[: 1 << 20].split("\n", 50)[:50] if line.strip()]
    good = 0
    for line in lines:
        try:
            good += isinstance(json.loads(line.strip("\ufeff \t\r")), dict)
        except (ValueError, RecursionError):
            pass
    return good * 2 > len(lines) and (len(lines) > 1 or called.lower().endswith((".jsonl", ".ndjson")))


# ---- one document ----


def items(text):
    """Those of the list that TEXT is, one after the other: less is held at once than all of them are."""
    decoder, at = json.JSONDecoder(), SPACE.match(text, SPACE.match(text, 0).end() + 1).end()
    if text.startswith("]", at):
        return end(text, at + 1)
    while True:
        value, at = decoder.raw_decode(text, at)
        yield value
        at = SPACE.match(text, at).end()
        if text.startswith("]", at):
            return end(text, at + 1)
        if not text.startswith(",", at):
            raise json.JSONDecodeError("Expecting ',' or ']'", text, at)
        at = SPACE.match(text, at + 1).end()


def end(text, at):
    at = SPACE.match(text, at).end()
    if at < len(text):
        raise json.JSONDecodeError("Extra data", text, at)


def of_document(text):
    text = text.lstrip("\ufeff")
    if text.lstrip().startswith("["):
        return of_list(items(text))
    value = json.loads(text)
    if not isinstance(value, dict):
        raise NotThis(f"holds {named(value)}")
    return of_object(value)


def of_list(values):
    try:
        first = next(values)
    except StopIteration:
        raise NotThis("holds an empty list") from None
    if isinstance(first, list):
        return of_lists([first, *values])
    return map(checked, itertools.chain([first], values))


def checked(value):
    if not isinstance(value, dict):
        raise NotThis(f"holds a list with {named(value)} in it, and a table is a list of objects")
    return value


def of_lists(rows):
    """A list of lists, of which the first has names."""
    names = rows[0]
    is_even = all(isinstance(row, list) and len(row) == len(names) for row in rows)
    is_headed = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    if len(rows) < 2 or not names or not is_even or not is_headed or all(isinstance(cell, str) for row in rows[1:] for cell in row):
        raise NotThis("holds a list of lists without names: write objects")
    return (dict(zip(names, row)) for row in rows[1:])


def of_object(value):
    parts = list(value.values())
    if set(value) <= {"columns", "index", "data"} and is_list(value.get("data")) and is_list(value.get("columns")):
        return of_split(value["columns"], value["data"])
    if set(value) == {"schema", "data"} and isinstance(value["schema"], dict) and is_list(value["data"]):
        return map(checked, value["data"])
    if parts and all(is_list(part) for part in parts):
        if len({*map(len, parts)}) == 1 and all(isinstance(cell, SCALARS) for part in parts for cell in part):
            return (dict(zip(value, row)) for row in zip(*parts))
    if parts and all(isinstance(part, dict) and part for part in parts):
        return of_objects(value)
    lists = [name for name, part in value.items() if is_list(part) and part and all(isinstance(item, dict) for item in part)]
    hint = f"; a list of objects is its member {csv_form.brief(lists[0], 40)!r}: save that by itself" if len(lists) == 1 else ""
    raise NotThis(f"holds an object ({csv_form.some([csv_form.brief(name, 40) for name in value], LISTED)}){hint}" if value else "holds an empty object")


def of_split(names, rows):
    if not all(is_list(row) and len(row) == len(names) for row in rows):
        raise NotThis("holds rows of another length than its list of columns")
    return (dict(zip(map(str, names), row)) for row in rows)


def of_objects(value):
    """An object of objects: columns by the numbers of rows, or rows by their numbers."""
    inner = [*map(set, value.values())]
    if all(keys == inner[0] for keys in inner) and are_numbers(inner[0]) and not are_numbers(value):
        return ({name: value[name][row] for name in value} for row in sorted(inner[0], key=int))
    if are_numbers(value) and not any(map(are_numbers, inner)):
        return (value[row] for row in sorted(value, key=int))
    raise NotThis("holds objects in an object, which could be rows or columns: write a list of objects")


def are_numbers(names):
    return all(map(NUMBERED.match, names)) and {*map(int, names)} == {*range(len(names))}


def is_list(value):
    return isinstance(value, list)


def named(value):
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


# ---- columns ----


class Objects:
    """A table of OBJECTS, whose columns are named when they first come."""

    def __init__(self, objects):
        self.values, self.count = {}, 0
        pending, cells = [], 0
        for row in objects:
            pending.append(row)
            cells += len(row)
            if cells >= typed_columns.CELLS:
                self.add(pending)
                pending, cells = [], 0
        self.add(pending)

    def add(self, rows):
        for name in dict.fromkeys(name for row in rows for name in row):
            if name not in self.values:
                self.values[name] = typed_columns.Values(self.count)
        if len(self.values) > typed_columns.MAX_COLUMNS:
            raise NotThis(f"has objects with more than {typed_columns.MAX_COLUMNS} different names")
        for name, values in self.values.items():
            values.add([row.get(name) for row in rows])
        self.count += len(rows)

    def assumed(self):
        return [*self.form.assumed, *([] if self.values else ["The file holds no table."])]

    def frame(self, sample_rows):
        self.form = typed_columns.form_of(list(self.values))
        return typed_columns.frame_of(list(self.values.values()), self.form, self.count, sample_rows)
