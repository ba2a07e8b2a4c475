# SPDX-License-Identifier: Apache-2.0
"""adder run --review, and adder approval of it: what code would change in a directory is shown first, and made on a yes."""
import json
import os
import pty
import shutil
import stat

import pytest

from harness import unique, wait_until
from test_workdir import contents

pytestmark = pytest.mark.both_users

CHANGE = """
import os, shutil
open('a.txt', 'a').write('more\\n')
open('made', 'w').write('new')
os.chmod('c.txt', 0o755)
os.remove('b.txt')
shutil.rmtree('old')
os.mkdir('fresh'); open('fresh/in', 'w').write('x'); os.symlink('../a.txt', 'fresh/link')
shutil.rmtree('turned'); open('turned', 'w').write('a file now')
os.remove('plain'); os.mkdir('plain'); open('plain/in', 'w').write('y')
"""


@pytest.fixture
def folder(adder):
    for name in ("a.txt", "b.txt", "c.txt", "old/deep/x", "old/y", "turned/z", "plain", "kept/k"):
        adder.file(f"dir/{name}", f"{name}\n")
    return adder.scratch / "dir"


def after(before):
    """What CHANGE makes of it."""
    now = {
        path: value
        for path, value in before.items()
        if path not in ("b.txt", "plain") and not path.startswith(("old", "turned"))
    }
    now.update(
        {"a.txt": b"a.txt\nmore\n", "made": b"new", "fresh": 0o755, "fresh/in": b"x", "fresh/link": "../a.txt"}
    )
    now.update({"turned": b"a file now", "plain": 0o755, "plain/in": b"y"})
    return now


def review(adder, folder, code=CHANGE, *options):
    """The id of a review that waits."""
    result = adder.run(code, "--workdir", folder, "--review", *options)
    assert result.outcome == "approval_required" and result.approval_id, result
    return result.approval_id


def settle(adder, *words):
    ended = adder.call("approval", *words, "--json")
    return ended, (json.loads(ended.stdout) if ended.returncode == 0 else None)


def waiting(adder):
    ended, answer = settle(adder, "list")
    assert ended.returncode == 0, ended
    return [one["review_id"] for one in answer["reviews"]]


def clean(adder, folder):
    """Nothing of ours stays, in the directory or in the state folder."""

    def left():
        ours = [name for base, names, files in os.walk(folder) for name in names + files if name.startswith(".adder")]
        return ours + (os.listdir(adder.state / "reviews") if (adder.state / "reviews").exists() else [])

    wait_until(lambda: not left(), f"nothing to be left: {left()}")


@pytest.mark.quick
def test_yes(adder, folder):
    before = contents(folder)
    id = review(adder, folder)
    assert contents(folder) == before, "nothing is changed before the yes"
    assert waiting(adder) == [id]
    ended, answer = settle(adder, "approve", id)
    assert ended.returncode == 0 and answer["state"] == "committed"
    clean(adder, folder)
    assert contents(folder) == after(before)
    assert stat.S_IMODE(os.stat(folder / "c.txt").st_mode) == 0o755
    assert os.stat(folder / "made").st_uid == adder.user.uid
    assert waiting(adder) == []


@pytest.mark.quick
def test_no(adder, folder):
    before = contents(folder)
    id = review(adder, folder)
    ended, answer = settle(adder, "deny", id)
    assert answer["state"] == "dropped"
    assert contents(folder) == before
    clean(adder, folder)
    ended, _ = settle(adder, "approve", id)
    assert ended.returncode != 0 and "there is no approval" in ended.stderr


@pytest.mark.parametrize("word, state, made", [("approve", "committed", True), ("deny", "dropped", False)])
def test_decided_as_an_approval(adder, folder, word, state, made):
    """A review is asked for like any approval, under one id; who decides about either has decided about both."""
    before = contents(folder)
    id = review(adder, folder, CHANGE, "--description", "tidy up")
    listed = json.loads(adder.call("approval", "list", "--json").stdout)["approvals"]
    assert [(one["kind"], one["description"]) for one in listed if one["approval_id"] == id] == [("changes", "tidy up")]
    shown = adder.call("approval", "show", id).stdout
    assert "tidy up" in shown and "+more" in shown
    answer = json.loads(adder.call("approval", word, id, "--json").stdout)
    assert answer["state"] == state and waiting(adder) == []
    clean(adder, folder)
    assert contents(folder) == (after(before) if made else before)
    assert adder.call("approval", "show", id).returncode != 0


def test_decided_as_a_review(adder, folder):
    id = review(adder, folder)
    settle(adder, "deny", id)
    listed = json.loads(adder.call("approval", "list", "--json").stdout)["approvals"]
    assert id not in [one["approval_id"] for one in listed]


def test_always_in_a_conversation(adder, folder):
    code = "open('a.txt', 'a').write('more\\n')"
    conversation = ["--workdir", folder, "--review", "--conversation", unique()]
    id = adder.run(code, *conversation).approval_id
    assert adder.call("approval", "approve", id, "--always").returncode == 0
    result = adder.run(code, *conversation)
    assert (result.outcome, result.approval_id, len(result.changes)) == ("ok", None, 1)
    assert (folder / "a.txt").read_text() == "a.txt\nmore\nmore\n"
    other = adder.run(code, "--workdir", folder, "--review", "--conversation", unique())
    assert other.outcome == "approval_required", "another conversation is asked"
    settle(adder, "deny", other.approval_id)
    clean(adder, folder)


def test_all_is_accepted(adder, folder):
    before = contents(folder)
    result = adder.run(CHANGE, "--workdir", folder, "--review", "--dangerously-accept-all")
    assert result.outcome == "ok" and waiting(adder) == []
    clean(adder, folder)
    assert contents(folder) == after(before)


def test_words_for_people(adder, folder):
    """What is said without --json when one change waits, is approved, and is made at once."""
    command = ["run", "-c", "open('a.txt', 'a').write('more\\n')", "--workdir", folder, "--review"]
    assert "1 change waits for approval" in adder.call(*command).stderr
    (one,) = waiting(adder)
    rows = [row.split() for row in adder.call("approval", "list").stdout.splitlines()]  # of code, then of changes
    assert ["REVIEW", "STATE", "FILES"] in [row[:3] for row in rows] and [one, "waiting", "1"] in [row[:3] for row in rows]
    assert adder.call("approval", "approve", one).stdout == "approved: the changes were made\n"
    ended = adder.call(*command, "--dangerously-accept-all")
    assert ended.returncode == 0 and ended.stderr.endswith("adder: the changes were made\n")


def test_shown(adder, folder):
    id = review(adder, folder)
    shown = adder.call("approval", "show", id).stdout
    for line in ("~ a.txt  changed, 6 bytes to 11 bytes", "    +more", "- b.txt  deleted", "! turned  replaced, directory by file"):
        assert line in shown
    _, answer = settle(adder, "show", id)
    assert answer["directory"] == str(folder.resolve()) and answer["files"] == len(answer["changes"])
    settle(adder, "deny", id)


def test_nothing_changed(adder, folder):
    result = adder.run("print(open('a.txt').read())", "--workdir", folder, "--review")
    assert result.outcome == "ok" and result.approval_id is None and waiting(adder) == []


def test_a_run_that_fails_is_dropped(adder, folder):
    result = adder.run("open('a.txt', 'w').write('half')\nraise ValueError", "--workdir", folder, "--review")
    assert result.outcome == "error" and any("dropped" in line for line in result.warnings)
    assert [change["path"] for change in result.changes] == ["a.txt"] and waiting(adder) == []


@pytest.mark.parametrize(
    "meddle, named",
    [
        (lambda folder: (folder / "a.txt").write_text("meanwhile"), "a.txt"),
        (lambda folder: (folder / "made").write_text("meanwhile"), "made"),
        (lambda folder: (folder / "old/new").write_text("meanwhile"), "old"),
        (lambda folder: (folder / "old/deep/x").write_text("meanwhile"), "old/deep/x"),
        (lambda folder: (folder / "b.txt").unlink(), "b.txt"),
        (lambda folder: (folder / "c.txt").chmod(0o600), "c.txt"),
        (lambda folder: shutil.move(folder / "turned", folder / "elsewhere"), "turned"),
    ],
)
def test_conflicts_are_named(adder, folder, meddle, named):
    id = review(adder, folder)
    meddle(folder)
    before = contents(folder)
    ended, _ = settle(adder, "approve", id)
    assert ended.returncode != 0 and "nothing was changed" in ended.stderr
    assert "somebody else meanwhile" in ended.stderr and named in ended.stderr
    assert contents(folder) == before
    settle(adder, "deny", id)
    clean(adder, folder)


def test_of_many_conflicts_some_are_named(adder, folder):
    id = review(adder, folder, "import os\nfor i in range(7): open(f'new{i}', 'w').write('x')")
    for i in range(7):
        (folder / f"new{i}").write_text("meanwhile")
    ended, _ = settle(adder, "approve", id)
    assert "somebody else meanwhile: new0, new1, new2, new3, new4 and 2 more" in ended.stderr, ended
    assert all((folder / f"new{i}").read_text() == "meanwhile" for i in range(7))
    settle(adder, "deny", id)
    clean(adder, folder)


def test_a_conflict_during_the_run(adder, folder):
    code = "print('begun', flush=True)\nwhile open('a.txt').read() != 'meanwhile\\n': pass\nopen('a.txt', 'a').write('x')"
    with adder.start(code, "--workdir", folder, "--review") as process:
        assert process.stdout.readline() == b"begun\n"
        (folder / "a.txt").write_text("meanwhile\n")
        _, err = process.communicate()
    assert process.returncode == 126 and b"a.txt was changed by somebody else while the code ran" in err
    assert waiting(adder) == []


def test_written_anew_with_the_same_is_no_conflict(adder, folder):
    before = contents(folder)
    id = review(adder, folder)
    (folder / "a.txt").write_text("a.txt\n")
    ended, _ = settle(adder, "approve", id)
    assert ended.returncode == 0
    clean(adder, folder)
    assert contents(folder) == after(before)


def test_another_directory(adder, folder):
    id = review(adder, folder)
    os.rename(folder, adder.scratch / "away")
    adder.folder("dir")
    ended, _ = settle(adder, "approve", id)
    assert ended.returncode != 0 and "another directory" in ended.stderr
    assert os.listdir(folder) == []
    settle(adder, "deny", id)


def test_a_link_put_in_the_way(adder, folder):
    """A directory of the review becomes a link that leads out."""
    id = review(adder, folder, "open('kept/k', 'w').write('evil')\nopen('kept/n', 'w').write('evil')")
    victim = adder.folder("victim")
    shutil.rmtree(folder / "kept")
    os.symlink(victim, folder / "kept")
    ended, _ = settle(adder, "approve", id)
    assert ended.returncode != 0 and os.listdir(victim) == []
    settle(adder, "deny", id)


def test_no_rights_there(adder, folder):
    if adder.user.uid == 0:
        pytest.skip("root has all rights")
    id = review(adder, folder, "open('made', 'w').write('x')\nopen('kept/n', 'w').write('x')")
    (folder / "kept").chmod(0o500)
    before = contents(folder)
    ended, _ = settle(adder, "approve", id)
    assert ended.returncode != 0 and "nothing was changed: cannot write kept/n" in ended.stderr
    assert contents(folder) == before
    (folder / "kept").chmod(0o700)
    ended, _ = settle(adder, "approve", id)
    assert ended.returncode == 0, "it waited on"
    clean(adder, folder)


def test_waits_for_another_daemon(own_adder):
    own_adder.file("dir/a.txt", "a\n")
    folder = own_adder.scratch / "dir"
    id = review(own_adder, folder, "open('a.txt', 'a').write('b\\n')")
    own_adder.stop()
    assert waiting(own_adder) == [id]
    ended, answer = settle(own_adder, "approve", id)
    assert answer["state"] == "committed" and (folder / "a.txt").read_text() == "a\nb\n"


def test_expires(make_adder):
    adder = make_adder("[review]\nexpire_ms = 1s\n")
    review(adder, adder.folder("dir"), "open('one', 'w')")
    wait_until(lambda: not waiting(adder), "it to expire")
    assert os.listdir(adder.state / "reviews") == []


def test_how_many_wait(make_adder):
    adder = make_adder("[review]\nmax_waiting = 1\n")
    folder = adder.folder("dir")
    review(adder, folder, "open('one', 'w')")
    result = adder.run("open('two', 'w')", "--workdir", folder, "--review")
    assert result.outcome == "busy" and "max_waiting" in result.error["message"]


def test_without_a_daemon(adder, folder):
    before = contents(folder)
    denied = adder.call("approval", "deny", review(adder, folder, CHANGE, "--no-daemon"), "--reason", "too much")
    assert denied.returncode == 0 and "the reason was not recorded" in denied.stderr
    id = review(adder, folder, CHANGE, "--no-daemon")
    assert settle(adder, "approve", id)[1]["state"] == "committed"
    clean(adder, folder)
    assert contents(folder) == after(before)


@pytest.mark.parametrize("daemon", [[], ["--no-daemon"]], ids=["daemon", "no-daemon"])
@pytest.mark.parametrize("answer, made", [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_asked_at_a_terminal(adder, folder, answer, made, daemon):
    before = contents(folder)
    master, slave = pty.openpty()
    options = ["--env", adder.environment, "--workdir", str(folder), "--review", *daemon, "-c", CHANGE]
    with adder.popen("run", *options, stdin=slave, stderr=slave) as process:
        os.close(slave)
        seen = b""
        while b"[y/N]" not in seen:
            seen += os.read(master, 4096)
        assert b"a.txt" in seen and b"+more" in seen, "shown before it is asked"
        assert contents(folder) == before
        os.write(master, answer)
        try:
            while os.read(master, 4096):
                pass
        except OSError:
            pass
        process.wait()
    os.close(master)
    assert process.returncode == (0 if made else 126)
    clean(adder, folder)
    assert contents(folder) == (after(before) if made else before)


def test_a_thousand_files(adder):
    folder = adder.folder("many")
    for index in range(1000):
        adder.file(f"many/{index}.txt", "one\ntwo\n")
    code = "for i in range(1000):\n    open(f'{i}.txt', 'a').write('three\\n')"
    id = review(adder, folder, code)
    ended, answer = settle(adder, "approve", id)
    assert answer["files"] == 1000
    assert {(folder / f"{index}.txt").read_text() for index in range(1000)} == {"one\ntwo\nthree\n"}
    clean(adder, folder)


def test_hostile_layer(adder, folder):
    """What a layer may hold that is no file, and modes that must not come out of it."""
    code = (
        "import os, socket\n"
        "os.mkfifo('pipe'); socket.socket(socket.AF_UNIX).bind('socket')\n"
        "open('suid', 'w').write('x'); os.chmod('suid', 0o6755)\n"
        "os.mkdir('shared'); os.chmod('shared', 0o3777)\n"
        "open('line\\n', 'w').write('x'); open(b'\\xff', 'w').write('x')\n"
        "open('sparse', 'w').truncate(200_000_000)\n"
        "os.mkdir('closed'); open('closed/in', 'w').write('x'); os.chmod('closed/in', 0o400); os.chmod('closed', 0)\n"
    )
    id = review(adder, folder, code)
    content = adder.state / "reviews" / id / "content"
    assert os.stat(content).st_blocks * 512 < 1 << 20, "holes stay holes"
    assert settle(adder, "approve", id)[1]["state"] == "committed"
    clean(adder, folder)
    assert stat.S_IMODE(os.stat(folder / "suid").st_mode) == 0o755
    assert stat.S_IMODE(os.stat(folder / "shared").st_mode) == 0o777
    assert stat.S_IMODE(os.stat(folder / "closed").st_mode) == 0
    assert os.stat(folder / "sparse").st_blocks == 0
    names = set(os.listdir(os.fsencode(folder)))
    assert {b"line\n", b"\xff"} <= names and not {b"pipe", b"socket"} & names
    os.chmod(folder / "closed", 0o700)


def test_unknown_ids(adder):
    for id, said in (("0", "must be an id"), ("../x", "must be an id"), ("." * 36, "must be an id"),
                     ("01a2029e-b7c3-733d-aa66-f687e2034c5b", "there is no such review")):
        for word in ("show", "approve", "undo", "finish", "deny"):
            ended = adder.call("approval", word, id)
            here = "there is no approval" if "no such" in said and word not in ("undo", "finish") else said
            assert ended.returncode != 0 and here in ended.stderr
