# SPDX-License-Identifier: Apache-2.0
"""Digests of a session's variables: equal ones mean equal values, in another session too.

Containers, numbers and texts are hashed by what they hold, tables and arrays by their own data, functions and classes of the session by their
code, and all else by its pickle. What cannot be hashed within the bounds has no digest."""

import hashlib
import io
import os
import pickle
import re
import stat
import struct
import sys
import time
import types

from adder_runner import variables

TOTAL_S = 6
VALUE_S = 2
BYTES_MAX = 1 << 30  # of one array or table
HASHED_MAX = 4_000_000  # values that are hashed at once
PICKLE_MAX = 64 << 20
VALUES_MAX = 2_000_000  # in one variable
DEPTH_MAX = 60
WORK = "/work"
PLACES = (WORK, "/tmp", "/dev/shm")  # where code leaves files

now = time.monotonic


IPYTHONS = re.compile(r"_+|_i+|_i?\d+|_dh|_oh|_ih|_exit_code|__\w+__")  # names that IPython gives, or the interpreter


class Unknown(Exception):
    """There is no digest."""


def of_variables(names, hidden):
    """A row for each variable, with its digest or None."""
    until = now() + TOTAL_S
    rows = []
    for name in variables.own(names, hidden)[: variables.MOST]:
        value = names[name]
        rows.append({**variables.row(name, value), "digest": digest(value, min(now() + VALUE_S, until))})
    return rows


def of_state(names, hidden):
    """One digest of all variables, also of those that begin with an underscore, modules by their names, of the files below /work,
    /tmp and /dev/shm, the directory and the environment; or what has none."""
    until, parts = now() + TOTAL_S, []
    for name, value in sorted(list(names.items()), key=lambda item: str(item[0])):
        if not isinstance(name, str) or IPYTHONS.fullmatch(name) or (name in hidden and hidden[name] is value):
            continue
        found = digest(value, until)
        if found is None:
            return {"digest": None, "unknown": f"the variable {name}"}
        parts.append((name, found))
    try:
        parts.append(files(until))
        parts.append((os.path.relpath(os.getcwd(), os.path.realpath(WORK)), sorted(os.environ.items())))
    except (Exception, KeyboardInterrupt):
        return {"digest": None, "unknown": "a file"}
    return {"digest": digest(parts, until), "unknown": "its state"}


def files(until):
    """What is in the workspace, and in shared memory: names, modes, links and contents."""
    found = []
    for root in filter(os.path.isdir, PLACES):
        top = os.path.realpath(root)
        for folder, folders, names in os.walk(top, onerror=refuse):
            for name in (*folders, *names):
                if now() > until:
                    raise Unknown
                path = os.path.join(folder, name)
                found.append((root, os.path.relpath(path, top), *file(path, until)))
    return sorted(found)


def refuse(problem):
    """A directory that cannot be read may hold anything."""
    raise problem


def file(path, until):
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return mode, os.readlink(path)
    if stat.S_ISDIR(mode):
        return mode, ""
    if not stat.S_ISREG(mode):
        raise Unknown
    content = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as opened:
        while part := opened.read(1 << 20):
            if now() > until:
                raise Unknown
            content.update(part)
    return mode, content.hexdigest()


def digest(value, until):
    if now() > until:
        return None
    hashed = Hashed(until)
    try:
        hashed.add(value, 0)
    except (Exception, KeyboardInterrupt):  # the daemon interrupts code of the user's that takes too long
        return None
    return hashed.hash.hexdigest()


class Hashed:
    def __init__(self, until):
        self.hash, self.until, self.left = hashlib.blake2b(digest_size=16), until, VALUES_MAX

    def put(self, kind, data=b""):
        """KIND and the length keep "ab", "c" and "a", "bc" apart."""
        self.hash.update(b"%s %d\0" % (kind.encode(), len(data)))
        self.hash.update(data)

    def check(self):
        self.left -= 1
        if self.left < 0 or (self.left % 1024 == 0 and now() > self.until):
            raise Unknown

    def add(self, value, depth):
        self.check()
        if depth > DEPTH_MAX:
            raise Unknown
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if value is None or kind in (bool, int, complex):
            self.put(name, repr(value).encode() if kind is not int or -(2**63) <= value < 2**63 else hex(value).encode())
        elif kind is float:
            self.put(name, struct.pack("<d", value))
        elif kind is str:
            self.put(name, value.encode("utf-8", "surrogatepass"))
        elif kind in (bytes, bytearray):
            self.put(name, value)
        elif kind in (list, tuple):
            self.put(f"{name} {len(value)}")
            for item in value:
                self.add(item, depth + 1)
        elif kind is dict:
            self.put(name, b"".join(sorted(self.apart(item, depth) for item in value.items())))
        elif kind in (set, frozenset):
            self.put(name, b"".join(sorted(self.apart(item, depth) for item in value)))
        elif kind is types.FunctionType:
            self.function(value, depth)
        elif kind is types.ModuleType:
            self.put("module", value.__name__.encode())
        elif issubclass(kind, type) and value.__module__ == "__main__":
            self.class_(value, depth)
        elif not self.table(value, kind, depth):
            self.pickle(value)

    def apart(self, value, depth):
        """The digest of VALUE alone: sets have no order, and that of a dictionary is not part of its value."""
        other = Hashed(self.until)
        other.left = self.left
        other.add(value, depth + 1)
        self.left = other.left
        return other.hash.digest()

    # ---- code ----

    def function(self, value, depth):
        if value.__module__ != "__main__":
            self.put("function", f"{value.__module__}.{value.__qualname__}".encode())
            return
        self.put("code of", value.__qualname__.encode())
        self.code(value.__code__, depth)
        self.add(value.__defaults__, depth + 1)
        self.add(value.__kwdefaults__, depth + 1)
        for cell in value.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:
                self.put("empty")
                continue
            if content is not value:
                self.add(content, depth + 1)

    def code(self, code, depth):
        self.put("code", code.co_code)
        self.add((code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_kwonlyargcount, code.co_flags), depth + 1)
        for constant in code.co_consts:
            if type(constant) is types.CodeType:
                self.code(constant, depth + 1)
            else:
                self.add(constant, depth + 1)

    def class_(self, value, depth):
        # Pickling an instance adds __slotnames__ to its class.
        self.put("class", value.__qualname__.encode())
        self.add([f"{base.__module__}.{base.__qualname__}" for base in value.__mro__], depth + 1)
        for name, item in sorted(vars(value).items()):
            if name in ("__dict__", "__weakref__", "__module__", "__qualname__", "__firstlineno__", "__static_attributes__", "__annotations__", "__slotnames__"):
                continue
            self.put("member", name.encode())
            if isinstance(item, property):
                item = (item.fget, item.fset, item.fdel)
            elif isinstance(item, (classmethod, staticmethod)):
                item = item.__func__
            self.add(item, depth + 1)

    # ---- data ----

    def table(self, value, kind, depth):
        """Whether VALUE is a table or an array, which is then hashed."""
        pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
        if kind is getattr(pandas, "DataFrame", None):
            self.frame(pandas, value, depth)
        elif kind is getattr(pandas, "Series", None) or pandas is not None and issubclass(kind, pandas.Index):
            self.put(kind.__name__)
            self.add(list(value.names) if issubclass(kind, pandas.Index) else value.name, depth + 1)
            self.series(pandas, value, depth)
        elif kind is getattr(numpy, "ndarray", None):
            self.put("array", f"{value.dtype} {value.shape}".encode())
            if value.dtype.hasobject:
                self.add(value.tolist(), depth + 1)
            else:
                self.buffer(numpy.ascontiguousarray(self.small(value)))
        elif numpy is not None and issubclass(kind, numpy.generic) and not value.dtype.hasobject:
            self.put(f"scalar {value.dtype}", value.tobytes())
        else:
            return False
        return True

    def small(self, value):
        if value.nbytes > BYTES_MAX:
            raise Unknown
        return value

    def buffer(self, array):
        data = memoryview(array.reshape(-1).view("u1"))
        for begin in range(0, len(data), 1 << 24):
            if now() > self.until:
                raise Unknown
            self.hash.update(data[begin : begin + (1 << 24)])

    def frame(self, pandas, value, depth):
        self.put("frame", str(value.shape).encode())
        self.add([*value.columns.names, *value.columns.tolist()], depth + 1)
        self.add(list(value.index.names), depth + 1)
        self.series(pandas, value.index, depth)
        for position in range(value.shape[1]):
            self.series(pandas, value.iloc[:, position], depth)

    def series(self, pandas, value, depth):
        """By pandas' own hashing, where the data is more than numbers."""
        numpy, kind = sys.modules["numpy"], getattr(value, "dtype", None)
        self.put("series", str(kind).encode())
        if isinstance(kind, numpy.dtype) and kind.kind in "biufmM":
            self.buffer(numpy.ascontiguousarray(self.small(value.to_numpy())))
            return
        if now() > self.until or len(value) > HASHED_MAX:
            raise Unknown
        try:
            hashed = pandas.util.hash_pandas_object(value, index=False).to_numpy()
        except TypeError:  # such as lists in it
            self.add(value.tolist(), depth + 1)
            return
        self.buffer(hashed)

    def pickle(self, value):
        """Without the memory of objects that were met before, which depends on more than the value."""
        self.put("pickle")
        pickler = pickle.Pickler(Counted(self), protocol=4)
        pickler.fast = True
        pickler.dump(value)


class Counted(io.RawIOBase):
    """Takes a pickle of a bounded length."""

    def __init__(self, hashed):
        self.hashed, self.left = hashed, PICKLE_MAX

    def writable(self):
        return True

    def write(self, data):
        self.left -= len(data)
        if self.left < 0 or now() > self.hashed.until:
            raise Unknown
        self.hashed.hash.update(data)
        return len(data)
