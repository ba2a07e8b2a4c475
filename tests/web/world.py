# SPDX-License-Identifier: Apache-2.0
"""What a daemon has done when somebody looks at its page: sessions with every kind of output, checkpoints and branches, runs that
ended in every way, code and changes that wait for a decision. For screenshots, and for tests of whole views."""
import dataclasses
import json

import harness

PROFILE = "[profile]\ntitle = Asks a person before code runs\napproval = always\n"
# Answers of a model, in the order in which it is asked; the last is given again.
MODEL = [
    {"answer": {"text": "I count the rows of each region first.", "calls": [
        {"name": "run_python", "arguments": {"code": "print(6 * 7)"}}]}},
    {"answer": {"text": "The answer is **42**."}},
]

LOAD = """import numpy as np, pandas as pd
rng = np.random.default_rng(7)
sales = pd.DataFrame({"day": pd.date_range("2026-01-01", periods=240),
                      "region": rng.choice(["North", "South", "East", "West"], 240),
                      "revenue": (rng.gamma(4, 60, 240) * (1 + np.arange(240) / 480)).round(2)})
sales.head(3)"""
CHART = """import matplotlib.pyplot as plt
monthly = sales.set_index("day").groupby("region").resample("MS").revenue.sum().unstack(0)
monthly.plot(marker="o", title="Revenue by month", figsize=(7, 3))
plt.show()"""
RICH = """display({"text/html": "<table border=1><tr><th>Region</th><th>Share</th></tr><tr><td>North</td><td><b>27 %</b></td></tr></table>",
         "text/plain": "HTML"}, raw=True)
display({"text/latex": r"$$\\hat\\beta = (X^\\top X)^{-1} X^\\top y$$", "text/plain": "LaTeX"}, raw=True)
display({"text/markdown": "## Note\\n\\nThe *East* region was **relaunched** in March: see `sales`.", "text/plain": "Markdown"}, raw=True)
display({"application/json": {"fit": {"slope": 0.52, "intercept": 11.9}, "rows": [1, 2, 3], "ok": True}, "text/plain": "JSON"}, raw=True)"""
PLAIN = """display({"text/html": "<p>A <b>bold</b> word and <a href='https://example.org/'>a link</a>.</p>", "text/plain": "HTML"}, raw=True)
display({"text/latex": r"$$e^{i\\pi} + 1 = 0$$", "text/plain": "LaTeX"}, raw=True)
display({"text/markdown": "## Note\\n\\nSome *text* with `code`.", "text/plain": "Markdown"}, raw=True)
display({"application/json": {"a": [1, 2, {"b": None}]}, "text/plain": "JSON"}, raw=True)
print("one line of output")"""
FAILS = """def share(region):
    return sales[sales.region == region].revenue.sum() / total

share("North")"""
FAILS_PLAIN = "def ratio(a, b):\n    return a / b\n\nratio(1, 0)"
ASKS = """import pathlib
# Removes what the last run left. \u202e gnp.tropxe\u202c
for path in pathlib.Path("/work").glob("*.tmp"):
    path.unlink()
print("done")"""
CHANGE = """from pathlib import Path
text = Path("report.md").read_text().replace("draft", "final")
Path("report.md").write_text(text + "\\nApproved figures only.\\n")
Path("summary.csv").write_text("region,revenue\\nNorth,10422\\nSouth,9811\\n")
Path("old.txt").unlink()"""
REPORT = "# Quarterly report (draft)\n\nRevenue grew in all regions.\n\n| region | revenue |\n|---|---|\n| North | 10422 |\n"


@dataclasses.dataclass
class World:
    """Ids of what was made."""

    session: str
    branches: list
    approval: str
    review: str
    runs: list


def configuration(adder):
    """The lines of adder.conf, and the profile that wants approvals."""
    folder = adder.config / "profiles"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    (folder / "careful.conf").write_text(PROFILE)
    (folder / "careful.conf").chmod(0o644)
    answers = adder.directory / "model.jsonl"
    answers.write_text("".join(json.dumps(answer) + "\n" for answer in MODEL))
    adder.own(answers)
    return f"[models]\nfor_tools = replay:{answers}\n"


def made(adder, *arguments):
    ended = adder.call(*arguments, "--json")
    assert ended.returncode == 0, ended
    return harness.strict_json(ended.stdout)


def cell(adder, session, code):
    chosen = ["-c", code] if len(code) < 100_000 else [adder.file("cell.py", code)]  # an argument has a limit
    return adder.json("--session", session, *chosen)


def make_session(adder, rich):
    environment = ["--env", adder.environment] if adder.environment else []
    session = made(adder, "session", "new", "--name", "quarterly", *environment)["session_id"]
    cell(adder, session, LOAD if rich else "numbers = list(range(1000)); text = 'x' * 200")
    if rich:
        cell(adder, session, CHART)
    made(adder, "session", "checkpoint", session, "loaded")
    cell(adder, session, RICH if rich else PLAIN)
    cell(adder, session, "total = sales.revenue.sum()" if rich else "total = 1")
    made(adder, "session", "checkpoint", session, "with-total")
    cell(adder, session, FAILS.replace("total", "totals") if rich else FAILS_PLAIN)
    return session


def make_branches(adder, session, rich):
    branches = [one["session_id"] for one in made(adder, "session", "branch", session, "-n", "2", "--from", "loaded")["sessions"]]
    codes = ("sales = sales[sales.region != 'West']; outliers = False", "sales['revenue'] *= 1.19; tax = 0.19") if rich else ("a = 1", "a = 2; b = 3")
    for branch, name in zip(branches, ("without-west", "with-tax")):
        made(adder, "session", "rename", branch, name)
    for branch, code in zip(branches, codes):
        cell(adder, branch, code)
    cell(adder, branches[0], "sales.groupby('region').revenue.describe()" if rich else "a + 1")
    made(adder, "session", "checkpoint", branches[0], "without-outliers")
    return branches


def make_runs(adder):
    codes = ["print('hello')", "1 / 0", "import socket; socket.create_connection(('192.0.2.1', 80), 1)", "import os; os.abort()", "sum(range(10**6))"]
    runs = [adder.run(code).run_id for code in codes]
    return [*runs, adder.run("while True: pass", "--timeout", "300ms").run_id]


def make_waiting(adder):
    """An approval and a review that wait, and one of each that was decided."""
    ids = [adder.run(code, "--profile", "careful", "--description", text).approval_id for code, text in
           ((ASKS, "Remove temporary files"), ("print('first')", "Say hello"), ("print('second')", "Say it again"))]
    made(adder, "approval", "approve", ids[1])
    made(adder, "approval", "deny", ids[2], "--reason", "said already")
    for name, text in (("report.md", REPORT), ("old.txt", "obsolete\n")):
        adder.file(f"reports/{name}", text)
    adder.own(adder.scratch / "reports")
    review = adder.run(CHANGE, "--workdir", adder.scratch / "reports", "--review", "--description", "Publish the quarterly report").approval_id
    return ids[0], review


def make(adder):
    """All of it, by the command line of the local account, whose page it then is."""
    rich = adder.environment == "science"
    session = make_session(adder, rich)
    branches = make_branches(adder, session, rich)
    runs = make_runs(adder)
    approval, review = make_waiting(adder)
    adder.call("token", "new", "ci", "--expires", "90d")
    adder.call("token", "new", "colleague", "--role", "user", "--profiles", "standard")
    return World(session, branches, approval, review, runs)
