# SPDX-License-Identifier: Apache-2.0
"""The guard: what the profiles compute and analysis refuse before anything runs, what they let through, and that this gives what
plain Python gives. The cases stand in guard/*.txt."""
import ast
import json
import pathlib
import subprocess

import pytest

import harness

CASES = pathlib.Path(__file__).parent / "guard"
SALES = """date,region,product,sales,units
2024-01-15,north,anvil,120.5,3
2024-01-20,south,bolt,80.0,10
2024-02-03,north,bolt,210.25,21
2024-02-18,east,anvil,99.9,
2024-04-02,south,anvil,310.0,8
2024-05-11,north,anvil,45.0,1
2024-05-11,north,anvil,45.0,1
"""
MORE = "name\tsize\na\t1\nb\t2\n"


def cases(name):
    """(group, words of the head, code) for each case of a file."""
    found, group, head, lines = [], "", None, []
    for line in [*(CASES / name).read_text().splitlines(), "## end"]:
        if line.startswith(("@ ", "## ")):
            if head is not None:
                found.append((group, head, "\n".join(lines).strip("\n")))
            head, lines = (line[2:].split(" ", 2), []) if line.startswith("@ ") else (None, [])
            group = line[3:] if head is None else group
        elif head is not None:
            lines.append(line)
    return found


ESCAPES, ORDINARY = cases("escapes.txt"), cases("ordinary.txt")
GROUPS = sorted({group for group, _, _ in ESCAPES})


def test_there_are_as_many_cases_as_were_promised():
    assert len(ESCAPES) >= 150 and len(ORDINARY) >= 60
    assert len({(tuple(head), code) for _, head, code in ESCAPES}) == len(ESCAPES)


def judge(result, head):
    """What is wrong with the end of a case, or None."""
    want = head[1]
    if want == "refused":
        fine = result.outcome == "refused" and result.violations and result.exit_code == 126
        fine = fine and result.stdout == result.stderr == "" and result.value is None
    elif want == "error":
        fine = result.outcome == "error" and result.error["type"] == head[2]
    else:
        fine = result.outcome == "ok" and result.text in (head[2], str(ast.literal_eval(head[2])))
    return None if fine else f"{' '.join(head)}: {result.outcome}, {result.text}, {result.error}"


@pytest.mark.parametrize("group", GROUPS)
def test_ways_out_are_refused_or_harmless(science, group):
    wrong = []
    for _, head, code in [case for case in ESCAPES if case[0] == group]:
        for profile in ("compute", "analysis") if head[0] == "both" else head[:1]:
            found = judge(science.run(code, "--profile", profile), head)
            if found:
                wrong.append((profile, code, found))
    assert wrong == []


def expressions():
    return [code for _, head, code in ORDINARY if head[0] == "compute"]


def test_ordinary_expressions_give_what_python_gives(adder):
    modules = "math statistics re json datetime decimal fractions".split()
    names = {name: __import__(name) for name in modules}
    for code in expressions():
        result = adder.run(code, "--profile", "compute")
        assert (result.outcome, result.text) == ("ok", str(eval(code, dict(names)))), code
        assert result.stdout == result.stderr == "" and result.warnings == []


PLAIN = """
import ast, contextlib, io, json, pandas as pd, numpy as np
told = []
for code in json.load(open("programs.json")):
    tables = {"more.tsv": pd.read_csv("more.tsv", sep="\\t"), "sales.csv": pd.read_csv("sales.csv")}
    names = {"pd": pd, "np": np, "dfs": tables, "df": tables["more.tsv"]}
    if "dfs" not in code:
        names["df"] = tables["sales.csv"]
    tree, value = ast.parse(code), None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
            exec(compile(tree, "x", "exec"), names)
            value = eval(compile(last, "x", "eval"), names)
        else:
            exec(compile(tree, "x", "exec"), names)
    told.append([printed.getvalue(), None if value is None else repr(value)])
print(json.dumps(told))
"""


def test_ordinary_programs_give_what_python_gives(science):
    programs = [code for _, head, code in ORDINARY if head[0] == "analysis"]
    sales, more = science.file("sales.csv", SALES), science.file("more.tsv", MORE)
    plain = science.run(PLAIN, "-f", sales, "-f", more, "-f", science.file("programs.json", json.dumps(programs)))
    wrong = []
    for code, (printed, value) in zip(programs, plain.told()):
        files = ["-f", sales, "-f", more] if "dfs" in code else ["-f", sales]
        result = science.run(code, "--profile", "analysis", *files)
        if (result.outcome, result.stdout, result.text) != ("ok", printed, value):
            wrong.append((code, result.outcome, result.error, result.stdout, printed, result.text, value))
    assert wrong == []
