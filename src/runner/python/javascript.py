# SPDX-License-Identifier: Apache-2.0
"""One expression of JavaScript. QuickJS evaluates it, which has no modules here and nothing that reaches outside."""

import json
import random
import re

import _quickjs

from adder_runner import execution, guard, tracebacks

ONLY = "Write one expression, without declarations or other statements; (() => { ... })() holds some."
NOTHING_ELSE = "Only JavaScript's own objects are here: no require, no console, no document, no fetch."

# A value as a person would write it: a text without quotes. JSON has no word for NaN, undefined or a BigInt.
TEXT_OF = """
(evaluate) => {
  const inner = (item) => {
    if (typeof item === "string") return JSON.stringify(item);
    if (typeof item !== "object" || item === null) return Object.is(item, -0) ? "-0" : String(item);
    if (item instanceof Date) return isNaN(item) ? "Invalid Date" : item.toISOString();
    if (item instanceof Map) return `Map {${Array.from(item, ([key, held]) => `${inner(key)} => ${inner(held)}`).join(", ")}}`;
    if (item instanceof Set) return `Set {${Array.from(item, inner).join(", ")}}`;
    if (Array.isArray(item) || (ArrayBuffer.isView(item) && "length" in item)) return `[${Array.from(item, inner).join(", ")}]`;
    if (item instanceof RegExp || item instanceof Error) return String(item);
    return `{${Object.entries(item).map(([key, held]) => `${JSON.stringify(key)}: ${inner(held)}`).join(", ")}}`;
  };
  const value = evaluate();
  if (value instanceof Promise) throw new TypeError("the value is a promise, and nothing is waited for here");
  return (typeof value === "string" ? value : inner(value)).toWellFormed();
}
"""
# Leaves of the engine's objects those that NAMES has. Its random numbers are made with the context, which sandboxes share.
SETTLE = """
(names) => {
  const all = globalThis, random = all.random;
  delete all.random;
  Math.random = () => random();
  if (names) for (const name of Object.getOwnPropertyNames(all)) if (!names.includes(name)) delete all[name];
}
"""

STACK = "\n    at "  # begins each line of a stack
PLACE = re.compile(r"<input>:([0-9]+)")
TYPE = re.compile(r"([A-Z]\w*)(?:: |$)")


class Engine:
    """A context with nothing of a request's yet."""

    def __init__(self):
        self.context = _quickjs.Context()
        self.context.add_callable("random", random.random)
        self.text_of, self.settle = map(self.context.eval, (TEXT_OF, SETTLE))


prepared = None  # for the one run of a sandbox: to make one takes a third of a millisecond


def prepare():
    """To be called in the zygote."""
    global prepared
    run({"code": "[1].map(String).join()", "guard": {"builtins": "Array String"}}, execution.Outcome("", 100))
    prepared = Engine()


def run(request, outcome):
    """Evaluates the code of REQUEST or, if no more was asked for, has it read alone; OUTCOME gets the text of its value."""
    code, engine = request["code"].removeprefix("\ufeff"), prepared or Engine()
    context, rules = engine.context, guard.Rules(request["guard"])
    try:
        engine.settle(context.parse_json(json.dumps(rules.offered and sorted(rules.offered))))
        for name, value in request.get("values", {}).items():
            context.set(name, context.parse_json(json.dumps(value)))
        evaluate = read(context, code)
        if not request.get("check"):
            outcome.say(engine.text_of(evaluate))
    except (_quickjs.JSException, _quickjs.StackOverflow) as error:
        outcome.exit_code, outcome.error = 1, describe(str(error), code, outcome.limit)
        outcome.out_of_memory = outcome.error["message"] == "out of memory"


def read(context, code):
    """CODE as a function of no arguments, once it is one expression: no text ends both kinds of brackets."""
    expression = code.rstrip(" \t\r\n;")
    try:
        context.eval(f"() => [\n{expression}\n]")
        return context.eval(f"() => (\n{expression}\n)")
    except _quickjs.JSException:
        if not expression or is_statements(context, code):
            text = expression.partition("\n")[0] or "there is no expression"
            raise guard.Refused([{"rule": "expression", "line": 1, "column": 0, "text": text[: guard.TEXT_MAX], "hint": ONLY}]) from None
        raise


def is_statements(context, code):
    try:
        context.eval(f"() => {{\n{code}\n}}")
    except _quickjs.JSException:
        return False
    return True


def describe(text, code, limit):
    """TEXT, of an exception of QuickJS in CODE, as the result's `error` object; see tracebacks.describe()."""
    head, *stack = tracebacks.clean(text).rstrip("\n").split(STACK)
    kind = TYPE.match(head)
    name, message = (kind[1], head[kind.end() :]) if kind else ("Thrown", head.removesuffix("\nundefined"))
    # The first line is the bracket's, and so is what comes after the last.
    stack = [PLACE.sub(lambda place: f"<input>:{int(place[1]) - 1}", line) for line in stack]
    lines = [int(place[1]) for place in map(PLACE.search, stack) if place]
    if name == "SyntaxError" and lines and lines[0] > code.count("\n") + 1:
        message = "unexpected end of the expression"
    return {
        "type": name,
        "message": tracebacks.shorten(message, limit),
        "traceback": tracebacks.shorten(STACK.join([f"{name}: {message}", *stack]) + "\n", limit),
        "line": lines[0] if lines else None,
        "hint": NOTHING_ELSE if name == "ReferenceError" else None,
    }
