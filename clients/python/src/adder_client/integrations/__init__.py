# SPDX-License-Identifier: Apache-2.0
"""Adder's tools as tools of frameworks for agents.

Each module needs its framework, which the extra of the same name installs: `pip install adder-client[langchain]`. All have
`tools(adder, toolset, conversation)`: names, descriptions and schemas are Adder's own, and what the model reads is
`ToolReply.for_model`.
"""
