# SPDX-License-Identifier: Apache-2.0
"""Files over HTTP: put in, listed, read in parts and by signed URLs, removed; and whose they are."""
import hashlib
import os
import subprocess

import harness
import http_bed
import pytest


@pytest.fixture(scope="module")
def served(installation, user, common_directory):
    directory = harness.new_directory(common_directory, "http-files-" + user.name)
    os.chmod(directory, 0o755)
    adder = harness.Adder(installation, user, directory, "[environment]\ndefault = system\n")
    bed = http_bed.Served(adder, start=False)
    bed.alice, bed.bob = bed.token("alice"), bed.token("bob")
    bed.start()
    yield bed
    bed.stop()


CONTENT = bytes(range(256)) * 40  # 10,240 bytes


@pytest.fixture(scope="module")
def file(served):
    return served.upload("all bytes.bin", CONTENT, secret=served.alice)


def content(served, file, path="content", **headers):
    return served.get(f"/v1/files/{file}/{path}", secret=served.alice, **headers)


@pytest.mark.quick
def test_put_in_listed_used_and_removed(served):
    body, kind = http_bed.multipart(
        [("conversation", None, "talk"), ("file", "a.csv", "x,y\n1,2\n"), ("file", "../../b é.txt", "two")]
    )
    reply = served.ask("POST", "/v1/files", body, secret=served.alice, Content_Type=kind)
    assert reply.status == 201, reply
    first, second = reply.json()["files"]
    assert (first["name"], second["name"]) == ("a.csv", "b é.txt")
    assert first["owner"] == "token:alice" and first["conversation"] == "talk" and first["kind"] == "uploaded"
    assert first["sha256"] == hashlib.sha256(b"x,y\n1,2\n").hexdigest()
    listed = served.get("/v1/files?conversation=talk&limit=1", secret=served.alice).json()
    assert [f["file_id"] for f in listed["files"]] == [second["file_id"]] and listed["next"]
    rest = served.get(f"/v1/files?conversation=talk&before={listed['next']}", secret=served.alice).json()
    assert [f["file_id"] for f in rest["files"]] == [first["file_id"]]
    code = "print(open('a.csv').read(), open('/tmp/moved.txt').read())"
    given = [{"file_id": first["file_id"]}, {"file_id": second["file_id"], "name": "moved.txt", "place": "tmp"}]
    assert served.run(code, secret=served.alice, files=given)["stdout"] == "x,y\n1,2\n two\n"
    assert served.ask("DELETE", f"/v1/files/{first['file_id']}", secret=served.alice).status == 204
    assert served.get(f"/v1/files/{first['file_id']}", secret=served.alice).status == 404


def test_what_a_run_made(served):
    made = served.run("open('/tmp/output/plot.png', 'wb').write(b'\\x89PNG....')", secret=served.alice)["files"][0]
    reply = content(served, made["file_id"])
    assert reply.body == b"\x89PNG...." and reply.headers["Content-Type"] == "image/png"
    shown = content(served, made["file_id"], path="content?inline=true")
    assert shown.headers["Content-Disposition"].startswith("inline;")
    # By the URL that stands in the result, without a token.
    signed = served.get(made["url"], secret="")
    assert signed.status == 200 and signed.body == b"\x89PNG....", signed


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([], "1 to 64"),
        ([("file", None, "x")], "filename"),
        ([("other", "a", "x")], "the parts are"),
        ([("file", "a", "x"), ("conversation", None, "c" * 201)], "at most 200 bytes"),
        ([("file", "a", "x"), ("conversation", None, "c"), ("conversation", None, "d")], "one conversation"),
    ],
)
def test_uploads_that_are_wrong(served, parts, words):
    before = served.get("/v1/files", secret=served.bob).json()
    body, kind = http_bed.multipart(parts)
    reply = served.ask("POST", "/v1/files", body, secret=served.bob, Content_Type=kind)
    assert reply.status == 400, reply
    if parts:
        assert words in reply.json()["detail"], reply
    assert served.get("/v1/files", secret=served.bob).json() == before


# ---- parts of a file ----


@pytest.mark.parametrize(
    ("asked", "status", "first", "last"),
    [
        ("bytes=0-99", 206, 0, 99),
        ("bytes=100-", 206, 100, 10239),
        ("bytes=-50", 206, 10190, 10239),
        ("bytes=-99999", 206, 0, 10239),
        ("bytes=10239-99999", 206, 10239, 10239),
        ("Bytes=5-5", 206, 5, 5),
        ("bytes=10240-", 416, None, None),
        ("bytes=-0", 416, None, None),
        ("bytes=9-5", 200, None, None),
        ("bytes=0-1,5-6", 200, None, None),
        ("lines=0-1", 200, None, None),
        ("bytes=", 200, None, None),
        ("bytes=99999999999999999999-", 200, None, None),
    ],
)
def test_ranges(served, file, asked, status, first, last):
    reply = content(served, file, Range=asked)
    assert reply.status == status, reply
    if status == 206:
        assert reply.headers["Content-Range"] == f"bytes {first}-{last}/10240"
        assert reply.body == CONTENT[first : last + 1]
    elif status == 416:
        assert reply.headers["Content-Range"] == "bytes */10240" and reply.body in (b"",)
    else:
        assert reply.body == CONTENT and reply.headers["Accept-Ranges"] == "bytes"


@pytest.mark.quick
def test_conditions(served, file):
    whole = content(served, file)
    tag = whole.headers["ETag"]
    assert tag == f'"{hashlib.sha256(CONTENT).hexdigest()}"' and whole.body == CONTENT
    for header in (tag, f'"other", W/{tag}', "*"):
        fresh = content(served, file, If_None_Match=header)
        assert fresh.status == 304 and fresh.body == b"" and fresh.headers["ETag"] == tag
    assert content(served, file, If_None_Match='"other"').status == 200
    assert content(served, file, If_Match='"other"').status == 412
    assert content(served, file, If_Match=tag).status == 200
    assert content(served, file, Range="bytes=0-1", If_Range=tag).status == 206
    assert content(served, file, Range="bytes=0-1", If_Range='"other"').status == 200
    assert content(served, file, Range="bytes=0-1", If_Range="Sun, 22 Nov 2026 10:00:00 GMT").status == 200


def test_heads(served, file):
    """HEAD is GET without the body, also of a part."""
    with served.connection() as connection:
        for asked, status, length in (({}, 200, 10240), ({"Range": "bytes=1-10"}, 206, 10)):
            connection.request("HEAD", f"/v1/files/{file}/content", headers=served.headers(served.alice, **asked))
            answer = connection.getresponse()
            assert answer.status == status and int(answer.headers["Content-Length"]) == length
            assert answer.read() == b"" and answer.headers["ETag"]
        # The connection is in order: nothing of a body was sent.
        assert served.get("/healthz", connection=connection).status == 200


def test_curl_goes_on_where_it_was_broken_off(served, file):
    target = served.adder.scratch / "resumed.bin"
    target.write_bytes(CONTENT[:4000])
    ended = subprocess.run(
        ["curl", "-sS", "--fail", "-C", "-", "-o", str(target), "-H", f"Authorization: Bearer {served.alice}"]
        + [f"http://127.0.0.1:{served.port}/v1/files/{file}/content"],
        capture_output=True,
    )
    assert ended.returncode == 0, ended
    assert target.read_bytes() == CONTENT


# ---- what a browser may do with it ----


def test_a_page_that_code_made_is_no_page_of_the_server(served):
    code = (
        "open('/tmp/output/a.html', 'w').write('<script>alert(1)</script>')\n"
        "open('/tmp/output/b.svg', 'w').write('<svg onload=\"alert(1)\" xmlns=\"http://www.w3.org/2000/svg\"/>')\n"
        "open('/tmp/output/evil\"; x=\\n.png', 'w').write('x')"
    )
    for made in served.run(code, secret=served.alice)["files"]:
        for reply in (
            content(served, made["file_id"], path="content?inline=true"),
            served.get(made["url"] + "&inline=true", secret=""),
        ):
            assert reply.status == 200
            assert reply.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
            assert reply.headers["X-Content-Type-Options"] == "nosniff"
            disposition = reply.headers["Content-Disposition"]
            if not made["name"].endswith(".png"):
                assert disposition.startswith("attachment;"), disposition
            assert "\n" not in disposition and disposition.count('"') == 2, disposition


# ---- whose ----


@pytest.mark.quick
def test_nothing_of_another_owner(served, file):
    run = served.run("open('/tmp/output/made.txt', 'w').write('of alice')", secret=served.alice)
    for name in (file, run["files"][0]["file_id"]):
        for method, path in [
            ("GET", f"/v1/files/{name}"),
            ("GET", f"/v1/files/{name}/content"),
            ("DELETE", f"/v1/files/{name}"),
        ]:
            reply = served.ask(method, path, secret=served.bob)
            assert reply.status == 404 and b"of alice" not in reply.body, (method, path, reply)
            assert served.ask(method, path, secret="").status == 401
            assert served.ask(method, path + "?owner=token:alice", secret=served.bob).status == 403
        given = served.run("1", secret=served.bob, files=[{"file_id": name}])
        assert given["outcome"] == "failed" and "of alice" not in str(given)
    listed = served.get("/v1/files", secret=served.bob).body
    assert file.encode() not in listed
    assert served.get(f"/v1/files/{file}?owner=all").json()["owner"] == "token:alice"


def test_signed_urls_are_for_one_file_and_a_while(served, file):
    other = served.upload("other.txt", b"other", secret=served.alice)
    url = served.get(f"/v1/files/{file}", secret=served.alice).json()["url"]
    assert served.get(url, secret="").body == CONTENT
    assert served.get(url, secret="", Range="bytes=0-3").body == CONTENT[:4]
    path, query = url.split("?")
    expires, signature = (part.split("=")[1] for part in query.split("&"))
    wrong = [
        url.replace(file, other),
        f"{path}?expires={int(expires) + 1}&signature={signature}",
        f"{path}?expires=1&signature={signature}",
        f"{path}?expires={expires}&signature={'0' * 64}",
    ]
    for changed in wrong:
        reply = served.get(changed, secret="")
        assert reply.status == 404 and b"url" not in reply.body.lower().replace(b"the url", b""), (changed, reply)
    for changed in (path, f"{path}?expires={expires}", f"{path}?expires={expires}&signature={signature}&more=1"):
        assert served.get(changed, secret="").status == 400
    # The name says nothing, so one that is another's question is written otherwise.
    named = served.upload("content", b"x", secret=served.alice)
    assert served.get(served.get(f"/v1/files/{named}", secret=served.alice).json()["url"], secret="").body == b"x"
    assert served.ask("DELETE", f"/v1/files/{file}", secret=served.alice).status == 204
    assert served.get(url, secret="").status == 404


# ---- long output ----


def test_long_output(served):
    run = served.run("for i in range(20000): print(i, i * i)", secret=served.alice)
    place = f"/v1/results/{run['result_id']}"
    part = served.get(place + "?limit=64", secret=served.alice).json()
    assert part["text"].startswith("0 0\n1 1\n") and part["next_offset"] == 64 and part["at_end"] is False
    on = served.get(f"{place}?offset={part['next_offset']}&limit=64", secret=served.alice).json()
    assert (part["text"] + on["text"]).splitlines()[:3] == ["0 0", "1 1", "2 4"]
    found = served.get(place + "?grep=%5E777%20", secret=served.alice).json()
    assert [line["text"] for line in found["lines"]] == ["777 603729"] and "text" not in found
    for query in ("?limit=63", "?limit=2000000", "?offset=-1", "?stream=other", "?grep=(", "?more=1"):
        assert served.get(place + query, secret=served.alice).status == 400, query
    assert served.get(place, secret=served.bob).status == 404
    assert served.get(place + "?stream=stderr", secret=served.alice).status == 404


def test_kept_alive(served):
    """Many questions by one connection, whatever their replies are like."""
    own = served.upload("own.bin", CONTENT, secret=served.alice)
    with served.connection() as connection:
        for _ in range(20):
            assert content(served, own, connection=connection, Range="bytes=3-5").body == CONTENT[3:6]
            assert content(served, own, connection=connection, If_None_Match="*").status == 304
            assert served.get("/v1/files", secret=served.alice, connection=connection).status == 200
