# SPDX-License-Identifier: Apache-2.0
"""What code sees of the machine it runs on, and terminals of its own."""
import json
import os
import textwrap

import pytest

pytestmark = pytest.mark.both_users

MEBIBYTE = 1 << 20


def dedent(code):
    return textwrap.dedent(code).lstrip("\n")


@pytest.fixture
def own_proc(adder):
    """Skips where the host masks /proc, so that sandboxes have none."""
    if "proc" in adder.run("1").isolation["missing"]:
        pytest.skip("sandboxes have no /proc here")
    return adder


# ---- /proc ----

MEMORY = "print([line.split()[1] for line in open('/proc/meminfo') if line.startswith(('MemTotal', 'MemAvailable'))])"


@pytest.mark.parametrize("limit", (None, "300M", "2G"))
def test_memory_is_what_the_limit_gives(own_proc, limit):
    kilobytes = {None: 1 << 20, "300M": 300 << 10, "2G": 2 << 20}[limit]
    result = own_proc.run(MEMORY, *(["--memory", limit] if limit else []))
    assert result.stdout == f"{[str(kilobytes)] * 2}\n"


def test_memory_of_a_run_is_not_that_of_the_one_before(own_proc):
    for limit in ("64M", "1G", "65M"):
        own_proc.run(MEMORY, "--memory", limit)
    assert own_proc.run(MEMORY).stdout == f"{[str(1 << 20)] * 2}\n"


def test_memory_of_a_session(own_proc, sessions):
    result = sessions.cell(sessions.new("--memory", "200M"), MEMORY)
    assert result.stdout == f"{[str(200 << 10)] * 2}\n"


def test_processors_are_those_that_may_be_used(own_proc):
    result = own_proc.run(
        dedent("""
        import json, os
        lines = open("/proc/cpuinfo").read().split("\\n")
        rows = [line.split() for line in open("/proc/stat") if line.startswith("cpu")]
        print(json.dumps([os.cpu_count(), sum(line.startswith("processor") for line in lines), len(rows) - 1, len(os.sched_getaffinity(0))]))
        print({number for row in rows for number in row[1:]})
        """)
    )
    counts, busy = result.stdout.splitlines()
    assert json.loads(counts) == [len(os.sched_getaffinity(0))] * 4 and busy == "{'0'}"


def test_nothing_else_of_the_kernel_is_there(own_proc):
    names = sorted(set(os.listdir("/proc")) - {"self", "thread-self", "meminfo", "stat", "cpuinfo"})
    names = [name for name in names if not name.isdigit()]
    result = own_proc.run(f"import os\nprint([name for name in {names} if os.path.lexists('/proc/' + name)])")
    assert len(names) > 20 and result.stdout == "[]\n"


def test_psutil(science):
    result = science.run(
        dedent("""
        import json, psutil, time
        memory, swap = psutil.virtual_memory(), psutil.cpu_count()
        print(json.dumps([memory.total, memory.available, memory.percent]))
        print(json.dumps([psutil.cpu_percent(), psutil.cpu_percent(interval=0.01), psutil.cpu_count()]))
        print(0 < time.time() - psutil.Process().create_time() < 3600, psutil.boot_time() < time.time())
        """),
        "--memory",
        "300M",
    )
    assert result.outcome == "ok", result.error
    memory, processors, times = result.stdout.splitlines()
    assert json.loads(memory) == [300 * MEBIBYTE, 300 * MEBIBYTE, 0.0]
    assert json.loads(processors) == [0.0, 0.0, len(os.sched_getaffinity(0))] and times == "True True"


# ---- terminals ----


def test_pty(own_proc):
    result = own_proc.run(
        dedent("""
        import os, pty, termios, tty
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp("sh", ["sh", "-c", "tty; read line; echo got $line; exit 3"])
        os.write(terminal, b"word\\n")
        text = b""
        try:
            while part := os.read(terminal, 1024):
                text += part
        except OSError:
            pass
        print(text.decode().split(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        leader, follower = os.openpty()
        tty.setraw(follower)
        termios.tcsetwinsize(follower, (30, 90)) if hasattr(termios, "tcsetwinsize") else None
        termios.tcdrain(follower), termios.tcflush(follower, termios.TCIOFLUSH)
        print(os.ttyname(follower), os.isatty(follower), sorted(os.listdir("/dev/pts"))[-1])
        """)
    )
    assert result.outcome == "ok", result.error
    first, second = result.stdout.splitlines()
    words, code = first.rsplit(" ", 1)
    assert code == "3" and "'/dev/pts/0'" in words and "'got', 'word'" in words
    assert second == "/dev/pts/1 True ptmx"


def test_pexpect(science):
    result = science.run(
        dedent("""
        import pexpect, sys
        child = pexpect.spawn(sys.executable, ["-c", "print(6 * int(input('number? ')))"], encoding="utf-8", timeout=30)
        child.expect_exact("number? ")
        child.sendline("7")
        child.expect("42")
        child.expect(pexpect.EOF)
        child.close()
        cat = pexpect.spawn("cat", encoding="utf-8", timeout=30)
        cat.sendline("word")
        cat.expect("word\\r\\nword")
        cat.sendintr()
        cat.expect(pexpect.EOF)
        cat.close()
        print(child.exitstatus, cat.signalstatus)
        """)
    )
    assert result.outcome == "ok", result.error
    assert result.stdout == "0 2\n"


def test_terminals_in_a_session(own_proc, sessions):
    result = sessions.cell(sessions.new(), "import os\nprint(os.ttyname(os.openpty()[1]))")
    assert result.stdout == "/dev/pts/0\n"


def test_few_terminals_for_each_sandbox(own_proc):
    code = "import os\nmade = 0\ntry:\n    while True: os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY); made += 1\nexcept OSError as error: print(made, error.strerror)"
    for _ in range(3):
        assert own_proc.run(code).stdout == "8 No space left on device\n"


# ---- the library ----


def test_no_link_of_pythons_library_leads_nowhere(adder):
    result = adder.run(
        dedent("""
        import os
        for base, folders, names in os.walk(os.path.dirname(os.__file__)):
            for name in folders + names:
                if not os.path.exists(os.path.join(base, name)):
                    print(os.path.join(base, name))
        """)
    )
    assert (result.outcome, result.stdout) == ("ok", "")
