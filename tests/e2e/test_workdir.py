# SPDX-License-Identifier: Apache-2.0
"""Directories of the host that code works in: --workdir DIR, DIR:overlay, DIR:rw."""
import os
import pathlib
import stat
import subprocess
import tempfile

import pytest

pytestmark = pytest.mark.both_users

LOOK = "import os\nprint(os.getcwd(), sorted(os.listdir('.')))"
WRITE = "open('made', 'w').write('new')\nopen('a.txt', 'a').write('more\\n')\nprint(open('a.txt').read())"


@pytest.fixture
def folder(adder):
    """A directory of the user's with a file, a folder and a link that leads out."""
    adder.file("dir/a.txt", "one\n")
    adder.file("dir/sub/b.txt", "two\n")
    adder.file("outside.txt", "not for the code")
    directory = adder.scratch / "dir"
    os.symlink("../outside.txt", directory / "out")
    return directory


def contents(directory):
    """Path to bytes, target or mode of all below DIRECTORY."""
    found = {}
    for base, names, files in os.walk(directory):
        for name in names + files:
            path = os.path.join(base, name)
            info = os.lstat(path)
            value = stat.S_IMODE(info.st_mode)
            if stat.S_ISLNK(info.st_mode):
                value = os.readlink(path)
            elif stat.S_ISREG(info.st_mode):
                with open(path, "rb") as file:
                    value = file.read()
            found[os.path.relpath(path, directory)] = value
    return found


def changes(result):
    return {change["path"]: change["change"] for change in result.changes}


@pytest.mark.quick
@pytest.mark.parametrize("mode", ["", ":overlay", ":rw"])
def test_the_directory_is_work(adder, folder, mode):
    result = adder.run(LOOK, "--workdir", f"{folder}{mode}")
    assert result.stdout == "/work ['a.txt', 'out', 'sub']\n"
    assert result.changes == []


def test_a_denied_write_names_the_option_that_allows_it(adder, folder):
    result = adder.run("open('made', 'w')", "--workdir", str(folder))
    (denial,) = result.denials
    assert denial["detail"] == "write /work/made" and "--workdir DIR:overlay, DIR:rw" in denial["hint"]
    (elsewhere,) = adder.run("open('/usr/made', 'w')", "--workdir", str(folder)).denials
    assert "--workdir" not in elsewhere["hint"]


@pytest.fixture(params=["/tmp", "/var/tmp"])
def elsewhere(adder, request):
    """A directory of the user's where a sandbox has one of its own, and where it has none."""
    with tempfile.TemporaryDirectory(prefix="adder-own-path-", dir=request.param) as above:
        os.chmod(above, 0o755)
        directory = pathlib.Path(above) / "project"
        directory.mkdir()
        (directory / "data.csv").write_text("a,b\n")
        adder.own(directory)
        adder.own(directory / "data.csv")
        yield directory


@pytest.mark.parametrize("mode", ["", ":overlay", ":rw"])
def test_the_directory_has_its_own_path_too(adder, elsewhere, mode):
    code = f"import os\nprint(open({str(elsewhere / 'data.csv')!r}).read(), os.getcwd(), os.listdir({str(elsewhere.parent)!r}))"
    result = adder.run(code, "--workdir", f"{elsewhere}{mode}")
    assert result.stdout == "a,b\n /work ['project']\n" and result.warnings == [] and result.changes == []


def test_both_paths_are_one_directory(adder, elsewhere):
    code = f"import os\nopen({str(elsewhere / 'made')!r}, 'w').write('x')\nos.rename({str(elsewhere / 'made')!r}, '/work/new')"
    result = adder.run(code, "--workdir", f"{elsewhere}:rw")
    assert result.outcome == "ok" and result.files == []
    assert (elsewhere / "new").read_text() == "x"


def test_its_own_path_cannot_be_turned_elsewhere(adder, elsewhere):
    code = f"import os\nos.unlink({str(elsewhere)!r})\nos.symlink('/etc', {str(elsewhere)!r})"
    result = adder.run(code, "--workdir", f"{elsewhere}:rw")
    if str(elsewhere).startswith("/tmp/"):
        assert result.outcome == "ok", "/tmp is the code's own"
    else:
        assert "Read-only file system" in result.error["message"], "the tree around it is not"
    assert contents(elsewhere) == {"data.csv": b"a,b\n"}


def test_read_only(adder, folder):
    before = contents(folder)
    result = adder.run("print(open('sub/b.txt').read(), end='')\nopen('made', 'w')", "--workdir", folder)
    assert result.stdout == "two\n" and result.error["type"] == "OSError"
    assert "Read-only file system" in result.error["message"]
    assert contents(folder) == before


def test_overlay_lists_and_drops(adder, folder):
    before = contents(folder)
    result = adder.run(
        WRITE + "\nimport shutil\nshutil.rmtree('sub')",
        "--workdir",
        f"{folder}:overlay",
    )
    assert result.outcome == "ok" and result.stdout == "one\nmore\n\n"
    assert changes(result) == {
        "a.txt": "changed",
        "made": "created",
        "sub": "deleted",
        "sub/b.txt": "deleted",
    }
    (change,) = (change for change in result.changes if change["path"] == "a.txt")
    assert change["diff"] == "@@ -1 +1,2 @@\n one\n+more\n"
    assert (change["bytes_before"], change["bytes"]) == (4, 9)
    assert contents(folder) == before, "an overlay is dropped"


def test_write(adder, folder):
    result = adder.run(WRITE, "--workdir", f"{folder}:rw")
    assert result.outcome == "ok" and result.changes == []
    after = contents(folder)
    assert after["made"] == b"new" and after["a.txt"] == b"one\nmore\n"
    info = os.stat(folder / "made")
    assert (info.st_uid, info.st_gid) == (adder.user.uid, adder.user.uid), "what was made is the user's own"


def test_links_do_not_lead_out(adder, folder):
    os.symlink("/etc", folder / "etc")
    code = (
        "import os\n"
        "for path in ('out', 'etc/shadow', '../outside.txt', '/work/../outside.txt', '/proc/1/root/etc/shadow'):\n"
        "    try:\n"
        "        open(path)\n"
        "        print('open', path)\n"
        "    except OSError as error:\n"
        "        print(type(error).__name__)\n"
    )
    result = adder.run(code, "--workdir", f"{folder}:rw")
    assert "open" not in result.stdout and result.outcome == "ok"


def test_colons(adder, folder):
    odd = folder.parent / "with:overlay"
    os.rename(folder, odd)
    result = adder.run(WRITE, "--workdir", odd)
    assert result.error["type"] == "OSError", "a path that is there as a whole is meant, read-only"
    result = adder.run(WRITE, "--workdir", f"{odd}:overlay")
    assert changes(result) == {"a.txt": "changed", "made": "created"}


def test_nothing_of_it_stays(adder, folder):
    adder.run(WRITE, "--workdir", f"{folder}:overlay")
    result = adder.run(LOOK)
    assert result.stdout == "/work []\n", "another run has another directory"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("--workdir", "{dir}/a.txt"), "Not a directory"),
        (("--workdir", "{dir}/none"), "No such file"),
        (("--workdir", "{dir}:overlay", "--file", "{dir}/a.txt"), "files cannot be put into a work directory"),
        (("--workdir", "{dir}:rw", "--review"), "--review works on an overlay"),
        (("--workdir", "{dir}", "--isolation", "process"), "needs a sandbox with mounts of its own"),
    ],
)
def test_refusals(adder, folder, arguments, words):
    result = adder.run(LOOK, *(argument.replace("{dir}", str(folder)) for argument in arguments))
    assert result.outcome in ("failed", "refused") and words in result.error["message"]


def test_mounts_below_are_refused(adder, folder):
    if os.geteuid() != 0:
        pytest.skip("only root mounts")
    below = folder / "with space"
    below.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", below], check=True)
    try:
        result = adder.run(LOOK, "--workdir", folder)
    finally:
        subprocess.run(["umount", below], check=True)
    assert result.outcome == "failed" and "another file system is mounted below" in result.error["message"]
    assert adder.run(LOOK, "--workdir", folder).outcome == "ok"


def test_other_owners(adder, folder):
    """The run has its user's rights, and where that is root no more than an owner's."""
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    foreign = folder / "foreign"
    foreign.write_text("closed")
    os.chown(foreign, 12345, 12345)
    os.chmod(foreign, 0o600)
    result = adder.run("open('foreign')", "--workdir", f"{folder}:rw")
    assert result.error["type"] == "PermissionError"


def test_set_uid_programs_have_no_power(adder, folder):
    program = folder / "id"
    program.write_bytes(open("/usr/bin/id", "rb").read())
    adder.own(program)
    program.chmod(0o4755)
    result = adder.run("import subprocess\nprint(subprocess.run(['./id', '-u'], capture_output=True).stdout)",
                       "--workdir", folder)
    assert result.stdout == "b'65534\\n'\n"


def test_layer_is_bounded(adder, folder):
    code = "f = open('big', 'wb')\nwhile True: f.write(b'x' * 100000)"
    result = adder.run(code, "--workdir", f"{folder}:overlay", "--limit", "workspace_bytes=2M")
    assert result.error["type"] == "OSError" and "No space left" in result.error["message"]
    assert "big" not in contents(folder)


def test_large_directory_is_no_burden(adder, folder):
    for index in range(3000):
        (folder / f"{index}.txt").write_text("x")
    result = adder.run("open('made', 'w').write('x')", "--workdir", f"{folder}:overlay")
    assert changes(result) == {"made": "created"}, "what was not touched is not looked at"


@pytest.mark.parametrize("deep, names, words", [(18, 20, "more than 4095 bytes"), (15, 10000, "bytes together")])
def test_long_paths_are_no_burden(adder, folder, deep, names, words):
    """One directory at a time, code makes paths that the kernel would not open; each name below has one of its own."""
    code = (
        f"import os\nfor _ in range({deep}):\n    os.mkdir('d' * 250); os.chdir('d' * 250)\n"
        f"for index in range({names}):\n    os.symlink('x', f'{{index:05}}')\n"
    )
    result = adder.run(code, "--workdir", folder, "--review")
    assert result.outcome == "refused" and words in result.error["message"], result
    assert sum(len(change["path"]) for change in result.changes) < 33 << 20


def test_hostile_names_and_kinds(adder, folder):
    code = (
        "import os, socket\n"
        "open('line\\n\\x1b[31m', 'w').write('x')\n"
        "open(b'\\xff', 'w').write('x')\n"
        "os.mkfifo('pipe')\n"
        "socket.socket(socket.AF_UNIX).bind('socket')\n"
        "open('suid', 'w').write('x'); os.chmod('suid', 0o6755)\n"
        "os.mkdir('closed'); open('closed/in', 'w'); os.chmod('closed', 0)\n"
        "open('sparse', 'w').truncate(100_000_000)\n"
        "os.link('a.txt', 'hard')\n"
        "os.symlink('/etc/passwd', 'link')\n"
    )
    result = adder.run(code, "--workdir", f"{folder}:overlay")
    assert result.outcome == "ok", result
    found = {change["path"]: change for change in result.changes}
    assert set(found) >= {"line\n\x1b[31m", "suid", "closed", "closed/in", "sparse", "hard", "link"}
    assert found["suid"]["mode"] == "0755" and found["link"]["target"] == "/etc/passwd"
    assert found["sparse"]["bytes"] == 100_000_000 and found["sparse"]["diff"] is None
    assert "pipe" not in found and any("pipe" in line for line in result.warnings)


def test_profiles_bound_it(make_adder):
    adder = make_adder()
    (adder.config / "profiles").mkdir()
    profile = adder.config / "profiles/narrow.conf"
    profile.write_text("[workdir]\nmode = overlay\nvariables = PASSED PRE_*\n")
    for path in (profile.parent, profile):
        adder.own(path)
    adder.variables = {"PASSED": "1", "PRE_ONE": "2", "PRE_TOKEN": "3", "OTHER": "4"}
    folder = adder.folder("dir")
    code = "import os\nprint(*(os.environ.get(n) for n in ('PASSED', 'PRE_ONE', 'PRE_TOKEN', 'OTHER')))"
    result = adder.run(code, "--profile", "narrow", "--workdir", f"{folder}:overlay")
    assert result.stdout == "1 2 None None\n"
    assert adder.run(code, "--workdir", f"{folder}:overlay").stdout == "None None None None\n"
    result = adder.run(code, "--profile", "narrow", "--workdir", f"{folder}:rw")
    assert result.outcome == "refused" and 'as "overlay" at most' in result.error["message"]


def test_no_daemon(adder, folder):
    result = adder.run(WRITE, "--workdir", f"{folder}:overlay", "--no-daemon")
    assert changes(result) == {"a.txt": "changed", "made": "created"}
