# SPDX-License-Identifier: Apache-2.0
"""A tool loop with the SDK of OpenAI: the model asks for tools, Adder runs them, until the model has an answer.

    python openai_loop.py 'What is 123456789 times 987654321?'

OPENAI_API_KEY (and OPENAI_BASE_URL, for a model elsewhere) say which model answers. ADDER_URL and ADDER_TOKEN say which
Adder runs; without them, that of this machine does.
"""
import json
import os
import sys

from adder_client import Adder
from openai import OpenAI

client, model, toolset = OpenAI(), os.environ.get("MODEL", "gpt-5.4"), "compute"  # "adder" has files and sessions as well
messages = [{"role": "user", "content": sys.argv[1]}]
with Adder() as adder:
    tools = adder.tools.definitions("openai", toolset)
    for _ in range(10):
        message = client.chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            break
        for asked in message.tool_calls:
            try:
                said = adder.tools.call(asked.function.name, json.loads(asked.function.arguments), toolset=toolset).for_model()
            except ValueError as error:
                said = f"The arguments are no JSON: {error}"
            messages.append({"role": "tool", "tool_call_id": asked.id, "content": said})
    print(message.content if not message.tool_calls else "(no answer after 10 rounds)")
