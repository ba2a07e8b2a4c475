# SPDX-License-Identifier: Apache-2.0
"""The MCP Inspector's command line, which nobody here wrote, against the real `adder mcp` and a real daemon over HTTP."""
import json
import os
import subprocess

import http_bed
import pytest

import harness
from installed import npm_version

ERAS = ["legacy", "modern", "auto"]
NODE = harness.REPOSITORY / "build/node/bin/node"
LAUNCHER = harness.REPOSITORY / (
    "build/node-packages/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
)
AUTH_REQUIRED, TOOL_ERROR, WRONG_USE = 3, 5, 1  # its exit codes

pytestmark = pytest.mark.skipif(
    not (NODE.exists() and LAUNCHER.exists()), reason="the Inspector is not installed: scripts/mcp-conformance"
)


class Inspector:
    """One target: a command of `adder mcp`, or the URL of a daemon."""

    def __init__(self, directory, adder, served=None):
        self.home = directory
        # It passes hardly anything of its own surroundings on.
        surroundings = [f"{name}={value}" for name, value in adder.process_environment().items()]
        self.target = ["/usr/bin/env", *surroundings, *adder.command("mcp")]
        if served:
            self.target = ["--server-url", f"http://127.0.0.1:{served.port}/mcp", "--transport", "http"]
            self.target += ["--header", f"Authorization: Bearer {served.secret}"]

    def ask(self, method, *options, era="auto", status=0):
        """What it prints, as JSON, and what it says on standard error."""
        command = [NODE, LAUNCHER, "--cli", "--protocol-era", era, "--format", "json", "--method", method, *options]
        done = subprocess.run(
            [*map(str, command), *self.target],
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), "NO_COLOR": "1"},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=harness.DEADLINE * 2,
        )
        assert done.returncode == status, done
        return (json.loads(done.stdout) if done.stdout.strip() else None), done.stderr.decode()

    def call(self, name, arguments, *options, **others):
        said, _ = self.ask("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments), *options, **others)
        return said["result"]


@pytest.fixture
def home(tmp_path):
    os.chmod(tmp_path, 0o755)
    return tmp_path


@pytest.fixture
def by_stdio(adder, home):
    return Inspector(home, adder)


@pytest.fixture
def by_http(make_adder, home):
    served = http_bed.Served(make_adder())
    yield Inspector(home, served.adder, served)
    served.stop()


def judge(inspector, era):
    """What each era is asked: the lint of all tools, and a call."""
    said, stderr = inspector.ask("tools/list", "--strict", era=era)
    assert "run_python" in {tool["name"] for tool in said["result"]["tools"]}
    assert "warning" not in stderr and "error" not in stderr, stderr

    result = inspector.call("run_python", {"code": "print(6 * 7)"}, era=era)
    assert result["content"][0] == {"type": "text", "text": "42\n"}
    assert result["structuredContent"]["stdout"] == "42\n" and not result["isError"]
    assert (result.get("resultType") == "complete") == (era != "legacy")


@pytest.mark.parametrize("era", ERAS)
def test_standard_input_in_each_era(by_stdio, client_row, era):
    judge(by_stdio, era)
    version = npm_version(LAUNCHER.parents[5], "@modelcontextprotocol/inspector")
    client_row("MCP", "MCP Inspector", version, "text, structured content")


def test_http_in_each_era(by_http):
    for era in ERAS:
        judge(by_http, era)


def test_what_there_is_beside_tools(by_stdio):
    said, _ = by_stdio.ask("prompts/get", "--prompt-name", "use_adder")
    assert said["result"]["messages"][0]["content"]["type"] == "text"
    said, _ = by_stdio.ask("resources/list")
    uri = said["result"]["resources"][0]["uri"]
    said, _ = by_stdio.ask("resources/read", "--uri", uri)
    assert said["result"]["contents"][0]["uri"] == uri


def test_code_that_fails_is_a_result(by_stdio):
    result = by_stdio.call("run_python", {"code": "1/0"})
    assert not result["isError"] and "ZeroDivisionError" in result["content"][0]["text"]
    wrong = by_stdio.call("run_python", {"cod": "1/0"}, status=TOOL_ERROR)
    assert wrong["isError"] and "did you mean code" in wrong["content"][0]["text"]
    by_stdio.ask("tools/call", "--tool-name", "no_such_tool", status=TOOL_ERROR)


def test_a_wrong_token_is_told_apart(by_http):
    by_http.target[-1] = "Authorization: Bearer adder_" + "A" * 43
    by_http.ask("tools/list", "--stored-auth-only", status=AUTH_REQUIRED)


def test_many_calls_at_once(by_http):
    """The Inspector's load test: every call has its answer."""
    for era in ("legacy", "modern"):
        load = ("--load", "--load-concurrency", "16", "--load-requests", "60")
        said = by_http.call("run_python", {"code": "print(2**10)"}, *load, era=era)
        assert said["ok"] == said["requests"] == 60 and said["errors"] == said["toolErrors"] == 0
