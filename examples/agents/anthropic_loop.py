# SPDX-License-Identifier: Apache-2.0
"""A tool loop with the SDK of Anthropic. Pictures that code draws are shown to the model.

    python anthropic_loop.py 'Draw a sine curve and describe it.'

ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL) say which model answers, ADDER_URL and ADDER_TOKEN which Adder runs.
"""
import os
import sys
import uuid

from adder_client import Adder, ToolReply
from anthropic import Anthropic

MODEL = os.environ.get("MODEL", "claude-opus-4-8")
TOOLSET = os.environ.get("TOOLSET", "adder")  # full results, files, sessions
ROUNDS = 20


def content_of(reply: ToolReply) -> list:
    """Words as text and pictures as pictures: base64 in the text would only cost tokens."""
    words = dict(reply.reply)
    pictures = [shown["image/png"] for shown in words.get("displays", []) if "image/png" in shown]
    words["displays"] = [
        {mime: value for mime, value in shown.items() if not mime.startswith("image/")}
        for shown in words.get("displays", [])
    ]
    return [{"type": "text", "text": ToolReply(words, reply.is_error).text}] + [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}
        for picture in pictures
    ]


def answer(question: str) -> str:
    client = Anthropic()
    conversation = str(uuid.uuid4())
    messages = [{"role": "user", "content": question}]
    with Adder() as adder:
        tools = adder.tools.definitions("anthropic", TOOLSET)
        for _ in range(ROUNDS):
            reply = client.messages.create(model=MODEL, max_tokens=4096, messages=messages, tools=tools)
            messages.append({"role": "assistant", "content": reply.content})
            results = []
            for block in reply.content:
                if block.type == "tool_use":
                    said = adder.tools.call(block.name, block.input, toolset=TOOLSET, conversation=conversation)
                    results.append(
                        {
                            "type": "tool_result",
                            "tool_use_id": block.id,
                            "content": content_of(said),
                            "is_error": said.is_error,
                        }
                    )
            if not results:
                return "".join(block.text for block in reply.content if block.type == "text")
            messages.append({"role": "user", "content": results})
    return f"(no answer after {ROUNDS} rounds)"


if __name__ == "__main__":
    print(answer(sys.argv[1]))
