# SPDX-License-Identifier: Apache-2.0
"""The `science` environment: what is loaded ahead works, and a sandbox's own randomness is its own."""
import subprocess
import textwrap

import pytest


def dedent(code):
    return textwrap.dedent(code).lstrip("\n")


@pytest.mark.quick
def test_pandas(science):
    data = science.file("sales.csv", "region,amount\n" + "".join(f"r{i % 3},{i}\n" for i in range(1000)))
    result = science.run(
        "import pandas as pd\n" "pd.read_csv('sales.csv').groupby('region')['amount'].sum().to_dict()",
        "--file",
        data,
    )
    assert result.outcome == "ok" and result.text == "{'r0': 166833, 'r1': 166167, 'r2': 166500}"


@pytest.mark.parametrize(
    "module",
    [
        "numpy",
        "pandas",
        "pyarrow",
        "matplotlib.pyplot",
        "scipy.optimize",
        "scipy.stats",
        "sympy",
        "requests",
        "dateutil",
        "pytz",
        "tabulate",
        "openpyxl",
        "PIL.Image",
        "IPython",
    ],
)
def test_imports(science, module):
    result = science.run(f"import {module}\nprint('here')")
    assert (result.outcome, result.stdout, result.stderr) == ("ok", "here\n", "")


WORK = {
    "parquet": (
        """
        import pandas as pd
        pd.DataFrame({"x": range(1000)}).to_parquet("x.parquet")
        print(pd.read_parquet("x.parquet").x.sum())
        """,
        "499500\n",
    ),
    "arrow strings": (
        """
        import pandas as pd
        print(pd.Series(["a", "b"] * 5, dtype="string[pyarrow]").value_counts().sum())
        """,
        "10\n",
    ),
    "excel": (
        """
        import pandas as pd
        pd.DataFrame({"x": [1, 2]}).to_excel("x.xlsx", index=False)
        print(pd.read_excel("x.xlsx").x.sum())
        """,
        "3\n",
    ),
    "linear algebra": (
        """
        import numpy as np
        a = np.random.rand(300, 300)
        print(np.allclose(np.linalg.inv(a) @ a, np.eye(300), atol=1e-6))
        """,
        "True\n",
    ),
    "scipy": (
        """
        from scipy import optimize, stats
        print(round(optimize.brentq(lambda x: x * x - 2, 0, 2), 6), round(stats.norm.cdf(0), 3))
        """,
        "1.414214 0.5\n",
    ),
    "sympy": ("import sympy as s\nx = s.symbols('x')\nprint(s.integrate(2 * x, x))", "x**2\n"),
    "pillow": (
        "from PIL import Image\n"
        "Image.new('RGB', (4, 4), 'red').save('x.png')\n"
        "print(Image.open('x.png').size)",
        "(4, 4)\n",
    ),
    "tables": ("import pandas as pd\nprint(pd.DataFrame({'x': [1]}).to_markdown())", None),
    "chained threads": (
        """
        import numpy as np, concurrent.futures
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            print(sum(pool.map(lambda i: int(np.arange(1000).sum()), range(4))))
        """,
        "1998000\n",
    ),
    "processes": (
        """
        import multiprocessing, numpy as np
        def total(n):
            return int(np.arange(n).sum())
        with multiprocessing.Pool(2) as pool:
            print(sum(pool.map(total, [10, 100])))
        """,
        "4995\n",
    ),
    "categories and dates": (
        """
        import pandas as pd
        d = pd.date_range("2024-01-01", periods=90, tz="Europe/Berlin")
        print(pd.Series(1, index=d).resample("ME").sum().tolist())
        """,
        "[31, 29, 30]\n",
    ),
}


@pytest.mark.parametrize("name", WORK)
def test_libraries_work(science, name):
    code, expected = WORK[name]
    result = science.run(dedent(code))
    assert (result.outcome, result.stderr) == ("ok", "")
    assert expected is None or result.stdout == expected


@pytest.mark.quick
def test_plot_to_a_file(science):
    directory = science.folder("out")
    result = science.run(
        "import matplotlib.pyplot as plt\n" "plt.bar(['a', 'b'], [1, 2])\n" "plt.savefig('plot.png')",
        "--out",
        directory,
    )
    assert (result.outcome, result.stderr, result.names) == ("ok", "", ["plot.png"])
    assert (directory / "plot.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert result.files[0]["mime"] == "image/png"


def test_plot_that_is_shown(science):
    """plt.show() gives a picture in the result, or at least does no harm."""
    result = science.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert result.outcome == "ok"
    assert not result.displays or any("image/png" in bundle for bundle in result.displays)


def test_value_of_a_table(science):
    result = science.run("import pandas as pd\npd.DataFrame({'a': [1, 2]})")
    assert (
        result.outcome == "ok" and "a" in result.text and "<table" in result.value.get("text/html", "<table")
    )


def test_long_table_stays_small(science):
    result = science.run("import pandas as pd\npd.DataFrame({'a': range(100_000)})")
    assert result.outcome == "ok" and len(result.text) < 10_000


def test_fonts_for_chinese_japanese_and_korean(science):
    fonts = subprocess.run(["fc-list", ":lang=ja", "family"], capture_output=True, text=True)
    if fonts.returncode != 0 or not fonts.stdout.strip():
        pytest.skip("no CJK font is installed (such as package fonts-noto-cjk)")
    result = science.run("import matplotlib.pyplot as plt\nplt.title('日本語 中文')\nplt.savefig('x.png')")
    assert result.outcome == "ok" and "missing" not in result.stderr.lower()


def test_network_is_not_there(science):
    result = science.run(
        "import requests\n" "requests.get('http://192.0.2.1/', timeout=20)", "--timeout", "15"
    )
    assert result.outcome == "error", "at once, not after a time-out"
    assert result.error["type"].endswith("ConnectionError")


def test_names_do_not_resolve(science):
    result = science.run("import requests\nrequests.get('https://example.org/')", "--timeout", "15")
    assert result.outcome == "error" and result.error["type"].endswith("ConnectionError")


def test_network_without_libraries(adder):
    result = adder.run(
        "import urllib.request\n" "urllib.request.urlopen('http://192.0.2.1/')", "--timeout", "15"
    )
    assert result.outcome == "error" and result.error["type"].endswith(
        ("URLError", "OSError", "PermissionError")
    )
