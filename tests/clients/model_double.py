# SPDX-License-Identifier: Apache-2.0
"""A model that asks for a tool once, and then says what the tool said: llm-mock-api, which speaks as OpenAI and Anthropic do.

    model_double.py TOOL '{"code": ...}'     # prints its URL, and ends with its standard input

The tool `code` is none: the model answers with the code, as those of code agents do, and then with code that gives what it printed as
the final answer.
"""
import asyncio
import json
import sys

from llm_mock_api import MockServer, MockServerOptions
from llm_mock_api.types.reply import ReplyObject, ToolCall


def main():
    tool, arguments = sys.argv[1], json.loads(sys.argv[2])

    def reply(request):
        last = request.messages[-1]
        if tool == "code":
            _, printed, said = last.content.partition("Execution logs:")
            final = f"final_answer({'The tool said: ' + said!r})"
            return f"<code>\n{final if printed else arguments['code']}\n</code>"
        if last.role == "tool" or last.tool_call_id:
            return f"The tool said: {last.content}"
        assert tool in request.tool_names, request.tool_names
        return ReplyObject(text="I compute.", tools=[ToolCall(name=tool, args=arguments)])

    async def serve():
        server = MockServer(MockServerOptions(port=0, default_latency=0))
        server.when(lambda request: True).reply(reply)
        await server.start()
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await server.stop()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
