# SPDX-License-Identifier: Apache-2.0
"""What a client can read beside its tools' replies: files, long output, sessions, prompts; and who is told when they change."""
import base64

import pytest

from harness import quick, unique
from mcp_asked import AnotherUser, Asked, page_of
from mcp_lines import LEGACY, META, MODERN, parts, text

BYTES = bytes(range(256))
WRITE = "import base64\nopen('table.csv', 'w').write('a,b\\n1,2\\n')\nopen('all.bin', 'wb').write(bytes(range(256)))"


@pytest.fixture
def modern(adder):
    with Asked(adder) as lines:
        yield lines


@pytest.fixture(params=quick([MODERN, LEGACY[0]], MODERN))
def lines(adder, request):
    """Of both eras."""
    with Asked(adder, version=request.param) as lines:
        yield lines


def made(lines, code=WRITE):
    """The uris of the files that CODE makes, by their names."""
    result = lines.run(code)
    assert not result["isError"], result
    return {link["name"]: link["uri"] for link in parts(result, "resource_link")}


def not_there(lines, uri):
    problem = lines.problem("resources/read", {"uri": uri})
    assert problem["code"] == (-32602 if lines.version == MODERN else -32002), problem
    assert problem["data"] == {"uri": uri}


# ---- files ----


def test_files(lines):
    uris = made(lines)
    listed = {row["uri"]: row for row in lines.everything("resources/list", "resources")}
    row = listed[uris["table.csv"]]
    assert (row["name"], row["mimeType"], row["size"]) == ("table.csv", "text/csv", 8)
    contents = lines.read(uris["table.csv"])
    assert contents == {"uri": uris["table.csv"], "mimeType": "text/csv", "text": "a,b\n1,2\n"}
    contents = lines.read(uris["all.bin"])
    assert base64.b64decode(contents["blob"]) == BYTES and contents["mimeType"] == "application/octet-stream"


def test_text_that_is_none(modern):
    """What a name promises and bytes do not keep is a blob."""
    uris = made(modern, "open('a.txt', 'wb').write(b'\\xff\\xfe')\nopen('b.txt', 'wb').write(b'a\\0b')")
    assert base64.b64decode(modern.read(uris["a.txt"])["blob"]) == b"\xff\xfe"
    assert base64.b64decode(modern.read(uris["b.txt"])["blob"]) == b"a\0b"


def test_empty_file(modern):
    assert modern.read(made(modern, "open('empty.txt', 'w').close()")["empty.txt"])["text"] == ""


def test_pages(make_adder):
    own = make_adder("[mcp]\npage_rows = 3\n")
    with Asked(own) as lines:
        names = {f"file-{i}.txt" for i in range(8)}
        made(lines, "".join(f"open('{name}', 'w').write('x')\n" for name in sorted(names)))
        page = lines.result("resources/list")
        assert len(page["resources"]) == 3 and page["nextCursor"]
        rows = lines.everything("resources/list", "resources")
        assert {row["name"] for row in rows} == names | {"prompt"} and len(rows) == 9


def test_too_long(make_adder):
    own = make_adder("[mcp]\nresource_bytes = 4KiB\n")
    with Asked(own) as lines:
        uris = made(lines, "open('a.txt', 'w').write('x' * 4096)\nopen('b.txt', 'w').write('x' * 4097)")
        assert len(lines.read(uris["a.txt"])["text"]) == 4096
        problem = lines.problem("resources/read", {"uri": uris["b.txt"]})
        assert "resource_bytes = 4096" in problem["message"]
        assert problem["data"]["bytes"] == 4097 and problem["data"]["url"].startswith("/v1/files/")


OTHERS = [
    "adder://files/01a20422-db31-7930-8749-92f286cd310f",
    "adder://files/",
    "adder://files/../../etc/passwd",
    "adder://files/x?y",
    "adder://results/01a20422-db31-7930-8749-92f286cd310f",
    "adder://results/x?stream=stdin",
    "adder://results/x?offset=-1",
    "adder://results/x?limit=1",
    "adder://sessions/nobody",
    "adder://sessions/",
    "adder://prompts",
    "adder://",
    "file:///etc/passwd",
    "/etc/passwd",
    "",
    "adder://files/\u202e",
]


def test_unknown(lines):
    for uri in OTHERS:
        not_there(lines, uri)
    assert lines.problem("resources/read", {})["code"] == -32602
    assert lines.problem("resources/read", {"uri": 7})["code"] == -32602


@pytest.mark.both_users
def test_another_owner(adder, installation):
    name = unique()
    with Asked(adder) as lines, Asked(AnotherUser(adder, installation)) as other:
        uris = made(lines, WRITE + "\nprint('x' * 300000)")
        lines.call("session_new", {"name": name})
        run = lines.run("print('x' * 300000)")["structuredContent"]
        assert run["result_id"]
        for uri in [*uris.values(), f"adder://sessions/{name}", f"adder://results/{run['result_id']}"]:
            assert lines.read(uri)
            not_there(other, uri)
        seen = {row["uri"] for row in other.everything("resources/list", "resources")}
        assert not seen & set(uris.values()) and not any(uri.startswith("adder://sessions/") for uri in seen)
        for uri in ("adder://files/{file_id}", "adder://sessions/{session}"):
            argument = {"name": uri.split("{")[1].rstrip("}"), "value": ""}
            found = other.result("completion/complete", {"ref": {"type": "ref/resource", "uri": uri}, "argument": argument})
            assert not {uri.split("/")[-1] for uri in uris.values()} & set(found["completion"]["values"])
            assert name not in found["completion"]["values"]
        lines.call("session_end", {"session": name})


# ---- long output ----


def test_long_output(modern):
    run = modern.run("for i in range(60000): print(f'line {i:08}')")["structuredContent"]
    uri, whole = f"adder://results/{run['result_id']}", ""
    while uri:
        contents = modern.read(uri)
        assert contents["_meta"]["adder/offset"] == len(whole) and contents["mimeType"] == "text/plain"
        whole += contents["text"]
        uri = contents["_meta"].get("adder/next")
    assert whole == "".join(f"line {i:08}\n" for i in range(60000))
    contents = modern.read(f"adder://results/{run['result_id']}?offset={len(whole) - 14}")
    assert contents["text"] == "line 00059999\n"
    not_there(modern, f"adder://results/{run['result_id']}?stream=stderr")
    ref = {"type": "ref/resource", "uri": "adder://results/{result_id}{?stream,offset}"}
    argument = {"name": "result_id", "value": run["result_id"][:20]}
    values = modern.result("completion/complete", {"ref": ref, "argument": argument})["completion"]["values"]
    assert run["result_id"] in values
    values = modern.result("completion/complete", {"ref": ref, "argument": {"name": "stream", "value": "stdo"}})
    assert values["completion"]["values"] == ["stdout"]


# ---- sessions ----


def test_session(modern):
    name = unique()
    session = modern.call("session_new", {"name": name})["structuredContent"]["session_id"]
    modern.run("x = [1, 2]\nopen('made.txt', 'w').write('y')", session=session)
    page = page_of(modern.read(f"adder://sessions/{session}"))
    assert page["session"]["session_id"] == session and page["session"]["cells"] == 1
    assert [variable["name"] for variable in page["variables"]] == ["x"]
    assert modern.read(page["files"][0]["uri"])["text"] == "y"
    assert page_of(modern.read(f"adder://sessions/{name}"))["session"]["name"] == name
    listed = [row["uri"] for row in modern.everything("resources/list", "resources")]
    assert f"adder://sessions/{session}" in listed
    ref = {"type": "ref/resource", "uri": "adder://sessions/{session}"}
    found = modern.result("completion/complete", {"ref": ref, "argument": {"name": "session", "value": name[:6]}})
    assert found["completion"]["values"] == [name]
    modern.call("session_end", {"session": name})
    page = page_of(modern.read(f"adder://sessions/{session}"))
    assert page["session"]["state"] == "ended" and page["variables"] is None
    listed = [row["uri"] for row in modern.everything("resources/list", "resources")]
    assert f"adder://sessions/{session}" not in listed


def test_session_at_work_is_not_waited_for(modern):
    session = modern.call("session_new", {})["structuredContent"]["session_id"]
    code = "print('started', flush=True)\nwhile True: pass"
    call = modern.start("tools/call", {"name": "run_python", "arguments": {"code": code, "session": session}}, meta={"progressToken": 1})
    modern.told("notifications/progress")
    page = page_of(modern.read(f"adder://sessions/{session}"))
    assert page["session"]["state"] == "busy" and page["variables"] is None
    modern.cancel(call)
    modern.call("session_end", {"session": session})


# ---- templates, prompts, completion ----


def test_templates(lines):
    rows = lines.everything("resources/templates/list", "resourceTemplates")
    assert {row["name"] for row in rows} == {"file", "output", "session"}
    assert all(row["uriTemplate"].startswith("adder://") for row in rows)


@pytest.mark.quick
def test_prompts(lines):
    prompts = {row["name"]: row for row in lines.everything("prompts/list", "prompts")}
    assert set(prompts) == {"use_adder", "analyse_file", "plot", "compute_exactly"}
    with Asked(lines.adder, "--toolset", "full", version=lines.version) as whole:
        [message] = whole.result("prompts/get", {"name": "use_adder"})["messages"]
        assert message["content"]["text"] == lines.adder.call("tool", "list", "--prompt").stdout
    told = lines.read("adder://prompt")["text"]
    assert "run_python" in told and "session_new" not in told
    [message] = lines.result("prompts/get", {"name": "use_adder"})["messages"]
    assert message["content"]["text"] == told
    uri = made(lines)["table.csv"]
    arguments = {"file": uri.split("/")[-1], "question": "how many rows?"}
    messages = lines.result("prompts/get", {"name": "analyse_file", "arguments": arguments})["messages"]
    first, named, embedded = [message["content"] for message in messages]
    assert "how many rows?" in first["text"] and "`get_file`" not in first["text"] and "get_file" in first["text"]
    assert "table.csv" in named["text"]
    assert embedded["resource"] == {"uri": uri, "mimeType": "text/csv", "text": "a,b\n1,2\n"}
    [plot] = lines.result("prompts/get", {"name": "plot", "arguments": {"what": "100% [of] %1 %T"}})["messages"]
    assert plot["content"]["text"].endswith("\n100% [of] %1 %T") and "The data is" not in plot["content"]["text"]


def test_wrong_prompts(lines):
    for params in (
        {"name": "nothing"},
        {"name": "plot"},
        {"name": "plot", "arguments": {"what": 7}},
        {"name": "plot", "arguments": {"what": ""}},
        {"name": "plot", "arguments": {"what": "x" * 20000}},
        {"name": "plot", "arguments": []},
        {"name": "analyse_file", "arguments": {"file": "01a20422-db31-7930-8749-92f286cd310f"}},
        {},
    ):
        assert lines.problem("prompts/get", params)["code"] == -32602


PROMPTS = {
    "workbench": {"use_adder", "plot", "compute_exactly"},
    "compute": {"use_adder", "compute_exactly"},
    "code_executor": {"use_adder", "analyse_file", "plot", "compute_exactly"},
    "assistant": {"use_adder", "analyse_file", "plot", "compute_exactly"},
}


@pytest.mark.parametrize("toolset", PROMPTS)
def test_prompts_of_a_toolset(adder, toolset):
    with Asked(adder, "--toolset", toolset) as lines:
        assert {row["name"] for row in lines.everything("prompts/list", "prompts")} == PROMPTS[toolset]
    with Asked(adder, "--toolset", toolset, "--read-only") as lines:
        names = {row["name"] for row in lines.everything("prompts/list", "prompts")}
        assert "use_adder" in names and not names & {"plot", "compute_exactly"}


def test_completion(lines):
    uri = made(lines)["table.csv"]
    id = uri.split("/")[-1]
    for ref, argument in (
        ({"type": "ref/prompt", "name": "analyse_file"}, {"name": "file", "value": id[:30]}),
        ({"type": "ref/resource", "uri": "adder://files/{file_id}"}, {"name": "file_id", "value": id[:30]}),
        ({"type": "ref/resource", "uri": "adder://files/{file_id}"}, {"name": "file_id", "value": "table.c"}),
    ):
        found = lines.result("completion/complete", {"ref": ref, "argument": argument})["completion"]
        assert id in found["values"] and found["total"] >= len(found["values"])
    nothing = {"ref": {"type": "ref/prompt", "name": "plot"}, "argument": {"name": "what", "value": ""}}
    assert lines.result("completion/complete", nothing)["completion"]["values"] == []
    for ref in ({"type": "ref/prompt", "name": "x"}, {"type": "ref/x"}, {}, None, 7):
        params = {"ref": ref, "argument": {"name": "a", "value": "b"}}
        assert lines.problem("completion/complete", params)["code"] == -32602


# ---- who is told of changes ----


class Watching:
    """What a client wants to know of, in its era's way."""

    def __init__(self, lines, *uris, lists=()):
        self.lines, self.modern = lines, lines.version == MODERN
        if self.modern:
            wanted = {"resourceSubscriptions": list(uris)} if uris else {}
            wanted.update(dict.fromkeys(lists, True))
            self.id = lines.start("subscriptions/listen", {"notifications": wanted})
            first = lines.told("notifications/subscriptions/acknowledged")
            agreed = dict(first["notifications"])
            for each in (agreed, wanted):
                each["resourceSubscriptions"] = sorted(each.get("resourceSubscriptions", []))
            assert agreed == wanted
        for uri in () if self.modern else uris:
            assert lines.result("resources/subscribe", {"uri": uri}) == {}

    def told(self, method, **params):
        found = self.lines.told(method, **params)
        if self.modern:
            assert found["_meta"] == {META + "subscriptionId": self.id}
        return found


def test_told_of_sessions(lines):
    session = lines.call("session_new", {})["structuredContent"]["session_id"]
    uri = f"adder://sessions/{session}"
    watching = Watching(lines, uri)
    lines.run("x = 1", session=session)
    watching.told("notifications/resources/updated", uri=uri)
    lines.arrived.clear()
    lines.call("session_end", {"session": session})
    watching.told("notifications/resources/updated", uri=uri)


@pytest.mark.parametrize("version", [MODERN, LEGACY[0]])
def test_told_of_lists(adder, version):
    with Asked(adder, "--toolset", "full", version=version) as lines:
        check_told_of_lists(lines)


def check_told_of_lists(lines):
    watching = Watching(lines, lists=["resourcesListChanged", "toolsListChanged", "promptsListChanged"])
    made(lines)
    watching.told("notifications/resources/list_changed")
    lines.arrived.clear()
    tool = "adder.export_results_csv"
    for switch in ("disable", "enable"):
        assert lines.adder.call("tool", switch, tool).returncode == 0
        watching.told("notifications/tools/list_changed")
        # Who is told reads what is there now.
        assert ("export_results_csv" in lines.tools()) == (switch == "enable")
        watching.told("notifications/prompts/list_changed")


def test_told_of_a_file(lines):
    uri = made(lines)["table.csv"]
    watching = Watching(lines, uri)
    assert lines.adder.call("file", "rm", uri.split("/")[-1]).returncode == 0
    watching.told("notifications/resources/updated", uri=uri)
    not_there(lines, uri)


@pytest.mark.both_users
def test_told_of_nothing_else(modern, adder, installation):
    """Neither of what was not asked for, nor of another owner's."""
    other = AnotherUser(adder, installation)
    name = unique()
    with Asked(other) as stranger:
        session = modern.call("session_new", {"name": name})["structuredContent"]["session_id"]
        uri = f"adder://sessions/{session}"
        watching = Watching(stranger, uri, f"adder://sessions/{name}", lists=["resourcesListChanged"])
        modern.run("x = 1", session=session)
        made(modern)
        modern.call("session_end", {"session": name})
        own = stranger.call("session_new", {})["structuredContent"]["session_id"]
        watching.told("notifications/resources/list_changed")
        assert stranger.notices("notifications/resources/updated") == []
        stranger.call("session_end", {"session": own})


def test_only_what_was_asked_for(modern):
    listen = modern.start("subscriptions/listen", {"notifications": {}})
    assert modern.told("notifications/subscriptions/acknowledged")["notifications"] == {}
    made(modern)
    modern.cancel(listen)
    assert modern.run("1") and modern.arrived == modern.arrived.__class__()
    assert modern.end() == ([], 0, "")


def test_unsubscribed(adder):
    with Asked(adder, version=LEGACY[0]) as lines:
        session = lines.call("session_new", {})["structuredContent"]["session_id"]
        uri = f"adder://sessions/{session}"
        Watching(lines, uri)
        assert lines.result("resources/unsubscribe", {"uri": uri}) == {}
        lines.run("x = 1", session=session)
        lines.call("session_end", {"session": session})
        assert lines.notices("notifications/resources/updated") == []


WRONG = {
    "nothing": {},
    "a list": {"notifications": []},
    "a word": {"notifications": {"toolsListChanged": "yes"}},
    "no list": {"notifications": {"resourceSubscriptions": "adder://prompt"}},
    "numbers": {"notifications": {"resourceSubscriptions": [7]}},
    "too long": {"notifications": {"resourceSubscriptions": ["x" * 5000]}},
    "too many": {"notifications": {"resourceSubscriptions": [f"x://{i}" for i in range(257)]}},
}


def test_wrong_wishes(modern):
    for params in WRONG.values():
        assert modern.problem("subscriptions/listen", params)["code"] == -32602
    for method in ("resources/subscribe", "resources/unsubscribe"):
        assert modern.problem(method, {"uri": "adder://prompt"})["code"] == -32601


def test_bounds_of_subscriptions(make_adder):
    own = make_adder("[mcp]\nmax_subscriptions = 2\nmax_subscribed = 2\n")
    with Asked(own) as lines:
        for _ in range(2):
            Watching(lines, lists=["toolsListChanged"])
        problem = lines.problem("subscriptions/listen", {"notifications": {}})
        assert "max_subscriptions" in problem["message"]
    with Asked(own, version=LEGACY[0]) as lines:
        for uri in ("x://1", "x://2", "x://2"):
            lines.result("resources/subscribe", {"uri": uri})
        assert "max_subscribed" in lines.problem("resources/subscribe", {"uri": "x://3"})["message"]
        lines.result("resources/unsubscribe", {"uri": "x://1"})
        lines.result("resources/subscribe", {"uri": "x://3"})


def test_end_of_the_daemon(make_adder):
    """Who listens is told that it is over."""
    own = make_adder()
    with Asked(own) as lines:
        listen = lines.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        lines.told("notifications/subscriptions/acknowledged")
        assert own.call("serve", "stop", "--force").returncode == 0
        ended = lines.answer(listen)["error"]
        assert ended["code"] == -32603 and "the daemon ended" in ended["message"]
        lines.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        lines.told("notifications/subscriptions/acknowledged")
