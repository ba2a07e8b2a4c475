# SPDX-License-Identifier: Apache-2.0
"""Names that the user's own code may not ask for: functions raise PermissionError when it calls them, modules when it imports
them, while libraries go on importing and calling what they need. This is a promise to who reads the profile and a word of
advice to who writes the code; what a run can do to the host is bounded by the sandbox alone, and code that wants to get around
this can.

Who asks is told by frames. The nearest one decides, for a function (os.system) the nearest that knows it by name: else
`threading.Thread(target=os.system)` would be asked for by the library. What the user's code is, is_own() says.

A module that is blocked may be loaded already, since libraries need it. So sys.modules has a curtain before it, which lets
libraries through, and `import` gives libraries the module itself."""

import builtins
import functools
import sys
from types import ModuleType

from adder_runner import patches, places

# What to do instead, by the beginning of the name.
PROGRAMS = "no other programs can be started here; do the work in Python itself"
ADVICE = (
    ("importlib", "write an import statement instead"),
    ("shutil.rmtree", "remove files with os.remove and folders with os.rmdir; what a run leaves in its folders goes with it"),
    ("subprocess", PROGRAMS),
    ("multiprocessing", "work in one process"),
    ("os.system", PROGRAMS),
    ("os.popen", PROGRAMS),
    ("os.exec", PROGRAMS),
    ("os.spawn", PROGRAMS),
    ("os.posix_spawn", PROGRAMS),
    ("pty.spawn", PROGRAMS),
    ("asyncio.create_subprocess", PROGRAMS),
    ("", "do without it"),
)

get_frame, modules, read = sys._getframe, sys.modules, object.__getattribute__

# The names of os in one text, made in the zygote: going through them in a sandbox would write to the pages of them all, to
# count references.
NAMES_OF_OS = "\n" + "\n".join(vars(modules["os"])) + "\n"

GATES = "adder_runner.guarded"
real_import = builtins.__import__
blocked = set()  # modules
own = {"name": None, "folders": (), "others": ()}


def start(rules, name):
    """To be called once, before the first of the user's code, whose file is NAME. RULES: {"calls", "modules"}, see README.md."""
    own.update(name=name, folders=(places.work + "/", "/workspace/", places.temporary + "/", *places.parts), others=tuple({sys.prefix + "/", sys.base_prefix + "/"} - {"//"}))
    calls = {}
    for call in rules["calls"]:
        module, _, name = call.rpartition(".")
        calls.setdefault(module, []).append(name)
    for module, names in calls.items():
        if module in modules:
            block_calls(modules[module], names)
        else:
            patches.add(module, functools.partial(block_calls, patterns=names))
    if rules["modules"]:
        block_modules(rules["modules"])


def refusal(name):
    advice = next(advice for beginning, advice in ADVICE if name.startswith(beginning))
    return PermissionError(f"{name} is blocked for code that runs with this profile: {advice}")


# ---- callers ----


def is_own(frame):
    """Whether FRAME executes the user's code: the file that was sent, a cell, a file of the workspace, or text that one of them
    had executed."""
    file, names = frame.f_code.co_filename, frame.f_globals
    if file == own["name"] or names.get("__name__") == "__main__":
        return True
    if file.startswith("<"):
        # Libraries have text executed as well: among their own names, as a rule.
        return not file.startswith("<frozen ") and getattr(modules.get(str(names.get("__name__"))), "__dict__", None) is not names
    # A path that begins nowhere was given by the code itself: runpy.run_path("part.py").
    return not file.startswith("/") or file.startswith(own["folders"]) and not file.startswith(own["others"])


def asker():
    """The frame that called who calls this, but for the gates that a guard puts before names (guarded.py)."""
    frame = get_frame(2)
    while frame.f_globals.get("__name__") == GATES:
        frame = frame.f_back
    return frame


def knows(code, names, name, function):
    return name in code.co_names or name in code.co_varnames or name in code.co_freevars or any(value is function for value in names.values())


def is_asked(frame, name, function):
    """Whether it was the user's code that called FUNCTION, called NAME, by way of FRAME or had it called."""
    while frame is not None:
        if is_own(frame):
            return True
        if knows(frame.f_code, frame.f_globals, name, function):
            return False
        frame = frame.f_back
    return True


# ---- functions ----


def block_calls(module, patterns):
    """PATTERNS are names in MODULE, perhaps with a * at their end."""
    names, title = vars(module), module.__name__
    for name in expand(title, names, patterns):
        thing = names.get(name)
        if isinstance(thing, type):
            block_class(thing, f"{title}.{name}")
        elif callable(thing):
            function = names[name] = blocked_function(thing, name, f"{title}.{name}")
            # The parts of posix in os are also reachable there.
            origin = getattr(modules.get(getattr(thing, "__module__", None)), "__dict__", {})
            if origin.get(name) is thing:
                origin[name] = function


def expand(title, names, patterns):
    """The NAMES of the module TITLE that PATTERNS are for."""
    found = set()
    text = None
    for pattern in patterns:
        if not pattern.endswith("*"):
            found.add(pattern)
            continue
        text = text or (NAMES_OF_OS if title == "os" else "\n" + "\n".join(names) + "\n")
        beginning = "\n" + pattern[:-1]
        at = text.find(beginning)
        while at >= 0:
            end = text.index("\n", at + 1)
            found.add(text[at + 1 : end])
            at = text.find(beginning, end)
    return found


def blocked_function(function, name, title):
    def call(*arguments, **options):
        if is_asked(get_frame(1), name, call):
            raise refusal(title)
        return function(*arguments, **options)

    # All that others look at; more would write to more pages.
    call.__name__ = call.__qualname__ = name
    call.__module__ = getattr(function, "__module__", None)
    more = getattr(function, "__dict__", None)
    if more:
        call.__dict__.update(more)
    return call


def block_class(kind, title):
    """Making one is what is blocked."""
    try:
        kind.__init__ = blocked_function(kind.__init__, kind.__name__, title)
    except TypeError:  # a class written in C
        pass


# ---- modules ----


class Curtain(ModuleType):
    """Stands before a module."""

    def __init__(self, real):
        ModuleType.__init__(self, real.__name__)
        object.__setattr__(self, "real", real)

    def __getattribute__(self, name):
        real = read(self, "real")
        value = getattr(real, name)
        # Names of Python's own tell nothing, and are looked at in every module by who searches them all. Compiled libraries have
        # no frames; that it is not they who ask, is seen by the name in the code.
        if name == "__dict__" or not (name.startswith("__") and name.endswith("__")):
            frame = asker()
            if is_own(frame) and (name in frame.f_code.co_names or name in frame.f_code.co_consts or name == "__dict__"):
                raise refusal(real.__name__)
        return value

    def __setattr__(self, name, value):
        setattr(read(self, "real"), name, value)

    def __delattr__(self, name):
        delattr(read(self, "real"), name)

    def __dir__(self):
        return dir(read(self, "real"))


def who_asks_importlib(frame):
    """The frame that called a function of importlib; the first one where nobody did, since then it was an import."""
    first = frame
    while frame.f_back is not None and frame.f_code.co_filename.startswith("<frozen "):
        frame = frame.f_back
    if not is_importlib(frame):
        return first
    while frame.f_back is not None and is_importlib(frame):
        frame = frame.f_back
    return frame


def is_importlib(frame):
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "importlib" and not frame.f_code.co_filename.startswith("<frozen ")


def find(name):
    """The blocked module that NAME is or lies in, or None."""
    while name and name not in blocked:
        name = name.rpartition(".")[0]
    return name or None


def draw(name):
    real = modules.get(name)
    if type(real) is ModuleType:
        modules[name] = Curtain(real)


class Watch:
    """Sees who has a module loaded in other ways than by an import."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if find(name) and is_own(who_asks_importlib(get_frame(1))):
            raise refusal(find(name))


def watched_import(name, globals=None, locals=None, fromlist=(), level=0):
    """In place of __import__."""
    found = find(name) if level == 0 and isinstance(name, str) else None
    asked = is_own(asker())
    if found and asked:
        raise refusal(found)
    module = real_import(name, globals, locals, fromlist, level)
    if found:
        draw(found)
    return read(module, "real") if type(module) is Curtain and not asked else module


watched_import.__name__ = watched_import.__qualname__ = "__import__"


def block_modules(names):
    blocked.update(names)
    builtins.__import__ = watched_import
    for name in names:
        draw(name)
    sys.meta_path.insert(0, Watch)
