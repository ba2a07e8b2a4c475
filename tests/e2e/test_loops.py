# SPDX-License-Identifier: Apache-2.0
"""Loops: code that fails again and again in one conversation is refused, and told to change its approach."""
import re

import pytest

from harness import REPOSITORY, unique

AGAIN = "the same code has failed 3 times in a row"
NEARLY = "code that is nearly the same has failed 3 times in a row with the same error"


class Conversation:
    def __init__(self, adder, *options):
        self.adder, self.options = adder, ["--conversation", unique(), *options]

    def run(self, code, *options, **others):
        return self.adder.run(code, *self.options, *options, **others)

    def fails(self, code, times=1, outcome="error", options=()):
        for _ in range(times):
            assert self.run(code, *options).outcome == outcome

    def is_refused(self, code, words=AGAIN, options=()):
        result = self.run(code, *options)
        assert result.outcome == "refused" and result.error["type"] == "Loop", result
        assert words in result.error["message"] and "Change the approach" in result.error["hint"]
        assert [violation["rule"] for violation in result.violations] == ["loop"]
        assert result.stdout == result.stderr == ""
        return result


@pytest.fixture
def conversation(adder):
    return Conversation(adder)


@pytest.mark.quick
def test_the_same_code(conversation):
    code = "print('ran')\n1 / 0"
    conversation.fails(code, 3)
    conversation.is_refused(code)
    conversation.is_refused(code)


def test_what_does_not_count(conversation):
    """Comments, white space and the kind of quotes."""
    conversation.fails("x = 'a'\nint(x)")
    conversation.fails('x = "a"  # the value\n\nint(x)')
    conversation.fails("x='a'\nint( x )")
    conversation.is_refused("\n# once more\nx = 'a'; int(x)")


def test_success_begins_anew(conversation):
    conversation.fails("1 / 0", 3)
    assert conversation.run("print(1)").outcome == "ok"
    conversation.fails("1 / 0", 3)
    conversation.is_refused("1 / 0")


def test_other_code_between_does_not(conversation):
    """As long as none of it succeeds."""
    for other in ("int('b')", "[][1]", "{}['a']"):
        conversation.fails("1 / 0")
        conversation.fails(other)
    conversation.is_refused("1 / 0")
    conversation.fails("open('/nowhere')")


def test_each_conversation_is_its_own(adder, conversation):
    conversation.fails("1 / 0", 3)
    other = Conversation(adder)
    other.fails("1 / 0")
    conversation.is_refused("1 / 0")


def test_without_a_conversation_nothing_is_counted(adder):
    for _ in range(5):
        assert adder.run("1 / 0").outcome == "error"


def test_nearly_the_same_code(conversation):
    code = "rows = [{{'a': 1}}, {{'a': 2}}]\ntotal = 0\nfor row in rows:\n    total += row['b']{}\nprint(total)\n"
    for change in ("", " + 0", " * 1"):
        conversation.fails(code.format(change))
    conversation.is_refused(code.format(" - 0"), NEARLY)
    conversation.fails("with open('nothing.csv') as file:\n    print(file.read().upper().split())")


def test_another_error_is_another_try(conversation):
    code = "rows = [{{'a': 1}}]\ntotal = 0\nfor row in rows:\n    total += row[{}]\nprint(total)\n"
    for name in ("'b'", "'c'", "'d'", "'e'"):
        conversation.fails(code.format(name))


def test_numbers_in_messages_do_not_count(conversation):
    code = "values = [1, 2, 3]\nfor index in range({}):\n    int('x' + str(id(object())))\nprint(values)\n"
    for number in (1, 2, 3):
        conversation.fails(code.format(number))
    conversation.is_refused(code.format(4), NEARLY)


def test_code_that_does_not_compile(conversation):
    conversation.fails("def f(:\n    pass", 3)
    conversation.is_refused("def f(:\n    pass")


def test_time_limits_count(make_adder):
    """A result never came of these. Code is counted, and refused, where it runs: a busy host may need most of the time to get there,
    so one failure is enough here."""
    conversation = Conversation(make_adder("[loops]\nfailures = 1\n"))
    code, options = "print('started', flush=True)\nimport time\ntime.sleep(1000)", ["--limit", "wall_ms=8s"]
    conversation.fails(code, 1, "timeout", options)
    conversation.is_refused(code + "  # please", "the same code has failed 1 time in a row", options)
    with conversation.adder.start(code, *conversation.options, "--limit", "wall_ms=1min") as process:
        assert process.stdout.readline() == b"started\n", "more time is another try"
        process.terminate()


def test_crashes_count(conversation):
    code = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"
    conversation.fails(code, 3, "crashed")
    conversation.is_refused(code)


def test_another_file_is_another_try(conversation):
    code = "int(open('data.txt').read())"
    path = conversation.adder.file("data.txt", "one")
    conversation.fails(code, 3, options=["--file", path])
    conversation.adder.file("data.txt", "two, with more")
    conversation.fails(code, options=["--file", path])


def test_cells(adder, sessions):
    session, conversation = sessions.new(), unique()
    for _ in range(3):
        assert sessions.cell(session, "x['a']", "--conversation", conversation).outcome == "error"
    result = sessions.cell(session, "x[\"a\"]  # now", "--conversation", conversation)
    assert result.outcome == "refused" and result.error["type"] == "Loop"
    assert sessions.cell(session, "x = {'a': 42}", "--conversation", conversation).outcome == "ok"
    assert sessions.cell(session, "x['a']", "--conversation", conversation).text == "42"


def test_magics_in_cells(sessions):
    session, conversation = sessions.new(), unique()
    for _ in range(3):
        assert sessions.cell(session, "%nothing_of_this_name", "--conversation", conversation).outcome != "refused"


def test_large_and_deep_code_is_counted_as_well(conversation):
    for code in ("x = 1\n" * 20000 + "1 / 0", "(" * 300, "-" * 5000 + "1" + "\n1 / 0", "1" * 5000):
        result = [conversation.run(code).outcome for _ in range(4)]
        assert result[3] == "refused" and result[0] != "refused", (code[:20], result)


def test_switched_off_and_bounded(make_adder):
    conversation = Conversation(make_adder("[loops]\nfailures = 0\n"))
    conversation.fails("1 / 0", 4)
    few = make_adder("[loops]\nfailures = 1\nmax_conversations_per_owner = 1\n")
    conversation, other = Conversation(few), Conversation(few)
    conversation.fails("1 / 0")
    conversation.is_refused("1 / 0", "the same code has failed 1 time in a row")
    other.fails("1 / 0")
    conversation.fails("1 / 0")


FRAMES = (REPOSITORY / "src/runner/wire.h").read_text().partition("enum wire_frame {")[2]
ATTEMPT = 1 + re.findall(r"^  (WIRE_\w+)", FRAMES, re.M).index("WIRE_ATTEMPT")

# What code can say to the daemon of itself: only its own conversation hears it.
LIE = (
    "import json, struct\n"
    "body = json.dumps({}).encode()\n"
    "open(3, 'wb', buffering=0, closefd=False).write(struct.pack('=II', {}, len(body)) + body)\n"
    "1 / 0"
)


@pytest.mark.parametrize("body", ["{'digest': 'x', 'near': []}", "{'digest': 'x' * 3000, 'near': [1]}", "[]"])
def test_a_second_report_ends_the_run(conversation, body):
    assert conversation.run(LIE.format(body, ATTEMPT)).outcome == "crashed"


def test_a_report_that_nobody_asked_for_ends_the_run(adder):
    assert adder.run(LIE.format("{'digest': 'x', 'near': []}", ATTEMPT)).outcome == "crashed"


def test_long_conversation_names(conversation):
    result = conversation.adder.run("1", "--conversation", "c" * 201)
    assert result.outcome == "failed" and "at most 200 characters" in result.error["message"]
