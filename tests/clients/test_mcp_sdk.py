# SPDX-License-Identifier: Apache-2.0
"""The official MCP client for Python against Adder: each era, over standard input and over HTTP with a token."""
import base64
import contextlib
import json

import anyio
import harness
import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_lines import kill_daemon
from mcp_types import CallToolResult, ElicitResult, Implementation

pytestmark = pytest.mark.anyio

MODES = ["auto", "legacy", "2026-07-28"]
BLUE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SHOW = f"class Dot:\n    def _repr_png_(self): return {BLUE!r}\ndisplay(Dot())"
FOREVER = {"code": "import time\nprint('started', flush=True)\nwhile True: time.sleep(0.01)", "timeout": 600}
NEEDS_A_YES = {"code": "print('done')", "profile": "workbench"}


@pytest.fixture(params=["stdio", "http"])
def connect(request, served):
    """Makes clients, as contexts."""

    @contextlib.asynccontextmanager
    async def make(mode, token="person", **options):
        if request.param == "stdio":
            command, *arguments = served.adder.command("mcp")
            server = StdioServerParameters(
                command=command,
                args=arguments,
                env=served.adder.process_environment(),
                cwd=served.adder.scratch,
            )
            async with Client(server, mode=mode, **options) as client:
                yield client
            return
        headers = {"Authorization": f"Bearer {served.token(token)}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            async with Client(streamable_http_client(f"{served.url}/mcp", http_client=http), mode=mode, **options) as client:
                yield client

    return make


def quiet(served):
    return served.adder.status()["engine"]["running"] == 0


def text(result: CallToolResult):
    return "".join(part.text for part in result.content if part.type == "text").rstrip("\n")


@pytest.mark.parametrize("mode", MODES)
async def test_code_runs(connect, mode):
    async with connect(mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"run_python", "peek_result", "list_files", "get_file"} == set(tools)
        assert tools["run_python"].output_schema and tools["list_files"].annotations.read_only_hint
        result = await client.call_tool("run_python", {"code": "print('hi')\n6 * 7"})
        assert not result.is_error and text(result) == "hi\n42"
        assert (result.structured_content["stdout"], result.structured_content["value"]) == ("hi\n", "42")
        failed = await client.call_tool("run_python", {"code": "1 / 0"})
        assert not failed.is_error and "ZeroDivisionError" in text(failed)
        wrong = await client.call_tool("run_python", {"cod": "1"})
        assert wrong.is_error and "did you mean code" in text(wrong)


@pytest.mark.parametrize("mode", MODES)
async def test_a_session_keeps_its_variables(connect, mode):
    async with connect(mode) as client:
        made = (await client.call_tool("session_new", {})).structured_content
        session = {"session": made["session_id"]}
        await client.call_tool("run_python", {"code": "x = 41", **session})
        assert text(await client.call_tool("run_python", {"code": "x + 1", **session})).startswith("42")
    async with connect(mode) as client:  # what lives is the session, and not the connection
        assert text(await client.call_tool("run_python", {"code": "x + 2", **session})).startswith("43")
        ended = (await client.call_tool("session_end", session)).structured_content
        assert ended["state"] == "ended"
        assert (await client.call_tool("run_python", {"code": "x", **session})).is_error


@pytest.mark.parametrize("mode", MODES)
async def test_a_picture_is_one(connect, mode):
    async with connect(mode) as client:
        result = await client.call_tool("run_python", {"code": SHOW})
        [picture] = [part for part in result.content if part.type == "image"]
        assert (picture.mime_type, base64.b64decode(picture.data)[:4]) == ("image/png", b"\x89PNG")
        assert BLUE not in json.dumps(result.structured_content)


@pytest.mark.parametrize("mode", MODES)
async def test_a_streamed_reply_has_no_more_than_is_read(connect, mode):
    """The SDK reads no event of more than 1 MiB."""
    code = f"""
import base64
class Dot:
    def _repr_png_(self): return base64.b64decode({BLUE!r}).ljust(150_000, b"\\0")
for _ in range(12):
    print("told", flush=True)
    display(Dot())
print("x" * 60_000)
"""

    async def progress(done, total, message):
        pass

    async with connect(mode) as client:
        result = await client.call_tool("run_python", {"code": code}, progress_callback=progress)
        pictures = [part for part in result.content if part.type == "image"]
        assert 1 <= len(pictures) < 12 and "is in the file" in text(result)


@pytest.mark.parametrize("mode", MODES)
async def test_a_file_is_a_link_that_can_be_read(connect, mode):
    async with connect(mode, client_info=Implementation(name="test", version="1")) as client:
        code = "open('a.txt', 'w').write('kept'); open('b.bin', 'wb').write(bytes(range(256)))"
        result = await client.call_tool("run_python", {"code": code})
        links = {part.name: part for part in result.content if part.type == "resource_link"}
        assert set(links) == {"a.txt", "b.bin"} and links["b.bin"].size == 256
        [content] = (await client.read_resource(links["a.txt"].uri)).contents
        assert content.text == "kept"
        [content] = (await client.read_resource(links["b.bin"].uri)).contents
        assert base64.b64decode(content.blob) == bytes(range(256))
        listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
        assert str(links["a.txt"].uri) in listed


@pytest.mark.parametrize("mode", MODES)
async def test_a_person_is_asked(connect, mode):
    asked = []

    async def answer(context, params):
        asked.append(params.message)
        return answers.pop(0)

    answers = [
        ElicitResult(action="accept", content={"decision": "yes"}),
        ElicitResult(action="accept", content={"decision": "no", "reason": "not today"}),
        ElicitResult(action="decline"),
    ]
    async with connect(mode, elicitation_callback=answer) as client:
        result = await client.call_tool("run_python", NEEDS_A_YES)
        assert not result.is_error and text(result) == "done"
        assert "print('done')" in asked[0]
        denied = await client.call_tool("run_python", {**NEEDS_A_YES, "code": "print('no')"})
        assert denied.is_error and "not today" in text(denied)
        declined = await client.call_tool("run_python", {**NEEDS_A_YES, "code": "print('never')"})
        assert declined.is_error and len(asked) == 3
    async with connect(mode) as client:  # one that cannot ask is told what to do
        result = await client.call_tool("run_python", {**NEEDS_A_YES, "code": "print('whom?')"})
        assert result.is_error and result.structured_content["approval_id"] in text(result)


@pytest.mark.parametrize("mode", MODES)
async def test_who_gives_up_cancels(connect, served, mode):
    begun = anyio.Event()

    async def progress(done, total, message):
        if message and "started" in message:
            begun.set()

    async with connect(mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "run_python", FOREVER, None, progress)
            with anyio.fail_after(60):
                await begun.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(60):
            while not quiet(served):
                await anyio.sleep(0.01)  # the client has to come by to say it
        assert text(await client.call_tool("run_python", {"code": "'still there'"})) == "'still there'"


@pytest.mark.parametrize("mode", MODES)
async def test_progress_is_what_is_printed(connect, served, mode):
    told = []
    code = "import time\nfor n in range(3):\n    print('line', n, flush=True)\n    time.sleep(0.3)"

    async def progress(done, total, message):
        told.append((done, message))

    async with connect(mode) as client:
        result = await client.call_tool("run_python", {"code": code}, progress_callback=progress)
        assert text(result) == "line 0\nline 1\nline 2"
    assert [done for done, _ in told] == sorted({done for done, _ in told}) and told
    assert "line 0" in told[0][1]


@pytest.mark.parametrize("mode", MODES)
async def test_prompts_and_completion(connect, mode):
    async with connect(mode) as client:
        prompts = (await client.list_prompts()).prompts
        assert prompts and all(prompt.description for prompt in prompts)
        assert mode == MODES[2] or "run_python" in client.instructions  # a version that is settled ahead asks for none


@pytest.fixture
def own(installation, user, common_directory):
    """An installation whose daemon may be killed."""
    directory = harness.new_directory(common_directory, "own")
    adder = harness.Adder(installation, user, directory)
    adder.environment = "system"
    yield adder
    adder.kill()


@pytest.mark.parametrize("mode", MODES)
async def test_it_outlives_its_daemon(own, mode):
    """The client notices nothing between calls, and is told within one."""
    begun = anyio.Event()
    ended = []

    async def progress(done, total, message):
        if message and "started" in message:
            begun.set()

    async def call(client):
        ended.append(await client.call_tool("run_python", FOREVER, None, progress))

    command, *arguments = own.command("mcp")
    server = StdioServerParameters(command=command, args=arguments, env=own.process_environment(), cwd=own.scratch)
    with anyio.fail_after(120):
        async with Client(server, mode=mode) as client:
            session = {"session": "mine"}
            made = await client.call_tool("run_python", {"code": "x = 41", **session})
            kill_daemon(own)
            again = await client.call_tool("run_python", {"code": "print('again')"})
            assert not again.is_error and text(again) == "again"
            gone = await client.call_tool("run_python", {"code": "x", "session": made.structured_content["session"]["session_id"]})
            assert gone.is_error and "ended" in text(gone)
            anew = await client.call_tool("run_python", {"code": "print('x' in globals())", **session})
            assert text(anew).startswith("False") and "new session" in anew.structured_content["warnings"][0]
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call, client)
                await begun.wait()
                kill_daemon(own)
            assert ended[0].is_error and "Call again" in text(ended[0])
            assert text(await client.call_tool("run_python", {"code": "print(1)"})) == "1"
            assert {"run_python", "peek_result"} < {tool.name for tool in (await client.list_tools()).tools}
