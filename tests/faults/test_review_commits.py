# SPDX-License-Identifier: Apache-2.0
"""A commit of a review whose process is killed at any of the calls by which it changes a directory, or one of whose calls
fails, can be finished or undone by name, and leaves nothing of its own."""
import itertools
import json
import os
import signal
import stat

import pytest

from harness import DEADLINE, wait_until
from serving import CONFIG, SPARED, Served, daemon_with_faults

pytestmark = pytest.mark.both_users

# All calls by which a commit writes to the directory or to its journal.
CALLS = ("mkdirat", "symlinkat", "linkat", "renameat", "renameat2", "fchmod", "fsync", "unlinkat")

# Those by which it looks at either as well.
FAILING = (
    *CALLS, "newfstatat", "openat", "openat2", "getdents64", "pread64", "pwrite64", "copy_file_range", "sendfile", "read",
    "write", "lseek", "ftruncate", "flock", "fcntl",
)  # fmt: skip

STEP = 8

CHANGE = """
import os, shutil
open('a', 'a').write('more')
open('made', 'w').write('new')
os.remove('b')
shutil.rmtree('old')
os.mkdir('fresh'); open('fresh/in', 'w').write('x'); os.symlink('in', 'fresh/link')
shutil.rmtree('turned'); open('turned', 'w').write('file')
os.remove('plain'); os.mkdir('plain'); open('plain/in', 'w').write('y')
os.chmod('mode', 0o700)
"""


def fill(adder, name):
    for file in ("a", "b", "old/deep/x", "turned/z", "plain", "mode/kept"):
        adder.file(f"{name}/{file}", file)
    os.chmod(adder.scratch / name / "mode", 0o755)
    return adder.scratch / name


def contents(directory):
    found = {}
    for base, names, files in os.walk(directory):
        for name in names + files:
            path = os.path.join(base, name)
            info = os.lstat(path)
            kind = stat.S_IFMT(info.st_mode)
            value = stat.S_IMODE(info.st_mode)
            if kind == stat.S_IFLNK:
                value = os.readlink(path)
            elif kind == stat.S_IFREG:
                with open(path, "rb") as file:
                    value = file.read()
            found[os.path.relpath(path, directory)] = value
    return found


def ours(hits):
    """Whether one of the calls that were held is the daemon's, and not that of a zygote which is being made."""
    return any(not line.endswith("adder-zygote") for line in hits.splitlines())


class World:
    """An Adder with a plain daemon that runs code, and others that are killed while they commit."""

    def __init__(self, adder, tools):
        self.adder, self.tools, self.count = adder, tools, 0
        self.before = contents(fill(adder, "before"))
        self.after = None

    def review(self):
        """(directory, id) of one that waits."""
        self.count += 1
        folder = fill(self.adder, f"dir-{self.count}")
        result = self.adder.run(CHANGE, "--workdir", folder, "--review")
        assert result.outcome == "approval_required", result
        return folder, result.approval_id

    def settle(self, *words):
        ended = self.adder.call("approval", *words, "--json")
        return ended, (json.loads(ended.stdout) if ended.returncode == 0 else None)

    def killed(self, id, call, number):
        """Commits, and kills the daemon at its NUMBERth CALL. False: it was not called so often."""
        faults, hits = self.adder.directory / "faults", self.adder.directory / "faults.hits"
        for path in (faults, hits):
            path.write_text("")
            self.adder.own(path)
        self.adder.stop()
        served = Served(self.adder, [self.tools / "inject", faults, *CALLS, "--"])
        faults.with_suffix(".new").write_text(f"{call} hold from={number}")
        faults.with_suffix(".new").rename(faults)
        with self.adder.popen("approval", "approve", id) as committing:
            hit = wait_until(
                lambda: "hit" if ours(hits.read_text()) else committing.poll() is not None and "over",
                "the commit to end or hold",
            )
            os.kill(served.pid, signal.SIGKILL)
            committing.communicate(timeout=DEADLINE)
        # A zygote that was being started may be held as well.
        faults.with_suffix(".new").write_text("")
        faults.with_suffix(".new").rename(faults)
        served.process.wait(DEADLINE)
        return hit == "hit"

    def listed(self, id):
        _, answer = self.settle("list")
        return next((review for review in answer["reviews"] if review["review_id"] == id), None)

    def left(self, folder):
        return [
            name
            for base, names, files in os.walk(folder)
            for name in names + files
            if name.startswith(".adder")
        ]


@pytest.fixture
def world(make_adder, tools):
    adder = make_adder(CONFIG)
    yield World(adder, tools)


def test_killed_anywhere(world):
    folder, id = world.review()
    ended, _ = world.settle("approve", id)
    assert ended.returncode == 0
    wait_until(lambda: not world.left(folder), "what was set aside to be removed")
    world.after = contents(folder)
    assert world.after != world.before
    seen = set()
    for call in CALLS:
        # The first, and then ever rarer ones; whether the call is made so often shows.
        for number in (1, 2, 3, 5, 8):
            folder, id = world.review()
            if not world.killed(id, call, number):
                assert number > 1 or call == "unlinkat", f"no commit calls {call}"
                # Killed when it was done, perhaps while it cleaned up.
                world.settle("finish", id)
                wait_until(lambda: not world.left(folder), "what was set aside to be removed")
                assert contents(folder) == world.after
                break
            # One that is being cleaned up is not listed while it is locked, as by what the killed daemon was about to start.
            review = wait_until(
                lambda: world.listed(id) or (not world.left(folder) and "done"), "the review to be listed or done with"
            )
            if review == "done":
                assert contents(folder) == world.after, "all was done"
                continue
            seen.add(review["state"])
            where = f"killed at {call} {number}, {review['state']}"
            if (number + len(call)) % 2 and review["state"] == "broken off":
                ended, undone = world.settle("undo", id)
                if ended.returncode == 0:
                    assert undone["state"] == "waiting" and contents(folder) == world.before, where
                else:
                    assert "cannot be taken back" in ended.stderr, where
            ended, finished = world.settle("finish", id)
            assert ended.returncode == 0 and finished["state"] == "committed", where
            wait_until(lambda: not world.left(folder), "what was set aside to be removed")
            assert contents(folder) == world.after, where
    assert seen == {"broken off"}
    assert world.settle("list")[1]["reviews"] == []


@pytest.mark.parametrize("call, step", [("newfstatat", 1), ("any", STEP)])
def test_fails_anywhere(installation, user, common_directory, tools, pytestconfig, call, step):
    """What the answer says is so: all was changed, nothing was, or it can be finished and undone. Each look at a name fails, as
    it tells how far a commit came; of all calls `--deep` has each fail, otherwise one in STEP does."""
    with daemon_with_faults(installation, user, common_directory, tools, FAILING) as faults:
        world = World(faults.adder, tools)
        folder, id = world.review()
        assert world.settle("approve", id)[0].returncode == 0
        wait_until(lambda: not world.left(folder), "what was set aside to be removed")
        world.after = contents(folder)
        seen = set()
        for number in itertools.count(1, 1 if pytestconfig.getoption("--deep") else step):
            folder, id = world.review()
            faults.at_rest()
            faults.set(f"{SPARED}\n{call} EIO nth={number}")
            ended, _ = world.settle("approve", id)
            hit = faults.hits.read_text()
            faults.clear()
            if not hit:
                break
            # Of one that was made, cleaning up may have failed.
            where = f"call {number} failed: {hit}, {ended}"
            review = wait_until(
                lambda: world.listed(id) or (ended.returncode == 0 and not world.left(folder) and "done"),
                f"the review to be listed or done with; {where}",
            )
            seen.add("done" if review == "done" else review["state"])
            if ended.returncode == 0:
                assert {name: value for name, value in contents(folder).items() if ".adder" not in name} == world.after, where
            elif review["state"] == "waiting":
                assert contents(folder) == world.before, where
            elif number % 2:
                undone, _ = world.settle("undo", id)
                assert contents(folder) == world.before or "cannot be taken back" in undone.stderr, (where, undone)
            if review != "done":
                ended, _ = world.settle("finish", id)
                assert ended.returncode == 0, (where, ended)
            wait_until(lambda: not world.left(folder), "what was set aside to be removed")
            assert contents(folder) == world.after, where
        assert seen >= {"waiting", "broken off"}, "both were met"
        for review in world.settle("list")[1]["reviews"]:  # all that was left to do was to remove them
            assert world.settle("finish", review["review_id"])[0].returncode == 0
        wait_until(lambda: world.settle("list")[1]["reviews"] == [], "no review to be left")


def test_cleaning_up_fails(installation, user, common_directory, tools):
    """What cannot be removed after a commit is told in the log, stays with the review, and goes when it is finished."""
    with daemon_with_faults(installation, user, common_directory, tools, FAILING) as faults:
        world = World(faults.adder, tools)
        folder, id = world.review()
        faults.set("unlinkat EIO who=review")
        ended, _ = world.settle("approve", id)
        assert ended.returncode == 0
        review = wait_until(lambda: world.listed(id), "the review to be listed")
        assert review["state"] == "broken off" and world.left(folder)
        assert f"what review {id} set aside is not removed (adder approval finish does it)" in faults.log.read_text()
        faults.clear()
        ended, finished = world.settle("finish", id)
        assert ended.returncode == 0 and finished["state"] == "committed"
        wait_until(lambda: not world.left(folder) and not world.settle("list")[1]["reviews"], "all to be removed")


@pytest.mark.parametrize(
    "word, number, name",
    [("undo", 4, "made"), ("undo", 4, "fresh/in"), ("finish", 2, "turned/z"), ("finish", 2, "plain")],
)
def test_somebody_else_in_between(world, word, number, name):
    """What was changed after a commit was broken off is named, and left alone, in both directions."""
    folder, id = world.review()
    assert world.killed(id, "renameat2", number), "it is broken off"
    path = folder / name
    assert path.exists()
    path.write_text("somebody's own")
    ended, _ = world.settle(word, id)
    assert ended.returncode != 0 and "somebody else" in ended.stderr, ended
    assert path.read_text() == "somebody's own"
