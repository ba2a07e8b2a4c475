# SPDX-License-Identifier: Apache-2.0
"""A session: cells that are executed one after the other in one namespace, and questions about it."""

import json
import os
import platform
import signal
import sys
import types

from adder_runner import _adder, denials, execution


def serve(payload):
    """Opens the session that PAYLOAD describes and serves it until the daemon hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    request = json.loads(payload)
    execution.prepare_process(request)
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__builtins__ = sys.modules["builtins"]
    send(_adder.ANSWER, {"shell": "plain", "version": platform.python_version()})
    while True:
        kind, payload, stdin_fd = _adder.receive()
        request = json.loads(payload)
        if kind == _adder.CELL:
            send(_adder.RESULT, cell(main.__dict__, request, stdin_fd))
        elif kind == _adder.ASK:
            send(_adder.ANSWER, answer(main.__dict__, request))


def send(kind, message):
    _adder.send(kind, json.dumps(message).encode())


def cell(names, request, stdin_fd):
    if stdin_fd >= 0:
        os.dup2(stdin_fd, 0)
        os.close(stdin_fd)
    title = f"<cell {request['cell']}>"
    outcome = execution.Outcome(title, request["value_bytes"])
    denials.start(title)
    outcome.guard(lambda: outcome.show(run(names, request["code"], title)))
    denials.look_at_limits()
    sys.stdout.flush()
    sys.stderr.flush()
    return {**outcome.message(), "cell": request["cell"], "variables": len(public(names)), "threads": []}


def run(names, code, title):
    body, tail = execution.compile_parts(code, title)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if body:
            exec(body, names)
        return eval(tail, names) if tail else None
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def public(names):
    return [name for name in names if not name.startswith("_")]


def answer(names, request):
    if request["what"] == "reset":
        for name in public(names):
            del names[name]
    wanted = request.get("names")
    shown = [name for name in public(names) if wanted is None or name in wanted]
    rows = [describe(name, names[name], wanted is not None) for name in shown]
    return {"variables": rows, "count": len(public(names))}


def describe(name, value, with_value):
    row = {"name": name, "type": type(value).__name__, "shape": None, "bytes": sys.getsizeof(value)}
    return {**row, "value": repr(value)} if with_value else row
