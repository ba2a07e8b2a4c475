# SPDX-License-Identifier: Apache-2.0
"""What a network partition does to a daemon: servers are reached by a cable, which can be cut. Then nothing arrives in either
direction, not even that a connection was closed, and new connections get no answer; later all of it does. It is a proxy, so it
needs neither root nor namespaces."""
import contextlib
import pathlib
import shutil
import socket
import tempfile
import threading

PART = 1 << 16


class Cable:
    def __init__(self):
        self.joined, self.listeners, self.directory = threading.Event(), [], pathlib.Path(tempfile.mkdtemp(prefix="adder-cable-", dir="/tmp"))
        self.directory.chmod(0o755)
        self.join()

    def cut(self):
        self.joined.clear()

    def join(self):
        self.joined.set()

    def end(self):
        for listener, thread in self.listeners:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()  # as harness.end_accepting does, which programs without pytest cannot import
            listener.close()
        self.join()
        shutil.rmtree(self.directory, ignore_errors=True)

    def urls(self, urls, nats, postgres, s3):
        """URLS of these servers by this cable."""
        ways = [(str(port), str(self.port(port))) for port in (nats.port, s3.ports["s3.port"])]
        ways += [(str(postgres.directory), str(self.folder(next(postgres.directory.glob(".s.PGSQL.*[0-9]")))))]
        for way in ways:
            urls = [url.replace(*way) for url in urls]
        return urls

    def port(self, number):
        """The port of 127.0.0.1 by which the server at the port NUMBER is reached."""
        listener = self.listen(socket.AF_INET, ("127.0.0.1", 0), ("127.0.0.1", number))
        return listener.getsockname()[1]

    def folder(self, path):
        """The same for the Unix socket PATH: a folder with one of that name."""
        own = self.directory / path.name
        self.listen(socket.AF_UNIX, str(own), str(path))
        own.chmod(0o777)
        return self.directory

    def listen(self, family, address, server):
        listener = socket.socket(family)
        listener.bind(address)
        listener.listen()
        thread = threading.Thread(target=self.accept, args=(listener, family, server), daemon=True)
        thread.start()
        self.listeners.append((listener, thread))
        return listener

    def accept(self, listener, family, server):
        with contextlib.suppress(OSError):  # its end
            while True:
                threading.Thread(target=self.connect, args=(listener.accept()[0], family, server), daemon=True).start()

    def connect(self, here, family, server):
        self.joined.wait()
        there = socket.socket(family)
        with here, there:
            with contextlib.suppress(OSError):
                there.connect(server)
                back = threading.Thread(target=self.pass_on, args=(there, here), daemon=True)
                back.start()
                self.pass_on(here, there)
                back.join()

    def pass_on(self, source, sink):
        """Until one side ends; the other hears of that, and then both have ended."""
        with contextlib.suppress(OSError):
            while data := source.recv(PART):
                self.joined.wait()
                sink.sendall(data)
        self.joined.wait()
        for each in (sink, source):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
