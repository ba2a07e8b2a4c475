# SPDX-License-Identifier: Apache-2.0
"""The MCP clients of agent frameworks, and what each hands to a model. frameworks/ has the calls, and pins for each environment."""
import json
import re
import subprocess

import pytest

from harness import DEADLINE, REPOSITORY
from test_mcp_sdk import BLUE
from test_mcp_typescript import NODE, PACKAGES

CALLS = REPOSITORY / "tests" / "clients" / "frameworks" / "calls.py"
NODE_CALLS = CALLS.with_name("calls.mjs")
CELLS = [
    "open('a.csv', 'w').write('a,b')\nprint('hi')\nclass Dot:\n"
    f"    def _repr_png_(self): return {BLUE!r}\ndisplay(Dot())\n6 * 7",
    *["1 / 0"] * 3,
]
NAMELESS = "`links=text`, because its name is `mcp`"

# Of each call: its environment, the client, and how Adder adapts.
FRAMEWORKS = {
    ("official", "mcp-1"): ("official SDK for Python", NAMELESS),
    ("official", "mcp-2"): ("official SDK for Python", NAMELESS),
    ("langchain", "mcp-1"): ("LangChain (`langchain-mcp-adapters`)", f"{NAMELESS}; it would pass links to the model's API, which rejects them"),
    ("autogen", "mcp-1"): ("AutoGen (`autogen-ext`)", f"{NAMELESS}; it cannot handle links"),
    ("smolagents", "mcp-1"): ("smolagents", NAMELESS),
    ("fastmcp", "mcp-2"): ("FastMCP", "optional fields of forms have defaults; without them it rejects its own answer"),
    ("pydantic_ai", "mcp-2"): ("pydantic-ai", "failed code is not a tool error; it gives up after the second error"),
    ("openai_agents", "mcp-2"): ("OpenAI Agents SDK", NAMELESS),
    ("llama_index", "mcp-2"): ("LlamaIndex (`llama-index-tools-mcp`)", NAMELESS),
    ("strands", "mcp-2.1"): ("Strands Agents", NAMELESS),
    ("google_adk", "mcp-2.1"): ("Google ADK", ""),
    ("vercel_ai", "npm"): ("Vercel AI SDK (`@ai-sdk/mcp`)", ""),
    ("openai_agents_js", "npm"): ("OpenAI Agents SDK for TypeScript (`@openai/agents`)", ""),
}

# What a reply may have, and how it shows in what a framework hands on.
PARTS = {
    "text": ("'hi\\n", '"hi\\n', "hi\\\\n", "ZeroDivisionError: "),
    "pictures": (BLUE, "\\x89PNG"),
    "structured content": ("'outcome': ", '"outcome":'),
    "links to files": ("adder://files/",),
    "ids of files": ("file_id 01",),
}


def parts_of(told):
    return [part for part, signs in PARTS.items() if any(sign in told for sign in signs)]


def program_of(name, environment):
    """The command that makes the call."""
    if environment == "npm":
        program, calls, missing = NODE, NODE_CALLS, not PACKAGES.exists()
    else:
        program, calls, missing = REPOSITORY / "build" / f"frameworks-{environment}" / "bin" / "python", CALLS, False
    if missing or not program.exists():
        pytest.skip(f"no {environment} of frameworks: . scripts/common.sh && clients && node_packages")
    return [program, calls, name]


@pytest.mark.parametrize("call", FRAMEWORKS, ids="-".join)
def test_what_a_framework_hands_to_a_model(served, client_row, call):
    command, *arguments = served.adder.command("mcp")
    server = {"command": str(command), "args": [str(each) for each in arguments], "env": served.adder.process_environment()}
    ended = subprocess.run(
        program_of(*call),
        input=json.dumps({**server, "cells": CELLS, "packages": str(PACKAGES.parent)}),
        cwd=served.adder.scratch,
        capture_output=True,
        text=True,
        timeout=DEADLINE * 4,
    )
    assert ended.returncode == 0, ended.stderr
    seen = json.loads(ended.stdout.splitlines()[-1])
    assert seen["tools"] == ["get_file", "list_files", "peek_result", "run_python"]
    whole, *failed = seen["told"]
    assert "42" in whole and all("ZeroDivisionError" in each for each in failed) and len(failed) == 3
    reached, client, changed = parts_of(whole), *FRAMEWORKS[call]
    assert "text" in reached and ("ids of files" in reached) == changed.startswith(NAMELESS), reached
    others = [part for part in parts_of(failed[0]) if part not in reached]
    reaches = ", ".join(reached) + "".join(f"; {part} if there are no pictures or files" for part in others)
    client_row("MCP", client, seen["version"], reaches, changed)


def test_every_call_is_tried():
    namespace = {}
    exec(compile(CALLS.read_text(), str(CALLS), "exec"), {"__name__": "calls"}, namespace)
    known = {function.__name__ for function in namespace["PACKAGES"]}
    known.update(re.findall(r"^  async (\w+)\(\) \{$", NODE_CALLS.read_text(), re.M))
    assert known == {name for name, _ in FRAMEWORKS}
