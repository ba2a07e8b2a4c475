# SPDX-License-Identifier: Apache-2.0
"""Approvals: a profile that wants a yes gets it from a person, for exactly what that person saw, and once."""
import fcntl
import json
import os
import pty
import re
import select
import struct
import termios
import time
import unicodedata

import pytest

from harness import DEADLINE, gathered, strict_json, unique, wait_until

ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
YES_OR_NO = b"Run it? [y]es / [n]o "
OR_ALWAYS = b"Run it? [y]es / [n]o / [a]lways for this conversation "


class Guarded:
    """An Adder with a profile that wants approvals."""

    def __init__(self, adder):
        self.adder = adder
        folder = adder.config / "profiles"
        folder.mkdir(exist_ok=True)
        for name, when in {"asks": "always", "asks_too": "always", "asks_on_effect": "effect"}.items():
            path = folder / f"{name}.conf"
            path.write_text(f"[profile]\ntitle = for tests\napproval = {when}\n")
            path.chmod(0o644)
        folder.chmod(0o755)

    def run(self, code, *options, profile="asks", **others):
        return self.adder.run(code, "--profile", profile, *options, **others)

    def needs(self, code, *options, **others):
        """The id of the approval that the run waits for."""
        result = self.run(code, *options, **others)
        assert result.outcome == "approval_required" and result.stdout == ""
        assert re.fullmatch(ID, result.approval_id)
        assert result.error["type"] == "ApprovalRequired" and result.isolation is None
        assert f"adder approval approve {result.approval_id}" in result.error["hint"]
        return result.approval_id

    def ask(self, *arguments):
        ended = self.adder.call("approval", *arguments, "--json")
        assert ended.returncode == 0 and ended.stderr == "", ended
        return strict_json(ended.stdout)

    def refused(self, *arguments):
        ended = self.adder.call("approval", *arguments)
        assert ended.returncode == 125 and ended.stdout == "", ended
        return ended.stderr

    def approve(self, approval_id, *options):
        assert self.ask("approve", approval_id, *options)["state"] == "approved"

    def terminal(self, code, *answers, options=(), keep=False):
        """A run at a terminal, where ANSWERS are typed to the questions that end in their first part. What stood on the
        terminal, what was written to standard output, and the exit status."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

        def become_foreground():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        process = self.adder.popen(
            *["run", "--profile", "asks", "--env", self.adder.environment, *options, "-c", code],
            stdin=slave,
            stderr=slave,
            preexec_fn=become_foreground,
        )
        os.close(slave)
        shown, waiting, end = b"", list(answers), time.monotonic() + DEADLINE
        while True:
            assert time.monotonic() < end, f"the terminal still waits: {shown.decode(errors='replace')}"
            if not select.select([master], [], [], 1)[0]:
                continue
            try:
                got = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            shown += got
            if waiting and shown.endswith(b"\n" + waiting[0][0]):
                os.write(master, waiting.pop(0)[1])
                shown += b"\n"
        out = process.stdout.read()
        process.stdout.close()
        status = process.wait(DEADLINE)
        os.close(master)
        gathered.append((process.args, status, out, shown))
        assert not waiting, f"nothing asked {waiting[0][0]}: {shown.decode()}"
        return shown.decode(), out.decode(), status


@pytest.fixture
def guarded(adder):
    yield (made := Guarded(adder))
    for item in made.ask("list")["approvals"]:
        if item["state"] != "denied":
            made.ask("deny", item["approval_id"])


def marked(code="print('ran')"):
    """The same code for nobody else."""
    return f"{code}  # {unique()}"


# ---- without a terminal ----


@pytest.mark.quick
def test_approve_and_run_once(guarded):
    code = marked()
    approval = guarded.needs(code)
    assert guarded.needs(code) == approval, "asked again while it waits, it is the same"
    guarded.approve(approval)
    assert guarded.run(code, "--approval", approval).stdout == "ran\n"
    again = guarded.run(code, "--approval", approval)
    assert again.outcome == "approval_required" and again.approval_id != approval
    assert "was used or has expired" in again.error["message"]


def test_asking_again_is_enough(guarded):
    code = marked()
    guarded.approve(guarded.needs(code))
    assert guarded.run(code).stdout == "ran\n"
    guarded.needs(code)


def test_one_yes_is_for_one_run(guarded):
    """Also when several ask at the same moment."""
    code = marked()
    approval = guarded.needs(code)
    guarded.approve(approval)
    racing = [guarded.adder.start(code, "--profile", "asks", "--approval", approval) for _ in range(8)]
    outs = [process.communicate(timeout=DEADLINE)[0] for process in racing]
    assert sorted(outs) == [b""] * 7 + [b"ran\n"]


def test_people_are_told_the_command(guarded):
    ended = guarded.adder.call("run", "--profile", "asks", "-c", marked())
    assert ended.returncode == 126 and ended.stdout == ""
    approval = re.search(ID, ended.stderr).group()
    assert ended.stderr.count("\n") == 1 and f'"adder approval approve {approval}" allows it, once' in ended.stderr


def test_nothing_ran(guarded):
    """Not even a sandbox was taken."""

    def runs():
        return {name: count for name, count in guarded.adder.status()["engine"]["runs"].items() if count}

    guarded.adder.run("1")
    before = runs()
    guarded.needs(marked("open('/work/trace', 'w')"))
    after = runs()
    assert after.pop("approval_required") == before.pop("approval_required", 0) + 1
    assert after == before


def test_denied(guarded):
    code = marked()
    approval = guarded.needs(code)
    assert guarded.ask("deny", approval, "--reason", "not on\x1b[2J\nmy machine")["state"] == "denied"
    result = guarded.run(code, "--approval", approval)
    assert result.outcome == "refused" and result.stdout == ""
    assert "it was denied: not on\\x1b[2J\\x0amy machine" in result.error["message"]


def test_denied_in_a_conversation_stays_denied(guarded):
    code, conversation = marked(), unique()
    approval = guarded.needs(code, "--conversation", conversation)
    guarded.ask("deny", approval)
    assert guarded.run(code, "--conversation", conversation).outcome == "refused"
    guarded.needs(code, "--conversation", unique())


# ---- what a yes is for ----

CHANGES = {
    "code": lambda code, guarded: (code + " ", []),
    "argument": lambda code, guarded: (code, ["--set-env", "A=2"]),
    "limit": lambda code, guarded: (code, ["--limit", "wall_ms=29s"]),
    "memory": lambda code, guarded: (code, ["--memory", "512M"]),
    "isolation": lambda code, guarded: (code, ["--isolation", "process"]),
    "conversation": lambda code, guarded: (code, ["--conversation", unique()]),
    "file": lambda code, guarded: (code, ["--file", guarded.adder.file("more.txt", "x")]),
    "stdin": lambda code, guarded: (code, ["--stdin", guarded.adder.file("input.txt", "x")]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_something_else_needs_its_own(guarded, change):
    code = marked()
    approval = guarded.needs(code, "--approval", "none")
    guarded.approve(approval)
    changed, options = CHANGES[change](code, guarded)
    result = guarded.run(changed, "--approval", approval, *options)
    assert result.outcome == "approval_required" and result.approval_id != approval
    assert guarded.run(code, "--approval", approval).stdout == "ran\n", "the approval itself is still good"


def test_another_profile_needs_its_own(guarded):
    code = marked()
    approval = guarded.needs(code)
    guarded.approve(approval)
    assert guarded.run(code, "--approval", approval, profile="asks_too").outcome == "approval_required"


@pytest.mark.parametrize("rule", ["[network]\nmode = full\n", "[blocked]\ncalls = os.system\n", "[guard]\nmax_lines = 9\n"])
def test_a_profile_that_changed_needs_another(guarded, rule):
    code = marked()
    approval = guarded.needs(code, profile="asks_too")
    guarded.approve(approval)
    path = guarded.adder.config / "profiles/asks_too.conf"
    path.write_text(f"{path.read_text()}\n{rule}")
    time.sleep(1.1)  # a change counts within a second
    result = guarded.run(code, "--approval", approval, profile="asks_too")
    assert result.outcome == "approval_required" and result.approval_id != approval


@pytest.mark.parametrize("size", [10, 40 << 20], ids=["copied", "by-identity"])
def test_files_are_bound(guarded, size):
    """A file that was named is part of what is approved: another content in its place needs another yes."""
    code = marked("print(open('data.txt').read(3))")
    path = guarded.adder.file("data.txt", "one" + "." * size)
    options = ["--file", path]
    approval = guarded.needs(code, *options)
    shown = guarded.ask("show", approval)["files"]
    assert [(file["name"], file["bound"]) for file in shown] == [("data.txt", "content" if size < 100 else "identity")]
    guarded.approve(approval)
    guarded.adder.file("data.txt", "two" + "." * size)
    assert guarded.run(code, *options, "--approval", approval).outcome == "approval_required"
    if size < 100:
        guarded.adder.file("data.txt", "one" + "." * size)
        assert guarded.run(code, *options, "--approval", approval).stdout == "one\n"


def test_a_pipe_is_said_to_be_unknown(guarded):
    code = marked("print(input())")
    ended = guarded.adder.call(
        "run", "--json", "--profile", "asks", "--stdin", "-", "-c", code, input="first\n"
    )
    approval = json.loads(ended.stdout)["approval_id"]
    assert guarded.ask("show", approval)["stdin"]["bound"] == "nothing"
    assert "a pipe, whose content is not known yet" in guarded.adder.call("approval", "show", approval).stdout


def test_work_directories_are_bound(guarded):
    """The directory itself, and how it may be used."""
    code, folder, other = marked(), guarded.adder.folder("one"), guarded.adder.folder("two")
    conversation = ["--conversation", unique()]
    approval = guarded.needs(code, *conversation, "--workdir", folder)
    guarded.approve(approval, "--always")
    assert guarded.ask("show", approval)["workdir"] == {"path": str(folder), "mode": "read"}
    assert guarded.run(code, *conversation, "--workdir", folder).outcome == "ok"
    for changed in (other, f"{folder}:rw", f"{folder}:overlay"):
        assert guarded.run(code, *conversation, "--workdir", changed).outcome == "approval_required"
    assert guarded.run(code, *conversation).outcome == "approval_required"
    folder.rename(folder.with_name("three"))
    guarded.adder.folder("one")
    assert guarded.run(code, *conversation, "--workdir", folder).outcome == "approval_required"


def test_on_effect(guarded):
    """Code that would change files of the host at once, and no other."""
    folder = guarded.adder.folder("work")
    assert guarded.run("1", profile="asks_on_effect").outcome == "ok"
    assert guarded.run("1", "--workdir", folder, profile="asks_on_effect").outcome == "ok"
    result = guarded.run(marked("open('a', 'w')"), "--workdir", f"{folder}:rw", profile="asks_on_effect")
    assert result.outcome == "approval_required" and not list(folder.iterdir())


# ---- always ----


def test_always_is_for_one_conversation(guarded):
    conversation = unique()
    approval = guarded.needs(marked(), "--conversation", conversation)
    guarded.approve(approval, "--always")
    assert guarded.run(marked(), "--conversation", conversation).stdout == "ran\n"
    assert guarded.run(marked(), "--conversation", conversation, profile="asks_too").outcome == "approval_required"
    assert guarded.run(marked(), "--conversation", conversation, "--isolation", "process").outcome == "approval_required"
    guarded.needs(marked(), "--conversation", unique())
    guarded.needs(marked())


def test_no_always_without_a_conversation(guarded):
    approval = guarded.needs(marked())
    assert 'there is no "always"' in guarded.refused("approve", approval, "--always")


# ---- the commands ----


def test_list_and_show(guarded):
    code = marked("a = 1\nprint('x')")
    approval = guarded.needs(code, "--description", "counts\x1b[2J things", "--set-env", "MODE=test")
    listed = [item for item in guarded.ask("list")["approvals"] if item["approval_id"] == approval]
    assert len(listed) == 1 and listed[0]["state"] == "pending" and listed[0]["lines"] == 2
    assert listed[0]["first_line"] == "a = 1" and "code" not in listed[0] and listed[0]["expires_in_ms"] > 0
    shown = guarded.ask("show", approval)
    assert shown["code"] == code and shown["variables"] == {"MODE": "test"} and shown["profile"] == "asks"
    text = guarded.adder.call("approval", "show", approval).stdout
    assert "   1 | a = 1\n   2 | print('x')" in text and "MODE=test" in text
    assert "counts<U+001B>[2J things" in text
    assert approval in guarded.adder.call("approval", "list").stdout


def test_unknown_ids(guarded):
    for command in ("show", "approve", "deny"):
        assert "there is no approval" in guarded.refused(command, "01234567-89ab-7cde-8f01-23456789abcd")
        assert "\x1b" not in guarded.refused(command, "\x1b[2J")


def test_commands_without_a_daemon(make_adder):
    adder = make_adder()
    ended = adder.call("approval", "list")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "No approvals.\n")
    for command in ("show", "approve", "deny"):
        ended = adder.call("approval", command, "01234567-89ab-7cde-8f01-23456789abcd")
        assert ended.returncode == 125 and "there is no approval" in ended.stderr


# ---- waiting ----


def test_wait_for_it(guarded):
    code = marked()
    process = guarded.adder.start(code, "--profile", "asks", "--wait-approval", "60")
    line = process.stderr.readline().decode()
    approval = re.search(ID, line).group()
    guarded.approve(approval)
    out, err = process.communicate(timeout=DEADLINE)
    assert (out, err, process.returncode) == (b"ran\n", b"", 0)


def test_wait_in_vain(guarded):
    result = guarded.run(marked(), "--wait-approval", "50ms")
    assert result.outcome == "approval_required"
    guarded.ask("show", result.approval_id)


def test_wait_and_be_refused(guarded):
    process = guarded.adder.start(marked(), "--profile", "asks", "--wait-approval", "60")
    approval = re.search(ID, process.stderr.readline().decode()).group()
    guarded.ask("deny", approval, "--reason", "no time")
    out, err = process.communicate(timeout=DEADLINE)
    assert out == b"" and b"it was denied: no time" in err and process.returncode == 126


# ---- sessions ----


def test_cells_are_approved(guarded, sessions):
    session = sessions.new("--profile", "asks", "--set-env", "MODE=test")
    result = sessions.cell(session, marked("x = 1"))
    assert result.outcome == "approval_required"
    code = guarded.ask("show", result.approval_id)
    assert code["session"] == session and code["variables"] == {"MODE": "test"}
    guarded.approve(result.approval_id)
    assert sessions.cell(session, code["code"]).outcome == "ok"
    assert sessions.ask("vars", session)["count"] == 1


def test_a_yes_is_for_one_session(guarded, sessions):
    """Also when another one gets its name."""
    name, code = unique(), marked("1")
    first = sessions.new("--profile", "asks", "--name", name)
    approval = sessions.cell(name, code).approval_id
    guarded.approve(approval)
    sessions.ask("rm", first)
    sessions.new("--profile", "asks", "--name", name)
    result = sessions.cell(name, code, "--approval", approval)
    assert result.outcome == "approval_required" and result.approval_id != approval


def test_a_session_that_accepts_all(guarded, sessions):
    session = sessions.new("--profile", "asks", "--dangerously-accept-all")
    assert sessions.cell(session, "6 * 7").text == "42"


# ---- accepting all ----


def test_accept_all_is_logged(guarded):
    code = marked()
    assert guarded.run(code, "--dangerously-accept-all").stdout == "ran\n"
    log = (guarded.adder.runtime / "adder.log").read_text().splitlines()
    lines = [line for line in log if "accepts all" in line]
    assert re.search(r"warning: uid:\d+ accepts all: .*profile asks, digest [0-9a-f]{64}$", lines[-1])
    guarded.needs(code)


def test_without_a_daemon(guarded):
    assert guarded.run("print(1)", "--no-daemon", "--dangerously-accept-all").stdout == "1\n"
    assert guarded.run("print(1)", "--no-daemon").outcome == "approval_required"


# ---- at a terminal ----


def test_yes_at_the_terminal(guarded):
    code = marked("import math\nprint('ran')")
    shown, out, status = guarded.terminal(code, (YES_OR_NO, b"y\n"), options=["--description", "roots"])
    assert (out, status) == ("ran\n", 0)
    for part in ("\x1b[0;35mimport\x1b[0m math", "\x1b[0;32m'ran'", "roots", "asks"):
        assert part in shown
    assert "always" not in shown, "without a conversation there is none"
    guarded.needs(code)


def test_no_at_the_terminal(guarded):
    shown, out, status = guarded.terminal(marked(), (YES_OR_NO, b"perhaps\n"), (YES_OR_NO, b"N\n"))
    assert (out, status) == ("", 126) and "it was denied: the user said no" in shown


def test_end_of_input_is_no(guarded):
    _, out, status = guarded.terminal(marked(), (YES_OR_NO, b"\x04"))
    assert (out, status) == ("", 126)


def test_ctrl_c_at_the_terminal(guarded):
    code = marked()
    _, out, status = guarded.terminal(code, (YES_OR_NO, b"\x03"))
    assert (out, status) == ("", 130)
    waiting = [item for item in guarded.ask("list")["approvals"] if item["state"] == "pending"]
    assert all(code[-10:] not in item["first_line"] for item in waiting)


def test_always_at_the_terminal(guarded):
    options = ["--conversation", unique()]
    _, out, status = guarded.terminal(marked(), (OR_ALWAYS, b"a\n"), options=options)
    assert (out, status) == ("ran\n", 0)
    _, out, status = guarded.terminal(marked(), options=options)
    assert (out, status) == ("ran\n", 0)


def test_typed_ahead_is_no_answer(guarded):
    """What stood in the terminal's buffer before the question did is dropped."""
    master, slave = pty.openpty()
    os.write(master, b"y\ny\ny\n")
    code = marked()
    process = guarded.adder.start(code, "--profile", "asks", stdin=slave, stderr=slave)
    os.close(slave)
    shown = b""
    while not shown.endswith(b"\n" + YES_OR_NO):
        shown += os.read(master, 65536)
    os.write(master, b"n\n")
    assert process.stdout.read() == b"" and process.wait(DEADLINE) == 126
    process.stdout.close()
    os.close(master)


def test_no_daemon_at_the_terminal(guarded):
    _, out, status = guarded.terminal(marked(), (YES_OR_NO, b"yes\n"), options=["--no-daemon"])
    assert (out, status) == ("ran\n", 0)


def columns(row):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in row)


HOSTILE = {
    "clear-and-ask": "\x1b[2J\x1b[HRun it? [y]es / [n]o y",
    "rewrite-the-line": "print(1)\rRun it? [y]es / [n]o y",
    "backspaces": "x" + "\b" * 40 + "Run it? [y]es / [n]o y",
    "title": "\x1b]0;Run it?\x07",
    "c1-controls": "\x9b2J Run it?",
    "right-to-left": "# \u202e}if admin:\u2066",
    "isolates": "# \u2067\u2066 hidden \u2069",
    "zero-width": "admin\u200b\u200d\ufeff = 1",
    "tags": "# \U000e0041\U000e0042",
    "line-separators": "# a\u2028import os\u2029import sys\x0b\x0c\x1c",
    "combining": "# a" + "\u0301" * 50,
    "wide": "# " + "\uff21" * 200 + "Run it? [y]es / [n]o y",
    "padding": "1" + " " * 1000 + "; import os",
    "newlines": "1" + "\n" * 30 + "Run it? [y]es / [n]o y",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_code_cannot_fake_the_question(guarded, name):
    """Every row that the code fills begins with our gutter and fits into the terminal, and nothing of it is a control."""
    shown, out, status = guarded.terminal(
        HOSTILE[name] + "\n" + marked("0"), (YES_OR_NO, b"n\n"), options=["--description", HOSTILE[name]]
    )
    assert status == 126 and out == ""
    plain = re.sub("\x1b\\[[0-9;]*m", "", shown).replace("\r\n", "\n")
    code = plain[plain.index("\n\n") + 2 : plain.index("profile ")]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", plain)
    rows = code.split("\n")[:-1]
    gutter = [row for row in rows if re.match(r"( *\d+| *>) \| ", row)]
    others = [row for row in rows if row not in gutter]
    assert all(row.startswith(("It has ", "described as ", " " * 15)) for row in others), others
    assert all(columns(row) <= 79 for row in gutter + [row for row in others if not row.startswith("It has")])
    assert plain.count("\n" + YES_OR_NO.decode()) == 1, "the one question that begins a line is ours"


def test_long_code_is_shown_in_parts(guarded):
    code = marked("\n".join(f"x{i} = {i}" for i in range(1000)))
    more = b"Run it? [y]es / [n]o / [v]iew all of it "
    shown, out, status = guarded.terminal(code, (more, b"v\n"), (YES_OR_NO, b"n\n"))
    assert status == 126 and " ... | " in shown and "800 rows are not shown here" in shown
    assert "x500" in shown[shown.index("not shown here") :]


# ---- bounds and ends ----


def test_bounds(make_adder):
    guarded = Guarded(make_adder("[approval]\nmax_pending_per_owner = 2\n"))
    guarded.needs("1")
    guarded.needs("2")
    result = guarded.run("3")
    assert result.outcome == "busy" and "max_pending_per_owner = 2" in result.error["message"]


def test_expiry(make_adder):
    guarded = Guarded(make_adder("[approval]\nexpire_ms = 1s\nmax_pending_per_owner = 1\n"))
    first = guarded.needs("1")
    wait_until(lambda: not guarded.ask("list")["approvals"], "the approvals to expire")
    assert "was used or has expired" in guarded.refused("approve", first)
    guarded.needs("3")


def test_a_daemon_waits_for_its_approvals(make_adder):
    guarded = Guarded(make_adder("[daemon]\nidle_exit_ms = 300ms\n[approval]\nexpire_ms = 2s\n"))
    begun = time.monotonic()
    guarded.needs("1")
    guarded.adder.wait_ended()
    assert time.monotonic() - begun >= 2, "it ended although an approval waited"


@pytest.mark.both_users
def test_others_see_nothing(guarded):
    """Another user, root or not, has approvals of their own; what root may, is their own as well."""
    if guarded.adder.user.uid == 0 or os.geteuid() != 0:
        pytest.skip("needs root beside another user's daemon")
    approval = guarded.needs(marked())
    questions = [{"operation": f"approval.{name}", "params": {"approval": approval}} for name in ("show", "approve", "deny")]
    answers = [speak(guarded.adder.socket, question) for question in ({"operation": "approval.list"}, *questions)]
    assert answers[0] == {"approvals": []}
    assert all("there is no approval" in answer["message"] for answer in answers[1:])
    assert guarded.ask("show", approval)["state"] == "pending"


# ---- the socket ----

HELLO, OPERATION = 1, 18  # of src/interfaces/socket/protocol.h


def speak(path, question):
    import socket

    def frame(kind, body):
        data = json.dumps(body).encode()
        return struct.pack("=II", kind, len(data)) + data

    def receive():
        head = connection.recv(8, socket.MSG_WAITALL)
        return json.loads(connection.recv(struct.unpack("=II", head)[1], socket.MSG_WAITALL))

    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(DEADLINE)
        connection.connect(str(path))
        connection.sendall(frame(HELLO, {"protocol": 10, "version": "0", "built": 0}))
        receive()
        connection.sendall(frame(OPERATION, question))
        return receive()


@pytest.mark.parametrize(
    "question",
    [("approval.burn", {}), ("approval.show", {}), ("approval.show", {"approval": 3}), ("approval.list", {"approval": "0123"}),
     ("approval.approve", {"approval": "0123", "always": "yes"}), ("approval.show", {"approval": "0123", "wait_ms": -1}),
     ("approval.deny", {"approval": "0123", "reason": []})],
    ids=lambda question: "-".join([question[0], *map(str, question[1].values())]),
)
def test_bad_questions(guarded, question):
    guarded.adder.run("1")
    answer = speak(guarded.adder.socket, {"operation": question[0], "params": question[1]})
    assert answer["code"] in (1, 2) and answer["message"].count("\n") == 0


def test_a_waiter_that_hangs_up(guarded):
    """Its thread does not stay."""
    import socket

    approval = guarded.needs(marked())
    wait_until(lambda: guarded.adder.status()["connections"] == 0, "the connections before it to end")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(guarded.adder.socket))
        for kind, body in (
            (HELLO, {"protocol": 10, "version": "0", "built": 0}),
            (OPERATION, {"operation": "approval.show", "params": {"approval": approval, "wait_ms": 600000}}),
        ):
            data = json.dumps(body).encode()
            connection.sendall(struct.pack("=II", kind, len(data)) + data)
        wait_until(lambda: guarded.adder.status()["connections"] > 0, "the connection")
    wait_until(lambda: guarded.adder.status()["connections"] == 0, "the connection to end")
