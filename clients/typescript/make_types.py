# SPDX-License-Identifier: Apache-2.0
"""Makes src/api.ts from the description of HTTP.

adder serve --openapi | python make_types.py           # writes it
adder serve --openapi | python make_types.py --check   # fails, and says so, when it is not current

A schema may stand inline or as a $ref: both give the same type.
"""

import json
import pathlib
import re
import sys

TARGET = pathlib.Path(__file__).resolve().parent / "src" / "api.ts"
# A type of what Adder answers: the operation and the place in its answer (a member, [] for the items of a list) that
# it is, and what it is. The names are those of the Python client, so that a reader of one knows the other.
MODELS = {
    "RunError": ("run", "error", "Why a run failed."),
    "Violation": ("run", "violations[]", "What the guard of the profile refused."),
    "Denial": (
        "run",
        "denials[]",
        "What the sandbox refused, or a limit that was met without ending the run.",
    ),
    "Connection": ("run", "network[]", "A host that was reached through the proxy."),
    "MadeFile": (
        "run",
        "files[]",
        "A file that code made or changed. With `file_id` it can be had from `files`.",
    ),
    "Change": ("run", "changes[]", "What a run changed in a work directory."),
    "Cell": ("run", "session", "The session that a run was a cell of."),
    "Usage": ("run", "usage", "What a run used."),
    "Container": ("run", "isolation.container", "The container that a run was in."),
    "Isolation": ("run", "isolation", "How a run was isolated."),
    "Result": ("run", "", "What became of a run: docs/results.md of Adder says what each member is."),
    "RunningRun": ("listRuns", "runs[]", "A run that is under way."),
    "RunState": (
        "showRun",
        "",
        "A run as it is: `result` while it is held, `record` where records are kept.",
    ),
    "Checkpoint": ("makeCheckpoint", "", "A checkpoint of a session."),
    "SessionInfo": ("showSession", "", "A session."),
    "Variable": ("listVariables", "variables[]", "A variable of a session."),
    "Difference": ("compareSessions", "differing[]", "A variable with different values in two sessions."),
    "Comparison": ("compareSessions", "", "How the variables of two sessions differ."),
    "TableColumn": ("showRows", "columns[]", "A column of a table."),
    "TableRows": ("showRows", "", "A page of the rows of a table."),
    "CompletionMatch": ("completeCode", "matches[]", "What may stand at a cursor."),
    "Completion": ("completeCode", "", "What may stand at a cursor in a session's code."),
    "Inspection": ("inspectName", "", "The object at a cursor in a session's code."),
    "HistoryCell": ("showHistory", "cells[]", "A cell that a session ran."),
    "History": ("showHistory", "", "The cells of a session."),
    "ReplayedCell": (
        "replaySession",
        "cells[]",
        "A cell that ran again: how it ended, and had ended `before`; `differs` names what is not as it was.",
    ),
    "Replay": ("replaySession", "", "What came of a replay."),
    "StoredFile": ("showFile", "", "A file that is kept."),
    "FilePage": ("listFiles", "", "Some of the files."),
    "Line": ("peekResult", "lines[]", "A line in which the pattern was found."),
    "Part": (
        "peekResult",
        "",
        "A part of long output: `text`, or with `grep` the `lines` in which it was found.",
    ),
    "RecordPage": ("listRecords", "", "Some of the records."),
    "Tool": ("listTools", "tools[]", "A tool that the caller may call."),
    "ToolReply": ("callTool", "", "What a tool replied, in the form of its output schema."),
    "Approval": ("showApproval", "", "What waits for a yes, or had its answer."),
    "Review": ("showReview", "", "What a run would change in a work directory."),
    "RunRecord": ("showRecord", "", "Who ran what, and how it ended."),
    "RecordSummary": ("listRecords", "records[]", "A record as lists have it."),
    "AppliedLimits": ("run", "limits", "All limits of a run."),
    "RecordStats": ("countRecords", "", "What records say when they are counted."),
    "Profile": ("listProfiles", "profiles[]", "A profile that the caller may use."),
    "Environment": ("listEnvironments", "environments[]", "An interpreter with its packages."),
}
RENAMED = {"Result": "ResultData", "ToolReply": "ToolReplyData"}  # to which classes of that name add methods
BOTH_FORMS = {"Part"}  # whose operation answers in two forms, which are one type here
MAY_LACK = {  # members that only some forms of the answer have
    "Approval": lambda member: member not in ("approval_id", "state"),
    "Review": lambda member: member not in ("review_id", "state"),
}
# A type of what Adder takes: the operation whose body or query it is, without what the client says by itself.
OPTIONS = {
    "CellOptions": ("runCell", "What a cell takes."),
    "RunOptions": ("run", "What a run takes."),
    "SessionOptions": ("newSession", "What a new session takes."),
    "ReplayOptions": ("replaySession", "What a replay takes."),
    "FileFilter": ("listFiles", "Which files are meant."),
    "RecordFilter": ("listRecords", "Which records are meant."),
    "ToolOptions": ("callTool", "What a call of a tool takes beside its arguments."),
    "TableOptions": ("exportTable", "What the export of a table takes."),
    "CommitOptions": ("commitReview", "What the commit of a review takes."),
}
OWN = {
    "body": {"code", "stream", "background"},
    "query": {"limit", "before"},
    "ToolOptions": {"arguments"},
}
OPTION_TYPES = {"files": "Files"}
# Parts of options that have a name: the operation and the member of its body.
OPTION_PARTS = {
    "Limits": ("run", "limits", "Limits of a run that are not the profile's."),
    "Workdir": ("run", "workdir", "A directory of the server's host that its configuration names."),
}
LONGEST = 100  # columns of a line

HEAD = """// SPDX-License-Identifier: Apache-2.0
// Made from /openapi.json by make_types.py: change src/operations of Adder, or that.
// What Adder takes and answers, as it is on the wire.
import type { Files } from "./bodies.js";
"""

WORDS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
CLOSED = re.compile(r"^\^\(([a-z0-9_.-]+(?:\|[a-z0-9_.-]+)+)\)\$$")  # a pattern that lists words


class Description:
    def __init__(self, document):
        self.document = document
        self.operations = {
            each["operationId"]: each
            for path in document["paths"].values()
            for each in path.values()
            if isinstance(each, dict) and "operationId" in each
        }
        self.known = {
            self.shape({member: schema for member, (schema, _) in self.members(name).items()}): name
            for name in MODELS
        }
        self.known_options = {
            self.shape(self.forms(self.body(operation)[member])[0]["properties"]): name
            for name, (operation, member, _) in OPTION_PARTS.items()
        }

    def body(self, operation):
        """The members that the JSON body of OPERATION has."""
        content = self.resolved(self.operations[operation]["requestBody"])["content"]
        return self.forms(content["application/json"]["schema"])[0]["properties"]

    def resolved(self, schema):
        while "$ref" in schema:
            target = self.document
            for step in schema["$ref"].removeprefix("#/").split("/"):
                target = target[step.replace("~1", "/").replace("~0", "~")]
            schema = {**target, **{name: value for name, value in schema.items() if name != "$ref"}}
        return schema

    def forms(self, schema):
        """The schemas of which SCHEMA is one, without null, each resolved."""
        schema = self.resolved(schema)
        merged = {"properties": {}, "required": []}
        for part in map(self.resolved, schema.get("allOf", [])):
            merged["properties"].update(part.get("properties", {}))
            merged["required"] += part.get("required", [])
        if merged["properties"]:
            return [{"type": "object", **schema, **merged}]
        found = schema.get("anyOf") or schema.get("oneOf")
        if not found:
            return [schema]
        return [each for form in found for each in self.forms(form) if each.get("type") != "null"]

    def may_be_null(self, schema):
        schema = self.resolved(schema)
        union = schema.get("anyOf") or schema.get("oneOf") or []
        return "null" in schema.get("type", "") or any(map(self.may_be_null, union))

    def shape(self, properties):
        """By which a type is known again: its members, and which of them may be null."""
        return frozenset(
            (name, self.may_be_null(schema)) for name, schema in properties.items() if name[0] != "_"
        )

    def answers(self, operation):
        """The forms of what OPERATION answers when it succeeds."""
        responses = self.operations[operation]["responses"]
        content = self.resolved(responses[min(responses)])["content"]
        return self.forms(content["application/json"]["schema"])

    def members(self, name):
        """{member: (schema, whether it is always there)} of the type NAME."""
        operation, place, _ = MODELS[name]
        forms = []
        for schema in self.answers(operation):
            for step in filter(None, place.split(".")):
                schema = self.forms(schema.get("properties", {}).get(step.removesuffix("[]"), {}))[0]
                schema = self.forms(schema.get("items", {}))[0] if step.endswith("[]") else schema
            if schema.get("properties"):
                forms.append(schema)
        if not forms:
            sys.exit(f"make_types.py: {name}: {operation} does not answer with {place or 'an object'}")
        forms = forms if name in BOTH_FORMS else forms[:1]
        always = set.intersection(*(set(form.get("required", [])) for form in forms))
        lacking = MAY_LACK.get(name, lambda member: False)
        return {
            member: (schema, member in always and not lacking(member))
            for form in forms
            for member, schema in form["properties"].items()
            if not member.startswith("_")
        }

    def type_of(self, schema, given, indent="  "):
        """SCHEMA's type in TypeScript. GIVEN: as an option, where null is another word for leaving it out."""
        resolved = self.resolved(schema)
        kinds = resolved.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        nullable = self.may_be_null(resolved)
        if len(kinds) > 1:
            forms = [{**resolved, "type": kind} for kind in kinds if kind != "null"]
        else:
            forms = self.forms(resolved)
        if len(forms) > 4:  # any JSON
            return "unknown"
        types = list(dict.fromkeys(self.form(form, given, indent) for form in forms))
        if "unknown" in types:
            return "unknown"
        return union_of(types + (["null"] if nullable and not given else []), indent)

    def form(self, schema, given, indent):
        kind = schema.get("type")
        values = words_of(schema)
        if values and kind in ("string", None):
            # A newer server may answer with another word; (string & {}) keeps those that are here as completions.
            others = [] if given else ["(string & {})"]
            return union_of([json.dumps(value) for value in values] + others, indent)
        if kind == "array":
            item = self.type_of(schema.get("items", {}), given, indent)
            return f"{item}[]" if re.fullmatch(r"\w+", item) else f"Array<{item}>"
        if kind == "object" or "properties" in schema:
            return self.object_type(schema, given, indent)
        return WORDS.get(kind, "unknown")

    def object_type(self, schema, given, indent):
        properties = schema.get("properties", {})
        known = self.known_options if given else self.known
        named = known.get(self.shape(properties))
        if named:
            return RENAMED.get(named, named)
        if properties:
            required = schema.get("required", [])
            rows = {name: (each, name in required) for name, each in properties.items()}
            return "{\n" + "".join(self.rows(rows, given, indent + "  ")) + indent + "}"
        values = schema.get("additionalProperties") or {}
        return f"Record<string, {self.type_of(values, given, indent) if isinstance(values, dict) else 'unknown'}>"

    def rows(self, members, given, indent="  ", types=None):
        for name, (schema, always) in members.items():
            words = " ".join(self.resolved(schema).get("description", "").split()).replace("*/", "* /")
            if words:
                yield f"{indent}/** {words} */\n"
            kind = (types or {}).get(name) or self.type_of(schema, given, indent)
            shown = name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name)
            yield f"{indent}{shown}: {kind};\n" if always else f"{indent}{shown}?: {optional(kind)};\n"

    def model(self, name):
        yield f"\n/** {MODELS[name][2]} */\nexport interface {RENAMED.get(name, name)} {{\n"
        yield from self.rows(self.members(name), given=False)
        yield "}\n"

    def options(self, name):
        operation, words = OPTIONS[name]
        described = self.operations[operation]
        parameters = list(map(self.resolved, described.get("parameters", [])))
        in_path = {each["name"] for each in parameters if each["in"] == "path"}
        with_body = "requestBody" in described
        if with_body:
            members = self.body(operation)
        else:
            members = {
                each["name"]: {**self.resolved(each["schema"]), "description": each.get("description", "")}
                for each in parameters
                if each["in"] == "query"
            }
        own = OWN["body" if with_body else "query"] | in_path | OWN.get(name, set())
        yield f"\n/** {words} */\nexport interface {name} {{\n"
        for member, schema in members.items():
            if member not in own:
                yield from self.rows({member: (schema, False)}, given=True, types=OPTION_TYPES)
        yield "}\n"

    def option_part(self, name):
        operation, member, words = OPTION_PARTS[name]
        part = self.forms(self.body(operation)[member])[0]
        yield f"\n/** {words} */\nexport interface {name} {{\n"
        required = part.get("required", [])
        members = {each: (schema, each in required) for each, schema in part["properties"].items()}
        yield from self.rows(members, given=True)
        yield "}\n"


def words_of(schema):
    """The words that a text may be; none: any."""
    listed = CLOSED.match(schema.get("pattern", ""))
    if listed:
        return listed[1].split("|")
    return schema.get("enum") or ([schema["const"]] if "const" in schema else [])


def union_of(types, indent):
    line = " | ".join(types)
    if len(line) <= LONGEST - 30 or "\n" in line:
        return line
    return "".join(f"\n{indent}  | {each}" for each in types)


def optional(kind):
    return kind if kind == "unknown" else f"{kind} | undefined"


def text_of(document):
    """src/api.ts for the description DOCUMENT."""
    description = Description(document)
    parts = [part for name in MODELS for part in description.model(name)]
    parts += [part for name in OPTION_PARTS for part in description.option_part(name)]
    parts += [part for name in OPTIONS for part in description.options(name)]
    return HEAD + "".join(parts)


def main(arguments):
    made = text_of(json.load(sys.stdin))
    if "--check" in arguments:
        if TARGET.exists() and TARGET.read_text() == made:
            return 0
        print(f"not current: adder serve --openapi | python make_types.py: {TARGET.name}", file=sys.stderr)
        return 1
    TARGET.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
