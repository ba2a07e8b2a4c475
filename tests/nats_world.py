# SPDX-License-Identifier: Apache-2.0
"""A real NATS server with JetStream for the tests of the cluster: on a port of 127.0.0.1, run by an ordinary user in a directory
below /tmp, and ended with whoever started it."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import ports
from store_world import DEADLINE, NOBODY, become_ordinary

SETTINGS = 'host: 127.0.0.1\nport: {port}\njetstream {{ store_dir: "{directory}/jetstream" }}\n'


def program():
    """Where Debian's is, which is not on everybody's PATH; None: nowhere."""
    return shutil.which("nats-server", path=f"{os.environ['PATH']}:/usr/sbin")


class Nats:
    """MORE is added to its settings; %s in it is its directory. With accounts, ACCOUNT is how URLs name one: "USER:PASSWORD@"."""

    account = ""

    def __init__(self, more=""):
        if not program():
            raise FileNotFoundError("there is no NATS server on this host (the package nats-server)")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="adder-nats-", dir="/tmp"))
        self.reserved = ports.reserve()
        self.port = ports.number_of(self.reserved)
        self.server = None
        settings = SETTINGS.format(port=self.port, directory=self.directory) + more.replace("%s", str(self.directory))
        (self.directory / "nats.conf").write_text(settings)
        self.directory.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(self.directory, NOBODY, NOBODY)

    @property
    def url(self):
        return f"nats://{self.account}127.0.0.1:{self.port}"

    def up(self):
        with open(self.directory / "log", "ab") as log:
            self.server = subprocess.Popen(
                [program(), "-c", self.directory / "nats.conf"],
                preexec_fn=become_ordinary,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        end = time.monotonic() + DEADLINE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 5).close()
                return self
            except OSError:
                if self.server.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def down(self, how=signal.SIGKILL):
        if self.server and self.server.poll() is None:
            self.server.send_signal(signal.SIGCONT)
            self.server.send_signal(how)
            self.server.wait(DEADLINE)
        self.server = None

    def end(self):
        self.down()
        self.reserved.close()
        shutil.rmtree(self.directory, ignore_errors=True)
