# SPDX-License-Identifier: Apache-2.0
"""A pipe or file that is the command line's standard input is the code's, which takes of it only what it reads."""
import ctypes
import gc
import mmap
import os
import subprocess

import pytest

from harness import unique, wait_until

LENGTH = "import sys\nprint(len(sys.stdin.read()))"
NUMBERS = "".join(f"{number}\n" for number in range(20000))
PAGE = 4096


@pytest.fixture(params=[(), ("--no-daemon",)], ids=["daemon", "no daemon"])
def way(request):
    return request.param


def piped(text):
    """The read end of a pipe that holds TEXT and has no writer any more."""
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    return read


def opened(adder, text):
    return os.open(adder.file("input.txt", text), os.O_RDWR)


def rest(fd):
    left = b"".join(iter(lambda: os.read(fd, 1 << 16), b""))
    os.close(fd)
    return left.decode()


def test_a_pipe_and_a_file_are_passed(adder, way):
    assert adder.call("run", *way, "-c", LENGTH, input=NUMBERS).stdout == f"{len(NUMBERS)}\n"
    script = adder.file("length.py", LENGTH)
    with open(adder.file("input.txt", NUMBERS)) as numbers:
        assert adder.call("run", *way, script, stdin=numbers).stdout == f"{len(NUMBERS)}\n"
    assert adder.call("run", *way, "-c", LENGTH, input="").stdout == "0\n"
    assert adder.run("import sys\n[*sys.stdin]", "--stdin", adder.file("named.txt", "named"), input="piped").text == "['named']"


def test_more_than_pipes_hold(adder):
    with subprocess.Popen(["head", "-c", "3000000", "/dev/zero"], stdout=subprocess.PIPE) as zeros:
        assert adder.call("run", "-c", LENGTH, stdin=zeros.stdout).stdout == "3000000\n"


def test_an_open_pipe_is_not_waited_for(adder, way):
    read, write = os.pipe()
    assert adder.call("run", *way, "-c", "print('done')", stdin=read).stdout == "done\n"
    os.close(write)
    assert rest(read) == ""


@pytest.mark.parametrize("give", [lambda adder: piped("a\nb\n"), lambda adder: opened(adder, NUMBERS)], ids=["pipe", "file"])
def test_code_that_reads_nothing_takes_nothing(adder, way, give):
    fd = give(adder)
    for _ in range(2):  # as in: while read line; do adder run ...; done
        assert os.read(fd, 2) and adder.call("run", *way, "-c", "print(1)", stdin=fd).stdout == "1\n"
    assert rest(fd) in ("", NUMBERS[4:])


def test_code_that_reads_a_little_takes_a_little(adder, way):
    for fd in (piped(NUMBERS[: 3 * PAGE]), opened(adder, NUMBERS)):
        text = NUMBERS[: 3 * PAGE] if not os.path.isfile(f"/proc/self/fd/{fd}") else NUMBERS
        assert adder.run("import os\nlen(os.read(0, 100))", *way, stdin=fd).text == "100"
        assert rest(fd) == text[100:]


def test_it_comes_as_it_is_written(adder, way):
    with adder.start("import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)", *way, stdin=subprocess.PIPE) as process:
        for word in (b"one\n", b"two\n"):
            process.stdin.write(word)
            assert process.stdout.readline() == b"got " + word
        process.stdin.close()
        assert process.wait(adder.deadline) == 0


def test_a_file_that_cannot_be_read_to_its_end(adder, way):
    with open(adder.file("input.txt", "x" * 3 * PAGE), "r+b") as file, mmap.mmap(file.fileno(), 3 * PAGE) as pages:
        file.truncate(2 * PAGE)  # what is read behind that as memory is an error
        memory = os.open("/proc/self/mem", os.O_RDONLY)
        os.lseek(memory, ctypes.addressof(ctypes.c_char.from_buffer(pages)), os.SEEK_SET)
        ended = adder.call("run", *way, "-c", LENGTH, stdin=memory)
        os.close(memory)
        assert ended.stdout == f"{2 * PAGE}\n"
        assert "standard input ended early: it cannot be read on: " in ended.stderr
        gc.collect()


def test_the_limit(adder):
    endless = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
    try:
        for limit in ("0", "1M"):
            result = adder.run(LENGTH, "--limit", f"stdin_bytes={limit}", stdin=endless.stdout)
            assert result.outcome == "failed" and result.exit_status == 125 and "(stdin_bytes)" in result.error["message"]
            assert adder.run("'unread'", "--limit", f"stdin_bytes={limit}", stdin=endless.stdout).text == "'unread'"
    finally:
        endless.kill()
        endless.communicate()
    assert adder.run(LENGTH, "--limit", "stdin_bytes=4", input="four").stdout == "4\n"


ATTACK = """
import fcntl, os, stat
assert stat.S_ISFIFO(os.fstat(0).st_mode) and fcntl.fcntl(0, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
try:
    os.write(0, b"x")
except OSError:
    pass
else:
    raise SystemExit("written")
print(os.path.dirname(os.readlink("/proc/self/fd/0")) == "")
try:
    fcntl.fcntl(0, fcntl.F_SETPIPE_SZ, 1 << 20)
    os.fchmod(0, 0o666)
    os.write(os.open("/proc/self/fd/0", os.O_WRONLY), b"of its own" * 1000)
except OSError:
    pass
"""


def test_the_code_has_no_descriptor_of_the_callers(adder, way):
    fd = opened(adder, NUMBERS)
    assert adder.run(ATTACK, *way, stdin=fd).stdout == "True\n"
    os.lseek(fd, 0, os.SEEK_SET)
    assert rest(fd) == NUMBERS


def test_a_cell_and_the_next(adder):
    name = f"piped-{unique()}"
    assert adder.call("session", "new", "--name", name).returncode == 0
    try:
        assert adder.json("--session", name, "-c", "print(input())", input="a\nb\n").stdout == "a\n"
        assert adder.json("--session", name, "-c", "print(input())", input="c\n").stdout == "c\n"
        assert adder.json("--session", name, "-c", "input()").outcome == "error"
    finally:
        adder.call("session", "rm", name)


def test_a_run_that_waits_for_input_is_cancelled(adder):
    with adder.start("print('reads', flush=True)\ninput()", stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"reads\n"
        process.terminate()
        assert process.wait(adder.deadline) == 130
