# SPDX-License-Identifier: Apache-2.0
"""Programs at a terminal."""
import codecs
import contextlib
import fcntl
import os
import pty
import select
import struct
import termios
import time

from harness import DEADLINE


def read_to_end(terminal):
    """What came at our end of one, until nobody has the other end any more: it may come in parts."""
    came = b""
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 65536):
            came += part
    return came


class Terminal:
    """`adder` with ARGUMENTS at a terminal of its own. OTHERS: where standard output or error is none."""

    def __init__(self, adder, *arguments, columns=100, env=None, **others):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self.seen = ""
        self.decode = codecs.getincrementaldecoder("utf-8")("replace").decode  # one read may end within a character
        self.process = adder.popen(
            *arguments,
            **{"stdin": theirs, "stdout": theirs, "stderr": theirs, **others},
            env={**adder.process_environment(), "TERM": "xterm", **(env or {})},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.theirs = theirs  # kept, so that its modes can be read at the end

    def type(self, text):
        os.write(self.ours, text.encode())

    def wait_for(self, text, deadline=DEADLINE):
        """Reads until TEXT is there; what came until then."""
        end = time.monotonic() + deadline
        while text not in self.seen:
            ready, _, _ = select.select([self.ours], [], [], max(0, end - time.monotonic()))
            assert ready, f"no {text!r} within {deadline} s after {self.seen!r}"
            self.seen += self.decode(os.read(self.ours, 65536))
        at = self.seen.index(text) + len(text)
        before, self.seen = self.seen[:at], self.seen[at:]
        return before

    def end(self):
        code = self.process.wait(DEADLINE)
        after = termios.tcgetattr(self.theirs)
        os.close(self.ours)
        os.close(self.theirs)
        assert after[3] == self.before[3], "the terminal is as it was"
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def read_all(screen):
    """What comes until the program of SCREEN ends, and its exit code."""
    os.close(screen.theirs)
    text = screen.seen
    while True:
        ready, _, _ = select.select([screen.ours], [], [], DEADLINE)
        assert ready, f"nothing more within {DEADLINE} s after {text!r}"
        try:
            got = os.read(screen.ours, 65536)
        except OSError:  # nobody has the other end any more
            break
        text += screen.decode(got)
    os.close(screen.ours)
    return text, screen.process.wait(DEADLINE)
