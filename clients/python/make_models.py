# SPDX-License-Identifier: Apache-2.0
"""Makes models.py and options.py of src/adder_client from the description of HTTP.

adder serve --openapi | python make_models.py           # writes both
adder serve --openapi | python make_models.py --check   # says what is not current, and fails then
"""

import json
import pathlib
import sys

SOURCE = pathlib.Path(__file__).resolve().parent / "src" / "adder_client"

# A class of models.py: the schemas that it is (all of their members where there are several), what it is, and a class with
# methods that it has as well.
MODELS = {
    "RunError": ("RunError", "Why a run failed."),
    "Violation": ("Violation", "What the guard of the profile refused."),
    "Denial": ("Denial", "What the sandbox refused, or a limit that was met without ending the run."),
    "Connection": ("Connection", "A host that was reached through the proxy."),
    "MadeFile": ("MadeFile", "A file that code made or changed. With `file_id` it can be had from `files`."),
    "Change": ("Change", "What a run changed in a work directory."),
    "Cell": ("Cell", "The session that a run was a cell of."),
    "Usage": ("Usage", "What a run used."),
    "Container": ("Container", "The container that a run was in."),
    "Isolation": ("Isolation", "How a run was isolated."),
    "Result": (
        "Result",
        "What became of a run: docs/results.md of Adder says what each member is.",
        "ResultMethods",
    ),
    "RunningRun": ("RunningRun", "A run that is under way."),
    "RunState": (
        "RunState",
        "A run as it is: `result` while it is held, `record` where records are kept.",
        "RunStateMethods",
    ),
    "Checkpoint": ("Checkpoint", "A checkpoint of a session."),
    "SessionInfo": ("SessionInfo", "A session."),
    "Variable": ("Variable", "A variable of a session."),
    "Difference": ("Difference", "A variable with different values in two sessions."),
    "Comparison": ("Comparison", "How the variables of two sessions differ."),
    "TableColumn": ("TableColumn", "A column of a table."),
    "TableRows": ("TableRows", "A page of the rows of a table."),
    "CompletionMatch": ("CompletionMatch", "What may stand at a cursor."),
    "Completion": ("Completion", "What may stand at a cursor in a session's code."),
    "Inspection": ("Inspection", "The object at a cursor in a session's code."),
    "HistoryCell": ("HistoryCell", "A cell that a session ran."),
    "History": ("History", "The cells of a session."),
    "ReplayedCell": (
        "ReplayedCell",
        "A cell that ran again: how it ended, and had ended `before`; `differs` names what of the result is not as it was.",
    ),
    "Replay": ("Replay", "What came of a replay."),
    "StoredFile": ("StoredFile", "A file that is kept."),
    "FilePage": ("FilePage", "Some of the files."),
    "Line": ("Line", "A line in which the pattern was found."),
    "Part": (
        "TextPart LinesPart",
        "A part of long output: `text`, or with `grep` the `lines` in which the pattern was found.",
    ),
    "RecordPage": ("RecordPage", "Some of the records."),
    "Tool": ("Tool", "A tool that the caller may call."),
    "ToolReply": ("ToolReply", "What a tool replied, in the form of its output schema.", "ToolReplyMethods"),
    "Approval": ("Approval", "What waits for a yes, or had its answer; `raw` has all of it."),
    "Review": ("Review", "What a run would change in a work directory; `raw` has all of it."),
}
WITH_RAW = {"Result", "Approval", "Review"}  # which have the whole answer beside it
# Members that are more than their schema tells, or less.
TYPES = {
    ("Result", "value"): "Optional[Display]",
    ("Result", "displays"): "List[Display]",
    ("SessionInfo", "checkpoints"): "List[Checkpoint]",
    ("ReplayedCell", "result"): "Optional[Result]",  # not in events, which had it already
}
DEFAULTS = {("ToolReply", "exit_code"): "0", ("Result", "limits"): "dataclasses.field(default_factory=dict)"}
MAY_LACK = {  # what an event has of it, or another form of the answer
    "Approval": lambda name: name not in ("approval_id", "state"),
    "Review": lambda name: name not in ("review_id", "state"),
}

# A class of options.py: the operation whose body or query it is, without what the client says by itself.
OPTIONS = {
    "CellOptions": ("runCell", "What a cell takes."),
    "RunOptions": ("run", "What a run takes."),
    "SessionOptions": ("newSession", "What a new session takes."),
    "ReplayOptions": ("replaySession", "What a replay takes."),
    "FileFilter": ("listFiles", "Which files are meant."),
    "RecordFilter": ("listRecords", "Which records are meant."),
}
OWN = {True: {"code", "stream", "background"}, False: {"limit", "before"}}  # of a body, and of a query
NAMES = {"from": "start"}  # which is no name in Python
OPTION_TYPES = {"files": "Files", "workdir": "Workdir"}
SHORT = {  # of limits, what most set
    "timeout": ("float", "Seconds that the code may take; the limit wall_ms."),
    "memory_mb": ("int", "MiB that it may have; the limit memory_bytes."),
}

HEAD = """# SPDX-License-Identifier: Apache-2.0
# Made from /openapi.json by make_models.py: change src/operations of Adder, or that.
"""
MODELS_HEAD = (
    HEAD
    + '''"""What Adder answers, as dataclasses; what it tells while something runs is in `events`.

Each is made from the JSON of a reply by `decode` (`_decode.py`). A member that is not known here is left out, so that a newer
server can say more; all of it is in `raw` where a class has that.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Optional

from ._display import Display, Json, ResultMethods, RunStateMethods, ToolReplyMethods
'''
)
OPTIONS_HEAD = (
    HEAD
    + '''"""What runs, cells, sessions, replays and lists take. `docs/profiles.md` of Adder has limits and profiles."""

from __future__ import annotations

from typing import Any, Mapping, Sequence, TypedDict

from ._bodies import Workdir
from ._files import FileContent as FileContent
from ._files import Files
'''
)


class Description:
    def __init__(self, document):
        self.operations = {
            each["operationId"]: each for path in document["paths"].values() for each in path.values()
        }
        self.schemas = document["components"]["schemas"]

    def members(self, name):
        """{member: (schema, whether it is always there)}"""
        forms = [self.schemas[each] for each in MODELS[name][0].split()]
        merged = {
            member: each
            for form in forms
            for member, each in form["properties"].items()
            if not member.startswith("_")
        }
        always = set(merged).intersection(*(form.get("required", []) for form in forms))
        lacking = MAY_LACK.get(name, lambda member: False)
        return {member: (each, member in always and not lacking(member)) for member, each in merged.items()}

    def body(self, operation):
        described = self.operations[operation]
        if "requestBody" in described:
            return self.resolved(described["requestBody"]["content"]["application/json"]["schema"])[
                "properties"
            ]
        return {
            each["name"]: {**each["schema"], "description": each["description"]}
            for each in described["parameters"]
        }

    def resolved(self, schema):
        """SCHEMA, or what it refers to."""
        return self.schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    def type_of(self, schema, lists="List", maps="Dict"):
        """SCHEMA's type, as it stands in an annotation, without null."""
        schema = not_null(schema)
        named = schema.get("$ref", "").rpartition("/")[2]
        if named in MODELS:
            return named
        schema = self.resolved(schema)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = (
                next(each for each in kind if each != "null") if len(kind) == 2 and "null" in kind else None
            )
        if kind == "array":
            return f"{lists}[{self.type_of(schema['items'], lists, maps)}]"
        if kind == "object":
            values = schema.get("additionalProperties")
            return f"{maps}[str, {self.type_of(values, lists, maps)}]" if isinstance(values, dict) else "Json"
        return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}.get(kind, "Any")


def not_null(schema):
    forms = [each for each in schema.get("anyOf", []) if each.get("type") != "null"]
    return forms[0] if len(forms) == 1 else schema


def may_be_null(schema):
    return "null" in schema.get("type", "") or any(
        each.get("type") == "null" for each in schema.get("anyOf", [])
    )


def default_of(schema, kind, always):
    """What a member has that an answer lacks; None: it must be there."""
    if kind.startswith("List["):
        return "dataclasses.field(default_factory=list)"
    if kind == "Json" or kind.startswith("Dict["):
        return None if always else "dataclasses.field(default_factory=dict)"
    if kind.startswith("Optional["):
        return "None"
    return None if always else "False" if kind == "bool" else "None"


def docstring(words):
    """Of a member, where editors look for it."""
    words = words.replace("\\", "\\\\")
    return f'    """{words}"""\n' if words else ""


def model(description, name):
    _, words, *methods = MODELS[name]
    yield f"\n\n@dataclasses.dataclass(frozen=True)\nclass {name}{'(' + methods[0] + ')' if methods else ''}:\n"
    yield f'    """{words}"""\n\n'
    rows = []
    for member, (schema, always) in description.members(name).items():
        kind = TYPES.get((name, member)) or description.type_of(schema)
        empty = kind == "bool" or kind.startswith(("List[", "Json"))  # what stands for one that is left out
        if (may_be_null(schema) or not (always or empty)) and not kind.startswith("Optional["):
            kind = f"Optional[{kind}]"
        default = DEFAULTS.get((name, member)) or default_of(schema, kind, always)
        words = schema.get("description", "")
        rows.append(
            (
                default is not None,
                f"    {member}: {kind}{' = ' + default if default else ''}\n{docstring(words)}",
            )
        )
    for _, row in sorted(rows, key=lambda row: row[0]):
        yield row
    if name in WITH_RAW:
        yield "    raw: Json = dataclasses.field(default_factory=dict, repr=False, compare=False)\n"
        yield docstring("The whole answer.")


def options(description, name):
    operation, words = OPTIONS[name]
    members = description.body(operation)
    in_path = {
        each["name"] for each in description.operations[operation]["parameters"] if each["in"] == "path"
    }
    yield f'\n\nclass {name}(TypedDict, total=False):\n    """{words}"""\n\n'
    for member, schema in members.items():
        if member in OWN["requestBody" in description.operations[operation]] or member in in_path:
            continue
        kind = OPTION_TYPES.get(member) or (
            "Mapping[str, int]" if member == "limits" else description.type_of(schema, "Sequence", "Mapping")
        )
        yield f"    {NAMES.get(member, member)}: {kind}\n{docstring(schema['description'])}"
    for short, (kind, words) in SHORT.items() if "limits" in members else ():
        yield f"    {short}: {kind}\n{docstring(words)}"


def main(arguments):
    description = Description(json.load(sys.stdin))
    made = {
        "models.py": MODELS_HEAD + "".join(part for name in MODELS for part in model(description, name)),
        "options.py": OPTIONS_HEAD + "".join(part for name in OPTIONS for part in options(description, name)),
    }
    stale = [name for name, text in made.items() if (SOURCE / name).read_text() != text]
    if "--check" in arguments:
        if stale:
            print("not current: adder serve --openapi | python make_models.py:", *stale, file=sys.stderr)
        return 1 if stale else 0
    for name, text in made.items():
        (SOURCE / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
