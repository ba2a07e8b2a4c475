# SPDX-License-Identifier: Apache-2.0
"""What the guard of the profile analysis refuses, as the data analyst's contract lists it: each kind of syntax and each identifier,
with rule, line and column; and each of them a switch of the profile."""
import json
import re

import pytest

IDENTIFIERS = "os sys subprocess builtins pickle exec eval open compile input pathlib importlib signal ctypes resource".split()

# The word of refused_nodes, code, and where what is found.
NODES = [
    ("Import*", "x = 1\nimport math", ("import", 2, 0, "import math")),
    ("Import*", "x = 1\nfrom math import pi", ("import", 2, 0, "from math import pi")),
    ("Import*", "def f():\n    import math as m", ("import", 2, 4, "import math as m")),
    ("With", "x = df\nwith x as y:\n    pass", ("with", 2, 0, "with x as y:")),
    ("AsyncWith", "async def f(x):\n    async with x:\n        pass", ("with", 2, 4, "async with x:")),
    ("Lambda", "x = 1\ny = df['a'].map(lambda v: v + 1)", ("lambda", 2, 16, "lambda v: v + 1")),
    ("Global", "def f():\n    global x\n    x = 1", ("global", 2, 4, "global x")),
    ("Nonlocal", "def f():\n    x = 1\n    def g():\n        nonlocal x", ("nonlocal", 4, 8, "nonlocal x")),
    ("Raise", "x = 1\nif x:\n    raise ValueError('x')", ("raise", 3, 4, "raise ValueError('x')")),
    ("Try*", "try:\n    x = 1\nexcept ValueError:\n    x = 2", ("try", 1, 0, "try:")),
    ("Try*", "try:\n    x = 1\nexcept* ValueError:\n    x = 2", ("try", 1, 0, "try:")),
    ("While", "x = 1\nwhile x:\n    x -= 1", ("while", 2, 0, "while x:")),
    ("Await", "async def f(x):\n    await x", ("await", 2, 4, "await x")),
    ("Yield*", "def f():\n    yield 1", ("yield", 2, 4, "yield 1")),
    ("Yield*", "def f():\n    yield from []", ("yieldfrom", 2, 4, "yield from []")),
    ("AsyncFor", "async def f(x):\n    async for y in x:\n        pass", ("asyncfor", 2, 4, "async for y in x:")),
    ("AsyncFunctionDef", "x = 1\nasync def f():\n    return 1", ("asyncfunctiondef", 2, 0, "async def f():")),
]

# Wherever an identifier may stand: code, rule, line, column, text.
AS_NAME = [
    ("x = 1\nx = {}", "name", 2, 4),
    ("{} = 1", "name", 1, 0),
    ("print({}.x)", "name", 1, 6),
    ("print([{} for x in range(3)])", "name", 1, 7),
    ("for {} in range(3):\n    pass", "name", 1, 4),
    ("def f({}):\n    return 1", "name", 1, 6),
    ("def {}():\n    return 1", "name", 1, 0),
    ("class {}:\n    pass", "name", 1, 0),
    ("x = ({} := 1)", "name", 1, 5),
    ("print(f'{{{}}}')", "name", 1, None),
    ("import {}", "name", 1, 0),
    ("import pandas as {}", "name", 1, 0),
]
DUNDERS = [
    ("x = 1\n__name__", "name", 2, 0, "__name__"),
    ("__import__('math')", "name", 1, 0, "__import__"),
    ("x = __builtins__", "name", 1, 4, "__builtins__"),
    ("x = df.__class__", "attribute", 1, 4, ".__class__"),
    ("x = 1\ndf.__init__", "attribute", 2, 0, ".__init__"),
    ("def f():\n    return f.__globals__", "attribute", 2, 11, ".__globals__"),
    ("class A:\n    def __getattr__(self, name):\n        return 1", "name", 2, 4, "__getattr__"),
    ("x = df._mgr", "attribute", 1, 4, "._mgr"),
    ("getattr(df, '__class__')", "attribute", 1, 12, ".__class__"),
    ("df.query('a.__class__ == 1')", "attribute", 1, 9, ".__class__"),
    ("'{0.__class__}'.format(df)", "format", 1, 0, "{0.__class__}"),
]


def refused(adder, code, *profile):
    """(rule, line, column, text) of each violation, without running."""
    ended = adder.call("run", "--check", *(profile or ("--profile", "analysis")), "--json", "-c", code)
    told = json.loads(ended.stdout)
    assert ended.returncode == (126 if told["violations"] else told["exit_code"])
    return [(each["rule"], each["line"], each["column"], each["text"]) for each in told["violations"]]


@pytest.fixture(scope="module")
def shipped(installation):
    return (installation.program.parent.parent / "share/adder/profiles/analysis.conf").read_text()


@pytest.fixture
def less_strict(make_adder, shipped):
    """less_strict(key, word) -> options: the profile analysis with WORD taken out of KEY, or another value of it."""
    own = make_adder()
    folder = own.config / "profiles"
    folder.mkdir()
    own.own(folder)

    def write(key, word, value=None):
        line = re.search(rf"^{key} = (.*)$", shipped, re.MULTILINE)
        words = line[1].split()
        assert value is not None or word in words
        changed = value if value is not None else " ".join(each for each in words if each != word)
        path = folder / "mine.conf"
        path.write_text(shipped.replace(line[0], f"{key} = {changed}"))
        own.own(path)
        return own, "--profile", "mine", "--no-daemon"

    return write


@pytest.mark.parametrize("word, code, found", NODES, ids=[f"{word}-{number}" for number, (word, _, _) in enumerate(NODES)])
def test_each_kind_of_syntax(science, less_strict, word, code, found):
    if "except*" in code and not science.run("import sys\nsys.version_info >= (3, 11)").text == "True":
        pytest.skip("this Python has no except*")
    assert found in refused(science, code)
    result = science.run(code, "--profile", "analysis")
    assert (result.outcome, result.exit_status, result.stdout, result.displays) == ("refused", 126, "", [])
    own, *options = less_strict("refused_nodes", word)
    still = [rule for rule, *_ in refused(own, code, *options)]
    if word == "Import*":  # with allowed_imports they would be more than not refused
        assert "import" not in still
    else:
        assert found[0] not in still


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_each_identifier_as_a_name(science, name):
    for code, rule, line, column in AS_NAME:
        found = [each for each in refused(science, code.format(name)) if each[0] == rule and each[3] == name]
        assert found and found[0][1] == line and (column is None or found[0][2] == column), (code, found)


@pytest.mark.parametrize("name", [name for name in IDENTIFIERS if name != "eval"])
def test_each_identifier_as_an_attribute(science, name):
    assert ("attribute", 2, 4, f".{name}") in refused(science, f"x = 1\ny = df.{name}")
    assert ("attribute", 1, 0, f".{name}") in refused(science, f"df.io.{name}.x")
    assert ("attribute", 1, 12, f".{name}") in refused(science, f"getattr(df, '{name}')")
    assert ("attribute", 1, 12, f".{name}") in refused(science, f"hasattr(df, '{name}')")
    late = science.run(f"word = '{name[0]}' + '{name[1:]}'\ngetattr(pd, word)", "--profile", "analysis")
    assert (late.outcome, late.error["type"], late.error["line"]) == ("error", "PermissionError", 2)


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_each_identifier_in_the_text_of_a_query(science, name):
    for method in ("query", "eval"):
        assert ("name", 2, len(f"df.{method}("), name) in refused(science, f"x = 1\ndf.{method}('{name} > 1')")
        assert ("name", 1, len(f"df.{method}("), name) in refused(science, f"df.{method}('a > @{name}')")
    late = science.run(f"df = pd.DataFrame({{'a': [1]}})\nword = 'a > {name[0]}' + '{name[1:]}'\ndf.query(word)", "--profile", "analysis")
    assert (late.outcome, late.error["type"], late.error["line"]) == ("error", "PermissionError", 3)


def test_eval_is_pandas_own_and_keeps_to_the_rules(science):
    """df.eval is of use, and its text is looked at; Python's eval is not there."""
    code = "df = pd.DataFrame({'a': [1, 2]})\ndf.eval('b = a * 2')['b'].tolist()"
    assert science.run(code, "--profile", "analysis").text == "[2, 4]"
    assert refused(science, "eval('1')")[0] == ("name", 1, 0, "eval")
    assert refused(science, "pd.eval('1')")[0] == ("attribute", 1, 0, "pd.eval")


@pytest.mark.parametrize("code, rule, line, column, text", DUNDERS, ids=[code[:30] for code, *_ in DUNDERS])
def test_dunder_names_and_attributes(science, code, rule, line, column, text):
    assert (rule, line, column, text) in refused(science, code)


@pytest.mark.parametrize("key, word, code, rule", [
    ("refused_names", "os", "os = 1", "name"),
    ("refused_names", "__*", "__x__ = 1", "name"),
    ("refused_attributes", "signal", "df = pd.DataFrame({'signal': [1]})\ndf.signal", "attribute"),
])
def test_names_and_attributes_are_switches(science, less_strict, key, word, code, rule):
    assert [each[0] for each in refused(science, code)] == [rule]
    own, *options = less_strict(key, word)
    assert refused(own, code, *options) == []


def test_at_most_120_lines(science, less_strict):
    assert refused(science, "x = 1\n" * 120) == []
    assert refused(science, "x = 1\n" * 121) == [("lines", 1, 0, "121 lines")]
    own, *options = less_strict("max_lines", None, "121")
    assert refused(own, "x = 1\n" * 121, *options) == []


def test_ranges_have_a_limit(science, less_strict):
    code = "x = 1\nfor i in range(10_000_001):\n    break"
    assert refused(science, code) == [("range", 2, 9, "range(10_000_001)")]
    assert refused(science, "range(0, -10 ** 9, -1)") == [("range", 1, 0, "range(0, -10 ** 9, -1)")]
    late = science.run("most = 10 ** 9\nfor i in range(most):\n    break", "--profile", "analysis")
    assert (late.outcome, late.error["type"], late.error["line"]) == ("error", "ValueError", 2) and "max_range" in late.error["message"]
    own, *options = less_strict("max_range", None, "10000001")
    assert refused(own, code, *options) == []


@pytest.mark.quick
def test_every_violation_is_named(science):
    code = "import os\nwhile True:\n    x = eval('1')\ny = df.__class__"
    assert refused(science, code) == [
        ("import", 1, 0, "import os"),
        ("name", 1, 0, "os"),
        ("while", 2, 0, "while True:"),
        ("name", 3, 8, "eval"),
        ("attribute", 4, 4, ".__class__"),
    ]
