# SPDX-License-Identifier: Apache-2.0
"""MCP on standard input and output: both eras, errors, what runs side by side, cancelling, and every way to end."""
import base64
import json
import os
import shutil
import struct

import jsonschema
import pytest

from harness import FOREVER, Adder, Installation, build_directory, named, new_directory, quick, unique, wait_until, with_name
from mcp_asked import CAN_ASK, Asked
from mcp_lines import LEGACY, META, MODERN, Lines, kill_daemon, parts, text

TOOLSETS = ["adder", "workbench", "compute", "code_executor", "assistant", "analyst"]


@pytest.fixture
def modern(adder):
    with Lines(adder) as lines:
        yield lines


@pytest.fixture
def legacy(adder):
    with Lines(adder, version=LEGACY[0]) as lines:
        yield lines


@pytest.fixture(params=[MODERN, LEGACY[0]])
def lines(adder, request):
    """Of both eras."""
    with Lines(adder, version=request.param) as lines:
        yield lines


def check_end(lines):
    assert lines.end() == ([], 0, "")


# ---- eras ----


@pytest.mark.quick
def test_modern(modern):
    found = modern.result("server/discover", id="server-discover-probe-1")
    assert "run_python" in found["instructions"]
    result = modern.run("print('hi')\n6 * 7", meta={"progressToken": 0})
    assert text(result) == "hi\n42" and not result["isError"]
    said = result["structuredContent"]
    assert (said["outcome"], said["stdout"], said["value"]) == ("ok", "hi\n", "42")
    [progress] = modern.notices("notifications/progress")
    assert progress["progressToken"] == 0 and progress["message"] == "hi\n"
    check_end(modern)


@pytest.mark.quick
@pytest.mark.parametrize("version", LEGACY)
def test_legacy(adder, version):
    with Lines(adder, version=version, begin=False) as lines:
        assert lines.ask("ping")["result"] == {}
        begun = lines.initialize(version)
        assert begun["protocolVersion"] == version and begun["serverInfo"]["name"] == "adder"
        assert text(lines.run("print(2**32)")) == "4294967296"
        assert lines.ask("ping")["result"] == {}
        assert lines.problem("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}})["code"] == -32600
        check_end(lines)


@pytest.mark.parametrize("asked", ["2024-11-05", "2099-01-01", MODERN, "", "x"])
def test_initialize_offers_what_is_spoken(adder, asked):
    with Lines(adder, version=LEGACY[0], begin=False) as lines:
        assert lines.initialize(asked)["protocolVersion"] == LEGACY[0]


def test_both_eras_on_one_connection(legacy):
    """The body decides, whatever came before."""
    message = Lines.message(legacy, "tools/list")
    message["params"]["_meta"] = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
    legacy.methods.clear()
    legacy.send(message)
    assert legacy.answer(message["id"])["result"]["resultType"] == "complete"
    assert "resultType" not in legacy.result("tools/list")


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "nothing/such", ""])
def test_methods_that_the_modern_era_has_not(modern, method):
    assert modern.problem(method)["code"] == -32601


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen", "tasks/get", "nothing/such"])
def test_methods_that_the_legacy_era_has_not(legacy, method):
    assert legacy.problem(method)["code"] == -32601


@pytest.mark.parametrize(
    "meta,code",
    [
        (None, -32602),
        ({}, -32602),
        ({"protocolVersion": MODERN}, -32602),
        ({"protocolVersion": MODERN, "clientCapabilities": []}, -32602),
        ({"protocolVersion": MODERN, "clientCapabilities": {}, "clientInfo": "me"}, -32602),
        ({"protocolVersion": MODERN, "clientCapabilities": {}, "logLevel": "loud"}, -32602),
        ({"protocolVersion": 3, "clientCapabilities": {}}, -32602),
        ({"clientCapabilities": {}}, -32602),
        ({"protocolVersion": "2099-01-01", "clientCapabilities": {}}, -32022),
        ({"protocolVersion": LEGACY[0], "clientCapabilities": {}}, -32022),
        ({"protocolVersion": "2099-01-01"}, -32022),
    ],
)
def test_what_each_request_must_say(modern, meta, code):
    message = modern.message("tools/list")
    del message["params"]["_meta"]
    if meta is not None:
        message["params"]["_meta"] = {META + name: value for name, value in meta.items()}
    modern.send(message)
    error = modern.answer(message["id"])["error"]
    assert error["code"] == code
    if code == -32022:
        assert error["data"] == {"supported": [MODERN], "requested": meta["protocolVersion"]}


@pytest.mark.parametrize("token", [1.5, None, [], {}, True])
def test_odd_progress_tokens(lines, token):
    assert lines.problem("tools/list", meta={"progressToken": token})["code"] == -32602


# ---- messages ----


@pytest.mark.parametrize("id", [0, -1, 2**53, 2**63 - 1, "", "0", "a b", "\u00e9\u4e2d", "x" * 1000])
def test_ids(modern, id):
    assert modern.ask("tools/list", id=id)["id"] == id


GOOD = '{"jsonrpc": "2.0", "id": "after", "method": "server/discover", "params": {"_meta": {"%s": "%s", "%s": {}}}}\n' % (
    META + "protocolVersion",
    MODERN,
    META + "clientCapabilities",
)
ODD = {
    "no JSON": (b"{bad", None, -32700),
    "half": (b'{"jsonrpc": "2.0", "id": 1, "method": "x"', None, -32700),
    "bytes": (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff\xfe"}', None, -32700),
    "a NUL byte": (b'{"jsonrpc": "2.0", \x00"id": 1}', None, -32700),
    "an escaped NUL": (b'{"jsonrpc": "2.0", "id": 7, "method": "x\\u0000"}', 7, -32600),
    "half a pair": (b'{"jsonrpc": "2.0", "id": "s", "method": "x\\ud800"}', "s", -32600),
    "a huge number": (b'{"jsonrpc": "2.0", "id": 7, "method": "x", "params": {"x": 99999999999999999999}}', 7, -32600),
    "a key twice": (b'{"jsonrpc": "2.0", "id": 7, "method": "x", "method": "y"}', 7, -32600),
    "text": (b'"x"', None, -32700),
    "a number": (b"7", None, -32700),
    "an empty object": (b"{}", None, -32600),
    "no version": (b'{"id": 7, "method": "ping"}', 7, -32600),
    "another version": (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', 7, -32600),
    "null as id": (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
    "a fraction as id": (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, -32600),
    "a list as id": (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}', None, -32600),
    "no method": (b'{"jsonrpc": "2.0", "id": 7}', 7, -32600),
    "a number as method": (b'{"jsonrpc": "2.0", "id": 7, "method": 1}', 7, -32600),
    "a list as params": (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}', 7, -32602),
    "text as _meta": (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"_meta": ""}}', 7, -32602),
    "a result and an error": (b'{"jsonrpc": "2.0", "id": 7, "result": {}, "error": {}}', 7, -32600),
    "an empty batch": (b"[]", None, -32600),
    "a batch": (b'[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]', None, -32600),
    "depth": (b"[" * 100000, None, -32700),
}


@pytest.mark.parametrize("line,id,code", ODD.values(), ids=ODD)
def test_odd_messages(modern, line, id, code):
    modern.raw(line + b"\n" + GOOD.encode())
    error = modern.receive()
    assert error.get("id") == id and error["error"]["code"] == code
    assert modern.answer("after")["result"]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\r",
        '{"jsonrpc": "2.0", "id": 5, "result": {}}',
        '{"jsonrpc": "2.0", "id": "adder-1", "error": {"code": 1, "message": "x"}}',
        '{"jsonrpc": "2.0", "method": "notifications/nothing"}',
        '{"jsonrpc": "2.0", "method": "tools/call"}',
        '{"jsonrpc": "2.0", "method": "notifications/cancelled"}',
        '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [], "_meta": 7}}',
        '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "never"}}',
    ],
)
def test_what_is_not_answered(modern, line):
    modern.raw(line + "\n" + GOOD)
    assert modern.receive()["id"] == "after"


def test_lines_end_in_either_way(modern):
    modern.raw(GOOD.replace("\n", "\r\n") + "\r\n\n")
    assert modern.receive()["id"] == "after"


def test_a_line_in_pieces(modern):
    for byte in GOOD.encode():
        modern.raw(bytes([byte]))
    assert modern.receive()["id"] == "after"


def test_a_line_that_is_too_long(make_adder):
    with Lines(make_adder("[mcp]\nmessage_bytes = 5000\n")) as lines:
        for length in (4999, 5000):
            lines.raw(GOOD.replace("\n", "").ljust(length) + "\n")
            assert lines.receive()["id"] == "after"
        lines.raw("x" * 5001)  # said as soon as it is known
        error = lines.receive()
        assert "id" not in error and error["error"]["code"] == -32700 and "5000" in error["error"]["message"]
        lines.raw("y" * 100_000 + "\n" + GOOD)
        assert lines.receive()["id"] == "after"


def test_batches(adder):
    with Lines(adder, version="2025-03-26") as lines:
        call = {"name": "run_python", "arguments": {"code": "print(1)"}}
        batch = [
            lines.message("ping"),
            {"jsonrpc": "2.0", "method": "notifications/nothing"},
            lines.message("tools/call", call),
            7,
            lines.message("nothing/such"),
        ]
        lines.send(batch)
        answers = lines.receive()
        assert sorted(answer.get("id", 0) for answer in answers) == sorted([0, batch[0]["id"], batch[2]["id"], batch[4]["id"]])
        by_id = {answer.get("id", 0): answer for answer in answers}
        assert by_id[batch[0]["id"]]["result"] == {} and text(by_id[batch[2]["id"]]["result"]) == "1"
        assert by_id[0]["error"]["code"] == -32600 and by_id[batch[4]["id"]]["error"]["code"] == -32601
        lines.send([{"jsonrpc": "2.0", "method": "notifications/nothing"}])
        lines.send([lines.message("ping")] * 65)
        assert lines.receive()["error"]["code"] == -32600
    for version in LEGACY[:2]:
        with Lines(adder, version=version) as lines:
            lines.send([lines.message("ping")])
            assert lines.receive()["error"]["code"] == -32600


# ---- lists ----


@pytest.mark.parametrize("toolset", quick(TOOLSETS, "adder"))
def test_tools_are_those_of_the_table(adder, toolset):
    with Lines(adder, "--toolset", "full" if toolset == "adder" else toolset) as lines:
        tools = lines.result("tools/list")["tools"]
    table = json.loads(adder.call("tool", "list", "--toolset", toolset, "--format", "mcp").stdout)
    assert [tool["name"] for tool in tools] == [tool["name"] for tool in table]
    for tool, row in zip(tools, table):
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            jsonschema.Draft202012Validator.check_schema(schema)
        assert tool["inputSchema"]["properties"].pop("conversation")["anyOf"][0]["maxLength"] == 200
        if (toolset, tool["name"]) == ("adder", "run_python"):  # which says that there are local files, too
            assert "local files" in tool["inputSchema"]["properties"]["files"].pop("description")
            del row["inputSchema"]["properties"]["files"]["description"]
        assert tool == row


def test_pages(make_adder):
    with Lines(make_adder("[mcp]\npage_rows = 3\n"), "--toolset", "full") as lines:
        names, cursor, sizes = [], None, []
        while True:
            page = lines.result("tools/list", {"cursor": cursor} if cursor else {})
            names += [tool["name"] for tool in page["tools"]]
            sizes.append(len(page["tools"]))
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        assert len(names) == len(set(names)) == 17 and set(sizes[:-1]) == {3}
        assert lines.result("tools/list", {"cursor": ""})["tools"][0]["name"] == names[0]
        for odd in ("x", "MDox=", "MDo5OQ", "MDow", "0", "=", "MDo5OTk", "OTk6", 7, None, {}, "A" * 5000, "\u00e9"):
            assert lines.problem("tools/list", {"cursor": odd})["code"] == -32602, odd


def test_a_role_and_a_reader_have_less(adder):
    with Lines(adder) as lines:
        everything = set(lines.tools())
    with Lines(adder, "--read-only") as lines:
        tools = lines.tools()
        assert set(tools) < everything and "run_python" not in tools
        assert "may only read" in text(lines.run("1"))
        assert lines.run("1")["isError"]


def test_a_tool_that_is_switched_off(make_adder):
    adder = make_adder()
    with Lines(adder, "--toolset", "full") as lines:
        assert "session_new" in lines.tools()
        assert adder.call("tool", "disable", "adder.session_new").returncode == 0
        wait_until(lambda: "session_new" not in lines.tools(), "the switch to be seen")
        assert lines.call("session_new")["isError"]


# ---- calls ----


@pytest.mark.parametrize("version", [MODERN, LEGACY[0]])
@pytest.mark.parametrize("toolset", ["full", "adder"])
def test_replies_fit_their_schemas(adder, version, toolset):
    with Lines(adder, "--toolset", toolset, version=version) as lines:
        check_replies(lines)


def check_replies(lines):
    tools = lines.tools()
    made = lines.call("session_new", {"name": unique()})["structuredContent"]["session_id"]
    nobodys = unique()  # the small toolset makes the session that run_python names
    calls = {
        "run_python": [{"code": "1/0"}, {"code": "print(1)", "session": made}, {}, {"code": 7}, {"code": "1", "session": nobodys}],
        "session_list": [{}],
        "session_show": [{"session": made}, {"session": "no-such"}],
        "session_variables": [{"session": made}],
        "session_history": [{"session": made}],
        "session_checkpoint": [{"session": made}],
        "list_files": [{}],
        "get_file": [{"file_id": "none"}],
        "peek_result": [{"result_id": "none"}],
        "session_end": [{"session": made}, {"session": made}],
    }
    for name, tries in calls.items():
        for arguments in tries:
            result = lines.call(name, arguments)
            if name not in tools:
                continue
            jsonschema.validate(result["structuredContent"], tools[name]["outputSchema"], cls=jsonschema.Draft202012Validator)
            assert text(result)
            if "error" in result["structuredContent"] and isinstance(result["structuredContent"]["error"], str):
                assert result["isError"] and text(result) == result["structuredContent"]["error"]


def test_what_a_model_reads(modern):
    result = modern.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\nopen('/etc/shadow')")
    said = text(result)
    assert not result["isError"] and said.startswith("out\nerr\nTraceback")
    assert "FileNotFoundError" in said and "Denied: file: read /etc/shadow (" in said and said.endswith("[outcome: error]")
    assert text(modern.run("x = 1")) == "(no output)"
    assert "[outcome: timeout]" in text(modern.run("while True: pass", timeout=1))


def test_unknown_tools_and_odd_calls(lines):
    for params in (
        {"name": "no_such"},
        {"name": ""},
        {"name": "adder.no_such"},
        {"name": "nowhere.run_python"},
        {"name": "compute_with_python"},  # of another toolset: only its dotted name
        {"name": 7},
        {},
        {"name": "run_python", "arguments": []},
        {"name": "run_python", "arguments": "print(1)"},
    ):
        assert lines.problem("tools/call", params)["code"] == -32602, params
    assert lines.call("session_list", None)["isError"] is False


def test_dotted_names(adder, modern):
    assert text(modern.call("compute.compute_with_python", {"code": "2**64"})) == str(2**64)
    assert text(modern.call("adder.run_python", {"code": "1"})) == "1"
    said = modern.call("code_executor.run_python", {"code": "print(3)"})["structuredContent"]
    assert set(said) == {"stdout", "stderr", "exit_code", "files", "run_id"} and said["stdout"] == "3\n"
    made = modern.call("code_executor.run_python", {"code": "open('/tmp/output/a.csv', 'w').write('1')"})
    [link], [file] = parts(made, "resource_link"), json.loads(adder.call("file", "list", "--run", made["structuredContent"]["run_id"], "--json").stdout)["files"]
    assert (link["uri"], link["name"]) == ("adder://files/" + file["file_id"], "a.csv")
    with Lines(adder, "--toolset", "code_executor") as bound:
        assert text(bound.call("code_executor.run_python", {"code": "print(3)"})) == "3"
        assert text(bound.call("run_python", {"code": "print(4)"})) == "4"
        assert bound.problem("tools/call", {"name": "compute.compute_with_python"})["code"] == -32602


SHOWN = """
import base64
class Shown:
    def __init__(self, data):
        self.data = data
    def _repr_png_(self):
        return base64.b64decode(self.data)
    def __repr__(self):
        return "a picture"
"""


def png(width, height, size=64):
    """One that says how large it is, in base64."""
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x06\0\0\0"
    return base64.b64encode(head.ljust(size)).decode()


def size_of(image):
    return struct.unpack(">II", base64.b64decode(image["data"])[16:24])


def test_pictures_files_and_long_output(make_adder):
    def show(picture, times=1):
        return lines.run(SHOWN + f"shown = Shown({picture!r})\n" + "display(shown)\n" * times)

    with Lines(make_adder("[mcp]\npicture_side = 100\npicture_bytes = 4KiB\nmax_pictures = 2\n")) as lines:
        result = show(png(100, 50))
        [image] = parts(result, "image")
        assert image == {"type": "image", "data": png(100, 50), "mimeType": "image/png"}
        assert text(result) == "a picture" and png(100, 50) not in json.dumps(result["structuredContent"])
        assert result["structuredContent"]["displays"] == [{"text/plain": "a picture"}]
        for odd in (png(100, 101), png(10, 10, 5000)):  # and no picture that could be made smaller
            result = show(odd)
            assert parts(result, "image") == [] and "is in the file /tmp/output/display-" in text(result)
            [link] = parts(result, "resource_link")
            assert (link["mimeType"], link["size"]) == ("image/png", len(base64.b64decode(odd)))
        result = show(png(1, 1), 3)
        assert len(parts(result, "image")) == 2 and "max_pictures" in text(result)

        result = lines.run("open('made.csv', 'w').write('a,b')")
        [link] = parts(result, "resource_link")
        [file] = result["structuredContent"]["files"]
        assert link == {
            "type": "resource_link",
            "uri": "adder://files/" + file["file_id"],
            "name": "made.csv",
            "mimeType": "text/csv",
            "size": 3,
        }
        assert "File: made.csv, 3 bytes" in text(result)

        result = lines.run("print('x' * 3_000_000)")
        [link] = parts(result, "resource_link")
        id = result["structuredContent"]["result_id"]
        assert link["uri"] == "adder://results/" + id and id in text(result)
        assert lines.call("peek_result", {"result_id": id, "offset": 2_999_999})["structuredContent"]["text"].strip() == "x"


def test_a_large_figure_is_made_smaller(science, modern):
    """What a model sees is as large as models take it; the figure itself is a file."""
    code = "import matplotlib.pyplot as plt\nplt.figure(figsize=(30, 6), dpi=100)\nplt.plot([1, 2])\nplt.show()"
    result = modern.run(code)
    [image] = parts(result, "image")
    assert size_of(image)[0] == 2000 > 4 * size_of(image)[1]
    [link] = parts(result, "resource_link")
    assert link["mimeType"] == "image/png" and link["name"].startswith("tmp/output/display-")
    session = modern.call("session_new")["structuredContent"]["session_id"]
    [image] = parts(modern.run(code, session=session), "image")
    assert size_of(image)[0] == 2000
    modern.call("session_end", {"session": session})


def test_conversations(adder, modern):
    name = unique()

    def compute(lines, code, meta=None, **arguments):
        return text(lines.call("compute.compute_with_python", {"code": code, **arguments}, meta=meta))

    assert compute(modern, "41", conversation=name) == "41"
    assert compute(modern, "last + 1", conversation=name) == "42" or "last" in compute(modern, "last", conversation=name)
    assert compute(modern, "40 + 2", meta={"adder/conversation": name}) == "42"
    with Lines(adder, "--conversation", name) as fixed:
        assert "conversation" not in fixed.tools()["run_python"]["inputSchema"]["properties"]
        assert fixed.run("1", conversation="another")["isError"]
    records = json.loads(adder.call("history", "list", "--conversation", name, "--json").stdout)["records"]
    assert len(records) >= 3
    assert modern.problem("tools/list", meta={"adder/conversation": 7})["code"] == -32602
    assert modern.run("1", conversation="x" * 201)["isError"]


def test_sessions_outlive_the_connection(adder):
    with Lines(adder) as lines:
        id = lines.call("session_new")["structuredContent"]["session_id"]
        lines.run("x = 41", session=id)
    with Lines(adder, version=LEGACY[1]) as lines:
        assert text(lines.run("x + 1", session=id)).startswith("42")
        lines.call("session_end", {"session": id})
        ended = lines.run("x", session=id)
        assert ended["isError"] and "ended" in text(ended)


def test_the_record_says_whence(adder, modern):
    id = modern.run("1")["structuredContent"]["run_id"]
    record = json.loads(adder.call("history", "show", id, "--json").stdout)
    assert (record["front_end"], record["tool"]) == ("mcp", "adder.run_python")


# ---- progress ----


def test_progress_grows_and_is_bounded(modern):
    result = modern.run(
        "import time\nfor i in range(3000):\n    print(i, flush=True)\n    time.sleep(0.0001)", meta={"progressToken": "t"}
    )
    assert result["structuredContent"]["outcome"] == "ok"
    told = modern.notices("notifications/progress")
    numbers = [each["progress"] for each in told]
    assert numbers == sorted(set(numbers)) and {each["progressToken"] for each in told} == {"t"}
    seconds = result["structuredContent"]["wall_ms"] / 1000
    assert 1 <= len(told) <= 10 + 4 * (seconds + 1)
    assert all(len(each["message"].encode()) <= 4096 for each in told)
    modern.arrived.clear()
    modern.run("print('quiet')")
    assert modern.notices("notifications/progress") == []


def test_progress_of_silent_code(make_adder):
    with Lines(make_adder("[mcp]\npulse_ms = 20\n")) as lines:
        lines.run("import time; time.sleep(0.5)", meta={"progressToken": "t"})
        told = lines.notices("notifications/progress")
        assert told and all("message" not in each for each in told)
        lines.run("import time; time.sleep(0.5)")
        assert lines.notices("notifications/progress") == told


def test_progress_keeps_characters_whole(modern):
    modern.run(
        "import sys, time\nfor byte in 'h\u00e9\u4e2d\U0001f600!'.encode():\n    sys.stdout.buffer.write(bytes([byte]))\n"
        "    sys.stdout.flush()\n    time.sleep(0.02)",
        meta={"progressToken": 1},
    )
    said = "".join(each["message"] for each in modern.notices("notifications/progress"))
    assert "h\u00e9\u4e2d\U0001f600!".startswith(said) and said


# ---- side by side, and cancelled ----


def start_forever(lines, name, **others):
    id = lines.start("tools/call", {"name": "run_python", "arguments": {"code": named(name), "timeout": 600}}, **others)
    wait_until(lambda: with_name(name), "the run to begin")
    return id


def wait_gone(name):
    wait_until(lambda: not with_name(name), "the run to end")


@pytest.mark.quick
def test_cancelled(lines):
    name = unique()
    id = start_forever(lines, name, meta={"progressToken": 5})
    assert text(lines.run("print('beside it')")) == "beside it"
    lines.cancel(id)
    wait_gone(name)
    assert text(lines.run("print('after it')")) == "after it"
    rest, code, err = lines.end()
    assert (code, err) == (0, "")
    assert all(message.get("id") != id for message in [*lines.arrived, *rest])


def test_an_id_is_free_again(modern):
    for _ in range(2):
        name = unique()
        start_forever(modern, name, id="again")
        modern.send(modern.message("tools/call", {"name": "session_list"}, id="again"))
        assert modern.answer("again")["error"]["code"] == -32600
        modern.cancel("again")
        wait_gone(name)
        wait_until(lambda: "result" in modern.ask("tools/call", {"name": "session_list"}, id="again"), "the id to be free")
    name = unique()
    number = start_forever(modern, name, id=77)
    modern.cancel("77")  # another id
    assert with_name(name)
    modern.cancel(number)
    wait_gone(name)


def test_more_than_threads_wait(make_adder):
    with Lines(make_adder("[mcp]\nthreads = 1\nmax_requests = 3\n")) as lines:
        name = unique()
        running = start_forever(lines, name)
        waiting = [lines.start("tools/call", {"name": "session_list"}) for _ in range(2)]
        assert "max_requests" in lines.problem("tools/call", {"name": "session_list"})["message"]
        assert lines.tools()  # what is done at once waits for nobody
        lines.cancel(waiting[0])
        lines.cancel(running)
        assert lines.answer(waiting[1])["result"]
        wait_gone(name)
        wait_until(
            lambda: all("result" in lines.ask("tools/call", {"name": "session_list"}) for _ in range(3)), "places to be free"
        )
        assert all(message.get("id") not in (running, waiting[0]) for message in lines.arrived)


def test_a_cell_that_is_cancelled_keeps_its_session(modern):
    name = unique()
    session = modern.call("session_new")["structuredContent"]["session_id"]
    modern.run("x = 7", session=session)
    id = modern.start("tools/call", {"name": "run_python", "arguments": {"code": named(name), "session": session}})
    wait_until(lambda: with_name(name), "the cell to begin")
    modern.cancel(id)
    assert text(modern.run("x", session=session)).startswith("7")
    modern.call("session_end", {"session": session})


# ---- ends ----


@pytest.mark.quick
@pytest.mark.parametrize("options", [(), ("--no-daemon",)], ids=["daemon", "here"])
@pytest.mark.parametrize("version", [MODERN, LEGACY[0]])
def test_the_end_of_input_waits_for_answers(adder, version, options):
    """As `printf ... | adder mcp` does: all is said at once, and the pipe is closed."""
    with Lines(adder, *options, version=version) as lines:
        slow = lines.start("tools/call", {"name": "run_python", "arguments": {"code": "import time; time.sleep(1); print('slow')"}})
        fast = lines.start("tools/call", {"name": "run_python", "arguments": {"code": "print('fast')"}})
        lasting = lines.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}}) if version == MODERN else None
        rest, code, err = lines.end()
        assert (code, err) == (0, "")
        answers = {message["id"]: text(message["result"]) for message in rest if "content" in message.get("result", {})}
        assert answers == {slow: "slow", fast: "fast"} and lasting not in answers


def test_nobody_is_asked_after_the_end_of_input(make_adder):
    """A question cannot be answered any more."""
    asked = []
    with Asked(make_adder(), can=CAN_ASK, version=LEGACY[0], answer=asked.append) as lines:
        call = {"name": "run_python", "arguments": {"code": "print(1)", "profile": "workbench"}}
        id = lines.start("tools/call", call)
        while not asked:
            lines.receive()
        rest, code, _ = lines.end()
        [answer] = [message["result"] for message in rest if message.get("id") == id]
        assert code == 0 and answer["isError"]


@pytest.mark.quick
def test_a_client_that_closes_its_output_cancels_all(lines):
    """Also after the end of its input."""
    names = [unique(), unique()]
    for name in names:
        start_forever(lines, name)
    lines.process.stdin.close()
    lines.process.stdout.close()
    for name in names:
        wait_gone(name)
    assert lines.process.wait(30) == 125 and "nobody reads" in lines.process.stderr.read().decode()


def test_a_client_that_is_killed(adder):
    with Lines(adder) as lines:
        name = unique()
        start_forever(lines, name)
        lines.process.kill()
        wait_gone(name)


def test_a_client_that_reads_nothing(adder):
    name = unique()
    with Lines(adder) as lines:
        call = {"name": "run_python", "arguments": {"code": "print('x' * 100_000)"}}
        start_forever(lines, name)
        for _ in range(40):
            lines.start("tools/call", call)
        lines.process.stdout.close()
        lines.process.stdin.close()
        wait_gone(name)
        lines.process.wait(30)
        lines.process.stdin, lines.process.stdout = lines.process.stderr, lines.process.stderr
    assert adder.status()["daemon"]


@pytest.mark.quick
@pytest.mark.parametrize("version", [MODERN, *LEGACY])
def test_it_outlives_its_daemon(make_adder, version):
    adder = make_adder()
    with Lines(adder, version=version) as lines:
        name = unique()
        made = lines.run("x = 41", session=name)
        id = made["structuredContent"]["session"]["session_id"] if not lines.plain else None
        kill_daemon(adder)
        again = lines.run("print('again')")
        assert text(again) == "again" and not again["isError"]
        if id:
            ended = lines.run("x", session=id)
            assert ended["isError"] and "ended" in text(ended)
        anew = lines.run("print('x' in globals())", session=name)
        assert text(anew).startswith("False") and "new session" in text(anew)
        assert set(lines.tools()) == {"run_python", "peek_result", "list_files", "get_file"}
        assert lines.end() == ([], 0, "")


@pytest.mark.parametrize("version", [MODERN, *LEGACY])
@pytest.mark.parametrize("end", [kill_daemon, lambda adder: adder.call("serve", "stop", "--force")], ids=["killed", "stopped"])
def test_calls_under_way_are_answered_when_the_daemon_ends(make_adder, version, end):
    adder = make_adder()
    with Lines(adder, version=version) as lines:
        names = [unique(), unique()]
        calls = [start_forever(lines, name) for name in names]
        lines.cancel(calls[1])
        wait_gone(names[1])
        end(adder)
        wait_gone(names[0])
        result = lines.answer(calls[0])["result"]
        assert result["isError"] and "Call again" in text(result)
        assert adder.daemon() is None  # which starts when it is needed
        assert text(lines.run("1")) == "1"
        rest, code, err = lines.end()
        assert (code, err) == (0, "")
        assert not any(message.get("id") in calls for message in [*lines.arrived, *rest])


def test_a_daemon_that_cannot_start(make_adder):
    """It is said in each call, and the next one tries again."""
    adder = make_adder()
    with Lines(adder, version=LEGACY[0]) as lines:
        lines.tools()
        kill_daemon(adder)
        fine = (adder.config / "adder.conf").read_text()
        adder.configure("[daemon]\nno_such_key = 1\n")
        result = lines.run("1")
        assert result["isError"] and "no daemon could be reached" in text(result) and "no_such_key" in text(result)
        assert lines.problem("tools/list")["code"] == -32603
        adder.configure(fine)
        assert text(lines.run("1")) == "1" and lines.tools()


def test_the_next_daemon_is_of_the_build_that_is_installed(common_directory, user):
    """After an upgrade `adder mcp` still runs the program that was removed."""
    installed = Installation(build_directory(), common_directory / unique())
    adder = Adder(installed, user, new_directory(common_directory, unique()))
    try:
        with Lines(adder) as lines:
            lines.tools()
            kill_daemon(adder)
            new = installed.program.with_suffix(".new")
            shutil.copy(installed.program, new)
            os.replace(new, installed.program)
            assert text(lines.run("print(1)")) == "1"
            assert os.readlink(f"/proc/{adder.daemon()}/exe") == str(installed.program)
            assert lines.end() == ([], 0, "")
    finally:
        adder.kill()


def test_the_next_daemon_knows_the_client(make_adder):
    """Its name, by which it is sent no structuredContent, what it can do, and what it subscribed to."""
    adder = make_adder()
    asked = []
    with Asked(adder, can=CAN_ASK, version=LEGACY[0], name="codex-mcp-client", plain=True, answer=asked.append) as lines:
        lines.run("open('kept.txt', 'w').write('kept')")
        [file] = json.loads(adder.call("file", "list", "--json").stdout)["files"]
        uri = "adder://files/" + file["file_id"]
        lines.result("resources/subscribe", {"uri": uri})
        lines.result("resources/subscribe", {"uri": "adder://files/" + unique()})
        kill_daemon(adder)
        assert "print" not in text(lines.run("print(1)"))
        assert adder.call("file", "rm", file["file_id"]).returncode == 0
        wait_until(
            lambda: {"uri": uri} in lines.notices("notifications/resources/updated") or lines.arrived.append(lines.receive()),
            "the change to be told",
        )


def test_an_answer_to_a_daemon_that_ended_is_none_to_the_next(make_adder):
    """A yes that comes late must not be one to other code."""
    adder = make_adder()
    asked = []
    with Asked(adder, can=CAN_ASK, version=LEGACY[0], answer=asked.append) as lines:

        def start(code):
            before = len(asked)
            id = lines.start("tools/call", {"name": "run_python", "arguments": {"code": code, "profile": "workbench"}})
            while len(asked) == before:
                lines.receive()
            return id

        first = start("print('first')")
        kill_daemon(adder)
        assert lines.answer(first)["result"]["isError"]
        second = start("print('second')")
        assert asked[0]["id"] != asked[1]["id"]
        for question, decision in zip(asked, ("yes", "no")):
            result = {"action": "accept", "content": {"decision": decision}}
            lines.send({"jsonrpc": "2.0", "id": question["id"], "result": result})
        assert lines.answer(second)["result"]["isError"]


def test_a_connection_keeps_the_daemon(make_adder):
    adder = make_adder("[daemon]\nidle_exit_ms = 100\n")
    with Lines(adder) as lines:
        assert lines.tools()
        daemon = adder.daemon()
        name = unique()
        id = start_forever(lines, name)
        lines.cancel(id)
        wait_gone(name)
        assert lines.tools() and adder.daemon() == daemon
        check_end(lines)


@pytest.mark.parametrize(
    "options,words",
    [
        (["--toolset", "nowhere"], "there is no toolset"),
        (["--role", "king"], "role"),
        (["--conversation", "x" * 201], "conversation"),
        (["--nonsense"], "nonsense"),
        (["more"], ""),
    ],
)
def test_what_cannot_begin(adder, options, words):
    ended = adder.call("mcp", *options)
    assert ended.returncode == 125 and ended.stdout == "" and ended.stderr.startswith("adder: ") and words in ended.stderr


def test_in_this_process(make_adder):
    adder = make_adder()
    with Lines(adder, "--no-daemon") as lines:
        assert text(lines.run("print(1)")) == "1"
        name = unique()
        id = start_forever(lines, name)
        lines.cancel(id)
        wait_gone(name)
        assert lines.tools() and adder.daemon() is None
        start_forever(lines, name)
        lines.process.stdin.close()
        lines.process.stdout.close()
        wait_gone(name)
