# SPDX-License-Identifier: Apache-2.0
"""docs/mcp.md: its snippets run, and its configurations are what `adder mcp install --print` prints."""
import json
import os
import re
import shlex
import subprocess
import tomllib

import pytest

from harness import REPOSITORY
from served import run_python
from test_mcp_typescript import PACKAGES, run_node

PAGE = (REPOSITORY / "docs" / "mcp.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```\n", PAGE, re.S | re.M)


@pytest.mark.parametrize("code, output", zip(blocks("python"), ["hi\n42\nok\n", "42\n"], strict=True), ids=["stdio", "http"])
def test_python(served, tmp_path, code, output):
    command = json.dumps(served.adder.command("mcp"))
    environment = json.dumps(served.adder.process_environment())
    code = code.replace('command="adder", args=["mcp"]', f"command={command}[0], args={command}[1:], env={environment}")
    assert run_python(code, tmp_path, served.variables()).rstrip("\n") == output.rstrip("\n")


def test_from_a_shell(served):
    """What is said at once is answered, though the pipe ends before that."""
    [command] = re.findall(r"^    (printf .*?\| adder mcp)$", PAGE, re.S | re.M)
    command = command.removesuffix("adder mcp") + shlex.join(served.adder.command("mcp"))
    environment = served.adder.process_environment()
    ended = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, timeout=60)
    begun, called = map(json.loads, ended.stdout.splitlines())
    assert (ended.returncode, ended.stderr, begun["id"], called["id"]) == (0, "", 1, 2)
    assert called["result"]["structuredContent"]["value"] == "42"


def test_typescript(served, tmp_path):
    (tmp_path / "snippet.mjs").write_text(blocks("js")[0])
    if PACKAGES.exists():
        os.symlink(PACKAGES, tmp_path / "node_modules")
    ended = run_node(tmp_path / "snippet.mjs", env=served.variables())
    assert (ended.returncode, ended.stdout) == (0, "42\n"), ended.stderr


def test_configurations(served):
    def printed(*options):
        ended = served.adder.call("mcp", "install", "--print", *options)
        assert ended.returncode == 0, ended
        return ended.stdout

    def plain(entry):
        return {**entry, "command": "/usr/local/bin/adder", "env": None} if "command" in entry else entry

    stdio, http = (json.loads(block)["mcpServers"]["adder"] for block in blocks("json"))
    toml = tomllib.loads(blocks("toml")[0])["mcp_servers"]["adder"]
    for client in ("claude-desktop", "cursor"):
        assert plain(json.loads(printed("--client", client))["mcpServers"]["adder"]) == plain(stdio)
    assert plain(tomllib.loads(printed("--client", "codex"))["mcp_servers"]["adder"]) == plain(toml)
    over = printed("--client", "claude-code", "--url", "http://127.0.0.1:7117")
    assert json.loads(over)["mcpServers"]["adder"] == http and over in PAGE
