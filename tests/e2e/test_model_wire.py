# SPDX-License-Identifier: Apache-2.0
"""Questions to models over HTTP, and servers that are slow, broken, busy or lie."""
import email.utils
import gzip
import json
import os
import ssl
import subprocess
import time

import pytest

import ports
from harness import DEADLINE, wait_until
from model_server import EVENTS, PATHS, Asker, Server, answer, check_error, chunked, stream, text_of

DIALECTS = list(EVENTS)
OBJECTS = {
    "chat": '{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,'
    '"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":400}}}',
    "responses": '{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}],'
    '"usage":{"input_tokens":1000,"output_tokens":100,"input_tokens_details":{"cached_tokens":400}}}',
    "messages": '{"content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn",'
    '"usage":{"input_tokens":600,"cache_read_input_tokens":400,"output_tokens":100}}',
}
KEYS = {
    "chat": ("authorization", "Bearer sk-secret"),
    "responses": ("authorization", "Bearer sk-secret"),
    "messages": ("x-api-key", "sk-secret"),
}
GOOD = chunked(*EVENTS["chat"])


def once(*steps, question=None, **settings):
    """One question to a server of these STEPS: what came, what was seen, and the server."""
    with Server(*steps) as server, Asker(server.url, **settings) as asker:
        came, seen = asker.ask(**(question or {}))
    return came, seen, server


# ---- what works ----


@pytest.mark.quick
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "object"])
def test_an_answer(dialect, streamed):
    sent = chunked(*EVENTS[dialect]) if streamed else answer(OBJECTS[dialect])
    prices = {"input_price": "2", "output_price": "10", "cached_price": "0.5"}
    with Server(sent, sent) as server, Asker(server.url, dialect, stream=str(streamed).lower(), **prices) as asker:
        for _ in range(2):
            came, seen = asker.ask(instructions="Be short", output_tokens=77)
            assert text_of(came) == "Hello"
            assert "".join(seen) == "Hello" and len(seen) == (2 if streamed else 1)
            told = came["answer"]
            assert (told["input_tokens"], told["cached_tokens"], told["output_tokens"]) == (1000, 400, 100)
            assert told["cost"] == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6)
            assert told["stop"] == "end" and told["attempts"] == 1
    assert server.connections == 1, "a connection is used again"
    for path, headers, body in server.asked:
        name, value = KEYS[dialect]
        assert path == PATHS[dialect] and headers[name] == value
        assert "accept-encoding" not in headers and headers["content-type"] == "application/json"
        assert body["model"] == "m" and body["stream"] is streamed and 77 in body.values()
    if dialect == "messages":
        assert server.asked[0][1]["anthropic-version"] == "2023-06-01"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_one_object_where_a_stream_was_asked_for_and_the_reverse(dialect):
    with Server(answer(OBJECTS[dialect])) as server, Asker(server.url, dialect) as asker:
        assert text_of(asker.ask()[0]) == "Hello"
    with Server(stream(*EVENTS[dialect])) as server, Asker(server.url, dialect, stream="false") as asker:
        assert text_of(asker.ask()[0]) == "Hello"


@pytest.mark.parametrize(
    "dialect, base, path",
    [
        ("chat", "", "/v1/chat/completions"),
        ("chat", "/v1", "/v1/chat/completions"),
        ("chat", "/api/v3/", "/api/v3/chat/completions"),
        ("responses", "/openai/v1", "/openai/v1/responses"),
        ("messages", "", "/v1/messages"),
        ("messages", "/v1", "/v1/messages"),
        ("messages", "/anthropic", "/anthropic/v1/messages"),
    ],
)
def test_where_it_asks(dialect, base, path):
    with Server(answer(OBJECTS[dialect])) as server, Asker(server.url + base, dialect) as asker:
        assert text_of(asker.ask()[0]) == "Hello"
    assert [asked[0] for asked in server.asked] == [path]


def test_no_key():
    came, _, server = once(GOOD, key=None)
    assert text_of(came) == "Hello" and "authorization" not in server.asked[0][1]


def test_byte_by_byte():
    def dribble(connection):
        for byte in GOOD:
            connection.sendall(bytes([byte]))

    came, seen, _ = once(dribble)
    assert text_of(came) == "Hello" and seen == ["Hel", "lo"]


def test_a_unix_socket(tmp_path):
    with Server(GOOD, path=tmp_path / "model.sock") as server:
        with Asker(server.url, unix_socket=tmp_path / "model.sock") as asker:
            assert text_of(asker.ask()[0]) == "Hello"


def test_a_proxy_of_the_environment_is_not_for_this_machine():
    with Server(GOOD) as server, Server() as proxy:
        with Asker(server.url, surroundings={"http_proxy": proxy.url, "all_proxy": proxy.url}) as asker:
            assert text_of(asker.ask()[0]) == "Hello"
    assert proxy.asked == []


def test_a_proxy():
    with Server(GOOD) as proxy, Asker("http://model.invalid/v1", proxy=proxy.url, key=None) as asker:
        assert text_of(asker.ask()[0]) == "Hello"
    assert proxy.asked[0][0] == "http://model.invalid/v1/chat/completions"


def test_a_server_that_hangs_up_between_questions():
    def hang_up(connection):
        connection.sendall(GOOD)
        return True

    with Server(hang_up, GOOD) as server, Asker(server.url) as asker:
        assert text_of(asker.ask()[0]) == text_of(asker.ask()[0]) == "Hello"
    assert server.connections == 2


def test_a_connection_that_stays_open_after_all_was_said():
    with Server() as server:
        server.steps.put(server.hold(stream(*EVENTS["chat"])))
        with Asker(server.url) as asker:
            came, _ = asker.ask()
    assert text_of(came) == "Hello" and came["answer"]["took_ms"] < 30_000


def test_a_connection_that_stays_open_and_never_says_that_it_is_done():
    with Server() as server:
        server.steps.put(server.hold(stream(*EVENTS["chat"][:2])))
        with Asker(server.url, idle_ms="200ms") as asker:
            assert text_of(asker.ask()[0]) == "Hello"


# ---- attempts ----


@pytest.mark.parametrize("status", ["408 Late", "409 Conflict", "429 Slow", "500 Oops", "503 Busy", "529 Full"])
def test_asked_again(status):
    came, seen, server = once(answer("no", status), GOOD)
    assert text_of(came) == "Hello" and came["answer"]["attempts"] == 2 == len(server.asked)
    assert seen == [None, "Hel", "lo"], "who watches is told that it begins anew"


@pytest.mark.parametrize("status, code", [("400 No", "invalid"), ("401 No", "key"), ("404 No", "unknown"), ("413 No", "context")])
def test_not_asked_again(status, code):
    came, _, server = once(answer("no", status), GOOD)
    check_error(came, code)
    assert len(server.asked) == 1


@pytest.mark.quick
def test_a_stream_that_breaks_off_begins_anew():
    came, seen, _ = once(stream(EVENTS["chat"][0]), GOOD)
    assert text_of(came) == "Hello" and seen == ["Hel", None, "Hel", "lo"]


def test_a_stream_that_always_breaks_off():
    came, seen, _ = once(*[stream(EVENTS["chat"][0])] * 3, retries="2")
    check_error(came, "cut", "after 3 attempts", "broke off")
    assert seen == ["Hel", None, "Hel", None, "Hel"]


def test_chunks_that_break_off():
    came, _, _ = once(lambda connection: connection.sendall(GOOD[:-5]) or True, retries="0")
    assert text_of(came) == "Hello", "all was said"
    came, _, _ = once(lambda connection: connection.sendall(GOOD[:150]) or True, retries="0")
    check_error(came, "cut", "broke off")


def test_an_object_that_is_shorter_than_it_says():
    whole = answer(OBJECTS["chat"])
    came, _, _ = once(lambda connection: connection.sendall(whole[:-5]) or True, retries="0", stream="false")
    check_error(came, "cut", "broke off")


def test_an_object_that_is_longer_than_it_says():
    whole = answer(OBJECTS["chat"]).replace(b"Content-Length: ", b"Content-Length: 1\r\nX: ")
    came, _, _ = once(whole, retries="0", stream="false")
    check_error(came, "malformed", "no JSON")


def test_nothing_but_a_closed_connection():
    came, _, server = once(lambda connection: True, lambda connection: True, retries="1")
    check_error(came, "unavailable", "after 2 attempts", "broke off")
    assert len(server.asked) == 2


@pytest.mark.parametrize("error", ['{"error":"the runner crashed"}\n', 'data: {"error":{"message":"the runner crashed"}}\n\n'])
def test_an_error_in_the_midst_of_a_stream(error):
    came, seen, _ = once(stream(EVENTS["chat"][0], error), GOOD)
    assert text_of(came) == "Hello" and seen == ["Hel", None, "Hel", "lo"]
    came, _, _ = once(stream(EVENTS["chat"][0], error), retries="0")
    check_error(came, "unavailable", "the runner crashed")


def test_when_a_server_says_it_can_be_asked_again():
    came, _, server = once(answer("", "429 Slow", "text/plain", "Retry-After: 2"), GOOD)
    assert text_of(came) == "Hello" and came["answer"]["took_ms"] >= 1990 and len(server.asked) == 2


def test_when_a_server_says_it_as_a_date():
    def busy(connection):
        when = email.utils.formatdate(time.time() + 3, usegmt=True)
        connection.sendall(answer("", "503 Busy", "text/plain", f"Retry-After: {when}"))

    came, _, _ = once(busy, GOOD)
    assert text_of(came) == "Hello" and came["answer"]["took_ms"] >= 1000


def test_a_server_that_wants_to_be_left_alone_for_long():
    came, _, server = once(answer("", "429 Slow", "text/plain", "Retry-After: 3600"), GOOD)
    check_error(came, "rate", "it can be asked again in 1 h")
    assert len(server.asked) == 1


def test_a_wait_that_would_be_longer_than_the_time():
    came, _, server = once(answer("", "429 Slow", "text/plain", "Retry-After: 100"), GOOD, timeout_ms="20s")
    check_error(came, "rate", "it can be asked again in 100 s")
    assert len(server.asked) == 1


def test_what_a_server_does_not_take_is_left_out_from_then_on():
    refusal = answer('{"error":{"message":"Use \'max_completion_tokens\' instead."}}', "400 No")
    with Server(refusal, GOOD, GOOD) as server, Asker(server.url, retries="0") as asker:
        assert text_of(asker.ask(output_tokens=5)[0]) == text_of(asker.ask(output_tokens=5)[0]) == "Hello"
    limits = [[name for name in body if body[name] == 5] for _, _, body in server.asked]
    assert limits == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


@pytest.mark.parametrize(
    "words",
    [
        "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
        "Parallel tool calls are not supported.",
    ],
)
def test_one_call_at_a_time_is_asked_for_where_it_can_be(words):
    tool = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    refusal = answer(json.dumps({"error": {"message": words}}), "400 No")
    with Server(GOOD, refusal, GOOD, GOOD) as server, Asker(server.url, retries="0") as asker:
        assert all(text_of(asker.ask(tools=tools)[0]) == "Hello" for tools in (None, [tool], [tool]))
    asked = [body.get("parallel_tool_calls") for _, _, body in server.asked]
    assert asked == [None, False, None, None]


# ---- time ----


def test_a_server_that_falls_silent():
    with Server() as server:
        server.steps.put(server.hold(stream(EVENTS["chat"][0])))
        with Asker(server.url, idle_ms="200ms", retries="0") as asker:
            check_error(asker.ask()[0], "timeout", "said nothing for 200 ms", "idle_ms")


def test_a_server_that_never_answers():
    with Server() as server:
        server.steps.put(server.hold())
        with Asker(server.url, timeout_ms="300ms", idle_ms="100ms") as asker:
            check_error(asker.ask()[0], "timeout", "did not answer in time", "timeout_ms")
    assert server.connections <= 1, "nobody asks again"


def test_the_deadline_of_a_question():
    with Server() as server:
        server.steps.put(server.hold(stream(EVENTS["chat"][0])))
        with Asker(server.url) as asker:
            check_error(asker.ask(deadline_ms=300)[0], "timeout")


@pytest.mark.parametrize("answered", ["nothing", "headers", "a piece", "busy"])
def test_cancelled(answered):
    read, write = os.pipe()
    with Server() as server:
        parts = {"nothing": [], "headers": [stream()], "a piece": [stream(EVENTS["chat"][0])]}.get(answered)
        server.steps.put(answer("", "429 Slow", "text/plain", "Retry-After: 50") if parts is None else server.hold(*parts))
        with Asker(server.url, pass_fds=[read], cancel_fd=read) as asker:
            asker.send({"messages": [{"role": "user", "content": []}]})
            wait_until(lambda: server.asked, "the question")
            if answered == "a piece":
                assert asker.line() == {"saw": "Hel"}
            began = time.monotonic()
            os.write(write, b"x")
            check_error(asker.receive()[0], "cancelled")
            assert time.monotonic() - began < 45, "nothing else would have ended it before"
    os.close(read)
    os.close(write)


def test_nobody_listens():
    with ports.reserve() as nobodys:
        address = f"127.0.0.1:{ports.number_of(nobodys)}"
        with Asker(f"http://{address}") as asker:
            check_error(asker.ask()[0], "unavailable", "after 3 attempts", "cannot be reached", address)


# ---- servers that lie ----


def test_a_redirect_is_not_followed():
    with Server(GOOD) as other:
        sends = answer("", "307 There", "text/plain", f"Location: {other.url}/v1/chat/completions")
        came, _, server = once(sends)
        check_error(came, "invalid", "sends elsewhere", other.url)
        assert len(server.asked) == 1 and other.asked == []


def test_a_page_for_people():
    came, _, server = once(answer("<!DOCTYPE html><h1>Welcome</h1>", kind="text/html"))
    check_error(came, "malformed", "a page for people", "base_url")
    came, _, server = once(answer("<html>Bad Gateway</html>", "502 Bad", "text/html"), retries="0")
    message = check_error(came, "unavailable", "502")
    assert "html" not in message


@pytest.mark.parametrize("status", ["200 OK", "500 Oops"])
def test_more_than_an_answer_has(status):
    def flood(connection):
        connection.sendall(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n\r\n".encode())
        while True:
            connection.sendall(b" " * 65536)

    came, _, _ = once(flood, answer_bytes="1MiB")
    check_error(came, "malformed", "longer than 1 MiB", "answer_bytes")


def test_events_without_end():
    def flood(connection):
        connection.sendall(stream(*EVENTS["chat"][:1]))
        while True:
            connection.sendall(b"data: " * 1000)

    came, _, _ = once(flood, answer_bytes="1MiB")
    check_error(came, "malformed", "longer than 1 MiB")


def test_a_bomb():
    packed = answer(gzip.compress(b" " * 50_000_000), "200 OK", "application/json", "Content-Encoding: gzip")
    came, _, server = once(packed)
    check_error(came, "malformed", "compressed")
    assert len(server.asked) == 1


def test_what_is_no_HTTP():
    came, _, _ = once(b"SSH-2.0-x\r\n\r\n", retries="0")
    check_error(came, "unavailable")


def test_headers_without_end():
    def flood(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"X: " + b"x" * 60000 + b"\r\n")

    came, _, _ = once(flood, retries="0")
    check_error(came, "cut")


def test_what_a_server_says_of_it_is_shown_but_no_key_and_nothing_that_drives_a_terminal():
    said = '{"error":{"message":"sk-secret \\u001b]0;owned\\u0007 is\\nwrong ' + "x" * 5000 + '"}}'
    came, _, _ = once(answer(said, "400 No"))
    check_error(came, "invalid", "***", "owned")


# ---- the key ----


KEY = "sk-abcdefghijklmnopqrstuvwxyz"


def test_a_key_in_an_answer_is_not_shown():
    pieces = ["It is sk-abcdefghijk", "lmnopqrstuvwxyz", ", and sk-abcdef", "."]
    deltas = [{"content": piece} for piece in pieces]
    arguments = json.dumps({KEY: [KEY]})
    deltas.append({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}}]})
    events = [json.dumps({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    sent = stream(*[f"data: {event}\n\n" for event in events], EVENTS["chat"][-2], "data: [DONE]\n\n")
    came, seen, _ = once(sent, key=KEY)
    assert text_of(came) == "It is ***, and sk-abcdef." == "".join(seen)
    assert came["answer"]["message"]["content"][1]["arguments"] == {"***": ["***"]}


def test_a_part_of_a_key_in_an_error_is_not_shown():
    said = json.dumps({"error": {"message": f"what is {KEY[:20]}, or {KEY[3:9]}, or {KEY}?"}})
    came, _, _ = once(answer(said, "400 Bad Request"), key=KEY)
    check_error(came, "invalid", "what is ***, or abcdef, or ***?")


def test_a_key_does_not_go_unencrypted_over_a_network():
    with Asker("http://192.0.2.1/v1") as asker:
        check_error(asker.line(), "invalid", "192.0.2.1", "https")


@pytest.mark.parametrize("base", ["http://localhost:1/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1"])
def test_a_key_does_not_go_unencrypted_to_a_proxy(base):
    with Asker(base, proxy="http://192.0.2.1:3128") as asker:
        check_error(asker.line(), "invalid", "the proxy http://192.0.2.1:3128", "https, no proxy, or no key")


def test_a_proxy_on_this_machine_may_see_the_key_and_one_elsewhere_what_has_none():
    with Server(GOOD) as proxy:
        with Asker("http://localhost:1/v1", proxy=proxy.url) as asker:
            assert text_of(asker.ask()[0]) == "Hello"
        assert proxy.asked[0][1]["authorization"] == "Bearer sk-secret"
    with Asker("http://localhost:1/v1", proxy="http://192.0.2.1:3128", key=None, connect_ms="100", retries="0") as asker:
        check_error(asker.ask()[0], "unavailable")


def test_no_proxy_stands_before_a_socket(tmp_path):
    with Server(GOOD, GOOD, path=tmp_path / "model.sock") as server, Server() as proxy:
        surroundings = {"http_proxy": proxy.url, "all_proxy": proxy.url}
        socket = {"unix_socket": tmp_path / "model.sock"}
        with Asker(server.url, surroundings=surroundings, **socket) as asker:
            assert text_of(asker.ask()[0]) == "Hello"
        with Asker(server.url, proxy="http://192.0.2.1:3128", **socket) as asker:
            assert text_of(asker.ask()[0]) == "Hello"
    assert proxy.asked == []


@pytest.mark.parametrize("key", ["sk-secret\r\nX-Evil: 1", "sk secret", "sk-sécret"])
def test_a_key_that_is_none(key):
    with Server() as server, Asker(server.url, key=key) as asker:
        check_error(asker.line(), "key", "adder model show tested")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    place = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", place / "key.pem", "-out", place / "cert.pem"]
    subprocess.run(command, check=True, capture_output=True, timeout=DEADLINE)
    return place


def secure(server, certificate):
    """SERVER, over TLS; its URL."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    plain = server.serve

    def serve(connection):
        try:
            plain(context.wrap_socket(connection, server_side=True))
        except OSError:
            connection.close()

    server.serve = serve
    return server.url.replace("http:", "https:")


def test_a_certificate_that_nobody_vouches_for(certificate):
    with Server(GOOD) as server, Asker(secure(server, certificate)) as asker:
        check_error(asker.ask()[0], "unavailable", "ca_file")
    assert server.asked == []


def test_a_certificate_of_ones_own(certificate):
    with Server(GOOD) as server, Asker(secure(server, certificate), ca_file=certificate / "cert.pem") as asker:
        assert text_of(asker.ask()[0]) == "Hello"


def test_a_certificate_of_another_host(certificate):
    with Server(GOOD) as server:
        url = secure(server, certificate).replace("127.0.0.1", "localhost")
        with Asker(url, ca_file=certificate / "cert.pem") as asker:
            check_error(asker.ask()[0], "unavailable", "ca_file")
    assert server.asked == []


def test_a_file_of_certificates_that_is_not_there(certificate, tmp_path):
    with Server(GOOD) as server, Asker(secure(server, certificate), ca_file=tmp_path / "none.pem") as asker:
        check_error(asker.ask()[0], "invalid", "ca_file")
