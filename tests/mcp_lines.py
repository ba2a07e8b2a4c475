# SPDX-License-Identifier: Apache-2.0
"""A client of MCP on standard input and output that believes nothing: each line is held against what the versions promise."""
import collections
import itertools
import json
import os
import select
import subprocess
import time

import jsonschema

from harness import strict_json

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
META = "io.modelcontextprotocol/"

ID = {"type": ["string", "integer"]}
CONTENT = {
    "type": "object",
    "required": ["type"],
    "oneOf": [
        {
            "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
        {
            "properties": {
                "type": {"enum": ["image", "audio"]},
                "data": {"type": "string", "pattern": "^[A-Za-z0-9+/]*=*$"},
                "mimeType": {"type": "string"},
            },
            "required": ["data", "mimeType"],
            "additionalProperties": False,
        },
        {
            "properties": {
                "type": {"const": "resource_link"},
                "uri": {"type": "string", "pattern": "^[a-z]+:"},
                "name": {"type": "string"},
                "description": {"type": "string"},
                "mimeType": {"type": "string"},
                "size": {"type": "integer", "minimum": 0},
            },
            "required": ["uri", "name"],
            "additionalProperties": False,
        },
        {
            "properties": {"type": {"const": "resource"}, "resource": {"type": "object", "required": ["uri"]}},
            "required": ["resource"],
        },
    ],
}
RESULTS = {
    "initialize": {
        "required": ["protocolVersion", "capabilities", "serverInfo", "instructions"],
        "properties": {
            "protocolVersion": {"enum": list(LEGACY)},
            "capabilities": {"type": "object", "required": ["tools"]},
            "serverInfo": {"required": ["name", "version"]},
        },
    },
    "server/discover": {
        "required": ["supportedVersions", "capabilities"],
        "properties": {"supportedVersions": {"const": [MODERN]}, "capabilities": {"required": ["tools"]}},
    },
    "tools/list": {
        "required": ["tools"],
        "properties": {
            "nextCursor": {"type": "string"},
            "tools": {
                "items": {
                    "required": ["name", "description", "inputSchema", "annotations"],
                    "properties": {
                        "name": {"pattern": "^[A-Za-z0-9_-]{1,64}$"},
                        "inputSchema": {"required": ["type"], "properties": {"type": {"const": "object"}}},
                        "outputSchema": {"required": ["type"], "properties": {"type": {"const": "object"}}},
                    },
                }
            },
        },
    },
    "tools/call": {
        "required": ["content", "isError"],
        "properties": {
            "content": {"type": "array", "minItems": 1, "items": CONTENT},
            "isError": {"type": "boolean"},
            "structuredContent": {"type": "object"},
        },
    },
}
CACHED = {"server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list"}
MODERN_RESULT = {
    "required": ["resultType", "_meta"],
    "properties": {
        "resultType": {"enum": ["complete", "input_required", "task"]},
        "_meta": {
            "required": [META + "serverInfo"],
            "properties": {META + "serverInfo": {"required": ["name", "version"]}},
        },
    },
}
CACHE_HINTS = {
    "required": ["ttlMs", "cacheScope"],
    "properties": {"ttlMs": {"type": "integer", "minimum": 0}, "cacheScope": {"enum": ["public", "private"]}},
}
RESPONSE = {
    "type": "object",
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": ID,
        "result": {"type": "object"},
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "integer"}, "message": {"type": "string", "minLength": 1}},
            "additionalProperties": False,
            "patternProperties": {"^data$": {}},
        },
    },
    "required": ["jsonrpc"],
    "oneOf": [{"required": ["id", "result"]}, {"required": ["error"]}],
    "additionalProperties": False,
}
NOTIFICATION = {
    "type": "object",
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "method": {"type": "string", "pattern": "^notifications/"},
        "params": {"type": "object"},
    },
    "required": ["jsonrpc", "method"],
    "additionalProperties": False,
}
PROGRESS = {
    "required": ["progressToken", "progress"],
    "properties": {"progressToken": ID, "progress": {"type": "number"}, "message": {"type": "string"}},
    "additionalProperties": False,
}


def check(value, schema):
    jsonschema.validate(value, schema, cls=jsonschema.Draft202012Validator)


class Lines:
    """`adder mcp`. ERA: a legacy version, which is initialized here, or the modern one, where each request has its _meta. NAME: as
    the client calls itself. PLAIN: it is sent no structuredContent."""

    def __init__(self, adder, *options, version=MODERN, can=None, begin=True, name="lines", plain=False):
        self.adder, self.version, self.can, self.name = adder, version, can or {}, name
        self.plain = plain or version == "2025-03-26"
        self.process = adder.popen("mcp", *options, stdin=subprocess.PIPE)
        self.numbers = itertools.count(1)
        self.methods = {}  # of requests by id
        self.arrived = collections.deque()
        self.held = b""
        if version != MODERN and begin:
            self.initialize(version)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    # ---- sending ----

    def raw(self, line):
        data = line if isinstance(line, bytes) else line.encode()
        while data:
            data = data[self.process.stdin.write(data) :]

    def send(self, message):
        self.raw(json.dumps(message) + "\n")

    def message(self, method, params=None, id=None, meta=None):
        params = dict(params or {})
        if self.version == MODERN:
            params["_meta"] = {
                META + "protocolVersion": MODERN,
                META + "clientCapabilities": self.can,
                META + "clientInfo": {"name": self.name, "version": "1"},
                **(meta or {}),
            }
        elif meta:
            params["_meta"] = meta
        id = next(self.numbers) if id is None else id
        self.methods[id] = method
        return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}

    def start(self, method, params=None, id=None, meta=None):
        """Sends a request; its id."""
        message = self.message(method, params, id, meta)
        self.send(message)
        return message["id"]

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def cancel(self, id):
        self.notify("notifications/cancelled", {"requestId": id, "reason": "no longer wanted"})

    # ---- receiving ----

    def line(self, deadline=None):
        """The next line; None at the end."""
        deadline = deadline or self.adder.deadline
        end = time.monotonic() + deadline
        while b"\n" not in self.held:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            assert ready, f"no line within {deadline} s"
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            if not part:
                assert self.held == b"", "the last line has no end"
                return None
            self.held += part
        line, self.held = self.held.split(b"\n", 1)
        return line.decode()

    def receive(self):
        line = self.line()
        assert line is not None, self.process.stderr.read()
        message = strict_json(line)
        for each in message if isinstance(message, list) else [message]:
            self.examine(each)
        return message

    def examine(self, message):
        if "method" in message:
            check(message, NOTIFICATION)
            if message["method"] == "notifications/progress":
                check(message["params"], PROGRESS)
            return
        check(message, RESPONSE)
        method = self.methods.get(message.get("id"))
        if "result" not in message or not method:
            return
        result = message["result"]
        check(result, RESULTS.get(method, {}))
        if method == "tools/call" and "content" in result and not is_relayed(result):
            assert ("structuredContent" in result) != self.plain
        if method == "tools/list":
            assert all(("title" in tool) == (self.version != "2025-03-26") for tool in result["tools"])
        if method == "tools/list" and self.plain:
            assert not any("outputSchema" in tool for tool in result["tools"])
        if self.version == MODERN:
            check(result, MODERN_RESULT)
            if method in CACHED:
                check(result, CACHE_HINTS)
        else:
            assert not {"resultType", "ttlMs", "cacheScope"} & set(result), "the modern era's fields on the legacy wire"

    def answer(self, id):
        """The response to ID. What else comes until then waits in `arrived`."""
        for message in self.arrived:
            if message.get("id") == id and "method" not in message:
                self.arrived.remove(message)
                return message
        while True:
            message = self.receive()
            if not isinstance(message, list) and message.get("id") == id and "method" not in message:
                return message
            self.arrived.append(message)

    def ask(self, method, params=None, **others):
        return self.answer(self.start(method, params, **others))

    def result(self, method, params=None, **others):
        response = self.ask(method, params, **others)
        assert "result" in response, response
        return response["result"]

    def problem(self, method, params=None, **others):
        response = self.ask(method, params, **others)
        assert "error" in response, response
        return response["error"]

    # ---- what all tests do ----

    def initialize(self, version, **others):
        params = {
            "protocolVersion": version,
            "capabilities": self.can,
            "clientInfo": {"name": self.name, "version": "1"},
            **others,
        }
        result = self.result("initialize", params)
        self.notify("notifications/initialized")
        return result

    def tools(self):
        return {tool["name"]: tool for tool in self.result("tools/list")["tools"]}

    def call(self, name, arguments=None, **others):
        return self.result("tools/call", {"name": name, "arguments": arguments or {}}, **others)

    def run(self, code, meta=None, **arguments):
        return self.call("run_python", {"code": code, **arguments}, meta=meta)

    def notices(self, method):
        return [message["params"] for message in self.arrived if message.get("method") == method]

    def end(self):
        """Ends the input; what still comes, the exit code, and standard error."""
        self.process.stdin.close()
        rest = []
        while (line := self.line()) is not None:
            rest.append(strict_json(line))
        return rest, self.process.wait(self.adder.deadline), self.process.stderr.read().decode()


def kill_daemon(adder):
    """Kills it, and waits until no thread of it is left, and so no connection."""
    descriptor = os.pidfd_open(adder.daemon())
    adder.kill()
    ready, _, _ = select.select([descriptor], [], [], adder.deadline)
    os.close(descriptor)
    assert ready, "the daemon does not end"


def is_relayed(result):
    """Whether no daemon said it, but `adder mcp` itself."""
    return result["isError"] and text(result).startswith(("the daemon ended", "no daemon could be reached"))


def text(result):
    """What a model reads of a call's result."""
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text").rstrip("\n")


def parts(result, kind):
    return [part for part in result["content"] if part["type"] == kind]
