# SPDX-License-Identifier: Apache-2.0
"""Servers of models that do what they should not, and the program that asks them: model-asker of the build."""
import json
import os
import queue
import socket
import subprocess
import threading

import harness

# What each dialect has for one short answer, as events and as one object.
EVENTS = {
    "chat": (
        'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}\n\n',
        'data: {"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\n',
        'data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":400}}}\n\n',
        "data: [DONE]\n\n",
    ),
    "responses": (
        'data: {"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"Hel"}\n\n',
        'data: {"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"lo"}\n\n',
        'data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":1000,"output_tokens":100,'
        '"input_tokens_details":{"cached_tokens":400}}}}\n\n',
    ),
    "messages": (
        'data: {"type":"message_start","message":{"usage":{"input_tokens":600,"cache_read_input_tokens":400,"output_tokens":1}}}\n\n',
        'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}\n\n',
        'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}\n\n',
        'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":100}}\n\n'
        'data: {"type":"message_stop"}\n\n',
    ),
}
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}


def answer(body, status="200 OK", kind="application/json", *headers):
    """A whole answer, as bytes."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def stream(*events, headers=()):
    """A stream that ends with its connection."""
    head = "\r\n".join(["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Connection: close", *headers])
    return (head + "\r\n\r\n" + "".join(events)).encode()


def chunked(*events):
    """A stream after which its connection may be used again."""
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    return (head + "".join(f"{len(event.encode()):x}\r\n{event}\r\n" for event in events) + "0\r\n\r\n").encode()


class Server:
    """Answers the requests that come with STEPS, in turn: bytes, which are sent; or a function of the connection. What was
    asked is in `asked`: (path, headers, body). A connection ends when there is no step left, or when its step returned True."""

    def __init__(self, *steps, path=None):
        self.steps = queue.SimpleQueue()
        for step in steps:
            self.steps.put(step)
        self.asked = []
        self.connections = 0
        self.over = threading.Event()
        if path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.bind(str(path))
        else:
            self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.listen()
        self.url = "http://127.0.0.1:" + ("1" if path else str(self.socket.getsockname()[1]))
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            self.threads.append(threading.Thread(target=self.serve, args=(connection,), daemon=True))
            self.threads[-1].start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as lines:
            try:
                while self.read(lines):
                    step = self.steps.get_nowait()
                    if callable(step):
                        if step(connection):
                            return
                    else:
                        connection.sendall(step)
                        if b"Connection: close" in step:
                            return
            except (OSError, queue.Empty):
                pass

    def read(self, lines):
        first = lines.readline().decode()
        if not first:
            return False
        headers = {}
        while (line := lines.readline().decode().strip()):
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        body = lines.read(int(headers.get("content-length", 0)))
        self.asked.append((first.split()[1], headers, json.loads(body)))
        return True

    def hold(self, *parts):
        """A step that sends PARTS and then nothing, until the test is over."""

        def step(connection):
            for part in parts:
                connection.sendall(part)
            self.over.wait(harness.DEADLINE)
            return True

        return step

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over.set()
        harness.end_accepting(self.socket, self.threads[0])


class Asker:
    """A model of one server. `ask` gives what came: the answer or the error, and what was seen meanwhile."""

    def __init__(self, url, dialect="chat", pass_fds=(), surroundings=None, **settings):
        build = harness.build_directory()
        settings = {"dialect": dialect, "base_url": url, "model": "m", "key": "sk-secret", "timeout_ms": "60s", **settings}
        words = [f"{name}={value}" for name, value in settings.items() if value is not None]
        self.process = subprocess.Popen(
            [build / "tests/models/model-asker", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=pass_fds,
            env={**os.environ, "ADDER_LIBEXECDIR": str(build / "src/runner"), "NO_PROXY": "", **(surroundings or {})},
        )

    def send(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()

    def line(self):
        text = self.process.stdout.readline()
        assert text, self.process.stderr.read()
        return json.loads(text)

    def receive(self):
        seen = []
        while "saw" in (line := self.line()):
            seen.append(line["saw"])
        return line, seen

    def ask(self, text="Hi", **question):
        self.send({"messages": [user(text)], **question})
        return self.receive()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        left = self.process.stderr.read()
        assert self.process.wait(harness.DEADLINE) == 0 and not left, left
        self.process.stdout.close()
        self.process.stderr.close()


def user(text):
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def text_of(came):
    """The text of an answer; what came is an error otherwise."""
    assert "answer" in came, came
    return "".join(part["text"] for part in came["answer"]["message"]["content"] if part["type"] == "text")


def check_error(came, code, *words):
    """The error of what came: a sentence of some length, without the key and control characters."""
    assert "error" in came, came
    message = came["error"]["message"]
    assert came["error"]["code"] == code, came
    assert "sk-secret" not in message and message.isprintable() and len(message) < 700, message
    assert all(word in message for word in words), message
    return message
