# SPDX-License-Identifier: Apache-2.0
"""Figures of matplotlib where there is no screen: what plt.show() would show, and what is open when the code ends, become
displays."""

import io
import sys

from adder_runner import charts, display


def are_open():
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    return helpers is not None and bool(helpers.Gcf.figs)


def show(*arguments, **options):
    """In place of matplotlib.pyplot.show: sends every open figure and closes it, as a closed window would be."""
    show_all(False)


def show_open():
    """At the end of the code. A figure that it has saved itself, and did not change since, is in a file already."""
    show_all(True)


def show_all(at_end):
    from matplotlib import pyplot

    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        # A figure without axes, for example after subplots() replaced it, has nothing to show.
        if not (at_end and (is_saved(figure) or not (figure.get_children()[1:]))):
            display.publish(represent(figure))
        pyplot.close(figure)


def close_all():
    if are_open():
        sys.modules["matplotlib.pyplot"].close("all")


def represent(figure):
    bundle = {"image/png": drawn(figure, "png")}
    if display.vector:
        bundle["image/svg+xml"] = drawn(figure, "svg").decode()
    bundle["text/plain"] = repr(figure)
    if display.charts_wanted:
        known = display.attempt("the chart's data", lambda: charts.extract(figure))
        if known is not None:
            bundle[charts.MIME] = known
    return bundle


def drawn(figure, kind):
    target = io.BytesIO()
    figure.savefig(target, format=kind, bbox_inches="tight")
    return target.getvalue()


# ---- what is saved ----

saved = {}  # by the figure's id: a closed figure is not asked for


def watch_saving(figure_class):
    """To be called once, in the zygote: notes which figures are written to files."""
    original = figure_class.savefig

    def savefig(self, fname, *arguments, **options):
        original(self, fname, *arguments, **options)
        if isinstance(fname, (str, bytes)) or hasattr(fname, "__fspath__"):
            saved[id(self)] = True
            self.stale = False

    savefig.__doc__, savefig.__name__, savefig.__qualname__ = original.__doc__, "savefig", original.__qualname__
    figure_class.savefig = savefig


def is_saved(figure):
    return id(figure) in saved and not figure.stale
