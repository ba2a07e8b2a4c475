# SPDX-License-Identifier: Apache-2.0
"""The plug of the place where files are is pulled: a run's result comes back whole and says what was not kept, nothing half is
listed, and what was said to be kept is there when the place is back."""
import os
import pathlib
import signal
import subprocess

import pytest
import store_world
from harness import strict_json, wait_until
from serving import wrapped

NOT_KEPT = "made.txt"
CODE = "open('/tmp/made.txt', 'w').write('made'); print('done')"


@pytest.fixture(scope="module")
def server_of_module():
    if not store_world.weed():
        pytest.skip("there is no S3 server on this host (tests/seaweedfs.txt)")
    world = store_world.S3()
    yield world
    world.end()


@pytest.fixture
def server(server_of_module):
    """Up and awake, before the test and after it."""
    yield server_of_module
    if server_of_module.server is None:
        server_of_module.up()
    server_of_module.thaw()


def config(blobs, timeout="20s"):
    return f"[pool]\nparked = 2\n\n[store]\nblobs = {blobs}\ntimeout_ms = {timeout}\n"


def ask(adder, *arguments):
    ended = adder.call(*arguments, "--json")
    assert ended.returncode == 0, ended
    return strict_json(ended.stdout)


def listed(adder):
    return {file["file_id"] for file in ask(adder, "file", "list")["files"]}


def run_not_kept(adder, why):
    """A run whose file cannot be kept: all else of its result is as ever."""
    result = adder.run(CODE)
    assert result.outcome == "ok" and result.stdout == "done\n" and result.exit_code == 0
    (file,) = result.files
    assert file["file_id"] is None and file["url"] is None and file["bytes"] == 4
    warnings = [text for text in result.warnings if why in text]
    assert len(warnings) == 1 and NOT_KEPT in warnings[0], result.warnings
    for secret in store_world.KEYS.values():
        assert secret not in str(result.warnings)
    return result


def run_kept(adder):
    """Runs until the file of one is kept: it may take a second after the place is back."""

    def kept():
        result = adder.run(CODE)
        assert result.outcome == "ok"
        return result.files[0]["file_id"] and result

    return wait_until(kept, "a file to be kept")


def check_kept(adder, results):
    """All of RESULTS can be had, and nothing is there that is not whole."""
    files = listed(adder)
    for result in results:
        (file,) = result.files
        assert file["file_id"] in files
        got = adder.call("file", "get", file["file_id"], "--out", "-")
        assert got.returncode == 0 and got.stdout == "made", got
    found = ask(adder, "doctor", "store", "--check", "--deep")
    assert found["lost_count"] == 0, found


# ---- a bucket ----


def test_server_ends_and_comes_back(make_adder, server, user):
    adder = make_adder(config(server.new(user.uid)))
    results = [run_kept(adder)]
    server.down()
    run_not_kept(adder, "nothing answers there")
    run_not_kept(adder, "nothing answers there")
    server.up()
    results.append(run_kept(adder))
    check_kept(adder, results)


def test_server_does_not_answer(make_adder, server, user):
    adder = make_adder(config(server.new(user.uid), "1s"))
    results = [run_kept(adder)]
    server.freeze()
    run_not_kept(adder, "does not answer in time")
    server.thaw()
    results.append(run_kept(adder))
    # What is asked of it from now on may take its time.
    adder.stop()
    adder.configure((adder.config / "adder.conf").read_text().replace("timeout_ms = 1s", "timeout_ms = 20s"))
    check_kept(adder, results)


def test_no_bucket(make_adder, server, user):
    adder = make_adder(config(server.url("nowhere", server.credentials(uid=user.uid))))
    run_not_kept(adder, "the bucket does not exist: create it")
    assert listed(adder) == set()


def test_wrong_key(make_adder, server, user):
    """The same keys, put right while the daemon runs, are good for the next run."""
    bucket = server.new(user.uid).partition("?")[0].removeprefix("s3://")
    keys = server.credentials(secret="wrong-" + store_world.KEYS["adder"], uid=user.uid)
    adder = make_adder(config(server.url(bucket, keys)))
    run_not_kept(adder, "the secret key is wrong")
    shown = adder.call("doctor", "store")
    assert store_world.KEYS["adder"] not in shown.stdout + shown.stderr
    keys.write_text(f"aws_access_key_id = adder\naws_secret_access_key = {store_world.KEYS['adder']}\n")
    check_kept(adder, [run_kept(adder)])


def test_no_right(make_adder, server, user):
    bucket = server.new(user.uid).partition("?")[0].removeprefix("s3://")
    adder = make_adder(config(server.url(bucket, server.credentials("reader", uid=user.uid))))
    run_not_kept(adder, "the access key has no right to do that")
    assert listed(adder) == set()


# ---- a directory ----


@pytest.fixture
def small_disk(tmp_path, user):
    """A file system with room for a few files, which belongs to the user."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    place = pathlib.Path("/tmp") / f"adder-small-{os.getpid()}-{user.name}"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=1m,mode=700,uid={user.uid}", "small", place], check=True)
    yield place
    subprocess.run(["umount", "-l", place], check=True)
    place.rmdir()


def test_full_disk(make_adder, small_disk, user):
    adder = make_adder(config(f"directory:{small_disk}"))
    results = [run_kept(adder)]
    filler = small_disk / "filler"
    with open(filler, "wb", buffering=0) as file, pytest.raises(OSError):
        while True:
            file.write(b"x" * 4096)
    result = adder.run(CODE.replace("'made'", "'m' * 300000"))
    assert result.outcome == "ok" and result.files[0]["file_id"] is None
    assert any("No space left" in text and NOT_KEPT in text for text in result.warnings), result.warnings
    filler.unlink()
    results.append(run_kept(adder))
    check_kept(adder, results)
    assert len(listed(adder)) == 2


CALLS = ("mkdirat", "linkat", "unlinkat", "fsync", "fdatasync", "fsetxattr")


def killed_at(adder, tools, path, call, number):
    """`adder file put`, killed at its NUMBERth CALL. None: it was not called so often; the id of what was put then."""
    faults, hits = adder.directory / "faults", adder.directory / "faults.hits"
    faults.write_text(f"{call} hold from={number}")
    hits.write_text("")
    adder.own(faults)
    adder.own(hits)
    inside = wrapped(adder, [tools / "inject", faults, *CALLS, "--"])
    process = inside.popen("file", "put", path, "--no-daemon", "--json", start_new_session=True)
    try:
        wait_until(lambda: process.poll() is not None or hits.read_text(), "a call or the end")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        out, _ = process.communicate()
    return not hits.read_text()


@pytest.mark.parametrize("call", CALLS)
def test_killed_at(make_adder, tools, call):
    """A put that is killed at any step leaves nothing that is listed and not whole, and the next one is as ever."""
    adder = make_adder("")
    for number in range(1, 40):
        path = adder.file(f"killed-{number}.bin", f"content of {number}")
        if killed_at(adder, tools, path, call, number):
            break
        found = ask(adder, "doctor", "store", "--check", "--deep", "--no-daemon")
        assert found["lost_count"] == 0, found
        for file in ask(adder, "file", "list", "--no-daemon")["files"]:
            got = adder.call("file", "get", file["file_id"], "--out", "-", "--no-daemon")
            assert got.returncode == 0 and got.stdout == f"content of {file['name'].split('-')[1].split('.')[0]}", got
        (again,) = ask(adder, "file", "put", path, "--no-daemon")["files"]
        got = adder.call("file", "get", again["file_id"], "--out", "-", "--no-daemon")
        assert got.stdout == f"content of {number}"
    else:
        pytest.fail(f"{call} does not come to an end")
    if call != "unlinkat":
        assert number > 1, f"{call} was never called"
    found = ask(adder, "doctor", "store", "--check", "--deep", "--no-daemon")
    assert found["healthy"] and found["unknown_removed"] == 0 and found["swept"] == 0, found
