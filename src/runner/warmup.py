# SPDX-License-Identifier: Apache-2.0
"""Pay once, in the zygote, for what the first use of a library costs; and rehearse a typical run, so that the pages it
touches are known and a parked sandbox can touch them ahead."""

import io
import os
import sys

from adder_runner import execution

# Families for characters that DejaVu, matplotlib's own font, lacks; the first that is installed serves all plots.
WIDE_FONTS = ("Noto Sans CJK JP", "Noto Sans CJK SC", "Droid Sans Fallback", "WenQuanYi Zen Hei", "Source Han Sans", "Unifont")

TYPICAL = """
print("warm", 2 ** 32)
import sys
def total(values):
    return sum(value * 2 for value in values)
total(range(10))
"""

TYPICAL_TABLE = """
import numpy as np
import pandas as pd
frame = pd.DataFrame({"key": ["a", "b", "a", "c"] * 25, "x": np.arange(100), "y": np.linspace(0.0, 1.0, 100)})
print(frame.groupby("key").agg({"x": "sum", "y": "mean"}))
print(frame.describe())
frame[frame.x > 50].sort_values("y").head()
"""


def settle():
    """Finishes what libraries put off until first use, and leaves nothing open."""
    if "matplotlib.pyplot" in sys.modules:
        settle_matplotlib()


def settle_matplotlib():
    import matplotlib
    from matplotlib import font_manager, pyplot

    installed = {font.name for font in font_manager.fontManager.ttflist}
    wide = [family for family in WIDE_FONTS if family in installed][:1]
    for parameters in (matplotlib.rcParams, matplotlib.rcParamsDefault, matplotlib.rcParamsOrig):
        parameters["font.family"] = ["sans-serif", *wide]
    figure, axes = pyplot.subplots()
    axes.bar(["a", "b"], [1, 2])
    axes.set_title("warm")
    figure.savefig(io.BytesIO(), format="png")
    pyplot.close(figure)
    # A cached font holds its file open; a sandbox closes all descriptors, and FreeType would read from whatever came next.
    font_manager._get_font.cache_clear()


def rehearse():
    """Runs typical code through the same path as a request does, its output thrown away, its traces removed."""
    saved = sys.argv, list(sys.path), dict(os.environ), os.getcwd(), sys.modules["__main__"], sys.stdout
    codes = [TYPICAL] + ([TYPICAL_TABLE] if "pandas" in sys.modules else []) + ["1 / 0"]
    with open(os.devnull, "w") as nowhere:
        sys.stdout = nowhere
        try:
            for code in codes:
                outcome = execution.Outcome("warm.py", 4096)
                outcome.guard(lambda: outcome.show(execution.run_main(code, "warm.py")))
                outcome.message()
        finally:
            sys.argv, sys.path[:], environment, directory, sys.modules["__main__"], sys.stdout = saved
            os.environ.clear()
            os.environ.update(environment)
            os.chdir(directory)
            execution.linecache.cache.pop("warm.py", None)
