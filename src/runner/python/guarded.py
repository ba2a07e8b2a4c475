# SPDX-License-Identifier: Apache-2.0
"""Code that the guard let through runs with what its profile gives it: some builtins, some modules' names, gates where only
running code shows what is meant."""

import builtins
import importlib.util
import os
import sys
import types

from adder_runner import execution, guard, places, table_read, tracebacks

# C code of libraries imports by the builtins of whoever called it: strptime, JSON's errors, named characters, long numbers.
# What it finds so, code itself cannot name.
OF_LIBRARIES = ("_strptime", "time", "_pydatetime", "re", "json", "unicodedata", "_pylong", "copyreg", "warnings", "decimal", "numbers", "encodings", "dateutil", "pytz", "zoneinfo", "pyarrow")

ruling = None  # the rules that hold in this process


class ReadOnly(types.ModuleType):
    """A module as code gets it: with the names that the rules offer, each found when it is first asked for. numpy loads parts of
    itself when they are looked at."""

    def __setattr__(self, name, value):
        raise AttributeError(f"{self.__name__} can only be read")

    def __delattr__(self, name):
        raise AttributeError(f"{self.__name__} can only be read")

    def __getattr__(self, name):
        if self not in behind:  # one that code made for itself
            raise AttributeError(f"there is nothing called {name}")
        module, alias = behind[self]
        if isinstance(module, str):
            module = import_real(module)
            behind[self] = module, alias
        if not is_there(module, name):
            raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")
        if not is_offered(ruling, module, alias, name):
            raise AttributeError(f"{alias}.{name} is not available here")
        value = getattr(module, name)
        if module.__name__ == "scipy.stats":
            value = import_real("adder_runner.guarded_stats").shown(value)
        elif isinstance(value, types.ModuleType):
            value = read_only(value, f"{alias}.{name}")
        elif isinstance(value, type) and value in refused_classes:
            value = uncalled(value)
        vars(self)[name] = value
        return value

    def __repr__(self):
        return f"<module '{self.__name__}'>"


behind = {}  # the modules that these show, and what the code calls them


# ---- modules ----


def import_real(name):
    __import__(name)
    return sys.modules[name]


def is_there(module, name):
    return name in vars(module) or name in dir(module)


def is_public(rules, module, name):
    """Whether MODULE says so; of one that a rule names every name is, for some packages list but a part."""
    listed = getattr(module, "__all__", None)
    if listed is not None and name in listed:
        return True
    return not name.startswith("_") and (listed is None or module.__name__ in rules.submodules)


def is_offered(rules, module, alias, name):
    """Whether NAME of MODULE, which the code knows as ALIAS, is the code's to use."""
    if not is_public(rules, module, name) or name in rules.attributes or f"{alias}.{name}" in rules.paths:
        return False
    if name not in rules.names_of(alias):
        return False
    loaded = name in vars(module)
    value = vars(module).get(name)
    if loaded and not isinstance(value, types.ModuleType):
        return True
    return (value.__name__ if loaded else f"{module.__name__}.{name}") in rules.submodules


def is_withheld(rules, alias, path):
    """Whether the attribute PATH ("io.common") of what the code knows as ALIAS is there, but not for it."""
    try:
        module = import_real(rules.modules[alias])
    except ImportError:
        return False
    for name in path.split("."):
        if not isinstance(module, types.ModuleType) or not is_there(module, name):
            return False
        if not is_offered(rules, module, alias, name):
            return True
        module, alias = getattr(module, name), f"{alias}.{name}"
    return False


def read_only(module, alias):
    """What code gets for MODULE, which it knows as ALIAS; for a name, a module that is loaded when it is first looked at."""
    for shown, known in behind.items():
        if known == (module, alias):
            return shown
    shown_name = module if isinstance(module, str) else module.__name__
    shown = ReadOnly(shown_name)
    names = vars(shown)
    names.clear()
    names["__name__"] = shown_name
    behind[shown] = module, alias
    return shown


# ---- gates ----


def refuse(what):
    raise PermissionError(f"{what} is refused by the rules of this profile")


def format_gate(value, name):
    """The method NAME (format, format_map) of VALUE, which for texts reaches no attributes."""
    found = getattr(value, name)
    if isinstance(value, str):

        def checked(*arguments, **named):
            look_at_format(value)
            return found(*arguments, **named)

        return checked
    if isinstance(value, type) and issubclass(value, str):

        def checked_unbound(text, *arguments, **named):
            if isinstance(text, str):
                look_at_format(text)
            return found(text, *arguments, **named)

        return checked_unbound
    return found


def look_at_format(text):
    for attribute in guard.format_attributes(text):
        refuse(f"the format string's {attribute}")


def argument_gate(value, name):
    """The method NAME of VALUE without the argument that guard.ARGUMENTS has for it."""
    found = getattr(value, name)

    def checked(*arguments, **named):
        if guard.ARGUMENTS[name] in named:
            refuse(f"{name}({guard.ARGUMENTS[name]}=)")
        return found(*arguments, **named)

    return checked if callable(found) else found


def text_gate(value, name):
    """The method NAME of VALUE, one that takes other methods by their names."""
    found = getattr(value, name)

    def checked(*arguments, **named):
        if name in ("pivot_table", "crosstab"):
            texts = [*arguments[3:], named.get("aggfunc")]
        else:
            pairs = [item[1] if is_pair(name, key, item) else item for key, item in named.items()]
            texts = [*arguments, *pairs]
        look_at_texts(texts, 0)
        return found(*arguments, **named)

    return checked


def is_pair(name, key, item):
    """agg(most=("size", "max")): the first is a column."""
    return name in guard.NAMED and key not in guard.PASSED_ON and isinstance(item, tuple) and len(item) == 2


def look_at_texts(values, depth):
    """Those that stand for themselves or in what Python has for many; guarded_pandas.py looks at all the others."""
    for value in values:
        if isinstance(value, str):
            if plain(value) in ruling.attributes:
                refuse(f".{plain(value)}")
        elif depth < 5 and isinstance(value, (list, tuple, set, frozenset)):
            look_at_texts(value, depth + 1)
        elif depth < 5 and isinstance(value, dict):
            look_at_texts(value.values(), depth + 1)


def range_gate(*arguments):
    steps = range(*arguments)
    # len() cannot say more than a machine's word.
    most_steps = ruling.given["max_range"]
    if steps and (steps[-1] - steps[0]) // steps.step + 1 > most_steps:
        raise ValueError(f"{steps!r} has more than {most_steps} steps (max_range)")
    return steps


def module_gate(alias):
    """What code gets for the module that it knows as ALIAS."""
    return read_only(import_real(ruling.modules[alias]), alias)


GATES = {
    guard.FORMAT_GATE: format_gate,
    guard.TEXT_GATE: text_gate,
    guard.RANGE_GATE: range_gate,
    guard.ARGUMENT_GATE: argument_gate,
    guard.MODULE_GATE: module_gate,
}


def plain(name):
    """NAME as an exact text: one of a class made of str answers as its class likes."""
    return str.__str__(name) if isinstance(name, str) else name


def attribute_name(name):
    """NAME, which the rules let through."""
    name = plain(name)
    if isinstance(name, str) and name in ruling.attributes:
        refuse(f".{name}")
    return name


def checked_getattr(value, name, *default):
    name = attribute_name(name)
    if isinstance(name, str):
        if ruling.formats and name in guard.FORMATS:
            return format_gate(value, name)
        if name in ruling.named_calls:
            return text_gate(value, name)
        if name in guard.ARGUMENTS:
            return argument_gate(value, name)
    return getattr(value, name, *default)


def checked_hasattr(value, name):
    return hasattr(value, attribute_name(name))


def checked_setattr(value, name, item):
    setattr(value, attribute_name(name), item)


def checked_delattr(value, name):
    delattr(value, attribute_name(name))


class Uncalled(type):
    """The class of a class that is shown in the place of a real one: it serves to ask what something is, and makes nothing."""

    def __call__(cls, *arguments, **named):
        refuse(f"{cls.__name__}()")

    def __instancecheck__(cls, value):
        return type.__instancecheck__(instead_of.get(cls, cls), value)

    def __subclasscheck__(cls, kind):
        return type.__subclasscheck__(instead_of.get(cls, cls), kind)

    def __repr__(cls):
        return repr(instead_of[cls]) if cls in instead_of else type.__repr__(cls)


refused_classes = set()  # those that refused_calls names
shown_for, instead_of = {}, {}  # some of them and what is shown for them


def uncalled(real):
    """What is shown for the class REAL."""
    if real not in shown_for:
        # Made of the real one, so that ndarray.view takes it; what comes of that looks as it would without a guard.
        names = {"__repr__": lambda self: repr(self.view(real))} if hasattr(real, "view") else {}
        shown = Uncalled(real.__name__, (real,), names)
        shown_for[real], instead_of[shown] = shown, real
    return shown_for[real]


def settle_calls(rules):
    """An object of a class can be there before anybody has asked for the class by its name."""
    for path in rules.calls.words:
        alias, _, name = path.partition(".")
        found = getattr(sys.modules.get(rules.modules.get(alias)), name, None)
        if isinstance(found, type):
            refused_classes.add(found)


class Kinds(type):
    """The class of what code knows as type."""

    def __call__(cls, value):
        kind = builtins.type(value)
        return cls if issubclass(kind, builtins.type) else uncalled(kind) if kind in refused_classes else kind

    def __instancecheck__(cls, value):
        return isinstance(value, builtins.type)

    def __subclasscheck__(cls, kind):
        return issubclass(kind, builtins.type)


class checked_type(metaclass=Kinds):
    """type, of one value: a class that is made by a call has names that nothing looked at."""


checked_type.__name__ = checked_type.__qualname__ = "type"

CHECKED = {"type": checked_type, "getattr": checked_getattr, "hasattr": checked_hasattr, "setattr": checked_setattr, "delattr": checked_delattr}


def importer(rules):
    """__import__ for code whose import statements were checked, and for C code of libraries, which asks for it by name."""
    real = builtins.__import__

    def __import__(name, names=None, locals=None, fromlist=(), level=0):
        if "Import" in rules.nodes or rules.imports is not None and name not in rules.imports:
            root = name.partition(".")[0]
            if root not in OF_LIBRARIES and root not in {given.partition(".")[0] for given in rules.modules.values()}:
                raise ImportError(f"{name} cannot be imported under the rules of this profile")
            return real(name, names, locals, fromlist, level)
        module = real(name, names, locals, fromlist, level)
        alias = next((alias for alias, given in rules.modules.items() if given == module.__name__), None)
        return module if alias is None else read_only(module, alias)

    return __import__


# ---- tables ----


def read_tables():
    """The tables among the files that were given, by name, in the order of their names."""
    names = [name for name in sorted(os.listdir(places.work)) if name.lower().endswith(table_read.ENDINGS)]
    found = ((name, inner, frame) for name in names for inner, frame, _ in table_read.load(os.path.join(places.work, name)))
    return {name if inner is None else f"{name}.{inner}": frame for name, inner, frame in found}


# ---- events ----


roots = None  # of what Python is made of


def find_roots():
    """To be called before code can have changed sys.path."""
    global roots
    found = {sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), "/usr/share/zoneinfo", "/usr/lib", tracebacks.RUNNER, *sys.path}
    roots = [root.rstrip("/") + "/" for root in found if root and not root.startswith(places.work)]
    roots.append(os.devnull + "/")


def refuse_events(rules):
    """From here on events are refused as RULES say, until this process ends: there is no way back (watch.c)."""
    words = rules.words("refused_events")
    if not words:
        return
    from adder_runner import _adder

    if roots is None:
        find_roots()
    temporary = places.temporary + "/"
    _adder.refuse_events(words, roots, list(tracebacks.user_places()), [temporary, temporary + "output/"])


def prepare():
    """To be called in the zygote: what checks and the modules of expressions need is there when the first comes."""
    if "pandas" in sys.modules:
        import_real("adder_runner.analysis")
        import_real("adder_runner.columns")
        import_real("adder_runner.guarded_pandas")
        import_real("pandas.core.computation.eval")
    if "_quickjs" in sys.modules:
        import_real("adder_runner.javascript").prepare()
    for name in ("_string", "datetime", "decimal", "fractions", "json", "re", "statistics"):
        import_real(name)
    rules = guard.Rules({"mode": "expression", "refused_attributes": "_*", "modules": "math", "max_repeat": 10, "max_range": 10, "max_power_bits": 10})
    tree, _ = guard.check("str(len('a' * 2)).format(*[2 ** 2 for x in range(3)])", "main.py", rules)
    compile(tree, "main.py", "eval", dont_inherit=True)
    furnish({}, rules)
    find_roots()


# ---- the whole ----


def furnish(names, rules, used=None, tables=None):
    """Puts into NAMES, of the module that code runs in, what RULES give: of modules and tables those alone that are USED, or
    all. TABLES were read before; without them, those among the run's files are."""
    global ruling
    ruling = rules
    # Where those that there are were said, others are not even looked at.
    names_of_builtins = used if used is not None and rules.offered is not None else vars(builtins)
    offered = {name: CHECKED.get(name) or getattr(builtins, name) for name in names_of_builtins if hasattr(builtins, name) and rules.offers(name)}
    offered["__build_class__"] = builtins.__build_class__
    offered["__import__"] = importer(rules)
    offered.update(GATES)
    names["__builtins__"] = offered
    for alias, name in rules.modules.items():
        if used is not None and alias not in used:
            continue
        if used is not None or name in sys.modules:
            names[alias] = read_only(import_real(name), alias)
        elif importlib.util.find_spec(name.partition(".")[0]):  # a session need not pay for what it may not use
            names[alias] = read_only(name, alias)
    if rules.tables:
        furnish_tables(names, used, tables)
    if "refused_calls" in rules.given:
        settle_calls(rules)
    if (rules.queries or rules.named_calls) and "pandas" in sys.modules:
        from adder_runner import guarded_pandas

        guarded_pandas.watch(rules)


def given_of(rules):
    """What code handles the columns of tables with, where there are any."""
    if not rules.tables:
        return {}
    from adder_runner import columns, queries

    return {**columns.GIVEN, "sql": queries.sql}


def furnish_tables(names, used, tables):
    from adder_runner import queries

    names.update((name, given) for name, given in given_of(ruling).items() if used is None or name in used)
    queries.variables = names
    if tables is None and used is not None and used.isdisjoint(("df", "dfs", "sql")):
        return
    tables = read_tables() if tables is None else tables
    if tables or used is not None:
        names["dfs"] = tables
    if tables:
        names["df"] = next(iter(tables.values()))


def lift_digits():
    """Python bounds the digits of a number as text, against the time that takes, and says how to lift that: by sys, which is not to be
    had here. Time has the profile's limits."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)


def rules_of(request):
    """What holds for the code of REQUEST, of a run or a session."""
    rules = guard.Rules(request["guard"])
    if rules.tables:
        from adder_runner import queries

        queries.memory_bytes = request["memory_bytes"]
    return rules


class Code:
    """The code of REQUEST, which keeps to its rules: Refused tells what does not."""

    def __init__(self, request):
        lift_digits()
        self.rules, name = rules_of(request), request["name"]
        self.values = request.get("values", {})
        code = request["code"].removeprefix("\ufeff")
        self.main = execution.make_main(code, name)
        tree, self.used = guard.check(code, name, self.rules, self.values)
        if self.rules.expression:
            self.body, self.tail = None, compile(tree, name, "eval", dont_inherit=True)
        else:
            self.body, self.tail = execution.compile_parts_of(tree, name)

    def furnish(self, tables=None):
        names = self.main.__dict__
        furnish(names, self.rules, self.used, tables)
        names.update(self.values)

    def run(self):
        """Its names, and the value of its last expression."""
        refuse_events(self.rules)
        names = self.main.__dict__
        if self.body:
            exec(self.body, names)
        return names, eval(self.tail, names) if self.tail else None


def run(request, outcome):
    """Checks the code of REQUEST and, unless no more was asked for, runs it; OUTCOME gets its value."""
    if request["guard"].get("mode") == "javascript":
        from adder_runner import javascript

        return javascript.run(request, outcome)
    code = Code(request)
    if request.get("check"):
        return
    code.furnish()
    _, value = code.run()
    (outcome.say if code.rules.expression else outcome.show)(value)
