# SPDX-License-Identifier: Apache-2.0
"""What outlives a run: its record, its files' ids, and its output where that is longer than the reply."""
import hashlib
import json
import re
import sqlite3

import pytest

from harness import Sessions, Tools, strict_json, wait_until
from mcp_lines import kill_daemon

YES = "--dangerously-accept-all"
LINES = "for i in range(30000): print('line', i, 'é' * (i % 3))"
PRINTED = "".join(f"line {i} {'é' * (i % 3)}\n" for i in range(30000))


def record(adder, run_id):
    ended = adder.call("history", "show", run_id, "--json")
    assert ended.returncode == 0, ended
    return strict_json(ended.stdout)


def peek(adder, result_id, *options):
    ended = adder.call("history", "peek", result_id, "--json", *options)
    assert ended.returncode == 0 and ended.stderr == "", ended
    return strict_json(ended.stdout)


def refused(adder, *arguments):
    ended = adder.call("history", *arguments)
    assert ended.returncode == 125 and ended.stdout == "" and ended.stderr.count("\n") == 1, ended
    return ended.stderr


# ---- long output ----


@pytest.mark.quick
def test_long_output_is_kept_whole(adder):
    result = adder.run(LINES)
    assert result.truncated and result.result_id == result.run_id and result.warnings == []
    line = re.search(r"\[\.\.\. (\d+) bytes are left out here: (.*) \.\.\.\]\n", result.stdout)
    offset = int(re.search(r"--offset (\d+)", line[2])[1])
    assert f'peek_result(result_id="{result.run_id}", offset={offset})' in line[2]
    head, tail = result.stdout[: line.start()], result.stdout[line.end() :]
    raw = PRINTED.encode()
    assert raw[:offset].decode().rstrip("\n") == head.rstrip("\n")
    assert raw[offset + int(line[1]) :].decode() == tail
    ended = adder.call("history", "output", result.run_id)
    assert ended.returncode == 0 and ended.stdout == PRINTED and ended.stderr == ""


def test_short_output_is_not(adder):
    result = adder.run("print('x' * 1000)")
    assert result.result_id is None
    sentence = refused(adder, "peek", result.run_id)
    assert "no long stdout of" in sentence


def test_parts_make_the_whole(adder):
    result = adder.run(LINES)
    text, at = "", 0
    while True:
        part = peek(adder, result.run_id, "--offset", at, "--limit", 99_991)
        assert part["offset"] == at and part["total_bytes"] == len(PRINTED.encode())
        text, at = text + part["text"], part["next_offset"]
        if part["at_end"]:
            break
    assert text == PRINTED


def test_a_part_begins_and_ends_with_characters(adder):
    result = adder.run("print('é' * 100_000)")
    part = peek(adder, result.run_id, "--offset", 1001, "--limit", 100)
    assert part["offset"] == 1002 and part["text"] == "é" * 49 and part["next_offset"] == 1100
    last = peek(adder, result.run_id, "--offset", 200_001)
    assert last["text"] == "" and last["at_end"]
    assert "beyond the end" in refused(adder, "peek", result.run_id, "--offset", 200_002)


def test_bytes_that_are_no_text(adder):
    result = adder.run("import sys; sys.stdout.buffer.write(bytes(range(256)) * 1000)")
    part = peek(adder, result.run_id, "--offset", 0, "--limit", 256)
    assert part["text"].startswith("\ufffd\x01\x02") and part["text"].endswith("\ufffd") and part["next_offset"] == 256


def test_stderr_is_a_stream_of_its_own(adder):
    result = adder.run("import sys\nprint('short')\nfor i in range(20000): print('err', i, file=sys.stderr)")
    assert 'stream="stderr"' in result.stderr and "--stream stderr" in result.stderr
    assert peek(adder, result.run_id, "--stream", "stderr", "--limit", 64)["text"].startswith("err 0\nerr 1\n")
    assert "no long stdout of" in refused(adder, "peek", result.run_id)
    ended = adder.call("history", "output", result.run_id)
    assert ended.stdout == "" and ended.stderr == "".join(f"err {i}\n" for i in range(20000))


def test_lines_are_found(adder):
    result = adder.run(LINES)
    found = peek(adder, result.run_id, "--grep", r"^line 1234\d ")
    assert [line["line"] for line in found["lines"]] == list(range(12341, 12351)) and found["at_end"]
    for line in found["lines"]:
        at = line["offset"]
        assert PRINTED.encode()[at:].decode().startswith(line["text"] + "\n")
    people = adder.call("history", "peek", result.run_id, "--grep", "line 29999")
    assert people.stdout == "30000:line 29999 éé\n" and people.returncode == 0


def test_lines_are_found_a_part_at_a_time(adder):
    result = adder.run(LINES)
    numbers, at = [], 0
    while True:
        found = peek(adder, result.run_id, "--grep", "00", "--offset", at, "--limit", 3000)
        numbers += [line["line"] for line in found["lines"]]
        at = found["next_offset"]
        if found["at_end"]:
            break
    assert numbers == [i + 1 for i in range(30000) if "00" in str(i)]


def test_a_match_in_a_long_line(adder):
    result = adder.run("print('a' * 300_000 + 'needle' + 'b' * 300_000)")
    [line] = peek(adder, result.run_id, "--grep", "needle")["lines"]
    assert line["line"] == 1 and "needle" in line["text"] and len(line["text"]) <= 500
    assert line["offset"] <= 300_000 < line["offset"] + len(line["text"])


def test_patterns_that_cannot_be(adder):
    result = adder.run("print('a' * 100_000)")
    alone = refused(adder, "peek", result.run_id, "--grep", "(")
    assert "is not a pattern" in alone and "LIMIT" not in alone
    assert "backtracking" in refused(adder, "peek", result.run_id, "--grep", "(a+)+$(?<!a)")
    assert "backtracking" in refused(adder, "peek", result.run_id, "--grep", "(*LIMIT_MATCH=4000000000)(a+)+$(?<!a)")
    assert "at most 1000 characters" in refused(adder, "peek", result.run_id, "--grep", "x" * 1001)


def test_results_that_are_not_there(adder):
    assert "no long stdout of" in refused(adder, "peek", "01890000-0000-7000-8000-000000000000")
    for wrong in ("../../etc/passwd", "", "%s%n"):
        assert "must be an id" in refused(adder, "peek", wrong)


def test_wrong_numbers_and_words(adder):
    result = adder.run(LINES)
    assert "limit must be at least 64 bytes, not 5" in refused(adder, "peek", result.run_id, "--limit", 5)
    assert "not below 0" in refused(adder, "peek", result.run_id, "--offset=-1")
    assert "stream must be stdout or stderr" in refused(adder, "peek", result.run_id, "--stream", "stdin")


def test_the_limit_of_what_is_kept(adder):
    result = adder.run("print('x' * 300_000)", "--limit", "spill_bytes=100000")
    assert result.outcome == "ok" and result.result_id
    whole = adder.call("history", "output", result.run_id).stdout
    assert whole.startswith("x" * 100_000 + "\n[... 200001 bytes more are not kept: the limit is spill_bytes ...]")
    nothing = adder.run("print('x' * 300_000)", "--limit", "spill_bytes=0")
    assert nothing.truncated and nothing.result_id is None and "print less" in nothing.stdout


def test_output_of_code_that_is_killed(adder):
    result = adder.run("import os\nprint('x' * 200_000, flush=True)\nos.kill(os.getpid(), 9)")
    assert result.outcome == "crashed" and result.result_id
    assert peek(adder, result.run_id)["total_bytes"] == 200_001


# ---- files ----


@pytest.mark.quick
def test_files_have_ids_and_urls(adder):
    code = "open('a.txt', 'w').write('hello')\nopen('/tmp/output/a.txt', 'w').write('other')"
    result = adder.run(code)
    assert result.warnings == [] and len(result.files) == 2
    for file, content in zip(result.files, (b"hello", b"other")):
        assert file["url"].startswith(f"/v1/files/{file['file_id']}/a.txt?expires=")
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
    listed = record(adder, result.run_id)["more"]["files"]
    assert [file["file_id"] for file in listed] == [file["file_id"] for file in result.files]


def test_files_of_cells(adder):
    sessions = Sessions(adder)
    sessions.new("--name", "s")
    first = sessions.cell("s", "open('data.txt', 'w').write('one')")
    second = sessions.cell("s", "open('data.txt', 'w').write('two two')")
    assert first.files[0]["file_id"] != second.files[0]["file_id"] and first.warnings == second.warnings == []
    assert second.files[0]["sha256"] == hashlib.sha256(b"two two").hexdigest()
    told = record(adder, second.run_id)
    assert (told["cell"], told["session_id"]) == (2, second.session["session_id"])
    assert told["profile"] == "standard" and told["environment"]


# ---- records ----


@pytest.mark.quick
@pytest.mark.local  # the owner
def test_a_run_is_on_record(adder):
    result = adder.run("print(1)", "--conversation", "talk", "--description", "Says one.")
    told = record(adder, result.run_id)
    assert told["run_id"] == result.run_id and told["outcome"] == "ok" and told["exit_code"] == 0
    assert told["code"] == "print(1)" and told["code_sha256"] == hashlib.sha256(b"print(1)").hexdigest()
    assert told["owner"] == f"uid:{adder.user.uid}" and told["conversation"] == "talk"
    assert told["front_end"] == "cli" and told["tool"] is None and told["profile"] == "standard"
    assert told["more"]["description"] == "Says one."
    assert told["more"]["output"] == {
        "stdout_bytes": 2,
        "stderr_bytes": 0,
        "stdout_kept": False,
        "stderr_kept": False,
    }


@pytest.mark.parametrize(
    "code, options, outcome",
    [
        ("1/0", [], "error"),
        ("import os", ["--profile", "compute"], "refused"),
        ("print(1)", ["--profile", "nowhere"], "failed"),
        ("print(1)", ["--profile", "workbench"], "approval_required"),
        ("while True: pass", ["--limit", "wall_ms=200"], "timeout"),
        ("import os; os.kill(os.getpid(), 11)", [], "crashed"),
        ("b'\\x00" + "\\xff'", [], "ok"),
    ],
)
def test_however_it_ended(adder, code, options, outcome):
    result = adder.run(code, *options)
    told = record(adder, result.run_id)
    assert result.outcome == outcome == told["outcome"] and told["code"] == code
    assert told["exit_code"] == result.exit_code
    if result.error:
        assert told["more"]["error"]["type"] == result.error["type"]
    if result.approval_id:
        assert told["more"]["waits_for"] == result.approval_id and told["isolation_level"] is None


def test_a_run_that_is_cancelled(adder):
    with adder.start("import time\nprint('begun', flush=True)\ntime.sleep(1000)") as process:
        assert process.stdout.readline() == b"begun\n"
        process.terminate()
        process.communicate()

    def on_record():
        ended = adder.call("history", "list", "--json", "--outcome", "cancelled")
        return ended.returncode == 0 and "begun" in ended.stdout

    wait_until(on_record, "a record of the run")


def test_cells_that_are_replayed(adder):
    sessions = Sessions(adder)
    sessions.new("--name", "first")
    sessions.cell("first", "x = 20")
    ended = adder.call("session", "replay", "first", "--name", "second")
    assert ended.returncode == 0, ended
    listed = strict_json(adder.call("history", "list", "--json").stdout)["records"]
    again = [row for row in listed if row["session_id"] == sessions.show("second")["session_id"]]
    assert [(row["cell"], row["outcome"], row["front_end"]) for row in again] == [(1, "ok", "cli")]


def test_who_said_yes(adder):
    allowed = adder.run("print(1)", "--profile", "workbench", YES)
    assert allowed.outcome == "ok" and record(adder, allowed.run_id)["approval"] == "accepted all"
    asked = adder.run("print(2)", "--profile", "workbench")
    assert adder.call("approval", "approve", asked.approval_id).returncode == 0
    given = adder.run("print(2)", "--profile", "workbench", "--approval", asked.approval_id)
    assert given.outcome == "ok" and record(adder, given.run_id)["approval"] == asked.approval_id


def test_secrets_are_not_on_record(adder):
    result = adder.run("print(1)", "--set-env", "TOKEN=very-secret-word")
    assert record(adder, result.run_id)["more"]["variables"] == ["TOKEN"]
    for path in (adder.state / "store").iterdir():
        if path.is_file():
            assert b"very-secret-word" not in path.read_bytes(), path


def test_code_is_kept_only_where_it_may_be(make_adder):
    adder = make_adder("[store]\ncode = false\n")
    result = adder.run("raise ValueError('hidden-word')")
    told = record(adder, result.run_id)
    assert told["code"] is None and len(told["code_sha256"]) == 64 and told["more"]["error"] == {"type": "ValueError"}
    assert b"hidden-word" not in (adder.state / "store" / "records.db").read_bytes()


def test_a_tool_with_its_arguments(adder):
    reply = Tools(adder, "compute").call("compute_with_python", {"code": "6 * 7", "description": "Multiplies."})
    told = record(adder, reply["run_id"])
    assert told["tool"] == "compute.compute_with_python" and told["more"]["arguments"]["description"] == "Multiplies."


def test_long_arguments_are_cut(adder):
    text = json.dumps({"code": "print(1)", "arguments": ["x" * 5000] * 200})
    reply = strict_json(adder.call("tool", "call", "adder.run_python", "-", input=text).stdout)
    arguments = record(adder, reply["run_id"])["more"]["arguments"]["arguments"]
    assert len(arguments) < 70 and arguments[0].endswith("... (5000 bytes)") and len(json.dumps(arguments)) < 20_000


# ---- tools ----


@pytest.mark.parametrize("toolset", ["adder", "workbench"])
def test_agents_read_on(adder, toolset):
    name = {"adder": "run_python", "workbench": "execute_python"}[toolset]
    tools = Tools(adder, toolset)
    reply = tools.call(name, {"code": LINES}, YES)
    assert reply["result_id"] == reply["run_id"]
    part = tools.call("peek_result", {"result_id": reply["result_id"], "offset": 100, "limit": 64})
    assert part["text"] == PRINTED.encode()[100:164].decode(errors="ignore")
    found = tools.call("peek_result", {"result_id": reply["result_id"], "grep": "^line 777 "})
    assert [line["text"] for line in found["lines"]] == ["line 777 "]
    assert "no long stderr of" in tools.refused("peek_result", {"result_id": reply["result_id"], "stream": "stderr"})


def test_the_workbench_has_previews(adder):
    tools = Tools(adder, "workbench")
    short = tools.call("execute_python", {"code": "print('é' * 29_999)"}, YES)
    assert short["stdout"] == "é" * 29_999 + "\n" and "result_id" not in short
    reply = tools.call("execute_python", {"code": "print('é' * 31_000)"}, YES)
    assert len(reply["stdout"]) < 11_000 and reply["result_id"]
    offset = int(re.search(r"offset=(\d+)", reply["stdout"])[1])
    part = tools.call("peek_result", {"result_id": reply["result_id"], "offset": offset, "limit": 30_000})
    assert reply["stdout"].startswith("é" * (offset // 2) + "\n[... cut here: ") and part["text"] == "é" * 15_000


# ---- what cannot be kept ----


def test_nothing_is_kept_where_nothing_shall_be(make_adder):
    adder = make_adder("[store]\nrecords = none\nblobs = none\n")
    result = adder.run("open('a', 'w').write('x')\nprint('x' * 200_000)")
    assert result.outcome == "ok" and result.warnings == [] and result.result_id is None
    assert result.files[0]["file_id"] is None and result.files[0]["url"] is None
    assert not (adder.state / "store").exists()


def test_a_database_that_is_none(make_adder):
    adder = make_adder()
    (adder.state / "store").mkdir(mode=0o700)
    adder.own(adder.state / "store")
    path = adder.state / "store" / "records.db"
    path.write_bytes(b"this is no database at all" * 1000)
    adder.own(path)
    result = adder.run("open('a', 'w').write('x')\nprint('x' * 200_000)")
    assert result.outcome == "ok" and len(result.stdout) > 60_000
    assert result.result_id is None and result.files[0]["file_id"] is None
    assert any("not on record" in warning and "records.db" in warning for warning in result.warnings)
    assert path.read_bytes().startswith(b"this is no database"), "it is somebody's"
    told = adder.status()["engine"]["store"]
    assert told["runs_kept"] == 0 and told["runs_not_kept"] == 1 and "records.db" in told["last_problem"]
    doctor = strict_json(adder.call("doctor", "--json").stdout)["store"]
    assert "records.db" in doctor["records_at"]["problem"]


def test_how_keeping_goes_is_told(make_adder):
    adder = make_adder()
    adder.run("print(1)")
    adder.run("print(2)")
    told = adder.status()["engine"]["store"]
    assert told == {
        "records": "sqlite",
        "files": "directory",
        "runs_kept": 2,
        "runs_not_kept": 0,
        "last_problem": None,
        "last_problem_at": None,
    }
    doctor = strict_json(adder.call("doctor", "--json").stdout)["store"]
    assert doctor["records_at"]["problem"] is None and doctor["files_at"]["problem"] is None


def test_a_place_for_files_that_cannot_be_used(make_adder):
    adder = make_adder()
    adder.configure(f"[store]\nblobs = directory:{adder.file('occupied', 'a file')}\n")
    result = adder.run("open('a', 'w').write('x')\nprint('x' * 200_000)")
    assert result.outcome == "ok" and result.result_id is None and result.files[0]["file_id"] is None
    told = adder.status()["engine"]["store"]
    assert told["runs_kept"] == 0 and told["runs_not_kept"] == 1 and "the file a was not kept" in told["last_problem"]
    assert any(warning.startswith("stdout is not kept whole: ") for warning in result.warnings)
    assert any("a" in warning and "not kept" in warning for warning in result.warnings)
    assert record(adder, result.run_id)["outcome"] == "ok"
    adder.run("print('x' * 200_000)")
    told = adder.status()["engine"]["store"]
    assert told["runs_kept"] == 0 and told["runs_not_kept"] == 2 and "long output" in told["last_problem"]


def test_all_that_is_acknowledged_is_there(adder):
    ids = [adder.run(f"print({i})").run_id for i in range(5)]
    kill_daemon(adder)
    database = sqlite3.connect(f"file:{adder.state}/store/records.db?mode=ro", uri=True)
    known = {row[0] for row in database.execute("SELECT run_id FROM records")}
    assert set(ids) <= known
