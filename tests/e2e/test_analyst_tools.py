# SPDX-License-Identifier: Apache-2.0
"""The toolset `analyst`: scan, check and run an analysis, and ask a model of the daemon's; by a call, HTTP and MCP."""
import json
import re
import signal

import http_bed
import pytest
from harness import Tools, strict_json, unique, wait_until
from mcp_lines import Lines, parts

SALES = "date;category;revenue\n2024-01-05;Toys;100\n2024-04-05;Toys;150\n2024-05-05;Books;210\n"
SUM = 'result = df["revenue"].sum()'
PLAN = {
    "steps": [{"operation": "aggregate", "detail": "the sum of revenue"}],
    "target": {"kind": "number", "columns": [], "rows": None, "order": None},
    "time": None,
}


def call(name, contains=(), **arguments):
    line = {"answer": {"calls": [{"name": name, "arguments": arguments}]}}
    return {"ask": {"contains": list(contains)}, **line} if contains else line


ANSWERS = [
    call("submit_plan", ["What is the revenue?"], **PLAN),
    call("submit_checks", checks=['{"check": "kind", "is": "number"}']),
    call("submit_code", code="import os"),
    call("submit_code", ["line 1, column 1: import"], code=SUM),
    {"ask": {"contains": ["460"]}, "answer": {"text": "It is 460."}},
]


@pytest.fixture
def tools(science):
    return Tools(science, "analyst")


def put(adder, name, text):
    ended = adder.call("file", "put", adder.file(name, text), "--json")
    assert ended.returncode == 0, ended
    return strict_json(ended.stdout)["files"][0]["file_id"]


@pytest.fixture
def make_asked(science, make_adder):
    """An Adder whose daemon has a model: a file of answers."""

    def make(answers=ANSWERS, lines=""):
        model = science.directory / f"{unique()}.jsonl"
        model.write_text("".join(json.dumps(line) + "\n" for line in answers))
        science.own(model)
        return make_adder(f"[environment]\ndefault = science\n[models]\nfor_tools = replay:{model}\n{lines}")

    return make


# ---- by a call ----


def test_the_table(tools):
    assert list(tools.table) == ["scan_csv", "check_code", "run_analysis", "ask_csv", "load_file", "list_files"]
    read_only = {name for name, tool in tools.table.items() if tool["annotations"]["readOnlyHint"]}
    assert read_only == {"scan_csv", "check_code", "list_files"}
    assert tools.table["ask_csv"]["annotations"]["openWorldHint"]


@pytest.mark.quick
def test_a_text_is_scanned_checked_and_asked(tools):
    told = tools.call("scan_csv", {"csv": SALES + "2024-07-01;Toys;1;too;many\n"})
    [table] = told["schema"]
    assert (table["name"], table["delimiter"], table["rows"]) == ("csv", ";", 3)
    assert [column["kind"] for column in table["columns"]] == ["date", "text", "integer"]
    assert told["assumed"] == ["1 line does not fit and is left out (line 5)"]

    assert tools.call("check_code", {"code": SUM})["ok"] is True
    told = tools.call("check_code", {"code": "x = 1\nwhile True: pass"})
    assert told["ok"] is False and told["violations"][0]["line"] == 2 and "while" in told["errors"][0]
    assert "SyntaxError" in tools.call("check_code", {"code": "x ="})["errors"][0]

    checks = [{"check": "value", "equals": 460}, {"check": "columns", "names": ["date"], "table": "csv"}]
    told = tools.call("run_analysis", {"csv": SALES, "code": SUM, "expect": checks})
    assert told["answer"] == "The answer is 460." and told["table"]["value"] == 460 and told["outcome"] == "ok"
    assert [test["ok"] for test in told["tests"]] == [True, True] and told["run_id"]


MANY = 'result = pd.DataFrame({"n": range(24), "half": [i / 2 for i in range(24)]})'
WHOLE = "n,half\n" + "".join(f"{i},{i / 2}\n" for i in range(24))


def test_a_whole_table_is_a_file(science, tools):
    told = tools.call("run_analysis", {"csv": SALES, "code": MANY})
    assert len(told["table"]["rows"]) == 10 and told["table"]["hidden_rows"] == 14 and told["table_note"] is None
    file = told["table_file"]
    assert file["mime"] == "text/csv" and file["bytes"] == len(WHOLE) and file["url"]
    path = science.scratch / "got.csv"
    assert science.call("file", "get", file["file_id"], "--out", path).returncode == 0
    assert path.read_text() == WHOLE
    again = tools.call("run_analysis", {"files": [{"file_id": file["file_id"], "name": "whole"}], "code": 'result = df["half"].sum()'})
    assert again["table"]["value"] == 138 and again["table_file"] is None and again["table_note"] is None
    told = tools.call("ask_csv", {"csv": SALES, "question": "?", "code": MANY})
    assert told["table_file"]["sha256"] == file["sha256"]
    failed = tools.call("run_analysis", {"csv": SALES, "code": "result = df\n1 / 0"}, status=1)
    assert failed["table_file"] is None and failed["table_note"] is None


def loose(schema, path=""):
    """Where SCHEMA has objects of which it says nothing."""
    if isinstance(schema, list):
        return [found for i, each in enumerate(schema) for found in loose(each, f"{path}/{i}")]
    if not isinstance(schema, dict):
        return []
    own = [path] if schema.get("type") == "object" and not {"properties", "additionalProperties"} & set(schema) else []
    return own + [found for name, each in schema.items() for found in loose(each, f"{path}/{name}")]


def test_replies_say_what_they_have(tools):
    for name in ("scan_csv", "check_code", "run_analysis", "ask_csv"):
        found = loose(tools.table[name]["outputSchema"])
        # What is of any kind is of no shape: the value of a result, what a check was given, a model's plan, a series of a chart.
        free = ("/value/", "/additionalProperties/", "/series/")
        assert [path for path in found if path and not any(part in path for part in free)] == [], name


KINDS = {
    "table": "df", "series": 'df["revenue"]', "number": "1.5", "text": '"a"', "boolean": "True", "date": 'df["date"].max()',
    "list": "[1, [2, None], {'a': 1}]", "mapping": "{'a': {'b': [1]}}", "none": "pd.NA", "other": "pd",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_result_fits_the_schema(tools, kind):
    told = tools.call("run_analysis", {"csv": SALES, "code": f"result = {KINDS[kind]}", "expect": [{"check": "kind", "is": kind}]})
    assert told["table"]["kind"] == kind and (told["table_file"] is not None) == (kind in ("table", "series"))


ODD = ("a\n", "a,b", "a,a,\n1,2,3\n", "\ufeffa;b\n1,5;2\n", "nothing\nbut\ntext\n", "a,b\n1,2,3\n" * 3 + "1,2\n")


@pytest.mark.parametrize("text", ODD)
def test_every_table_fits_the_schema(tools, text):
    assert tools.call("scan_csv", {"csv": text})["schema"][0]["name"] == "csv"
    assert tools.call("run_analysis", {"csv": text, "code": "result = df"})["schema"][0]["name"] == "csv"


def test_what_is_wrong_comes_back(tools):
    told = tools.call("run_analysis", {"csv": SALES, "code": "import os"}, status=126)
    assert told["outcome"] == "refused" and told["violations"][0]["rule"] == "import" and told["table"] is None
    told = tools.call("run_analysis", {"csv": SALES, "code": 'result = df["none"]'}, status=1)
    assert told["outcome"] == "error" and "KeyError" in told["errors"][0]
    wrong = [{"check": "value", "equals": 1}]
    told = tools.call("run_analysis", {"csv": SALES, "code": SUM, "expect": wrong}, status=1)
    assert told["outcome"] == "tests_failed" and told["errors"] == [told["tests"][0]["message"]]
    for arguments, sentence in [
        ({"code": SUM}, "no table: give files"),
        ({"csv": "", "code": SUM}, "csv"),
        ({"csv": SALES}, "code"),
        ({"csv": SALES, "code": SUM, "expect": [{"check": "bogus"}]}, "expect[0]"),
        ({"csv": SALES, "code": SUM, "expect": [{"check": "value", "equal": 1}]}, "equal"),
        ({"csv": SALES, "code": SUM, "options": {"delimiter": "too long a text"}}, "delimiter"),
        ({"csv": SALES, "code": SUM, "more": 1}, "more"),
        ({"files": [{"file_id": "nothing"}], "code": SUM}, "there is no file nothing"),
    ]:
        assert sentence in tools.refused("run_analysis", arguments), arguments
    long = tools.adder.file("long.json", json.dumps({"csv": "a\n" + "1\n" * (1 << 19), "code": SUM}))
    ended = tools.adder.call("tool", "call", "run_analysis", f"@{long}", "--toolset", "analyst")
    assert "csv" in tools.parse("run_analysis", ended, 125)["error"]


def test_stored_and_loaded_files(science, tools):
    first, second = put(science, "sales.csv", SALES), put(science, "kinds.csv", "category,kind\nToys,play\nBooks,read\n")
    code = 'result = dfs["sales"].merge(dfs["of kinds"], on="category").groupby("kind")["revenue"].sum()'
    files = [{"file_id": first}, {"file_id": second, "name": "of kinds"}]
    told = tools.call("run_analysis", {"files": files, "code": code})
    assert told["table"]["rows"] == [["play", 250], ["read", 210]]
    conversation = ("--conversation", unique())
    tools.call("load_file", {"file_id": first}, *conversation)
    assert tools.call("run_analysis", {"code": SUM}, *conversation)["table"]["value"] == 460
    assert tools.call("scan_csv", {}, *conversation)["schema"][0]["name"] == "sales"
    assert "no table" in tools.refused("scan_csv", {}, "--conversation", unique())
    again = [{"file_id": first}, {"file_id": first}]
    assert "two tables have this name" in tools.refused("scan_csv", {"files": again})


def test_a_question_without_a_model(tools):
    said = tools.refused("ask_csv", {"csv": SALES, "question": "?"})
    assert "[models] for_tools" in said and "run_analysis" in said
    told = tools.call("ask_csv", {"csv": SALES, "question": "?", "code": SUM})
    assert told["answer"] == "The answer is 460." and told["model"] is None and len(told["run_ids"]) == 3
    guest = tools.refused("ask_csv", {"csv": SALES, "question": "?", "code": SUM}, "--role", "guest", status=126)
    assert "ask_csv" in guest
    assert tools.call("run_analysis", {"csv": SALES, "code": SUM}, "--role", "guest")["table"]["value"] == 460


@pytest.mark.quick
def test_the_model_of_the_daemon_is_asked(make_asked):
    adder = make_asked()
    told = Tools(adder, "analyst").call("ask_csv", {"csv": SALES, "question": "What is the revenue?"})
    assert told["answer"] == "It is 460." and told["plan"] == PLAN and told["model"]["replay"] is True
    assert [attempt["outcome"] for attempt in told["attempts"]] == ["refused", "ok"] and len(told["tests"]) == 1


def test_a_plan_of_the_callers(make_asked):
    adder = make_asked([call("submit_code", ["sum what there is"], code=SUM), {"answer": {"text": "460."}}])
    plan = {"steps": [{"operation": "aggregate", "detail": "sum what there is"}]}
    arguments = {"csv": SALES, "question": "Sum?", "plan": plan, "expect": [{"check": "value", "equals": 460}]}
    told = Tools(adder, "analyst").call("ask_csv", arguments)
    assert told["answer"] == "460." and told["plan"]["steps"] == plan["steps"] and told["tests"][0]["ok"]


def test_a_plan_of_the_callers_comes_before_the_checks(make_asked):
    checks = call("submit_checks", ["sum what there is"], checks=['{"check": "not_empty"}'])
    adder = make_asked([checks, call("submit_code", code=SUM), {"answer": {"text": "460."}}])
    plan = {"steps": [{"operation": "aggregate", "detail": "sum what there is"}], "time": "none matters"}
    told = Tools(adder, "analyst").call("ask_csv", {"csv": SALES, "question": "Sum?", "plan": plan})
    assert told["answer"] == "460." and len(told["tests"]) == 1 and told["plan"]["time"] == "none matters"


def test_the_steps_are_shown(make_asked):
    bed = http_bed.Served(make_asked(), start=False)
    secret = bed.token("alice", "--toolset", "analyst")
    bed.start()
    try:
        arguments = {"csv": SALES, "question": "What is the revenue?", "charts": True}
        stream = bed.post("/v1/tools/ask_csv", {"arguments": arguments, "stream": True}, secret=secret).body.decode()
        events = re.findall(r"^event: (\w+)\ndata: (.*)$", stream, re.MULTILINE)
        told = [strict_json(data) for kind, data in events if kind == "progress"]
        steps = [(event["done"], event["text"], event["step"]) for event in told]
        begun = [step["name"] for _, _, step in steps if not step["ended"]]
        assert begun == ["scan", "plan", "expect", "code", "guard", "code", "guard", "run", "test", "answer"]
        assert [done for done, _, step in steps if step["ended"]] == list(range(1, 11))
        assert (1, "planning", {"name": "plan", "ended": False}) in steps
        found = [step for _, _, step in steps if step["ended"]]
        assert found[1]["plan"] == PLAN and found[2]["expect"] == [{"check": "kind", "is": "number"}]
        assert found[3]["code"] == "import os" and "import" in found[4]["errors"][0]
        assert found[7]["outcome"] == "ok" and found[8]["tests"][0]["ok"] is True
        reply = strict_json(events[-1][1])["reply"]
        assert reply["answer"] == "It is 460." and reply["charts"] == []
    finally:
        bed.stop()


def test_charts_are_data_where_they_are_asked_for(tools):
    drawn = {"csv": SALES, "code": 'ax = df["revenue"].plot()\nresult = 1'}
    assert "charts" not in tools.call("run_analysis", drawn)
    [figure] = tools.call("run_analysis", {**drawn, "charts": True})["charts"]
    assert figure["charts"][0]["series"][0]["y"] == [100, 150, 210]


def test_who_hangs_up_ends_the_question(make_asked):
    adder = make_asked([{"wait_ms": 60000, **call("submit_plan", **PLAN)}])
    arguments = json.dumps({"csv": SALES, "question": "?"})
    adder.run("1", env="science")
    with adder.popen("tool", "call", "ask_csv", arguments, "--toolset", "analyst") as process:
        wait_until(lambda: sum(adder.status()["engine"]["runs"].values()) > 1, "the scan")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    wait_until(lambda: adder.status()["connections"] == 0, "the daemon to be done with it")


# ---- what the daemon's model may cost ----


def test_a_question_ends_when_its_tokens_are_used_up(make_asked):
    great = {"usage": {"input_tokens": 900, "output_tokens": 100}}
    plan = call("submit_plan", **PLAN)
    adder = make_asked([{"answer": {**plan["answer"], **great}}, call("submit_checks", checks=[])], "tokens = 1000\n")
    said = Tools(adder, "analyst").refused("ask_csv", {"csv": SALES, "question": "?"}, status=126)
    assert "1000 tokens" in said and "[models] tokens" in said


def test_tokens_that_a_server_does_not_count_are_guessed(make_asked):
    adder = make_asked([call("submit_plan", **PLAN), call("submit_checks", checks=[])], "tokens = 1000\n")
    asked = {"csv": SALES, "question": "What is it? " * 400}
    assert "[models] tokens" in Tools(adder, "analyst").refused("ask_csv", asked, status=126)


def test_who_asks_often_waits(make_asked):
    tools = Tools(make_asked(lines="rate = 12\nconcurrent = 1\n"), "analyst")
    asked = {"csv": SALES, "question": "What is the revenue?"}
    for _ in range(2):
        assert tools.call("ask_csv", asked)["answer"] == "It is 460."
    said = tools.refused("ask_csv", asked, status=75)
    assert "[models] rate" in said and re.search(r"again in \d+ s$", said)
    assert tools.call("ask_csv", {**asked, "code": SUM})["answer"] == "The answer is 460."


def test_who_asks_much_at_once_waits(make_asked):
    adder = make_asked([{"wait_ms": 60000, **call("submit_plan", **PLAN)}], "concurrent = 1\n")
    asked = {"csv": SALES, "question": "?"}
    adder.run("1", env="science")
    with adder.popen("tool", "call", "ask_csv", json.dumps(asked), "--toolset", "analyst") as process:
        wait_until(lambda: sum(adder.status()["engine"]["runs"].values()) > 1, "the scan")
        assert "[models] concurrent" in Tools(adder, "analyst").refused("ask_csv", asked, status=75)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    wait_until(lambda: adder.status()["connections"] == 0, "the daemon to be done with it")


# ---- by HTTP and MCP ----


def test_over_http(make_asked):
    bed = http_bed.Served(make_asked(lines="rate = 6\n"), start=False)
    alice, bob = bed.token("alice", "--toolset", "analyst"), bed.token("bob", "--toolset", "analyst")
    bed.start()
    try:
        listed = bed.get("/v1/tools", secret=alice).json()
        assert [tool["name"] for tool in listed["tools"]][:4] == ["scan_csv", "check_code", "run_analysis", "ask_csv"]
        file_id = bed.upload("sales.csv", SALES.encode(), secret=alice)

        def ask(tool, secret, **arguments):
            reply = bed.post(f"/v1/tools/{tool}", {"arguments": arguments}, secret=secret)
            assert reply.status == 200, reply
            return reply.json()

        told = ask("run_analysis", alice, files=[{"file_id": file_id}], code=SUM)
        assert told["reply"]["table"]["value"] == 460 and not told["is_error"]
        told = ask("run_analysis", alice, files=[{"file_id": file_id}], code=MANY)
        assert bed.get(told["reply"]["table_file"]["url"], secret="").body.decode() == WHOLE
        other = ask("run_analysis", bob, files=[{"file_id": file_id}], code=SUM)
        assert other["is_error"] and "there is no file" in other["reply"]["error"]
        told = ask("ask_csv", alice, files=[{"file_id": file_id}], question="What is the revenue?")
        assert told["reply"]["answer"] == "It is 460."
        body = {"arguments": {"csv": SALES, "question": "What is the revenue?"}}
        busy = bed.post("/v1/tools/ask_csv", body, secret=alice)
        assert busy.json()["exit_code"] == 75 and "[models] rate" in busy.json()["reply"]["error"]
        assert 0 < int(busy.headers["Retry-After"]) <= 601
        assert bed.post("/v1/tools/ask_csv", body, secret=bob).json()["reply"]["answer"] == "It is 460."
    finally:
        bed.stop()


def test_over_mcp(make_asked):
    adder = make_asked()
    with Lines(adder, "--toolset", "analyst") as lines:
        assert set(lines.tools()) == {"scan_csv", "check_code", "run_analysis", "ask_csv", "load_file", "list_files"}
        drawn = lines.call("run_analysis", {"csv": SALES, "code": 'ax = df["revenue"].plot()\nresult = 1'})
        assert not drawn["isError"] and [part["mimeType"] for part in parts(drawn, "image")] == ["image/png"]
        assert drawn["structuredContent"]["pictures"] == []
        told = lines.call("ask_csv", {"csv": SALES, "question": "What is the revenue?"})
        assert told["structuredContent"]["answer"] == "It is 460."
        refused = lines.call("run_analysis", {"csv": SALES, "code": "import os"})
        assert refused["isError"] and refused["structuredContent"]["violations"]
