# SPDX-License-Identifier: Apache-2.0
"""Run by an environment's interpreter: reads files as src/runner/python/table_read.py does, and tells what came of it, a line of JSON for
a line of JSON. A file is given as bytes, as an Arrow table, or as a program that writes it."""

import base64
import json
import os
import sys
import tempfile
import traceback
import types

runner, without, directory = sys.argv[1:]
package = types.ModuleType("adder_runner")
package.__path__ = [runner]
sys.modules["adder_runner"] = package


class Without:
    """An environment that lacks a package."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == without:
            raise ImportError(name)


sys.meta_path.insert(0, Without)

from adder_runner import csv_bytes, csv_kinds, csv_read, places, table_read  # noqa: E402

HEAD, JUDGE = csv_bytes.HEAD, csv_kinds.judge_columns
places.temporary = directory


def cell(value):
    import pandas

    if value is None or value is pandas.NA or value is pandas.NaT or value != value:
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value.item() if hasattr(value, "item") else value


def written(asked):
    """The bytes that are asked about, or the expression of an Arrow table as Parquet."""
    if "program" in asked:
        with tempfile.TemporaryDirectory(dir=directory) as folder:
            path = os.path.join(folder, "made")
            exec(asked["program"], {"path": path})
            with open(path, "rb") as file:
                return file.read()
    if "parquet" not in asked:
        return base64.b64decode(asked["bytes"]) * asked.get("times", 1)
    import decimal
    from datetime import date, datetime, timedelta, timezone

    import pandas
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    names = {"pyarrow": pyarrow, "pandas": pandas, "decimal": decimal, "date": date, "datetime": datetime, "timedelta": timedelta, "timezone": timezone}
    parquet.write_table(eval(asked["parquet"], names), sink, **asked.get("how", {}))
    return sink.getvalue().to_pybytes()[: asked.get("cut")]


def as_texts(columns, options):
    """All columns that hold something are texts, as they stand in the file."""
    kinds = JUDGE(columns, options)
    for at, kind in enumerate(kinds):
        if kind.kind != "empty":
            kinds[at] = csv_kinds.text()
            kinds[at].keeps = csv_kinds.MISSING_TEXT
    return kinds


def answer(asked):
    csv_bytes.HEAD = asked.get("head", HEAD)
    csv_kinds.judge_columns = as_texts if asked.get("texts") else JUDGE
    with tempfile.NamedTemporaryFile(dir=directory, suffix=".parquet" if "parquet" in asked else ".csv") as file:
        file.write(written(asked))
        file.flush()
        reading = (file.name, asked.get("options"), csv_read.SAMPLE_ROWS, asked.get("called"))
        try:
            if asked["mode"] == "scan":
                found = table_read.scan(*reading)
                return {"table": found[0][1], "tables": dict(found) if len(found) > 1 else {}}
            found = table_read.load(*reading)
        except csv_read.CannotRead as error:
            return {"refused": str(error)}
        except Exception:
            return {"failed": traceback.format_exc()}
    rows = asked.get("rows", 50)
    return {**told(*found[0][1:], rows), "tables": {name: told(frame, table, rows) for name, frame, table in found if name is not None}}


def told(frame, table, rows):
    shown = frame.head(rows)
    return {
        "table": table,
        "columns": list(frame.columns),
        "dtypes": [str(dtype) for dtype in frame.dtypes],
        "rows": len(frame),
        "data": [[cell(value) for value in shown[name]] for name in shown.columns],
    }


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
