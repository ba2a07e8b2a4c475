# SPDX-License-Identifier: Apache-2.0
"""A tool loop with the SDK of OpenAI: the model asks for tools, Adder runs them, until the model has an answer.

    python openai_loop.py 'What is 123456789 times 987654321?'

OPENAI_API_KEY (and OPENAI_BASE_URL, for a model elsewhere) say which model answers, ADDER_URL and ADDER_TOKEN which Adder runs.
"""
import json
import os
import sys
import uuid

from adder_client import Adder
from openai import OpenAI

MODEL = os.environ.get("MODEL", "gpt-5.4")
TOOLSET = "compute"  # one tool, one expression, exactly; "adder" has files and sessions as well
ROUNDS = 10


def call(adder: Adder, name: str, arguments: str, conversation: str) -> str:
    """What the model reads: the tool's reply, which also says what was wrong with the arguments."""
    try:
        parsed = json.loads(arguments)
    except ValueError as error:
        return f"The arguments are no JSON: {error}"
    return adder.tools.call(name, parsed, toolset=TOOLSET, conversation=conversation).text


def answer(question: str) -> str:
    client = OpenAI()
    conversation = str(uuid.uuid4())  # what Adder keeps for this talk, it keeps under this id
    messages = [{"role": "user", "content": question}]
    with Adder() as adder:
        tools = adder.tools.definitions("openai", TOOLSET)
        for _ in range(ROUNDS):
            reply = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
            message = reply.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content or ""
            for asked in message.tool_calls:
                said = call(adder, asked.function.name, asked.function.arguments, conversation)
                messages.append({"role": "tool", "tool_call_id": asked.id, "content": said})
    return f"(no answer after {ROUNDS} rounds)"


if __name__ == "__main__":
    print(answer(sys.argv[1]))
