# SPDX-License-Identifier: Apache-2.0
"""What code shows: the display protocol in runs, tables for models, figures and charts as data."""
import base64

import pytest

TABLE = "application/vnd.adder.table+json"


def chart_of(result):
    """The one chart of the one figure."""
    (figure,) = result.charts
    (chart,) = figure["charts"]
    return chart


def is_png(text):
    return base64.b64decode(text).startswith(b"\x89PNG")


@pytest.mark.quick
def test_display_needs_no_import(adder):
    result = adder.run("print('a')\ndisplay(1, 'x')\ndisplay({'text/plain': 'p', 'application/json': {'a': [1]}}, raw=True)")
    assert result.displays == [
        {"text/plain": "1"},
        {"text/plain": "'x'"},
        {"text/plain": "p", "application/json": {"a": [1]}},
    ]


def test_display_by_id(adder):
    result = adder.run("handle = display('first', display_id=True)\ndisplay('other')\nhandle.update('second')")
    assert [display["text/plain"] for display in result.displays] == ["'second'", "'other'"]


def test_representations_that_fail_are_left_out(adder):
    result = adder.run(
        "class Page:\n"
        "    def _repr_html_(self): return '<b>x</b>'\n"
        "    def _repr_latex_(self): raise ValueError('no')\n"
        "    def _repr_png_(self): return b'\\x89PNG'\n"
        "Page()"
    )
    assert result.outcome == "ok" and result.value["text/html"] == "<b>x</b>"
    assert "text/latex" not in result.value and "image/png" not in result.value
    assert is_png(result.displays[0]["image/png"]), "pictures are displays"
    assert result.warnings == ["_repr_latex_ failed and is left out: ValueError: no"]


def test_what_is_too_long_for_a_reply_is_a_file(adder):
    result = adder.run("class Page:\n    def _repr_html_(self): return 'x' * (2 << 20)\ndisplay(Page())")
    assert result.names == ["tmp/output/display-1.html"] and result.files[0]["bytes"] == 2 << 20
    assert "/tmp/output/display-1.html" in result.displays[0]["text/plain"]


def test_displays_count_against_their_own_bounds(adder):
    result = adder.run("for number in range(20000): display(number)")
    assert result.outcome == "output_limit"


@pytest.mark.parametrize("size", [10, 900000])
def test_displays_of_several_threads_stay_whole(adder, size):
    """What is larger than a socket's buffer goes in parts, between which no other may come."""
    result = adder.run(
        "import threading\n"
        f"def show(letter):\n    for _ in range(5): display({{'text/plain': letter * {size}}}, raw=True)\n"
        "threads = [threading.Thread(target=show, args=letter) for letter in 'abcd']\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()"
    )
    assert result.outcome == "ok", result.error
    assert sorted(each["text/plain"] for each in result.fields["displays"]) == [letter * size for letter in "abcd" for _ in range(5)]


# ---- with the science environment ----


@pytest.mark.quick
def test_tables_are_markdown_and_data(science):
    result = science.run(
        "import pandas as pd\npd.DataFrame({'n': range(30), 'x': [0.5, 0.25, 1.0] * 10, 'word': ['a|b', None, '<c>'] * 10})"
    )
    lines = result.value["text/markdown"].splitlines()
    assert lines[:3] == ["|  | n | x | word |", "| --- | --- | --- | --- |", "| 0 | 0 | 0.50 | a\\|b |"]
    assert lines[11:14] == ["| 9 | 9 | 0.50 | a\\|b |", "| ... | ... | ... | ... |", "| 20 | 20 | 1.00 | <c> |"]
    assert lines[-1] == "[30 rows x 3 columns; 10 rows in the middle are hidden]"
    assert "&lt;c&gt;" in result.value["text/html"]
    table = result.value[TABLE]
    assert table["shape"] == [30, 3] and len(table["head"]) == 20 and table["head"][1] == [1, 0.25, None]
    n, x, word = table["columns"]
    assert (n["dtype"], n["min"], n["max"], n["mean"], n["nulls"]) == ("int64", 0, 29, 14.5, 0)
    assert (x["min"], x["max"], word["nulls"], word["unique"]) == (0.25, 1.0, 10, 2)


def test_twenty_rows_are_shown_whole(science):
    result = science.run("import pandas as pd\npd.DataFrame({'n': range(20)})")
    assert "hidden" not in result.value["text/markdown"] and "| 10 | 10 |" in result.value["text/markdown"]


@pytest.mark.parametrize(
    "code, words",
    {
        "a series": ("pd.Series([1.5, 2.0], name='s')", ["|  | s |", "[Series of 2 values, float64]"]),
        "no rows": ("pd.DataFrame({'a': []})", ["|  | a |", "[0 rows x 1 columns]"]),
        "no columns": ("pd.DataFrame(index=[1])", ["[1 rows x 0 columns]"]),
        "two levels": (
            "pd.DataFrame({'a': [1, 1], 'b': ['x', 'y'], 'c': [1, 2]}).groupby(['a', 'b']).sum()",
            ["| a | b | c |", "| 1 | y | 2 |"],
        ),
        "levels of columns": ("pd.DataFrame([[1, 2]], columns=[['u', 'u'], ['v', 'w']])", ["| u / v | u / w |"]),
        "names that are the same": ("pd.DataFrame([[1, 2]], columns=['a', 'a'])", ["|  | a | a |"]),
        "many columns": ("pd.DataFrame(np.zeros((2, 50)))", ["30 columns in the middle are hidden"]),
        "times and gaps": ("pd.DataFrame({'t': [pd.Timestamp('2020-01-02'), pd.NaT]})", ["2020-01-02", "NaT"]),
        "lists in cells": ("pd.DataFrame({'l': [[1], {'a': 2}]})", ["[1]", "{'a': 2}"]),
        "categories": ("pd.DataFrame({'k': pd.Categorical(['u', None])})", ["| 0 | u |"]),
        "huge numbers": ("pd.DataFrame({'n': [2**62, -1], 'f': [1e300, float('inf')]})", [str(2**62), "1e+300", "inf"]),
        "lone surrogates": ("pd.DataFrame({'s': ['a\\ud800b\\0']})", ["a\ufffdb\ufffd"]),
    }.values(),
)
def test_tables_of_all_kinds(science, code, words):
    result = science.run(f"import numpy as np, pandas as pd\n{code}")
    assert result.outcome == "ok" and not result.warnings
    assert all(word in result.value["text/markdown"] for word in words), result.value["text/markdown"]
    assert TABLE in result.value


def test_arrays_tell_their_shape(science):
    result = science.run("import numpy as np\nnp.zeros((2, 3))")
    assert result.text == "array([[0., 0., 0.],\n       [0., 0., 0.]])\nshape (2, 3), dtype float64"


def test_open_figures_are_shown_at_the_end(science):
    result = science.run(
        "import matplotlib.pyplot as plt\n"
        "plt.plot([1, 2, 3], [4, 5, 6], label='up')\n"
        "plt.title('T'); plt.xlabel('x'); plt.ylabel('y'); plt.legend()"
    )
    (display,) = result.displays
    assert is_png(display["image/png"])
    chart = chart_of(result)
    assert (chart["kind"], chart["title"], chart["x_label"], chart["y_label"]) == ("line", "T", "x", "y")
    assert chart["series"] == [{"label": "up", "x": [1, 2, 3], "y": [4, 5, 6], "points": 3}]


def test_a_figure_is_shown_once(science):
    result = science.run("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\nplt.plot([2])\nplt.savefig('two.png')")
    assert len(result.displays) == 1 and result.names == ["two.png"], "what the code has saved is a file already"
    result = science.run("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('one.png')\nplt.title('changed since')")
    assert len(result.displays) == 1
    result = science.run("import matplotlib.pyplot as plt\nplt.plot([1])\n1 / 0")
    assert result.outcome == "error" and len(result.displays) == 1


CHARTS = {
    "bars": ("bar", "plt.bar(['a', 'b'], [3, 4], label='n')", {"label": "n", "categories": ["a", "b"], "values": [3, 4]}),
    "bars of pandas": (
        "bar",
        "pd.DataFrame({'v': [1, 2]}, index=['p', 'q']).plot.bar()",
        {"label": "v", "categories": ["p", "q"], "values": [1, 2]},
    ),
    "lying bars": (
        "bar",
        "plt.barh(['a', 'b'], [3, 4])",
        {"categories": ["a", "b"], "values": [3, 4], "orientation": "horizontal"},
    ),
    "points": ("scatter", "plt.scatter([1, 2], [3, 4], label='s')", {"label": "s", "x": [1, 2], "y": [3, 4]}),
    "pie": ("pie", "plt.pie([1, 3], labels=['a', 'b'])", {"labels": ["a", "b"], "values": [0.25, 0.75]}),
    "boxes": (
        "box",
        "plt.boxplot([[1, 2, 3, 4, 9]])",
        {"boxes": [{"low": 1, "q1": 2, "median": 3, "q3": 4, "high": 4}]},
    ),
    "filled boxes": (
        "box",
        "plt.boxplot([[1, 2, 3, 4, 5]], patch_artist=True)",
        {"boxes": [{"low": 1, "q1": 2, "median": 3, "q3": 4, "high": 5}]},
    ),
    "boxes of pandas": ("box", "pd.DataFrame({'u': [1, 2, 3, 4, 5]}).boxplot()", {"labels": ["u"]}),
    "a line over words": ("line", "plt.plot(['mon', 'tue'], [1, 2])", {"y": [1, 2]}),
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts_as_data(science, name):
    kind, code, expected = CHARTS[name]
    result = science.run(f"import matplotlib.pyplot as plt, pandas as pd\n{code}\nNone")
    chart = chart_of(result)
    assert chart["kind"] == kind
    series = chart["series"][0]
    assert {key: series[key] for key in expected} == expected


def test_a_chart_of_a_million_points_is_thinned_out(science):
    result = science.run("import matplotlib.pyplot as plt\nplt.plot(range(1_000_000))\nNone")
    series = chart_of(result)["series"][0]
    assert series["points"] == 1_000_000 and 500 <= len(series["x"]) <= 1000


def test_pictures(science):
    result = science.run("from PIL import Image\nImage.new('RGB', (8, 4))")
    assert is_png(result.displays[0]["image/png"]) and result.value == {"text/plain": "<Image RGB 8x4>"}


def test_display_of_ipython(science):
    result = science.run("import IPython\nfrom IPython.display import HTML, display\ndisplay(HTML('<b>1</b>'))\nIPython.get_ipython()")
    assert result.displays[0]["text/html"] == "<b>1</b>"
    assert result.value is None, "a run is no session"


def test_figures_as_svg(science):
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 2])"
    assert "image/svg+xml" not in science.run(code).displays[0]
    (figure,) = science.run(code, "--svg").displays
    assert is_png(figure["image/png"]) and "<svg" in figure["image/svg+xml"]
