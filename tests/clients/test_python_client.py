# SPDX-License-Identifier: Apache-2.0
"""clients/python against a daemon, over TCP and a unix socket."""
import asyncio
import io
import os
import pathlib
import socket
import subprocess
import sys
import threading
import zipfile

import httpx
import pytest

import adder_client
from adder_client import Adder, AsyncAdder
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


# ---- the package ----


def test_one_source_for_waiting_and_awaited():
    ended = subprocess.run([sys.executable, PACKAGE / "make_sync.py", "--check"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("tool", [["mypy"], ["ruff", "check"], ["ruff", "format", "--check"]], ids=" ".join)
def test_what_checkers_say(tool, tmp_path):
    caches = {"MYPY_CACHE_DIR": str(tmp_path), "RUFF_CACHE_DIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-m", *tool], cwd=PACKAGE, env={**os.environ, **caches}, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_it_becomes_a_wheel_with_its_types(tmp_path):
    build = "from setuptools import build_meta; import sys; build_meta.build_wheel(sys.argv[1])"
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", PACKAGE, copy], check=True)
    subprocess.run([sys.executable, "-c", build, tmp_path], cwd=copy, check=True, capture_output=True)
    names = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    sources = {str(path.relative_to(PACKAGE / "src")) for path in (PACKAGE / "src").rglob("*.py")}
    assert sources | {"adder_client/py.typed"} <= names


@pytest.mark.parametrize("code, output", examples_of(PACKAGE / "README.md"))
def test_examples_of_the_readme(served, tmp_path, code, output):
    said = run_python(code, tmp_path, served.variables())
    assert output is None or said == output


# ---- runs ----


def test_a_result_is_whole(adder):
    result = adder.run("print('out')\n6 * 7")
    check_result(result.raw, 0)
    assert (result.outcome, result.stdout, result.text, result.ok) == ("ok", "out\n", "42", True)
    assert result.check() is result and result.isolation.level == result.raw["isolation"]["level"]
    assert result.usage.wall_ms == result.raw["usage"]["wall_ms"]
    assert set(result.raw) - {field for field in vars(result)} == set(), "each member has its place"


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
        timeout=7,
        memory_mb=200,
        limits={"pids": 9},
    ).check()
    first, second = result.stdout.splitlines()
    assert first == "['a', 'b'] x in {'k': [1, None]} ['data.bin', 'stored.txt', 'sub']"
    assert second == "b'\\xff\\x00' text kept kept"
    assert (result.limits["wall_ms"], result.limits["memory_bytes"], result.limits["pids"]) == (7000, 200 << 20, 9)


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
    ended = served.adder.call("token", "create", "client-person", "--may-decide")
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
