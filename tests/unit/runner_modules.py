# SPDX-License-Identifier: Apache-2.0
"""Modules of the runner, loaded into the interpreter of a test, which has nobody to send to."""
import contextlib
import importlib
import pathlib
import sys
import types

RUNNER = pathlib.Path(__file__).resolve().parents[2] / "src" / "runner" / "python"


@contextlib.contextmanager
def loaded(name):
    """The module NAME; afterwards it is forgotten, with those that it imported."""
    kept = {name: sys.modules.get(name) for name in list(sys.modules) if name.startswith("adder_runner")}
    package, extension = types.ModuleType("adder_runner"), types.ModuleType("adder_runner._adder")
    package.__path__, package._adder = [str(RUNNER)], extension
    sys.modules.update({"adder_runner": package, "adder_runner._adder": extension})
    try:
        yield importlib.import_module(f"adder_runner.{name}")
    finally:
        for name in [name for name in sys.modules if name.startswith("adder_runner")]:
            del sys.modules[name]
        sys.modules.update({name: module for name, module in kept.items() if module})
