# SPDX-License-Identifier: Apache-2.0
"""Files out of a hostile workspace on their way into --out, which no case has: nothing lands outside of it, names are safe."""
import os
import re

import pytest

LONG = ["--timeout", "60"]


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


def test_odd_names_do_not_control_a_terminal(adder):
    ended = adder.call("run", "--env", adder.environment, "-c", "open('\\x1b[31m\\x07red', 'w').write('x')")
    assert "\x1b" not in ended.stdout + ended.stderr and "\x07" not in ended.stdout + ended.stderr


@pytest.mark.quick
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
