# SPDX-License-Identifier: Apache-2.0
"""adder history: every run is on record, as it was, in a chain that shows whatever is done to it."""
import csv
import hashlib
import io
import json
import os
import pty
import signal
import sqlite3
import subprocess
import uuid

import pytest
import store_world

from harness import FOREVER, strict_json, wait_until
from mcp_lines import kill_daemon

COLUMNS = (
    "node seq run_id started_ms owner conversation front_end role tool session cell profile environment code code_sha256 outcome"
    " exit_code wall_us cpu_us queue_us peak_bytes level approval more bytes"
).split()


@pytest.fixture(scope="module")
def postgres():
    try:
        server = store_world.Postgres()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    yield server
    server.end()


@pytest.fixture(params=["sqlite", "postgres"])
def keeper(request, make_adder):
    """An Adder with a database of its own, of either kind."""
    records = "sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres").new()
    return make_adder(f"[store]\nrecords = {records}\nnode = here\n")


@pytest.fixture
def lite(make_adder):
    return make_adder("[store]\nnode = here\n")


def ask(adder, *words, status=0):
    ended = adder.call("history", *words, "--json")
    assert ended.returncode == status, ended
    return strict_json(ended.stdout)


def records(adder, *words):
    return ask(adder, "list", *words)["records"]


def problems(adder, *words):
    answer = ask(adder, "verify", *words, status=None or 1)
    return [problem["kind"] for node in answer["nodes"] for problem in node["problems"]]


def refused(adder, *words):
    ended = adder.call("history", *words)
    assert ended.returncode == 125 and ended.stdout == "", ended
    assert ended.stderr.startswith("adder: ") and ended.stderr.count("\n") == 1, ended
    return ended.stderr


def database(adder):
    """The file itself, as somebody would open it who has it in their hands."""
    connection = sqlite3.connect(adder.state / "store" / "records.db", timeout=30, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def tamper(adder, statement):
    connection = database(adder)
    assert connection.execute(statement).rowcount > 0
    connection.close()


# ---- what is on record ----


@pytest.mark.quick
def test_what_a_record_says(keeper):
    result = keeper.run("print('hello')\n", "--conversation", "talk", "--description", "say hello")
    (record,) = records(keeper)
    assert record["run_id"] == result.run_id and record["outcome"] == "ok" and record["exit_code"] == 0
    assert record["owner"] == f"uid:{keeper.user.uid}" and record["conversation"] == "talk"
    assert record["code_start"] == "print('hello')\n"
    whole = ask(keeper, "show", result.run_id)
    assert whole["code"] == "print('hello')\n"
    assert whole["code_sha256"] == hashlib.sha256(b"print('hello')\n").hexdigest()
    assert whole["profile"] == "standard" and whole["environment"] == keeper.environment
    assert whole["usage"] == result.fields["usage"] and whole["isolation_level"] == result.fields["isolation"]["level"]
    assert whole["node"] == "here" and whole["seq"] == 1
    assert whole["more"]["description"] == "say hello"
    assert ask(keeper, "verify")["ok"] is True


def test_all_ends_of_runs(keeper):
    keeper.run("1 / 0")
    keeper.run("while True: pass", "--timeout", "300ms")
    keeper.run("import os; os._exit(3)")
    keeper.run("x", "--env", "nowhere", env="nowhere")
    keeper.call("tool", "call", "run_python", json.dumps({"code": "1 + 1"}), "--toolset", "code_executor")
    assert [record["outcome"] for record in reversed(records(keeper))][:4] == ["error", "timeout", "error", "failed"]
    last = records(keeper)[0]
    assert last["tool"] == "code_executor.run_python", last
    assert records(keeper, "--tool", "run_python") == records(keeper, "--tool", "code_executor.run_python") == [last]
    assert {record["seq"] for record in records(keeper)} == {1, 2, 3, 4, 5}
    assert ask(keeper, "verify")["ok"] is True


def test_cells_of_a_session(keeper):
    made = strict_json(keeper.call("session", "new", "--name", "work", "--env", "system", "--json").stdout)
    for code in ("x = 1", "x += 1", "print(x)"):
        keeper.json("--session", "work", "-c", code)
    cells = records(keeper, "--session", made["session_id"])
    assert [record["cell"] for record in cells] == [3, 2, 1]
    assert records(keeper, "--session", "work") == cells
    assert records(keeper, "--session", str(uuid.uuid4())) == []
    unknown = keeper.call("history", "list", "--session", "nonsense")
    assert unknown.returncode == 125 and 'there is no session "nonsense"' in unknown.stderr


def test_secrets_are_not_kept(lite):
    lite.run("print(1)", "--set-env", "API_KEY=sesame-open-now")
    (record,) = records(lite)
    assert ask(lite, "show", record["run_id"])["more"]["variables"] == ["API_KEY"]
    lite.stop()
    for path in (lite.state / "store").rglob("*"):
        if path.is_file():
            assert b"sesame-open-now" not in path.read_bytes(), path


def test_without_code(make_adder):
    adder = make_adder("[store]\ncode = false\n")
    adder.run("token = 'sesame-open-now'\nraise ValueError(token)")
    adder.stop()
    for path in (adder.state / "store").rglob("*"):
        if path.is_file():
            assert b"sesame-open-now" not in path.read_bytes(), path
    record = ask(adder, "show", records(adder)[0]["run_id"])
    assert record["code"] is None and len(record["code_sha256"]) == 64


def test_nothing_is_kept(make_adder):
    adder = make_adder("[store]\nrecords = none\n")
    result = adder.run("print(1)")
    assert result.outcome == "ok" and result.fields["warnings"] == []
    assert "nothing is kept" in refused(adder, "list")
    assert not list(adder.state.rglob("*.db"))


# ---- finding ----


def test_filters(keeper):
    keeper.run("print('Needle_%')", "--conversation", "a")
    keeper.run("1 / 0", "--conversation", "b")
    keeper.run("print(2)")
    for words, found in (
        (("--outcome", "error"), 1),
        (("--outcome", "ok"), 2),
        (("--code", "nEEdle_%"), 1),
        (("--code", "needle__"), 0),
        (("--conversation", "a"), 1),
        (("--profile", "standard", "--env", keeper.environment), 3),
        (("--profile", "compute"), 0),
        (("--since", "1h"), 3),
        (("--until", "1h"), 0),
        (("--since", "2020-01-01", "--until", "2099-12-31 23:59"), 3),
        (("--node", "here"), 3),
        (("--node", "there"), 0),
        (("--limit", "2"), 2),
        (("--owner", "uid:1"), 0),
        (("--owner", "all"), 3),
        (("--tool", "' OR 1=1 --"), 0),
    ):
        assert len(records(keeper, *words)) == found, words
    stats = ask(keeper, "stats")
    assert stats["records"] == 3 and {group["name"]: group["records"] for group in stats["by"]["outcome"]} == {"ok": 2, "error": 1}
    assert 0 < stats["wall_ms"]["p50"] <= stats["wall_ms"]["max"]


def test_pages(lite):
    ids = [lite.run(f"print({number})").run_id for number in range(7)]
    page = ask(lite, "list", "--limit", "3")
    assert [record["run_id"] for record in page["records"]] == ids[:3:-1] and page["next"]
    assert ask(lite, "list", "--all")["next"] is None
    assert [record["run_id"] for record in records(lite, "--all")] == ids[::-1]


def test_another_owners_record_does_not_exist(lite):
    run_id = lite.run("print(1)").run_id
    assert "no record" in refused(lite, "show", run_id, "--owner", "uid:1")
    assert records(lite, "--owner", "uid:1") == []
    assert ask(lite, "stats", "--owner", "uid:1")["records"] == 0


def test_what_is_asked_wrong(lite):
    for words, said in (
        (("list", "--since", "someday"), "is not a time"),
        (("list", "--since", "5"), "is not a time"),
        (("list", "--limit", "0"), "limit must be at least 1, not 0"),
        (("list", "--limit", "1001"), "limit must be at most 1000, not 1001"),
        (("list", "--outcome", "good"), "one of: ok, error,"),
        (("show", "nobody"), "run must be an id"),
        (("show", "0123"), "no record"),
        (("show",), "argument is missing"),
        (("export", "--format", "xml"), "format must be jsonl or csv"),
        (("export", "--out", "/nowhere/file"), "No such file"),
        (("verify", "--head", "12"), "SEQ:DIGEST"),
        (("lst",), 'did you mean "adder history list"'),
    ):
        assert said in refused(lite, *words), words
    assert lite.call("history", "list").stderr == "No records.\n"


def test_the_beginning_of_an_id(lite):
    lite.run("'first'")
    lite.run("'second'")
    ids = [record["run_id"] for record in records(lite)]
    assert ask(lite, "show", ids[0][:-1])["run_id"] == ids[0]
    assert "give more of it" in refused(lite, "show", ids[0][:4])
    assert "no record" in refused(lite, "show", ids[0][:-1], "--owner", "uid:1")
    assert "run must be an id" in refused(lite, "show", "0%%%")


# ---- people ----


def test_as_a_person_sees_it(lite):
    lite.run("# \x1b]0;title\x07\nprint(1)")
    lite.run("1 / 0")
    said = lite.call("history", "list").stdout
    assert said.splitlines()[0].split() == ["STARTED", "(UTC)", "RUN", "OUTCOME", "TIME", "BY", "CODE"]
    head, *rows = lite.call("history", "list", "--owner", "all").stdout.splitlines()
    assert head.split() == ["OWNER", "STARTED", "(UTC)", "RUN", "OUTCOME", "TIME", "BY", "CODE"]
    assert all(row.split()[0] == f"uid:{lite.user.uid}" for row in rows)
    assert said.count("\n") == 3 and "\x1b" not in said and "\x07" not in said
    shown = lite.call("history", "show", records(lite)[1]["run_id"]).stdout
    assert "print(1)" in shown and "\x1b" not in shown and "\x07" not in shown
    assert "p50" in lite.call("history", "stats").stdout
    verified = lite.call("history", "verify").stdout
    assert "here: 2 records, all as they were written" in verified and "head here:2:" in verified


def test_colours_at_a_terminal(lite):
    lite.run("1 / 0")
    main, terminal = pty.openpty()
    with lite.popen("history", "list", stdout=terminal) as process:
        os.close(terminal)
        seen = b""
        while b"1 / 0" not in seen:
            seen += os.read(main, 4096)
        assert process.wait() == 0
    os.close(main)
    assert b"\x1b[31merror" in seen


# ---- export ----


@pytest.mark.quick
def test_export(keeper):
    code = 'print("a,b")\n# "quoted"\n'
    ids = [keeper.run(code).run_id, keeper.run("1 / 0").run_id]
    lines = keeper.call("history", "export").stdout.splitlines()
    assert [json.loads(line)["run_id"] for line in lines] == ids
    assert json.loads(lines[0])["code"] == code
    out = keeper.scratch / "runs.csv"
    ended = keeper.call("history", "export", "--format", "csv", "--out", out)
    assert ended.stdout == "2 records\n", ended
    rows = list(csv.DictReader(io.StringIO(out.read_bytes().decode(), newline="")))
    assert [row["run_id"] for row in rows] == ids and rows[0]["code"] == code
    failed = json.loads(keeper.call("history", "export", "--outcome", "error", "--no-daemon").stdout)
    assert failed["run_id"] == ids[1]


def test_export_whose_reader_goes(lite):
    lite.run("print(1)")
    fill(lite, 3000)
    before = lite.scratch / "kept.jsonl"
    before.write_text("as it was")
    lite.own(before)
    with lite.popen("history", "export") as process:
        assert process.stdout.readline().startswith(b'{"run_id"')
        process.stdout.close()
        assert process.wait() == 125
        assert b"Broken pipe" in process.stderr.read()
    # Ended while it writes: nobody waits for it, and the file is as it was.
    with lite.popen("history", "export", "--out", "/dev/full/x") as process:
        assert process.wait() == 125
    with lite.popen("history", "export", stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: lite.status()["connections"] == 0, "the daemon to let go of the export")
    assert before.read_text() == "as it was"
    assert lite.call("history", "export", "--out", before).stdout == "3001 records\n"
    assert before.read_text().count("\n") == 3001
    assert [path.name for path in lite.scratch.iterdir() if path.name.startswith("kept")] == ["kept.jsonl"]


# ---- the chain ----


def digest(previous, values):
    """As docs/records.md says it: an implementation of its own."""
    sum_ = hashlib.sha256(b"adder-record-1" + previous.encode())
    for value in values:
        if value is None:
            sum_.update(b"n")
        elif isinstance(value, int):
            sum_.update(b"i%d;" % value)
        else:
            text = value.encode()
            sum_.update(b"t%d:%s" % (len(text), text))
    return sum_.hexdigest()


def fill(adder, count):
    """COUNT rows more, as a daemon would have written them. The daemon may be up."""
    connection = database(adder)
    connection.execute("BEGIN IMMEDIATE")
    last = dict(connection.execute("SELECT * FROM records ORDER BY seq DESC LIMIT 1").fetchone())
    head, total = dict(connection.execute("SELECT * FROM chains").fetchone()), 0
    previous = last.pop("digest")
    for _ in range(count):
        last.update(seq=last["seq"] + 1, run_id=str(uuid.uuid4()), started_ms=last["started_ms"] + 1)
        previous = digest(previous, [last[name] for name in COLUMNS])
        row = {**last, "digest": previous}
        connection.execute(
            f"INSERT INTO records ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values())
        )
        total += row["bytes"]
    connection.execute(
        "UPDATE chains SET seq = ?, digest = ?, records = records + ?, bytes = bytes + ?",
        (last["seq"], previous, count, total),
    )
    connection.execute("COMMIT")
    assert head["node"] == last["node"]
    connection.close()


@pytest.mark.quick
def test_the_chain_by_other_means(lite):
    for number in range(5):
        lite.run(f"print({number})", "--description", "ä 中")
    connection = database(lite)
    rows = connection.execute("SELECT * FROM records ORDER BY seq").fetchall()
    previous = "0" * 64
    for row in rows:
        previous = digest(previous, [row[name] for name in COLUMNS])
        assert row["digest"] == previous
    connection.close()
    (node,) = ask(lite, "verify")["nodes"]
    assert node["head"] == f"5:{previous}" and node["records"] == 5
    fill(lite, 1000)
    assert ask(lite, "verify")["nodes"][0]["records"] == 1005


def test_tampering_shows(lite):
    for number in range(4):
        lite.run(f"print({number})")
    head = "here:" + ask(lite, "verify")["nodes"][0]["head"]
    assert ask(lite, "verify", "--head", head)["nodes"][0]["written_head"] == "matches"
    tamper(lite, "UPDATE records SET code = 'print(\"nothing happened\")' WHERE seq = 2")
    assert problems(lite) == ["changed"]
    tamper(lite, "DELETE FROM records WHERE seq = 2")
    assert problems(lite) == ["missing"]
    said = lite.call("history", "verify")
    assert said.returncode == 1 and "the rows 2 to 2 are missing" in said.stdout
    # The end of the chain, with its head: only who wrote it down can tell.
    tamper(lite, "DELETE FROM records WHERE seq >= 2")
    tamper(lite, "UPDATE chains SET seq = 1, records = 1, digest = (SELECT digest FROM records WHERE seq = 1)")
    assert ask(lite, "verify")["ok"] is True
    assert problems(lite, "--head", head) == ["missing"]


DAMAGE = {
    "wall_us = 'abc'": "wall_us",
    "code = x'ff00fe'": "code",
    "code = x'68656c6c6f'": "code",
    "outcome = CAST(x'fffe' AS TEXT)": "outcome",
    "started_ms = 'later'": "started_ms",
    "started_ms = 9000000000000000000": "started_ms",
    "run_id = x'ffff'": "run_id",
    "seq = 'two'": "seq",
    "more = x'00', level = 1.5": "level more",
}


@pytest.mark.parametrize("change", DAMAGE)
def test_a_damaged_row_hides_no_others(lite, change):
    columns = DAMAGE[change].split()
    ids = [lite.run(f"print({number})").run_id for number in range(3)]
    tamper(lite, f"UPDATE records SET {change} WHERE seq = 2")

    def warned(ended):
        assert ended.returncode == 1 and ended.stderr.count("\n") == 1, ended
        assert "warning: 1 record in the database is damaged" in ended.stderr
        return ended.stdout

    def check(records, sound):
        (bad,) = [record for record in records if "damaged" in record]
        assert bad["damaged"] is True and set(bad["damaged_columns"]) == set(columns)
        assert {record["run_id"] for record in records if record is not bad} == sound
        assert bad["run_id"] == ids[1] or (bad["run_id"] is None and bad["seq"] == 2)

    if columns != ["level", "more"]:  # a list does not read "more"
        check(strict_json(warned(lite.call("history", "list", "--json")))["records"], {ids[0], ids[2]})
    said = warned(lite.call("history", "list"))
    assert len(said.splitlines()) == 4 and said.count(" damaged ") == 1, said
    assert ("row here:2" if columns == ["run_id"] else ids[1]) in said
    check([strict_json(line) for line in warned(lite.call("history", "export")).splitlines()], {ids[0], ids[2]})
    rows = list(csv.DictReader(io.StringIO(warned(lite.call("history", "export", "--format", "csv")))))
    assert sorted(row["damaged"].split() for row in rows) == [[], [], columns]
    assert all(row[column.replace("started_ms", "started")] == "" for row in rows if row["damaged"] for column in columns)
    if columns != ["run_id"]:
        assert set(columns) == set(strict_json(warned(lite.call("history", "show", ids[1], "--json")))["damaged_columns"])
        shown = warned(lite.call("history", "show", ids[1]))
        assert all(column in shown.split("damaged", 1)[1].splitlines()[0] for column in columns)
    assert "damaged" not in ask(lite, "show", ids[0])
    assert lite.call("history", "stats").returncode == 0


def test_pages_go_on_past_damaged_rows(lite):
    lite.run("print(1)")
    fill(lite, 1200)
    tamper(lite, "UPDATE records SET started_ms = 'never' WHERE seq % 5 = 0")
    tamper(lite, "UPDATE records SET run_id = CAST(run_id AS BLOB) WHERE seq % 7 = 0")
    every = set(range(1, 1202))
    ended = lite.call("history", "export")
    assert ended.returncode == 1
    exported = [strict_json(line)["seq"] for line in ended.stdout.splitlines()]
    assert set(exported) == every and len(exported) == len(every)
    ended = lite.call("history", "list", "--all", "--json")
    assert ended.returncode == 1
    assert {record["seq"] for record in strict_json(ended.stdout)["records"]} == every


def test_a_killed_daemon_forgets_nothing(keeper):
    ids = [keeper.run(f"print({number})").run_id for number in range(5)]
    running = keeper.start(f"print('started', flush=True)\n{FOREVER}")
    assert running.stdout.readline() == b"started\n"
    kill_daemon(keeper)  # and waits: as long as it has its journal locked, nobody takes its runs for broken off
    running.wait()
    running.stdout.close()
    running.stderr.close()
    broken_off, *others = records(keeper, "--no-daemon")
    assert broken_off["outcome"] == "failed" and [record["run_id"] for record in others] == ids[::-1]
    ids += [broken_off["run_id"], keeper.run("print(5)").run_id]
    assert [record["run_id"] for record in records(keeper)] == ids[::-1]
    assert ask(keeper, "verify")["ok"] is True


def test_many_at_once(keeper):
    """Clients of a daemon, and engines of their own beside it: one chain."""
    running = [keeper.popen("run", "--env", "system", *["--no-daemon"] * (n % 2), "-c", f"print({n})") for n in range(12)]
    for process in running:
        process.communicate()
        assert process.returncode == 0
    assert len(records(keeper)) == 12
    (node,) = ask(keeper, "verify")["nodes"]
    assert node["records"] == 12 and node["head"].startswith("12:")


# ---- retention ----


def test_retention(lite):
    for number in range(3):
        lite.run(f"print({number})")
    head = ask(lite, "verify")["nodes"][0]["head"]
    lite.stop()
    lite.configure("[environment]\ndefault = system\n[store]\nnode = here\nrecord_age_ms = 1s\n")
    # The thread of the store looks a second after something was first asked of it.
    wait_until(lambda: records(lite) == [], "old records to go")
    (node,) = ask(lite, "verify", "--head", head)["nodes"]
    assert node["problems"] == [] and node["anchor"]["seq"] == 3 and node["anchor"]["removed"] == 3
    assert node["written_head"] == "matches"
    assert lite.call("history", "verify").stdout.count("3 older ones were removed") == 1
    tamper(lite, "DELETE FROM anchors")
    assert "head" in problems(lite)


def test_retention_by_number(lite):
    lite.run("print(1)")
    fill(lite, 400)
    lite.stop()
    lite.configure("[environment]\ndefault = system\n[store]\nnode = here\nmax_records = 100\n")
    wait_until(lambda: len(records(lite, "--limit", "1000")) == 100, "old records to go")
    assert records(lite, "--limit", "1")[0]["seq"] == 401
    assert ask(lite, "verify")["ok"] is True
