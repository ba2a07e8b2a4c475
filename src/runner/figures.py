# SPDX-License-Identifier: Apache-2.0
"""plt.show() where there is no screen: the open figures become displays of the result."""

import base64
import io
import json

from adder_runner import _adder


def show(*arguments, **options):
    """In place of matplotlib.pyplot.show: sends every open figure as PNG and closes it, as a closed window would be."""
    from matplotlib import pyplot

    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches="tight")
        _adder.send(_adder.DISPLAY, json.dumps({"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": repr(figure)}).encode())
        pyplot.close(figure)
