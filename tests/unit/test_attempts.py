# SPDX-License-Identifier: Apache-2.0
"""What makes code the same as other code, and nearly the same."""
import time

import pytest

from runner_modules import loaded


@pytest.fixture(scope="module")
def attempts():
    with loaded("attempts") as module:
        yield module


SAME = [
    ("x = 'a'", 'x="a"  # a comment'),
    ("if x:\n    y()", "if x:\n\ty()\n\n"),
    ("f(a, b)", "f(\n    a,\n    b,\n)"),
    ("a = 0x10", "a = 16"),
    ("\ufeff1 / 0", "1/0"),
    ("def f(:\n  pass", "\ndef f(:\n    pass\n"),
]
OTHERS = [
    ("x = 1", "x = 2"),
    ("x = 1", "x = 1.0"),
    ("x = '1'", "x = b'1'"),
    ("f(a)(b)", "f(a, b)"),
    ("[[1], 2]", "[[1, 2]]"),
    ("a.b", "a.c"),
    ("global_ = 1", "global g"),
    ("{**a, 'b': 1}", "{'b': 1, **a}"),
    ("def f(*, a, b=1): pass", "def f(*, a=1, b): pass"),
    ("x: int", "x: int = 0"),
    ("async def f(): pass", "def f(): pass"),
    ("f'{a!r}'", "f'{a!s}'"),
]
TABLE = "import pandas as pd\ndf = pd.read_csv('x.csv')\nfor name in df.columns:\n    print(name, df[name].mean(){})\n"


@pytest.mark.parametrize("left, right", SAME)
def test_the_same(attempts, left, right):
    assert attempts.describe(left) == attempts.describe(right)


@pytest.mark.parametrize("left, right", OTHERS)
def test_something_else(attempts, left, right):
    assert attempts.describe(left)["digest"] != attempts.describe(right)["digest"]


def test_nearly_the_same(attempts):
    def like(left, right):
        return attempts.likeness(attempts.describe(left)["near"], attempts.describe(right)["near"])

    assert like(TABLE.format(""), TABLE.format(" + 1")) >= attempts.NEARLY
    assert like(TABLE.format(""), TABLE.format("").replace("x.csv", "y.csv")) == 1
    assert like(TABLE.format(""), "import numpy as np\nprint(np.zeros(3).sum())") < attempts.NEARLY
    assert like("", "") == 1 and like("", "x = f(1)") < attempts.NEARLY


def failed(attempts, code, error, times):
    return [{**attempts.describe(code), "error": error} for _ in range(times)]


def test_judged(attempts):
    new = attempts.describe(TABLE.format(""))
    near = [attempts.describe(TABLE.format(f" {sign} 1")) for sign in "+-*"]
    attempts.judge(new, {"most": 3, "failed": failed(attempts, TABLE.format(""), 1, 2)})
    attempts.judge(new, {"most": 3, "failed": [{**one, "error": number} for number, one in enumerate(near)]})
    for rows in (failed(attempts, TABLE.format(""), 1, 3), [{**one, "error": 7} for one in near]):
        with pytest.raises(attempts.Looped) as refused:
            attempts.judge(new, {"most": 3, "failed": rows})
        assert refused.value.error["type"] == "Loop"
    attempts.judge(attempts.describe("print(1)"), {"most": 3, "failed": [{**one, "error": 7} for one in near]})


HARD = {
    "long": "x = f(y[1], z.a)\n" * 60000,
    "a tree as large as is parsed": "x=f(y[1],z.a)\n" * 1170,
    "deep": "a+" * 8000 + "a",
    "nested": "(" * 16000,
    "signs": "-" * 8000 + "1",
    "large number": "9" * 16000,
    "surrogate": "x = '\\ud800'",
    "escapes": "x = '\\d\\w'",
    "empty": "",
    "zero": "x = '\0'",
}


@pytest.mark.parametrize("name", HARD)
def test_hard_code_is_told_apart_in_time(attempts, name, recwarn):
    begun = time.process_time()
    described = attempts.describe(HARD[name])
    assert time.process_time() - begun < 2
    assert len(described["digest"]) == 32 and len(described["near"]) <= attempts.SKETCH_MAX
    assert all(isinstance(value, int) and 0 <= value < 1 << 32 for value in described["near"])
    assert not recwarn.list
