# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the guard of a profile with tables: code and expressions for pandas that are made at random, and run without a sandbox.

    PYTHON fuzz/guard.py SECONDS [SEED]    # PYTHON: one with pandas and matplotlib, such as that of the environment science

What the rules refuse is planted where code might come to it: attributes of tables and of an object, a module that can be
imported, a file. Code that reaches one of them, or does anything that raises an event which the rules refuse, has found a
way past the guard. Ends with the figures, and fails when there is a finding. ADDER_RUNNER names another src/runner, ADDER_BUILD
another build than build/, from which the runner's extension is."""

import builtins
import collections
import fnmatch
import io
import json
import os
import pathlib
import random
import sys
import tempfile
import time
import types
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCH = 300  # programs of one process: what they change in libraries ends with it
SECRETS = ("__secret__", "_secret", "mro", "to_pickle", "f_globals")

found = []  # what the program that runs now has reached


# ---- the guard, as a sandbox has it ----


def load_runner():
    runner = types.ModuleType("adder_runner")
    build = pathlib.Path(os.environ.get("ADDER_BUILD", ROOT / "build"))
    runner.__path__ = [os.environ.get("ADDER_RUNNER", str(ROOT / "src/runner")), str(build.resolve() / "src/runner")]
    sys.modules["adder_runner"] = runner


def rules_of(profile):
    import ast

    given = {}
    for line in (ROOT / "profiles" / profile).read_text().split("[guard]")[1].splitlines():
        key, equals, value = (part.strip() for part in line.partition("="))
        if equals:
            given[key] = int(value) if value.isdigit() else value == "true" if value in ("true", "false") else value
    patterns = given["refused_nodes"].split()
    given["refused_nodes"] = " ".join(name for name in vars(ast) if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns))
    given["tables"] = False
    return {key: value for key, value in given.items() if (key, value) != ("format_attributes", "refused")}


# ---- what is planted ----


def secret(name):
    return property(lambda self: found.append(f"attribute {name}"))


class Probe:
    plain = 1

    def __repr__(self):
        return "a probe"


def plant(directory):
    import pandas
    from pandas.core.groupby import GroupBy
    from pandas.core.window.rolling import Rolling

    for kind in (Probe, pandas.DataFrame, pandas.Series, GroupBy, Rolling):
        for name in SECRETS:
            setattr(kind, name, secret(name))
    builtins.planted = found  # for the module, which marks that it was imported
    (directory / "planted_backend.py").write_text("import builtins\nbuiltins.planted.append('module planted_backend')\ndef plot(*a, **k): pass\n")
    sys.path.insert(0, str(directory))
    rows = {"a": [1, 2, 3], "open": [3.5, 1.0, 2.0], "a b": [1, 0, 1], "k": ["x", "y", "x"]}
    return {"df": pandas.DataFrame(rows), "s": pandas.Series([1, 2, 3], index=["a", "b", "c"]), "p": Probe()}


running = False  # whether it is a program that does what is done


def listen(rules):
    """The events that the runner's extension, which is asked before, lets through."""
    from adder_runner import denials

    refused = guard.Words(rules.words("refused_events"))
    guarded.prepare()

    def hook(event, arguments):
        if running and event in refused and not is_fine(event, arguments) and denials.caller() != denials.IMPORT:
            found.append(f"event {event} {str(arguments)[:80]}")

    sys.addaudithook(hook)


def is_fine(event, arguments):
    """Reading what Python is made of, and no more than using what is open."""
    if event not in ("open", "os.listdir", "os.scandir"):
        return False
    path, flags = arguments[0], arguments[2] if len(arguments) > 2 else 0
    if event == "open" and isinstance(path, int):
        return True
    return isinstance(path, str) and flags & os.O_ACCMODE == os.O_RDONLY and (path + "/").startswith(tuple(guarded.roots))


# ---- what is made ----


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self, *choices):
        return self.random.choice(choices)

    def any_of(self, *makers):
        return self.random.choice(makers)()

    def name(self):
        """What may stand behind a dot."""
        return self.one(*SECRETS, "secret", "a", "T", "sum", "values", "agg", "apply", "pipe", "map", "str", "plain", "index", "dtype", "type", "plot", "eval", "query", "format", "rename")

    def text(self):
        """A text with a name in it, put together so that the check of the code sees it, or does not."""
        return self.spelled(self.any_of(self.name, self.expression, self.format, lambda: self.one("planted_backend", "mean", "{0.__secret__}")))

    def spelled(self, text):
        if len(text) > 1 and self.random.random() < 0.6:
            at = self.random.randrange(1, len(text))
            return f"({text[:at]!r} + {text[at:]!r})"
        return f"Text({text!r})" if self.random.random() < 0.3 else repr(text)

    def format(self):
        return "{" + self.one("0", "", "x", "0[0]") + self.one(".", "!r.", "[a].") + self.one(*SECRETS) + self.one("", ":{0._secret}", "!s") + "}"

    def names(self):
        """Texts in what pandas takes for many."""
        text = self.text()
        return self.one(text, f"[{text}]", f"({text},)", f"{{{text}}}", f"{{'a': {text}}}", f"pd.Index([{text}])", f"pd.Series([{text}])", f"pd.Series({{'a': {text}}})", f"np.array([{text}])", f"{{'a': {text}}}.values()", f"{{{text}: 1}}.keys()", f"(t for t in [{text}])", f"{{'a': [{text}]}}", f"pd.array([{text}])", f"map(str, [{text}])", f"np.str_({text})", f"pd.Categorical([{text}])", f"reversed([{text}])", f"[[[[[[{text}]]]]]]")

    def subject(self):
        return self.one("df", "s", "p", "df.groupby('k')", "df.groupby('k')['a']", "df['a']", "df.rolling(2)", "s.rolling(2)", "df[['a']]", "[].append", "pd.DataFrame", "pd.Series", "type(df)", "np.arange(3)", "df.T", "'{0}'", "pd", "np", "type", "str", "df.set_index(pd.date_range('2020', periods=3)).resample('D')", "len", "np.ndarray", "pd.options.plotting")

    def call(self):
        names, text, subject = self.names(), self.text(), self.subject()
        return self.one(
            f"{subject}.agg({names})",
            f"{subject}.agg({names}, 1)",
            f"{subject}.aggregate(func={names})",
            f"{subject}.agg(x={names})",
            f"{subject}.agg(x=('a', {text}))",
            f"{subject}.apply({names})",
            f"{subject}.apply({self.one('agg', 'eval', 'query', 'apply', 'pipe', 'transform', 'plot')!r}, args=({names},))",
            f"{subject}.transform({names})",
            f"df.pivot_table(index='k', aggfunc={names})",
            f"pd.crosstab(df['k'], df['a'], values=df['a'], aggfunc={names})",
            f"{subject}.pipe({self.subject()}.{self.name()}, {names})",
            f"{subject}.map({self.subject()}.{self.name()})",
            f"list(map({self.one('getattr', 'hasattr', 'df.agg', 'df.eval', 'df.query', 'type', 'str.format', 's.agg')}, [{subject}], [{names}]))",
            f"getattr({subject}, {text})",
            f"getattr({subject}, {text})({names})",
            f"hasattr({subject}, {text})",
            f"setattr(p, {text}, 1)",
            f"{text}.format({subject}, x=p)",
            f"{text}.format_map({{'x': p}})",
            f"str.format({text}, {subject})",
            f"s.map({text}.format)",
            f"format(p, {text})",
            f"{subject}.rolling(2, win_type={text}).mean()",
            f"{subject}.eval({self.query()})",
            f"{subject}.query({self.query()}, level={self.one(-2, -1, 0, 1, 2, 5)})",
            f"{subject}.eval({self.query()}, engine='python', parser={self.one('pandas', 'python')!r})",
            f"df.groupby('k').apply(pd.DataFrame.eval, {self.query()})",
            f"pd.Series([{self.query()}]).map(df.{self.one('eval', 'query')})",
            f"df.{self.one('plot', 'hist', 'boxplot', 'plot.line')}(backend={text})",
            f"pd.set_option({self.one('plotting.backend', 'backend', 'display.width')!r}, {text})",
            f"np.ndarray((1,), object, np.array([id(p)])).{self.name()}",
            f"pd.Series({{{text}: p}}).{self.name()}",
            f"np.asarray(pd.Series({{{text}: p}}))",
            f"df.select_dtypes({text})",
            f"df.astype({text})",
            f"df.interpolate(method={text})",
            f"df.corr(method={text})",
            f"df.groupby('k').plot(kind={text})",
            f"df.plot(kind={text}, style={text}, colormap={text})",
            f"df.to_csv({text})",
            f"getattr(df, 'to_' + 'csv')({text})",
            f"df.join({names})",
            f"df.sort_values(by='a', key={self.subject()}.{self.name()})",
            f"df.reindex(columns={names}).{self.name()}",
            f"df.style.format({text})",
            f"df.itertuples(name={text})",
        )

    def expression(self):
        """Text for pandas: soup of what it and Python read as tokens, around what would be a finding."""
        core = self.one("@p", "a", "@df", "@s.index", "@pd", "df", "k.str", "@o", "`a b`", "@f") + "." + self.name() + self.one("", "", "()", "(1)", "('mean')", ".plain")
        parts = [self.one("`", "'`'", '"`"', "'''`'''", "'", '"', "@", "a", "open", " ", "+", "==", "&", "(", ")", "[", "]", "# ", ",", "`a b`", "\n", "\\", "1", "x = ", ".", "__pd_eval_local_", "f'", "rb'", "if", "lambda: ", "in", "not ", "\t", ";", "{", "}") for _ in range(self.random.randrange(5))]
        return self.one(core, "".join([*parts[:2], core, *parts[2:]]), f'"`" + {core} + "`"', f'a == "`" and {core} == "`"', f'x = a.rename("`").{self.name()}.rename("`")', f"`{core}`", f"{parts}[{core}]", f"a.agg({self.name()!r})", f"@getattr(@p, {self.name()!r})", f"a + a.map({core})")

    def query(self):
        return self.any_of(lambda: self.spelled(self.expression()), lambda: repr(self.expression()), lambda: f"{self.text()} + {self.text()}")

    def statement(self):
        call, name = self.call(), self.name()
        return self.one(
            call,
            f"x = {call}",
            f"x = {self.subject()}\nx.{name}",
            f"print({call})",
            f"f = {self.subject()}.{name}\nf({self.names()})",
            f"for o in [{call}]:\n    print(o)",
            f"def f(o):\n    return o.{name}\nf(p)",
            f"def f(o, t={self.text()}):\n    return getattr(o, t)\ndf.pipe(f)",
            f"class Made(pd.DataFrame):\n    {name} = {self.subject()}\nMade().{self.name()}",
            f"class Made(metaclass={self.subject()}):\n    {name} = 1",
            f"match {self.subject()}:\n    case object({name}=o):\n        o({self.names()})",
            f"[o.{name} for o in [{self.subject()}]]",
            f"pd.options.plotting.backend = {self.text()}",
            f"p.{name} = {call}",
            f"assert {call}",
        )

    def asked(self):
        """An expression for a table, where one is wanted."""
        return f"{self.one('df', 'df', 'df.copy()', 'df.T')}.{self.one('eval', 'query')}({self.query()})"

    def taken(self):
        """Names for what takes names."""
        many = self.one("df", "s", "df[['a']]", "df.groupby('k')", "df.groupby('k')['a']", "s.rolling(2)", "df.set_index(pd.date_range('2020', periods=3)).resample('D')")
        return f"{many}.{self.one('agg', 'apply', 'transform', 'aggregate')}({self.names()})"

    def program(self):
        text = "class Text(str):\n    def startswith(self, *words): return False\n    def replace(self, *words): return self\no = p\n"
        return text + "\n".join(self.any_of(self.asked, self.taken, self.statement) for _ in range(self.random.randrange(1, 3)))


# ---- what is run ----


def run(code, request, planted):
    """How the program CODE ended."""
    try:
        made = guarded.Code({**request, "code": code})
        made.furnish()
        made.main.__dict__.update({name: value.copy() if hasattr(value, "copy") else value for name, value in planted.items()})
    except guard.Refused:
        return "refused"
    except (SyntaxError, ValueError):
        return "unreadable"
    global running
    written, sys.stdout = sys.stdout, io.StringIO()
    try:
        running = True
        made.run()
        return "ran"
    except PermissionError:
        return "stopped"
    except Exception:
        return "failed"
    finally:
        running = False
        sys.stdout = written


def batch(seed, request, planted):
    """Runs the programs of SEED, and tells how often each end came and what was found, as JSON."""
    maker, ends, findings = Maker(seed), collections.Counter(), []
    guarded.refuse_events(guard.Rules(request["guard"]))
    guarded.refuse_events = lambda rules: None  # they hold for the rest of this process
    for _ in range(BATCH):
        code = maker.program()
        found.clear()
        ends[run(code, request, planted)] += 1
        if found:
            findings.append({"seed": seed, "found": sorted(set(found)), "code": code})
    return json.dumps({"ends": ends, "findings": findings}).encode()


def in_child(work):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            with open(writer, "wb") as file:  # before anything is refused
                file.write(work())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        told = file.read()
    os.waitpid(pid, 0)
    return json.loads(told) if told else None


def main(seconds, seed):
    rules = rules_of("analysis.conf")
    request = {"guard": rules, "name": "main.py", "values": dict.fromkeys(("df", "s", "p"))}
    with tempfile.TemporaryDirectory() as directory:
        planted = plant(pathlib.Path(directory))
        listen(guard.Rules(rules))
        os.chdir(directory)
        ends, findings, died, end = collections.Counter(), [], [], time.monotonic() + seconds
        while time.monotonic() < end:
            told = in_child(lambda: batch(seed, request, planted))
            if told is None:
                died.append(seed)
            else:
                ends.update(told["ends"])
                findings += told["findings"]
            seed += 1
    for finding in findings[:20]:
        print(f"\n{finding['found']} (seed {finding['seed']})\n{finding['code']}")
    print(f"{sum(ends.values())} programs in {seconds} s: {dict(ends)}; {len(findings)} findings; seeds whose process died: {died}")
    return 1 if findings or died else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not all(word.isdigit() for word in sys.argv[1:]):
        sys.exit("usage: guard.py SECONDS [SEED]")
    warnings.simplefilter("ignore")
    os.environ.setdefault("MPLBACKEND", "agg")
    load_runner()
    import matplotlib.pyplot  # noqa: F401
    import pandas  # noqa: F401

    from adder_runner import guard, guarded

    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 1))
