# SPDX-License-Identifier: Apache-2.0
"""A client of MCP that can be asked, and that knows tasks: what mcp_lines.Lines does not expect of a server, held against what
the versions promise as strictly."""
import os
import subprocess

import pytest

from harness import strict_json
from mcp_lines import ID, LEGACY, META, MODERN_RESULT, Lines, check

TASKS = META + "tasks"
CAN_ASK = {"elicitation": {}}
CAN_TASKS = {"extensions": {TASKS: {}}}

ASKED = {
    "type": "object",
    "required": ["method", "params"],
    "properties": {
        "method": {"enum": ["elicitation/create", "sampling/createMessage", "roots/list"]},
        "params": {"type": "object"},
    },
}
QUESTION = {
    **ASKED,
    "required": ["jsonrpc", "id", "method", "params"],
    "properties": {**ASKED["properties"], "jsonrpc": {"const": "2.0"}, "id": ID},
    "additionalProperties": False,
}
INPUT_REQUIRED = {
    "required": ["resultType", "inputRequests", "requestState"],
    "properties": {
        "inputRequests": {"minProperties": 1, "additionalProperties": ASKED},
        "requestState": {"type": "string"},
    },
    "not": {"required": ["content"]},
}
TASK = {
    "required": ["taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs"],
    "properties": {
        "taskId": {"type": "string"},
        "status": {"enum": ["working", "input_required", "completed", "failed", "cancelled"]},
        "createdAt": {"pattern": "^....-..-..T.*Z$"},
        "lastUpdatedAt": {"pattern": "^....-..-..T.*Z$"},
        "ttlMs": {"type": "integer", "minimum": 1},
        "pollIntervalMs": {"type": "integer", "minimum": 1},
    },
    "not": {"required": ["requestState"]},
}
OF_STATUS = {"completed": "result", "failed": "error", "input_required": "inputRequests"}
METHODS = {
    "tasks/get": TASK,
    "resources/list": {
        "required": ["resources"],
        "properties": {"resources": {"items": {"required": ["uri", "name", "description"]}}},
    },
    "resources/templates/list": {
        "required": ["resourceTemplates"],
        "properties": {"resourceTemplates": {"items": {"required": ["uriTemplate", "name", "description"]}}},
    },
    "resources/read": {
        "required": ["contents"],
        "properties": {
            "contents": {
                "minItems": 1,
                "items": {
                    "required": ["uri", "mimeType"],
                    "oneOf": [{"required": ["text"]}, {"required": ["blob"]}],
                },
            }
        },
    },
    "prompts/list": {
        "required": ["prompts"],
        "properties": {"prompts": {"items": {"required": ["name", "title", "description"]}}},
    },
    "prompts/get": {
        "required": ["messages"],
        "properties": {"messages": {"minItems": 1, "items": {"required": ["role", "content"]}}},
    },
    "completion/complete": {
        "required": ["completion"],
        "properties": {
            "completion": {
                "required": ["values", "total", "hasMore"],
                "properties": {"values": {"maxItems": 100, "items": {"type": "string"}}},
            }
        },
    },
}


class Asked(Lines):
    """ANSWER: of a legacy client, what it answers to a question (a result, or None: nothing)."""

    def __init__(self, adder, *options, answer=None, **others):
        self.answer_to = answer
        self.questions = []
        super().__init__(adder, *options, **others)

    def examine(self, message):
        result = message.get("result", {})
        if "method" in message and "id" in message:
            check(message, QUESTION)
            assert self.version in LEGACY, "a server does not ask in the modern era"
            self.questions.append(message)
            answer = self.answer_to(message) if self.answer_to else None
            if answer is not None:
                self.send({"jsonrpc": "2.0", "id": message["id"], **answer})
        elif result.get("resultType") in ("input_required", "task"):
            check(result, MODERN_RESULT)
            check(result, {"input_required": INPUT_REQUIRED, "task": TASK}[result["resultType"]])
        else:
            super().examine(message)
            method = self.methods.get(message.get("id"))
            if method in METHODS and "result" in message:
                check(result, METHODS[method])
            if method == "tasks/get" and "result" in message:
                has = {"result", "error", "inputRequests"} & set(result)
                assert has == ({OF_STATUS[result["status"]]} if result["status"] in OF_STATUS else set()), result

    def again(self, name, arguments, asked, answers):
        """The call once more, with ANSWERS to what ASKED, a result, wants to know."""
        params = {"name": name, "arguments": arguments, "requestState": asked["requestState"]}
        return self.ask("tools/call", {**params, "inputResponses": answers})

    def read(self, uri):
        [contents] = self.result("resources/read", {"uri": uri})["contents"]
        return contents

    def everything(self, method, member):
        """All pages of a list."""
        rows, cursor = [], None
        while True:
            page = self.result(method, {"cursor": cursor} if cursor else {})
            rows += page[member]
            cursor = page.get("nextCursor")
            if not cursor:
                return rows

    def until(self, condition):
        """Receives until a message fulfils CONDITION."""
        for message in self.arrived:
            if condition(message):
                self.arrived.remove(message)
                return message
        while True:
            message = self.receive()
            if condition(message):
                return message
            self.arrived.append(message)

    def told(self, method, **params):
        """The params of a notification METHOD that has PARAMS among its own."""

        def fits(message):
            return message.get("method") == method and all(
                message.get("params", {}).get(name) == value for name, value in params.items()
            )

        return self.until(fits)["params"]


class AnotherUser:
    """Root at the daemon of ADDER's user: another owner. Stands for ADDER where commands are started."""

    def __init__(self, adder, installation):
        if adder.user.uid == 0 or os.geteuid() != 0:
            pytest.skip("another owner can use the daemon of an ordinary user only, and only as root")
        self.adder, self.program, self.deadline = adder, installation.program, adder.deadline
        # Where there was no daemon yet, one would be started as this user, who would own its socket.
        assert adder.call("run", "-c", "pass").returncode == 0
        self.own = adder.directory / "of-root"
        self.own.mkdir(mode=0o700, exist_ok=True)
        (self.own / "adder.conf").write_text(f"[daemon]\nsocket = {adder.socket}\n")

    def popen(self, *arguments, **options):
        variables = {
            **self.adder.process_environment(),
            "ADDER_RUNTIME_DIR": str(self.own),
            "ADDER_CONFIG_DIR": str(self.own),
        }
        command = [str(self.program), *map(str, arguments)]
        streams = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        return subprocess.Popen(command, bufsize=0, cwd="/", env=variables, **{**streams, **options})


def page_of(contents):
    return strict_json(contents["text"])
