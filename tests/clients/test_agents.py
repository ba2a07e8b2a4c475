# SPDX-License-Identifier: Apache-2.0
"""examples/agents: loops of SDKs with a double of a model. The double does not know the answers; Adder does."""
import contextlib
import importlib.metadata
import json
import pathlib
import subprocess
import sys

import pytest

from harness import DEADLINE, REPOSITORY

AGENTS = REPOSITORY / "examples" / "agents"
DOUBLE = pathlib.Path(__file__).with_name("model_double.py")

# Of each example: the tool that the double asks for, its arguments, and what only a run can have said.
EXAMPLES = {
    "openai_loop": ("compute_with_python", {"code": "123456789 * 987654321"}, "121932631112635269"),
    "anthropic_loop": ("run_python", {"code": "print(sum(range(12345)))"}, "76193340"),
    "langchain_tools": ("compute_with_python", {"code": "2 ** 77"}, "151115727451828646838272"),
    "pydantic_ai_agent": ("compute_with_python", {"code": "3 ** 50"}, "717897987691852588770249"),
    "openai_agents_agent": ("compute_with_python", {"code": "5 ** 40"}, "9094947017729282379150390625"),
    "smolagents_agent": ("code", {"code": "print(7 ** 30)"}, "22539340290692258087863249"),
}

SDKS = {"openai_loop": ("OpenAI SDK", "openai"), "anthropic_loop": ("Anthropic SDK", "anthropic")}  # frameworks: test_integrations.py


@contextlib.contextmanager
def model(tool, arguments):
    command = [sys.executable, DOUBLE, tool, json.dumps(arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as double:
        try:
            yield double.stdout.readline().strip()
        finally:
            double.stdin.close()
            double.wait(DEADLINE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_loop_ends_with_what_was_computed(served, client_row, name):
    tool, arguments, expected = EXAMPLES[name]
    assert 15 <= len((AGENTS / f"{name}.py").read_text().splitlines()) <= 75, "an example is short"
    with model(tool, arguments) as url:
        told = {
            "OPENAI_BASE_URL": f"{url}/v1",
            "ANTHROPIC_BASE_URL": url,
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_API_KEY": "none",
        }
        ended = subprocess.run(
            [sys.executable, AGENTS / f"{name}.py", "What is it?"],
            env={**served.variables(), **told},
            capture_output=True,
            text=True,
            timeout=DEADLINE * 2,
        )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("The tool said: ") and expected in ended.stdout, ended.stdout
    if name in SDKS:
        client, package = SDKS[name]
        done = f"tools in its format (`tools.definitions`); see `examples/agents/{name}.py`"
        client_row("Agent frameworks", client, importlib.metadata.version(package), "a tool's reply as JSON", done)


def test_every_example_is_tried():
    assert {path.stem for path in AGENTS.glob("*.py")} == set(EXAMPLES)
