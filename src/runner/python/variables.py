# SPDX-License-Identifier: Apache-2.0
"""What a session holds: names, types, shapes and sizes; values only of names that are asked for."""

import sys
import types

from adder_runner import tracebacks

MOST = 1000
NAME_MAX = 200  # characters
DEEP_MAX = 200_000  # objects of one column that are measured one by one; of more, a sample

measure = sys.getsizeof
ModuleType = types.ModuleType


def own(names, hidden):
    """The names of the user's variables. Modules are no variables, nor is what begins with an underscore or is IPython's."""
    return [
        name
        for name, value in list(names.items())
        if isinstance(name, str) and name[:1] != "_" and not isinstance(value, ModuleType) and not (name in hidden and hidden[name] is value)
    ]


def count(names, hidden):
    return len(own(names, hidden))


def describe(names, hidden, wanted, value_bytes):
    """Rows for all variables, or for those WANTED with their values."""
    if wanted is None:
        return [row(name, names[name]) for name in own(names, hidden)[:MOST]]
    rows = []
    for name in wanted[:MOST]:
        if name in names:
            text = tracebacks.shorten(tracebacks.clean(text_of(names[name])), value_bytes)
            rows.append({**row(name, names[name]), "value": text})
    return rows


def row(name, value):
    return {"name": tracebacks.clean(name)[:NAME_MAX], "type": tracebacks.clean(type(value).__name__)[:NAME_MAX], "shape": shape(value), "bytes": size(value)}


def text_of(value):
    try:
        return repr(value)
    except Exception as error:
        return f"<its repr() failed: {type(error).__name__}: {tracebacks.message_of(error)}>"


def shape(value):
    """Of arrays and tables by that name; of what has a length, that."""
    try:
        found = getattr(value, "shape", None)
        if isinstance(found, tuple) and all(isinstance(part, int) for part in found):
            return [int(part) for part in found][:32]
        if isinstance(value, (str, bytes, bytearray, list, tuple, dict, set, frozenset, range)):
            return [len(value)]
    except Exception:  # properties may be anything
        pass
    return None


def size(value):
    """Bytes: of a table or an array with its contents, else of the object alone."""
    try:
        pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
        if pandas is not None and isinstance(value, pandas.DataFrame):
            return sum(column_bytes(value.iloc[:, position]) for position in range(value.shape[1])) + int(value.index.memory_usage())
        if pandas is not None and isinstance(value, pandas.Series):
            return column_bytes(value) + int(value.index.memory_usage())
        if numpy is not None and isinstance(value, numpy.ndarray):
            return int(value.nbytes) + 112
        return int(measure(value))
    except Exception:
        return 0


def column_bytes(column):
    if column.dtype.kind != "O" or len(column) <= DEEP_MAX:
        return int(column.memory_usage(index=False, deep=True))
    return int(column.iloc[:: len(column) // DEEP_MAX + 1].memory_usage(index=False, deep=True) * (len(column) // DEEP_MAX + 1))
