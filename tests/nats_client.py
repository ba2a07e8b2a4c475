# SPDX-License-Identifier: Apache-2.0
"""A client of NATS that sees the bytes, and one that speaks what nodes of a cluster speak: see src/cluster/tunnel.h and frame.h."""
import hashlib
import hmac
import json
import os
import socket
import uuid


class Client:
    def __init__(self, port, deadline=30, login=None):
        """LOGIN: a name and a password."""
        self.socket = socket.create_connection(("127.0.0.1", port), deadline)
        self.file = self.socket.makefile("rb")
        self.subscribed = 0
        options = {"verbose": False, "headers": True, "no_responders": True, **(dict(zip(("user", "pass"), login)) if login else {})}
        self.send(f"CONNECT {json.dumps(options)}\r\n".encode())
        self.flush()

    def send(self, data):
        self.socket.sendall(data)

    def flush(self):
        """Until the server has carried out what was sent."""
        self.send(b"PING\r\n")
        while self.line() != b"PONG":
            pass

    def line(self):
        line = self.file.readline()
        assert line, "the server closed the connection"
        if line == b"PING\r\n":
            self.send(b"PONG\r\n")
        return line.rstrip(b"\r\n")

    def subscribe(self, subject):
        self.subscribed += 1
        self.send(f"SUB {subject} {self.subscribed}\r\n".encode())
        self.flush()

    def publish(self, subject, data, reply=""):
        self.send(f"PUB {subject} {reply} {len(data)}\r\n".encode() + data + b"\r\n")

    def next(self):
        """(subject, reply or "", bytes) of the next message; None: nobody received what was asked."""
        while True:
            words = self.line().decode().split()
            assert words[:1] != ["-ERR"], words
            if words[:1] not in (["MSG"], ["HMSG"]):
                continue
            data = self.file.read(int(words[-1]) + 2)[:-2]
            if words[0] == "HMSG":
                if data.startswith(b"NATS/1.0 503"):
                    return None
                data = data[int(words.pop(-2)) :]
            return words[1], words[3] if len(words) == 5 else "", data

    def close(self):
        self.file.close()
        self.socket.close()


def mac(key, data):
    return hmac.digest(key, data, "sha256")


ENTRY = {
    "node": "asker", "version": "0", "protocol": 1, "started": "2026-01-01T00:00:00.000Z", "gateway": True,
    "state": "serving", "pools": [], "running": 0, "waiting": 0, "sessions": 0,
}  # fmt: skip


def entry(tag, **changes):
    """What anybody may say of the node TAG, and nodes of earlier versions say of themselves: without a signature."""
    return f"$KV.adder-nodes.{tag}", json.dumps(ENTRY | {"tag": tag} | changes).encode()


class Asker:
    """A request, asked over CLIENT as a gateway does that knows SECRET; the nodes hear of it, for three seconds."""

    def __init__(self, client, secret):
        instance = str(uuid.uuid4())
        self.client, self.secret = client, secret.encode()
        self.address = f"{instance}.{os.urandom(16).hex()}"
        client.publish(*entry(os.urandom(3).hex(), instance=instance))
        self.key = mac(self.secret, f"frames to {self.address}".encode())
        self.received = self.sent = 0
        client.subscribe(f"adder.1.end.{self.address}")

    def message(self, method, target, body=b"", length=None, changed=None):
        """CHANGED: other members of its head."""
        head = {"method": method, "target": target, "headers": [["Content-Type", "application/json"]]}
        head |= {"caller": {"role": "admin", "owner": "asker"}, "to": self.address, "length": len(body) if length is None else length}
        text = json.dumps(head | {"sha256": hashlib.sha256(body).hexdigest()} | (changed or {})).encode()
        return mac(self.secret, text).hex().encode() + b" " + text + b"\n" + body

    def ask(self, subject, message):
        self.client.publish(subject, message, f"adder.1.end.{self.address}")

    def next(self):
        """(kind, bytes) of the next frame; None: nobody received the request."""
        message = self.client.next()
        if message is None:
            return None
        data = message[2]
        kind, number, seal, data = data[:1], data[1:9], data[9:25], data[25:]
        assert message[0].endswith(self.address) and mac(self.key, kind + number + data)[:16] == seal
        assert int.from_bytes(number, "big") == self.received
        self.received += 1
        return kind.decode(), data

    def taken(self):
        kind, data = self.next()
        assert kind == "T", (kind, data)
        self.tag, self.to = data.decode().split()
        return self.tag

    def sealed(self, kind, data=b"", number=None):
        head = kind.encode() + (self.sent if number is None else number).to_bytes(8, "big")
        return head + mac(mac(self.secret, f"frames to {self.to}".encode()), head + data)[:16] + data

    def tell(self, kind, data=b""):
        self.raw(self.sealed(kind, data))
        self.sent += 1

    def raw(self, frame):
        self.client.publish(f"adder.1.end.{self.to}", frame)

    def reply(self):
        """The status and the body of the whole reply."""
        text = b""
        while (frame := self.next())[0] != "E":
            assert frame[0] in "DS", frame
            text += frame[1] if frame[0] == "D" else b""
        head, _, body = text.partition(b"\r\n\r\n")
        return int(head.split()[1]), body
