# SPDX-License-Identifier: Apache-2.0
"""What scripts/common.sh does for people: how far a build is, and `adder` as a command. scripts/quickstart itself is a stage of
scripts/test."""
import fcntl
import os
import pty
import struct
import subprocess
import termios

import pytest

from harness import REPOSITORY
from terminal import read_to_end

STEPS = "".join(f"[{step}/8] Compiling {'x' * 90}\n" for step in range(1, 9))


def common(text, **options):
    return subprocess.run(["sh", "-euc", f". scripts/common.sh; {text}"], cwd=REPOSITORY, text=True, **options)


def test_progress_in_a_log():
    ended = common("show_progress", input=f"ninja: Entering\n{STEPS}", capture_output=True)
    assert ended.returncode == 0 and ended.stdout == ""
    assert ended.stderr == "  2 of 8 steps\n  4 of 8 steps\n  6 of 8 steps\n  8 of 8 steps\n"


def test_progress_on_a_terminal():
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    common("show_progress", input=STEPS, stderr=theirs)
    os.close(theirs)
    shown = read_to_end(ours).decode()
    os.close(ours)
    lines = shown.split("\r\x1b[K")
    assert "\n" not in shown and lines[8].startswith("[8/8] Compiling") and lines[9] == ""
    assert {len(line) for line in lines[1:9]} == {39}, "a line that is not broken"


def test_a_build_that_fails_shows_the_end_of_its_log(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "ninja").write_text("#!/bin/sh\necho '[1/2] one'\necho 'main.c: no such thing'\nexit 1\n")
    (tools / "ninja").chmod(0o755)
    ended = common(f"PATH={tools}:$PATH; compile {tmp_path}", capture_output=True)
    assert ended.returncode == 1
    assert "main.c: no such thing" in ended.stderr and f"The build in {tmp_path} failed" in ended.stderr


@pytest.fixture
def link(tmp_path):
    program = tmp_path / "it's/adder"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    places = tmp_path / "bin", tmp_path / "other"

    def run(*on_path):
        variables = {**os.environ, "XDG_BIN_HOME": str(places[0]), "PROGRAM": str(program), "ON_PATH": ":".join(map(str, on_path))}
        # An installed adder would be found in /usr/local/bin.
        return common('PATH=/usr/bin:/bin:$ON_PATH; link_program "$PROGRAM"', env=variables, capture_output=True).returncode == 0

    return run, program, *places


def test_the_program_becomes_a_command(link):
    run, program, bin, _ = link
    assert run(bin) and os.readlink(bin / "adder") == str(program)
    assert run(bin), "again"


def test_a_folder_that_is_not_on_the_path_gets_nothing(link):
    run, _, bin, _ = link
    assert not run() and not bin.exists()


@pytest.mark.parametrize("there", ["a program", "a text", "a link to nothing"])
def test_files_of_others_stay(link, there):
    run, _, bin, _ = link
    bin.mkdir()
    if there == "a link to nothing":
        (bin / "adder").symlink_to("nothing")
    else:
        (bin / "adder").write_text("mine")
        (bin / "adder").chmod(0o755 if there == "a program" else 0o644)
    before = os.lstat(bin / "adder")
    assert not run(bin) and os.lstat(bin / "adder") == before


def test_another_program_is_not_shadowed(link):
    run, _, bin, other = link
    other.mkdir()
    (other / "adder").write_text("#!/bin/sh\n")
    (other / "adder").chmod(0o755)
    assert not run(bin, other) and not bin.exists()
