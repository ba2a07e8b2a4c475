# SPDX-License-Identifier: Apache-2.0
"""One question put to `adder ask`, and what became of it."""
import dataclasses
import json
import pathlib
import subprocess
import time

import scoring

KEYS = {"id", "file", "files", "question", "expect", "tolerance", "code"}
RIGHT, WRONG, UNANSWERED, ERROR = "right", "wrong", "unanswered", "error"


@dataclasses.dataclass(frozen=True)
class How:
    """What all questions of an evaluation have in common."""

    adder: str
    data: pathlib.Path
    model: "str | None"  # None: the reference code; {id} stands for the question's
    record: "pathlib.Path | None"  # a folder
    seconds: float
    options: "tuple[str, ...]"  # of `adder ask`, as they are


def read_questions(path):
    """The questions of a file of JSON lines. ValueError says what is wrong with which line."""
    found = {}
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            question = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        missing = [key for key in ("id", "file", "question", "expect") if key not in question]
        unknown = sorted(set(question) - KEYS)
        if missing or unknown or question["id"] in found:
            what = f"lacks {missing}" if missing else f"has {unknown}" if unknown else "has an id that was there before"
            raise ValueError(f"{path}, line {number}: the question {what}")
        found[question["id"]] = question
    return list(found.values())


def command(question, how):
    words = [how.adder, "ask", "--json", *how.options]
    for name, file in question.get("files", {}).items():
        words += ["--file", f"{name}={how.data / file}"]
    if how.model is None:
        words += ["--code", "-"]
    else:
        words += ["--model", how.model.replace("{id}", question["id"])]
    if how.record:
        words += ["--record", str(how.record / f"{question['id']}.jsonl")]
    return [*words, str(how.data / question["file"]), question["question"]]


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def ask(question, how, started=lambda process: None):
    """Runs the command, and tells STARTED of its process. The verdict as an object that can be kept as JSON."""
    begin = time.monotonic()
    process = subprocess.Popen(
        command(question, how), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    started(process)
    found = {"id": question["id"], "question": question["question"], "expect": question["expect"]}
    try:
        out, said = process.communicate(question["code"] if how.model is None else "", timeout=how.seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.communicate()
        return {**found, "verdict": ERROR, "why": f"no answer in {how.seconds:g} s", "seconds": how.seconds}
    found["seconds"] = round(time.monotonic() - begin, 3)
    found["exit_code"] = process.returncode
    try:
        state = json.loads(out)
    except ValueError:
        return {**found, "verdict": ERROR, "why": last_line(said) or f"adder ask ended with {process.returncode}"}
    return {**found, **judged(question, state, process.returncode, said)}


def judged(question, state, exit_code, said):
    """What a STATE of `adder ask --json` comes to."""
    usage = state.get("usage") or {}
    told = {
        "outcome": state.get("outcome"),
        "attempts": len(state.get("attempts") or []),
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "cost": usage.get("cost"),
        "cpu_ms": usage.get("cpu_ms"),
        "model": state.get("model"),
        "answer": state.get("answer"),
        "code": state.get("code"),
        "result": state.get("table"),
    }
    if exit_code == 125:  # the question could not be put: no model, no daemon
        return {**told, "verdict": ERROR, "why": (state.get("error") or {}).get("message") or last_line(said)}
    if exit_code != 0:
        errors = state.get("errors") or []
        return {**told, "verdict": UNANSWERED, "why": str(errors[-1]) if errors else str(state.get("outcome"))}
    if scoring.right(state.get("table"), question["expect"], question.get("tolerance", 0.0)):
        return {**told, "verdict": RIGHT, "why": None}
    return {**told, "verdict": WRONG, "why": scoring.brief(state.get("table"))}
