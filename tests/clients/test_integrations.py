# SPDX-License-Identifier: Apache-2.0
"""adder_client.integrations in the frameworks themselves. Whole loops with a double of a model are examples: test_agents.py."""
import asyncio
import importlib.metadata
import json

import pytest
from agents.tool_context import ToolContext
from langchain_core.messages import ToolMessage
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from smolagents import CodeAgent, LogLevel, Tool, ToolCallingAgent
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model

from adder_client import Adder
from adder_client.integrations import langchain, openai_agents, pydantic_ai, smolagents

FRAMEWORKS = {  # of each module, what it is for, and the package
    langchain: ("LangChain", "langchain-core"),
    openai_agents: ("OpenAI Agents SDK", "openai-agents"),
    pydantic_ai: ("pydantic-ai", "pydantic-ai-slim"),
    smolagents: ("smolagents", "smolagents"),
}
MODULES = tuple(FRAMEWORKS)
PICTURE = """
class Dot:
    def _repr_png_(self): return b"\\x89PNG" + bytes(100000)
display(Dot())
print("x" * 60000)
"""


@pytest.fixture
def adder(served):
    with Adder(served.url, served.token("client")) as client:
        yield client


def named(module, adder, toolset="adder"):
    return {tool.name: tool for tool in module.tools(adder, toolset)}


def openai_call(tool, arguments):
    context = ToolContext(context=None, tool_name=tool.name, tool_call_id="1", tool_arguments=arguments)
    return asyncio.run(tool.on_invoke_tool(context, arguments))


def pydantic_call(tool, arguments):
    """By an agent whose model asks for the tool, and says what came of it."""

    def said(messages, info):
        last = messages[-1].parts[-1]
        if last.part_kind == "tool-return":
            return ModelResponse(parts=[TextPart(last.content)])
        return ModelResponse(parts=[ToolCallPart(tool.name, arguments)])

    return Agent(FunctionModel(said), tools=[tool]).run_sync("go").output


CALLS = {  # as each framework calls a tool for the JSON that a model gave
    langchain: lambda tool, arguments: tool.invoke(json.loads(arguments)),
    openai_agents: openai_call,
    pydantic_ai: pydantic_call,
    smolagents: lambda tool, arguments: tool(**json.loads(arguments), sanitize_inputs_outputs=True),
}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_tools_are_adders_own(adder, module):
    tools = named(module, adder)
    assert {(tool.name, tool.description) for tool in tools.values()} == {
        (tool.name, tool.description) for tool in adder.tools.list("adder")
    }
    assert [tool.name for tool in module.tools(adder)] == [tool.name for tool in adder.tools.list()]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_tool_is_called(adder, client_row, module):
    call = CALLS[module]
    run_python = named(module, adder)["run_python"]
    reply = json.loads(call(run_python, '{"code": "print(1)\\n6 * 7"}'))
    assert (reply["outcome"], reply["stdout"], reply["value"]) == ("ok", "1\n", "42")
    failed = json.loads(call(run_python, '{"code": "import nosuch"}'))
    assert failed["error"]["type"] == "ModuleNotFoundError" and "environment" in failed["error"]["hint"]
    long = call(run_python, json.dumps({"code": PICTURE}))
    assert len(long) <= 10_000 and '"image/png": "(a picture)"' in long and " more characters ..." in long
    json.loads(long)
    client, package = FRAMEWORKS[module]
    reaches = "a tool's reply as JSON of at most 10,000 characters, without picture data"
    done = f"`{module.__name__}`"
    client_row("Agent frameworks", client, importlib.metadata.version(package), reaches, done)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_tools_of_one_call_share_a_conversation(adder, module):
    """What one puts down the next finds, and other agents do not."""
    call = CALLS[module]
    stored = adder.files.put(b"kept", "kept.txt")
    tools, others = named(module, adder), named(module, adder)
    local = json.loads(call(tools["load_file"], json.dumps({"file_id": stored.file_id})))["local_path"]
    code = json.dumps({"code": f"import os; os.path.exists({local!r})"})
    assert json.loads(call(tools["run_python"], code))["value"] == "True"
    assert json.loads(call(others["run_python"], code))["value"] == "False"


def test_langchain_has_the_calls_of_models_and_awaits(adder):
    tool = named(langchain, adder, "compute")["compute_with_python"]
    call = {"name": tool.name, "args": {"code": "2 ** 10"}, "id": "7", "type": "tool_call"}
    message = tool.invoke(call)
    assert isinstance(message, ToolMessage) and json.loads(message.content)["text"] == "1024" and message.tool_call_id == "7"
    assert json.loads(asyncio.run(tool.ainvoke({"code": "2 ** 11"})))["text"] == "2048"


@pytest.mark.parametrize("arguments, said", [("{", "no JSON:"), ("[1]", "no JSON object"), ('{"cod": 1}', "code")])
def test_openai_agents_tells_the_model_what_was_wrong(adder, arguments, said):
    assert said in openai_call(named(openai_agents, adder)["run_python"], arguments)


class Scripted(Model):
    """A model of smolagents that says what it is told to, and keeps what it was told."""

    def __init__(self, *said):
        super().__init__(model_id="scripted")
        self.said, self.told = list(said), []

    def generate(self, messages, **options):
        self.told.append("".join(part["text"] for part in messages[-1].content))
        said = self.said.pop(0)
        if isinstance(said, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=said)
        name, arguments = said
        call = ChatMessageToolCall(ChatMessageToolCallFunction(name=name, arguments=arguments), id="1", type="function")
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


def test_smolagents_calls_tools(adder):
    model = Scripted(("compute_with_python", {"code": "3 ** 40"}), ("final_answer", {"answer": "done"}))
    agent = ToolCallingAgent(smolagents.tools(adder, "compute"), model, verbosity_level=LogLevel.OFF)
    assert agent.run("go") == "done" and str(3**40) in model.told[1]
    assert "42" in smolagents.tools(adder, "compute")[0]("6 * 7"), "an argument without its name"


class Doubled(Tool):
    name = "doubled"
    description = "Doubles a number."
    inputs = {"number": {"type": "integer", "description": "The number."}}
    output_type = "integer"

    def forward(self, number: int) -> int:
        return 2 * number


def test_code_of_smolagents_runs_in_a_session(adder):
    model = Scripted(
        "<code>\nimport os\nx = doubled(21)\nprint('x is', x, os.getuid.__module__)\n</code>",
        "<code>\nimport nosuch\n</code>",
        "<code>\nfinal_answer({'x': x, 'seen': [y, len('a' * 10 ** 5)]})\n</code>",
    )
    with adder.session() as session:
        agent = CodeAgent([Doubled()], model, executor=smolagents.executor(session), verbosity_level=LogLevel.OFF)
        assert agent.run("go", additional_args={"y": [1, None]}) == {"x": 42, "seen": [[1, None], 100_000]}
        assert "x is 42" in model.told[1]
        assert "No module named 'nosuch'" in model.told[2] and "none can be installed" in model.told[2]
        assert session.run("x").text == "42", "it ran there"
        long = Scripted("<code>\nfinal_answer('long ' * 20000)\n</code>")
        agent = CodeAgent([], long, executor=smolagents.executor(session), verbosity_level=LogLevel.OFF)
        assert agent.run("go") == "long " * 20000
