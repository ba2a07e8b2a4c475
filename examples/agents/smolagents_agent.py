# SPDX-License-Identifier: Apache-2.0
"""A code agent of smolagents whose code runs in a session of Adder, and not on this machine.

    python smolagents_agent.py 'Which numbers below 1000 are perfect?'

OPENAI_API_KEY (and OPENAI_BASE_URL, for a model elsewhere) say which model answers.
"""
import os
import sys

from adder_client import Adder
from adder_client.integrations.smolagents import executor
from smolagents import CodeAgent, LogLevel, OpenAIModel

with Adder() as adder, adder.session() as session:
    place, key = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
    name = os.environ.get("MODEL", "gpt-5.4")
    model = OpenAIModel(name, api_base=place, api_key=key, flatten_messages_as_text=True)
    agent = CodeAgent([], model, executor=executor(session), verbosity_level=LogLevel.OFF)
    print(agent.run(sys.argv[1]))
