# SPDX-License-Identifier: Apache-2.0
"""Stored files in runs: --file @ID, and the tools load_file and list_files."""
import pytest

from harness import Tools, strict_json

pytestmark = pytest.mark.both_users

LARGE = 20 << 20
LOOK = "import hashlib\nprint(hashlib.sha256(open({path!r}, 'rb').read()).hexdigest())"


def make(adder, name, code="b'content'"):
    """Stores what CODE gives; the file as the run's result has it."""
    (file,) = adder.run(f"open({name!r}, 'wb').write({code})").files
    assert file["file_id"], file
    return file


@pytest.fixture
def large(adder):
    return make(adder, "large.bin", f"bytes(range(256)) * {LARGE // 256}")


@pytest.mark.quick
@pytest.mark.parametrize(
    "option, path", [("", "/work/small.bin"), ("=sub/x", "/work/sub/x"), ("=/tmp/y", "/tmp/y")]
)
def test_a_stored_file(adder, option, path):
    file = make(adder, "small.bin")
    result = adder.run(LOOK.format(path=path), "--file", f"@{file['file_id']}{option}")
    assert result.stdout == file["sha256"] + "\n"
    assert result.files == [], "what only went in does not come back"


@pytest.mark.parametrize("name", ["/work/large.bin", "/tmp/large.bin"])
def test_a_large_one_takes_no_room(adder, large, name):
    """It has more bytes than the workspace."""
    option = "=" + name if name.startswith("/tmp") else ""
    arguments = ("--file", f"@{large['file_id']}{option}", "--limit", "workspace_bytes=4M")
    result = adder.run(LOOK.format(path=name), *arguments)
    assert result.stdout == large["sha256"] + "\n" and result.files == []
    full = adder.run(f"open({name!r}, 'r+b').write(b'x')", *arguments)
    assert full.outcome == "error" and "No space left" in full.error["message"]
    # ... and is still what it was.
    assert adder.run(LOOK.format(path=name), *arguments).stdout == large["sha256"] + "\n"


def test_what_is_changed_of_it_comes_back(adder, large):
    result = adder.run("open('large.bin', 'r+b').write(b'x')", "--file", f"@{large['file_id']}")
    (file,) = result.files
    assert file["name"] == "large.bin" and file["bytes"] == LARGE and file["sha256"] != large["sha256"]
    assert file["file_id"] != large["file_id"]


def test_many_at_once(adder, large):
    """Copies and links side by side, and a file of the caller's."""
    options = []
    for n in range(20):
        file = make(adder, f"file-{n}.txt", f"b'{n}'")
        options += ["--file", f"@{file['file_id']}"]
    options += ["--file", f"@{large['file_id']}", "--file", adder.file("own.txt", "own")]
    code = (
        "import os\n"
        "print(sum(int(open(n).read()) for n in os.listdir('.') if n.startswith('file-')), open('own.txt').read())\n"
        "print(os.path.getsize('large.bin'))"
    )
    assert adder.run(code, *options).stdout == f"190 own\n{LARGE}\n"


def test_without_namespaces_it_is_copied(adder, large):
    arguments = ("--file", f"@{large['file_id']}", "--isolation", "process")
    result = adder.run(LOOK.format(path="large.bin"), *arguments)
    assert result.stdout == large["sha256"] + "\n" and result.files == []


def test_in_a_session(sessions, large):
    session = sessions.new()
    option = ("--file", f"@{large['file_id']}=/tmp/in.bin")
    result = sessions.cell(session, LOOK.format(path="/tmp/in.bin"), *option)
    assert result.stdout == large["sha256"] + "\n" and result.files == []
    again = sessions.cell(session, "import os; os.utime('/tmp/in.bin')")
    assert again.files == [], "it was only touched"


def test_beside_a_work_directory(adder, large):
    folder = adder.folder("mine")
    adder.file("mine/a.txt", "a")
    arguments = ("--workdir", f"{folder}:overlay", "--file", f"@{large['file_id']}=/tmp/in.bin")
    code = (
        LOOK.format(path="/tmp/in.bin")
        + "\nopen('b.txt', 'w').write('b')\nopen('/tmp/c.txt', 'w').write('c')"
    )
    result = adder.run(code, *arguments)
    assert result.stdout == large["sha256"] + "\n"
    assert [change["path"] for change in result.changes] == ["b.txt"]
    assert result.names == ["tmp/c.txt"]
    refused = adder.run("1", "--workdir", folder, "--file", f"@{large['file_id']}")
    assert refused.outcome == "failed" and "work directory" in refused.error["message"]


def test_an_approval_is_for_what_it_holds(own_adder):
    folder = own_adder.config / "profiles"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    (folder / "asks.conf").write_text("[profile]\ntitle = for tests\napproval = always\n")
    (folder / "asks.conf").chmod(0o644)
    one, other, same = (make(own_adder, "one.txt", f"b'{n}'") for n in (1, 2, 1))

    def run(file):
        arguments = ("--profile", "asks", "--file", f"@{file['file_id']}")
        return own_adder.run("print(open('one.txt').read())", *arguments)

    waiting = run(one)
    assert waiting.outcome == "approval_required"
    shown = strict_json(own_adder.call("approval", "show", waiting.approval_id, "--json").stdout)
    (file,) = shown["files"]
    assert file == {"name": "one.txt", "bytes": 1, "sha256": one["sha256"], "bound": "content"}
    assert own_adder.call("approval", "approve", waiting.approval_id).returncode == 0
    assert run(other).outcome == "approval_required", "it holds something else"
    assert run(same).stdout == "1\n"


# ---- tools ----


@pytest.fixture
def tools(own_adder):
    return Tools(own_adder, "code_executor")


def loaded(tools, file, *options):
    reply = tools.call("load_file", {"file_id": file["file_id"]}, *options)
    assert set(reply) == {"local_path", "filename", "run_id"} and reply["run_id"] is None
    assert reply["local_path"] == "/tmp/" + reply["filename"]
    return reply["local_path"]


def python(tools, code, *options, status=0):
    return tools.call("run_python", {"code": code}, *options, status=status)


def test_list_files(own_adder, tools):
    assert tools.call("list_files")["files"] == []
    stored = [make(own_adder, f"{n}.csv", f"b'a,b\\n{n},2\\n'") for n in range(3)]
    listed = tools.call("list_files")["files"]
    assert [file["file_id"] for file in listed] == [file["file_id"] for file in reversed(stored)]
    assert set(listed[0]) == {"file_id", "filename", "mime", "bytes", "created"}
    assert listed[0]["filename"] == "2.csv" and listed[0]["bytes"] == 8
    first = tools.call("list_files", {"limit": 1})["files"]
    rest = tools.call("list_files", {"before": first[0]["file_id"]})["files"]
    assert first + rest == listed


@pytest.mark.parametrize("name", ["\x01", "\x01x", "="])
def test_a_conversation_of_any_name_is_a_conversation(own_adder, tools, name):
    path = loaded(tools, make(own_adder, "of-a-talk.txt"), "--conversation", name)
    look = f"import os\nprint(os.path.exists({path!r}))"
    assert python(tools, look)["stdout"] == "False\n"
    assert python(tools, look, "--conversation", name)["stdout"] == "True\n"
    assert python(tools, look, "--conversation", name)["stdout"] == "True\n"


def test_load_file_for_one_run(own_adder, tools):
    """Without a conversation it is the next run's alone, whatever that is."""
    path = loaded(tools, make(own_adder, "data.csv"))
    assert path == "/tmp/data.csv"
    assert python(tools, f"print(open({path!r}).read())")["stdout"] == "content\n"
    assert "FileNotFoundError" in python(tools, f"open({path!r})", status=1)["stderr"]
    path = loaded(tools, make(own_adder, "data.csv"))
    assert tools.call("run_shell", {"command": f"wc -c < {path}"})["stdout"] == "7\n"


def test_load_file_in_a_conversation(own_adder, tools):
    here, there = ("--conversation", "here"), ("--conversation", "there")
    one, two = (make(own_adder, name) for name in ("one.txt", "two.txt"))
    loaded(tools, one, *here)
    loaded(tools, two, *here)
    look = "import os; print(sorted(n for n in os.listdir('/tmp') if n.endswith('.txt')))"
    for _ in range(2):
        assert python(tools, look, *here)["stdout"] == "['one.txt', 'two.txt']\n"
    assert python(tools, look, *there)["stdout"] == "[]\n"
    assert python(tools, look)["stdout"] == "[]\n"
    # What the code does to it is gone with its run.
    changed = python(tools, "open('/tmp/one.txt', 'a').write('more')", *here)
    assert [file["filename"] for file in changed["files"]] == ["one.txt"]
    assert python(tools, "print(open('/tmp/one.txt').read())", *here)["stdout"] == "content\n"
    # Another of the same name takes its place.
    other = make(own_adder, "one.txt", "b'other'")
    loaded(tools, other, *here)
    assert python(tools, "print(open('/tmp/one.txt').read())", *here)["stdout"] == "other\n"


def test_load_file_that_is_not_there(tools):
    assert "none" in tools.refused("load_file", {"file_id": "none"})
    assert "file_id" in tools.refused("load_file", {})


def test_load_file_into_a_session(own_adder):
    tools = Tools(own_adder, "adder")
    file = make(own_adder, "data.csv")
    session = tools.call("session_new", {"name": "one"})["session_id"]
    tools.call("load_file", {"file_id": file["file_id"], "session": "one"})
    code = "import os\nprint(os.path.exists('/tmp/data.csv'))"
    assert tools.call("run_python", {"code": code})["stdout"] == "False\n"
    for _ in range(2):
        assert tools.call("run_python", {"code": code, "session": session})["stdout"] == "True\n"
    assert "two" in tools.refused("load_file", {"file_id": file["file_id"], "session": "two"}, status=125)


def test_a_file_called_as_a_directory_is(own_adder, tools):
    path = loaded(tools, make(own_adder, "output"))
    assert path == "/tmp/output-file"
    assert python(tools, f"print(open({path!r}).read())")["stdout"] == "content\n"


def test_too_many_are_not_loaded(make_adder):
    adder = make_adder("[tools]\ncontext_values = 2\n")
    tools = Tools(adder, "code_executor")
    for name in ("a", "b"):
        loaded(tools, make(adder, name), "--conversation", "x")
    sentence = tools.refused("load_file", {"file_id": make(adder, "c")["file_id"]}, "--conversation", "x")
    assert "2 loaded files" in sentence
