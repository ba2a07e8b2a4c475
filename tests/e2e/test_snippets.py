# SPDX-License-Identifier: Apache-2.0
"""The profile `snippet`, as an assistant was promised it: what its code may not ask for, what libraries may all the same, and
the small things that people do with it."""
import pytest

from harness import unique

CALLS = [
    ("os.system", "os.system('echo started')"),
    ("os.popen", "print(os.popen('echo started').read())"),
    ("os.execv", "os.execv('/bin/echo', ['echo', 'started'])"),
    ("os.execve", "os.execve('/bin/echo', ['echo', 'started'], {})"),
    ("os.execl", "os.execl('/bin/echo', 'echo', 'started')"),
    ("os.execle", "os.execle('/bin/echo', 'echo', 'started', {})"),
    ("os.execlp", "os.execlp('echo', 'echo', 'started')"),
    ("os.execlpe", "os.execlpe('echo', 'echo', 'started', {})"),
    ("os.execvp", "os.execvp('echo', ['echo', 'started'])"),
    ("os.execvpe", "os.execvpe('echo', ['echo', 'started'], {})"),
    ("os.spawnl", "os.spawnl(os.P_WAIT, '/bin/echo', 'echo', 'started')"),
    ("os.spawnle", "os.spawnle(os.P_WAIT, '/bin/echo', 'echo', 'started', {})"),
    ("os.spawnlp", "os.spawnlp(os.P_WAIT, 'echo', 'echo', 'started')"),
    ("os.spawnlpe", "os.spawnlpe(os.P_WAIT, 'echo', 'echo', 'started', {})"),
    ("os.spawnv", "os.spawnv(os.P_WAIT, '/bin/echo', ['echo', 'started'])"),
    ("os.spawnve", "os.spawnve(os.P_WAIT, '/bin/echo', ['echo', 'started'], {})"),
    ("os.spawnvp", "os.spawnvp(os.P_WAIT, 'echo', ['echo', 'started'])"),
    ("os.spawnvpe", "os.spawnvpe(os.P_WAIT, 'echo', ['echo', 'started'], {})"),
    ("os.posix_spawn", "os.posix_spawn('/bin/echo', ['echo', 'started'], {})"),
    ("os.posix_spawnp", "os.posix_spawnp('echo', ['echo', 'started'], {})"),
    ("shutil.rmtree", "import shutil; shutil.rmtree('/work')"),
    ("subprocess", "import subprocess; subprocess.run(['echo', 'started'])"),
    ("importlib", "import importlib; importlib.import_module('subprocess').run(['echo', 'started'])"),
]


def test_each_call_raises_permission_error(adder):
    lines = ["import os", "def attempt(name, code):", "    try:", "        exec(code)"]
    lines += ["    except PermissionError as error:", "        print(name, str(error).startswith(name + ' is blocked'))"]
    lines += [f"attempt({name!r}, {code!r})" for name, code in CALLS]
    result = adder.run("\n".join(lines), "--profile", "snippet")
    assert result.stdout.splitlines() == [f"{name} True" for name, _ in CALLS], result.stdout
    assert result.outcome == "ok"


@pytest.mark.quick
def test_uncaught_it_is_an_error_with_advice(adder):
    result = adder.run("x = 1\nimport subprocess\nprint('not here')", "--profile", "snippet")
    assert (result.outcome, result.exit_code, result.stdout) == ("error", 1, "")
    assert result.error["type"] == "PermissionError" and result.error["line"] == 2
    assert result.error["message"].startswith("subprocess is blocked") and "in Python itself" in result.error["message"]
    assert "blocked.py" not in result.error["traceback"]


def test_exit_handlers_are_the_users_too(adder):
    result = adder.run("import atexit, os\natexit.register(os.system, 'echo started')", "--profile", "snippet")
    assert "started" not in result.stdout
    assert "PermissionError: os.system is blocked" in result.stderr


LAZY = """
import tempfile
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
import scipy.integrate, scipy.linalg, scipy.optimize, scipy.signal, scipy.stats
import requests, sympy, dateutil.parser

frame = pd.DataFrame({"key": list("abab"), "x": np.arange(4.0)})
print(frame.groupby("key")["x"].sum().to_dict())
frame.to_parquet("t.parquet"), frame.to_excel("t.xlsx"), frame.to_csv("t.csv"), frame.to_json(), frame.to_string()
print(len(pd.read_parquet("t.parquet")), len(pd.read_excel("t.xlsx")), len(pd.read_csv("t.csv")))
frame.plot(x="key", y="x", kind="bar")
for ending in "png", "svg", "pdf":
    plt.savefig("p." + ending)
print(round(scipy.integrate.quad(np.sin, 0, np.pi)[0], 6), scipy.optimize.brentq(lambda x: x - 2, 0, 5))
print(scipy.stats.norm.cdf(0), sympy.lambdify(sympy.Symbol("x"), sympy.Symbol("x") ** 2)(3), dateutil.parser.parse("2026-01-02").year)
try:
    requests.get("http://localhost:9", timeout=1)
except requests.exceptions.ConnectionError:
    print("no network")
with tempfile.TemporaryDirectory() as folder:
    pass
import platform, uuid, webbrowser, multiprocessing, concurrent.futures
print(bool(platform.platform()))
with concurrent.futures.ProcessPoolExecutor(1) as pool:
    print(list(pool.map(abs, [-1])))
"""


def test_libraries_go_on(science, installation):
    """On a busy host, it takes longer than the profile's 10 seconds."""
    shipped = (installation.prefix / "share/adder/profiles/snippet.conf").read_text()
    file = own_profile(science, shipped.replace("wall_ms = 10s", "wall_ms = 2min"))
    result = science.run(LAZY, "--profile", file.stem)
    file.unlink()
    assert result.outcome == "ok", result.error
    assert result.stdout == "{'a': 2.0, 'b': 4.0}\n4 4 4\n2.0 2.0\n0.5 9 2026\nno network\nTrue\n[1]\n"


def test_together_with_a_guard(sessions):
    """Code that a guard checked imports, and looks up names, by way of the guard's gates."""
    adder = sessions.adder
    file = own_profile(adder, "[guard]\nmode = statements\nhidden_builtins = eval\n[blocked]\ncalls = os.system\nmodules = subprocess\n")
    ways = ["import subprocess", "import os\nos.system('echo started')", "import logging.handlers, asyncio, sys\ngetattr(sys.modules['subprocess'], 'run')"]
    session = sessions.new("--profile", file.stem)
    for code in ways:
        for result in (adder.run(code, "--profile", file.stem), sessions.cell(session, code)):
            assert result.error and result.error["type"] == "PermissionError", (code, result.error, result.stdout)
    code = "import json, platform, tempfile\nwith tempfile.TemporaryDirectory():\n    print(json.loads('[1]'), bool(platform.platform()))"
    assert adder.run(code, "--profile", file.stem).stdout == sessions.cell(session, code).stdout == "[1] True\n"
    file.unlink()


def own_profile(adder, text):
    folder = adder.config / "profiles"
    folder.mkdir(exist_ok=True)
    adder.own(folder)
    file = folder / f"{unique()}.conf"
    file.write_text(text)
    return adder.own(file)


def test_in_a_session(sessions):
    """A profile of the user's own may block things in sessions, where IPython is another way to programs."""
    adder = sessions.adder
    file = own_profile(adder, "[blocked]\ncalls = os.system\nmodules = subprocess\n")
    session = sessions.new("--profile", file.stem)
    ways = ["import subprocess", "import os; os.system('echo started')"]
    if sessions.show(session)["shell"] == "ipython":
        ways += ["!echo started", "x = !echo started", "%sx echo started", "%%bash\necho started", "%%script cat\nstarted", "%system echo started", "get_ipython().system_raw('echo started')"]
    for code in ways:
        result = sessions.cell(session, code)
        assert result.error and result.error["type"] == "PermissionError", (code, result.error, result.stdout)
        assert "started" not in result.stdout
    assert sessions.cell(session, "def f():\n    import subprocess\n6 * 7").text == "42"
    assert sessions.cell(session, "f()").error["type"] == "PermissionError"
    file.unlink()


# ---- what people do with it ----


def test_compound_interest(adder):
    code = "p, r, n = 1000, 0.05, 10\nfor year in (1, 5, 10):\n    print(year, round(p * (1 + r) ** year, 2))"
    assert adder.run(code, "--profile", "snippet").stdout == "1 1050.0\n5 1276.28\n10 1628.89\n"


def test_sum_of_a_column_of_a_pasted_table(adder):
    code = 'import csv, io\ntext = """A,B\nx,1.5\ny,2\nz,3.25\n"""\nprint(sum(float(row["B"]) for row in csv.DictReader(io.StringIO(text))))'
    assert adder.run(code, "--profile", "snippet").stdout == "6.75\n"


def test_the_same_with_pandas(science):
    code = 'import io\nimport pandas as pd\npd.read_csv(io.StringIO("A,B\\nx,1\\ny,2\\n"))["B"].sum().item()'
    assert science.run(code, "--profile", "snippet").text == "3"


def test_tracebacks_come_back(adder):
    result = adder.run("def f(x):\n    return 1 / x\n\nf(0)", "--profile", "snippet")
    assert result.error["type"] == "ZeroDivisionError" and result.error["line"] == 2
    assert "line 4, in <module>" in result.error["traceback"] and "return 1 / x" in result.error["traceback"]


def test_variables_of_the_profile(adder):
    code = "import os\nprint(os.environ['no_proxy'])"
    assert adder.run(code, "--profile", "snippet").stdout == "*\n"
    assert adder.run(code, "--profile", "snippet", "--set-env", "no_proxy=a").stdout == "a\n"
    assert adder.run("import os\nprint('no_proxy' in os.environ)").stdout == "False\n"
    assert adder.run("import os\nprint(os.environ['MPLBACKEND'])", "--profile", "code_executor").stdout == "Agg\n"


def test_nothing_persists(adder):
    adder.run("open('left.txt', 'w').write('x')\nopen('/tmp/left', 'w').write('x')", "--profile", "snippet")
    result = adder.run("import os\nprint(os.listdir('.'), os.path.exists('/tmp/left'))", "--profile", "snippet")
    assert result.stdout == "[] False\n"
