# SPDX-License-Identifier: Apache-2.0
"""Files out of a hostile workspace on their way into --out, which no case has: nothing lands outside of it, names are safe, and nothing
that is there is replaced unless the caller wants it."""
import os
import re

import pytest

pytestmark = pytest.mark.parametrize("adder", ["best", "level 1"], indirect=True)

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


def out(result):
    """What became of the files: names by which they were written, and reasons of the others."""
    saved = result.saved
    return (
        {told["name"]: told["path"] for told in saved["written"]},
        {told["name"]: told["reason"] for told in saved["not_written"]},
    )


# As the code calls it, and what lies in --out.
NAMES = {
    "a\n" "b": "a_b",
    "\x1b[31mred": "_[31mred",
    "a\\b": "a_b",
    " ": "file",
    "a" * 255: "a" * 255,
    "-rf": "_rf",
    "...": "_..",
    "..a": "_.a",
    ".bashrc": "_bashrc",
    ".envrc": "_envrc",
    "\u202egnp.exe": "_gnp.exe",
    "tag\U000e0041": "tag_",
    "\u3164": "_",
    "a\tb": "a_b",
    "con": "con",
    "%s%n": "%s%n",
    "'\"`$(id)": "'\"`$(id)",
    "\x7f": "_",
    "sub/.git": "sub/_git",
    "-sub/x": "_sub/x",
}


@pytest.mark.parametrize("name", NAMES, ids=[repr(name)[:20] for name in NAMES])
def test_odd_names(adder, directory, name):
    """Made fit as `adder file get` does; the object, which is one line of JSON (Result.parse), says under which name."""
    result = adder.run(
        f"import os\nos.makedirs(os.path.dirname({name!r}) or '.', exist_ok=True)\n"
        f"open({name!r}, 'w').write('x')\nopen('plain', 'w').write('p')",
        "--out",
        directory,
        *LONG,
    )
    assert result.outcome == "ok" and contents(directory) == {NAMES[name]: b"x", "plain": b"p"}
    written, left = out(result)
    assert left == {} and sorted(written) == result.names and sorted(written.values()) == sorted([NAMES[name], "plain"])
    assert result.saved["directory"] == str(directory)


def test_names_that_are_alike_when_fit(adder, directory):
    """The one that is fit keeps its name, whatever their order; a file never stands in for a folder."""
    result = adder.run(
        "import os\nfor name in ('-a', '.a', '_a', '.a.txt'): open(name, 'w').write(name)\n"
        "os.mkdir('_d'); open('_d/x', 'w').write('_d/x'); open('.d', 'w').write('.d')",
        "--out",
        directory,
        *LONG,
    )
    found = contents(directory)
    written, left = out(result)
    assert left == {} and found == {path: name.encode() for name, path in written.items()} and len(found) == 6
    assert written["_a"] == "_a" and written["_d/x"] == "_d/x"


@pytest.mark.quick
@pytest.mark.both_users
@pytest.mark.parametrize("how", [[], ["--no-daemon"]], ids=["daemon", "no daemon"])
def test_files_that_are_there_stay(adder, directory, how):
    """Nothing is replaced, and nothing is written at all: a caller has what was there or what the run made, no mixture."""
    for name in ("Makefile", "sub/build.sh"):
        adder.file(f"out/{name}", "mine")
    code = "import os\nos.mkdir('sub')\nfor name in ('Makefile', 'sub/build.sh', 'fresh'): open(name, 'w').write('x')"
    result = adder.run(code, "--out", directory, *how, *LONG)
    assert (result.outcome, result.exit_status) == ("failed", 125)
    assert "Makefile" in result.error["message"] and "--force" in result.error["hint"]
    assert contents(directory) == {"Makefile": b"mine", "sub/build.sh": b"mine"}
    written, left = out(result)
    assert written == {} and set(left) == {"Makefile", "sub/build.sh", "fresh"}
    assert "already" in left["Makefile"] and "already" in left["sub/build.sh"] and "others" in left["fresh"]
    shown = adder.call("run", "--env", adder.environment, "-c", code, "--out", directory, *how)
    assert shown.returncode == 125 and "Makefile, 1 byte, not written: it is there already" in shown.stderr
    forced = adder.run(code, "--out", directory, "--force", *how, *LONG)
    assert forced.outcome == "ok" and contents(directory) == dict.fromkeys(("Makefile", "sub/build.sh", "fresh"), b"x")


def test_what_the_code_did_is_told_when_nothing_is_written(adder, directory):
    (directory / "x").write_text("mine")
    result = adder.run("open('x', 'w').write('x')\nprint('said')\n1/0", "--out", directory, *LONG)
    assert result.exit_status == 125 and result.stdout == "said\n" and "ZeroDivisionError" in result.error["traceback"]


def test_odd_names_do_not_control_a_terminal(adder):
    ended = adder.call("run", "--env", adder.environment, "-c", "open('\\x1b[31m\\x07red', 'w').write('x')")
    assert "\x1b" not in ended.stdout + ended.stderr and "\x07" not in ended.stdout + ended.stderr


@pytest.mark.quick
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "force"])
def test_links_in_the_output_directory(adder, directory, force):
    """What lies in --out already may be hostile too: an earlier run's caller, a shared directory."""
    victim = adder.file("victim", "untouched")
    elsewhere = adder.folder("elsewhere")
    (directory / "inside").mkdir()
    (directory / "file").symlink_to(victim)
    (directory / "sub").symlink_to(elsewhere)
    (directory / "near").symlink_to("inside")
    result = adder.run(
        "import os\nos.mkdir('sub')\nos.mkdir('near')\nfor name in ('file', 'sub/file', 'near/file'): open(name, 'w').write('x')",
        "--out",
        directory,
        *force,
        *LONG,
    )
    assert victim.read_text() == "untouched" and os.listdir(elsewhere) == [] and os.listdir(directory / "inside") == []
    assert result.exit_status == 125 and os.path.islink(directory / "file")
    _, left = out(result)
    assert "link" in left["sub/file"] and "link" in left["near/file"], "no folder that is a link is entered, wherever it leads"
    assert ("others" if force else "already") in left["file"]


@pytest.mark.parametrize("kind", ["link", "hard link"])
def test_links_are_replaced_and_not_written_through(adder, directory, kind):
    victim = adder.file("victim", "untouched")
    (os.symlink if kind == "link" else os.link)(victim, directory / "file")
    adder.run("open('file', 'w').write('x')", "--out", directory, "--force", *LONG)
    assert victim.read_text() == "untouched" and contents(directory) == {"file": b"x"}


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "force"])
@pytest.mark.parametrize("made", ["os.mkdir", "os.mkfifo"])
def test_something_else_in_the_way(adder, directory, force, made):
    getattr(os, made.split(".")[1])(directory / "file")
    result = adder.run("open('file', 'w').write('x')\nopen('plain', 'w').write('p')", "--out", directory, *force, *LONG)
    assert result.exit_status == 125 and "file" in out(result)[1] and os.listdir(directory) == ["file"]


@pytest.mark.both_users
def test_a_folder_that_is_closed(adder, directory):
    """What cannot be written is known before anything is."""
    (directory / "sub").mkdir(mode=0o555)
    result = adder.run("import os\nos.mkdir('sub')\nfor name in ('a', 'sub/b'): open(name, 'w').write('x')", "--out", directory, *LONG)
    if adder.user.uid == 0:
        assert result.outcome == "ok", "root writes everywhere"
    else:
        assert result.exit_status == 125 and contents(directory) == {} and "denied" in out(result)[1]["sub/b"]


def test_force_alone(adder):
    assert "--out" in adder.run("1", "--force").error["message"]


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
