# SPDX-License-Identifier: Apache-2.0
"""What is said of a table: plain values, none of them longer than a report may be, whatever the file holds."""

import datetime
import math
import os

from adder_runner import csv_form

MAX_COLUMNS = 2000
MAX_ASSUMED = 40
SENTENCE = 500
CELL = 200
SAMPLE = 1 << 17  # characters in all


def table(source, columns, frame, is_cut, sample_rows):
    """Of a CSV."""
    form, encoding = source.form, source.encoding
    styles = [column.kind.style for column in columns if column.kind.kind in ("integer", "number")]
    decimal, thousands = next((style for style in styles if style != (".", None)), (".", None))
    return {
        **common(source, columns, frame, sample_rows, [*said_of_bytes(source), *form.assumed, *said_of_lines(source.bad), *said_of_columns(columns)]),
        "format": "csv",
        "rows": None if is_cut else len(frame),
        "encoding": source.met.late or encoding.text_name(),
        "bom": bool(encoding.mark),
        "delimiter": form.delimiter,
        "quote": form.quote,
        "header": form.header,
        "decimal": decimal,
        "thousands": thousands,
        "partial": is_cut,
        "bad_lines": told_of_bad_lines(source.bad),
    }


def told_of_bad_lines(bad):
    return {"count": bad.count, "lines": bad.lines, "examples": [shown(example) for example in bad.examples]}


def said_of_bad_lines(told):
    """The same in words."""
    count, lines = told["count"], csv_form.some(list(map(str, told["lines"])), 10)
    if count:
        yield f"{count} line{' does' if count == 1 else 's do'} not fit and {'is' if count == 1 else 'are'} left out (line{'' if count == 1 else 's'} {lines})."


def common(source, columns, frame, sample_rows, assumed):
    """Of any table; the rest is as it is where a file says itself how it is written."""
    if len(columns) > MAX_COLUMNS:
        assumed = [f"Of {len(columns)} columns the first {MAX_COLUMNS} are listed.", *assumed]
    return {
        "name": None,
        "file": shown(os.path.basename(source.path)),
        "bytes": source.size,
        "encoding": "utf-8",
        "bom": False,
        "delimiter": None,
        "quote": None,
        "header": True,
        "decimal": ".",
        "thousands": None,
        "bad_lines": {"count": 0, "lines": [], "examples": []},
        "columns": [described(column, dtype) for column, dtype in zip(columns[:MAX_COLUMNS], frame.dtypes)],
        "columns_hidden": max(0, len(columns) - MAX_COLUMNS),
        "sample": sample(columns[:MAX_COLUMNS], min(sample_rows, len(frame))),
        "assumed": [shown(each, SENTENCE) for each in limited(assumed)],
    }


def limited(sentences):
    if len(sentences) <= MAX_ASSUMED:
        return sentences
    return [*sentences[: MAX_ASSUMED - 1], f"{len(sentences) - MAX_ASSUMED + 1} more of the kind are not shown."]


def described(column, dtype):
    return {
        "name": column.name,
        "original": shown(column.original),
        "dtype": f"string[{dtype.storage}]" if hasattr(dtype, "storage") else str(dtype),
        "kind": column.kind.kind,
        "nulls": int(column.nulls),
        "format": column.kind.format if column.kind.kind == "date" else None,
    }


def said_of_bytes(source):
    encoding, met = source.encoding, source.met
    if not source.size:
        yield "The file is empty."
    elif not source.form.width:
        yield "The file holds no table."
    if met.late:
        yield f"The first part of the file is plain ASCII and a later one is no UTF-8, so it was read as {met.late}."
    elif not encoding.certain:
        yield f"The bytes look like {encoding.name} and were read so; nothing in the file says it."
    if met.broken:
        yield f"{met.broken} {'characters' if met.broken > 1 else 'character'} could not be decoded as {encoding.text_name()}: they are \ufffd now."
    if met.marks:
        yield f"{met.marks} byte order {'marks' if met.marks > 1 else 'mark'} amid the file {'were' if met.marks > 1 else 'was'} left out."
    if met.nuls:
        yield f"{met.nuls} NUL {'bytes were' if met.nuls > 1 else 'byte was'} left out."


def said_of_lines(bad):
    for lines, one, several in (
        (bad.repaired, "has quotes that do not fit: they were taken for text", "have quotes that do not fit: they were taken for text"),
        (bad.headers, "repeats the header and was left out", "repeat the header and were left out"),
        (bad.comments, "is a comment and was left out", "are comments and were left out"),
        (bad.blank, "holds delimiters alone and was left out", "hold delimiters alone and were left out"),
    ):
        if lines.count:
            places = csv_form.some([str(line) for line in lines.lines[:5]] + [""] * (lines.count - min(5, len(lines.lines))))
            yield f"{'Line' if lines.count == 1 else 'Lines'} {places} {one if lines.count == 1 else several}."


def said_of_columns(columns):
    for column in columns:
        name = csv_form.brief(column.name, 60)
        if column.denied:
            at = f"line {column.line}" if column.line else f"row {column.denied[0] + 1}"
            yield f"Column {name!r} is {column.kind.kind}, not what its first rows look like: {at} holds {csv_form.brief(column.denied[1] or '', 40)!r}."
        for note in column.kind.notes:
            yield f"Column {name!r}: {note}."
        words = sorted(word for word in column.missing if word)
        if words:
            yield f"Column {name!r}: {csv_form.some([repr(csv_form.brief(word, 20)) for word in words])} {'were' if len(words) > 1 else 'was'} taken for no value."
        zones = sorted(zone for zone in column.zones if zone)
        if zones:
            yield f"Column {name!r}: times are as written, without their {'zones' if len(zones) > 1 else 'zone'} ({csv_form.some(zones)})."


def sample(columns, rows):
    found, left = [], SAMPLE
    for at in range(rows):
        row = [scalar(column.sample[at]) for column in columns]
        left -= sum(len(value) if isinstance(value, str) else 8 for value in row)
        if left < 0 and found:
            break
        found.append(row)
    return found


def scalar(value):
    """VALUE as JSON has it."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def shown(text, length=CELL):
    """TEXT as a report may hold it: no control characters, not too long."""
    text = csv_form.CONTROL.sub(lambda found: " " if found.group().isspace() else "\ufffd", text[: length + 1])
    return text if len(text) <= length else text[: length - 1] + "…"
