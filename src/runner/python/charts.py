# SPDX-License-Identifier: Apache-2.0
"""Charts as data: what matplotlib drew, told by its artists. A picture says it to a person; a model that is to judge it, or a page
that draws it anew, wants the numbers.

{"charts": [{"kind": "line", "title": ..., "x_label": ..., "y_label": ..., "x_ticks": [...] or null, "series": [...]}]}, one entry
for each kind of chart within each axes. A series is {"label": ..., "x": [...], "y": [...]} of a line or scatter plot, of bars
{"label", "categories", "values"}, of a pie {"labels", "values"}, of box plots {"labels", "boxes": [{"low", "q1", "median", "q3",
"high"}]}."""

import math

from adder_runner import tracebacks

MIME = "application/vnd.adder.chart+json"
POINTS_MAX = 1000  # of one series
SERIES_MAX = 50
TEXT_MAX = 200


def extract(figure):
    """The charts of FIGURE, None where nothing is known."""
    charts = []
    for axes in figure.get_axes():
        if hasattr(axes, "get_zlim") or axes.get_label() == "<colorbar>":
            continue
        charts += charts_of(axes)
    if not charts:
        return None
    heading = getattr(figure, "_suptitle", None)
    return {"title": text(heading.get_text()) if heading is not None else None, "charts": charts}


def charts_of(axes):
    frame = {
        "title": text(axes.get_title()),
        "x_label": text(axes.get_xlabel()),
        "y_label": text(axes.get_ylabel()),
        "x_ticks": None,
    }
    wedges = pies(axes)
    if wedges:
        return [{**frame, "kind": "pie", "series": [wedges]}]
    boxes, used = box_plots(axes)
    found = [
        ("box", boxes),
        ("bar", [] if boxes else bars(axes)),
        ("line", [line for line in lines(axes, used)]),
        ("scatter", scatters(axes)),
    ]
    ticks = categories(axes.xaxis)
    charts = []
    for kind, series in found:
        if series:
            left_out = max(len(series) - SERIES_MAX, 0)
            charts.append({**frame, "kind": kind, "x_ticks": ticks, "series": series[:SERIES_MAX], "series_left_out": left_out})
    return charts


def text(words):
    return tracebacks.clean(str(words))[:TEXT_MAX] or None if words else None


def number(value):
    value = float(value)
    return value if math.isfinite(value) else None


def name_of(artist):
    """The label in the legend; those that begin with an underscore are matplotlib's own."""
    name = str(artist.get_label())
    return None if name.startswith("_") else text(name)


def categories(axis):
    """The labels of ticks that are no plain numbers, None where they are."""
    units = getattr(axis.units, "_mapping", None)  # of plots over words
    if units:
        return [text(word) for word, _ in sorted(units.items(), key=lambda item: item[1])][:POINTS_MAX]
    labels = [text(tick.get_text()) for tick in axis.get_ticklabels()]
    formatter = type(axis.get_major_formatter()).__name__
    return labels[:POINTS_MAX] if formatter in ("FixedFormatter", "FuncFormatter") and any(labels) else None


def points(values):
    """VALUES as numbers, evenly thinned out where there are too many."""
    step = max(-(-len(values) // POINTS_MAX), 1)
    return [number(value) for value in values[::step]]


def lines(axes, used):
    import numpy

    for line in axes.get_lines():
        if line in used or not line.get_visible():
            continue
        x, y = (numpy.asarray(part, dtype=float) for part in line.get_data(orig=False))
        if len(x) == 0 or line.get_transform() != axes.transData:
            continue  # such as axhline, which spans the axes
        yield {"label": name_of(line), "x": points(x), "y": points(y), "points": len(x)}


def scatters(axes):
    import numpy
    from matplotlib.collections import PathCollection

    series = []
    for collection in axes.collections:
        if isinstance(collection, PathCollection) and collection.get_visible():
            offsets = numpy.ma.filled(numpy.ma.asarray(collection.get_offsets(), dtype=float), numpy.nan)
            if len(offsets):
                series.append({"label": name_of(collection), "x": points(offsets[:, 0]), "y": points(offsets[:, 1]), "points": len(offsets)})
    return series


def bars(axes):
    from matplotlib.container import BarContainer

    series = []
    for container in axes.containers:
        if not isinstance(container, BarContainer) or not container.patches:
            continue
        lying = getattr(container, "orientation", "vertical") == "horizontal"
        patches = container.patches[:POINTS_MAX]
        middles = [patch.get_y() + patch.get_height() / 2 if lying else patch.get_x() + patch.get_width() / 2 for patch in patches]
        values = [number(patch.get_width() if lying else patch.get_height()) for patch in patches]
        names = tick_names(axes.yaxis if lying else axes.xaxis, middles)
        entry = {"label": name_of(container), "categories": names, "values": values, "points": len(container.patches)}
        series.append({**entry, "orientation": "horizontal" if lying else "vertical"})
    return series


def tick_names(axis, places):
    """For each of PLACES what the tick there says, or the number."""
    words = categories(axis)
    if words is None:
        return [number(place) for place in places]
    known = list(zip(axis.get_ticklocs(), words))
    mapping = getattr(axis.units, "_mapping", None)
    if mapping:
        known = [(place, text(word)) for word, place in mapping.items()]
    result = []
    for place in places:
        nearest = min(known, key=lambda item: abs(item[0] - place), default=None)
        result.append(nearest[1] if nearest is not None and abs(nearest[0] - place) <= 0.5 else number(place))
    return result


def pies(axes):
    from matplotlib.patches import Wedge

    wedges = [patch for patch in axes.patches if isinstance(patch, Wedge)]
    if not wedges or len(wedges) != len(axes.patches) or axes.get_lines():
        return None
    values = [number((wedge.theta2 - wedge.theta1) / 360) for wedge in wedges]
    return {"labels": [name_of(wedge) for wedge in wedges], "values": values, "points": len(wedges)}


def box_plots(axes):
    """The boxes of box plots, which matplotlib draws of lines, and those lines. A box is five or seven points long, its whiskers, caps
    and median are two each, in that order."""
    boxes, used = [], set()
    drawn = axes.get_lines()
    patches = [patch for patch in axes.patches if type(patch).__name__ == "PathPatch"]
    at, filled = 0, iter(patches)
    while at < len(drawn):
        group = drawn[at : at + 6]
        first = len(group[0].get_xdata()) in (5, 9, 11)  # an outline, plain or notched
        pieces = group[1:6] if first else drawn[at : at + 5]
        if len(pieces) < 5 or any(len(piece.get_xdata()) != 2 for piece in pieces) or not (first or patches):
            return [], set()
        outline = group[0].get_ydata() if first else None
        if outline is None:
            patch = next(filled, None)
            if patch is None:
                return [], set()
            outline = patch.get_path().vertices[:-1, 1]
        ends = [float(value) for piece in pieces[:4] for value in piece.get_ydata()]
        taken = [*(group[:1] if first else ()), *pieces]
        at += len(taken)
        # The fliers, if any, are a line of markers alone.
        if at < len(drawn) and drawn[at].get_linestyle() in ("None", "none", " ", "") and drawn[at].get_marker() not in ("None", None, ""):
            taken.append(drawn[at])
            at += 1
        used.update(taken)
        levels = sorted({float(value) for value in outline})
        boxes.append({"low": number(min(ends)), "q1": number(levels[0]), "median": number(pieces[4].get_ydata()[0]), "q3": number(levels[-1]), "high": number(max(ends))})
    if not boxes:
        return [], set()
    names = [text(tick.get_text()) for tick in axes.xaxis.get_ticklabels()][: len(boxes)]
    return [{"label": None, "labels": names, "boxes": boxes[:POINTS_MAX], "points": len(boxes)}], used
