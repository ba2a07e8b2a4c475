# SPDX-License-Identifier: Apache-2.0
"""What the MCP client of a framework hands to a model: calls.py NAME, with the Python of the framework's environment.

Standard input has the server and the cells as JSON: `command`, `args`, `env`, `cells`. The answer is JSON too: `version` of the package,
`tools`, and `told`, which has what the model is given for each cell.
"""
import asyncio
import importlib.metadata
import json
import sys

QUESTION = "go"
SECONDS = 60  # for an answer, where a framework gives up after less


async def langchain(server, cells):
    from langchain_mcp_adapters.client import MultiServerMCPClient

    described = {"transport": "stdio", **server}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"adder": described}).get_tools()}
    calls = [{"name": "run_python", "args": {"code": code}, "id": "1", "type": "tool_call"} for code in cells]
    return tools, [(await tools["run_python"].ainvoke(call)).content for call in calls]


async def autogen(server, cells):
    from autogen_core import CancellationToken
    from autogen_ext.tools.mcp import StdioServerParams, mcp_server_tools

    tools = {tool.name: tool for tool in await mcp_server_tools(StdioServerParams(**server, read_timeout_seconds=SECONDS))}
    run = tools["run_python"]
    return tools, [run.return_value_as_string(await run.run_json({"code": code}, CancellationToken())) for code in cells]


def smolagents(server, cells):
    from mcp import StdioServerParameters
    from smolagents import MCPClient

    with MCPClient(StdioServerParameters(**server), structured_output=False) as tools:
        tools = {tool.name: tool for tool in tools}
        return tools, [tools["run_python"](code=code) for code in cells]


async def official(server, cells):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async with stdio_client(StdioServerParameters(**server)) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        return tools, [(await session.call_tool("run_python", {"code": code})).model_dump_json() for code in cells]


async def fastmcp(server, cells):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async def yes(message, response_type, params, context):
        return response_type(decision="yes")

    async with Client(StdioTransport(**server), elicitation_handler=yes) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        results = [await client.call_tool("run_python", {"code": code}) for code in cells]
        asked = await client.call_tool("run_python", {"code": "print('approved')", "profile": "workbench"})
        assert "approved" in repr(asked.content), asked
        return tools, [repr((result.content, result.structured_content)) for result in results]


async def pydantic_ai(server, cells):
    """An agent whose model asks for each cell in turn: an error that is told three times would end it."""
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    told, tools, left = [], {}, list(cells)

    def model(messages, info):
        tools.update({tool.name: tool for tool in info.function_tools})
        told.append([part.content for part in messages[-1].parts])
        return ModelResponse(parts=[ToolCallPart("run_python", {"code": left.pop(0)}) if left else TextPart("done")])

    await Agent(FunctionModel(model), toolsets=[MCPToolset(StdioTransport(**server), init_timeout=SECONDS)]).run(QUESTION)
    return tools, told[1:]


async def openai_agents(server, cells):
    from agents import RunContextWrapper
    from agents.mcp import MCPServerStdio, MCPUtil

    async with MCPServerStdio(params=server, client_session_timeout_seconds=SECONDS) as connected:
        tools = {tool.name: tool for tool in await connected.list_tools()}
        context = RunContextWrapper(context=None)
        calls = [json.dumps({"code": code}) for code in cells]
        return tools, [await MCPUtil.invoke_mcp_tool(connected, tools["run_python"], context, call) for call in calls]


async def llama_index(server, cells):
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    client = BasicMCPClient(server["command"], args=server["args"], env=server["env"], timeout=SECONDS)
    tools = {tool.metadata.name: tool for tool in await McpToolSpec(client=client).to_tool_list_async()}
    return tools, [(await tools["run_python"].acall(code=code)).content for code in cells]


def strands(server, cells):
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client
    from strands.tools.mcp import MCPClient

    with MCPClient(lambda: stdio_client(StdioServerParameters(**server))) as client:
        tools = {tool.tool_name: tool for tool in client.list_tools_sync()}
        return tools, [client.call_tool_sync("1", "run_python", {"code": code}) for code in cells]


async def google_adk(server, cells):
    """Likewise by an agent, since tools are called with the context of one."""
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.mcp_tool.mcp_session_manager import StdioConnectionParams
    from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
    from google.genai import types
    from mcp import StdioServerParameters

    told, tools, left = [], {}, list(cells)

    class Scripted(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            tools.update(llm_request.tools_dict)
            told.append([part.function_response and part.function_response.response for part in llm_request.contents[-1].parts])
            call = types.FunctionCall(name="run_python", args={"code": left.pop(0)}) if left else None
            part = types.Part(function_call=call) if call else types.Part(text="done")
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    toolset = McpToolset(connection_params=StdioConnectionParams(server_params=StdioServerParameters(**server), timeout=SECONDS))
    runner = InMemoryRunner(LlmAgent(name="agent", model=Scripted(model="scripted"), tools=[toolset]), app_name="test")
    try:
        await runner.run_debug(QUESTION, quiet=True)
    finally:
        await runner.close()
    return tools, told[1:]


PACKAGES = {  # of each, the package whose version is told
    langchain: "langchain-mcp-adapters",
    autogen: "autogen-ext",
    smolagents: "smolagents",
    official: "mcp",
    fastmcp: "fastmcp",
    pydantic_ai: "pydantic-ai-slim",
    openai_agents: "openai-agents",
    llama_index: "llama-index-tools-mcp",
    strands: "strands-agents",
    google_adk: "google-adk",
}


def main():
    function = globals()[sys.argv[1]]
    asked = json.load(sys.stdin)
    server = {name: asked[name] for name in ("command", "args", "env")}
    answer = function(server, asked["cells"])
    tools, told = asyncio.run(answer) if asyncio.iscoroutine(answer) else answer
    version = importlib.metadata.version(PACKAGES[function])
    print(json.dumps({"version": version, "tools": sorted(tools), "told": [repr(each) for each in told]}))


if __name__ == "__main__":
    main()
