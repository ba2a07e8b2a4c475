# SPDX-License-Identifier: Apache-2.0
"""pandas, and matplotlib behind it, under the rules of a guard: what they find by a text that code gave. Each is met where the
library itself uses the text, for there are too many ways to give it one."""

import ast
import importlib
import string
import sys
import types

from adder_runner import guard, guarded

# Modules that take a method's name from code: agg("mean"), rolling(3, win_type="triang").
NAMING = (
    "pandas.core.apply",
    "pandas.core.groupby.generic",
    "pandas.core.groupby.groupby",
    "pandas.core.resample",
    "pandas.core.reshape.pivot",
    "pandas.core.window.rolling",
)
ASKING = ("pandas.core.apply", "pandas.core.groupby.groupby")  # those that first ask whether there is such a method

BACKENDS = ("matplotlib",)


def watch(rules):
    """To be called once for a process's rules; more do no harm."""
    visitor = importlib.import_module("pandas.core.computation.expr").BaseExprVisitor
    if getattr(visitor.visit, "is_guarded", False):
        return
    visitor.visit = visiting(visitor.visit, rules)
    scope = importlib.import_module("pandas.core.computation.scope").Scope
    scope.__init__ = scoping(scope.__init__)
    for name in NAMING:
        vars(importlib.import_module(name))["getattr"] = naming(rules)
    for name in ASKING:
        vars(sys.modules[name])["hasattr"] = asked
    labelled = importlib.import_module("pandas.core.generic").NDFrame
    labelled.__getattr__ = labelling(labelled.__getattr__)
    importlib.import_module("pandas.core.dtypes.dtypes").CategoricalDtypeType.__new__ = make_no_class
    plotting = importlib.import_module("pandas.plotting._core")
    plotting._load_backend = loading(plotting._load_backend)
    if rules.formats:
        string.Formatter.vformat = formatting(string.Formatter.vformat, 1)
        watch_labels()


def watch_labels():
    """Once matplotlib is loaded, which the first chart does: the format strings of its labels."""
    cbook = sys.modules.get("matplotlib.cbook")
    if cbook is not None and guarded.ruling.formats and not hasattr(cbook._auto_format_str, "is_guarded"):
        cbook._auto_format_str = formatting(cbook._auto_format_str, 0)


def visiting(real, rules):
    """An expression's tree is held against RULES as pandas has read it, whatever its text looked like."""

    def visit(self, node, **named):
        if isinstance(node, str):
            try:
                tree = ast.fix_missing_locations(ast.parse(self.preparser(node)))
            except SyntaxError:
                return real(self, node, **named)  # which says so
            for _, found in guard.tree_faults(tree, rules):
                guarded.refuse(f"{found} in an expression")
            node = tree
        return real(self, node, **named)

    visit.is_guarded = True
    return visit


def scoping(real):
    """An expression's variables are the code's own: those of a frame of a library, whose modules are real, are not for it."""

    def __init__(self, level, global_dict=None, local_dict=None, resolvers=(), target=None):
        frame = sys._getframe(level + 1)
        is_code = guard.FORMAT_GATE in frame.f_builtins
        if global_dict is None:
            global_dict = frame.f_globals if is_code else {}
        if local_dict is None:
            local_dict = frame.f_locals if is_code else {}
        real(self, level, global_dict, local_dict, resolvers, target)

    return __init__


def naming(rules):
    """getattr, for a module that is given names."""

    def named(value, name, *default):
        name = guarded.attribute_name(name)
        if isinstance(value, types.ModuleType):
            alias = next((alias for alias, given in rules.modules.items() if given == value.__name__), None)
            value = value if alias is None else guarded.read_only(value, alias)
        return getattr(value, name, *default)

    return named


def asked(value, name):
    """hasattr, for the same. "__array__" is what pandas itself asks for."""
    return hasattr(value, name if name == "__array__" else guarded.attribute_name(name))


def labelling(real):
    """A label is no protocol: numpy would take the memory that a label __array_interface__ describes for an array."""

    def __getattr__(self, name):
        return object.__getattribute__(self, name) if name.startswith("_") else real(self, name)

    return __getattr__


def make_no_class(kind, *arguments, **named):
    """Instead of the one class of classes that pandas has under a public name (CategoricalDtype.type): a class that is made by a
    call has names that nothing looked at."""
    guarded.refuse(f"{kind.__name__}()")


def loading(real):
    """A plotting backend is a module, which is imported by its name."""

    def load(backend):
        if backend not in BACKENDS:
            guarded.refuse(f"the plotting backend {backend}")
        module = real(backend)
        watch_labels()
        return module

    return load


def formatting(real, place):
    """Argument PLACE is a format string, such as that of an axis (set_major_formatter)."""

    def formatted(*arguments):
        guarded.look_at_format(arguments[place])
        return real(*arguments)

    formatted.is_guarded = True
    return formatted
