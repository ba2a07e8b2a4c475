# SPDX-License-Identifier: Apache-2.0
"""gzip over HTTP: replies that are packed for who takes it, and bodies that come packed, whose limits hold for what they unpack to."""
import gzip
import json
import zlib

import http_bed
import pytest

BODY_BYTES = 1 << 20


@pytest.fixture(scope="module")
def served(make_shared_adder):
    bed = http_bed.Served(make_shared_adder(f"[http]\nbody_bytes = {BODY_BYTES}\nupload_bytes = {BODY_BYTES}\nrate = 60000\n"))
    yield bed
    bed.stop()


def run(served, code, **headers):
    return served.ask("POST", "/v1/runs", {"code": code}, **headers)


@pytest.mark.parametrize(
    "accept, packed",
    [
        (None, False),
        ("", False),
        ("gzip", True),
        ("GZIP", True),
        ("x-gzip", True),
        ("br, gzip", True),
        ("deflate, gzip;q=1.0, *;q=0.5", True),
        ("gzip;q=0.001", True),
        ("gzip ; q=0.5 , identity;q=0.1", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip;q=0, *", False),
        ("*;q=0", False),
        ("identity", False),
        ("gzip;q=0.5, identity", False),
        ("gzipped", False),
        ("br", False),
    ],
)
def test_replies_are_packed_for_who_takes_it(served, accept, packed):
    long = run(served, "print('word ' * 2000)", **({"Accept_Encoding": accept} if accept is not None else {}))
    assert long.status == 200 and "Accept-Encoding" in long.headers["Vary"]
    assert ("Content-Encoding" in long.headers) is packed
    assert int(long.headers["Content-Length"]) == len(long.body)
    body = gzip.decompress(long.body) if packed else long.body
    assert json.loads(body)["stdout"] == "word " * 2000 + "\n" and (len(long.body) < len(body) / 4) is packed


def test_what_is_not_packed(served):
    accept = {"Accept_Encoding": "gzip"}
    short = served.ask("GET", "/healthz", **accept)
    assert len(short.body) < 1024 and "Content-Encoding" not in short.headers and "Accept-Encoding" not in short.headers.get("Vary", "")
    stream = served.ask("POST", "/v1/runs", {"code": "print('word ' * 2000)", "stream": True}, **accept)
    assert stream.headers["Content-Type"].startswith("text/event-stream") and "Content-Encoding" not in stream.headers
    assert b"event: result" in stream.body
    text = b"word " * 2000
    boundary = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n' + text + b"\r\n--x--\r\n"
    kept = served.ask("POST", "/v1/files", boundary, Content_Type="multipart/form-data; boundary=x")
    place = f"/v1/files/{kept.json()['files'][0]['file_id']}/content"
    for headers, status in (({}, 200), ({"Range": "bytes=0-4999"}, 206)):
        part = served.ask("GET", place, **accept, **headers)
        assert part.status == status and "Content-Encoding" not in part.headers and part.body == text[: len(part.body)]


def test_problems_and_descriptions_are_packed(served):
    described = served.ask("GET", "/openapi.json", Accept_Encoding="gzip")
    assert json.loads(gzip.decompress(described.body))["openapi"] == "3.1.0" and len(described.body) < 40000
    wrong = served.ask("POST", "/v1/runs", {f"member{i}" * 8: 1 for i in range(40)}, Accept_Encoding="gzip")
    assert wrong.status == 400 and json.loads(gzip.decompress(wrong.body))["code"] == "invalid"
    with served.connection() as connection:
        connection.request("HEAD", "/openapi.json", headers={"Accept-Encoding": "gzip"})
        with connection.getresponse() as head:
            assert head.getheader("Content-Encoding") == "gzip" and head.read() == b""


def packed_body(served, body, coding="gzip", path="/v1/runs", **headers):
    headers.setdefault("Content_Type", "application/json")
    return served.ask("POST", path, body, Content_Encoding=coding, **headers)


ASKED = json.dumps({"code": "print('x' * 3)\n6 * 7"}).encode()


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "GZip"])
def test_bodies_come_packed(served, coding):
    result = packed_body(served, gzip.compress(ASKED), coding).json()
    assert (result["stdout"], result["value"]) == ("xxx\n", {"text/plain": "42"})


def test_several_packed_parts_are_one_body(served):
    assert packed_body(served, gzip.compress(ASKED[:7]) + gzip.compress(b"") + gzip.compress(ASKED[7:])).json()["stdout"] == "xxx\n"


def test_forms_come_packed(served):
    content = b"a,b\n" * 5000
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n' + content + b"\r\n--x--\r\n"
    kept = packed_body(served, gzip.compress(form), path="/v1/files", Content_Type="multipart/form-data; boundary=x")
    assert kept.status == 201 and kept.json()["files"][0]["bytes"] == len(content), kept


PACKED = gzip.compress(ASKED, mtime=0)  # for tests that are named by it, which all processes name alike


@pytest.mark.parametrize(
    "body, status, words",
    [
        (b"{}", 400, "is not gzip"),
        (zlib.compress(ASKED), 400, "is not gzip"),
        (PACKED[:-1], 400, "cut off"),
        (PACKED[:12], 400, "cut off"),
        (PACKED + b"more", 400, "is not gzip"),
        (PACKED[:-8] + bytes(8), 400, "is not gzip"),
        (gzip.compress(b"{", mtime=0), 400, "is not JSON"),
        (gzip.compress(PACKED, mtime=0), 400, "is not JSON"),
    ],
    ids=["no gzip", "zlib", "without its end", "a beginning", "more after it", "another sum", "no JSON", "packed twice"],
)
def test_bodies_that_are_packed_wrongly(served, body, status, words):
    refused = packed_body(served, body)
    assert refused.status == status and words in refused.json()["detail"], refused


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, gzip", "zstd", ""])
def test_other_codings_are_refused(served, coding):
    refused = packed_body(served, gzip.compress(ASKED), coding)
    assert refused.status == 415 and "gzip" in refused.json()["detail"], refused


def bombs():
    zeros = gzip.compress(bytes(BODY_BYTES + 1))
    yield "one byte more than is allowed", zeros
    yield "a gigabyte", b"".join(gzip.compress(bytes(1 << 24)) for _ in range(1)) * 64
    yield "spaces around JSON", gzip.compress(ASKED + b" " * BODY_BYTES)
    yield "nothing, again and again", gzip.compress(b"") * (BODY_BYTES // 20 + 1000)


@pytest.mark.parametrize("body", [body for _, body in bombs()], ids=[name for name, _ in bombs()])
@pytest.mark.parametrize("chunked", [False, True])
def test_bombs_end_at_the_limit(served, body, chunked):
    with served.connection() as connection:
        connection.putrequest("POST", "/v1/runs")
        for name, value in served.headers(**{"Content-Type": "application/json", "Content-Encoding": "gzip"}).items():
            connection.putheader(name, value)
        try:
            if chunked:
                connection.putheader("Transfer-Encoding", "chunked")
                connection.endheaders()
                for at in range(0, len(body), 8192):
                    piece = body[at : at + 8192]
                    connection.send(b"%x\r\n%s\r\n" % (len(piece), piece))
                connection.send(b"0\r\n\r\n")
            else:
                connection.putheader("Content-Length", str(len(body)))
                connection.endheaders(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all of it was sent
        with connection.getresponse() as answer:
            told = json.loads(answer.read())
    assert answer.status == 413 and f"at most {BODY_BYTES} bytes" in told["detail"], told
    assert served.get("/healthz", secret="").status == 200


def test_the_longest_body_that_is_allowed(served):
    text = b'{"code": "1"' + b" " * (BODY_BYTES - 13) + b"}"
    told = packed_body(served, gzip.compress(text)).json()
    assert len(text) == BODY_BYTES and told.get("outcome") == "ok", told
