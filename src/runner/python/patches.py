# SPDX-License-Identifier: Apache-2.0
"""What other packages have that supposes a screen, a browser or a notebook, replaced by what shows things here: as soon as a module
of the table is imported, whoever imports it. On disk nothing is changed."""

import importlib.util
import sys

from adder_runner import denials, display, figures


def patch_pyplot(module):
    module.show = figures.show
    figures.watch_saving(sys.modules["matplotlib.figure"].Figure)


def patch_ipython(module):
    module.display, module.update_display = display.show, display.update_display
    module.publish_display_data, module.clear_output = display.publish_data, display.clear_output


def patch_plotly(module):
    module.BaseFigure.show = lambda self, *arguments, **options: display.show(self)


def patch_pip(module):
    """pip.main() and its kin, called without a process of its own."""
    real = module.main

    def main(args=None):
        denials.look_for_installer(["pip", *(sys.argv[1:] if args is None else args)])
        return real(args)

    module.main = main


PATCHES = {
    "matplotlib.pyplot": patch_pyplot,
    "IPython.core.display_functions": patch_ipython,
    "plotly.basedatatypes": patch_plotly,
    "pip._internal.cli.main": patch_pip,
}


class Loader:
    """Does what the real one does, and then its patch."""

    def __init__(self, real, patch):
        self.real, self.patch = real, patch

    def __getattr__(self, name):
        return getattr(self.real, name)

    def create_module(self, spec):
        return self.real.create_module(spec)

    def exec_module(self, module):
        self.real.exec_module(module)
        self.patch(module)


class Watch:
    """Sees an import before those who find modules do."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        patch = PATCHES.pop(name, None)
        if patch is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader, patch)
        return spec


def add(name, patch):
    """Has PATCH called with the module NAME as soon as somebody imports it."""
    earlier = PATCHES.get(name)

    def both(module):
        earlier(module)
        patch(module)

    PATCHES[name] = both if earlier else patch
    if Watch not in sys.meta_path:
        sys.meta_path.insert(0, Watch)


def watch():
    """To be called once, before other packages are loaded."""
    sys.modules["builtins"].display = display.show
    sys.meta_path.insert(0, Watch)
