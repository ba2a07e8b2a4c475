# SPDX-License-Identifier: Apache-2.0
"""The guard's one pass over the syntax tree, without a sandbox."""

import ast
import pathlib
import sys
import types

import pytest

RUNNER = pathlib.Path(__file__).resolve().parents[2] / "src" / "runner" / "python"

package = types.ModuleType("adder_runner")
package.__path__ = [str(RUNNER)]
sys.modules.setdefault("adder_runner", package)

from adder_runner import guard, guarded  # noqa: E402

pytestmark = pytest.mark.quick


def found(code, **rules):
    """(rule, line, column, text) of each violation."""
    try:
        guard.check(code, "main.py", guard.Rules(rules))
    except guard.Refused as refused:
        return [(each["rule"], each["line"], each["column"], each["text"]) for each in refused.violations]
    return []


@pytest.mark.parametrize(
    "words, fits, others",
    [
        ("__*", ["__", "__x__"], ["_x", "x__"]),
        ("os sys", ["os", "sys"], ["o", "oss"]),
        ("*attr", ["getattr", "attr"], ["attrs"]),
        ("a*c.d", ["ac.d", "abc.d"], ["abcd", "abc.de"]),
        ("_* !_asdict", ["_x", "_asdict_"], ["_asdict"]),
        ("*", ["", "x"], []),
        ("", [], ["", "x"]),
    ],
)
def test_patterns(words, fits, others):
    patterns = guard.Words(words.split())
    assert [word for word in fits if word not in patterns] == []
    assert [word for word in others if word in patterns] == []


@pytest.mark.parametrize(
    "code, hint",
    [
        ("rate = lambda x, y=2: x / y", "Write: def rate(x, y=2): return x / y"),
        ("rate: object = lambda: 1", "Write: def rate(): return 1"),
        ("print(rate := lambda x: x)", "Write: def rate(x): return x"),
        ("rate = lambda x: [\n1, x]", "Write a def called rate."),
        ("rate = lambda x: " + "x + " * 60 + "x", "Write a def called rate."),
        ("df = df.assign(b=lambda d: d['a'] * len('d'))", "Assign the expression in place: df['b'] = df['a'] * len('d')"),
        ("df.assign(b=lambda d: d.a)", "Assign the expression in place: df['b'] = df.a"),
        ("f(x).assign(b=lambda d: d.a)", "Assign the expression in place: df['b'] = ..."),
        ("df['a'].map(lambda x: x + 1)", "Use a def, or a method of the data such as map with a dict."),
        ("assign(b=lambda d: d)", "Use a def, or a method of the data such as map with a dict."),
    ],
)
def test_a_refused_lambda_says_what_to_write_instead(code, hint):
    with pytest.raises(guard.Refused) as refused:
        guard.check(code, "main.py", guard.Rules({"refused_nodes": "Lambda"}), known=("df", "f", "x"))
    assert [violation["hint"] for violation in refused.value.violations] == [hint]


# Wherever Python has an identifier, there may stand one that is refused.
PLACES = [
    "bad",
    "bad = 1",
    "del bad",
    "def bad(): pass",
    "async def bad(): pass",
    "class bad: pass",
    "def f(bad): pass",
    "def f(*bad): pass",
    "def f(*, bad=1): pass",
    "def f(**bad): pass",
    "def f(x: bad): pass",
    "def f() -> bad: pass",
    "lambda bad: 1",
    "for bad in x: pass",
    "with x as bad: pass",
    "try: pass\nexcept x as bad: pass",
    "[1 for bad in x]",
    "(bad := 1)",
    "x: bad = 1",
    "bad: int",
    "import bad",
    "import x.bad",
    "import x as bad",
    "from bad import x",
    "from x import bad",
    "from x import y as bad",
    "def f():\n global bad",
    "f'{bad}'",
    "f'{1:{bad}}'",
    "@bad\ndef f(): pass",
    "class X(bad): pass",
    "class X(y=bad): pass",
    "x[bad]",
    "x[1:bad]",
    "print(*bad)",
    "print(**bad)",
    "print(end=bad)",
    "{**bad}",
    "assert bad",
    "return_ = yield_ = bad",
    "ｂad",
]
MATCHES = [
    "match x:\n case bad: pass",
    "match x:\n case [*bad]: pass",
    "match x:\n case {**bad}: pass",
    "match x:\n case 1 as bad: pass",
    "match x:\n case bad(): pass",
    "match bad:\n case 1: pass",
    "match x:\n case 1 if bad: pass",
]


@pytest.mark.parametrize("code", PLACES + (MATCHES if sys.version_info >= (3, 10) else []))
def test_a_name_is_found_wherever_it_stands(code):
    assert {rule for rule, *_ in found(code, refused_names="bad")} == {"name"}


@pytest.mark.parametrize(
    "code",
    ["x.bad", "x.bad = 1", "del x.bad", "x.bad.y", "x().bad()", "f'{x.bad}'", "for x.bad in y: pass", "getattr(x, 'bad')", "hasattr(x, 'bad')"]
    + (["match x:\n case y(bad=1): pass", "match x:\n case y.bad: pass"] if sys.version_info >= (3, 10) else []),
)
def test_an_attribute_is_found_wherever_it_stands(code):
    assert {rule for rule, *_ in found(code, refused_attributes="bad")} == {"attribute"}


@pytest.mark.parametrize(
    "code, free",
    [
        ("import json as j", True),
        ("import math", True),
        ("import math as math, json as j", True),
        ("from os import path", True),
        ("from os import path as path", True),
        ("import os.path as path", True),
        ("import json", False),
        ("import json as math", False),
        ("import json as j, os", False),
        ("import os.path", False),
        ("import math.more", False),
        ("from os import path, sep", False),
        ("from os import *", False),
        ("from .os import path", False),
        ("from . import path", False),
        ("from os import sep as path", False),
    ],
)
def test_an_import_of_a_module_under_its_name_is_none(code, free):
    rules = {"modules": "math j=json path=os.path", "refused_attributes": "_* j.load"}
    for more in ({"refused_nodes": "Import ImportFrom"}, {"allowed_imports": ""}):
        assert (found(code, **rules, **more) == []) is free


def test_what_such_an_import_binds_is_looked_at_as_before():
    rules = {"modules": "j=json", "refused_attributes": "_* j.load", "refused_nodes": "Import ImportFrom"}
    assert found("import json as j\nj.load(1)", **rules) == [("attribute", 2, 0, "j.load")]


def test_places_count_characters():
    assert found("'äöü', bad", refused_names="bad") == [("name", 1, 7, "bad")]
    assert found("  1 + bad", refused_names="bad", mode="expression")[0][1:3] == (1, 6)


def test_long_texts_are_cut():
    [(_, _, _, text)] = found("x" * 500, refused_names="x*")
    assert len(text) == 120 and text.endswith("...")


@pytest.mark.parametrize(
    "text, attributes",
    [
        ("{0.a}", [".a"]),
        ("{0.a.b[c].d}", [".a", ".b", ".d"]),
        ("{0[a.b]}", []),
        ("{:{0.a}}", [".a"]),
        ("{!r:>{w.x}}", [".x"]),
        ("{{0.a}}", []),
        ("{0.a", []),
        ("plain . text", []),
    ],
)
def test_attributes_of_format_strings(text, attributes):
    assert list(guard.format_attributes(text)) == attributes


@pytest.mark.parametrize(
    "code, value",
    [
        ("2 ** 10", 1024),
        ("-3 - -5", 2),
        ("10 ** 2 * 3 // 7", 42),
        ("1 << 20", 1 << 20),
        ("True", None),
        ("1.5", None),
        ("x", None),
        ("9 ** 9 ** 9", None),
        ("1 << 10 ** 9", None),
        ("1 // 0", None),
        ("2 ** -1", None),
        ("1 << -1", None),
    ],
)
def test_constants_are_worked_out_within_bounds(code, value):
    assert guard.number(ast.parse(code, mode="eval").body) == value


def test_what_is_offered_by_a_module(monkeypatch):
    rules = guard.Rules({"modules": "j=json", "submodules": "json.decoder", "refused_attributes": "_* j.load"})
    monkeypatch.setattr(guarded, "ruling", rules)
    shown = guarded.read_only(sys.modules["json"], "j")
    assert shown.loads("[1]") == [1]
    assert shown.JSONDecoder is sys.modules["json"].JSONDecoder
    for name in ("load", "codecs", "scanner", "_default_encoder", "no_such"):
        with pytest.raises(AttributeError):
            getattr(shown, name)
    with pytest.raises(AttributeError, match="only be read"):
        shown.loads = None
    with pytest.raises(AttributeError, match="only be read"):
        del shown.loads


def test_names_of_a_module_that_the_rules_list(monkeypatch):
    rules = guard.Rules({"modules": "j=json m=math", "module_names": "j.loads j.load", "refused_attributes": "_* j.load"})
    monkeypatch.setattr(guarded, "ruling", rules)
    shown = guarded.read_only("json", "j")
    assert shown.loads("[1]") == [1] and repr(shown) == "<module 'json'>"
    for name in ("load", "dumps", "JSONDecoder", "decoder"):
        with pytest.raises(AttributeError):
            getattr(shown, name)
    assert guarded.read_only(sys.modules["math"], "m").pi > 3
    assert found("j.dumps(1)\nj.loads('1')", **rules.given) == [("attribute", 1, 0, "j.dumps")]


# How people write many things one after the other.
CHAINS = {
    "sum": lambda count: " + ".join(["1"] * count),
    "sum and difference": lambda count: " + 1 - ".join(["1"] * (count // 2)),
    "product": lambda count: " * ".join(["x"] * count),
    "texts": lambda count: " + ".join(["'a'"] * count),
    "masks": lambda count: " | ".join(["(x == 1)"] * count),
    "and": lambda count: " and ".join(["x"] * count),
    "attributes": lambda count: "x" + ".a" * count,
    "items": lambda count: "x" + "[0]" * count,
    "methods": lambda count: "x" + ".a()" * (count // 2),
    "gates": lambda count: "x" + ".format()" * (count // 2),
}


@pytest.mark.parametrize("make", CHAINS.values(), ids=CHAINS.keys())
def test_a_chain_is_not_nested(make):
    rules = {"max_depth": 10, "format_attributes": "refused"}
    assert found(make(400), **rules) == []
    # The longest that is not refused can be made into code, with all that is on the stack in a sandbox.
    longest = next(count for count in range(guard.LINKS_MAX, 0, -1) if found(make(count), **rules) == [])
    assert longest >= guard.LINKS_MAX - 10
    tree, _ = guard.check(make(longest), "main.py", guard.Rules(rules))

    def called(depth):
        return called(depth - 1) if depth else compile(tree, "main.py", "exec")

    assert called(150)


@pytest.mark.parametrize("make", [make for name, make in CHAINS.items() if name != "and"])
@pytest.mark.parametrize("count", [1000, 100000])
def test_a_chain_without_end_is_refused(make, count):
    assert {rule for rule, *_ in found(make(count), max_depth=300)} == {"nesting"}


@pytest.mark.parametrize(
    "code",
    ["(" * 12 + "x" + " + x) * x" * 12, "x ** " * 12 + "x", "-" * 12 + "x", "f(" * 12 + ")" * 12, "x[" * 12 + "0" + "]" * 12, "x + (" * 12 + "x" + ")" * 12],
)
def test_what_is_nested_counts(code):
    assert {rule for rule, *_ in found(code, max_depth=10)} == {"nesting"}


def test_gates_are_put_in_wherever_they_belong():
    code = "range(x.format(range(1)).format(y.format))[z.format : range(2)]\nf(*[range, x.format], key=x.format_map)"
    tree, _ = guard.check(code, "main.py", guard.Rules({"max_range": 5, "format_attributes": "refused"}))
    assert ast.unparse(tree).split("\n") == [
        "<range>(<format>(<format>(x, 'format')(<range>(1)), 'format')(<format>(y, 'format')))[<format>(z, 'format'):<range>(2)]",
        "f(*[range, <format>(x, 'format')], key=<format>(x, 'format_map'))",
    ]
    assert compile(tree, "main.py", "exec")


def test_code_without_gates_is_run_as_it_was_read():
    code = "x = [a for a in range(3)]\nprint(f'{x!r:>{10}}')"
    tree, used = guard.check(code, "main.py", guard.Rules({"refused_names": "bad"}))
    assert ast.dump(tree) == ast.dump(ast.parse(code)) and used == {"a", "range", "print", "x"}
