# SPDX-License-Identifier: Apache-2.0
"""An agent of pydantic-ai that has Adder's tools.

    python pydantic_ai_agent.py 'What is the 100th Fibonacci number?'

MODEL names the model as pydantic-ai does ("openai-chat:gpt-5.4"); its key is in the environment.
"""
import os
import sys

from adder_client import Adder
from adder_client.integrations.pydantic_ai import tools
from pydantic_ai import Agent

with Adder() as adder:
    model = os.environ.get("MODEL", "openai-chat:gpt-5.4")
    agent = Agent(model, instructions="Compute with the tool; never from memory.", tools=tools(adder, "compute"))
    print(agent.run_sync(sys.argv[1]).output)
