# SPDX-License-Identifier: Apache-2.0
"""Command lines: run_shell of the toolset `code_executor` by its contract, and the environment `shell` under attack, past the
list of programs, at each level."""
import itertools
import json
import shutil
import uuid

import pytest

from harness import Tools, schema_of

FIELDS = {"stdout", "stderr", "exit_code", "run_id"}


@pytest.fixture
def tools(adder):
    return Tools(adder, "code_executor")


@pytest.fixture
def run(tools):
    def call(command, status=0, *options, **arguments):
        reply = tools.call("run_shell", {"command": command, **arguments}, *options, status=status)
        assert set(reply) == FIELDS, reply
        return reply

    return call


def shell(adder, command, *options, **others):
    """The result of COMMAND as a run."""
    environment, adder.environment = adder.environment, None
    try:
        return adder.run(command, "--profile", "shell", *options, **others)
    finally:
        adder.environment = environment


# ---- the contract ----


def test_its_parameters(tools):
    properties = tools.table["run_shell"]["inputSchema"]["properties"]
    assert list(properties) == ["command", "timeout"]
    assert properties["timeout"]["default"] == 30 and schema_of("integer", properties["timeout"])["maximum"] == 60
    assert "at most 60 s" in tools.refused("run_shell", {"command": "ls", "timeout": 61})


@pytest.mark.quick
def test_the_reply(run):
    reply = run("echo a | wc -c; echo b >&2")
    assert (reply["stdout"], reply["stderr"], reply["exit_code"]) == ("2\n", "b\n", 0)
    assert run("exit 3", 1)["exit_code"] == 3
    assert run("grep x /dev/null", 1)["exit_code"] == 1


WORK = {
    "sort and count": ("printf 'b\\na\\nb\\n' | sort | uniq -c | tr -s ' ' | cut -d ' ' -f 2-", "1 a\n2 b\n"),
    "awk": ("seq 10 | awk '{ s += $1 } END { print s }'", "55\n"),
    "sed": ("echo abc | sed 's/b/-/'", "a-c\n"),
    "grep": ("printf 'one\\ntwo\\n' | egrep -n 'tw|x'", "2:two\n"),
    "head and tail": ("seq 100 | head -n 20 | tail -n 1", "20\n"),
    "a loop": ("for i in 1 2 3; do printf '%s ' $((i * i)); done", "1 4 9 "),
    "a function": ("double() { echo $(($1 * 2)); }; double 21", "42\n"),
    "a here-document": ("x=1; cat <<E | tr a-z A-Z\nvalue $x\nE", "VALUE 1\n"),
    "files in /tmp": ("echo x > /tmp/a; cat /tmp/a /tmp/a | tee /tmp/b | wc -l; test -s /tmp/b && ls /tmp", "2\na\nb\noutput\n"),
    "find and xargs": ("echo 1 > a; echo 2 > b; find . -type f | sort | xargs cat", "1\n2\n"),
    "find -exec": ("echo 1 > a; find . -name a -exec cat {} \\;", "1\n"),
    "digests": ("printf x | sha256sum | cut -c 1-8", "2d711642\n"),
    "base64": ("echo aGVsbG8= | base64 -d", "hello"),
    "dates": ("date -u -d @0 +%Y", "1970\n"),
    "time zones": ("TZ=Asia/Tokyo date -d @0 +%H", "09\n"),
    "characters": ("printf 'größe' | wc -m", "5\n"),
    "encodings": (
        "for e in utf-16 latin1 iso-8859-15 cp1252 utf-32; do echo ö | iconv -t $e | iconv -f $e; done",
        "ö\n" * 5,
    ),
    "diff": ("echo a > a; echo b > b; diff a b | head -n 1; true", "1c1\n"),
    "tar": ("echo a > a; tar cf t.tar a; tar tf t.tar; tar xOf t.tar a", "a\na\n"),
    "gzip": ("echo a | gzip -c | zcat", "a\n"),
    "env": ("env -i A=1 printenv A; A=2 env | grep ^A=", "1\nA=2\n"),
    "stdbuf": ("seq 3 | stdbuf -oL tail -n 1; stdbuf -o0 printenv _STDBUF_O", "3\n0\n"),
    "timeout": ("timeout 0.2 sleep 10; echo $?", "124\n"),
    "a background process": ("(sleep 0.1; echo late) & wait; echo done", "late\ndone\n"),
    "what does not end": ("sleep 1000 & echo on", "on\n"),
    "where it is": ("pwd; id -un; echo $HOME $PATH", None),
}


@pytest.mark.parametrize("row", WORK.values(), ids=WORK.keys())
def test_work(run, row):
    command, printed = row
    reply = run(command)
    assert reply["exit_code"] == 0 and reply["stderr"] == "", reply
    assert printed is None or reply["stdout"] == printed


@pytest.mark.skipif(not shutil.which("jq"), reason="no jq")
def test_jq(run):
    assert run("""echo '{"a": [1, 2]}' | jq -c '.a | map(. * 2)'""")["stdout"] == "[2,4]\n"


@pytest.mark.skipif(not shutil.which("file"), reason="no file")
def test_file(run):
    assert "gzip compressed" in run("echo a | gzip > x; file x")["stdout"]


def test_nothing_stays(run):
    run("echo x > /tmp/x; echo y > /work/y")
    assert run("ls /tmp /work")["stdout"] == "/tmp:\noutput\n\n/work:\n"


def test_time_out_is_minus_one(run):
    reply = run("echo before; sleep 100", 1, timeout=4)
    assert reply["exit_code"] == -1 and reply["stdout"] == "before\n" and "4 s" in reply["stderr"]
    assert run("while :; do :; done", 1, timeout=1)["exit_code"] == -1


def test_long_output(run):
    reply = run("seq 100000; seq 100000 >&2")
    assert len(reply["stdout"]) == len(reply["stderr"]) == 8000
    assert reply["stdout"].startswith("1\n2\n")


def test_bytes_that_are_no_text(run):
    assert run("printf 'a\\377b'")["stdout"] == "a\ufffdb"


@pytest.mark.quick
def test_refusals_come_all_at_once(run):
    reply = run("rm -rf /; ls\nchmod 777 x | sudo ls; $x; eval ls; nosuch", 126)
    assert reply["exit_code"] == 126 and reply["stdout"] == ""
    lines = reply["stderr"].splitlines()
    assert [line.split(" (")[0] for line in lines] == [
        "line 1: refused: rm",
        "line 2: refused: chmod",
        "line 2: refused: sudo",
        "line 2: not_literal: $x",
        "line 2: refused: eval",
        "line 2: not_listed: nosuch",
    ]


def test_what_cannot_be_read_is_refused_with_its_place(run):
    reply = run("ls\necho 'a", 126)
    assert reply["stderr"].startswith("line 2: syntax: 'a (this ' has no end)")


PROMISED = "rm mkfs dd chmod chown docker sudo eval ssh nc".split()


@pytest.mark.parametrize("name", PROMISED)
def test_promised_refusals(run, name):
    reply = run(f"echo before; {name} x", 126)
    assert f"refused: {name} (" in reply["stderr"] and reply["stdout"] == ""


NAMES = ["rm", "\\rm", "'rm'", '"rm"', "r''m", "r\\\nm", "/bin/rm", "$(echo rm)", "`echo rm`", "$R", "${R:-rm}", "r*"]
FRAMES = [
    "{} x",
    "true; {} x",
    "true\n{} x",
    "true && {} x",
    "true | {} x",
    "true & {} x",
    "! {} x",
    "A=1 {} x",
    "> /tmp/y {} x",
    "({} x)",
    "{{ {} x; }}",
    "if {} x; then :; fi",
    "while {} x; do break; done",
    "for i in 1; do {} x; done",
    "case 1 in 1) {} x ;; esac",
    "f() {{ {} x; }}; f",
    "echo \"$({} x)\"",
    "cat <<E\n$({} x)\nE",
    "echo ${{A:-$({} x)}}",
    "env {} x",
    "timeout 5 {} x",
    "echo x | xargs {}",
    "find . -exec {} {{}} \\;",
    "command {} x",
]


def test_ways_to_say_rm(adder):
    """Some 290, each refused before anything runs."""
    ways = [frame.format(name) for frame, name in itertools.product(FRAMES, NAMES)]
    assert len(ways) > 200
    for command in ways:
        result = shell(adder, "touched=1; " + command)
        assert result.outcome == "refused" and result.violations, command
        assert result.stdout == "" and result.exit_code == 126, command


# ---- what is beside the contract ----


def test_arguments_files_and_input(adder):
    file = adder.file("numbers.txt", "3\n1\n2\n")
    result = adder.json("--profile", "shell", "--file", file, "-c", "sort numbers.txt; echo $1; cat", "--stdin", "-", "--", "first", input="in\n")
    assert (result.outcome, result.stdout) == ("ok", "1\n2\n3\nfirst\nin\n")


def test_files_come_back(adder):
    result = shell(adder, "echo x > /tmp/output/a.txt; echo y > b.txt")
    assert result.names == ["b.txt", "tmp/output/a.txt"]


def test_stored_files(own_adder):
    """Also one that is large enough to come without a copy: what lies in it is read, and not executed."""
    script = b"#!/bin/sh\necho RUNS\n" + b"#" * (20 << 20) + b"\n"
    tools = Tools(own_adder, "code_executor")
    for name, content in (("small.txt", b"b\na\n"), ("large.sh", script)):
        ended = own_adder.call("file", "put", own_adder.file(name, content))
        assert ended.returncode == 0, ended
        loaded = tools.call("load_file", {"file_id": ended.stdout.split()[0]}, "--conversation", "files")
        assert loaded["local_path"] == f"/tmp/{name}"
    reply = tools.call("run_shell", {"command": "sort /tmp/small.txt; wc -c < /tmp/large.sh"}, "--conversation", "files")
    assert reply["stdout"] == f"a\nb\n{len(script)}\n"
    attack = "cd /tmp; tar cf t --mode=755 large.sh; tar xf t; awk 'BEGIN { system(\"./large.sh; ls -l\") }'"
    reply = tools.call("run_shell", {"command": attack}, "--conversation", "files")
    assert "RUNS" not in reply["stdout"] and "Permission denied" in reply["stderr"], reply


def test_the_list_without_running(own_adder):
    ended = own_adder.call("run", "--check", "--profile", "shell", "-c", "echo x > /tmp/x; rm x")
    assert ended.returncode == 126 and ended.stdout.startswith("-c:1:18: refused: rm"), ended
    assert own_adder.call("run", "--check", "--profile", "shell", "-c", "ls").returncode == 0


def test_a_variable(adder):
    assert shell(adder, "echo $GREETING", "--set-env", "GREETING=hello there").stdout == "hello there\n"


def test_no_sessions(own_adder):
    ended = own_adder.call("session", "new", "--env", "shell")
    assert ended.returncode != 0 and "no sessions" in ended.stderr


def test_rules_for_python_are_not_passed_by(own_adder):
    for profile in ("compute", "snippet"):
        result = own_adder.json("--env", "shell", "--profile", profile, "-c", "ls")
        assert result.outcome == "failed" and "profile shell" in result.error["message"]


def test_a_command_that_is_too_long(adder):
    result = shell(adder, "echo " + "x" * (128 << 10))
    assert result.outcome == "failed" and "128 KiB" in result.error["message"]
    assert shell(adder, "echo " + "x" * ((128 << 10) - 8)).stdout_bytes == (128 << 10) - 7


def test_the_network_is_denied_at_once(run, adder):
    if not shutil.which("curl"):
        pytest.skip("no curl")
    reply = run("curl -s https://example.com/data.json | head -c 10")
    assert "Denied: network: curl https://example.com/data.json" in reply["stderr"]
    result = shell(adder, "curl -s example.com")
    assert [denial["kind"] for denial in result.denials] == ["network"]


def test_environment_cannot_be_made(own_adder):
    ended = own_adder.call("env", "new", "shell")
    assert ended.returncode != 0 and "cannot be made" in ended.stderr


# ---- past the list ----

# As root and as an ordinary user, with and without control groups, and without namespaces.
LEVELS = {"3": ("", 3), "2": ("[sandbox]\ncgroup = none\n", 2), "1": ("[sandbox]\nisolation = process\n", 1)}


@pytest.fixture(scope="module", params=[pytest.param(level, marks=pytest.mark.both_users) for level in LEVELS])
def inside(request, make_shared_adder, common_directory, user):
    """(function that runs a script which nobody has looked at, level): awk hands it to the shell."""
    configuration, level = LEVELS[request.param]
    temporary = common_directory / f"shell-{uuid.uuid4().hex[:10]}"
    temporary.mkdir()
    shutil.chown(temporary, user.uid)
    adder = make_shared_adder(configuration, {"TMPDIR": str(temporary)})
    command = """awk 'BEGIN { while ((getline line < "attack.sh") > 0) code = code line "\\n"; end = system(code); exit end > 255 ? end / 256 : end }'"""

    def attack(script, *options):
        result = shell(adder, command, "--file", adder.file("attack.sh", script), *options)
        if not result.isolation or result.isolation["level"] < level:
            pytest.skip(f"this host gives no level {level}")
        return result

    yield attack, level
    adder.stop()


def test_no_program_but_those_of_the_list(inside):
    attack, level = inside
    if level == 1:
        pytest.skip("the file tree is the host's")
    result = attack("find / -xdev -type f -perm -100 2>/dev/null; find / -name '*python*' -o -name 'perl*' 2>/dev/null")
    found = {path.rpartition("/")[2] for path in result.stdout.splitlines()}
    assert found and not found & {"rm", "dd", "chmod", "chown", "bash", "dash", "mount", "su", "nc", "ssh", "cp", "mv", "ln"}
    assert not [name for name in found if "python" in name or "perl" in name]


INTERPRETERS = "python3 perl bash dash rm chmod chown dd mount ssh nc gcc".split()


def test_other_programs_do_not_start(inside):
    attack, _ = inside
    for name in INTERPRETERS:
        for path in {name, f"/bin/{name}", f"/usr/bin/{name}", shutil.which(name) or name}:
            result = attack(f"{path} --version && echo RUNS\n/lib64/ld-linux-x86-64.so.2 {path} --version && echo RUNS")
            assert "RUNS" not in result.stdout, result


# tar restores modes, so that files can be had that look like programs.
MADE = "echo 'echo RUNS' > s; tar cf t --mode=755 s; tar xf t; "
COPIED = "cat $(command -v head) > h; tar cf t --mode=755 h; tar xf t; "

STARTS = {
    "a script": MADE + "./s",
    "a script in /tmp": MADE + "tar xf t -C ${TMPDIR:-/tmp}; ${TMPDIR:-/tmp}/s",
    "a script by PATH": MADE + "PATH=$PWD:$PATH; s",
    "a script with #!": "printf '#!/bin/sh\\necho RUNS\\n' > s; tar cf t --mode=755 s; tar xf t; ./s",
    "a copy": COPIED + "./h --version",
    "a copy by env": COPIED + "env ./h --version",
    "a copy by xargs": COPIED + "echo --version | xargs ./h",
    "a copy by find": COPIED + "find . -name h -exec {} --version \\;",
    "a copy in /dev/shm": COPIED + "tar xf t -C /dev/shm; /dev/shm/h --version",
    "exec": COPIED + "exec ./h --version",
    "the name of another": COPIED + "cat h > /usr/bin/head; ls() { ./h --version; }; ls",
}


@pytest.mark.parametrize("script", STARTS.values(), ids=STARTS.keys())
def test_what_a_command_writes_does_not_start(inside, script):
    attack, _ = inside
    result = attack(script)
    assert "RUNS" not in result.stdout and "coreutils" not in result.stdout, result


def test_the_loader_starts_nothing_that_was_written(inside):
    attack, level = inside
    if level == 1:
        pytest.skip("the workspace is a directory of the host's: what can be read there can be loaded")
    result = attack(COPIED + "/lib64/ld-linux-x86-64.so.2 ./h --version\nLD_PRELOAD=$PWD/h ls /")
    assert "coreutils" not in result.stdout, result


READ_ONLY = {
    "a program": "echo x > /usr/bin/ls",
    "the root": "echo x > /x",
    "users": "echo x >> /etc/passwd",
    "the kernel": "echo x > /proc/sys/kernel/core_pattern",
    "find -delete": "find /usr /etc /bin -delete 2>/dev/null; test -x /usr/bin/ls && exit 1",
    "another process": "echo x > /proc/1/oom_score_adj",
}


@pytest.mark.parametrize("script", READ_ONLY.values(), ids=READ_ONLY.keys())
def test_the_tree_stays_as_it_is(inside, script):
    attack, _ = inside
    result = attack(script + "\nexit $?")
    assert result.exit_code != 0, result


def test_nothing_of_the_host_is_read(inside, adder):
    attack, level = inside
    secret = f"secret-{uuid.uuid4()}"
    path = adder.file("private.txt", secret)
    for script in (f"cat {path}", f"find / -name private.txt -exec cat {{}} +", "cat /etc/shadow", "cat /proc/1/environ /proc/*/environ"):
        result = attack(script + " 2>/dev/null; true")
        assert secret not in result.stdout and "root:" not in result.stdout and "ADDER_" not in result.stdout


def test_rights(inside):
    attack, level = inside
    told = attack("cat /proc/self/status; umask; id -u")
    if level > 1:
        fields = dict(line.split(":\t", 1) for line in told.stdout.splitlines() if ":\t" in line)
        assert int(fields["CapEff"], 16) == int(fields["CapBnd"], 16) == 0
        assert fields["NoNewPrivs"] == "1" and fields["Seccomp"] == "2"
    assert told.stdout.splitlines()[-1] != "0"


def test_signals_end_nobody_else(inside):
    attack, _ = inside
    attack("kill -9 -1; kill -9 1; kill -9 $PPID; echo on")
    assert attack("echo on").stdout == "on\n"


def test_processes_without_end(inside):
    attack, _ = inside
    result = attack("f() { f | f & }; f; wait", "--timeout", "2")
    assert result.outcome in ("ok", "error", "timeout", "cpu_limit", "memory_limit", "crashed")
    assert attack("echo on").stdout == "on\n"


def test_memory_without_end(inside):
    attack, _ = inside
    result = attack("awk 'BEGIN { x = \"0123456789\"; while (1) x = x x }'", "--limit", "memory_bytes=64M")
    assert result.outcome in ("error", "memory_limit"), result
    assert attack("echo on").stdout == "on\n"


def test_space_without_end(inside):
    attack, level = inside
    result = attack("cat /dev/zero > x; wc -c < x", "--limit", "workspace_bytes=4M", "--limit", "file_bytes=8M")
    assert result.outcome in ("ok", "error") and int(result.stdout or 0) <= 8 << 20, result


def test_what_is_left_ends_with_the_run(inside):
    attack, _ = inside
    name = f"9{uuid.uuid4().int % 10**8}"
    attack(f"nohup sleep {name} > /dev/null 2>&1 & echo on")
    from harness import processes, wait_until

    def gone():
        return not any(process.arguments() == [b"sleep", name.encode()] for process in processes())

    wait_until(gone, "what the command left to end")
