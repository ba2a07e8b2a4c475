# SPDX-License-Identifier: Apache-2.0
"""The tool table from outside: lists and schemas, arguments, enablement, roles, and calls that go to the daemon."""
import json
import re
import signal

import jsonschema
import pytest

from harness import Tools, named, unique, wait_until, with_name

TOOLSETS = ["adder", "workbench", "compute", "code_executor", "assistant", "analyst"]
NAME = r"[a-zA-Z0-9_-]{1,64}"


def listed(adder, *options):
    ended = adder.call("tool", "list", *options)
    assert ended.returncode == 0 and ended.stderr == "", ended
    return ended.stdout


@pytest.fixture
def ours(adder):
    return Tools(adder, "adder")


# ---- lists ----


@pytest.mark.quick
@pytest.mark.parametrize("toolset", TOOLSETS)
def test_schemas_are_json_schema(adder, toolset):
    for tool in Tools(adder, toolset).table.values():
        assert re.fullmatch(NAME, tool["name"]) and tool["title"] and tool["description"]
        hints = tool["annotations"]
        assert {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} < set(hints)
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
            assert schema["type"] == "object"
            jsonschema.Draft202012Validator.check_schema(schema)
        assert tool["inputSchema"]["additionalProperties"] is False


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_openai_is_strict(adder, toolset):
    for tool in json.loads(listed(adder, "--toolset", toolset, "--format", "openai")):
        assert tool["type"] == "function" and set(tool) == {"type", "function"}
        function = tool["function"]
        assert set(function) == {"name", "description", "parameters", "strict"} and function["strict"] is True
        schema = function["parameters"]
        jsonschema.Draft202012Validator.check_schema(schema)
        assert sorted(schema["required"]) == sorted(schema["properties"])
        assert schema["additionalProperties"] is False


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_anthropic(adder, toolset):
    for tool in json.loads(listed(adder, "--toolset", toolset, "--format", "anthropic")):
        assert set(tool) == {"name", "description", "input_schema"}
        jsonschema.Draft202012Validator.check_schema(tool["input_schema"])


def test_the_list_has_a_line_for_each(adder):
    lines = listed(adder).splitlines()
    names = [tuple(line.split()[:2]) for line in lines]
    assert len(set(names)) == len(names)
    assert {name[0] for name in names} == set(TOOLSETS)
    assert ("compute", "compute_with_python") in names and ("adder", "session_branch") in names
    assert len(listed(adder, "--toolset", "compute").splitlines()) == 1


def test_markdown_tells_of_every_parameter(adder):
    text = listed(adder, "--format", "markdown", "--toolset", "code_executor")
    assert "| `timeout` | integer | 30 | 1 to 60 s |" in text
    assert "## Toolset `code_executor`" in text and "### run_python" in text


def test_the_prompt_tells_what_there_is(adder):
    text = listed(adder, "--prompt", "--toolset", "compute")
    assert "compute_with_python" in text and "'NcS9euQa'[::-1]" in text
    assert "execute_python" in listed(adder, "--prompt", "--toolset", "workbench")


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["list", "--toolset", "nothing"], 'there is no toolset "nothing"; there are: adder, workbench'),
        (["list", "--format", "yaml"], "there is no format"),
        (["list", "--role", "king"], "is not one of the roles: guest, user, admin"),
        (["disable"], "an argument is missing: adder tool disable TOOL"),
        (["forbid", "run_python"], 'there is no command "adder tool forbid"'),
        (["disable", "nothing"], 'there is no tool "nothing"'),
        (["disable", "python_new", "--toolset", "compute"], "there is no tool"),
    ],
)
def test_bad_lists(adder, arguments, sentence):
    ended = adder.call("tool", *arguments)
    assert ended.returncode == 125 and ended.stdout == "" and ended.stderr.count("\n") == 1
    assert sentence in ended.stderr


# ---- calls ----


@pytest.mark.quick
def test_a_call(ours):
    reply = ours.call("run_python", {"code": "print('a'); 6 * 7"})
    assert (reply["outcome"], reply["stdout"], reply["value"], reply["error"]) == ("ok", "a\n", "42", None)
    assert re.fullmatch(r"[0-9a-f-]{36}", reply["run_id"])
    failed = ours.call("run_python", {"code": "x = 1\n1/0"}, status=1)
    assert failed["outcome"] == "error" and failed["exit_code"] == 1
    assert failed["error"]["type"] == "ZeroDivisionError" and failed["error"]["line"] == 2


def test_a_call_has_time_and_memory(ours):
    late = ours.call("run_python", {"code": "while True: pass", "timeout": 1}, status=1)
    assert late["outcome"] == "timeout" and "1 s" in late["error"]["message"]
    large = ours.call("run_python", {"code": "x = bytearray(300 << 20)", "memory_mb": 64}, status=1)
    assert large["outcome"] == "memory_limit"


def test_arguments_and_environment(ours):
    reply = ours.call("run_python", {"code": "import sys; sys.argv[1:]", "arguments": ["a b", "ü"], "environment": "system"})
    assert reply["value"] == "['a b', 'ü']"


def test_tables_and_pictures(science):
    tools = Tools(science, "adder")
    code = "import pandas as pd, matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\npd.DataFrame({'a': [1, 2]})"
    reply = tools.call("run_python", {"code": code, "environment": "science"})
    assert reply["value"].startswith("|  | a |") and "charts" not in reply
    assert reply["displays"][0]["image/png"].startswith("iVBOR")
    charts = tools.call("run_python", {"code": code, "environment": "science", "charts": True})["charts"]
    assert charts[0]["charts"][0]["kind"] == "line"


def test_arguments_from_a_file_and_standard_input(adder, ours):
    text = json.dumps({"code": "print(open.__name__, 'x' * 3)"})
    path = adder.file("arguments.json", text)
    for given, options in ((f"@{path}", {}), ("-", {"input": text})):
        ended = adder.call("tool", "call", "run_python", given, **options)
        assert ours.parse("run_python", ended, 0)["stdout"] == "open xxx\n"


def test_without_a_daemon(own_adder):
    tools = Tools(own_adder, "adder")
    assert tools.call("run_python", {"code": "1 + 1"}, "--no-daemon")["value"] == "2"
    assert own_adder.daemon() is None


SENTENCES = {
    "no arguments": ("run_python", "{}", "run_python: code is missing"),
    "unknown": ("run_python", '{"code": "1", "timeot": 3}', "did you mean timeout?"),
    "bound": ("code_executor.run_python", '{"code": "1", "timeout": 61}', "timeout must be at most 60 s, not 61"),
    "type": ("run_python", '{"code": 5}', "code must be text, not an integer"),
    "all at once": ("run_python", '{"timeout": 0, "x": 1}', "code is missing; timeout must be at least 1 s, not 0"),
    "a name": ("run_python", '{"code": "1", "session": "a b"}', "letters, digits, _ and -"),
    "no JSON": ("run_python", "{", "is not JSON"),
    "a list": ("run_python", "[]", "must be a JSON object"),
    "a name twice": ("run_python", '{"code": "1", "code": "2"}', "is not JSON"),
    "NUL": ("run_python", '{"code": "\\u0000"}', "U+0000"),
    "a large number": ("run_python", '{"code": "1", "x": 123456789012345678901234567890}', "at most 64 bits"),
    "no tool": ("run_pithon", "{}", "did you mean run_python?"),
    "no toolset": ("nothing.run_python", "{}", "there is no tool"),
    "no environment": ("run_python", '{"code": "1", "environment": "nothing"}', "nothing"),
    "no profile": ("run_python", '{"code": "1", "profile": "nothing"}', "there is no profile"),
    "no session": ("run_python", '{"code": "1", "session": "nothing"}', "there is no session"),
    "settled": ("run_python", '{"code": "1", "session": "s", "profile": "standard"}', "settled when a session is made"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_bad_calls(adder, name):
    tool, text, sentence = SENTENCES[name]
    ended = adder.call("tool", "call", tool, text)
    assert ended.returncode == 125 and ended.stderr == "" and ended.stdout.count("\n") == 1
    reply = json.loads(ended.stdout)
    assert set(reply) == {"error", "run_id"} and "\n" not in reply["error"]
    assert sentence in reply["error"]


def test_a_long_conversation_is_refused(ours):
    assert "longer than 200 bytes" in ours.refused("run_python", {"code": "1"}, "--conversation", "x" * 201)


def test_hanging_up_cancels(adder, ours):
    name = unique()
    process = adder.popen("tool", "call", "run_python", json.dumps({"code": named(name), "timeout": 600}))
    wait_until(lambda: with_name(name), "the run to begin")
    process.send_signal(signal.SIGINT)
    process.wait()
    wait_until(lambda: not with_name(name), "the run to end with its caller")
    process.stdout.close()
    process.stderr.close()


# ---- sessions ----


def test_a_session_through_tools(ours):
    session = ours.call("session_new", {})["session_id"]
    first = ours.call("run_python", {"code": "x = [1, 2]", "session": session})
    assert first["session"]["cell"] == 1 and first["session"]["status"] == "[session active, 1 var]"
    listed_ = ours.call("session_variables", {"session": session})
    assert listed_["variables"][0]["name"] == "x" and "value" not in listed_["variables"][0]
    assert ours.call("session_history", {"session": session})["cells"][0]["code"] == "x = [1, 2]"
    assert ours.call("session_show", {"session": session})["cells"] == 1
    assert ours.call("session_interrupt", {"session": session})["state"] == "idle"
    assert ours.call("session_reset", {"session": session})["variables"] == 0
    assert session in [one["session_id"] for one in ours.call("session_list")["sessions"]]
    ended = ours.call("session_end", {"session": session})
    assert ended["state"] == "ended" and ended["reason"]
    assert "ended" in ours.refused("run_python", {"code": "1", "session": session})


def test_checkpoints_and_branches_through_tools(ours, sessions):
    sessions.make_room()
    session = ours.call("session_new", {})["session_id"]
    ours.call("run_python", {"code": "x = 1", "session": session})
    if ours.call("session_show", {"session": session})["isolation"]["level"] < 2:
        pytest.skip("branches need sandboxes with namespaces")
    point = ours.call("session_checkpoint", {"session": session, "name": "one"})
    ours.call("run_python", {"code": "x = 2", "session": session})
    branches = ours.call("session_branch", {"session": session, "checkpoint": "one", "count": 2})["sessions"]
    ours.call("session_rollback", {"session": session, "checkpoint": point["checkpoint_id"]})
    all_ = [session] + [one["session_id"] for one in branches]
    assert [ours.call("run_python", {"code": "x", "session": one})["value"] for one in all_] == ["1"] * 3
    for one in all_:
        ours.call("session_end", {"session": one})


# ---- enabling and disabling ----


def test_a_switch_needs_no_restart(own_adder):
    tools = Tools(own_adder, "code_executor")
    tools.call("run_python", {"code": "1"})
    pid = own_adder.daemon()
    assert own_adder.call("tool", "disable", "code_executor.run_python").returncode == 0
    assert "run_python" not in listed(own_adder, "--toolset", "code_executor")
    assert "run_python" not in names_for(own_adder, "code_executor")
    assert "- run_python:" not in listed(own_adder, "--toolset", "code_executor", "--prompt")

    def refused():
        ended = own_adder.call("tool", "call", "code_executor.run_python", '{"code": "1"}')
        return ended.returncode == 126 and "switched off" in json.loads(ended.stdout)["error"]

    wait_until(refused, "the daemon to see the switch")
    assert Tools(own_adder, "adder").call("run_python", {"code": "1"})["value"] == "1", "another of that name"
    assert own_adder.call("tool", "enable", "run_python", "--toolset", "code_executor").returncode == 0
    wait_until(lambda: not refused(), "the daemon to see the switch")
    assert tools.call("run_python", {"code": "1"})["exit_code"] == 0
    assert own_adder.daemon() == pid


def test_a_broken_tools_conf_disables_all(own_adder):
    path = own_adder.own(own_adder.config) / "tools.conf"
    for text in ("[tools\n", "[tools]\nother = x\n", "[other]\ndisabled = x\n"):
        path.write_text(text)
        path.chmod(0o644)
        ended = own_adder.call("tool", "list")
        assert ended.returncode == 125 and "tools.conf" in ended.stderr and ended.stderr.count("\n") == 1
        call = own_adder.call("tool", "call", "run_python", '{"code": "1"}', "--no-daemon")
        assert call.returncode == 125 and "tools.conf" in json.loads(call.stdout)["error"]


# ---- roles ----


def names_for(adder, toolset, *options):
    return {tool["name"] for tool in json.loads(listed(adder, "--toolset", toolset, "--format", "mcp", *options))}


def test_each_role_has_its_tools(adder):
    assert names_for(adder, "workbench", "--role", "guest") == set()
    assert names_for(adder, "workbench", "--role", "user") >= {"execute_python", "export_results_csv"}
    assert names_for(adder, "code_executor", "--role", "guest") >= {"run_python", "run_shell"}
    refusal = Tools(adder, "workbench").refused("execute_python", {"code": "1"}, "--role", "guest", status=126)
    assert "role user" in refusal


def test_roles_of_the_configuration(make_adder):
    adder = make_adder("[roles]\nguest_tools = compute.* session_*\n")
    assert names_for(adder, "code_executor", "--role", "guest") == set()
    assert names_for(adder, "compute", "--role", "guest") == {"compute_with_python"}
    assert "run_python" not in names_for(adder, "adder", "--role", "guest")
    assert "session_new" in names_for(adder, "adder", "--role", "guest")
    assert "guest_tools" in Tools(adder, "adder").refused("run_python", {"code": "1"}, "--role", "guest", status=126)


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_a_read_only_agent_executes_nothing(adder, toolset):
    tools = Tools(adder, toolset)
    left = names_for(adder, toolset, "--read-only")
    assert all(tools.table[name]["annotations"]["readOnlyHint"] for name in left)
    for name, tool in tools.table.items():
        if name in left:
            continue
        refusal = tools.refused(name, {"code": "1"}, "--read-only", status=126)
        assert "executes code" in refusal
    assert "run_python" not in left and "python_new" not in left and "session_new" not in left
