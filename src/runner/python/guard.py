# SPDX-License-Identifier: Apache-2.0
"""The guard: code is held against the rules of its profile before any of it runs.

The rules are data (README.md, docs/guard.md). One pass over the syntax tree finds every violation. What only shows while the
code runs, such as a text that is put together and then names an attribute, is met by guarded.py: the tree that comes back calls
its gates there. The guard is a promise to the caller about what code does; what holds a sandbox is the kernel."""

import ast
import builtins
import io
import re
import tokenize

DEPTH_MAX = 200  # of what is nested
LINKS_MAX = 600  # of the tree as it is: Python's compiler walks it by calls, of which it has a thousand with those before it
VIOLATIONS_MAX = 100
TEXT_MAX = 120
NUMBER_BITS = 4096  # constants are worked out up to this size

# Names of gates in the tree that is run. Code cannot say them: they are no identifiers.
FORMAT_GATE, TEXT_GATE, RANGE_GATE, ARGUMENT_GATE, MODULE_GATE = "<format>", "<text>", "<range>", "<argument>", "<module>"
FORMATS = frozenset(("format", "format_map"))
# Methods with an argument that no code may give. An array that is resized without a look at its references frees memory that
# others still show: what is put there next is then read as objects.
ARGUMENTS = {"resize": "refcheck"}

# How syntax is called in violations, where its class is not what people say; and what to do instead.
NODES = {
    "Import": ("import", "Nothing can be imported{modules}."),
    "ImportFrom": ("import", "Nothing can be imported{modules}."),
    "While": ("while", "Use a for loop over a range or over the data."),
    "With": ("with", "Call what is needed directly."),
    "AsyncWith": ("with", "Call what is needed directly."),
    "Lambda": ("lambda", "Use a def, or a method of the data such as map with a dict."),
    "Global": ("global", "Give values to functions as arguments and take them back as results."),
    "Nonlocal": ("nonlocal", "Give values to functions as arguments and take them back as results."),
    "Raise": ("raise", "Print what is wrong."),
    "Try": ("try", "Test for what might go wrong beforehand."),
    "TryStar": ("try", "Test for what might go wrong beforehand."),
}
DUNDER = "Names with two leading underscores are Python's own and cannot be used."
PRIVATE = "What begins with an underscore is a library's own; use what it offers under a plain name."
NESTING = "Put parts into variables, or write it flatter."
CHAIN = "Put parts into variables, or what is added up into a list."
SIZE = "Compute it in another way: a result of this size could not be shown."

# Fields of nodes that hold identifiers, or lists of them, beside Name, Attribute and imports.
IDENTIFIERS = {
    getattr(ast, kind): field
    for kind, field in (
        ("FunctionDef", "name"),
        ("AsyncFunctionDef", "name"),
        ("ClassDef", "name"),
        ("arg", "arg"),
        ("ExceptHandler", "name"),
        ("Global", "names"),
        ("Nonlocal", "names"),
        ("MatchAs", "name"),
        ("MatchStar", "name"),
        ("MatchMapping", "rest"),
        ("TypeVar", "name"),
        ("ParamSpec", "name"),
        ("TypeVarTuple", "name"),
    )
    if hasattr(ast, kind)
}
# What people write one after the other, and the tree has inside one another: the field of a node in which the part before it
# is, and which nodes go on there. Operators of one level need no parentheses; ** is not among them, it nests to the right.
LEVELS = {
    operator: number
    for number, names in enumerate(("Add Sub", "Mult Div FloorDiv Mod MatMult", "LShift RShift", "BitAnd", "BitOr", "BitXor"))
    for operator in (getattr(ast, name) for name in names.split())
}
POSTFIXES = (ast.Attribute, ast.Subscript, ast.Call)
CHAINS = {ast.BinOp: "left", ast.Attribute: "value", ast.Subscript: "value", ast.Call: "func"}
MATCH_CLASS = getattr(ast, "MatchClass", ())
NAMED, PASSED_ON = frozenset(("agg", "aggregate")), frozenset((None, "args", "kwargs", "kwds", "func"))
TOO_NESTED = ("too many nested parentheses", "too many statically nested blocks", "too many levels of indentation")
FIELD_OF_DUNDER = re.compile(r"\{[^{}]*[.\[]\s*__")
LOCAL_TAG = "__pd_eval_local_"  # what pandas puts in the place of an "@"


class Refused(Exception):
    """Code that breaks its profile's rules. It did not run."""

    error = None  # its message, unless made from the violations

    def __init__(self, violations):
        super().__init__(violations[0]["text"])
        self.violations = violations


class Words:
    """Patterns as a profile has them: words, a star for anything, "!" before those that are not meant."""

    __slots__ = ("words", "prefixes", "others", "spared")

    def __init__(self, words):
        self.spared = frozenset(word[1:] for word in words if word[0] == "!")
        self.words = frozenset(word for word in words if "*" not in word)
        patterns = [word for word in words if "*" in word]
        self.prefixes = tuple(word[:-1] for word in patterns if word.index("*") == len(word) - 1)
        others = [word for word in patterns if word.index("*") < len(word) - 1]
        self.others = re.compile("|".join(re.escape(word).replace(r"\*", ".*") for word in others)).fullmatch if others else None

    def __contains__(self, word):
        # A class made of str may have a startswith of its own.
        if word in self.words or str.startswith(word, self.prefixes) or (self.others is not None and self.others(word)):
            return word not in self.spared
        return False


ALL = Words(["*"])


def by_module(paths):
    """The names in PATHS ("stats.norm"), by what is before the last dot."""
    names = {}
    for path in paths:
        alias, _, name = path.rpartition(".")
        names.setdefault(alias, set()).add(name)
    return names


class Rules:
    """A profile's rules. What is made of them is made when it is first asked for: an expression asks for little, and whatever a
    process touches first costs it a page of memory."""

    def __init__(self, given):
        self.given = given
        self.expression = given.get("mode") == "expression"
        self.nodes = frozenset(self.words("refused_nodes"))
        self.formats = given.get("format_attributes") != "allowed"
        self.max_depth = given.get("max_depth", DEPTH_MAX)
        self.tables = given.get("tables", False)

    def words(self, key):
        return self.given.get(key, "").split()

    def __getattr__(self, name):
        value = MADE[name](self)
        setattr(self, name, value)
        return value

    def offers(self, name):
        """Whether there is the builtin NAME, if Python has it."""
        return name[:2] != "__" and name not in self.hidden and (self.offered is None or name in self.offered)

    def is_gated(self, name):
        """Whether the attribute NAME is looked at when it is called."""
        return (self.formats and name in FORMATS) or name in self.named_calls or name in self.text_methods or name in ARGUMENTS

    def names_of(self, alias):
        """The names of the module that code knows as ALIAS, where the rules say which there are; else all."""
        return self.module_names.get(alias, ALL)

    def names_known(self):
        return sorted([*(self.offered or ()), *self.modules])


MADE = {
    "names": lambda rules: Words(rules.words("refused_names")),
    "attributes": lambda rules: Words([word for word in rules.words("refused_attributes") if "." not in word]),
    "paths": lambda rules: Words([word for word in rules.words("refused_attributes") if "." in word]),
    "calls": lambda rules: Words(rules.words("refused_calls")),
    "imports": lambda rules: Words(rules.words("allowed_imports")) if "allowed_imports" in rules.given else None,
    "text_methods": lambda rules: frozenset(rules.words("text_methods")),
    "named_calls": lambda rules: frozenset(rules.words("named_calls")),
    "queries": lambda rules: frozenset(rules.words("queries")),
    "submodules": lambda rules: frozenset(rules.words("submodules")),
    "hidden": lambda rules: frozenset(rules.words("hidden_builtins")),
    "offered": lambda rules: frozenset(rules.words("builtins")) if "builtins" in rules.given else None,
    "module_names": lambda rules: by_module(rules.words("module_names")),
    "modules": lambda rules: dict(word.split("=", 1) if "=" in word else (word, word) for word in rules.words("modules")),
}


def check(code, name, rules, known=()):
    """The syntax tree of CODE, as it may run under RULES, where the names KNOWN have values, and the names that it reads. Refused
    tells every violation; SyntaxError is Python's."""
    if rules.given.get("mode") == "javascript":
        raise ValueError("JavaScript is for runs alone, neither for sessions nor for analyses")
    finding = Check(code, rules, known)
    tree = finding.parse(name)
    if tree is not None:
        finding.walk(tree)
    if finding.violations:
        raise Refused(sorted(finding.violations, key=lambda found: (found["line"], found["column"]))[:VIOLATIONS_MAX])
    if rules.expression:
        tree = ast.Expression(tree.body[0].value)
    if finding.gates:
        put_gates(tree, finding.gates)
    return tree, {node.id for node in finding.loaded}


class Check:
    def __init__(self, code, rules, known):
        self.code, self.rules = code, rules
        self.lines, self.blanks = None, 0  # blanks that were taken from the first line
        self.violations, self.told = [], set()
        self.known, self.bound, self.loaded = frozenset(known), set(), []
        self.paths, self.ranges = [], []
        self.spoken_for = set()  # nodes that another one's rule has looked at
        self.instead = {}  # of lambdas by identity: what to write in their place
        self.gates = {}

    # ---- telling ----

    def add(self, rule, node, text, hint=None):
        line, column = (getattr(node, "lineno", 1), getattr(node, "col_offset", 0)) if node is not None else (1, 0)
        key = rule, line, column, text
        if key in self.told or len(self.violations) > 10 * VIOLATIONS_MAX:
            return
        self.told.add(key)
        if column:
            column = len(self.line(line).encode()[:column].decode(errors="ignore"))
        column += self.blanks if line == 1 else 0
        text = text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."
        self.violations.append({"rule": rule, "line": line, "column": column, "text": text, "hint": hint})

    def line(self, number):
        if self.lines is None:
            self.lines = self.code.split("\n")
        return self.lines[number - 1] if number <= len(self.lines) else ""

    def source(self, node):
        """The first line of what NODE was written as."""
        line = self.line(getattr(node, "lineno", 1)).encode()
        end = node.end_col_offset if getattr(node, "end_lineno", None) == node.lineno else None
        return line[node.col_offset : end].decode(errors="ignore").strip()

    def modules(self):
        return f"; {', '.join(self.rules.modules)} are there already" if self.rules.modules else ""

    # ---- the text ----

    def parse(self, name):
        """The tree, or None where the parser itself gave up."""
        rules = self.rules
        code = code_given = self.code
        if rules.expression:
            code = code.lstrip(" \t")  # as eval() does
            self.code, self.blanks = code, len(code_given) - len(code)
        if "max_lines" in rules.given:
            count = len(code.splitlines())
            if count > rules.given["max_lines"]:
                self.add("lines", None, f"{count} lines", f"At most {rules.given['max_lines']} lines are run at once.")
        try:
            tree = ast.parse(code, name)
        except (MemoryError, RecursionError):
            self.add("nesting", None, "the code is nested deeper than Python can read", NESTING)
            return None
        except SyntaxError as error:
            if error.msg and error.msg.startswith(TOO_NESTED):
                self.violations.append({"rule": "nesting", "line": error.lineno or 1, "column": 0, "text": error.msg, "hint": NESTING})
                return None
            if self.violations:
                return None
            raise
        if rules.expression and (len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr)):
            self.only_an_expression(tree)
        return tree

    def only_an_expression(self, tree):
        hint = "Write one expression, without assignments, imports or other statements."
        if not tree.body:
            self.add("expression", None, "there is no expression", hint)
        for statement in tree.body:
            if not isinstance(statement, ast.Expr):
                self.add("expression", statement, self.source(statement), hint)
        if len(tree.body) > 1:
            self.add("expression", tree.body[1], self.source(tree.body[1]), hint)

    # ---- the tree ----

    def walk(self, tree):
        deepest, nodes = self.rules.max_depth, self.rules.nodes
        waiting = [(tree, 0, 0)]  # depth counts a chain once, links count all
        while waiting:
            node, depth, links = waiting.pop()
            kind = type(node)
            if depth > deepest or links > LINKS_MAX:
                place = node if hasattr(node, "lineno") else None
                if depth > deepest:
                    self.add("nesting", place, f"more than {deepest} levels deep", NESTING)
                else:
                    self.add("nesting", place, f"a chain of more than {LINKS_MAX} links", CHAIN)
                continue
            if nodes and kind.__name__ in nodes and not self.imports_given(node):
                self.refuse_node(node, kind.__name__)
            look = LOOKS.get(kind)
            if look is not None:
                look(self, node)
            links += 1
            chained = CHAINS.get(kind)
            for field in kind._fields:
                value = getattr(node, field, None)
                if isinstance(value, ast.AST):
                    if value._fields or type(value).__name__ in nodes:
                        waiting.append((value, depth if field == chained and goes_on(node, value) else depth + 1, links))
                elif isinstance(value, list):
                    waiting += [(item, depth + 1, links) for item in value if isinstance(item, ast.AST)]
        self.look_at_names()
        self.look_at_paths()
        if "range" not in self.bound:
            for node in self.ranges:
                self.look_at_range(node)

    def refuse_node(self, node, kind):
        rule, hint = NODES.get(kind, (kind.lower(), None))
        hint = self.instead.get(id(node), hint)
        if hint is not None:
            hint = hint.replace("{modules}", self.modules())
        self.add(rule, node if hasattr(node, "lineno") else None, self.source(node) if hasattr(node, "lineno") else kind, hint)

    def name(self, node, name):
        """An identifier, wherever it stands."""
        if name in self.rules.names:
            hint = DUNDER if name.startswith("__") else f"{name} is not available here{self.modules()}."
            self.add("name", node, name, hint)
            return False
        return True

    def attribute(self, node, name):
        if name in self.rules.attributes:
            column = f"; a column of that name is df[{name!r}]" if self.rules.tables else ""
            hint = DUNDER if name.startswith("__") else PRIVATE if name.startswith("_") else f"The attribute {name} is not available here{column}."
            self.add("attribute", node, "." + name, hint)
            return False
        return True

    def on_name(self, node):
        if self.name(node, node.id):
            if isinstance(node.ctx, ast.Load):
                self.loaded.append(node)
            else:
                self.bound.add(node.id)

    def on_identifier(self, node):
        names = getattr(node, IDENTIFIERS[type(node)])
        for name in [names] if isinstance(names, str) else names or ():
            if self.name(node, name):
                self.bound.add(name)

    def imports_given(self, node):
        """Whether NODE is an import of nothing but modules that code has, under the names that it has them by."""
        if self.rules.expression or not isinstance(node, (ast.Import, ast.ImportFrom)):
            return False
        return all(self.rules.modules.get(bound) == module for bound, module in imported(node))

    def on_import(self, node):
        if self.imports_given(node):
            self.gates[id(node)] = MODULE_GATE
            return
        allowed = self.rules.imports
        refused = type(node).__name__ in self.rules.nodes
        origin = "." * getattr(node, "level", 0) + (node.module or "") if isinstance(node, ast.ImportFrom) else None
        for alias in node.names:
            self.bound.add(alias.asname or alias.name.partition(".")[0])
            module = origin if origin is not None else alias.name
            if not refused and allowed is not None and module not in allowed:
                known = ", ".join(self.rules.words("allowed_imports"))
                self.add("import", node, module, f"Only these can be imported: {known}." if known else f"Nothing can be imported{self.modules()}.")
            for name in (*module.split("."), *alias.name.split("."), alias.asname):
                if name and name != "*":
                    self.name(node, name)

    def on_attribute(self, node):
        load = isinstance(node.ctx, ast.Load)
        if id(node) in self.spoken_for:
            return
        path = dotted(node)
        if path is not None and path in self.rules.paths:
            self.add("attribute", node, path, f"{path} is not available here.")
        elif self.attribute(node, node.attr) and path is not None:
            self.paths.append((node, path))
        if self.rules.expression and not load:
            self.add("expression", node, self.source(node), "An attribute cannot be set.")
        if load and self.rules.formats and node.attr in FORMATS:
            self.gates[id(node)] = FORMAT_GATE
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                self.look_at_format(node.value)
        elif load and node.attr in self.rules.named_calls:
            self.gates[id(node)] = TEXT_GATE
        elif load and node.attr in ARGUMENTS:
            self.gates[id(node)] = ARGUMENT_GATE
        elif load and node.attr in self.rules.text_methods:
            self.add("file", node, "." + node.attr, "Call it where it stands, without a place to write to; it gives the text.")

    def on_assign(self, node):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(node.value, ast.Lambda) and isinstance(target, ast.Name):
            self.instead[id(node.value)] = as_def(target.id, node.value)

    def on_subscript(self, node):
        if self.rules.expression and not isinstance(node.ctx, ast.Load):
            self.add("expression", node, self.source(node), "An item cannot be set.")

    def on_call(self, node):
        called = node.func
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else None
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg.startswith("__"):
                self.name(node, keyword.arg)
            if isinstance(keyword.value, ast.Lambda) and keyword.arg is not None and isinstance(called, ast.Attribute) and name == "assign":
                self.instead[id(keyword.value)] = in_place(called.value, keyword)
            if keyword.arg is not None and keyword.arg == ARGUMENTS.get(name):
                self.add("call", node, f"{name}({keyword.arg}=)", f"{name}() takes no {keyword.arg} here.")
        if name is None:
            return
        if name in self.rules.calls or (dotted(called) or name) in self.rules.calls:
            self.add("call", node, dotted(called) or name, f"{name}() cannot be called here.")
        if isinstance(called, ast.Attribute):
            if name in self.rules.text_methods:
                self.spoken_for.add(id(called))
                self.attribute(called, name)
                if any(not is_none(value) for value in (*node.args[:1], *targets(node))):
                    self.add("file", node, self.source(called), f"No file can be written; without a place to write to, {name}() gives the text.")
            if name in self.rules.queries:
                for text in (*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "expr")):
                    if isinstance(text, ast.Constant) and isinstance(text.value, str):
                        for rule, found in query_faults(text.value, self.rules):
                            self.add(rule, text, found, "The text of a query or an expression keeps to the same rules as the code.")
        if name in self.rules.named_calls or name in ("getattr", "hasattr", "setattr", "delattr"):
            for text in constants(node, name):
                self.attribute(text, text.value)
        if isinstance(called, ast.Name):
            if name == "range":
                self.ranges.append(node)
            elif name == "pow" and len(node.args) == 2:
                self.look_at_power(node, *node.args)
            elif name == "type" and len(node.args) + len(node.keywords) > 1:
                self.add("call", node, "type", "Write a class statement.")

    def on_constant(self, node):
        value = node.value
        if isinstance(value, str) and "__" in value and self.rules.formats and FIELD_OF_DUNDER.search(value):
            self.add("format", node, value, "A format string cannot reach attributes.")

    def on_match_class(self, node):
        for name in node.kwd_attrs:
            if self.attribute(node, name) and self.rules.is_gated(name):
                self.add("attribute", node, "." + name, "A pattern cannot take this method; call it where it is needed.")

    def on_operation(self, node):
        operator = type(node.op)
        if operator in (ast.Pow, ast.LShift):
            self.look_at_power(node, node.left, node.right)
        elif operator is ast.Mult:
            self.look_at_repeat(node)

    def look_at_format(self, node):
        for attribute in format_attributes(node.value):
            self.add("format", node, "{" + attribute + "}", "A format string cannot reach attributes; an f-string can: f'{day.year}'.")

    # ---- at the end, when it is known what the code itself binds ----

    def look_at_names(self):
        rules = self.rules
        for node in self.loaded:
            name = node.id
            # Unknown names are Python's own NameError.
            if name in self.bound or name in self.known or name in rules.modules or rules.offers(name) or not hasattr(builtins, name):
                continue
            known = f" There are: {', '.join(rules.names_known())}." if "builtins" in rules.given else ""
            self.add("name", node, name, f"{name} is not available here.{known}")

    def look_at_paths(self):
        """What is not among a module's names that the code gets."""
        for node, path in self.paths:
            root, _, rest = path.partition(".")
            if root not in self.rules.modules or root in self.bound:
                continue
            from adder_runner import guarded

            if guarded.is_withheld(self.rules, root, rest):
                self.add("attribute", node, path, f"{path} is not available here.")

    def look_at_range(self, node):
        most = self.rules.given.get("max_range")
        if most is None:
            return
        numbers = [number(value) for value in node.args]
        if numbers and None not in numbers and len(numbers) <= 3:
            start, stop, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
            if step and (stop - start) // step > most:
                self.add("range", node, self.source(node), f"A range may have at most {most} steps (max_range).")
        self.gates[id(node.func)] = RANGE_GATE

    def look_at_power(self, node, left, right):
        most = self.rules.given.get("max_power_bits")
        if most is None:
            return
        base, exponent = number(left), number(right)
        if base is None or exponent is None or exponent < 0:
            return
        bits = exponent + base.bit_length() if isinstance(getattr(node, "op", None), ast.LShift) else abs(base).bit_length() * exponent
        if bits > most and (abs(base) > 1 or isinstance(getattr(node, "op", None), ast.LShift) and base):
            self.add("power", node, self.source(node), f"The number would have more than {most} bits (max_power_bits). {SIZE}")

    def look_at_repeat(self, node):
        most = self.rules.given.get("max_repeat")
        if most is None:
            return
        size = length(node)
        if size is not None and size > most:
            self.add("repeat", node, self.source(node), f"The result would have {size} items; at most {most} (max_repeat). {SIZE}")


LOOKS = {
    ast.Name: Check.on_name,
    ast.Attribute: Check.on_attribute,
    ast.Subscript: Check.on_subscript,
    ast.Call: Check.on_call,
    ast.Constant: Check.on_constant,
    ast.BinOp: Check.on_operation,
    ast.Assign: Check.on_assign,
    ast.AnnAssign: Check.on_assign,
    ast.NamedExpr: Check.on_assign,
    ast.Import: Check.on_import,
    ast.ImportFrom: Check.on_import,
    **{kind: Check.on_identifier for kind in IDENTIFIERS},
}
if MATCH_CLASS:
    LOOKS[MATCH_CLASS] = Check.on_match_class


def put_gates(tree, gates):
    """Puts calls of guarded.py's gates into TREE where the check found that only running code shows what is meant."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                value[:] = [gated(item, gates) for item in value]
                waiting += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                value = gated(value, gates)
                setattr(node, field, value)
                waiting.append(value)


def gated(node, gates):
    # Taken out: a node that is made next may have the identity of the one that it stands for.
    gate = gates.pop(id(node), None)
    if gate is None:
        return node
    if gate == MODULE_GATE:
        return given(node)
    name = ast.copy_location(ast.Name(gate, ast.Load()), node)
    if gate == RANGE_GATE:
        return name
    attribute = ast.copy_location(ast.Constant(node.attr), node)
    return ast.copy_location(ast.Call(name, [node.value, attribute], []), node)


def given(node):
    """What runs for NODE, an import of modules that code has: nothing is imported, the names get what they stand for."""
    names = [bound for bound, _ in imported(node)]
    calls = [ast.Call(ast.Name(MODULE_GATE, ast.Load()), [ast.Constant(name)], []) for name in names]
    target = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
    assignment = ast.Assign([target], ast.Tuple(calls, ast.Load()))
    for part in ast.walk(assignment):
        ast.copy_location(part, node)
    return assignment


# ---- what a tree says ----


def imported(node):
    """For each name that NODE, an import, binds: the name, and the module that is asked for."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"
        else:
            yield alias.asname or alias.name.partition(".")[0], alias.name


def goes_on(node, value):
    """Whether VALUE, which NODE has in its field of CHAINS, is an earlier part of the same chain."""
    if isinstance(node, ast.BinOp):
        return isinstance(value, ast.BinOp) and type(node.op) in LEVELS and LEVELS[type(node.op)] == LEVELS.get(type(value.op))
    return isinstance(value, POSTFIXES)


def dotted(node):
    """"pd.io.common" for the attribute it is, None for one of something that is no name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def is_short(node):
    """Whether NODE can be written into a hint; and it is not nested deeper than its text is long."""
    return node.lineno == node.end_lineno and node.end_col_offset - node.col_offset <= TEXT_MAX


def as_def(name, function):
    """What to write instead of NAME = FUNCTION, a lambda."""
    if not is_short(function):
        return f"Write a def called {name}."
    return f"Write: def {name}({ast.unparse(function.args)}): return {ast.unparse(function.body)}"


def in_place(frame, column):
    """What to write instead of FRAME.assign(COLUMN=lambda frame: ...)."""
    function, given = column.value, column.value.args.args
    body = "..."
    if isinstance(frame, ast.Name) and len(given) == 1 and is_short(function):
        named = ast.parse(ast.unparse(function.body), mode="eval")
        for node in ast.walk(named):
            if isinstance(node, ast.Name) and node.id == given[0].arg:
                node.id = frame.id
        body = ast.unparse(named)
    return f"Assign the expression in place: {frame.id if isinstance(frame, ast.Name) else 'df'}[{column.arg!r}] = {body}"


def is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def targets(node):
    """Arguments of a call that say where to write, or may."""
    return [keyword.value for keyword in node.keywords if keyword.arg in (None, "path_or_buf", "buf", "path", "fname")]


def constants(node, name):
    """The texts among the arguments of a call that stand for attributes by their names."""
    if name in ("pivot_table", "crosstab"):
        values = [*node.args[3:], *(keyword.value for keyword in node.keywords if keyword.arg == "aggfunc")]
    elif name.endswith("attr"):
        values = node.args[1:2]
    else:
        values = [*node.args, *(keyword.value.elts[1] if is_pair(keyword, name) else keyword.value for keyword in node.keywords)]
    while values:
        value = values.pop()
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value
        elif isinstance(value, (ast.List, ast.Tuple, ast.Set)):
            values += value.elts
        elif isinstance(value, ast.Dict):
            values += value.values


def is_pair(keyword, name):
    """agg(most=("size", "max")): the first is a column."""
    return name in NAMED and keyword.arg not in PASSED_ON and isinstance(keyword.value, ast.Tuple) and len(keyword.value.elts) == 2


def number(node, depth=0):
    """The whole number that NODE says, as far as it can be told beforehand."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if depth > 20:
        return None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = number(node.operand, depth + 1)
        return -value if value is not None and isinstance(node.op, ast.USub) else value
    if not isinstance(node, ast.BinOp):
        return None
    left, right = number(node.left, depth + 1), number(node.right, depth + 1)
    if left is None or right is None:
        return None
    operator, bits = type(node.op), left.bit_length() + right.bit_length()
    if operator is ast.Add and bits < NUMBER_BITS:
        return left + right
    if operator is ast.Sub and bits < NUMBER_BITS:
        return left - right
    if operator is ast.Mult and bits < NUMBER_BITS:
        return left * right
    if operator is ast.FloorDiv and right:
        return left // right
    if operator is ast.Pow and right >= 0 and left.bit_length() * right < NUMBER_BITS:
        return left**right
    if operator is ast.LShift and 0 <= right < NUMBER_BITS:
        return left << right
    return None


def length(node, depth=0):
    """How many items a text, a list or a tuple has that is written out and repeated."""
    if isinstance(node, ast.Constant):
        return len(node.value) if isinstance(node.value, (str, bytes)) else None
    if isinstance(node, (ast.List, ast.Tuple)):
        return len(node.elts)
    if isinstance(node, ast.JoinedStr):
        return 1
    if depth > 20 or not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return None
    for repeated, times in ((node.left, node.right), (node.right, node.left)):
        size, count = length(repeated, depth + 1), number(times)
        if size is not None and count is not None:
            return size * max(count, 0)
    return None


def format_attributes(text, depth=0):
    """The attributes that the format string TEXT reaches, ".name" each."""
    import _string

    try:
        for _, field, spec, _ in _string.formatter_parser(text):
            if field:
                yield from ("." + str(key) for is_attribute, key in _string.formatter_field_name_split(field)[1] if is_attribute)
            if spec and depth < 3:
                yield from format_attributes(spec, depth + 1)
    except ValueError:  # which str.format says as well
        return


def query_faults(text, rules):
    """What is wrong with TEXT, an expression for pandas: pairs of rule and what was found. What cannot be read here is left to
    pandas, and to guarded_pandas.py, which looks at the tree that pandas itself has read."""
    try:
        trees = [ast.parse(pandas_text(line.strip())) for line in text.splitlines()]
    except (SyntaxError, tokenize.TokenError, MemoryError, RecursionError, ValueError):
        return []
    return [fault for tree in trees for fault in tree_faults(tree, rules)]


def pandas_text(line):
    """LINE as Python reads it, made by the steps of pandas.core.computation.parsing."""
    tokens, found = tokenize.generate_tokens(io.StringIO(line).readline), []
    for kind, text, start, _, _ in tokens:
        if text == "`":
            end = next((token.start[1] for token in tokens if token.string == "`"), len(line))
            name = line[start[1] + 1 : end]
            found.append((tokenize.NAME, name if name.isidentifier() else "BACKTICK_QUOTED_STRING"))
        else:
            found.append((kind, LOCAL_TAG if text == "@" else text))
    return tokenize.untokenize(found)


def tree_faults(tree, rules):
    """Of TREE, where an "@" became LOCAL_TAG, which pandas takes out of a name wherever it stands."""
    faults = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            name = node.id.replace(LOCAL_TAG, "")
            if name in rules.names:
                faults.append(("name", name))
        elif isinstance(node, ast.Attribute) and (node.attr in rules.attributes or rules.is_gated(node.attr)):
            faults.append(("attribute", "." + node.attr))
        elif isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr)):
            faults.append((type(node).__name__.lower(), type(node).__name__))
    return faults
