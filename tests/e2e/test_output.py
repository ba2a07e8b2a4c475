# SPDX-License-Identifier: Apache-2.0
"""stdout and stderr: exact when they are short, head and tail when they are long, text whatever the bytes."""
import pytest


@pytest.mark.quick
def test_streams_are_apart(adder):
    result = adder.run(
        "import sys\n" "for i in range(3):\n" "    print('out', i); print('err', i, file=sys.stderr)"
    )
    assert result.stdout == "out 0\nout 1\nout 2\n" and result.stderr == "err 0\nerr 1\nerr 2\n"
    assert (result.stdout_bytes, result.stderr_bytes, result.truncated) == (18, 18, False)


def test_order_within_a_stream(adder):
    result = adder.run(
        "import os, subprocess, sys\n"
        "for i in range(200):\n"
        "    print('p', i, flush=True)\n"
        "    os.write(1, b'w %d\\n' % i)\n"
        "subprocess.run(['echo', 'child'])\nprint('last')"
    )
    expected = "".join(f"p {i}\nw {i}\n" for i in range(200)) + "child\nlast\n"
    assert result.stdout == expected


@pytest.mark.quick
def test_long_output_is_cut_in_the_middle(adder):
    result = adder.run("for i in range(1_000_000):\n    print(f'{i:09d}')", "--timeout", "60s")
    assert result.outcome == "ok" and result.truncated is True
    assert result.stdout_bytes == 10_000_000
    lines = result.stdout.splitlines()
    assert lines[0] == "000000000" and lines[-1] == "000999999"
    cap = result.limits["reply_bytes"]
    assert cap * 0.8 <= len(result.stdout.encode()) <= cap + 300
    odd = [line for line in lines if not (len(line) == 9 and line.isdigit())]
    notice = max(odd, key=len)
    assert len(odd) <= 3, "one line between, and at most a cut line on each side"
    kept = len(result.stdout.encode()) - len(notice.encode()) - 1
    assert any(
        str(10_000_000 - kept + slack) in notice.replace(",", "") for slack in range(-2, 3)
    ), f"the notice says how many bytes are missing: {notice}"


def test_long_standard_error(adder):
    result = adder.run("import sys\nsys.stderr.write('e' * 1_000_000)\nprint('out')")
    assert result.outcome == "ok" and result.truncated is True
    assert result.stdout == "out\n" and result.stderr_bytes == 1_000_000 and result.stdout_bytes == 4


def test_exactly_at_the_cap(adder):
    for size, cut in ((1000, False), (1001, True)):
        result = adder.run(f"import sys\nsys.stdout.write('x' * {size})", "--limit", "reply_bytes=1000")
        assert (result.truncated, result.stdout_bytes) == (cut, size)
        assert (result.stdout == "x" * size) is not cut


def test_cuts_are_at_characters(adder):
    result = adder.run("print('日本語🐍é' * 100_000)", "--limit", "reply_bytes=1001")
    assert result.truncated and "\ufffd" not in result.stdout


def test_no_newline_at_all(adder):
    result = adder.run("import sys\nsys.stdout.write('x' * 300_000)")
    assert (
        result.stdout.startswith("xxx") and result.stdout.endswith("xxx") and result.stdout_bytes == 300_000
    )


@pytest.mark.parametrize(
    "written, text",
    [
        (b"a\xff\xfeb", "a\ufffd\ufffdb"),
        (b"a\0b\0", "a\ufffdb\ufffd"),
        (b"\xe6\x97", None),
        (b"\xed\xa0\x80", None),
        (b"\xf4\x90\x80\x80", None),
        (b"\xc0\xaf", None),
        (b"\x1b[31mred\x1b[0m\r\n\x07", "\x1b[31mred\x1b[0m\r\n\x07"),
        (b"\xef\xbb\xbfbom", None),
        (b"\x80" * 1000, None),
    ],
    ids=[
        "not UTF-8",
        "NUL",
        "half a character",
        "surrogate",
        "beyond Unicode",
        "overlong",
        "control",
        "byte order mark",
        "stray",
    ],
)
def test_bytes_as_text(adder, written, text):
    result = adder.run(f"import os\nos.write(1, {written!r})\nos.write(2, {written!r})")
    assert result.outcome == "ok" and result.stdout_bytes == result.stderr_bytes == len(written)
    assert result.stdout == result.stderr == (written.decode(errors="replace") if text is None else text)


def test_printing_a_lone_surrogate(adder):
    """Python refuses to encode it, or it is escaped; either way there is a result."""
    result = adder.run("print('a\\ud800b')")
    assert result.outcome in ("ok", "error")


def test_closed_streams(adder):
    result = adder.run("import sys\nprint('a')\nsys.stdout.close()\nsys.stderr.close()\n6")
    assert (result.outcome, result.stdout, result.text) == ("ok", "a\n", "6")


def test_closed_descriptors(adder):
    result = adder.run("import os\nos.write(1, b'a')\nos.close(0); os.close(1); os.close(2)")
    assert result.outcome in ("ok", "error") and result.stdout == "a"


def test_replaced_descriptors(adder):
    result = adder.run(
        "import os\n" "os.dup2(os.open('x', os.O_CREAT | os.O_WRONLY), 1)\n" "print('into the file')"
    )
    assert result.outcome == "ok" and result.stdout == "" and result.files[0]["bytes"] == 14


# ---- what a person sees ----


@pytest.mark.quick
def test_person_sees_streams_value_and_files(adder):
    ended = adder.call(
        "run",
        "-c",
        "import sys\n"
        "print('out')\n"
        "print('err', file=sys.stderr)\n"
        "open('x.txt', 'w').write('12345')\n"
        "6 * 7",
    )
    assert ended.returncode == 0
    assert ended.stdout.startswith("out\n42\n")
    assert ended.stderr.startswith("err\n")
    assert "x.txt" in ended.stdout + ended.stderr


def test_person_sees_output_exactly(adder):
    """Nothing is added to what the code wrote, so that it can be piped on, bytes and all."""
    process = adder.popen("run", "-c", "import os\nwritten = os.write(1, bytes(range(256)))")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, bytes(range(256)), b"")


def test_person_sees_all_of_a_long_output(adder):
    process = adder.popen("run", "--timeout", "60s", "-c", "for i in range(1_000_000):\n    print(f'{i:09d}')")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and out == b"".join(b"%09d\n" % i for i in range(1_000_000))
    assert err == b""


def test_person_sees_a_traceback(adder):
    ended = adder.call("run", "-c", "print('out')\n1/0")
    assert ended.returncode == 1 and ended.stdout == "out\n"
    assert ended.stderr.startswith("Traceback (most recent call last):\n")
    assert ended.stderr.rstrip().splitlines()[-1].startswith("ZeroDivisionError: division by zero")


def test_person_sees_output_as_it_comes(adder):
    process = adder.start("print('first', flush=True)\nwhile True: pass", "--timeout", "100")
    try:
        assert process.stdout.readline() == b"first\n", "while the run is still under way"
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    "code, options, status, words",
    [
        ("while True: pass", ["--limit", "wall_ms=300"], 124, ["time"]),
        ("while True: print('x' * 9999)", ["--limit", "output_bytes=100000"], 137, ["output", "100"]),
        ("import os; os.kill(os.getpid(), 11)", [], 139, ["SIGSEGV"]),
        ("import sys; sys.exit(7)", [], 7, []),
    ],
)
def test_person_is_told_the_reason(adder, code, options, status, words):
    ended = adder.call("run", *options, "-c", code)
    assert ended.returncode == status
    last = ended.stderr.strip().splitlines()[-1:] or [""]
    for word in words:
        assert word.lower() in last[0].lower()


def test_reader_that_goes_away(adder):
    """adder run ... | head"""
    process = adder.start(
        "print('first', flush=True)\n" "while True: print('x' * 1000)",
        "--limit",
        "output_bytes=4G",
        "--timeout",
        "60",
    )
    assert process.stdout.readline() == b"first\n"
    process.stdout.close()
    process.stderr.close()
    process.wait(timeout=50)
    assert process.returncode != 0
