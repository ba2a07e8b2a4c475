# SPDX-License-Identifier: Apache-2.0
"""Exceptions as a person or a model wants to read them: the user's own lines, and how many frames of which library lay
between. Frames of the runner never show."""

import os
import re
import sys
import traceback

from adder_runner import hints, places

UNCARRIED = re.compile("[\0\ud800-\udfff]")
RUNNER = os.path.dirname(__file__) + "/"


def describe(error, name, limit):
    """ERROR, raised by code whose file is NAME, as the result's `error` object. LIMIT caps the traceback, in characters."""
    text = message_of(error)
    return {
        "type": type(error).__name__,
        "message": shorten(text, limit),
        "traceback": None if isinstance(error, SystemExit) else shorten(format_exception(error, name), limit),
        "line": line_of(error, name),
        "hint": hints.find(error, text),
    }


def message_of(error):
    """str(ERROR), even where its __str__ fails. A SyntaxError keeps its position: no frame has it."""
    try:
        if isinstance(error, SyntaxError) and error.msg:
            return clean(f"{error.msg}{position_of(error)}")
        return clean(str(error))
    except Exception:
        return "<the exception's own __str__ failed>"


def position_of(error):
    if error.lineno is None:
        return ""
    return f" (line {error.lineno}, column {error.offset})" if error.offset else f" (line {error.lineno})"


def line_of(error, name):
    """The line of file NAME that was being executed, or that could not be parsed; None when there is none."""
    if isinstance(error, SyntaxError) and error.filename == name:
        return error.lineno
    line = None
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == name:
            line = step.tb_lineno
        step = step.tb_next
    return line


def format_exception(error, name):
    """The traceback as text, or the bare exception when even that fails (a deep recursion, no memory left)."""
    try:
        summary = traceback.TracebackException.from_exception(error)
        keep_user_frames(summary, name)
        return clean("".join(summary.format()))
    except (RecursionError, MemoryError):
        return f"{type(error).__name__}: {message_of(error)}\n"


def keep_user_frames(summary, name):
    """Replaces the library frames of SUMMARY, and of those it is chained to, by one line for each stretch of them."""
    seen = []
    waiting = [summary]
    while waiting:
        current = waiting.pop()
        if any(current is known for known in seen):
            continue
        seen.append(current)
        # An exception outside the user's code (KeyError within pandas) only explains the one it led to.
        for link in ("__cause__", "__context__"):
            earlier = getattr(current, link)
            if earlier is not None and not has_user_frame(earlier, name):
                setattr(current, link, None)
        waiting += [e for e in (current.__cause__, current.__context__) if e is not None]
        waiting += getattr(current, "exceptions", None) or []
        current.stack = filtered(current.stack, name)


def has_user_frame(summary, name):
    return any(is_user_file(frame.filename, name) for frame in summary.stack)


def is_user_file(filename, name):
    if filename.startswith((RUNNER, "<frozen ")):
        return False
    return filename == name or filename.startswith(user_places()) or filename.startswith("<")


def user_places():
    return (places.work + "/", "/workspace/", places.temporary + "/", *places.parts)


class Omitted(traceback.FrameSummary):
    """Stands for a stretch of frames inside libraries."""

    __slots__ = ("text",)


class Stack(traceback.StackSummary):
    """A stack that knows how to print omitted stretches; repeated frames are folded as Python folds them."""

    def format(self, **options):
        lines, run = [], []
        for frame in self:
            if isinstance(frame, Omitted):
                lines += traceback.StackSummary.from_list(run).format(**options) + [frame.text]
                run = []
            else:
                run.append(frame)
        return lines + traceback.StackSummary.from_list(run).format(**options)


def filtered(stack, name):
    kept, hidden = Stack(), []

    def close():
        # What stands before the first line of the user's is how we came to call it.
        if hidden and kept:
            places = sorted({library_of(frame.filename) for frame in hidden})
            omitted = Omitted("", 0, "", lookup_line=False)
            count = len(hidden)
            omitted.text = f"  [{count} frame{'s' if count > 1 else ''} inside {', '.join(places)}]\n"
            kept.append(omitted)
        hidden.clear()

    for frame in stack:
        if is_user_file(frame.filename, name):
            close()
            kept.append(frame)
        elif not frame.filename.startswith(RUNNER):
            hidden.append(frame)
    close()
    return kept or None  # None: not even the line "Traceback (most recent call last)", as Python does for a SyntaxError


def library_of(filename):
    """The name people know a library's file by: pandas for .../site-packages/pandas/core/frame.py, json for .../json/decoder.py."""
    for marker in ("/site-packages/", "/dist-packages/", f"/python{sys.version_info.major}.{sys.version_info.minor}/"):
        _, found, rest = filename.rpartition(marker)
        if found:
            return rest.partition("/")[0].removesuffix(".py")
    if filename.startswith("<frozen "):
        return filename[len("<frozen ") : -1].partition(".")[0]
    # What a compiler recorded, such as pandas/_libs/index.pyx, begins with the package.
    return (filename.rpartition("/")[2] if filename.startswith("/") else filename.partition("/")[0]).partition(".")[0]


def clean(text):
    """Lone surrogates and NUL cannot be carried in the result's JSON."""
    if text.isascii() and "\0" not in text:
        return text
    return UNCARRIED.sub("\ufffd", text)


def shorten(text, limit):
    """At most LIMIT bytes of UTF-8: beginning and end, and how much is missing between them."""
    data = text.encode()
    if len(data) <= limit:
        return text
    half = max((limit - 64) // 2, 0)
    head = data[:half].decode("utf-8", "ignore")
    tail = data[len(data) - half :].decode("utf-8", "ignore")
    return f"{head}\n[... {len(data) - 2 * half} bytes left out ...]\n{tail}"


def clean_values(value, depth=0):
    """VALUE as JSON can carry it: text without what it lacks, finite numbers of 64 bits, names that are text."""
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, bool):
        return value
    if depth > 50:
        return None
    if isinstance(value, dict):
        return {clean(str(name)): clean_values(item, depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_values(item, depth + 1) for item in value]
    if hasattr(value, "tolist"):  # of numpy
        return clean_values(value.tolist(), depth + 1)
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else str(int(value))
    if isinstance(value, float):
        return float(value) if value - value == 0 else None
    return clean(str(value))
