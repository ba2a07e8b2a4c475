# SPDX-License-Identifier: Apache-2.0
"""Where records and files are kept is away, read-only, or somebody else's: what callers are told of it, over HTTP too, and
where it lies is told to admins alone."""
import os
import subprocess

import harness
import http_bed
import pytest
from harness import wait_until
from store_world import S3, Postgres


@pytest.fixture(scope="module")
def servers():
    made = []
    try:
        for server in (Postgres, S3):
            made.append(server())
        yield made
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    finally:
        for server in made:
            server.end()


@pytest.fixture(scope="module")
def served(make_shared_adder, user, servers):
    postgres, s3 = servers
    lines = f"[store]\nrecords = {postgres.new()}\nblobs = {s3.new(user.uid)}\ntimeout_ms = 20s\n"
    bed = http_bed.Served(make_shared_adder(lines), start=False)
    bed.alice = bed.token("alice")
    bed.start()
    wait_until(lambda: bed.get("/readyz", secret="").status == 200, "the first sandbox")
    yield bed
    bed.stop()


def assert_away(reply, *hidden):
    assert reply.status == 503 and reply.json()["code"] == "unavailable", reply
    assert int(reply.headers["Retry-After"]) >= 1
    assert not any(word in reply.body.decode() for word in hidden), reply


def wait_ready(served):
    wait_until(lambda: served.get("/readyz", secret="").status == 200, "the store to be back")


@pytest.mark.slow
def test_a_database_that_is_away(served, servers):
    postgres = servers[0]
    hidden = (str(postgres.directory), "postgresql:", "world")
    assert served.get("/v1/records", secret=served.alice).status == 200
    postgres.down()
    try:
        for path in ("/v1/records", "/v1/files"):
            assert_away(served.get(path, secret=served.alice), *hidden)
        wait_until(lambda: served.get("/readyz", secret="").status == 503, "that it is noticed")
        assert_away(served.get("/readyz", secret=""), *hidden)
        assert hidden[0] in served.get("/v1/records").json()["detail"]
        result = served.run("print(1)", secret=served.alice)
        assert result["outcome"] == "ok" and "not on record" in result["warnings"][0]
        assert not any(word in str(result) for word in hidden), result
        assert hidden[0] in str(served.log)
    finally:
        postgres.up()
    wait_ready(served)
    assert served.get("/v1/records", secret=served.alice).status == 200


@pytest.mark.slow
def test_a_bucket_that_is_away(served, servers):
    s3 = servers[1]
    hidden = (s3.endpoint, "127.0.0.1", "world")
    file = served.upload("a.txt", b"content", secret=served.alice)
    own = served.upload("b.txt", b"of an admin")
    s3.down()
    try:
        assert_away(served.get(f"/v1/files/{file}/content", secret=served.alice), *hidden)
        body, kind = http_bed.multipart([("file", "b.txt", "more")])
        assert_away(served.ask("POST", "/v1/files", body, secret=served.alice, Content_Type=kind), *hidden)
        wait_until(lambda: served.get("/readyz", secret="").status == 503, "that it is noticed")
        assert s3.endpoint in served.get(f"/v1/files/{own}/content").json()["detail"]
        for code, files in (("open('x', 'w').write('x')", []), ("print(1)", [{"file_id": file}])):
            result = served.run(code, secret=served.alice, files=files)
            assert not any(word in str(result) for word in hidden), result
            assert "not available" in str(result["warnings"]) + str(result["error"])
    finally:
        s3.up()
    wait_ready(served)
    assert served.get(f"/v1/files/{file}/content", secret=served.alice).body == b"content"


def assert_read(adder, *options):
    """What was kept, by an Adder whose state directory takes no changes."""
    for asked in (("history", "list"), ("history", "verify"), ("doctor", "store", "--check"), ("file", "list")):
        ended = adder.call(*asked, "--json", *options)
        assert ended.returncode == 0, ended
        told = harness.strict_json(ended.stdout)
        for name in ("ok", "healthy"):
            assert told.get(name, True)
        for name in ("records", "files"):
            assert told.get(name) != []
    result = adder.run("print(1)")
    assert result.outcome == "ok" and "read-only" in result.warnings[0]


@pytest.mark.parametrize("killed", (False, True), ids=("ended", "killed"))
def test_a_directory_that_is_read_only(make_adder, user, killed):
    """As in a backup: of a daemon that ended, and of one that could not. Modes do not keep root from writing, mounts do."""
    adder = make_adder()
    assert adder.run("open('x', 'w').write('kept')").warnings == []
    if killed:
        traces = adder.traces()
        adder.kill()
        traces.wait_gone()
    else:
        adder.stop()
    if user.uid == 0:
        read_only = f"mount --bind {adder.state} {adder.state} && mount -o remount,ro,bind {adder.state} && exec \"$@\""
        adder.wrapper = ["unshare", "--mount", "sh", "-c", read_only, "sh"]
        if subprocess.run([*adder.wrapper, "true"], capture_output=True).returncode != 0:
            pytest.skip("nothing can be mounted here")
        assert_read(adder, "--no-daemon")
        return
    below = sorted(adder.state.rglob("*"), reverse=True)
    try:
        for path in (*below, adder.state):
            path.chmod(path.stat().st_mode & 0o500)
        assert_read(adder)
        assert_read(adder, "--no-daemon")
    finally:
        adder.stop()
        for path in (adder.state, *reversed(below)):
            path.chmod(path.stat().st_mode | 0o200)


def test_a_directory_of_somebody_else(make_adder):
    adder = make_adder()
    folder = adder.folder("documents")
    adder.file("documents/letter.txt", "dear")
    adder.configure(f"[environment]\ndefault = system\n[store]\nblobs = directory:{folder}\n")
    ended = adder.call("run", "-c", "1")
    assert ended.returncode != 0
    assert f"the directory {folder} holds something that is not Adder's (letter.txt)" in ended.stderr
    assert os.listdir(folder) == ["letter.txt"]
    (folder / "letter.txt").unlink()
    assert adder.run("open('x', 'w').write('kept')").warnings == []
    adder.stop()
    # What came into one of ours since does no harm.
    adder.file("documents/letter.txt", "dear")
    assert adder.run("open('x', 'w').write('kept')").warnings == []


def test_too_few_descriptors(make_adder):
    """What cannot be done for want of them may be asked for again: it is busy, as with too many runs, and no fault."""
    adder = make_adder()
    adder.wrapper = ["prlimit", "--nofile=64"]
    adder.run("1")
    adder.wrapper = []
    runs = [adder.start(harness.FOREVER, "--timeout", "20", json_reply=True) for _ in range(24)]
    try:
        wait_until(lambda: any(run.poll() is not None for run in runs), "one that has no place")
        asked = [adder.run("print(1)") for _ in range(8)]
    finally:
        for run in runs:
            harness.wait_for_handlers(run)
            run.terminate()
    told = [harness.strict_json(run.communicate()[0].decode()) for run in runs]
    outcomes = {result["outcome"] for result in told} | {result.outcome for result in asked}
    faults = [result["error"] for result in told if result["outcome"] == "failed"]
    faults += [result.error for result in asked if result.outcome == "failed"]
    assert "busy" in outcomes and outcomes <= {"ok", "busy", "cancelled", "timeout"}, (outcomes, faults)
