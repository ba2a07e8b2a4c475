# SPDX-License-Identifier: Apache-2.0
"""Code that failed before in its conversation: whether this is the same again.

A request that belongs to a conversation comes with the attempts that failed there since the last one that did not. Before the
code runs, the daemon is told what makes it the same as another (a digest of its syntax tree, so that comments, white space and
the kind of quotes do not count) and what makes it nearly the same (a sketch: the smallest hashes of short sequences of nodes,
in which values do not count). Code that would only fail once more does not run."""

import ast
import json
import warnings
import zlib

try:
    from _blake2 import blake2b  # hashlib has it as well, with OpenSSL, which is long to load
except ImportError:
    from hashlib import blake2b

from adder_runner import _adder, guard

PARSED_MAX = 16384  # characters of code; longer code is compared by its lines
LINES_MAX = 4000
SKETCH_MAX = 48
NEARLY = 0.6  # of the sequences of both, that both have
ADVICE = (
    "Change the approach: look at what the code works on (print it, its type, its columns), read the traceback, try a smaller part, "
    "or ask the user. Another way of writing the same will fail again."
)


class Looped(guard.Refused):
    """Code that failed so often that it did not run once more."""

    def __init__(self, message):
        super().__init__([{"rule": "loop", "line": 1, "column": 0, "text": message, "hint": ADVICE}])
        self.error = {"type": "Loop", "message": message, "traceback": None, "line": None, "hint": ADVICE}


def note(request):
    """Tells the daemon what the code of REQUEST is, and raises Looped where it failed too often."""
    attempt = describe(request["code"])
    _adder.send(_adder.ATTEMPT, json.dumps(attempt).encode())
    judge(attempt, request["attempts"])


def judge(attempt, attempts):
    most, failed = attempts["most"], attempts["failed"]
    times = f"{most} time{'s' if most > 1 else ''} in a row"
    if sum(other["digest"] == attempt["digest"] for other in failed) >= most:
        raise Looped(f"the same code has failed {times} in this conversation, so it was not run again")
    errors = [other["error"] for other in failed if likeness(other["near"], attempt["near"]) >= NEARLY]
    if any(errors.count(error) >= most for error in errors):
        raise Looped(f"code that is nearly the same has failed {times} with the same error, so this was not run")


def describe(code):
    code = code.removeprefix("\ufeff")
    try:
        if len(code) > PARSED_MAX:
            raise ValueError
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exact, rough = nodes(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        exact = [line for line in map(str.strip, code.splitlines()) if line]
        rough = exact[:LINES_MAX]
    digest = blake2b("\0".join(exact).encode("utf-8", "replace"), digest_size=16).hexdigest()
    return {"digest": digest, "near": sketch(rough)}


def nodes(tree):
    """The nodes of TREE in order, as texts from which it could be built again, and as texts without values."""
    exact, rough, waiting = [], [], [tree]
    while waiting:
        node = waiting.pop()
        if node is None:
            exact.append("")
            continue
        kind, facts, names, children = type(node).__name__, [], [], []
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.expr_context) or field in ("kind", "type_comment"):
                continue
            if isinstance(value, list):
                facts.append(str(len(value)))
                for item in value:
                    (children if item is None or isinstance(item, ast.AST) else facts).append(item)
            elif isinstance(value, ast.AST):
                children.append(value)
            else:
                facts.append(text_of(value))
                if isinstance(value, str) and kind != "Constant":
                    names.append(value)
        exact.append(f"{kind}:{','.join(map(str, facts))}")
        rough.append(f"{kind}:{','.join(names)}")
        waiting.extend(reversed(children))
    return exact, rough


def text_of(value):
    """repr, but for numbers that it refuses to write."""
    return hex(value) if type(value) is int else f"{type(value).__name__} {value!r}"


def sketch(texts):
    """The smallest hashes of TEXTS and of three in a row: those of two sets tell how much they have in common."""
    hashes = {zlib.crc32(text.encode("utf-8", "replace")) for text in texts}
    for three in zip(texts, texts[1:], texts[2:]):
        hashes.add(zlib.crc32("\0".join(three).encode("utf-8", "replace")))
    return sorted(hashes)[:SKETCH_MAX]


def likeness(left, right):
    """How much of what the sketches LEFT and RIGHT stand for is in both, from 0 to 1."""
    both = set(left) & set(right)
    smallest = sorted({*left, *right})[:SKETCH_MAX]
    return sum(value in both for value in smallest) / len(smallest) if smallest else 1.0
