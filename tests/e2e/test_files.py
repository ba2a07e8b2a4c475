# SPDX-License-Identifier: Apache-2.0
"""Files into the workspace and out of it."""
import hashlib
import os
import textwrap

import pytest

BYTES = bytes(range(256)) * 4000


def dedent(code):
    return textwrap.dedent(code).lstrip("\n")


def out(adder):
    """An empty directory for --out."""
    return adder.folder("out")


def saved(directory):
    """Relative name to bytes of all that lies in DIRECTORY; what is no regular file fails."""
    found = {}
    for base, names, files in os.walk(directory):
        for name in names + files:
            path = os.path.join(base, name)
            assert not os.path.islink(path), f"{path} is a link"
            assert os.path.isdir(path) or os.path.isfile(path)
        for name in files:
            path = os.path.join(base, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, directory)] = file.read()
    return found


@pytest.mark.quick
def test_files_in(adder):
    data = adder.file("data.bin", BYTES)
    code = (
        "import hashlib\n"
        "for n in ('data.bin', 'sub/dir/other.bin'):\n"
        "    print(hashlib.sha256(open(n, 'rb').read()).hexdigest())"
    )
    result = adder.run(code, "--file", data, "--file", f"{data}:sub/dir/other.bin")
    assert result.outcome == "ok"
    assert result.stdout.split() == [hashlib.sha256(BYTES).hexdigest()] * 2
    assert result.files == [], "what only went in does not come back"


def test_folders_in(adder):
    """All regular files below it come along; a link does not, and the result says so."""
    folder = adder.folder("project")
    for name in ("a.txt", "sub/b.txt", "sub/deep/.hidden"):
        adder.file(f"project/{name}", name)
    os.symlink("/etc/passwd", folder / "link")
    code = "import os\nprint(sorted(os.path.join(b, n) for b, _, f in os.walk('.') for n in f))"
    result = adder.run(code, "--file", folder, "--file", f"{folder}:other/name")
    names = ["a.txt", "sub/b.txt", "sub/deep/.hidden"]
    assert result.stdout == repr(sorted(f"./{d}/{n}" for d in ("project", "other/name") for n in names)) + "\n"
    assert result.files == []
    (warning,) = result.warnings
    assert warning.startswith("2 of what is in the folders")


def test_modules_in(adder):
    result = adder.run(
        "import one, package.two\nprint(one.x + package.two.x)",
        "--file",
        adder.file("one.py", "x = 1"),
        "--file",
        f"{adder.file('two.py', 'x = 2')}:package/two.py",
    )
    assert result.stdout == "3\n"
    assert not [name for name in result.names if name.endswith(".pyc")]


@pytest.mark.parametrize("name", ["日本.csv", "with space.txt", "-dash"])
def test_names_in(adder, name):
    data = adder.file("plain", "content")
    result = adder.run("import os\nprint(os.listdir('.'))", "--file", f"{data}:{name}")
    assert result.outcome == "ok" and result.stdout == f"['{name}']\n"


@pytest.mark.quick
@pytest.mark.parametrize(
    "given", ["to=from", "to=a:b", "to=x=y", "sub/to=from", "from:to", "a:b:to", "x=y:to"], ids=str
)
def test_under_another_name(adder, given):
    """NAME=PATH, and PATH:NAME of the version before. A path may hold the signs between the two."""
    for name in ("from", "a:b", "x=y"):
        adder.file(name, name)
    path = next(name for name in ("from", "a:b", "x=y") if name in given)
    to = "sub/to" if given.startswith("sub/") else "to"
    result = adder.json("--file", given, "-c", f"import os; print(open('{to}').read(), os.listdir())", cwd=adder.scratch)
    assert result.outcome == "ok" and result.stdout == f"{path} {[to.split('/')[0]]}\n", result


def test_a_path_as_it_stands(adder):
    """One that is there as a whole is no NAME=PATH."""
    adder.file("a=b", "content")
    assert adder.run("print(open('a=b').read())", "--file", adder.scratch / "a=b").stdout == "content\n"


def test_path_with_a_colon(adder):
    """PATH[:NAME]: a path that is there as a whole is meant."""
    result = adder.run("print(open('a:b').read())", "--file", adder.file("a:b", "content"))
    assert result.stdout == "content\n"


def test_many_files_in(adder):
    options = []
    for index in range(200):
        options += ["--file", f"{adder.file(f'{index}.txt', str(index))}:in/{index}.txt"]
    result = adder.run("import glob\nprint(sum(int(open(n).read()) for n in glob.glob('in/*')))", *options)
    assert result.stdout == f"{sum(range(200))}\n" and result.files == []


def test_file_from_a_pipe(adder):
    """What a shell's <(command) gives."""
    reader, writer = os.pipe()
    os.write(writer, b"from a pipe")
    os.close(writer)
    result = adder.json("--file", f"/dev/fd/{reader}:x", "-c", "print(open('x').read())", pass_fds=[reader])
    os.close(reader)
    assert result.stdout == "from a pipe\n"


def test_input_files_may_be_changed_and_deleted(adder):
    data = adder.file("data.txt", "before")
    directory = out(adder)
    result = adder.run(
        "import os\n"
        "open('data.txt', 'a').write(' and after')\n"
        "os.remove('gone.txt')\n"
        "open('new.txt', 'w').write('n')",
        "--file",
        data,
        "--file",
        f"{data}:gone.txt",
        "--file",
        f"{data}:kept.txt",
        "--out",
        directory,
    )
    assert result.outcome == "ok" and result.names == ["data.txt", "new.txt"]
    assert saved(directory) == {"data.txt": b"before and after", "new.txt": b"n"}
    assert data.read_bytes() == b"before", "the caller's own file is not touched"


@pytest.mark.quick
@pytest.mark.both_users
def test_files_out(adder):
    directory = out(adder)
    result = adder.run(
        dedent(
            """
        import os
        os.makedirs("deep/er")
        open("a.bin", "wb").write(bytes(range(256)) * 4000)
        open("deep/er/日本 🐍.txt", "w").write("x")
        open("empty", "w").close()
        os.mkdir("empty directory")
        """
        ),
        "--out",
        directory,
    )
    assert result.outcome == "ok" and result.warnings == []
    assert saved(directory) == {"a.bin": BYTES, "deep/er/日本 🐍.txt": b"x", "empty": b""}
    files = {file["name"]: file for file in result.files}
    assert set(files) == {"a.bin", "deep/er/日本 🐍.txt", "empty"}
    assert files["a.bin"]["bytes"] == len(BYTES)
    assert files["a.bin"]["sha256"] in (None, hashlib.sha256(BYTES).hexdigest())
    if os.geteuid() == 0:
        assert os.stat(directory / "a.bin").st_uid == adder.user.uid, "they are the caller's"


def test_files_are_listed_without_out(adder):
    result = adder.run("open('a.csv', 'w').write('x\\n1\\n')")
    assert [(file["name"], file["bytes"], file["mime"]) for file in result.files] == [
        ("a.csv", 4, "text/csv")
    ]


def test_mime_types(adder):
    result = adder.run(
        "for n in ('a.png', 'a.json', 'a.txt', 'a.html', 'a.unknown'):\n" "    open(n, 'w').write('x')"
    )
    types = {file["name"]: file["mime"] for file in result.files}
    assert (types["a.png"], types["a.json"], types["a.txt"], types["a.html"]) == (
        "image/png",
        "application/json",
        "text/plain",
        "text/html",
    )


@pytest.mark.parametrize(
    "ending, outcome",
    [
        ("1/0", "error"),
        ("import sys; sys.exit(3)", None),
        ("import os; os.kill(os.getpid(), 11)", "crashed"),
        ("import os; os._exit(0)", "ok"),
        ("import time; time.sleep(1000)", "timeout"),
    ],
)
def test_files_come_out_however_it_ended(adder, ending, outcome):
    directory = out(adder)
    result = adder.run(
        "with open('x', 'w') as f: f.write('kept')\n" + ending, "--out", directory, "--limit", "wall_ms=8s"
    )
    assert outcome in (None, result.outcome)
    assert saved(directory) == {"x": b"kept"}


def test_output_directory_is_made(adder):
    directory = adder.scratch / "new"
    result = adder.run("open('x', 'w').write('1')", "--out", directory)
    assert result.outcome == "ok" and saved(directory) == {"x": b"1"}


def test_output_replaces_older_files_when_told_to(adder):
    directory = out(adder)
    for text in ("first", "second"):
        adder.run(f"open('x', 'w').write('{text}')", "--out", directory, "--force")
    assert saved(directory) == {"x": b"second"}


def test_output_directory_may_be_relative(adder):
    adder.folder("out")
    adder.run("open('x', 'w').write('1')", "--out", "out")
    assert saved(adder.scratch / "out") == {"x": b"1"}


NOT_FILES = {
    "a symbolic link": ("os.symlink('/etc/passwd', 'odd')", "odd"),
    "a link to a file beside it": ("os.symlink('plain', 'odd')", "odd"),
    "a dangling link": ("os.symlink('nowhere', 'odd')", "odd"),
    "a link to a directory": ("os.symlink('/etc', 'odd')", "odd"),
    "a loop of links": ("os.symlink('odd', 'odd')", "odd"),
    "a named pipe": ("os.mkfifo('odd')", "odd"),
    "a socket": (
        "import socket\n"
        "try:\n"
        "    socket.socket(socket.AF_UNIX).bind('odd')\n"
        "except OSError:\n"
        "    os.mkfifo('odd')",
        "odd",
    ),
}


@pytest.mark.parametrize("name", NOT_FILES)
def test_what_is_no_regular_file_stays(adder, name):
    code, odd = NOT_FILES[name]
    directory = out(adder)
    result = adder.run(f"import os\nopen('plain', 'w').write('p')\n{code}", "--out", directory)
    assert result.outcome == "ok" and saved(directory) == {"plain": b"p"}
    assert result.names == ["plain"]
    assert any(odd in warning for warning in result.warnings), "a warning names it"


def test_hard_links_are_files(adder):
    directory = out(adder)
    adder.run("import os\nopen('a', 'w').write('x')\nos.link('a', 'b')", "--out", directory)
    assert saved(directory) == {"a": b"x", "b": b"x"}


def test_too_deep(adder):
    directory = out(adder)
    result = adder.run(
        "import os\n"
        "os.makedirs('/'.join('d' * 30))\n"
        "open('/'.join('d' * 30) + '/deep', 'w').write('x')\n"
        "open('plain', 'w').write('p')",
        "--out",
        directory,
    )
    assert result.outcome == "ok" and saved(directory) == {"plain": b"p"}
    assert len(result.warnings) == 1 and "16" in result.warnings[0]


def test_depth_can_be_chosen(adder):
    directory = out(adder)
    code = "import os\nos.makedirs('/'.join('d' * 30))\nopen('/'.join('d' * 30) + '/deep', 'w').write('x')"
    result = adder.run(code, "--out", directory, "--limit", "files_depth=64")
    assert result.warnings == [] and list(saved(directory)) == ["/".join("d" * 30) + "/deep"]


def test_too_many(adder):
    directory = out(adder)
    result = adder.run("for i in range(100):\n    open(f'{i}', 'w').write('x')", "--out", directory)
    assert result.outcome == "ok" and len(saved(directory)) == len(result.files) == 64
    assert len(result.warnings) == 1 and "64" in result.warnings[0]


def test_too_large(adder):
    directory = out(adder)
    result = adder.run(
        "open('large', 'wb').write(bytes(3_000_000))\nopen('small', 'w').write('s')",
        "--out",
        directory,
        "--limit",
        "files_bytes=1000000",
    )
    assert result.outcome == "ok" and saved(directory) == {"small": b"s"}
    assert any("large" in warning for warning in result.warnings)


def test_sparse_file_is_not_a_way_round(adder):
    directory = out(adder)
    result = adder.run(
        "import os\n"
        "open('sparse', 'w').close()\n"
        "os.truncate('sparse', 8 << 30)\n"
        "open('small', 'w').write('s')",
        "--out",
        directory,
        "--limit",
        "file_bytes=16G",
    )
    assert result.outcome == "ok" and saved(directory) == {"small": b"s"}
    assert any("sparse" in warning for warning in result.warnings)


def test_files_in_the_temporary_directory(adder):
    """What lies in /tmp/output is meant to come back too; scratch files in /tmp need not."""
    result = adder.run("open('/tmp/output/plot.txt', 'w').write('x')")
    assert result.outcome == "ok"
    assert any(name.endswith("plot.txt") for name in result.names)


def test_workspace_is_full(adder):
    result = adder.run(
        dedent(
            """
        import errno
        try:
            with open("big", "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
        except OSError as error:
            print(errno.errorcode[error.errno])
        """
        ),
        "--limit",
        "workspace_bytes=8M",
    )
    assert (result.outcome, result.stdout) == ("ok", "ENOSPC\n")


def test_file_size_limit(adder):
    result = adder.run(
        dedent(
            """
        import errno
        try:
            with open("big", "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
        except OSError as error:
            print(errno.errorcode[error.errno])
        """
        ),
        "--limit",
        "file_bytes=2M",
    )
    assert (result.outcome, result.stdout) == ("ok", "EFBIG\n")


def test_inputs_that_do_not_fit(adder):
    large = adder.file("large", bytes(3 << 20))
    result = adder.run("1", "--file", large, "--limit", "workspace_bytes=1M")
    assert result.outcome == "failed" and "large" in result.error["message"]


def test_same_name_twice(adder):
    first, second = adder.file("1", "first"), adder.file("2", "second")
    result = adder.run("print(open('x').read())", "--file", f"{first}:x", "--file", f"{second}:x")
    assert result.outcome == "failed" or result.stdout == "second\n"


def test_modes_of_files(adder):
    """A file that went in can be read, written and executed if it could be outside."""
    tool = adder.file("tool.sh", "#!/bin/sh\necho ran\n")
    tool.chmod(0o755)
    result = adder.run(
        "import subprocess\n" "open('tool.sh', 'a').close()\n" "subprocess.run(['sh', './tool.sh'])",
        "--file",
        tool,
    )
    assert result.stdout == "ran\n"
