# SPDX-License-Identifier: Apache-2.0
"""scipy.stats under the rules of a guard. Its distributions are objects whose classes make code out of text (shapes), and whose
attributes they are made of again, so code gets neither: it gets what shows a few of their methods. Functions are called with data
and plain texts, never with code's own functions, which scipy would call with what it has."""

import types
import warnings

from adder_runner import guarded

MODULE = "scipy.stats"

# What a distribution does, as far as it is numbers in and numbers out. Not among it: expect, which calls functions; nnlf and
# others that are the library's own business.
METHODS = frozenset(
    "pdf logpdf pmf logpmf cdf logcdf sf logsf ppf isf rvs mean var std median entropy interval moment stats support fit".split()
)
TEXTS = frozenset(("name", "shapes"))  # of a distribution, to be read

# Arguments whose texts name functions of other modules.
NAMING = frozenset(("optimizer",))


def plain_argument(value):
    """VALUE as the library gets it."""
    real = real_of(value) if type(value) in (Distribution, Method) else None
    if type(value) is Distribution or isinstance(real, types.MethodType):
        return real
    if isinstance(value, str):
        return guarded.attribute_name(value)
    if callable(value):
        guarded.refuse(f"a function ({getattr(value, '__name__', type(value).__name__)}) as an argument of {MODULE}")
    return value


def call(real, arguments, named):
    """REAL with what code gave."""
    for name in named:
        if name in NAMING:
            guarded.refuse(f"{name}= of {MODULE}")
    given = [plain_argument(value) for value in arguments]
    options = {str.__str__(name): plain_argument(value) for name, value in named.items()}
    with warnings.catch_warnings(record=True) as told:
        value = real(*given, **options)
    for warning in told:
        warnings.warn(warning.message, stacklevel=3)  # the line that called
    return shown(value)


class Sealed(type):
    """The class of classes that code can ask for, but not make anything with."""

    def __call__(cls, *arguments, **named):
        guarded.refuse(f"{cls.__name__}()")


class Shown(metaclass=Sealed):
    """Stands for something real, which code does not get."""

    __slots__ = ("_real",)

    def __setattr__(self, name, value):
        raise AttributeError(f"what is {MODULE}'s can only be read")

    def __delattr__(self, name):
        raise AttributeError(f"what is {MODULE}'s can only be read")

    def __repr__(self):
        return repr(self._real)

    @property
    def __name__(self):  # of a column, where pandas aggregates by it
        return getattr(self._real, "__name__", type(self).__name__)


class Method(Shown):
    """A function of the library's or a method of a distribution."""

    __slots__ = ()

    def __call__(self, *arguments, **named):
        return call(self._real, arguments, named)


class Distribution(Shown):
    """A distribution, with its parameters or without."""

    __slots__ = ()

    def __call__(self, *arguments, **named):
        if not callable(self._real):
            raise TypeError("this distribution has its parameters already")
        return call(self._real, arguments, named)

    def __getattr__(self, name):
        if name in METHODS:
            return show(Method, getattr(self._real, name))
        if name in TEXTS:
            return getattr(self._real, name, None)
        raise AttributeError(f"{name} of a distribution is not available here")


def show(kind, real):
    made = object.__new__(kind)
    object.__setattr__(made, "_real", real)
    return made


def real_of(made):
    return object.__getattribute__(made, "_real")


def shown(value):
    """What code gets where VALUE comes from scipy.stats."""
    from scipy.stats._distn_infrastructure import rv_frozen, rv_generic

    if isinstance(value, (rv_generic, rv_frozen)):
        return show(Distribution, value)
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
        return show(Method, value)
    if isinstance(value, (type, types.ModuleType)):
        guarded.refuse(f"{getattr(value, '__name__', value)} of {MODULE}")
    return value
