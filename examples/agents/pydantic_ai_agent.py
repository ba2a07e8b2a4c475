# SPDX-License-Identifier: Apache-2.0
"""An agent of pydantic-ai that has Adder's tools.

    python pydantic_ai_agent.py 'What is the 100th Fibonacci number?'

MODEL names the model as pydantic-ai does ("openai-chat:gpt-5.4"); its key is in the environment.
"""
import asyncio
import os
import sys
import uuid

from adder_client import AsyncAdder
from pydantic_ai import Agent, Tool

TOOLSET = "compute"


async def tools_of(adder: AsyncAdder, conversation: str) -> list[Tool]:
    def make(name: str, description: str, schema: dict) -> Tool:
        async def call(**arguments: object) -> str:
            return (await adder.tools.call(name, arguments, toolset=TOOLSET, conversation=conversation)).text

        return Tool.from_schema(call, name=name, description=description, json_schema=schema)

    return [make(tool.name, tool.description, tool.inputSchema) for tool in await adder.tools.list(TOOLSET)]


async def answer(question: str) -> str:
    async with AsyncAdder() as adder:
        agent = Agent(
            os.environ.get("MODEL", "openai-chat:gpt-5.4"),
            instructions="Compute with the tool; never from memory.",
            tools=await tools_of(adder, str(uuid.uuid4())),
        )
        return (await agent.run(question)).output


if __name__ == "__main__":
    print(asyncio.run(answer(sys.argv[1])))
