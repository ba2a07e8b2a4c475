# SPDX-License-Identifier: Apache-2.0
"""Columns of texts turned into what their kind says, part by part, with Arrow; and into pandas' at the end. A column whose kind
some value denies is judged and read once more, and is text if that fails too."""

import numpy
import pandas
import pyarrow
import pyarrow.compute as compute

from adder_runner import csv_kinds

TEXT = pyarrow.large_string()
MOMENT = pyarrow.timestamp("us")
TYPES = {"integer": pyarrow.int64(), "number": pyarrow.float64(), "boolean": pyarrow.bool_(), "date": MOMENT, "text": TEXT, "empty": pyarrow.null()}
EXACT = 2**53
HAS_ARROW = True
SMALL = 1 << 23

MISSING = pyarrow.array(csv_kinds.MISSING, TEXT)
MISSING_TEXT = pyarrow.array(csv_kinds.MISSING_TEXT, TEXT)
TRUE, FALSE = pyarrow.array(csv_kinds.TRUE, TEXT), pyarrow.array(csv_kinds.FALSE, TEXT)
MONTHS = pyarrow.array(csv_kinds.MONTHS, TEXT)
NO_TEXT = pyarrow.scalar(None, TEXT)


def from_texts(values):
    return pyarrow.array([value or None for value in values], TEXT)


class Column:
    """`denied`: the row and the value that did not fit `kind`; `line`: of that row, by whoever knows. `missing`: the words that
    were taken for no value. `nulls` and `sample` are there when all is read."""

    def __init__(self, name, original, kind, options):
        self.name, self.original, self.options = name, original, options
        self.reset(kind)

    def reset(self, kind):
        self.kind = kind
        self.parts, self.rows = [], 0
        self.missing, self.zones = set(), set()
        self.denied = self.line = None
        self.nulls, self.sample = 0, []

    def add(self, values):
        """Takes the next part; of a column that was denied, nothing more."""
        if self.denied is None:
            part = self.converted(values)
            if part is None:
                at = self.misfit(values)
                self.denied = self.rows + at, values[at].as_py()
                self.seen = [values[at].as_py(), *unique(values)]
                self.parts = []
            else:
                self.parts.append(part)
        self.rows += len(values)

    def converted(self, values):
        if self.kind.kind == "empty" and values.null_count < len(values):
            self.begin(values)
        try:
            return CONVERT[self.kind.kind](self, values)
        except pyarrow.ArrowInvalid:
            return self.widened(values) if self.kind.kind == "integer" else None

    def begin(self, values):
        """What the column is shows only now."""
        self.kind = csv_kinds.judge_columns([unique(values)], self.options)[0]
        self.parts = [pyarrow.nulls(self.rows, TYPES[self.kind.kind])] if self.rows else []

    def widened(self, values):
        """A part of what were integers so far, as numbers, if that loses nothing."""
        if has_leading_zero(values) or any(largest(part) > EXACT for part in self.parts):
            return None
        try:
            part = number(self, values)
        except pyarrow.ArrowInvalid:
            return None
        if part is not None:
            self.kind.kind = "number"
            self.parts = [each.cast(pyarrow.float64()) for each in self.parts]
        return part

    def misfit(self, values):
        """The index of the first of VALUES that KIND does not fit."""
        kind, values = self.kind, compute.utf8_trim_whitespace(values)
        if kind.kind == "date":
            fits = compute.is_valid(moments(values, kind.format)[0])
        elif kind.kind == "boolean":
            fits = compute.is_in(compute.utf8_lower(values), pyarrow.chunked_array([TRUE, FALSE]).combine_chunks())
        else:
            pattern = csv_kinds.NUMBER if kind.is_plain() else kind.pattern()
            fits = compute.match_substring_regex(values, pattern)
            if kind.kind == "integer":
                fits = compute.and_(fits, compute.invert(compute.match_substring_regex(values, csv_kinds.LEADING_ZERO)))
        known = compute.or_(compute.fill_null(fits, True), compute.is_in(values, MISSING))
        return max(0, compute.index(known, False).as_py())

    def judge_again(self, parts):
        """PARTS are all of a column that was denied, as texts."""
        seen = [*unique(parts[0]), *self.seen] if parts else self.seen
        kind = csv_kinds.judge_columns([seen], self.options)[0]
        for self.kind in (kind, csv_kinds.text()):
            self.parts, self.missing, self.zones = [], set(), set()
            for part in parts:
                found = self.converted(part)
                if found is None:
                    break
                self.parts.append(found)
            else:
                return


def unique(values):
    return [value for value in compute.unique(values).slice(0, csv_kinds.JUDGED // 2).to_pylist() if value is not None]


def largest(part):
    bounds = compute.min_max(part)
    return max(abs(bounds["min"].as_py() or 0), abs(bounds["max"].as_py() or 0))


def is_any(flags):
    return bool(compute.any(flags).as_py())


# ---- what is no value ----


def present(column, values, words=MISSING):
    """VALUES with none where a word says so."""
    absent = compute.is_in(values, words)
    if not is_any(absent):
        return values
    column.missing.update(compute.unique(values.filter(absent)).to_pylist())
    return compute.if_else(absent, NO_TEXT, values)


def text(column, values):
    return present(column, values, MISSING_TEXT if not column.kind.keeps else pyarrow.array([word for word in csv_kinds.MISSING_TEXT if word not in column.kind.keeps], TEXT))


def empty(column, values):
    return pyarrow.nulls(len(values))


# ---- numbers ----


def integer(column, values):
    plain = column.kind.is_plain()
    if plain and not may_be_padded(values):
        try:
            return values.cast(pyarrow.int64())
        except pyarrow.ArrowInvalid:
            pass
    values = present(column, compute.utf8_trim_whitespace(values))
    if has_leading_zero(values):
        return None
    values = compute.replace_substring_regex(values, r"^\+", "") if plain else undressed(column.kind, values)
    return None if values is None else values.cast(pyarrow.int64())


def may_be_padded(values):
    """Whether some of VALUES might have leading zeros, or be hexadecimal, which Arrow reads."""
    zeros = compute.or_(compute.starts_with(values, "0"), compute.starts_with(values, "-0"))
    return is_any(compute.and_(zeros, compute.greater(compute.binary_length(values), 1)))


def has_leading_zero(values):
    return is_any(compute.match_substring_regex(values, csv_kinds.LEADING_ZERO))


def number(column, values):
    if column.kind.is_plain():
        try:
            return values.cast(pyarrow.float64())
        except pyarrow.ArrowInvalid:
            return present(column, compute.utf8_trim_whitespace(values)).cast(pyarrow.float64())
    values = undressed(column.kind, present(column, compute.utf8_trim_whitespace(values)))
    return None if values is None else values.cast(pyarrow.float64())


def undressed(kind, values):
    """Numbers without what is for people: symbols and separators. None where one is not written as KIND is."""
    if compute.all(compute.match_substring_regex(values, kind.pattern())).as_py() is False:
        return None
    decimal, thousands = kind.style
    if kind.symbol or kind.percent:
        values = compute.replace_substring_regex(values, rf"{csv_kinds.SYMBOLS}|%", "")
    if kind.negative:
        values = compute.replace_substring_regex(values, r"^\((.*)\)$", r"-\1")
    if thousands:
        values = compute.replace_substring_regex(values, csv_kinds.SEPARATORS[thousands], "")
    if decimal != ".":
        values = compute.replace_substring(values, decimal, ".")
    return compute.replace_substring_regex(values, r"[+ ]", "")


# ---- booleans and dates ----


def boolean(column, values):
    values = compute.utf8_lower(present(column, compute.utf8_trim_whitespace(values)))
    true, false = compute.is_in(values, TRUE), compute.is_in(values, FALSE)
    known = compute.or_(true, false)
    if not compute.all(compute.or_(known, compute.is_null(values))).as_py() and len(values):
        return None
    return compute.if_else(known, true, pyarrow.scalar(None, pyarrow.bool_()))


def date(column, values):
    if column.kind.format == "%Y-%m-%d":
        try:
            return values.cast(MOMENT)
        except pyarrow.ArrowInvalid:
            pass
    values = present(column, compute.utf8_trim_whitespace(values))
    found, zones = moments(values, column.kind.format)
    if found.null_count != values.null_count:
        return None
    if zones is not None:
        column.zones.update(value or "" for value in compute.unique(zones).to_pylist() if value is not None)
    return found


def moments(values, name):
    """Dates written as NAME says, none where one is not; and their zones (None: none has one)."""
    fields = compute.extract_regex(values, csv_kinds.PATTERNS[name])
    get = {field.name: fields.field(at) for at, field in enumerate(fields.type)}

    def whole(key, otherwise=0):
        if key not in get:
            return numpy.int64(otherwise)
        texts = compute.utf8_slice_codeunits(compute.utf8_rpad(get[key], 6, "0"), 0, 6) if key == "f" else get[key]
        texts = compute.if_else(compute.equal(compute.binary_length(texts), 0), "0", texts)
        return compute.fill_null(texts.cast(pyarrow.int64()), 0).to_numpy(zero_copy_only=False)

    year = whole("y")
    if name.endswith("%y"):
        year = numpy.where(year >= csv_kinds.CENTURY, year + 1900, year + 2000)
    month, day = month_of(get["b"]) if "b" in get else whole("m"), whole("d", 1)
    hour, minute, second = whole("H"), whole("M"), whole("S")
    good = (month >= 1) & (month <= 12) & (day >= 1) & (hour <= 23) & (minute <= 59) & (second <= 59)
    if "p" in get:
        half = compute.fill_null(compute.utf8_lower(compute.utf8_slice_codeunits(get["p"], 0, 1)), "").to_numpy(zero_copy_only=False)
        good &= (half == "") | ((hour >= 1) & (hour <= 12))
        hour = numpy.where(half == "", hour, hour % 12 + 12 * (half == "p"))
    months = (numpy.clip(year, 1, 9999) - 1970).astype("M8[Y]").astype("M8[M]") + (numpy.clip(month, 1, 12) - 1)
    days = months.astype("M8[D]") + (day - 1)
    good &= (days.astype("M8[M]") == months) & (year >= 1)
    found = days.astype("M8[us]") + (hour * 3600000000 + minute * 60000000 + second * 1000000 + whole("f")).astype("m8[us]")
    absent = compute.is_null(fields).to_numpy(zero_copy_only=False) | ~good
    zones = get.get("z")
    has_zones = zones is not None and compute.max(compute.binary_length(zones)).as_py() not in (0, None)
    return pyarrow.array(found, mask=absent), zones if has_zones else None


def month_of(names):
    short = compute.utf8_lower(compute.utf8_slice_codeunits(names, 0, 3))
    return compute.add(compute.fill_null(compute.index_in(short, MONTHS), -1), 1).to_numpy(zero_copy_only=False)


CONVERT = {"integer": integer, "number": number, "boolean": boolean, "date": date, "text": text, "empty": empty}


# ---- to pandas ----


def frame(columns, rows, sample_rows):
    """A DataFrame of COLUMNS, which are emptied one by one: nothing is held twice for longer than a column takes."""
    made, size = {}, 0
    for column in columns:
        parts, column.parts = column.parts, None
        whole = pyarrow.chunked_array(parts, TYPES[column.kind.kind])
        del parts
        column.nulls = whole.null_count
        column.sample = whole.slice(0, sample_rows).to_pylist()
        made[column.name] = FINISH[column.kind.kind](column, whole)
        size += getattr(made[column.name], "nbytes", 0)
        del whole
    result = pandas.DataFrame(made, copy=size < SMALL, index=pandas.RangeIndex(rows))
    if size >= SMALL:
        pyarrow.default_memory_pool().release_unused()
    return result


def finish_integer(column, whole):
    if not whole.null_count:
        return whole.to_numpy()
    if whole.null_count == len(whole) or largest(whole) <= EXACT:
        return whole.cast(pyarrow.float64()).to_numpy()
    return whole.to_pandas(types_mapper={pyarrow.int64(): pandas.Int64Dtype()}.get).array


def finish_number(column, whole):
    return whole.to_numpy()


def finish_boolean(column, whole):
    if not whole.null_count:
        return whole.to_numpy()
    return whole.to_pandas(types_mapper={pyarrow.bool_(): pandas.BooleanDtype()}.get).array


def finish_date(column, whole):
    try:
        return whole.cast(pyarrow.timestamp("ns")).to_numpy()
    except pyarrow.ArrowInvalid:
        column.kind.notes.append("some dates are before 1678 or after 2261, so they are counted in microseconds")
        return whole.to_numpy()


def finish_text(column, whole):
    return pandas.array(whole, dtype="string[pyarrow]")


def finish_empty(column, whole):
    return numpy.full(len(whole), numpy.nan)


FINISH = {"integer": finish_integer, "number": finish_number, "boolean": finish_boolean, "date": finish_date, "text": finish_text, "empty": finish_empty}
