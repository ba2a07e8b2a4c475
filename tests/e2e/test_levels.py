# SPDX-License-Identifier: Apache-2.0
"""Isolation levels 1 and 0: sandboxes in the host's namespaces. They must work as any other, end as any other, and leave
nothing behind; what they promise is tried by the attacks."""
import array
import fcntl
import os
import pathlib
import uuid

import pytest

import harness
from harness import unique, wait_until, with_name

pytestmark = pytest.mark.both_users

KINDS = {
    "process": ("[sandbox]\nisolation = process\n", [], 1),
    "none": ("", ["--isolation", "none"], 0),
}


def new_temporary(common_directory, user):
    """A directory for temporary files, the user's own, that sandboxes of another user can pass through."""
    path = common_directory / f"temporary-{uuid.uuid4().hex[:10]}"
    path.mkdir()
    os.chown(path, user.uid, -1)
    return path


@pytest.fixture
def temporary(common_directory, user):
    return new_temporary(common_directory, user)


@pytest.fixture(scope="module", params=KINDS)
def kind(request, make_shared_adder, common_directory, user):
    """(Adder, options, level) whose runs are of that kind."""
    configuration, options, level = KINDS[request.param]
    temporary = new_temporary(common_directory, user)
    adder = make_shared_adder(configuration, {"TMPDIR": str(temporary)})
    yield adder, options, level
    adder.stop()
    wait_until(lambda: not list(temporary.iterdir()), "its directory for workspaces to be swept")


@pytest.mark.quick
def test_run(kind):
    adder, options, level = kind
    result = adder.run("import os\nprint(2 ** 32, os.getuid() != 0)\n6 * 7", *options)
    assert (result.outcome, result.stdout, result.text) == ("ok", "4294967296 True\n", "42")
    assert result.isolation["level"] == level
    assert {"user_namespace", "mount_namespace", "pid_namespace"} <= set(result.isolation["missing"])


def test_error(kind):
    adder, options, _ = kind
    result = adder.run("def f():\n    1 / 0\nf()", *options)
    assert (result.outcome, result.error["type"], result.error["line"]) == ("error", "ZeroDivisionError", 2)


@pytest.mark.quick
def test_files(kind):
    adder, options, _ = kind
    (adder.scratch / "data.csv").write_text("1,2\n")
    code = (
        "import os, tempfile\n"
        "print(open('data.csv').read(), os.listdir())\n"
        "os.makedirs('deep/er'); open('deep/er/out.txt', 'w').write('made')\n"
        "assert tempfile.gettempdir() == os.environ['TMPDIR'] == os.environ['HOME']\n"
        "open(os.path.join(tempfile.gettempdir(), 'output', 'more.txt'), 'w').write('more')\n"
        "os.mkdir('closed', 0); os.symlink('/etc/passwd', 'link')\n"
    )
    result = adder.run(code, "--file", "data.csv", "--out", "made", *options)
    assert (result.outcome, result.stdout) == ("ok", "1,2\n ['data.csv']\n")
    assert result.names == ["deep/er/out.txt", "tmp/output/more.txt"]
    assert (adder.scratch / "made/deep/er/out.txt").read_text() == "made"
    assert adder.run("import os\nprint(os.listdir())", *options).stdout == "[]\n", "the next one has its own"


LIMITS = {
    "timeout": ("while True: pass", ["--timeout", "0.5"]),
    "cpu_limit": ("while True: pass", ["--timeout", "50", "--limit", "cpu_ms=300"]),
    "memory_limit": ("kept = []\nwhile True: kept.append(bytearray(b'x') * 1_000_000)", ["--memory", "64M"]),
    "output_limit": ("while True: print('x' * 1000)", ["--limit", "output_bytes=100000"]),
}


@pytest.mark.parametrize("outcome", LIMITS)
def test_limit(kind, outcome):
    adder, options, _ = kind
    code, limits = LIMITS[outcome]
    assert adder.run(code, *limits, *options).outcome == outcome


def test_limits_of_processes_and_files(kind):
    adder, options, _ = kind
    result = adder.run("import resource as r\nprint(r.getrlimit(r.RLIMIT_NOFILE), r.getrlimit(r.RLIMIT_FSIZE))",
                       "--limit", "open_files=77", "--limit", "file_bytes=1M", *options)
    assert result.stdout == "(77, 77) (1048576, 1048576)\n"


LEFT = """
import ctypes, os, signal
if os.fork() == 0:
    {leave}
    if os.fork(): os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(15, {word!r})
    print('started', flush=True)
    while True: signal.pause()
os.wait()
"""


def leave_behind(leave=""):
    word = unique()
    return word, LEFT.format(leave=leave, word=word.encode())


@pytest.mark.parametrize("leave", ["pass", "os.setsid()", "os.setpgid(0, 0)"])
def test_nothing_outlives_its_run(kind, leave):
    adder, options, _ = kind
    word, code = leave_behind(leave)
    assert adder.run(code, *options).outcome == "ok"
    wait_until(lambda: not with_name(word), "what it left behind to be gone")


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_nothing_outlives_the_daemon(make_adder, temporary, how):
    """At level 1 also where the daemon has no time to say good-bye: its zygotes see that, and end what is theirs."""
    adder = make_adder(KINDS["process"][0], {"TMPDIR": str(temporary)})
    word, code = leave_behind()
    run = adder.start(code + "while True: pass")
    wait_until(lambda: with_name(word), "the process to be there")
    getattr(adder, how)()
    run.communicate(timeout=60)
    wait_until(lambda: not with_name(word), "it to be gone")
    assert adder.run("print('next')").stdout == "next\n"
    adder.stop()
    assert not list(temporary.iterdir()), "what the killed one left is swept by the next"


def test_none_only_where_it_is_said(make_adder):
    adder = make_adder("[sandbox]\nisolation = none\n")
    result = adder.run("print(1)")
    assert result.outcome == "refused" or result.isolation["level"] == 0
    adder = make_adder("[sandbox]\nmin_isolation = 1\n")
    refused = adder.run("print(1)", "--isolation", "none")
    assert (refused.outcome, refused.stdout) == ("refused", "")
    assert "min_isolation" in refused.error["message"] and '"none"' in refused.error["message"]
    assert adder.run("print(1)").isolation["level"] >= 2
    adder.stop()


def test_kind_that_is_none(own_adder):
    result = own_adder.run("1", "--isolation", "fort")
    assert result.outcome == "failed"
    assert result.error["message"] == 'isolation must be auto, namespaces, process, none or container, not "fort"'
    own_adder.stop()


def test_better_than_the_configuration_allows(make_adder):
    adder = make_adder("[sandbox]\nisolation = process\n")
    result = adder.run("1", "--isolation", "namespaces")
    assert result.outcome == "refused" and '"namespaces"' in result.error["message"]
    adder.stop()


def test_deep_and_closed_trees_are_swept(kind):
    adder, options, _ = kind
    code = (
        "import os\n"
        "for n in range(3000):\n"
        "    os.mkdir('d'); os.chdir('d')\n"
        "open('file', 'w').close()\n"
        "os.mkdir('closed', 0)\n"
    )
    assert adder.run(code, "--limit", "cpu_ms=60000", "--timeout", "60", *options).outcome == "ok"


FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_IMMUTABLE_FL = 0x80086601, 0x40086602, 0x10


def set_immutable(path, immutable):
    """Not even root removes such a file."""
    with open(path) as file:
        flags = array.array("i", [0])
        fcntl.ioctl(file, FS_IOC_GETFLAGS, flags)
        flags[0] = flags[0] | FS_IMMUTABLE_FL if immutable else flags[0] & ~FS_IMMUTABLE_FL
        fcntl.ioctl(file, FS_IOC_SETFLAGS, flags)


def test_what_cannot_be_removed_is_left(make_adder, temporary):
    """And is gone into once, not for ever: the command ends."""
    adder = make_adder("", {"TMPDIR": str(temporary)})
    code = (
        "import os, time\n"
        "os.makedirs('d/e'); open('d/e/file', 'w').close()\n"
        "print(os.getcwd(), flush=True)\n"
        "while not os.path.exists('go on'): time.sleep(0.05)"
    )
    run = adder.start(code, "--no-daemon", "--isolation", "process")
    work = pathlib.Path(run.stdout.readline().decode().strip())
    file = work / "d/e/file"
    try:
        set_immutable(file, True)
    except OSError as error:
        run.kill()
        run.communicate()
        pytest.skip(f"files cannot be made immutable: {error.strerror}")
    try:
        (work / "go on").touch()
        _, err = run.communicate(timeout=60)
        assert run.returncode == 0 and file.exists(), err
    finally:
        set_immutable(file, False)
        run.kill()
    adder.run("1", "--no-daemon", "--isolation", "process")
    assert not list(temporary.iterdir()), "the next one sweeps it"


def test_denials(make_adder, temporary):
    """Files that the user may read, and landlock alone hides: access() says that they can be read."""
    adder = make_adder("", {"TMPDIR": str(temporary)})
    hidden = adder.file("hidden.csv", "1,2\n")
    code = f"try: open({str(hidden)!r})\nexcept OSError: pass\nopen('/proc/cpuinfo')"
    result = adder.run(code, "--isolation", "process")
    assert [(denial["kind"], denial["detail"]) for denial in result.denials] == [
        ("file", f"read {hidden}"),
        ("file", "read /proc/cpuinfo"),
    ]
    assert adder.run("open('/usr/bin/env').close()", "--isolation", "process").denials == []
    adder.stop()
