# SPDX-License-Identifier: Apache-2.0
"""Large files of the caller: bind-mounted into a run, not copied."""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

from harness import strict_json

pytestmark = pytest.mark.both_users

LARGE = 17 << 20  # beyond INPUT_BIND_BYTES
BYTES = hashlib.sha256(b"x").digest() * (LARGE // 32)
DIGEST = hashlib.sha256(BYTES).hexdigest()
SMALL_SPACE = ("--limit", "workspace_bytes=1M")  # what is in there nevertheless was not copied
LOOK = "import hashlib, os\nprint(hashlib.sha256(open({path!r}, 'rb').read()).hexdigest())\n"


@pytest.fixture
def large(adder):
    path = adder.file("large.csv", BYTES)
    path.chmod(0o600)
    return path


def facts(path):
    stat = os.stat(path)
    return (stat.st_size, stat.st_mode, stat.st_uid, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_nlink)


def is_bind_mounted(adder, path):
    """Whether a run can read PATH, and without a copy."""
    result = adder.run(LOOK.format(path="in.bin"), "--file", f"{path}:in.bin", *SMALL_SPACE)
    if result.outcome == "failed":
        assert "does not fit" in result.error["message"] and "had to be copied" in result.error["message"]
        return False
    assert result.stdout == DIGEST + "\n" and result.files == []
    return True


def is_copied(adder, path):
    """Whether a run can read PATH where there is room for a copy."""
    result = adder.run(LOOK.format(path="in.bin"), "--file", f"{path}:in.bin")
    return not is_bind_mounted(adder, path) and result.stdout == DIGEST + "\n"


@pytest.mark.quick
@pytest.mark.parametrize("name", ["large.csv", "sub/dir/other.csv"])
def test_it_takes_no_room(adder, large, name):
    before = facts(large)
    result = adder.run(LOOK.format(path=f"/work/{name}"), "--file", f"{large}:{name}", *SMALL_SPACE)
    assert result.stdout == DIGEST + "\n"
    assert result.files == [] and result.warnings == [], "what only went in does not come back"
    assert facts(large) == before


def test_it_looks_like_a_file(adder, large):
    code = (
        "import os\n"
        "entry, = os.scandir('.')\n"
        "print(entry.name, entry.is_file(follow_symlinks=False), os.path.getsize(entry), oct(entry.stat().st_mode))"
    )
    result = adder.run(code, "--file", large)
    assert result.stdout == f"large.csv True {LARGE} 0o100600\n"


CHANGES = {
    "open('large.csv', 'r+b')": "OSError",
    "open('large.csv', 'w')": "OSError",
    "os.truncate('large.csv', 0)": "OSError",
    "os.chmod('large.csv', 0o777)": "OSError",
    "os.utime('large.csv')": "OSError",
    "os.remove('large.csv')": "OSError",
    "os.rename('large.csv', 'other.csv')": "OSError",
    "os.replace('own.csv', 'large.csv')": "OSError",
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_cannot_be_changed(adder, large, change):
    before = facts(large)
    result = adder.run(f"import os\nopen('own.csv', 'w').write('x')\n{change}", "--file", large)
    assert result.outcome == "error" and result.error["type"] == CHANGES[change]
    assert result.names == ["own.csv"]
    assert facts(large) == before and large.read_bytes() == BYTES


@pytest.mark.parametrize("change", ["open('large.csv', 'w')", "os.remove('large.csv')"])
def test_the_hint_says_what_to_do(adder, large, change):
    result = adder.run(f"import os\n{change}", "--file", large)
    assert "'/work/large.csv' is the caller's own file" in result.error["hint"]
    assert "another name" in result.error["hint"]


def test_a_changed_copy_comes_back(adder, large):
    code = "import shutil\nshutil.copyfile('large.csv', 'mine.csv')\nopen('mine.csv', 'a').write('x')"
    result = adder.run(code, "--file", large)
    (file,) = result.files
    assert file["name"] == "mine.csv" and file["bytes"] == LARGE + 1


def test_a_directory_above_it_is_renamed(adder, large):
    code = "import os\nos.rename('sub', 'other')\n" + LOOK.format(path="other/large.csv")
    result = adder.run(code, "--file", f"{large}:sub/large.csv")
    assert result.stdout == DIGEST + "\n" and result.files == []


# ---- whose it is, and where it lies ----


def test_of_another_owner(adder, large):
    """Root may open it, and so may their run; an ordinary user what everybody may read."""
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(large, 12345, 12345)
    large.chmod(0o600 if adder.user.uid == 0 else 0o644)
    assert is_bind_mounted(adder, large)


def test_one_that_nobody_may_read_is_copied(adder, large):
    """The right to read it is that of root, which no sandbox has."""
    if adder.user.uid != 0:
        pytest.skip("only root reads what nobody may")
    large.chmod(0)
    assert is_copied(adder, large)


def test_below_a_directory_that_is_closed_to_others(adder, large):
    """A path is looked up by who passes the file, not by the sandbox."""
    folder = adder.folder("closed")
    os.rename(large, folder / "large.csv")
    folder.chmod(0o700)
    assert is_bind_mounted(adder, folder / "large.csv")


def test_on_another_file_system(adder, large):
    place = pathlib.Path("/dev/shm") / f"adder-test-{os.getpid()}-{adder.user}"
    place.mkdir()
    try:
        adder.own(place)
        adder.own(shutil.copy(large, place / "large.csv"))
        assert is_bind_mounted(adder, place / "large.csv")
    finally:
        shutil.rmtree(place)


@contextlib.contextmanager
def mounted(target, *arguments):
    ended = subprocess.run(["mount", *arguments, target], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        pytest.skip(f"this host has no such mount: {ended.stderr}")
    try:
        yield
    finally:
        # The last run's sandbox may be on its way out still.
        subprocess.run(["umount", "-l", target], check=True)


@pytest.fixture
def mounts():
    if os.geteuid() != 0:
        pytest.skip("only root mounts")


def test_on_an_overlay(own_adder, mounts):
    """As in a container. Root's own files there would need a map of ids, which overlays do not have."""
    lower, upper, work, target = (own_adder.folder(name) for name in ("lower", "upper", "work", "target"))
    own_adder.own(own_adder.file("lower/large.csv", BYTES)).chmod(0o644)
    with contextlib.ExitStack() as stack:
        stack.enter_context(mounted(upper.parent / "upper", "-t", "tmpfs", "none"))
        (upper / "upper").mkdir()
        (upper / "work").mkdir()
        options = f"lowerdir={lower},upperdir={upper}/upper,workdir={upper}/work"
        stack.enter_context(mounted(target, "-t", "overlay", "none", "-o", options))
        assert is_bind_mounted(own_adder, target / "large.csv")
        (target / "large.csv").chmod(0o600)
        if own_adder.user.uid == 0:
            assert is_copied(own_adder, target / "large.csv")
        else:
            assert is_bind_mounted(own_adder, target / "large.csv")
    assert work.exists()


def test_a_file_that_is_itself_a_mount_is_copied(own_adder, mounts):
    """In its directory lies another, which the run must not get."""
    path, target = own_adder.file("large.csv", BYTES), own_adder.file("target.csv", b"y" * LARGE)
    with mounted(target, "--bind", path):
        assert is_copied(own_adder, target)


def test_hard_links(adder, large):
    os.link(large, large.parent / "second.csv")
    assert is_bind_mounted(adder, large) and is_bind_mounted(adder, large.parent / "second.csv")


def test_without_a_name_it_is_copied(adder, large):
    with open(large, "rb") as file:
        large.unlink()
        result = adder.run(
            LOOK.format(path="in.bin"), "--file", f"/proc/self/fd/{file.fileno()}:in.bin", pass_fds=[file.fileno()]
        )
    assert result.stdout == DIGEST + "\n"


# ---- what happens to it meanwhile ----


def until_started(process):
    assert process.stdout.readline() == b"started\n"


def test_it_is_deleted_meanwhile(adder, large):
    code = (
        "import os, time\nprint('started', flush=True)\n"
        "while os.stat('large.csv').st_nlink:\n    time.sleep(0.01)\n" + LOOK.format(path="large.csv")
    )
    with adder.start(code, "--file", large) as process:
        until_started(process)
        large.unlink()
        assert process.communicate()[0] == (DIGEST + "\n").encode()
    assert process.returncode == 0


def test_it_is_changed_meanwhile(adder, large):
    """The run sees the caller's file, and not how it was when the run began."""
    code = (
        "import time\nprint('started', flush=True)\n"
        "while open('large.csv', 'rb').read(3) != b'new':\n    time.sleep(0.01)\nprint('seen')"
    )
    with adder.start(code, "--file", large) as process:
        until_started(process)
        with open(large, "r+b") as file:
            file.write(b"new")
        assert process.communicate()[0] == b"seen\n"


def test_it_is_truncated_meanwhile(adder, large):
    """What is gone cannot be read from a mapping either."""
    code = (
        "import mmap\nfile = open('large.csv', 'rb')\nview = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
        "print('started', flush=True)\nwhile True:\n    view[-1]"
    )
    with adder.start(code, "--file", large) as process:
        until_started(process)
        os.truncate(large, 0)
        process.communicate()
    assert process.returncode == 128 + signal.SIGBUS


def test_another_takes_its_name_meanwhile(adder, large):
    code = (
        "import os, time\nprint('started', flush=True)\n"
        "while os.stat('large.csv').st_nlink:\n    time.sleep(0.01)\n" + LOOK.format(path="large.csv")
    )
    other = adder.file("other.csv", "not this one")
    with adder.start(code, "--file", large) as process:
        until_started(process)
        os.replace(other, large)
        assert process.communicate()[0] == (DIGEST + "\n").encode()


def test_locks_are_the_runs_own(adder, large):
    """Neither do they hold up others, nor do those of others hold up the run."""
    code = (
        "import fcntl\nfile = open('large.csv', 'rb')\n"
        "fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\nfcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)\nprint('locked')"
    )
    with open(large, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        result = adder.run(code, "--file", large)
    assert result.stdout == "locked\n"


# ---- beside others ----


def test_more_than_are_bind_mounted(adder, large):
    """Eight are; the others are copied, and count."""
    names = [f"{n}.csv" for n in range(10)]
    options = [word for name in names for word in ("--file", f"{large}:{name}")]
    code = (
        "import hashlib\n"
        f"print(sum(hashlib.sha256(open(f'{{n}}.csv', 'rb').read()).hexdigest() == {DIGEST!r} for n in range(10)))\n"
        "import os\nprint(sum(os.path.ismount(f'{n}.csv') for n in range(10)))"
    )
    result = adder.run(code, *options, "--limit", "workspace_bytes=40M")
    assert result.stdout == "10\n8\n" and result.files == []
    full = adder.run(code, *options, "--limit", "workspace_bytes=20M")
    assert full.outcome == "failed" and "the maximum number of bind-mounted files" in full.error["message"]


def test_two_of_one_name(adder, large):
    """As with any files: the last counts."""
    small = adder.file("small.csv", "small")
    code = "import os\nprint(os.path.getsize('in.csv'))"
    for first, last, size in ((large, small, 5), (small, large, LARGE)):
        result = adder.run(code, "--file", f"{first}:in.csv", "--file", f"{last}:in.csv")
        assert result.stdout == f"{size}\n"


def test_beside_a_stored_one(adder, large):
    (stored,) = adder.run(f"open('stored.bin', 'wb').write(bytes({LARGE}))").files
    code = (
        LOOK.format(path="large.csv")
        + LOOK.format(path="stored.bin")
        + "open('stored.bin', 'r+b').write(b'x')\nopen('new.txt', 'w').write('n')"
    )
    result = adder.run(code, "--file", large, "--file", f"@{stored['file_id']}")
    assert result.stdout.split() == [DIGEST, stored["sha256"]]
    assert sorted(result.names) == ["new.txt", "stored.bin"]


def test_a_run_that_reads_more_than_its_memory(adder):
    """What the kernel keeps of a file it gives back."""
    path = adder.file("huge.bin", "head")
    os.truncate(path, 600 << 20)
    code = (
        "import mmap\ntotal = 0\n"
        "with open('huge.bin', 'rb') as file:\n"
        "    while block := file.read(1 << 20):\n        total += len(block)\n"
        "    view = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
        "    touched = sum(view[at] for at in range(0, len(view), 4096))\n"
        "print(total, touched)"
    )
    result = adder.run(code, "--file", path, "--limit", "memory_bytes=128M", *SMALL_SPACE)
    assert result.stdout == f"{600 << 20} {ord('h')}\n"


# ---- where it cannot be had ----


def test_without_namespaces_it_is_copied(adder, large):
    code = LOOK.format(path="large.csv") + "open('large.csv', 'a').write('x')"
    result = adder.run(code, "--file", large, "--isolation", "process")
    assert result.stdout == DIGEST + "\n"
    assert result.names == ["large.csv"] and large.read_bytes() == BYTES


def test_in_a_session_it_is_copied(sessions, large):
    session = sessions.new("--limit", "workspace_bytes=40M")
    assert sessions.cell(session, LOOK.format(path="large.csv"), "--file", large).stdout == DIGEST + "\n"
    small = sessions.new(*SMALL_SPACE)
    full = sessions.cell(small, "1", "--file", large)
    assert full.outcome == "failed"
    assert "workspace_bytes" in full.error["message"] and "a session has copies" in full.error["message"]


# ---- approvals ----


def test_an_approval_is_for_the_file_as_it_is(own_adder):
    """By its identity: a file of this size is not read before somebody has said yes."""
    folder = own_adder.config / "profiles"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    (folder / "asks.conf").write_text("[profile]\ntitle = for tests\napproval = always\n")
    (folder / "asks.conf").chmod(0o644)
    path = own_adder.file("large.csv", BYTES)

    def run():
        return own_adder.run(LOOK.format(path="large.csv"), "--profile", "asks", "--file", path, *SMALL_SPACE)

    waiting = run()
    assert waiting.outcome == "approval_required"
    shown = strict_json(own_adder.call("approval", "show", waiting.approval_id, "--json").stdout)
    assert shown["files"] == [{"name": "large.csv", "bytes": LARGE, "sha256": None, "bound": "identity"}]
    assert own_adder.call("approval", "approve", waiting.approval_id).returncode == 0
    path.write_bytes(b"y" * LARGE)
    assert run().outcome == "approval_required", "it holds something else"
    path.write_bytes(BYTES)
    again = run()
    assert again.outcome == "approval_required", "it was changed since"
    assert own_adder.call("approval", "approve", again.approval_id).returncode == 0
    assert run().stdout == DIGEST + "\n"
