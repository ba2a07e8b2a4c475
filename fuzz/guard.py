# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the guard of a profile with tables: code and expressions for pandas that are made at random, and run without a sandbox.

    PYTHON fuzz/guard.py SECONDS [SEED] [--cover]    # PYTHON: one with pandas and matplotlib, such as that of the environment science

What the rules refuse is planted where code might come to it: attributes of tables and of an object, a module that can be
imported, a file. Code that reaches one of them, or does anything that raises an event which the rules refuse, has found a
way past the guard. Ends with the figures, and fails when there is a finding. ADDER_RUNNER names another src/runner/python, ADDER_BUILD
another build than build/, from which the runner's extension is. --cover tells which part of the guard's own code was run."""

import builtins
import collections
import dis
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

COVERED = ("guard.py", "guarded.py", "guarded_pandas.py", "guarded_stats.py")

found = []  # what the program that runs now has reached


# ---- the guard, as a sandbox has it ----


def load_runner():
    runner = types.ModuleType("adder_runner")
    build = pathlib.Path(os.environ.get("ADDER_BUILD", ROOT / "build"))
    runner.__path__ = [os.environ.get("ADDER_RUNNER", str(ROOT / "src/runner/python")), str(build.resolve() / "src/runner")]
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
    given["tables"] = True
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
    from matplotlib.artist import Artist
    from matplotlib.axis import Ticker
    from matplotlib.ticker import TickHelper

    charts = (Artist, Ticker, TickHelper)
    for kind in (Probe, pandas.DataFrame, pandas.Series, GroupBy, Rolling, *charts):
        for name in SECRETS:
            if name != "mro" or kind not in charts:  # matplotlib itself asks for that
                setattr(kind, name, secret(name))
    plant_in_stats()
    builtins.planted = found  # for the module, which marks that it was imported
    (directory / "planted_backend.py").write_text("import builtins\nbuiltins.planted.append('module planted_backend')\ndef plot(*a, **k): pass\n")
    sys.path.insert(0, str(directory))
    rows = {"a": [1, 2, 3], "open": [3.5, 1.0, 2.0], "a b": [1, 0, 1], "k": ["x", "y", "x"]}
    return {"df": pandas.DataFrame(rows), "s": pandas.Series([1, 2, 3], index=["a", "b", "c"]), "p": Probe()}


STATISTICS = "ttest_ind ttest_1samp pearsonr kstest ks_1samp cramervonmises probplot anderson boxcox binned_statistic linregress describe mode zscore chi2_contingency f_oneway entropy ecdf percentileofscore quantile".split()


def is_of_code(frame):
    return running and guard.FORMAT_GATE in frame.f_builtins


def plant_in_stats():
    """Distributions that code makes or changes are a finding, for scipy makes code of their texts; so are functions and texts with
    methods of their own that come to what scipy offers."""
    import functools

    import scipy.stats
    from scipy.stats._distn_infrastructure import rv_frozen, rv_generic

    def change(self, name, value):
        if is_of_code(sys._getframe(1)):
            found.append(f"attribute {name} of a distribution is set")
        object.__setattr__(self, name, value)

    def made(real):
        def init(self, *words, **named):
            if is_of_code(sys._getframe(1)):
                found.append("a distribution is made")
            real(self, *words, **named)

        return init

    def looked(name, real):
        @functools.wraps(real)
        def look(*words, **named):
            for value in (*words, *named.values()):
                its = getattr(value, "__self__", value)
                if callable(value) and not isinstance(its, (rv_generic, rv_frozen)) or isinstance(value, str) and type(value) is not str:
                    found.append(f"{type(value).__name__} given to stats.{name}")
            return real(*words, **named)

        return look

    for kind in {rv_generic, rv_frozen, *(type(value) for value in vars(scipy.stats).values() if isinstance(value, rv_generic))}:
        kind.__setattr__ = change
        if "__init__" in vars(kind):
            kind.__init__ = made(kind.__init__)
    for kind in (rv_generic, rv_frozen):
        for name in SECRETS:
            setattr(kind, name, secret(name))
    for name in STATISTICS:
        setattr(scipy.stats, name, looked(name, getattr(scipy.stats, name)))


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


# ---- what of the guard's own code is run ----


class Cover:
    """Lines, and both ways of each conditional jump of the byte code."""

    def __init__(self, paths):
        self.paths = {str(path): path.name for path in paths}
        self.lines, self.ways, self.jumps = set(), set(), {}

    def start(self):
        for path in self.paths:
            self.learn(compile(pathlib.Path(path).read_text(), path, "exec", dont_inherit=True))
        sys.settrace(self.call)

    def key(self, code):
        return self.paths[code.co_filename], code.co_name, code.co_firstlineno

    def learn(self, code):
        jumps, begin = {}, None
        for step in dis.get_instructions(code):
            begin = step.offset if begin is None else begin  # what makes an argument longer comes first, and is one step with it
            if step.opname != "EXTENDED_ARG":
                if "_IF_" in step.opname or step.opname == "FOR_ITER":
                    jumps[begin] = step.offset
                begin = None
        self.jumps[self.key(code)] = jumps, {line for _, _, line in code.co_lines() if line}
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.learn(constant)

    def call(self, frame, event, argument):
        code = frame.f_code
        if code.co_filename not in self.paths:
            return None
        frame.f_trace_opcodes = True
        key, last = self.key(code), None
        jumps = self.jumps[key][0]
        self.lines.add((key[0], frame.f_lineno))

        def step(frame, event, argument):
            nonlocal last
            if event == "line":
                self.lines.add((key[0], frame.f_lineno))
            elif event == "opcode":
                if last in jumps:
                    self.ways.add((*key, last, frame.f_lasti))
                last = frame.f_lasti
            return step

        return step

    def take(self):
        """What was found, as JSON has it."""
        return {"lines": sorted(self.lines), "ways": sorted(self.ways)}

    def add(self, told):
        self.lines.update(map(tuple, told["lines"]))
        self.ways.update(map(tuple, told["ways"]))

    def report(self):
        for name in self.paths.values():
            known = [made for key, made in self.jumps.items() if key[0] == name]
            lines, ways = set().union(*(lines for _, lines in known)), 2 * sum(len(jumps) for jumps, _ in known)
            reached = {line for file, line in self.lines if file == name}
            taken = len([way for way in self.ways if way[0] == name])
            print(f"{name}: {len(lines & reached)} of {len(lines)} lines, {taken} of {ways} branches; not lines {sorted(lines - reached)}")


cover = None


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
        return self.one(*SECRETS, "secret", "a", "T", "sum", "values", "agg", "apply", "pipe", "map", "str", "plain", "index", "dtype", "type", "plot", "eval", "query", "format", "rename", "sqrt", "fromfile")

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

    def mark(self):
        """A format of any kind there is: of numbers, of times, of charts, of texts."""
        if self.random.random() < 0.6:
            return "{" + self.one("0", "x", "x", "") + "." + self.one("conjugate", self.one(*SECRETS)) + self.one("", "", "!r", ":>5", ".real", "[0]") + "}"
        field = self.one("", "0", "x", "pos")
        spec = self.one("", ".2f", ",", ">10", "^{0}", "{x}", ".{1}f", "{0.__secret__}", "{x._secret}", "%Y", "n", "#x", "=+08,.3e", "*<{p}")
        return self.one(
            "{" + field + self.one("", "!r", "!s", "!a") + self.one("", ":") + spec + "}",
            "{" + field + "[" + self.one("0", "__secret__", "a.b", "'__secret__'") + "]" + self.one("", "." + self.one(*SECRETS)) + "}",
            "%" + self.one("(x)", "(__secret__)", "(0.__secret__)", "", "*") + self.one(".2f", "d", "s", "r", "10.3e", "c", "%"),
            self.one("%Y-%m", "%B %d", "%-d", "%{0.__secret__}", "%Ex"),
            "$" + self.one("\\frac{a}{b}", "{x.__secret__}", "\\mathdefault{__secret__}", "a_{_secret}", "\\text{0}") + "$",
            self.one("r--o", "k.", "C0", "--{0.__secret__}", "bo-", "", "none"),
            spec,
        )

    def marked(self):
        """A mark in place of a text, or what makes a text of a value."""
        mark = self.spelled(self.mark())
        if self.random.random() < 0.7:
            return mark
        return self.one(f"{mark}.format", f"({mark}).format_map", f"str.format", f"({mark} % p)", f"({mark} + '{{0.__secret__}}')", f"[{mark}]", f"{{'a': {mark}}}", f"getattr({mark}, 'for' + 'mat')")

    def chart(self):
        mark, more, text, name = self.marked(), self.marked(), self.text(), self.name()
        kind = self.one("line", "bar", "barh", "hist", "box", "kde", "area", "pie", "scatter", "hexbin", self.mark())
        options = {
            "style": more,
            "title": more,
            "label": more,
            "color": more,
            "cmap": text,
            "marker": more,
            "linestyle": more,
            "autopct": more,
            "xlabel": "p",
            "ylabel": text,
            "legend": "'reverse'",
            "subplots": "True",
            "logy": self.one("True", "'sym'", text),
            "secondary_y": self.names(),
            "table": self.one("True", "df"),
            "x": self.one("'a'", text),
            "y": self.one("'a'", text),
            "by": text,
            "hatch": text,
            "bins": self.one("3", text),
            "weights": text,
            "fontsize": text,
            "ax": self.one("p", "a"),
            "backend": text,
            "include_bool": text,
            name: "p",
        }
        given = ", ".join(f"{key}={options[key]}" for key in self.random.sample(sorted(options), self.random.randrange(4)) if key.isidentifier())
        plotted = self.one("df", "s", "df.groupby('k')['a']") + f".plot(kind={kind!r}, {given})"
        if self.random.random() < 0.5:
            plotted = "df.plot()"
        elif self.random.random() < 0.5:
            plotted = f"df.{self.one('plot.bar', 'plot', 'hist', 'boxplot', 'plot.pie', 'plot.scatter')}({given})"
        if self.random.random() < 0.5:
            act = self.one(
                f"a.{self.one('xaxis', 'yaxis')}.set_{self.one('major', 'minor')}_formatter({mark})",
                f"a.bar_label(a.bar([1, 2], [3, 4]), fmt={mark})",
                f"a.bar_label(a.bar([1, 2], [3, 4]), labels={self.names()}, fmt={more})",
                f"a.pie([1, 2], autopct={mark}, labels={self.names()})",
                f"a.contour([[1, 2], [2, 1]]).clabel(fmt={mark})",
                f"a.clabel(a.contour([[1, 2], [2, 1]]), fmt={mark})",
            )
        else:
            act = self.one(
                f"a.{self.one('set_title', 'set_xlabel', 'set_ylabel', 'set_label')}({mark}, {self.one('loc', 'fontdict', 'color')}={more})",
                f"a.text({self.one('0, 0, p', '0, 0, ' + mark)})",
                f"a.annotate({mark}, (0, 0))",
                f"a.plot([1, 2, 3], {mark}, label={more})",
                f"a.set(**{{{text}: {mark}}})",
                f"a.{self.one('update', 'set_props', 'get')}({{{text}: p}})",
                f"a.ticklabel_format(style={mark}, axis={more})",
                f"a.tick_params(**{{{text}: {mark}}})",
                f"a.legend({self.names()}, title={mark})",
                f"a.set_xticks([0, 1], labels=[{mark}, {more}])",
                f"a.{self.one('format_coord', 'format_xdata', 'fmt_xdata', 'get_cursor_data')}(p, {mark})",
                f"a.fmt_xdata = {mark}\na.format_coord(1, 2)",
                f"a.figure.{self.one('suptitle', 'text', 'legend', 'colorbar')}({mark})",
                f"a.figure.canvas.{self.one('print_raw', 'print_jpg', 'print_webp', 'print_' + 'tif', 'get_renderer', 'tostring_argb', name)}({self.one(text, '')})",
                f"getattr(a.{self.one('figure', 'xaxis', 'transData', 'figure.canvas')}, {text})",
                f"a.{self.one('figure', 'patch', 'xaxis.major', 'lines[0]', 'texts')}.{name}",
                f"a.set_prop_cycle({mark}, {self.names()})",
                f"a.{self.one('imshow', 'pcolormesh')}([[1]], cmap={text})",
                f"print(a.{self.one('properties()', 'findobj()', 'get_xticklabels()', 'xaxis.get_major_formatter()')})",
            )
        return f"a = {plotted}\na = a if hasattr(a, 'xaxis') else list(a)[0]\n{act}"

    def formatted(self):
        """Values as texts by formats."""
        mark, more, value = self.marked(), self.marked(), self.one("p", "df", "s", "1.5", "'t'", "pd.Timestamp('2020')", "np.float64(2)", "pd.Timedelta(1)")
        quoted = self.mark().replace("'", "").replace("\\", "")
        if self.random.random() < 0.4:
            return self.one(f"print({mark}.format({value}, p, x=p))", f"{mark}.format_map({{'x': {value}}})", f"str.format({mark}, {value}, x=p)", f"list(map({mark}.format, [{value}]))", f"getattr({mark}, 'for' + 'mat')({value}, x=p)")
        return self.one(
            f"format({value}, {mark})",
            f"f'{{p!r:>{{len({more})}}}}'",
            f"f'{{{value}!s:{{{more}}}}}'",
            f"f'{quoted}'",
            f"{mark}.format({value}, p, x=p, pos=1)",
            f"'{{:{{}}}}'.format({value}, {mark})",
            f"'{{0:{{1}}}}'.format({value}, {mark})",
            f"({mark}) % {self.one('p', '(p,)', 'df', 'dict(x=p)', 'dict(x=1.5, secret=p)')}",
            f"s.map({mark})",
            f"df.map({mark})",
            f"s.astype(str).str.{self.one('format', 'cat', 'replace', 'extract', 'join', 'wrap', 'translate')}({mark})",
            f"s.astype(str).str.{self.name()}",
            f"df.to_string(float_format={mark}, formatters={self.one('None', 'dict(a=' + more + ')', '[' + more + ']')})",
            f"df.{self.one('to_html', 'to_csv', 'to_json', 'to_markdown', 'to_latex')}({self.one('float_format', 'date_format', 'floatfmt', 'formatters', 'orient', 'sep')}={mark})",
            f"pd.set_option('display.{self.one('float_format', 'precision', 'html.border', 'date_yearfirst', 'encoding')}', {mark})\nprint(df)",
            f"df.style.format({mark}, subset={more})",
            f"getattr(df, 'sty' + 'le').format({mark})",
            f"np.array2string(np.arange(3), formatter={{'all': {mark}}})",
            f"np.set_printoptions(formatter={{'object': {mark}, 'all': {more}}})\nprint(np.array([p, p]))",
            f"np.char.mod({mark}, [1, 2])",
            f"np.char.{self.one('add', 'replace', 'join', 'translate')}([{mark}], [{more}])",
            f"pd.to_datetime(['2020'], format={mark})",
            f"pd.date_range('2020', periods=2).{self.one('strftime', 'format')}({mark})",
            f"pd.Timestamp('2020').{self.one('strftime', '__format__', 'isoformat')}({mark})",
            f"pd.Period('2020').strftime({mark})",
            f"pd.Series(pd.date_range('2020', periods=2)).dt.strftime({mark})",
            f"print({value}, sep={mark}, end={more})",
            f"list(map({mark}, [{value}]))",
            f"class Field(str):\n    def {self.one('format', 'upper', 'split', 'strip')}(self, *a): return {mark}\nField({more}).format(p)",
        )

    def names(self):
        """Texts in what pandas takes for many."""
        text = self.text()
        return self.one(text, f"[{text}]", f"({text},)", f"{{{text}}}", f"{{'a': {text}}}", f"pd.Index([{text}])", f"pd.Series([{text}])", f"pd.Series({{'a': {text}}})", f"np.array([{text}])", f"{{'a': {text}}}.values()", f"{{{text}: 1}}.keys()", f"(t for t in [{text}])", f"{{'a': [{text}]}}", f"pd.array([{text}])", f"map(str, [{text}])", f"np.str_({text})", f"pd.Categorical([{text}])", f"reversed([{text}])", f"[[[[[[{text}]]]]]]")

    def subject(self):
        return self.one("df", "s", "p", "df.groupby('k')", "df.groupby('k')['a']", "df['a']", "df.rolling(2)", "s.rolling(2)", "df[['a']]", "[].append", "pd.DataFrame", "pd.Series", "type(df)", "np.arange(3)", "df.T", "'{0}'", "pd", "np", "type", "str", "df.set_index(pd.date_range('2020', periods=3)).resample('D')", "len", "np.ndarray", "pd.options.plotting", "stats", self.distribution())

    def distribution(self):
        return self.one("stats.norm", "stats.poisson", "stats.t", "stats.norm(0, 1)", "stats.gamma(2)", "stats.binom(5, 0.5)", "stats.sem", "stats.kstest", "type(stats.norm)", "type(stats.sem)", "type(stats.gamma(2))")

    def statistics(self):
        """Functions and distributions of scipy.stats, with what they do not expect."""
        many, names, text, other = self.distribution(), self.names(), self.text(), self.subject()
        data = self.one("[1.0, 2.0, 4.0]", "s", "df['a']", "df", "np.arange(5.0)", text, other, many)
        function = f"stats.{self.one(*STATISTICS)}"
        methods = ("pdf", "cdf", "ppf", "sf", "rvs", "mean", "stats", "interval", "moment", "fit", "expect", "freeze", "support", "entropy", "shapes", "name", "dist", "a", "random_state", "generic_moment", self.name())
        method = self.one(*methods)
        options = self.one("", f", {self.name()}={data}", f", optimizer={self.one(text, other)}", f", method={self.one(text, other)}", f", dist={self.one(text, many)}", f", args={names}", f", **{{{text}: {data}}}", f", alternative={text}", f", axis={data}", f", plot={other}", f", statistic={self.one(text, other)}", f", random_state={data}", f", nan_policy={text}")
        return self.one(
            f"{function}({data}{options})",
            f"{function}({data}, {self.one(data, text, f'{many}.{method}', many)}{options})",
            f"{many}.{method}",
            f"{many}.{method}({data}{options})",
            f"{many}({data}, {data}{options}).{method}",
            f"{many}(shapes={text}, name={text})",
            f"x = {function}({data}, {data}{options})\nx.{self.name()}",
            f"getattr({self.one('stats', many)}, {text})({data})",
            f"getattr({self.one('stats', many)}, {self.spelled(self.one('rv_continuous', 'bootstrap', 'fit', 'make_distribution', '_real', 'dist'))})({data}, {data})",
            f"setattr({self.one('stats', many)}, {self.one(text, repr('shapes'))}, {text})\n{many}({data})",
            f"{many}.{self.one('shapes', 'name', 'a', self.name())} = {text}\n{many}(1, 2).{method}",
            f"class Made({self.one('type(stats.norm)', 'type(stats.sem)')}):\n    {self.name()} = {other}\nMade({data}, {text}).{method}",
            f"df.groupby('k')['a'].agg({self.one(function, many, f'{many}.{method}')})",
            f"df[['a']].apply({self.one(function, f'{many}.{method}')}{options})",
            f"{other}.pipe({function}, {data}{options})",
            f"list(map({self.one(function, many, f'{many}.{method}', 'type(stats.norm)')}, [{data}], [{data}]))",
        )

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

    def plain(self):
        """What no table is needed for: sizes, names of modules, classes."""
        # Constants, since the guard bounds nothing else: what is larger than it looks ends by the limits of a sandbox.
        number = lambda: self.one("0", "-1", "3", "2 ** 9", "10 ** 9", "1 << 40", "-(7 - 9)", "9 * 9 // 2", "1.5", "True")
        path = self.one("pd", "np") + "".join("." + self.one("api", "types", "linalg", "ma", "random", "core", "io", "common", "errors", "lib", "ctypeslib", "testing", self.name()) for _ in range(self.random.randrange(1, 4)))
        return self.one(
            f"for i in range({number()}, {number()}): pass",
            f"sum(range({number()}))",
            f"x = {number()} ** {number()}",
            f"x = pow({number()}, {number()})",
            f"x = {number()} << {number()}",
            f"x = 'ab' * {number()}",
            f"x = {number()} * [1, (2,), f'{{p}}'] * {number()}",
            path,
            f"{path} = p",
            f"del {path}",
            f"isinstance({self.subject()}, {self.one('np.ndarray', 'type', 'str', 'np.recarray', path)})",
            f"issubclass({self.one('type(df)', 'np.ndarray', 'type(type(df))')}, {self.one('np.ndarray', 'type', 'object')})",
            f"{self.one('type', 'np.ndarray', 'type(np.arange(3))', 'pd.CategoricalDtype.type')}({self.subject()}, (), {{{self.text()}: p}})",
            f"np.arange(3).view({self.one('np.ndarray', 'np.recarray', 'type(p)')})",
            f"np.arange(3).resize({number()}, refcheck={self.one('True', 'False')})",
            f"getattr(np.arange(3), {self.spelled('resize')})(2, **{{{self.spelled('refcheck')}: False}})",
            f"{self.one('setattr', 'hasattr', 'delattr', 'getattr')}({self.one('p', 'df', 'pd', 'Text', 'np.ma')}, {self.text()}, {self.one('p', '1')})",
            f"delattr({self.one('p', 'pd')}, {self.text()})",
            f"import {self.one('os', 'pandas', 'planted_backend')}",
            f"from {self.one('os', 'pandas', '.')} import {self.name()} as {self.name()}",
            f"def {self.name()}({self.name()}, *{self.name()}): return {self.subject()}",
            f"match {self.subject()}:\n    case {self.one('pd.DataFrame', 'str', 'np.ndarray')}({self.name()}=x) | {self.name()}(x):\n        print(x)",
            f"numbers({self.subject()}, {self.text()})",
            f"print(dates(df[{self.text()}]))",
            f"repr(pd), repr(type), repr(np.ndarray), {path}",
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
        return text + "\n".join(self.any_of(self.asked, self.taken, self.statement, self.formatted, self.chart, self.plain, self.statistics) for _ in range(self.random.randrange(1, 3)))


# ---- what is run ----


def run(code, request, planted):
    """How the program CODE ended."""
    try:
        made = guarded.Code({**request, "code": code})
        made.furnish({"sales.csv": planted["df"]})
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
        draw()
        return "ran"
    except PermissionError:
        return "stopped"
    except Exception:
        return "failed"
    finally:
        running = False
        matplotlib.pyplot.close("all")
        sys.stdout = written


def draw():
    """As the runner does at the end: what a chart's format strings are for comes then."""
    for number in matplotlib.pyplot.get_fignums():
        figure = matplotlib.pyplot.figure(number)
        figure.draw_without_rendering()
        if any("<built-in method conjugate" in text.get_text() for text in figure.findobj(matplotlib.text.Text)):
            found.append("attribute of a number, by a chart's format")


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
    return json.dumps({"ends": ends, "findings": findings, "cover": cover and cover.take()}).encode()


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
                if cover:
                    cover.add(told["cover"])
            seed += 1
    for finding in findings[:20]:
        print(f"\n{finding['found']} (seed {finding['seed']})\n{finding['code']}")
    print(f"{sum(ends.values())} programs in {seconds} s: {dict(ends)}; {len(findings)} findings; seeds whose process died: {died}")
    if cover:
        cover.report()
    return 1 if findings or died else 0


if __name__ == "__main__":
    numbers = [word for word in sys.argv[1:] if word != "--cover"]
    if len(numbers) not in (1, 2) or not all(word.isdigit() for word in numbers):
        sys.exit("usage: guard.py SECONDS [SEED] [--cover]")
    warnings.simplefilter("ignore")
    os.environ.setdefault("MPLBACKEND", "agg")
    load_runner()
    import matplotlib.pyplot
    import pandas  # noqa: F401
    import scipy.stats  # noqa: F401

    if "--cover" in sys.argv:
        cover = Cover(pathlib.Path(sys.modules["adder_runner"].__path__[0], name) for name in COVERED)
        cover.start()
    from adder_runner import guard, guarded

    sys.exit(main(int(numbers[0]), int(numbers[1]) if len(numbers) == 2 else 1))
