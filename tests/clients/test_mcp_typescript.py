# SPDX-License-Identifier: Apache-2.0
"""The official MCP clients for TypeScript against Adder: the present package in each era and the one before it, over standard input
and over HTTP with a token."""
import json
import pathlib
import subprocess

import pytest

from harness import DEADLINE, REPOSITORY, wait_until
from installed import npm_version
from test_mcp_sdk import BLUE, SHOW

BUILD = REPOSITORY / "build"
NODE, PACKAGES = BUILD / "node" / "bin" / "node", BUILD / "node-packages" / "node_modules"
STEPS = pathlib.Path(__file__).with_name("mcp_steps.mjs")
MODES = {
    "auto": {"package": "client", "mode": "auto"},
    "legacy": {"package": "client", "mode": "legacy"},
    "2026-07-28": {"package": "client", "mode": {"pin": "2026-07-28"}},
    "sdk": {"package": "sdk"},
}


def run_node(script, *arguments, **options):
    if not NODE.exists() or not PACKAGES.exists():
        pytest.skip("no Node: . scripts/common.sh && node_packages")
    return subprocess.run(
        [NODE, script, *arguments], capture_output=True, text=True, timeout=DEADLINE * 2, **options
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_all_steps(served, client_row, transport, mode):
    if transport == "stdio":
        command, *arguments = served.adder.command("mcp")
        environment, directory = served.adder.process_environment(), str(served.adder.scratch)
        way = {"command": command, "arguments": arguments, "environment": environment, "directory": directory}
    else:
        way = {"url": f"{served.url}/mcp", "token": served.token("person")}
    asked = {**MODES[mode], **way, "packages": str(PACKAGES.parent), "picture": SHOW}
    ended = run_node(STEPS, json.dumps(asked))
    assert ended.returncode == 0, ended.stderr
    seen = json.loads(ended.stdout)
    assert {"run_python", "peek_result", "list_files", "get_file"} == set(seen["tools"])
    assert seen["run"] == {"text": "hi\n42", "value": "42", "error": False}
    assert not seen["failed"]["error"] and "ZeroDivisionError" in seen["failed"]["text"]
    assert seen["session"].startswith("42") and seen["ended"] == "ended"
    assert seen["picture"] == {"mime": "image/png", "data": BLUE}
    assert seen["file"] == {"name": "a.txt", "text": "kept"}
    assert seen["approved"] == {"text": "done", "error": False}
    assert seen["denied"]["error"] and "not today" in seen["denied"]["text"]
    assert len(seen["asked"]) == 2 and "print('done')" in seen["asked"][0]
    assert "started" in seen["progress"] and seen["cancelled"] == "yes" and seen["after"] == "'still there'"
    wait_until(lambda: served.adder.status()["engine"]["running"] == 0, "the run to be cancelled")
    package = f"@modelcontextprotocol/{MODES[mode]['package']}"
    parts = "text, pictures, structured content, links to files"
    client_row("MCP", f"official SDK for TypeScript (`{package}`)", npm_version(PACKAGES, package), parts)
