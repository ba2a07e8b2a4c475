# SPDX-License-Identifier: Apache-2.0
"""Adder's tools as tools of LangChain, and a loop with a chat model that has them.

    python langchain_tools.py 'How many primes are below 10000?'

Any chat model of LangChain serves; this one is OpenAI's (OPENAI_API_KEY, OPENAI_BASE_URL).
"""
import os
import sys

from adder_client import Adder
from adder_client.integrations.langchain import tools
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

ROUNDS = 10


def answer(question: str) -> str:
    with Adder() as adder:
        named = {tool.name: tool for tool in tools(adder, "compute")}
        model = ChatOpenAI(model=os.environ.get("MODEL", "gpt-5.4")).bind_tools(list(named.values()))
        messages = [HumanMessage(question)]
        for _ in range(ROUNDS):
            reply = model.invoke(messages)
            messages.append(reply)
            if not reply.tool_calls:
                return str(reply.content)
            messages += [named[call["name"]].invoke(call) for call in reply.tool_calls]
    return f"(no answer after {ROUNDS} rounds)"


if __name__ == "__main__":
    print(answer(sys.argv[1]))
