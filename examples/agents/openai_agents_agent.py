# SPDX-License-Identifier: Apache-2.0
"""An agent of the OpenAI Agents SDK that has Adder's tools.

    python openai_agents_agent.py 'What is 2 to the power of 100?'

OPENAI_API_KEY (and OPENAI_BASE_URL, for a model elsewhere) say which model answers.
"""
import os
import sys

from adder_client import Adder
from adder_client.integrations.openai_agents import tools
from agents import Agent, Runner, set_default_openai_api, set_tracing_disabled

set_default_openai_api("chat_completions")  # which models elsewhere have as well
set_tracing_disabled(True)

with Adder() as adder:
    model = os.environ.get("MODEL", "gpt-5.4")
    agent = Agent("Computer", instructions="Compute with the tool.", tools=tools(adder, "compute"), model=model)
    print(Runner.run_sync(agent, sys.argv[1]).final_output)
