# SPDX-License-Identifier: Apache-2.0
"""The questions of bench/analyst: `adder ask --code` with their reference code gives what ask_answers.py computes without pandas,
and so say the questions themselves."""
import collections
import json
import sys

import pytest

import ask_answers
import harness

BENCH = harness.REPOSITORY / "bench/analyst"
sys.path.insert(0, str(BENCH))
import asking  # noqa: E402
import scoring  # noqa: E402

QUESTIONS = {question["id"]: question for question in asking.read_questions(BENCH / "questions.jsonl")}
QUICK = ("birdstrikes-without-damage", "seattle-rain-by-quarter", "deer-and-hurricanes")


def shape(answer):
    if not isinstance(answer, list):
        return {"value": answer}
    return {"rows" if isinstance(answer[0], list) else "list": answer}


def close(found, expected):
    """Equal in all that is no fraction, and in fractions as far as the order of sums lets them be."""
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    return scoring.same(found, expected)


def test_there_are_as_many_as_were_promised():
    files = collections.Counter(
        file for question in QUESTIONS.values() for file in (question["file"], *question.get("files", {}).values())
    )
    assert len(QUESTIONS) >= 40
    assert set(files) == {path.name for path in (BENCH / "data").glob("*.csv")} and len(files) == 10
    assert min(files.values()) >= 3, files
    assert sum("files" in question for question in QUESTIONS.values()) >= 5


def test_each_has_an_answer_that_was_computed_otherwise():
    assert set(QUESTIONS) == set(ask_answers.ANSWERS)
    wrong = []
    for name, question in QUESTIONS.items():
        answer = shape(ask_answers.ANSWERS[name]())
        (kind, expected), *others = question["expect"].items()
        if others or list(answer) != [kind] or not close(expected, answer[kind]):
            wrong.append((name, question["expect"], answer))
    assert wrong == []


@pytest.mark.parametrize("name", harness.quick(QUESTIONS, *QUICK))
def test_the_reference_code_answers(science, name):
    question = QUESTIONS[name]
    files = [f"--file={name}={science.file(file, (BENCH / 'data' / file).read_bytes())}" for name, file in question.get("files", {}).items()]
    table = science.file(question["file"], (BENCH / "data" / question["file"]).read_bytes())
    ended = science.call("ask", "--json", *files, "--code", "-", table, question["question"], input=question["code"])
    state = json.loads(ended.stdout)
    assert (ended.returncode, ended.stderr, state["outcome"], state["errors"]) == (0, "", "ok", [])
    assert scoring.right(state["table"], shape(ask_answers.ANSWERS[name]())), state["table"]
    assert state["code"] == question["code"] and state["model"] is None
    assert state["schema"][0]["bad_lines"]["count"] == 0


# ---- the evaluation itself ----


def result(kind, value=None, rows=None, hidden=0):
    return {"kind": kind, "value": value, "rows": rows, "hidden_rows": hidden}


@pytest.mark.parametrize(
    "found, expect, tolerance",
    [
        (result("number", 28.36), {"value": 28.36}, 0),
        (result("number", 28.4), {"value": 28.36}, 0.05),
        (result("table", rows=[["all", 28.36]]), {"value": 28.36}, 0),
        (result("text", " Yes"), {"value": "yes"}, 0),
        (result("boolean", True), {"value": True}, 0),
        (result("date", "2012-09-07T00:00:00"), {"value": "2012-09-07"}, 0),
        (result("list", [1, 2]), {"list": [1, 2]}, 0),
        (result("series", rows=[["a", 1], ["b", 2]]), {"list": ["a", "b"]}, 0),
        (result("table", rows=[[2009, 0.69]]), {"list": [2009, 0.688]}, 0.005),
        (result("mapping", {"a": 1, "b": 2}), {"rows": [["a", 1], ["b", 2]]}, 0),
        (result("table", rows=[[1, "x", "a"], [2, "x", "b"]]), {"rows": [["a", 1], ["b", 2]]}, 0),
    ],
)
def test_what_is_right(found, expect, tolerance):
    assert scoring.right(found, expect, tolerance)


@pytest.mark.parametrize(
    "found, expect, tolerance",
    [
        (None, {"value": 1}, 0),
        (result("number", 28.4), {"value": 28.36}, 0.01),
        (result("number", None), {"value": 0}, 1),
        (result("boolean", True), {"value": 1}, 0),
        (result("number", 1), {"value": True}, 0),
        (result("text", "no"), {"value": "yes"}, 0),
        (result("date", "2012-09-07T01:00:00"), {"value": "2012-09-07"}, 0),
        (result("list", [2, 1]), {"list": [1, 2]}, 0),
        (result("list", [1, 2, 3]), {"list": [1, 2]}, 0),
        (result("table", rows=[["b", 2], ["a", 1]]), {"rows": [["a", 1], ["b", 2]]}, 0),
        (result("table", rows=[["a", 1], ["b", 2]], hidden=5), {"rows": [["a", 1], ["b", 2]]}, 0),
        (result("table", rows=[["a", 1]]), {"rows": [["a", 1], ["b", 2]]}, 0),
        (result("table", rows=[["a"], ["b"]]), {"rows": [["a", 1], ["b", 2]]}, 0),
        (result("table", rows=[[1], [1]]), {"rows": [[1, 1], [1, 1]]}, 0),
        (result("table", rows=[]), {"value": 1}, 0),
    ],
)
def test_what_is_wrong(found, expect, tolerance):
    assert not scoring.right(found, expect, tolerance)


def test_questions_that_are_none_are_told_by_their_line(tmp_path):
    good = json.dumps({"id": "a", "file": "a.csv", "question": "?", "expect": {"value": 1}})
    for bad, said in (("{", "line 2"), ('{"id": "b"}', "lacks"), (good, "an id that was there"), (good.replace("expect", "expects"), "lacks")):
        path = tmp_path / "questions.jsonl"
        path.write_text(f"{good}\n{bad}\n")
        with pytest.raises(ValueError, match=said):
            asking.read_questions(path)
