# SPDX-License-Identifier: Apache-2.0
"""What real clients and agent frameworks send, to the byte, where they differ from the official SDKs."""
import base64
import json
import re

import jsonschema
import pytest

import http_bed
from harness import unique
from mcp_asked import CAN_ASK, Asked
from mcp_lines import LEGACY, META, MODERN, Lines, parts, text


@pytest.fixture(params=[MODERN, LEGACY[0]])
def lines(adder, request):
    """Of both eras."""
    with Lines(adder, version=request.param) as lines:
        yield lines


# ---- null for what is left out ----


@pytest.mark.parametrize("version", [MODERN, LEGACY[0]])
@pytest.mark.parametrize("toolset", ["full", "adder"])
def test_crewai_sends_null_for_each_optional_argument(adder, client_row, version, toolset):
    """A model that is built from the schema, with None for what the language model left out, is sent whole."""
    with Lines(adder, "--toolset", toolset, version=version) as lines:
        for name, tool in lines.tools().items():
            schema = tool["inputSchema"]
            optional = set(schema["properties"]) - set(schema["required"])
            assert name != "run_python" or "conversation" in optional
            nulls = dict.fromkeys(sorted(optional | {"conversation"}))
            given = {"code": "print(6 * 7)"} if name == "run_python" else dict.fromkeys(schema["required"], unique())
            result = lines.call(name, {**given, **nulls})
            said = text(result)
            # What is listed may be other tests', so only an error may not be about what is null.
            assert not result["isError"] or ("conversation" not in said and "not null" not in said), (name, said)
            if name == "run_python":
                assert said == "42"
    with Lines(adder, "--conversation", "settled") as fixed:
        assert text(fixed.call("run_python", {"code": "1", "conversation": None})) == "1"
    client_row("MCP", "CrewAI", "1.15.30", "text", "`null` is accepted for every optional argument", "its bytes")


@pytest.mark.parametrize("toolset,name", [("compute", "compute_with_python"), ("code_executor", "run_python"), ("assistant", "run_python")])
def test_nulls_in_a_contract(adder, toolset, name):
    with Lines(adder, "--toolset", toolset) as lines:
        properties = lines.tools()[name]["inputSchema"]["properties"]
        result = lines.call(name, {**dict.fromkeys(properties), "code": "6 * 7" if toolset == "compute" else "print(42)"})
        assert not result["isError"] and "42" in text(result)


def test_null_in_a_prompt(lines):
    got = lines.result("prompts/get", {"name": "plot", "arguments": {"what": "a sine", "file": None}})
    assert "a sine" in got["messages"][0]["content"]["text"]


@pytest.mark.parametrize("version", [MODERN, LEGACY[0]])
@pytest.mark.parametrize("content", [{"decision": "yes", "reason": None}, {"decision": "yes", "reason": ""}], ids=["null", "default"])
def test_fastmcp_answers_with_every_field_of_a_form(adder, version, content):
    """Its handlers return an object of a class made from the form, which FastMCP holds against the form before it is sent: a
    field without a default would be null, and refused by the client itself."""
    forms = []

    def answer(question):
        forms.append(question["params"]["requestedSchema"])
        return {"result": {"action": "accept", "content": content}}

    code = {"code": f"print('asked', {version!r}, {content['reason']!r})"}
    with Asked(adder, "--toolset", "workbench", can=CAN_ASK, version=version, answer=answer) as lines:
        result = lines.result("tools/call", {"name": "execute_python", "arguments": code})
        if version == MODERN:
            [(key, question)] = result["inputRequests"].items()
            given = answer(question)["result"]
            result = lines.again("execute_python", code, result, {key: given})["result"]
        assert not result["isError"] and text(result).startswith("asked")
    [form] = forms
    assert set(form["properties"]) == {"decision", "reason"} and form["properties"]["reason"]["default"] == ""


# ---- code that fails ----

FAILING = {
    "an exception": ({"code": "1 / 0"}, "ZeroDivisionError"),
    "an exit code": ({"code": "import sys; sys.exit(3)"}, "[outcome: error]"),
    "a limit": ({"code": "while True: pass", "timeout": 1}, "[outcome: timeout]"),
    "a syntax error": ({"code": "if"}, "SyntaxError"),
}


@pytest.mark.parametrize("arguments,words", FAILING.values(), ids=FAILING)
def test_code_that_fails_is_a_result(lines, arguments, words):
    """pydantic-ai makes a retry of each isError and gives up after the second."""
    result = lines.run(**arguments)
    assert not result["isError"] and words in text(result)
    assert result["structuredContent"]["outcome"] != "ok"


def test_what_a_tool_could_not_do_is_an_error(adder, lines):
    for arguments, words in (
        ({}, "code is missing"),
        ({"code": "1", "session": "01a20422-db31-7930-8749-92f286cd310f"}, "there is no session"),
        ({"code": "1", "files": ["01a20422-db31-7930-8749-92f286cd310f"]}, "there is no file"),
        ({"code": "1", "profile": "no-such"}, "no-such"),
        ({"code": "import os", "profile": "analysis"}, "Refused"),
        ({"code": "1", "profile": "workbench"}, "approve"),
    ):
        result = lines.call("run_python", arguments)
        assert result["isError"] and words in text(result), (arguments, result)


@pytest.mark.parametrize(
    "toolset,name,code",
    [
        ("compute", "compute_with_python", "1 / 0"),
        ("code_executor", "run_python", "1 / 0"),
        ("code_executor", "run_shell", "exit 3"),
        ("assistant", "run_python", "1 / 0"),
    ],
)
def test_code_that_fails_in_a_contract(adder, toolset, name, code):
    with Lines(adder, "--toolset", toolset) as lines:
        argument = "command" if name == "run_shell" else "code"
        assert not lines.call(name, {argument: code})["isError"]
        assert lines.call(name, {argument: 7})["isError"]


def test_what_a_call_changed_is_told_before_its_reply(adder):
    """LangChain and AutoGen connect for each call, and version 1 of the SDK fails when a line comes while it disconnects."""
    with Lines(adder, version=LEGACY[0]) as lines:
        for _ in range(20):
            asked = lines.message("tools/call", {"name": "run_python", "arguments": {"code": "open('a.txt', 'w').close()"}})
            lines.send(asked)
            came = [json.loads(lines.line())]
            while came[-1].get("id") != asked["id"]:
                came.append(json.loads(lines.line()))
            assert {message["method"] for message in came[:-1]} == {"notifications/resources/list_changed"}


# ---- few tools ----

BASIC = ["run_python", "peek_result", "list_files", "get_file"]


def references(value):
    """All "$ref" below VALUE."""
    if isinstance(value, dict):
        return ([value["$ref"]] if "$ref" in value else []) + [ref for item in value.values() for ref in references(item)]
    return [ref for item in value for ref in references(item)] if isinstance(value, list) else []


def test_the_default_tools_are_few_and_short(lines):
    """A model reads all of it before it reads the first question."""
    listed = lines.result("tools/list")
    tools = listed["tools"]
    assert [tool["name"] for tool in tools] == BASIC
    assert len(json.dumps(listed, separators=(",", ":"))) < 8000
    for tool in tools:
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            jsonschema.Draft202012Validator.check_schema(schema)
        shapes = tool["outputSchema"]["$defs"]
        assert set(references(tool["outputSchema"])) == {f"#/$defs/{name}" for name in shapes} and "failure" in shapes
    assert {"code", "session", "files", "timeout"} <= set(tools[0]["inputSchema"]["properties"])


def test_everything_else_is_in_the_whole_toolset(adder, lines):
    with Lines(adder, "--toolset", "full", version=lines.version) as whole:
        tools = whole.tools()
        assert len(tools) == 17 and set(BASIC) < set(tools)
        assert {"profile", "memory_mb", "tables"} <= set(tools["run_python"]["inputSchema"]["properties"])
        assert text(whole.call("compute.compute_with_python", {"code": "2 + 2"})) == "4"
        assert whole.run("1", session=unique())["isError"]  # there, a session is made by session_new
    # What is not shown can be called all the same, by a client that knows it.
    assert not lines.call("session_list")["isError"]
    assert text(lines.run("1", profile="standard")) == "1"


def test_a_session_is_made_when_it_is_named(lines):
    name = unique()
    first = lines.run("x = 41", session=name)
    assert first["structuredContent"]["session"]["cell"] == 1
    again = lines.run("x + 1", session=name)["structuredContent"]
    assert again["value"] == "42" and again["warnings"] == []
    lines.call("session_end", {"session": name})
    anew = lines.run("1", session=name)["structuredContent"]
    assert anew["value"] == "1" and "new session" in anew["warnings"][0]
    ended = lines.run("1", session=first["structuredContent"]["session"]["session_id"])
    assert ended["isError"] and "ended" in text(ended)
    lines.call("session_end", {"session": name})


@pytest.mark.parametrize("version", [MODERN, *LEGACY])
def test_a_model_ends_sessions_with_the_tools_that_it_has(make_adder, version):
    with Lines(make_adder("[sessions]\nmax_sessions_per_owner = 2\n"), version=version) as lines:
        for name in ("one", "two"):
            assert not lines.run("x = 1", session=name)["isError"]
        full = lines.run("1", session="three")
        said = text(full)
        assert full["isError"] and "end_session" in said and "one (idle" in said and "two (idle" in said
        assert "evict" not in said and "session_end" not in said.replace("end_session", "")
        last = lines.run("print(x)", session="one", end_session=True)
        assert not last["isError"] and text(last) == "1\n[session ended]"
        assert text(lines.run("print('x' in globals())", session="three")).startswith("False")
        assert "three (idle" in text(lines.run("1", session="four"))
        # Also where the code fails, and without a session it changes nothing.
        assert "[session ended]" in text(lines.run("1 / 0", session="two", end_session=True))
        assert not lines.run("1", end_session=True)["isError"]
        assert not lines.run("1", session="four")["isError"]


def test_a_model_with_all_tools_ends_sessions_by_session_end(make_adder):
    with Lines(make_adder("[sessions]\nmax_sessions_per_owner = 1\n"), "--toolset", "full") as lines:
        made = lines.call("session_new", {"name": "one"})["structuredContent"]
        full = lines.call("session_new", {"name": "two"})
        assert full["isError"] and "end one by session_end" in text(full) and "one (idle" in text(full)
        assert not lines.call("session_end", {"session": made["session_id"]})["isError"]
        assert not lines.call("session_new", {"name": "two"})["isError"]


# What is usual to go wrong, and what a model is told to do about it.
GOES_WRONG = {
    "no session of that id": ({"code": "1", "session": "01a20422-db31-7930-8749-92f286cd310f"}, "a name of your choice"),
    "a profile": ({"code": "1", "profile": "no-such"}, "there are: analysis, "),
    "an environment": ({"code": "1", "environment": "no-such"}, "system"),
    "a file": ({"code": "1", "files": ["01a20422-db31-7930-8749-92f286cd310f"]}, "there is no file"),
    "a path": ({"code": "1", "files": ["no-such.csv"]}, "there is no such file"),
    "the network": ({"code": "import urllib.request\nurllib.request.urlopen('http://example.org')"}, "`files`"),
    "a file of the host": ({"code": "open('/srv/data.csv')"}, "`files`"),
    "time": ({"code": "while True: pass", "timeout": 1}, "longer timeout"),
    "memory": ({"code": "x = bytearray(40_000_000_000)"}, "in parts"),
    "space": ({"code": "with open('a', 'wb') as file:\n    while True: file.write(bytes(1 << 20))"}, "Write less"),
    "processes": ({"code": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(9,)).start()"}, "Use fewer"),
    "installing": ({"code": "import os\nos.system('pip install no-such')"}, "Use what is there"),
    "long output": ({"code": "print('x' * 300_000)"}, "peek_result"),
    "a session's memory": ({"code": "1", "session": "any", "memory_mb": 64}, "leave out"),
}
OF_A_TERMINAL = re.compile(r"(^|[^\w-])--[a-z]|\badder [a-z]+ [a-z]|`evict`")


@pytest.mark.parametrize("arguments,words", GOES_WRONG.values(), ids=GOES_WRONG)
def test_advice_is_for_who_has_only_tools(lines, arguments, words):
    result = lines.run(**arguments)
    assert words in text(result)
    assert not OF_A_TERMINAL.search(text(result)) and not OF_A_TERMINAL.search(json.dumps(result["structuredContent"]))


def test_files_of_earlier_calls(lines):
    made = lines.run("open('a.csv', 'w').write('a,b\\n1,2\\n'); open('b.bin', 'wb').write(bytes(range(256)))")
    ids = {file["name"]: file["file_id"] for file in made["structuredContent"]["files"]}
    run = lines.run("print(open('a.csv').read(), len(open('b.bin', 'rb').read()))", files=list(ids.values()))
    assert text(run).startswith("a,b\n1,2\n 256")
    name = unique()
    lines.run("import os", session=name)
    assert text(lines.run("os.listdir()", session=name, files=[ids["a.csv"]])).startswith("['a.csv']")
    lines.call("session_end", {"session": name})
    assert ids["a.csv"] in {file["file_id"] for file in lines.call("list_files")["structuredContent"]["files"]}


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WRITE = f"""
import base64
open('long.txt', 'w').write('h\u00e9llo ' * 100)
open('dot.png', 'wb').write(base64.b64decode('{PNG}'))
open('odd.bin', 'wb').write(bytes(range(256)))
open('nul.txt', 'wb').write(b'a\\0b')
open('empty.txt', 'w').close()
"""


def test_a_file_is_fetched(lines):
    made = lines.run(WRITE)["structuredContent"]
    ids = {file["name"]: file["file_id"] for file in made["files"]}
    whole, offset = "", 0
    while offset is not None:
        part = lines.call("get_file", {"file_id": ids["long.txt"], "offset": offset, "limit": 100})["structuredContent"]
        whole, offset = whole + part["text"], part["next_offset"]
    assert whole == "h\u00e9llo " * 100
    # From within a character the text begins with the next one.
    assert lines.call("get_file", {"file_id": ids["long.txt"], "offset": 2})["structuredContent"]["text"].startswith("llo")
    assert lines.call("get_file", {"file_id": ids["long.txt"], "offset": 1 << 30})["structuredContent"]["text"] == ""
    assert lines.call("get_file", {"file_id": ids["empty.txt"]})["structuredContent"]["next_offset"] is None
    shown = lines.call("get_file", {"file_id": ids["dot.png"]})
    [picture] = parts(shown, "image")
    assert base64.b64decode(picture["data"]) == base64.b64decode(PNG) and "dot.png: a picture" in text(shown)
    for name in ("odd.bin", "nul.txt"):
        other = lines.call("get_file", {"file_id": ids[name]})
        assert other["isError"] and "run_python in files" in text(other)
    assert lines.call("get_file", {"file_id": "01a20422-db31-7930-8749-92f286cd310f"})["isError"]


# ---- what of a reply a client is sent ----

DRAWS = f"open('a.csv', 'w').write('a,b')\nclass Dot:\n    def _repr_png_(self): return {PNG!r}\ndisplay(Dot())"


def sent(lines):
    """What a run with a file and a picture is told as: the uris of links, the line of the file, the number of pictures."""
    result = lines.run(DRAWS)
    [line] = [line for line in text(result).splitlines() if line.startswith("File: ")]
    return [link["uri"] for link in parts(result, "resource_link")], line, len(parts(result, "image")), result


@pytest.mark.parametrize("version", [MODERN, LEGACY[0]])
@pytest.mark.parametrize(
    "name,options,linked,told,plain",
    [
        ("some-client", [], True, "adder://files/", False),
        ("codex-mcp-client", [], True, "adder://files/", True),
        ("codex-mcp-client", ["--structured", "on"], True, "adder://files/", False),
        ("mcp", [], False, "file_id ", False),  # LangChain, AutoGen and all that do not say who they are
        ("mcp", ["--links", "resources"], True, "adder://files/", False),
        ("some-client", ["--links", "text", "--structured", "off"], False, "file_id ", True),
        ("some-client", ["--links", "none"], False, "bytes", False),
        ("some-client", ["--links", "http"], False, "file_id ", False),  # without [store] url there are none
    ],
)
def test_what_a_client_is_sent(adder, client_row, version, name, options, linked, told, plain):
    with Lines(adder, *options, version=version, name=name, plain=plain) as lines:
        lines.tools()
        uris, line, pictures, result = sent(lines)
        assert pictures == 1 and told in line and bool(uris) == linked and all(uri.startswith("adder://files/") for uri in uris)
        assert (told != "bytes") == ("01" in line.split("bytes")[1])
        if "file_id" in line:
            id = line.split("file_id ")[1]
            assert text(lines.call("get_file", {"file_id": id})) == "a,b"
    if name == "codex-mcp-client" and not options:
        done = "no structured content (`structured=off`): it would show nothing else"
        client_row("MCP", "Codex", "", "text, pictures, links to files", done, "its name")


def test_schemas_can_be_turned_off_alone(adder):
    with Lines(adder, "--output-schema", "off") as lines:
        assert not any("outputSchema" in tool for tool in lines.tools().values())
        assert lines.run("1")["structuredContent"]["value"] == "1"
    assert adder.call("mcp", "--links", "nowhere").returncode == 125


def test_a_url_of_the_store_makes_links_over_http(make_adder):
    adder = make_adder("[store]\nurl = https://files.example/adder/\n")
    with Lines(adder) as lines:
        [uri], line, _, result = sent(lines)
        assert uri.startswith("https://files.example/adder/v1/files/") and "signature=" in uri
        assert line.endswith(result["structuredContent"]["files"][0]["url"])
    with Lines(adder, "--links", "resources") as lines:
        [uri], _, _, _ = sent(lines)
        assert uri.startswith("adder://files/")


def test_what_is_sent_by_query(make_adder):
    served = http_bed.Served(make_adder())
    try:
        meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
        call = {"name": "run_python", "arguments": {"code": DRAWS}, "_meta": meta}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "run_python"}
        for query, links, structured in (("", 1, True), ("?links=text", 0, True), ("?links=none&structured=off", 0, False)):
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            result = served.post(f"/mcp{query}", message, **headers).json()["result"]
            assert len(parts(result, "resource_link")) == links and ("structuredContent" in result) == structured
            assert len(parts(result, "image")) == 1
        assert served.post("/mcp?links=else", message, **headers).status == 400
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
        assert len(served.post("/mcp?toolset=full", listing, **headers).json()["result"]["tools"]) == 17
        assert len(served.post("/mcp", listing, **headers).json()["result"]["tools"]) == 4
    finally:
        served.stop()


# ---- the room that a reply has ----

MIB = 1 << 20


def sized(lines, method, params):
    """The result of METHOD, and how many bytes its line has."""
    message = lines.message(method, params)
    lines.send(message)
    while True:  # a legacy session is told of changes as well
        line = lines.line()
        answer = json.loads(line)
        if answer.get("id") == message["id"]:
            assert len(line.encode()) < MIB
            return answer["result"], len(line.encode())


def run_sized(lines, code):
    return sized(lines, "tools/call", {"name": "run_python", "arguments": {"code": code}})


SHOWS = f"""
import base64
class Shown:
    def __init__(self, size):
        self.data = base64.b64decode({PNG!r}).ljust(size, b"\\0")
    def _repr_png_(self):
        return self.data
"""


def test_many_pictures_have_the_room_of_a_reply(lines):
    """They become smaller where that can be, and files where not; each is told of."""
    result, _ = run_sized(lines, SHOWS + "for _ in range(10): display(Shown(200_000))")
    files = parts(result, "resource_link")
    assert len(parts(result, "image")) >= 1 and 5 <= len(files) < 10
    assert text(result).count("is in the file") == len(files)
    one, length = run_sized(lines, SHOWS + "display(Shown(500_000))")
    assert len(parts(one, "image")) == 1 and length > 500_000 and not parts(one, "resource_link")


def test_many_figures_become_smaller(science, adder):
    code = (
        "import numpy, matplotlib.pyplot as plt\nfor n in range(8):\n"
        "    figure = plt.figure(figsize=(4, 3), dpi=100)\n"
        "    plt.imshow(numpy.random.default_rng(n).random((300, 400, 3)), interpolation='nearest')\n    plt.show()"
    )
    with Lines(adder) as lines:
        result, _ = run_sized(lines, code)
    sizes = [len(picture["data"]) for picture in parts(result, "image")]
    assert len(sizes) >= 4 and sizes[-1] < sizes[0] / 2
    assert text(result).count("is in the file") == len(parts(result, "resource_link")) > 8 - len(sizes)


def test_long_text_is_cut(lines):
    """Control characters become six bytes each on the wire."""
    code = "print('\\x01' * 60_000)\ndisplay('\\x02' * 900_000)\ndisplay('x' * 900_000)\n'v' * 50_000"
    result, _ = run_sized(lines, code)
    assert not result["isError"] and "are left out here: the reply has no room" in text(result)
    assert result["structuredContent"]["outcome"] == "ok"


def test_what_cannot_be_cut_says_so(make_adder):
    with Lines(make_adder("[mcp]\nreply_bytes = 16KiB\n"), "--toolset", "full") as lines:
        lines.call("run_python", {"code": "for n in range(60): open(f'{n}.txt', 'w').close()"})
        result = lines.call("list_files")
        assert result["isError"] and "reply_bytes" in text(result) and result["structuredContent"]["run_id"] is None
        assert not lines.call("list_files", {"limit": 5})["isError"]


def test_a_long_file_is_read_in_parts(lines):
    code = "open('long.txt', 'w').write('h\u00e9llo\\x01' * 300_000)\nopen('long.bin', 'wb').write(bytes(range(256)) * 8000)"
    uris = {link["name"]: link["uri"] for link in parts(lines.run(code), "resource_link")}
    for name, whole in (("long.txt", ("h\u00e9llo\x01" * 300_000).encode()), ("long.bin", bytes(range(256)) * 8000)):
        problem = lines.problem("resources/read", {"uri": uris[name]})
        assert problem["code"] == -32602 and f"{uris[name]}?offset=0" in problem["message"]
        read, uri = b"", uris[name] + "?offset=0"
        while uri:
            [contents] = sized(lines, "resources/read", {"uri": uri})[0]["contents"]
            assert contents["_meta"]["adder/offset"] == len(read) and contents["_meta"]["adder/total_bytes"] == len(whole)
            read += contents["text"].encode() if "text" in contents else base64.b64decode(contents["blob"])
            uri = contents["_meta"].get("adder/next")
        assert read == whole
    for odd in ("?offset=-1", "?offset=x", "?limit=1", "?"):
        assert lines.problem("resources/read", {"uri": uris["long.txt"] + odd})["code"] in (-32602, -32002)


def test_long_output_of_control_characters_is_read_in_parts(lines):
    run = lines.run("import sys\nfor _ in range(10): sys.stdout.write('\\x01' * 99_999 + '\\n')")["structuredContent"]
    uri, read = f"adder://results/{run['result_id']}", ""
    while uri:
        [contents] = sized(lines, "resources/read", {"uri": uri})[0]["contents"]
        read += contents["text"]
        uri = contents["_meta"].get("adder/next")
    assert read.count("\n") == 10 and len(read) == 1_000_000


# ---- what a version defines ----

OLD = "2025-03-26"
LISTS = {
    "tools": {"name", "description", "inputSchema", "annotations"},
    "resources": {"uri", "name", "description", "mimeType", "size", "annotations"},
    "prompts": {"name", "description", "arguments"},
}


def test_an_old_client_receives_what_its_version_defines(adder):
    with Lines(adder, "--toolset", "full", version=OLD, begin=False) as lines:
        begun = lines.initialize(OLD)
        assert set(begun) == {"protocolVersion", "capabilities", "serverInfo", "instructions"}
        assert set(begun["serverInfo"]) == {"name", "version"}
        result = lines.run(DRAWS + "\nprint('x' * 300_000)")
        assert set(result) == {"content", "isError"} and {part["type"] for part in result["content"]} == {"text", "image"}
        assert "file_id" in text(result)
        for name, members in LISTS.items():
            rows = lines.result(f"{name}/list")[name]
            assert rows and not set().union(*rows) - members
        annotations = [row["annotations"] for row in lines.result("resources/list")["resources"] if "annotations" in row]
        assert not set().union(*annotations) - {"audience", "priority"}
        id = text(result).split('result_id "')[1].split('"')[0]
        read = lines.result("resources/read", {"uri": f"adder://results/{id}"})
        [contents] = read["contents"]
        assert set(contents) == {"uri", "mimeType", "text"} and read["_meta"]["adder/next"]


def test_what_is_listed_can_be_read(make_adder):
    with Asked(make_adder()) as lines:
        lines.run(
            "open('short.txt', 'w').write('x')\nopen('long.txt', 'w').write('\\x01' * 900_000)\n"
            "open('long.bin', 'wb').write(b'\\0' * 2_000_000)\nopen('short.bin', 'wb').write(b'\\0')"
        )
        lines.run("x = 1", session="listed")
        rows = {row["name"]: row["uri"] for row in lines.everything("resources/list", "resources")}
        assert {"short.txt", "long.txt", "long.bin", "short.bin", "prompt", "session listed"} == set(rows)
        assert {name for name, uri in rows.items() if uri.endswith("?offset=0")} == {"long.txt", "long.bin"}
        for uri in rows.values():
            assert lines.read(uri)["uri"] == uri
