# SPDX-License-Identifier: Apache-2.0
"""Adder's tools as tools of LangChain, and a loop with a chat model that has them.

    python langchain_tools.py 'How many primes are below 10000?'

Any chat model of LangChain serves; this one is OpenAI's (OPENAI_API_KEY, OPENAI_BASE_URL).
"""
import os
import sys
import uuid

from adder_client import Adder
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI

ROUNDS = 10


def tools_of(adder: Adder, toolset: str, conversation: str) -> list[StructuredTool]:
    """All that the token may call, with the names, words and schemas that Adder's own table has."""

    def make(name: str, description: str, schema: dict) -> StructuredTool:
        def call(**arguments: object) -> str:
            return adder.tools.call(name, arguments, toolset=toolset, conversation=conversation).text

        return StructuredTool.from_function(call, name=name, description=description, args_schema=schema)

    return [make(tool.name, tool.description, tool.inputSchema) for tool in adder.tools.list(toolset)]


def answer(question: str) -> str:
    with Adder() as adder:
        tools = {tool.name: tool for tool in tools_of(adder, "compute", str(uuid.uuid4()))}
        model = ChatOpenAI(model=os.environ.get("MODEL", "gpt-5.4")).bind_tools(list(tools.values()))
        messages = [HumanMessage(question)]
        for _ in range(ROUNDS):
            reply = model.invoke(messages)
            messages.append(reply)
            if not reply.tool_calls:
                return str(reply.content)
            messages += [tools[call["name"]].invoke(call) for call in reply.tool_calls]
    return f"(no answer after {ROUNDS} rounds)"


if __name__ == "__main__":
    print(answer(sys.argv[1]))
