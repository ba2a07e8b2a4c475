# SPDX-License-Identifier: Apache-2.0
"""Files out of a hostile workspace: nothing of the host comes back in their place, nothing lands outside --out."""
import os
import re
import textwrap

import pytest

LONG = ["--timeout", "60"]


def dedent(code):
    return textwrap.dedent(code).lstrip("\n")


@pytest.fixture
def directory(adder):
    return adder.folder("out")


def contents(directory):
    found = {}
    for base, names, files in os.walk(directory):
        for name in names + files:
            assert not os.path.islink(os.path.join(base, name))
        for name in files:
            with open(os.path.join(base, name), "rb") as file:
                found[os.path.relpath(os.path.join(base, name), directory)] = file.read()
    return found


@pytest.mark.quick
@pytest.mark.parametrize(
    "target",
    [
        "/etc/passwd",
        "/etc/shadow",
        "../../../../etc/passwd",
        "/proc/self/environ",
        "/proc/1/environ",
        "/",
        "/dev/zero",
        "/proc/self/fd/0",
    ],
)
def test_links_are_not_followed(adder, directory, target):
    result = adder.run(
        dedent(
            f"""
        import os
        os.symlink({target!r}, "link")
        os.makedirs("sub")
        os.symlink({target!r}, "sub/link")
        os.symlink("sub", "directory link")
        open("sub/plain", "w").write("p")
        """
        ),
        "--out",
        directory,
        *LONG,
    )
    assert result.outcome == "ok" and contents(directory) == {"sub/plain": b"p"}
    assert result.warnings


def test_directories_exchanged_for_links(adder, directory):
    """A child swaps names for as long as it lives; what comes back is a file of the sandbox or nothing."""
    result = adder.run(
        dedent(
            """
        import ctypes, os
        libc = ctypes.CDLL(None)
        os.makedirs("a"); os.makedirs("dir"); open("dir/file", "w").write("mine")
        os.symlink("/etc", "link"); open("plain", "w").write("mine"); os.symlink("/etc/passwd", "swap")
        for i in range(3):
            if os.fork() == 0:
                os.setsid()
                if os.fork(): os._exit(0)
                while True:
                    libc.renameat2(-100, b"dir", -100, b"link", 2)
                    libc.renameat2(-100, b"plain", -100, b"swap", 2)
        print("done")
        """
        ),
        "--out",
        directory,
        *LONG,
    )
    assert result.outcome == "ok"
    assert set(contents(directory).values()) <= {b"mine"}


def test_file_that_grows_while_it_is_read(adder, directory):
    result = adder.run(
        dedent(
            """
        import os
        if os.fork() == 0:
            while True: open("grows", "ab", buffering=0).write(b"x" * 100_000)
        while not os.path.exists("grows"): pass
        """
        ),
        "--out",
        directory,
        "--limit",
        "files_bytes=2M",
        *LONG,
    )
    assert result.outcome == "ok"
    assert sum(len(data) for data in contents(directory).values()) <= 2 << 20


def test_special_files(adder, directory):
    result = adder.run(
        dedent(
            """
        import os, socket
        os.mkfifo("fifo"); os.mkfifo("sub fifo")
        try: socket.socket(socket.AF_UNIX).bind("socket")
        except OSError: pass
        open("plain", "w").write("p")
        """
        ),
        "--out",
        directory,
        *LONG,
    )
    assert result.outcome == "ok" and contents(directory) == {"plain": b"p"}


def test_closed_directories_and_files(adder, directory):
    """chmod 0: they come back all the same, or a warning says that they do not; and nothing is left to trip over."""
    result = adder.run(
        dedent(
            """
        import os
        os.makedirs("closed/deeper"); open("closed/file", "w").write("c"); open("closed/deeper/file", "w").write("d")
        open("unreadable", "w").write("u"); open("plain", "w").write("p")
        os.chmod("unreadable", 0); os.chmod("closed/deeper", 0); os.chmod("closed", 0)
        """
        ),
        "--out",
        directory,
        *LONG,
    )
    assert result.outcome == "ok" and contents(directory)["plain"] == b"p"
    for name in ("closed", "unreadable"):
        assert any(name in file for file in contents(directory)) or any(
            name in warning for warning in result.warnings
        )


def test_closed_workspace(adder, directory):
    result = adder.run(
        "import os\n" "open('plain', 'w').write('p')\n" "os.chmod('/work', 0)\n" "os.chmod('/tmp', 0)",
        "--out",
        directory,
        *LONG,
    )
    assert result.outcome in ("ok", "error")
    assert contents(directory) == {"plain": b"p"} or result.warnings


NAMES = [
    "a\n" "b",
    "\x1b[31mred",
    "a\\b",
    " ",
    "a" * 255,
    "-rf",
    "...",
    "..a",
    "\u202egnp.exe",
    "a\tb",
    "con",
    "%s%n",
    "'\"`$(id)",
    "\x7f",
]


@pytest.mark.parametrize("name", NAMES, ids=[repr(name)[:20] for name in NAMES])
def test_odd_names(adder, directory, name):
    """Kept as they are, cleaned, or left out with a warning; the object stays one line of JSON (Result.parse)."""
    result = adder.run(
        f"open({name!r}, 'w').write('x')\n" "open('plain', 'w').write('p')", "--out", directory, *LONG
    )
    assert result.outcome == "ok"
    found = contents(directory)
    assert found.pop("plain") == b"p"
    assert (
        found == {name: b"x"}
        or found == {re.sub("[\x00-\x1f\x7f]", "_", name): b"x"}
        or (found == {} and result.warnings)
    )


def test_names_that_become_equal_when_cleaned(adder, directory):
    code = "for i in range(1, 31):\n    open(chr(i), 'w').write(str(i))"
    result = adder.run(code, "--out", directory, *LONG)
    assert result.outcome == "ok" and len(contents(directory)) == 30
    assert max(len(name) for name in contents(directory)) < 10


def test_names_that_are_not_utf_8(adder, directory):
    result = adder.run(
        "open(b'\\xff\\xfe', 'w').write('x')\n" "open('plain', 'w').write('p')", "--out", directory, *LONG
    )
    assert result.outcome == "ok" and "plain" in os.listdir(directory)
    assert len(os.listdir(directory)) == 2 or result.warnings


def test_odd_names_do_not_control_a_terminal(adder):
    ended = adder.call("run", "--env", adder.environment, "-c", "open('\\x1b[31m\\x07red', 'w').write('x')")
    assert "\x1b" not in ended.stdout + ended.stderr and "\x07" not in ended.stdout + ended.stderr


def test_links_in_the_output_directory(adder, directory):
    """What lies in --out already may be hostile too: an earlier run's caller, a shared directory."""
    victim = adder.file("victim", "untouched")
    elsewhere = adder.folder("elsewhere")
    (directory / "file").symlink_to(victim)
    (directory / "sub").symlink_to(elsewhere)
    result = adder.run(
        "import os\n" "os.mkdir('sub')\n" "open('file', 'w').write('x')\n" "open('sub/file', 'w').write('x')",
        "--out",
        directory,
        *LONG,
    )
    assert victim.read_text() == "untouched"
    assert result.exit_status in (0, 125)


def test_hard_link_in_the_output_directory(adder, directory):
    """Files are replaced whole, not written through."""
    victim = adder.file("victim", "untouched")
    os.link(victim, directory / "file")
    adder.run("open('file', 'w').write('x')", "--out", directory, *LONG)
    assert victim.read_text() == "untouched" and (directory / "file").read_text() == "x"


def test_directory_in_the_way(adder, directory):
    (directory / "file").mkdir()
    result = adder.run(
        "open('file', 'w').write('x')\n" "open('plain', 'w').write('p')", "--out", directory, *LONG
    )
    assert "file" in str(result.fields) and result.exit_status in (0, 125)


def test_modes_are_not_carried_over(adder, directory):
    """No set-user-id program comes out of a sandbox."""
    adder.run(
        "import os\n" "open('tool', 'w').write('#!/bin/sh\\nid\\n')\n" "os.chmod('tool', 0o6777)",
        "--out",
        directory,
        *LONG,
    )
    mode = os.stat(directory / "tool").st_mode
    assert mode & 0o7000 == 0 and mode & 0o002 == 0


def test_times_are_now(adder, directory):
    """A date from the far future or past does not break anything."""
    result = adder.run(
        "import os\n" "open('x', 'w').write('x')\n" "os.utime('x', (-(1 << 40), 1 << 40))",
        "--out",
        directory,
        *LONG,
    )
    assert result.outcome == "ok" and contents(directory) == {"x": b"x"}


def test_input_file_exchanged(adder, directory):
    """An input in whose place a link is put."""
    data = adder.file("data.csv", "input")
    result = adder.run(
        "import os\n" "os.unlink('data.csv')\n" "os.symlink('/etc/passwd', 'data.csv')",
        "--file",
        data,
        "--out",
        directory,
        *LONG,
    )
    assert result.outcome == "ok" and contents(directory) == {}


def test_no_files_in_the_hosts_temporary_directory(adder):
    import harness

    before = set(os.listdir("/tmp"))
    adder.run(
        "import tempfile\n" "for i in range(10): tempfile.mkdtemp(); open(f'/tmp/leak{i}', 'w').close()",
        *LONG,
    )
    new = {name for name in set(os.listdir("/tmp")) - before if name.startswith(("leak", "tmp"))}
    assert not [name for name in new if name.startswith("leak")], harness.gathered
