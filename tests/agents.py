# SPDX-License-Identifier: Apache-2.0
"""What tests of agents share: scripted answers of a model, tools of a user's own, and turns held against their form."""
import json

from harness import check_fields, strict_json

NULL = type(None)
HEAD = {
    "task": str,
    "started": str,
    "model": str,
    "provider": str,
    "replay": bool,
    "toolset": str,
    "steps": str,
    "conversation": str,
}
STEP = {
    "step": int,
    "current_state": (str, NULL),
    "function": dict,
    "result": str,
    "is_error": bool,
    "pictures": list,
    "unsaved_pictures": int,
    "took_ms": int,
    "usage": (dict, NULL),
}
USAGE = {
    "input_tokens": (int, NULL),
    "cached_tokens": (int, NULL),
    "output_tokens": (int, NULL),
    "cost": (int, float, NULL),
}
END = {
    "completed": bool,
    "reason": str,
    "answer": str,
    "message": (str, NULL),
    "steps": int,
    "tokens": int,
    "tokens_estimated": bool,
    "cost": (int, float, NULL),
    "took_ms": int,
    "model": str,
    "replay": bool,
}
REASONS = {"completed", "failed", "steps", "tokens", "time", "cost", "loop", "model", "cancelled"}


class Turn:
    """The lines that `adder agent --json` printed, or a transcript: head, steps, end."""

    def __init__(self, text, status=None):
        lines = [strict_json(line) for line in text.splitlines()]
        self.head, self.steps, self.end = lines[0], lines[1:-1], lines[-1]
        self.status = status
        for fields, form in ((self.head, HEAD), (self.end, END)):
            check_fields(fields, form, "line")
            assert set(fields) == set(form)
        for step in self.steps:
            check_fields(step, STEP, "step")
            assert set(step) == set(STEP) and set(step["function"]) == {"name", "arguments"}
            if step["usage"] is not None:
                check_fields(step["usage"], USAGE, "usage")
        assert self.end["reason"] in REASONS
        assert self.end["completed"] == (self.end["reason"] == "completed")
        assert self.end["replay"] == self.head["replay"] == self.head["provider"].startswith("a replay of ")

    @property
    def names(self):
        return [step["function"]["name"] for step in self.steps]

    @property
    def results(self):
        return [step["result"] for step in self.steps]

    @property
    def reason(self):
        return self.end["reason"]


# ---- what a model answers ----


def typed(name, arguments=None, state="on my way", **others):
    """One typed step."""
    function = {"name": name, "arguments": arguments or {}}
    return exchange([("next_step", {"current_state": state, "function": function})], **others)


def native(*calls, **others):
    """Ordinary calls, (NAME, ARGUMENTS) each."""
    return exchange(calls, **others)


def exchange(calls=(), text=None, contains=None, usage=None, wait_ms=None, stop=None):
    answer = {"calls": [{"name": name, **as_arguments(arguments)} for name, arguments in calls]}
    for key, value in (("text", text), ("usage", usage), ("stop", stop)):
        if value is not None:
            answer[key] = value
    line = {"answer": answer}
    if contains is not None:
        line["ask"] = {"contains": [contains] if isinstance(contains, str) else contains}
    if wait_ms is not None:
        line["wait_ms"] = wait_ms
    return line


def as_arguments(arguments):
    """A text is what a model wrote that is no JSON."""
    return {"arguments": None, "raw": arguments} if isinstance(arguments, str) else {"arguments": arguments}


def report(answer="Done.", completed=True, **others):
    return typed("report_completion", {"completed": completed, "answer": answer}, **others)


def native_report(answer="Done.", completed=True, **others):
    return native(("report_completion", {"completed": completed, "answer": answer}), **others)


# ---- the command ----


class Agents:
    """`adder agent` with answers out of a file."""

    def __init__(self, adder):
        self.adder = adder

    def script(self, lines, sees=False):
        head = [{"replay": {"version": 1, "sees": True}}] if sees else []
        text = "".join(json.dumps(line) + "\n" for line in head + list(lines))
        return f"replay:{self.adder.file('script.jsonl', text)}"

    def tool(self, name, program, properties=None, /, **others):
        """A tool of the user's own; its program is Python."""
        path = self.adder.file(f"{name}.py", program)
        described = {
            "name": name,
            "description": "A tool of the test.",
            "parameters": {
                "type": "object",
                "properties": properties or {},
                "required": list(properties or {}),
                "additionalProperties": False,
            },
            "command": ["python3", str(path)],
            **others,
        }
        return ["--tool", str(self.adder.file(f"{name}.json", json.dumps(described)))]

    def run(self, lines, *options, task="Do it.", status=0, sees=False, **others):
        """The turn that LINES make; it must end with STATUS."""
        ended = self.adder.call(
            "agent", task, "--json", "--model", self.script(lines, sees), *options, **others
        )
        assert ended.returncode == status, ended
        assert ended.stderr == "", ended
        return Turn(ended.stdout, ended.returncode)

    def show(self, lines, *options, task="Do it.", sees=False, **others):
        """The same for people."""
        return self.adder.call("agent", task, "--model", self.script(lines, sees), *options, **others)

    def start(self, lines, *options, task="Do it.", **others):
        return self.adder.popen("agent", task, "--json", "--model", self.script(lines), *options, **others)
