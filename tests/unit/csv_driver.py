# SPDX-License-Identifier: Apache-2.0
"""Run by an environment's interpreter: reads files as src/runner/table_read.py does, and tells what came of it, a line of JSON for
a line of JSON."""

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

from adder_runner import csv_bytes, csv_read, table_read  # noqa: E402

HEAD = csv_bytes.HEAD


def cell(value):
    import pandas

    if value is None or value is pandas.NA or value is pandas.NaT or value != value:
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value.item() if hasattr(value, "item") else value


def written(asked):
    """The bytes that are asked about, or the expression of an Arrow table as Parquet."""
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


def answer(asked):
    csv_bytes.HEAD = asked.get("head", HEAD)
    with tempfile.NamedTemporaryFile(dir=directory, suffix=".csv") as file:
        file.write(written(asked))
        file.flush()
        try:
            if asked["mode"] == "scan":
                return {"table": table_read.scan(file.name, asked.get("options"))}
            frame, table = table_read.load(file.name, asked.get("options"))
        except csv_read.CannotRead as error:
            return {"refused": str(error)}
        except Exception:
            return {"failed": traceback.format_exc()}
    shown = frame.head(asked.get("rows", 50))
    return {
        "table": table,
        "columns": list(frame.columns),
        "dtypes": [str(dtype) for dtype in frame.dtypes],
        "rows": len(frame),
        "data": [[cell(value) for value in shown[name]] for name in shown.columns],
    }


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
