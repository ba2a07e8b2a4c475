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
    "numpy on many threads": (
        """
        import numpy as np, os, threading
        a = np.random.default_rng(1).random((600, 600))
        results = []
        threads = [threading.Thread(target=lambda: results.append((a @ a).trace())) for _ in range(4)]
        [t.start() for t in threads]; [t.join() for t in threads]
        print(len(results), np.allclose(results, results[0]), np.fft.ifft(np.fft.fft(a)).real.round(6).shape)
        """,
        "4 True (600, 600)\n",
    ),
    "mapped arrays": (
        """
        import numpy as np, tempfile
        with tempfile.NamedTemporaryFile() as file:
            m = np.memmap(file.name, dtype="int64", mode="w+", shape=(1000,))
            m[:] = range(1000); m.flush()
            print(np.memmap(file.name, dtype="int64", mode="r").sum())
        np.savez("x.npz", a=np.arange(3)); print(np.load("x.npz")["a"].sum())
        """,
        "499500\n3\n",
    ),
    "all of scipy": (
        """
        import numpy as np
        from scipy import fft, integrate, interpolate, linalg, ndimage, signal, sparse, spatial, special
        print(round(integrate.quad(np.sin, 0, np.pi)[0], 6), linalg.lu(np.eye(3))[0].sum(), special.gamma(5))
        print(sparse.eye(10).sum(), spatial.cKDTree(np.eye(3)).query([1, 0, 0])[1], fft.fft([1, 0]).real.sum())
        print(ndimage.label([[1, 0, 1]])[1], len(signal.firwin(5, 0.5)), interpolate.interp1d([0, 1], [0, 2])(0.5))
        """,
        "2.0 3.0 24.0\n10.0 0 2.0\n2 5 1.0\n",
    ),
    "pyarrow": (
        """
        import pyarrow as pa, pyarrow.compute as pc, pyarrow.csv as csv, pyarrow.feather as feather, pyarrow.dataset as ds
        import pyarrow.parquet as pq
        t = pa.table({"k": ["a", "b"] * 5000, "x": range(10000)})
        pq.write_table(t, "t.parquet", compression="zstd"); feather.write_feather(t, "t.feather"); csv.write_csv(t, "t.csv")
        print(pc.sum(ds.dataset("t.parquet").to_table(filter=ds.field("k") == "a")["x"]).as_py())
        print(feather.read_table("t.feather", memory_map=True).num_rows, csv.read_csv("t.csv").num_rows)
        """,
        "24995000\n10000 10000\n",
    ),
    "pandas and sqlite": (
        """
        import pandas as pd, sqlite3
        with sqlite3.connect("t.db") as base:
            pd.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]}).to_sql("t", base, index=False)
            print(pd.read_sql("select k, sum(x) as s from t group by k order by k", base)["s"].tolist())
        """,
        "[4, 2]\n",
    ),
    "pandas in many formats": (
        """
        import pandas as pd
        d = pd.DataFrame({"x": range(3), "t": pd.date_range("2024-01-01", periods=3)})
        d.to_csv("d.csv.gz"); d.to_json("d.json", orient="table"); d.to_pickle("d.pkl"); d.to_feather("d.feather")
        print(len(pd.read_csv("d.csv.gz")), len(pd.read_pickle("d.pkl")), len(pd.read_feather("d.feather")))
        """,
        "3 3 3\n",
    ),
    "matplotlib to every format": (
        """
        import matplotlib.pyplot as plt, os
        figure, axes = plt.subplots(2, 2)
        axes[0, 0].hist([1, 2, 2]); axes[0, 1].imshow([[1, 2], [3, 4]]); axes[1, 0].set_title(r"$\\alpha^2$")
        for kind in ("png", "svg", "pdf", "jpg"):
            figure.savefig("plot." + kind)
        print(all(os.path.getsize("plot." + kind) > 1000 for kind in ("png", "svg", "pdf", "jpg")))
        """,
        "True\n",
    ),
    "openpyxl": (
        """
        import openpyxl
        from openpyxl.chart import BarChart, Reference
        book = openpyxl.Workbook(); sheet = book.active
        for i in range(5): sheet.append([i, i * i])
        chart = BarChart(); chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=5)); sheet.add_chart(chart, "D2")
        book.save("b.xlsx")
        print(sum(row[1] for row in openpyxl.load_workbook("b.xlsx", read_only=True).active.values))
        """,
        "30\n",
    ),
    "pictures": (
        """
        from PIL import Image, ImageDraw, ImageFilter, ImageFont
        image = Image.new("RGB", (64, 64), "white")
        ImageDraw.Draw(image).text((5, 5), "x", fill="black", font=ImageFont.load_default())
        for kind in ("png", "jpeg", "gif", "webp", "tiff"):
            image.filter(ImageFilter.BLUR).save("x." + kind)
        print([Image.open("x." + kind).format for kind in ("png", "jpeg", "webp")])
        """,
        "['PNG', 'JPEG', 'WEBP']\n",
    ),
    "pandas in processes": (
        """
        import concurrent.futures, pandas as pd
        def total(n):
            return int(pd.Series(range(n)).sum())
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            print(sum(pool.map(total, [10, 100])))
        """,
        "4995\n",
    ),
    "scikit-learn": (
        """
        import numpy as np
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import cross_val_score
        x = np.random.default_rng(1).normal(size=(200, 4)); y = (x[:, 0] > 0).astype(int)
        print(LogisticRegression().fit(x, y).score(x, y) > 0.9, RandomForestClassifier(20, n_jobs=2).fit(x, y).score(x, y))
        print(len(cross_val_score(LogisticRegression(), x, y, n_jobs=2)))
        """,
        "True 1.0\n5\n",
    ),
}

# What the environment need not have.
OPTIONAL = {"scikit-learn": "sklearn"}


@pytest.mark.parametrize("name", WORK)
def test_libraries_work(science, name):
    code, expected = WORK[name]
    if name in OPTIONAL and science.run(f"import {OPTIONAL[name]}").outcome != "ok":
        pytest.skip(f"the environment has no {OPTIONAL[name]}")
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
