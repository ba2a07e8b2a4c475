# SPDX-License-Identifier: Apache-2.0
"""One run: execute code as `python main.py` would, and describe how it ended and what its last expression was."""

import ast
import atexit
import json
import linecache
import os
import sys
import threading
import types

from adder_runner import tracebacks

WORK = "/work"


def answer(payload):
    """The result message, as bytes, for the request message PAYLOAD."""
    return json.dumps(execute(json.loads(payload))).encode()


def execute(request):
    """Runs REQUEST (see README.md) to its very end, threads and atexit handlers included. Returns the result message."""
    name, limit = request["name"], request["value_bytes"]
    prepare_process(request)
    outcome = Outcome(name, limit)
    outcome.guard(lambda: outcome.show(run_main(request["code"], name)))
    outcome.guard(finish)
    return outcome.message()


class Outcome:
    """How the code ended so far. The first failure counts: what fails while the process winds down cannot hide it."""

    def __init__(self, name, limit):
        self.name, self.limit = name, limit
        self.exit_code, self.error, self.value = 0, None, None

    def guard(self, action):
        try:
            action()
        except SystemExit as error:
            self.leave(error)
        except BaseException as error:  # whatever the code raised is what we are here to report
            self.fail(error)

    def fail(self, error):
        if self.exit_code == 0:
            self.exit_code = 1
            self.error = tracebacks.describe(error, self.name, self.limit)

    def leave(self, error):
        """sys.exit as Python has it: None is 0, a number is the exit status, anything else is printed and is 1."""
        code = error.code
        if code is None:
            return
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
        if code & 0xFF:
            self.fail(error)
            self.exit_code = code & 0xFF

    def show(self, value):
        if value is not None:
            self.value = {"text/plain": tracebacks.shorten(tracebacks.clean(repr(value)), self.limit)}

    def message(self):
        return {"exit_code": self.exit_code, "value": self.value, "error": self.error, "warnings": []}


def prepare_process(request):
    """Arguments, variables, import path and streams, as a script of that name in /work would find them."""
    sys.argv = [request["name"], *request["arguments"]]
    os.environ.update(request["variables"])
    if "TZ" in request["variables"]:
        __import__("time").tzset()
    sys.path.insert(0, WORK)
    os.chdir(WORK)
    # Each line leaves at once, so that a caller sees progress, and a crash loses nothing that was printed.
    sys.stdout.reconfigure(line_buffering=True)


def run_main(code, name):
    """Executes CODE as the module __main__. Returns the value of its last statement where that is an expression."""
    tree = ast.parse(code, name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    main = types.ModuleType("__main__")
    main.__file__ = os.path.join(WORK, name)
    main.__builtins__ = sys.modules["builtins"]
    sys.modules["__main__"] = main
    body = compile(tree, name, "exec", dont_inherit=True)
    tail = compile(last, name, "eval", dont_inherit=True) if last else None
    exec(body, main.__dict__)
    return eval(tail, main.__dict__) if tail else None


def finish():
    """What Python does when a script ends: wait for threads that are not daemons, run atexit handlers, flush."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    sys.__stdout__.flush()
    sys.__stderr__.flush()
