# SPDX-License-Identifier: Apache-2.0
"""clients/python against a daemon, over TCP and a unix socket."""
import asyncio
import concurrent.futures
import io
import os
import pathlib
import socket
import threading

import httpx
import pytest

import adder_client
from adder_client import Adder, AsyncAdder, Content
from harness import REPOSITORY, check_result, wait_until
from served import examples_of, run_python

PACKAGE = REPOSITORY / "clients" / "python"
FOREVER = "import time\nprint('started', flush=True)\nwhile True: time.sleep(0.01)"
BLUE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SHOW = f"""
class Dot:
    def _repr_png_(self): return {BLUE!r}
display(Dot())
"""


@pytest.fixture(params=["tcp", "unix"])
def adder(request, served):
    url, token = (served.url, served.token("client")) if request.param == "tcp" else (served.unix, None)
    if request.param == "unix" and os.geteuid() != served.adder.user.uid:
        pytest.skip("the socket is for its user alone")
    with Adder(url, token) as client:
        yield client


@pytest.fixture
def tcp(served):
    with Adder(served.url, served.token("client")) as client:
        yield client


@pytest.fixture
def person(served):
    with Adder(served.url, served.token("person")) as client:
        yield client


def running(client):
    return [run.run_id for run in client.running()]


@pytest.mark.parametrize("code, output", examples_of(PACKAGE / "README.md"))
def test_examples_of_the_readme(served, tmp_path, code, output):
    said = run_python(code, tmp_path, served.variables())
    assert output is None or said == output


# ---- runs ----


def test_a_result_is_whole(adder, client_row):
    result = adder.run("print('out')\n6 * 7")
    check_result(result.raw, 0)
    assert (result.outcome, result.stdout, result.text, result.ok) == ("ok", "out\n", "42", True)
    assert result.check() is result and result.isolation.level == result.raw["isolation"]["level"]
    assert result.usage.wall_ms == result.raw["usage"]["wall_ms"]
    assert set(result.raw) - {field for field in vars(result)} == set(), "each member has its place"
    client_row("HTTP", "`adder-client` for Python", adder_client.__version__, "all members of a result, with types", "part of Adder")


def test_what_failed_is_a_result_too(adder):
    result = adder.run("x = 1\nx / 0")
    assert (result.outcome, result.error.type, result.error.line) == ("error", "ZeroDivisionError", 2)
    with pytest.raises(adder_client.RunFailed) as caught:
        result.check()
    assert caught.value.result is result and "ZeroDivisionError" in str(caught.value)


def test_options_reach_the_run(tcp, tmp_path):
    data = tmp_path / "data.bin"
    data.write_bytes(b"\xff\x00")
    stored = tcp.files.put(b"kept", "stored.txt")
    code = """
import os, sys
print(sys.argv[1:], os.environ['MODE'], sys.stdin.read(), n, sorted(os.listdir()))
print(open('data.bin', 'rb').read(), open('sub/a.txt').read(), open('stored.txt').read(), open('/tmp/again.txt').read())
"""
    result = tcp.run(
        code,
        arguments=["a", "b"],
        variables={"MODE": "x"},
        stdin="in",
        values={"n": {"k": [1, None]}},
        files={"data.bin": data, "sub/a.txt": "text", "stored.txt": stored, "/tmp/again.txt": stored},
        timeout=70,
        memory_mb=200,
        limits={"pids": 9},
    ).check()
    first, second = result.stdout.splitlines()
    assert first == "['a', 'b'] x in {'k': [1, None]} ['data.bin', 'stored.txt', 'sub']"
    assert second == "b'\\xff\\x00' text kept kept"
    assert (result.limits["wall_ms"], result.limits["memory_bytes"], result.limits["pids"]) == (70_000, 200 << 20, 9)


def test_files_are_paths_or_contents(adder, tmp_path, monkeypatch):
    """The same in a run, a stream, a new session and a cell, since one function reads them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    pathlib.Path("sub/a.csv").write_text("a")
    pathlib.Path("b.bin").write_bytes(b"\xff\x00")
    every = "import os\nprint({name: open(name, 'rb').read() for name in sorted(os.listdir())})"
    listed = ["sub/a.csv", pathlib.Path("b.bin"), Content(b"\x00", name="c"), Content("\u00e9", name="d")]
    expected = {"a.csv": b"a", "b.bin": b"\xff\x00", "c": b"\x00", "d": "\u00e9".encode()}
    assert adder.run(every, files=listed).check().stdout == f"{expected}\n"
    named = {"x": b"1", "y/z": bytearray(b"2"), "t": "/no/such/file", "s": Content("sub/a.csv"), "m": memoryview(b"3")}
    read = "print([open(name).read() for name in ('x', 'y/z', 't', 's', 'm')])"
    with adder.stream(read, files=named) as run:
        assert run.until_done().check().stdout == "['1', '2', '/no/such/file', 'sub/a.csv', '3']\n"
    with adder.session(files=["sub/a.csv"]) as session:
        session.run("open('made', 'w').write(open('a.csv').read() * 2)").check()
        made = session.run("open('made', 'a').write('!')").check().files
        assert adder.run("open('made').read()", files=made).text == "'aa!'"


WRONG_FILES = {
    "missing": (["no-such-file.csv"], FileNotFoundError, "a string in files=.* is a path; content is Content"),
    "missing of a dict": ({"a": pathlib.Path("no-such-file.csv")}, FileNotFoundError, "no-such-file.csv"),
    "a directory": (["/"], ValueError, "no regular file"),
    "a device": (["/dev/zero"], ValueError, "no regular file"),
    "a path as text": ({"a": str(PACKAGE / "README.md")}, ValueError, r"pathlib.Path\(...\) sends the file, Content\(...\) sends the text"),
    "one string": ("README.md", TypeError, "files is a list or a dict, not str"),
    "one path": (PACKAGE / "README.md", TypeError, "files is a list or a dict"),
    "bytes in a list": ([b"content"], TypeError, "bytes in a list have no name"),
    "no name": ([Content(b"content")], ValueError, "needs a name"),
    "a number": ({"a": 7}, TypeError, r"files\['a'\] is of type int"),
    "a number's name": ({7: b""}, TypeError, "a name in files is a string, not int"),
    "twice": ([Content(b"", name="README.md"), PACKAGE / "README.md"], ValueError, "two of files are called 'README.md'"),
    "not kept": ([adder_client.MadeFile("m", "text/plain", 1, "")], ValueError, "'m' was not kept"),
}


@pytest.mark.parametrize("files, kind, words", WRONG_FILES.values(), ids=WRONG_FILES)
def test_wrong_files_are_an_error_before_anything_runs(files, kind, words):
    """Nobody listens there, so that a request would be another error."""
    with Adder("unix:/nowhere/at.all") as client:
        with pytest.raises(kind, match=words):
            client.run("1", files=files)
        with pytest.raises(kind, match=words):
            client.stream("1", files=files)

    async def main():
        async with AsyncAdder("unix:/nowhere/at.all") as awaited:
            with pytest.raises(kind, match=words):
                await awaited.run("1", files=files)

    asyncio.run(main())


def test_too_many_bytes_are_told_before_and_by_the_server(tcp, tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate((256 << 20) + 1)
    with pytest.raises(ValueError, match=r"256 MiB at most: .* files.put\(path\)"):
        tcp.run("1", files=[tmp_path / "sparse"])
    with pytest.raises(adder_client.TooLarge, match=r"16777216 bytes; put long files in first") as caught:
        tcp.run("1", files={"a": b"a" * (17 << 20)})
    assert caught.value.status == 413


def test_text_is_there_for_a_run_that_printed(tcp):
    assert tcp.run("print(6 * 7)").text == "42"
    assert tcp.run("print(); print()").text == "\n" and tcp.run("print()").text == ""
    assert tcp.run("print('out')\n6 * 7").text == "42", "the value goes first"
    assert tcp.run("print('before')\n1 / 0").text == "before" and tcp.run("x = 1").text is None


FOR_MODEL = {
    "6 * 7": "42",
    "x = 1": "(ok: nothing was printed, and there is no value)",
    "print('a\\n')\n6 * 7": "stdout:\na\n\nvalue:\n42",
    "import sys\nprint('e', file=sys.stderr)": "stderr:\ne",
    "open('a.csv', 'w').write('1,2');": "value:\n3\n\nfiles:\na.csv (text/csv, 3 bytes)",
    SHOW: "displayed:\n(a picture, image/png)",
    "print(1)\nimport nosuch": """stdout:
1

error:
Traceback (most recent call last):
  File "main.py", line 2, in <module>
    import nosuch
ModuleNotFoundError: No module named 'nosuch'

hint:
This package is not in the environment, and none can be installed from inside a run. Use what is there, or ask the user for an environment that has it.""",
}


@pytest.mark.parametrize("code, text", FOR_MODEL.items(), ids=range(len(FOR_MODEL)))
def test_a_result_for_a_model(tcp, code, text):
    assert tcp.run(code).for_model() == text


def test_what_was_refused_and_limits_are_for_a_model_too(tcp):
    refused = tcp.run("import os", profile="analysis").for_model()
    assert refused.startswith("outcome:\nrefused\n\nerror:\nRefused: ") and "\nrefused:\nline 1: import os (" in refused
    denied = tcp.run("import socket\nsocket.create_connection(('192.0.2.1', 1))").for_model()
    assert "\nsandbox:\nnetwork: connect 192.0.2.1:1 (" in denied
    assert tcp.run(FOREVER, timeout=3).for_model().startswith("outcome:\ntimeout\n\nstdout:\nstarted\n\nerror:\nTimeout: ")
    with tcp.session() as session:
        assert "session:\n[session ended: it crashed" in session.run("import os\nos.kill(os.getpid(), 11)").for_model()


@pytest.mark.parametrize("most", [200, 333, 1000, 10_000])
def test_what_is_long_loses_its_middle(tcp, most):
    code = "import sys\nfor i in range(20000): print(i)\nsys.stderr.write('short')\nraise ValueError('last words')"
    text = tcp.run(code).for_model(most)
    assert most - 3 <= len(text) <= most and text.startswith("stdout:\n0\n1\n") and "\n\nstderr:\nshort\n\n" in text
    assert text.endswith("ValueError: last words") and " more characters ...\n" in text
    with pytest.raises(ValueError, match="200 to 1048576, not 199"):
        tcp.run("1").for_model(199)


def test_output_is_told_as_it_is_written(adder):
    """The code waits for what the callback writes, so it was called while the code ran."""
    with adder.session() as session:
        out, err = [], []

        def told(text):
            out.append(text)
            if "".join(out).startswith("ready\n") and len(out) == 1:
                session.interrupt()

        waits = "import sys, time\nprint('e', file=sys.stderr)\nprint('ready', flush=True)\nwhile True: time.sleep(0.01)"
        result = session.run(waits, on_stdout=told, on_stderr=err.append)
        assert result.error.type == "KeyboardInterrupt" and "".join(out) == "ready\n" and "".join(err).startswith("e\n")
    result = adder.run("for i in range(50000): print(i)\n7", on_stdout=out.append)
    assert "".join(out[1:]) == "".join(f"{i}\n" for i in range(50000)) and result.truncated and result.text == "7"


def test_a_callback_that_fails_cancels_the_run(tcp):
    def fails(text):
        raise LookupError(text)

    with pytest.raises(LookupError, match="started"):
        tcp.run(FOREVER, conversation="callback", on_stdout=fails)
    (record,) = wait_until(lambda: list(tcp.records.list(conversation="callback")), "the record")
    assert record["outcome"] == "cancelled"

    async def coroutine(text):
        raise AssertionError("nobody awaits it")

    with pytest.raises(TypeError, match="only AsyncAdder"):
        tcp.run("print(1)", on_stdout=coroutine)


def test_pictures_are_bytes(tcp, tmp_path):
    result = tcp.run(SHOW).check()
    assert [picture.mime for picture in result.pictures] == ["image/png"]
    assert [path.name for path in result.save_pictures(tmp_path)] == ["picture-1.png"]
    assert (tmp_path / "picture-1.png").read_bytes().startswith(b"\x89PNG")
    assert result.pictures[0]._repr_mimebundle_() == {"image/png": BLUE}


def test_events_come_as_they_happen(adder):
    with adder.stream("import sys\nprint('a\\u2028b')\nprint('e', file=sys.stderr)" + SHOW + "\n7") as run:
        events = list(run)
    kinds = [type(event).__name__ for event in events]
    assert kinds[0] == "Started" and kinds[-1] == "Finished" and kinds.count("Displayed") == 1
    said = "".join(event.text for event in events if isinstance(event, adder_client.Stdout))
    assert said == "a\u2028b\n" and "Stderr" in kinds
    assert run.result.text == "7" and events[0].run_id == run.result.run_id
    assert run.result == events[-1].result


def test_leaving_a_stream_cancels(tcp):
    with tcp.stream(FOREVER) as run:
        started = next(run)
        assert started.run_id in running(tcp)
        assert next(run).text == "started\n"
    wait_until(lambda: started.run_id not in running(tcp), "the run to be cancelled")
    assert tcp.records.show(started.run_id)["outcome"] == "cancelled"


def test_a_run_in_the_background(tcp):
    run = tcp.start(FOREVER)
    assert not run.state.ended and run.id in running(tcp)
    again = tcp.get_run(run.id)
    again.cancel()
    assert run.wait().result.outcome == "cancelled"
    assert tcp.start("1 + 1").wait().result.text == "2"


# ---- sessions ----


def numbers(shown):
    """What the code below displayed and printed, which must be all of it, once."""
    displayed = [event.data["text/plain"] for event in shown if isinstance(event, adder_client.Displayed)]
    printed = "".join(event.text for event in shown if isinstance(event, adder_client.Stdout))
    return displayed == list("01234") and printed == "01234"


NUMBERS = "for i in range(5):\n    print(i, end='', flush=True)\n    display(i)"


def test_a_detached_stream_survives_broken_connections(served, breaking):
    with Adder(breaking.url, served.token("client")) as adder:
        with adder.stream(NUMBERS, detach=True) as run:
            shown = list(run)
        assert numbers(shown) and isinstance(shown[-1], adder_client.Finished) and run.result.ok
        assert breaking.broken == run.last_event_id == len(shown) >= 7, "one event over each connection"
        told = []
        assert adder.run(NUMBERS, detach=True, on_stdout=told.append).ok and "".join(told) == "01234"
        with adder.session() as session, session.stream(f"{NUMBERS}\nx = 1", detach=True) as cell:
            assert numbers(list(cell)) and session.run("x").text == "1"
        with adder.stream(NUMBERS) as run, pytest.raises(adder_client.ConnectionFailed):
            list(run)

    async def awaited():
        async with AsyncAdder(breaking.url, served.token("client")) as adder:
            async with adder.stream(NUMBERS, detach=True) as run:
                return [event async for event in run]

    assert numbers(asyncio.run(awaited()))


def test_a_detached_run_goes_on_and_is_taken_up(tcp):
    with tcp.stream(FOREVER, detach=True) as run:
        run_id = next(run).run_id
        assert next(run).text == "started\n" and run.last_event_id == 2
    again = tcp.get_run(run_id)
    with again.stream() as followed, again.stream(after=run.last_event_id) as rest:
        assert [type(next(followed)), type(next(followed))] == [adder_client.Started, adder_client.Stdout]
        assert run_id in running(tcp), "neither leaving nor following ends it"
        again.cancel()
        (last,) = rest
        assert last.result.outcome == rest.result.outcome == followed.until_done().outcome == "cancelled"
    background = tcp.start(NUMBERS)
    with background.stream() as run:
        assert numbers(list(run)) and run.result.run_id == background.id


def test_a_server_that_stays_away_is_an_error(served, breaking, monkeypatch):
    monkeypatch.setattr("adder_client._sync.http.RESUMING_PAUSES", (0.0, 0.0))
    with Adder(breaking.url, served.token("client")) as adder:
        with adder.stream(FOREVER, detach=True) as run:
            run_id = next(run).run_id
            breaking.end()
            with pytest.raises(adder_client.ConnectionFailed):
                list(run)
    with Adder(served.url, served.token("client")) as adder:
        assert adder.get_run(run_id).cancel().run_id == run_id
        with pytest.raises(adder_client.InvalidRequest, match="Last-Event-ID"):
            list(adder.get_run(run_id).stream(after=-1))


def test_events_that_are_not_held_are_counted(served, tcp):
    code = "for i in range(30): display('x' * 100_000)"
    run = tcp.start(code)
    run.wait()
    first, *others = run.stream()
    assert isinstance(first, adder_client.Missed) and first.events + len(others) == 32, "started, 30, and the result"


def test_a_session_from_beginning_to_end(adder):
    with adder.session(name="s") as session:
        assert session.run("x = 1").session.cell == 1
        with session.stream("print(x)\nx") as cell:
            assert "".join(event.text for event in cell if isinstance(event, adder_client.Stdout)) == "1\n"
        checkpoint = session.checkpoint("one")
        assert [each.name for each in session.checkpoints()] == ["one"]
        session.run("x = 2").check()
        assert [each.value for each in session.variables(["x"])] == ["2"]
        session.rollback(checkpoint)
        assert session.run("x").text == "1"
        (branch,) = session.branch()
        with branch:
            assert branch.info.parent == session.id and branch.run("x + 1").text == "2"
        assert adder.sessions.get("s").id == session.id
        assert [cell.code for cell in session.history().cells][:1] == ["x = 1"]
        session.forget("one")
        session.reset()
        assert session.run("x").error.type == "NameError"
        replay = session.replay()
        with adder.sessions.get(replay.session.session_id) as again:
            (cell,) = replay.cells  # the reset forgot those before it
            assert (cell.outcome, cell.before, cell.differs) == ("error", "error", []) and again.id != session.id
            assert cell.result.error.type == "NameError"
    assert session.info.state == "ended"
    with pytest.raises(adder_client.Ended):
        session.run("1")


def test_a_session_is_ensured(tcp):
    first = tcp.sessions.ensure("kept", variables={"MODE": "x"})
    first.run("x = 1").check()
    with tcp.sessions.ensure("kept") as again:
        assert again.id == first.id and again.run("x").text == "1"
        with tcp.sessions.ensure(first.id[:8]) as other:
            assert other.id != first.id, "what looks like an id is a name here"
    with tcp.sessions.ensure("kept") as new:
        assert new.id != first.id and new.run("x").error.type == "NameError"
    with pytest.raises(adder_client.InvalidRequest):
        tcp.sessions.ensure("no name")


def test_many_ensure_the_same_session(tcp):
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        ids = {session.id for session in threads.map(lambda _: tcp.sessions.ensure("crowd"), range(16))}
    assert len(ids) == 1
    with tcp.sessions.get("crowd"):
        with pytest.raises(adder_client.Conflict, match="already"):
            tcp.sessions.new(name="crowd")


def test_a_name_that_is_taken_is_a_conflict():
    def answer(request):
        return httpx.Response(409, json={"status": 409, "code": "conflict", "detail": "taken"})

    with Adder("http://made.up", transport=httpx.MockTransport(answer)) as client:
        with pytest.raises(adder_client.Conflict, match="taken"):
            client.sessions.new(name="a")


def test_files_of_a_session(adder, tmp_path):
    (tmp_path / "a.csv").write_text("1,2")
    with adder.session() as session:
        assert session.files.list() == []
        session.files.put(str(tmp_path / "a.csv"))
        session.files.put(b"\x00\xff", "sub/b")
        session.files.put(io.BytesIO(b"c"), "c")
        code = "import os\nos.remove('c')\nopen('sub/b', 'rb').read() + open('a.csv', 'rb').read()"
        assert session.run(code).text == "b'\\x00\\xff1,2'"
        session.run("open('big', 'wb').write(bytes(range(256)) * 4096); open('\u00e9 \\'\"{}', 'w')").check()
        names = {file.name: file.bytes for file in session.files.list()}
        assert names == {"a.csv": 3, "sub/b": 2, "big": 1 << 20, "\u00e9 '\"{}": 0}
        assert session.files.get("big") == bytes(range(256)) * 4096 and session.files.get("\u00e9 '\"{}") == b""
        with pytest.raises(FileNotFoundError, match="'c'"):
            session.files.get("c")
        with pytest.raises(IsADirectoryError):
            session.files.get("sub")
        assert [variable.name for variable in session.variables()] == []
        with pytest.raises(FileNotFoundError):
            session.files.put("no-such-file")
        with pytest.raises(ValueError, match="need a name"):
            session.files.put(b"")


@pytest.mark.parametrize("said", ["", "no", "7", "[[1, 2]]", '[["a", true]]', '{"content": "*"}', '{"content": 7}', "{}", '{"errno": "2"}', '{"errno": 1e9}', f'{{"errno": {10**30}}}'])
def test_a_session_is_not_believed(said):
    from adder_client._session_files import content_of, listed

    with pytest.raises(adder_client.UnexpectedReply):
        listed(said)
    with pytest.raises(adder_client.UnexpectedReply):
        content_of(said, "name")


def test_a_profile_that_refuses_says_so(tcp):
    with tcp.session(profile="analysis") as session, pytest.raises(adder_client.RunFailed, match="refused"):
        session.files.list()


def test_an_interrupted_cell_leaves_its_session(tcp):
    with tcp.session() as session:
        with session.stream("y = 5\n" + FOREVER) as cell:
            assert next(cell) and next(cell).text == "started\n"
            session.interrupt()
            result = cell.until_done()
        assert result.outcome == "error" and result.error.type == "KeyboardInterrupt"
        assert session.run("y").text == "5"


# ---- files, output, records ----


def test_files_go_in_and_out(adder, tmp_path):
    content = bytes(range(256)) * 5000
    source = tmp_path / "in.bin"
    source.write_bytes(content)
    stored = adder.files.put(source)
    assert (stored.name, stored.bytes, stored.kind) == ("in.bin", len(content), "uploaded")
    assert adder.files.put(io.BytesIO(content), "again.bin").sha256 == stored.sha256
    assert adder.files.get(stored.file_id) == content
    assert b"".join(adder.files.stream(stored, start=1000)) == content[1000:]
    assert adder.files.save(stored, tmp_path / "out.bin").read_bytes() == content
    assert stored.file_id in [file.file_id for file in adder.files.list(name="in.bin")]
    assert adder.files.page(limit=1).next is not None
    adder.files.delete(stored)
    with pytest.raises(adder_client.NotFound):
        adder.files.show(stored)


def test_files_of_a_run_are_saved_below(tcp, tmp_path):
    result = tcp.run("import os; os.mkdir('d')\nopen('a','w').write('1'); open('d/b','w').write('22')").check()
    saved = tcp.files.save_all(result, tmp_path / "new" / "out")
    assert {path.name: path.read_text() for path in saved} == {"a": "1", "b": "22"}
    (tmp_path / "other").mkdir()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/d").symlink_to(tmp_path / "other")
    with pytest.raises(adder_client.AdderError, match="link"):
        tcp.files.save_all(result, tmp_path / "linked")
    assert not list((tmp_path / "other").iterdir()) and not (tmp_path / "linked/a").exists()


def test_what_is_there_is_replaced_only_when_wanted(tcp, tmp_path):
    result = tcp.run("for name in ('.bashrc', '-rf', 'Makefile'): open(name, 'w').write('x')").check()
    (tmp_path / "Makefile").write_text("mine")
    with pytest.raises(adder_client.AdderError, match="already"):
        tcp.files.save_all(result, tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"Makefile": "mine"}
    tcp.files.save_all(result, tmp_path, force=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(("_bashrc", "_rf", "Makefile"), "x")
    with pytest.raises(FileExistsError):
        tcp.files.save(result.files[0], tmp_path / "Makefile", force=False)


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "", "a//b", ".", "a\\b"])
def test_no_name_leads_elsewhere(name, tmp_path):
    from adder_client._saving import plan

    with pytest.raises(adder_client.AdderError):
        plan(tmp_path, ["fine", name])
    assert not list(tmp_path.iterdir())


def test_long_output_is_read_on(tcp):
    result = tcp.run("for i in range(100000): print(i)").check()
    assert result.truncated and result.result_id
    whole = "".join(tcp.results.read(result.result_id))
    assert whole == "".join(f"{i}\n" for i in range(100000))
    assert [line.text for line in tcp.results.part(result.result_id, grep="^777$").lines] == ["777"]


def test_records_say_what_ran(tcp):
    result = tcp.run("'a mark of its own'", conversation="c-1").check()
    assert tcp.records.show(result.run_id)["code"] == "'a mark of its own'"
    assert result.run_id in [record["run_id"] for record in tcp.records.list(conversation="c-1")]
    assert result.run_id.encode() in b"".join(tcp.records.export(conversation="c-1"))
    assert tcp.records.stats(conversation="c-1")


# ---- tools, approvals ----


def test_tools_are_listed_and_called(adder):
    names = [tool.name for tool in adder.tools.list("adder")]
    assert "run_python" in names and "session_new" in names
    assert {each["name"] for each in adder.tools.definitions("anthropic", "adder")} == set(names)
    reply = adder.tools.call("run_python", {"code": "40 + 2"})
    assert not reply.is_error and reply.reply["value"] == "42" and '"42"' in reply.text
    wrong = adder.tools.call("run_python", {"cod": "1"})
    assert wrong.is_error and "did you mean code" in wrong.reply["error"]
    with adder.tools.stream("run_python", {"code": "print(1)"}) as call:
        events = list(call)
    assert isinstance(events[-1], adder_client.Replied) and events[-1].reply.reply["stdout"] == "1\n"


def test_what_waits_for_a_yes(tcp, served):
    asked = tcp.run("print('done')", profile="workbench", conversation="c")
    assert asked.outcome == "approval_required" and asked.approval_id
    assert asked.approval_id in [approval.approval_id for approval in tcp.approvals.list()]
    with pytest.raises(adder_client.Forbidden):
        tcp.approvals.approve(asked.approval_id)
    ended = served.adder.call("token", "new", "client-person", "--may-decide")
    assert ended.returncode == 0, ended


def test_a_person_decides(person):
    asked = person.run("print('done')", profile="workbench")
    waiting = []
    thread = threading.Thread(target=lambda: waiting.append(person.approvals.get(asked.approval_id, wait=60)))
    thread.start()
    person.approvals.approve(asked.approval_id)
    thread.join()
    assert waiting[0].state == "approved"
    assert person.run("print('done')", profile="workbench").stdout == "done\n"
    denied = person.run("print('no')", profile="workbench")
    assert person.approvals.deny(denied.approval_id, "not today").state == "denied"


# ---- what goes wrong ----


def test_problems_are_exceptions_of_their_kind(served, tcp):
    with pytest.raises(adder_client.InvalidRequest) as caught:
        tcp.run("1", limits={"wall_ms": -1})
    assert caught.value.status == 400 and caught.value.detail and caught.value.problem["status"] == 400
    with pytest.raises(adder_client.NotFound):
        tcp.sessions.get("there-is-none")
    with pytest.raises(adder_client.InvalidRequest, match="session"):
        tcp.sessions.get("../../healthz")
    with Adder(served.url, "adder_wrong") as stranger, pytest.raises(adder_client.Unauthorized):
        stranger.run("1")
    with Adder("unix:/nowhere/at.all") as nobody, pytest.raises(adder_client.ConnectionFailed):
        nobody.run("1")
    assert served.token("client") not in repr(tcp) + str(vars(tcp))


def test_a_server_that_is_none(tmp_path):
    """What speaks HTTP but is no Adder, or goes away, or says it has no room: only such a server can be made up."""

    def answer(request):
        if request.url.path == "/v1/tools":
            return httpx.Response(200, text="<html>")
        if request.url.path == "/v1/sessions":
            return httpx.Response(429, json={"title": "busy"}, headers={"Retry-After": "0", "Content-Type": "application/problem+json"})
        return httpx.Response(200, content=b"event: started\ndata: {\"run_id\": \"r\"}\n\n: keep\n\nevent: new\ndata: 1\n\n")

    with Adder("http://made.up", transport=httpx.MockTransport(answer), retries=2) as client:
        with pytest.raises(adder_client.UnexpectedReply):
            client.tools.list()
        with pytest.raises(adder_client.Busy) as caught:
            client.sessions.list()
        assert caught.value.retry_after == 0
        stream = client.stream("1")
        assert next(stream) == adder_client.Started("r")
        with pytest.raises(adder_client.StreamBroken):
            next(stream)


# ---- awaited ----


def test_the_same_is_awaited(served, tmp_path):
    async def main():
        async with AsyncAdder(served.url, served.token("client")) as adder:
            results = await asyncio.gather(*(adder.run(f"{n} + 1") for n in range(8)))
            assert [result.text for result in results] == [str(n + 1) for n in range(8)]
            async with adder.stream("print(1)\n2") as run:
                events = [event async for event in run]
            assert run.result.text == "2" and len(events) >= 3
            pieces = []

            async def keep(text):
                await asyncio.sleep(0)
                pieces.append(text)

            for callback in (keep, pieces.append):
                await adder.run("print('once')", on_stdout=callback)
            assert pieces == ["once\n"] * 2
            async with await adder.sessions.ensure("awaited") as session:
                assert (await adder.sessions.ensure("awaited")).id == session.id
                await session.files.put(b"1", "a")
                assert [file.name for file in await session.files.list()] == ["a"]
                assert await session.files.get("a") == b"1"
            async with adder.session() as session:
                await session.run("x = 3")
                assert [each.name for each in await session.variables()] == ["x"]
            source = tmp_path / "in"
            source.write_bytes(b"abc")
            stored = await adder.files.put(source)
            assert await adder.files.get(stored) == b"abc"
            assert stored.file_id in [file.file_id async for file in adder.files.list()]
            assert "run_python" in [tool.name for tool in await adder.tools.list()]

            task = asyncio.create_task(adder.run(FOREVER))
            while not (found := await adder.running()):
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            while found[0].run_id in [run.run_id for run in await adder.running()]:
                await asyncio.sleep(0.01)
            assert (await adder.records.show(found[0].run_id))["outcome"] == "cancelled"

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_wait_that_is_too_long_is_an_error():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Adder(url, timeout=0.05) as hasty, pytest.raises(adder_client.RequestTimeout):
            hasty.sessions.list()
    assert pathlib.Path(adder_client.__file__).is_relative_to(PACKAGE)
