# SPDX-License-Identifier: Apache-2.0
"""`adder agent`: the loop in which a model calls tools. The model is a script (replay:FILE), so that each case says what
the model does and the test sees what the loop makes of it; tools, runs and the daemon are real."""
import base64
import json
import os
import pty
import signal
import stat

import pytest

from agents import Agents, Turn, exchange, native, native_report, report, typed
from harness import descendants, named, unique, wait_until, with_name

COMPUTE = ("--toolset", "compute")
ECHO = "import json, sys\nprint(json.load(sys.stdin)['text'])\n"
PICTURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n"
TEXT = {"text": {"type": "string"}}


@pytest.fixture
def agents(adder):
    return Agents(adder)


@pytest.fixture
def own(own_adder):
    return Agents(own_adder)


def compute(code, **others):
    return typed("compute_with_python", {"code": code}, **others)


# ---- steps ----


@pytest.mark.quick
def test_typed_steps(agents):
    turn = agents.run(
        [
            compute("'strawberry'.count('r')", state="I have to count."),
            compute("int(last_result) * 2", contains="3"),
            report("It is 6.", contains="6"),
        ],
        *COMPUTE,
    )
    assert turn.head["steps"] == "typed" and turn.head["task"] == "Do it."
    assert turn.results == ["3", "6", "Reported."]
    assert [step["step"] for step in turn.steps] == [1, 2, 3]
    assert turn.steps[0]["current_state"] == "I have to count."
    assert turn.steps[0]["function"]["arguments"] == {"code": "'strawberry'.count('r')"}
    assert turn.end["completed"] and turn.end["answer"] == "It is 6." and turn.end["steps"] == 3


@pytest.mark.quick
def test_ordinary_calls(agents):
    turn = agents.run(
        [
            native(("run_python", {"code": "print(6 * 7)"}), ("run_python", {"code": "1 / 0"})),
            native_report("42", contains=["42", "ZeroDivisionError"]),
        ]
    )
    assert turn.head["steps"] == "native" and turn.head["toolset"] == "adder"
    assert [step["step"] for step in turn.steps] == [1, 1, 2]
    assert [step["is_error"] for step in turn.steps] == [False, True, False]
    assert turn.steps[0]["current_state"] is None and turn.steps[1]["usage"] is None
    assert turn.end["answer"] == "42"


def test_either_kind_of_steps_with_any_toolset(agents):
    turn = agents.run(
        [native(("compute_with_python", {"code": "2 ** 70"})), native_report(contains=str(2**70))],
        *COMPUTE,
        "--steps",
        "native",
    )
    assert turn.head["steps"] == "native" and turn.results[0] == str(2**70)
    turn = agents.run([typed("run_python", {"code": "2 ** 70"}), report(contains=str(2**70))], "--steps", "typed")
    assert turn.head["steps"] == "typed" and turn.results[0] == str(2**70)


def test_a_task_that_cannot_be_done(agents):
    turn = agents.run([report("There is no file.", completed=False)], *COMPUTE, status=1)
    assert turn.reason == "failed" and turn.end["answer"] == "There is no file."


def test_a_conversation_is_new_unless_it_is_named(agents):
    lines = [compute("1 + 1"), report()]
    first, second = agents.run(lines, *COMPUTE), agents.run([compute("last_result"), report()], *COMPUTE)
    assert first.head["conversation"] != second.head["conversation"]
    assert "PythonError" in second.results[0], "what another conversation computed is not known"
    name = unique()
    agents.run(lines, *COMPUTE, "--conversation", name)
    again = agents.run([compute("last_result + 'x'"), report(contains="2x")], *COMPUTE, "--conversation", name)
    assert again.head["conversation"] == name


@pytest.mark.parametrize("named_by_us", [True, False])
def test_sessions_end_with_a_conversation_that_nobody_names_again(own, named_by_us):
    script = own.script(
        [
            native(("run_python", {"code": "x = 6", "use_session": True})),
            native(("run_python", {"code": "x * 7", "use_session": True})),
            native_report(contains="42"),
        ]
    )
    conversation = ["--conversation", "ours"] if named_by_us else []
    ended = own.adder.call("agent", "x", "--model", script, "--toolset", "assistant", *conversation)
    assert ended.returncode == 0, ended
    listed = json.loads(own.adder.call("session", "list", "--json").stdout)["sessions"]
    living = [session for session in listed if session["state"] != "ended"]
    assert len(listed) == 1 and len(living) == named_by_us


# ---- what models get wrong ----


@pytest.mark.parametrize(
    "wrong, says",
    [
        (exchange([("next_step", '{"current_state": "x", "function"')]), "not one JSON object"),
        (exchange([("next_step", {"function": {"name": "compute_with_python", "arguments": {}}})]), "current_state"),
        (exchange([("next_step", {"current_state": "x", "function": "compute"})]), "one object with name"),
        (exchange([("next_step", {"current_state": "x", "function": {"name": "a"}})]), "function.arguments"),
        (
            exchange([("next_step", {"current_state": "x", "more": 1, "function": {"name": "a", "arguments": {}}})]),
            'no "more"',
        ),
        (exchange([("compute_with_python", {"code": "1"})]), "call next_step"),
        (typed("compute", {"code": "1"}), 'There is no function "compute". There are: compute_with_python'),
        (typed("compute_with_python", {"cod": "1"}), "code"),
        (typed("compute_with_python", {"code": 5}), "code"),
        (typed("report_completion", {"answer": "x"}), "completed, true or false"),
    ],
)
def test_malformed_steps_are_told(agents, wrong, says):
    turn = agents.run([wrong, report(contains=says)], *COMPUTE)
    assert turn.steps[0]["is_error"] and says in turn.results[0]


def test_malformed_calls_are_told(agents):
    turn = agents.run(
        [
            native(("run_python", '{"code": "print(1)'), ("run_pyton", {"code": "1"})),
            native_report(contains=["not one JSON object", 'no function "run_pyton"']),
        ]
    )
    assert [step["is_error"] for step in turn.steps] == [True, True, False]
    assert turn.steps[0]["function"] == {"name": "run_python", "arguments": None}


def test_a_model_that_makes_no_sense_is_left(agents):
    words = exchange(text="Let me think about it.")
    turn = agents.run([words, words, words, report()], *COMPUTE, status=1)
    assert turn.reason == "model" and turn.end["steps"] == 3 and "3 times running" in turn.end["message"]
    turn = agents.run([words, words, compute("1"), words, words, report()], *COMPUTE)
    assert turn.end["completed"], "a step that can be read begins the count anew"


def test_words_in_place_of_a_report(agents):
    turn = agents.run([exchange(text="It is 4."), exchange(text="It is 5.", contains="report_completion")])
    assert turn.end["completed"] and turn.end["answer"] == "It is 5."
    turn = agents.run([exchange(text="I shall look."), native_report("It is 4.")])
    assert turn.end["answer"] == "It is 4."


def test_one_step_at_a_time(agents):
    step = {"current_state": "x", "function": {"name": "compute_with_python", "arguments": {"code": "6 * 7"}}}
    other = {"current_state": "x", "function": {"name": "compute_with_python", "arguments": {"code": "1 / 0"}}}
    turn = agents.run(
        [exchange([("next_step", step), ("next_step", other)]), report(contains=["42", "a step is one call"])], *COMPUTE
    )
    assert turn.results[0] == "42" and "ZeroDivision" not in turn.results[1]


def test_an_answer_has_a_bounded_number_of_calls(agents):
    calls = [("run_python", {"code": f"print({number} + 1000)"}) for number in range(34)]
    turn = agents.run([native(*calls), native_report("done", contains=["1031", "32 calls"])], "--max-steps", "2")
    assert turn.end["completed"] and turn.end["steps"] == 2
    assert [step["is_error"] for step in turn.steps] == [False] * 32 + [True] * 2 + [False]


def test_what_comes_after_the_report_is_not_done(agents):
    made = unique()
    done = ("report_completion", {"completed": True, "answer": "yes"})
    late = ("run_python", {"code": f"open('{made}', 'w').write('x')"})
    turn = agents.run([native(done, late)])
    assert turn.end["completed"] and turn.end["answer"] == "yes"
    assert turn.steps[1]["is_error"] and made not in turn.results[1]


def test_a_model_that_refuses(agents):
    turn = agents.run([exchange(text="I will not.", stop="refusal")], status=1)
    assert turn.reason == "model" and "refused" in turn.end["message"] and turn.end["answer"] == "I will not."


def test_an_answer_that_broke_off(agents):
    turn = agents.run([exchange(text="It is a long", stop="length"), native_report(contains="broke off")])
    assert turn.end["completed"]


def test_a_model_that_cannot_be_asked(agents):
    error = {"error": {"kind": "rate", "message": "there is nothing left to pay with"}}
    turn = agents.run([compute("1"), error], *COMPUTE, status=125)
    assert turn.reason == "model" and turn.end["message"] == "there is nothing left to pay with"
    shown = agents.show([error], *COMPUTE)
    assert shown.returncode == 125 and shown.stdout == ""
    assert "adder: the model gave no answer: there is nothing left to pay with\n" in shown.stderr


def test_a_replay_of_something_else(agents):
    turn = agents.run([compute("1"), report(contains="nothing of this")], *COMPUTE, status=125)
    assert turn.reason == "model" and "line 2" in turn.end["message"]


# ---- the same again and again ----


@pytest.mark.quick
def test_loops_end(agents):
    again = [compute("1 / 0") for _ in range(5)]
    again[3]["ask"] = {"contains": ["Change your approach"]}
    turn = agents.run(again, *COMPUTE, status=1)
    assert turn.reason == "loop" and turn.end["steps"] == 5 and "5 times running" in turn.end["message"]
    assert ["ZeroDivisionError" in result for result in turn.results] == [True, True, False, False, False]
    assert ["Change your approach" in result for result in turn.results] == [False, False, True, True, True]


def test_a_loop_that_is_left_is_none(agents):
    other = compute("2")
    turn = agents.run([*[compute("1")] * 4, other, *[compute("1")] * 2, report()], *COMPUTE)
    assert turn.end["completed"] and turn.results[5:7] == ["1", "1"]


def test_the_order_of_arguments_makes_no_difference(agents):
    one = native(("run_python", {"code": "print(1)", "description": "x"}))
    two = native(("run_python", {"description": "x", "code": "print(1)"}))
    turn = agents.run([one, two, one, native_report(contains="Change your approach")])
    assert turn.steps[2]["is_error"]


# ---- budgets ----


def many(count):
    return [compute(str(number)) for number in range(count)]


@pytest.mark.quick
def test_ten_steps(agents):
    lines = many(11)
    lines[9]["ask"] = {"contains": ["One step is left"]}
    turn = agents.run(lines, *COMPUTE, status=1)
    assert turn.reason == "steps" and turn.end["steps"] == 10 and "--max-steps" in turn.end["message"]


def test_the_last_step_is_told(agents):
    turn = agents.run([compute("1"), report("1", contains="One step is left")], *COMPUTE, "--max-steps", "2")
    assert turn.end["completed"]
    turn = agents.run(many(2), *COMPUTE, "--max-steps", "1", status=1)
    assert turn.reason == "steps" and turn.end["steps"] == 1


def test_tokens(agents):
    usage = {"input_tokens": 900, "output_tokens": 100, "cached_tokens": 500}
    lines = [compute(str(number), usage=usage) for number in range(5)]
    turn = agents.run(lines, *COMPUTE, "--max-tokens", "2500", status=1)
    assert turn.reason == "tokens" and turn.end["steps"] == 3 and turn.end["tokens"] == 3000
    assert not turn.end["tokens_estimated"] and turn.steps[0]["usage"]["cached_tokens"] == 500


def test_tokens_that_nobody_counts_are_estimated(agents):
    turn = agents.run(many(5), *COMPUTE, "--max-tokens", "300", status=1)
    assert turn.reason == "tokens" and turn.end["tokens_estimated"] and turn.end["tokens"] >= 300


def test_cost(agents):
    usage = {"input_tokens": 10, "output_tokens": 10, "cost": 0.4}
    lines = [compute(str(number), usage=usage) for number in range(5)]
    turn = agents.run(lines, *COMPUTE, status=1)
    assert turn.reason == "cost" and turn.end["steps"] == 3 and turn.end["cost"] == pytest.approx(1.2)
    turn = agents.run([*lines[:4], report(usage=usage)], *COMPUTE, "--max-cost", "10.5")
    assert turn.end["completed"] and turn.end["cost"] == pytest.approx(2.0)


def test_a_cost_that_cannot_be_held_to(agents):
    turn = agents.run(many(2), *COMPUTE, "--max-cost", "1", status=1)
    assert turn.reason == "cost" and turn.end["steps"] == 1 and "prices" in turn.end["message"]


def test_time_ends_a_question(agents):
    turn = agents.run([report(wait_ms=600000)], *COMPUTE, "--max-time", "300ms", status=1)
    assert turn.reason == "time" and "--max-time" in turn.end["message"] and turn.end["took_ms"] < 30000


def test_time_ends_a_call(agents):
    name = unique()
    turn = agents.run(
        [native(("run_python", {"code": named(name), "timeout": 600})), native_report()], "--max-time", "4s", status=1
    )
    assert turn.reason == "time" and turn.names == ["run_python"]
    wait_until(lambda: not with_name(name), "the run to be cancelled")


def test_time_ends_a_wait_for_an_approval(agents):
    options = ["--toolset", "workbench", "--wait-approval", "1h", "--max-time", "1s"]
    turn = agents.run([WRITES, native_report()], *options, status=1)
    assert turn.reason == "time" and not (agents.adder.scratch / "made").exists()


@pytest.mark.parametrize(
    "option, value",
    [
        ("--max-steps", "0"),
        ("--max-steps", "1001"),
        ("--max-steps", "ten"),
        ("--max-tokens", "100000001"),
        ("--max-time", "25h"),
        ("--max-time", "soon"),
        ("--max-cost", "-1"),
        ("--max-cost", "1001"),
        ("--max-cost", "nan"),
    ],
)
def test_budgets_have_bounds(agents, option, value):
    ended = agents.show([report()], *COMPUTE, f"{option}={value}")
    assert ended.returncode == 125 and ended.stderr.startswith(f"adder: {option}") and ended.stderr.count("\n") == 1


# ---- approvals ----

WRITES = native(("execute_python", {"code": "open('made', 'w').write('x')", "description": "write a file"}))


def test_nobody_said_yes(agents):
    turn = agents.run(
        [WRITES, native_report("It needs an approval.", completed=False, contains="nobody said yes")],
        "--toolset",
        "workbench",
        status=1,
    )
    assert turn.steps[0]["is_error"] and not (agents.adder.scratch / "made").exists()


def waiting(adder):
    listed = json.loads(adder.call("approval", "list", "--json").stdout)["approvals"]
    return next((item["approval_id"] for item in listed if item["state"] == "pending"), None)


@pytest.mark.parametrize("word", ["approve", "deny"])
def test_somebody_decides(own, word):
    lines = [WRITES, native_report(contains="" if word == "approve" else "not on my machine")]
    if word == "approve":
        del lines[1]["ask"]
    with own.start(lines, "--toolset", "workbench", "--wait-approval", "10m") as process:
        approval = wait_until(lambda: waiting(own.adder), "the agent to ask for an approval")
        reason = ["--reason", "not on my machine"] if word == "deny" else []
        assert own.adder.call("approval", word, approval, *reason).returncode == 0
        out, err = process.communicate()
    turn = Turn(out.decode())
    assert err == b"" and turn.end["completed"]
    assert (own.adder.scratch / "made").exists() == (word == "approve")
    assert turn.steps[0]["is_error"] == (word == "deny")


def test_yes_to_everything(agents):
    turn = agents.run([WRITES, native_report()], "--toolset", "workbench", "--dangerously-accept-all")
    assert not turn.steps[0]["is_error"] and (agents.adder.scratch / "made").read_text() == "x"


def test_asked_at_the_terminal(agents):
    script = agents.script([WRITES, native_report()])
    ours, theirs = pty.openpty()
    with agents.adder.popen(
        "agent", "Do it.", "--model", script, "--toolset", "workbench", stdin=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        seen = b""
        while b"Run it?" not in seen:
            seen += os.read(ours, 4096)
        os.write(ours, b"y\n")
        assert process.stdout.read() == b"Done.\n"
        assert process.wait() == 0
    os.close(ours)
    assert (agents.adder.scratch / "made").exists() and b"write a file" in seen


# ---- pictures, long replies ----


@pytest.fixture
def drawn(agents):
    if agents.adder.environment != "science":
        pytest.skip("there is no environment science")
    return native(("run_python", {"code": PICTURE}))


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG\r\n")


def test_pictures_for_models_that_see(agents, drawn):
    turn = agents.run([drawn, native_report(contains="A picture comes with this")], "--out", "drawn", sees=True)
    assert turn.steps[0]["pictures"] == ["drawn/picture-1.png"]
    assert is_png(agents.adder.scratch / "drawn/picture-1.png") and "base64" not in turn.results[0]


def test_pictures_for_models_that_do_not(agents, drawn):
    turn = agents.run([drawn, drawn, native_report(contains="You cannot see it")], "--out", "drawn")
    assert turn.steps[1]["pictures"] == ["drawn/picture-2.png"], "an earlier one stays"
    assert "saved as drawn/picture-2.png" in turn.results[1] and "iVBOR" not in turn.results[1]


def test_pictures_that_nobody_keeps(agents, drawn):
    turn = agents.run([drawn, native_report()])
    assert turn.steps[0]["pictures"] == [] and turn.steps[0]["unsaved_pictures"] == 1
    shown = agents.show([drawn, native_report()])
    assert "--out DIR" in shown.stderr


def test_pictures_of_the_assistant(agents):
    if agents.adder.environment != "science":
        pytest.skip("there is no environment science")
    call = native(("run_python", {"code": PICTURE, "use_session": True}))
    turn = agents.run(
        [call, native(("python_end", {})), native_report()], "--toolset", "assistant", "--out", "shown", sees=True
    )
    assert turn.steps[0]["pictures"] == ["shown/picture-1.png"] and is_png(agents.adder.scratch / "shown/picture-1.png")


def test_long_replies_are_cut_and_can_be_read_on(agents):
    code = "for i in range(20000): print('line', i)"
    turn = agents.run(
        [
            native(("run_python", {"code": code})),
            native_report(contains=["line 19999", "peek_result"]),
        ]
    )
    assert "line 0\n" in turn.results[0] and len(turn.results[0]) < 35000


def test_long_replies_of_other_tools_are_cut(agents):
    tool = agents.tool("shout", "print('x' * 200000 + 'end')")
    turn = agents.run([native(("shout", {})), native_report(contains=["ask for less", "xend"])], *tool)
    assert len(turn.results[0]) < 31000


# ---- tools that are switched off, or fail ----


def test_a_tool_that_is_switched_off_is_gone_from_the_next_step(own):
    own.adder.call("run", "-c", "1")
    tool = own.tool(
        "off",
        "import subprocess, sys\nsys.exit(subprocess.call(['%s', 'tool', 'disable', 'compute.compute_with_python']))"
        % own.adder.installation.program,
    )
    turn = own.run(
        [
            compute("1 + 1"),
            typed("off"),
            compute("1 + 2"),
            report(contains=['There is no function "compute_with_python". There are: off, report_completion']),
        ],
        *COMPUTE,
        *tool,
    )
    assert turn.results[0] == "2" and turn.steps[2]["is_error"]


def test_read_only(agents):
    turn = agents.run([native(("run_python", {"code": "1"})), native_report()], "--read-only")
    assert 'no function "run_python"' in turn.results[0] and "list_files" in turn.results[0]


def test_the_loop_goes_on_without_a_tool_whose_runtime_fails(make_adder, common_directory):
    nothing = common_directory / unique()
    nothing.mkdir()
    agents = Agents(make_adder(variables={"ADDER_LIBEXECDIR": str(nothing)}))
    failing = [compute(str(number)) for number in range(4)]
    failing[3]["ask"] = {"contains": ["compute_with_python has failed several times running", "adder-init"]}
    turn = agents.run([*failing, report("It failed.", completed=False)], *COMPUTE, status=1)
    assert turn.reason == "failed" and turn.end["answer"] == "It failed."
    assert all("cannot start the daemon" in result for result in turn.results[:3])
    assert turn.results[3] == 'There is no function "compute_with_python". There are: report_completion.'


def test_what_a_model_gets_wrong_is_no_failure_of_the_runtime(agents):
    wrong = [typed("compute_with_python", {"code": str(number), "more": 1}) for number in range(3)]
    turn = agents.run([*wrong, compute("1 + 1"), report()], *COMPUTE)
    assert turn.results[3] == "2"


# ---- tools of one's own ----


def test_a_tool_of_ones_own(agents):
    tool = agents.tool("echo", ECHO, TEXT)
    turn = agents.run([typed("echo", {"text": "héllo\n'x'"}), report(contains="héllo")], *COMPUTE, *tool)
    assert turn.results[0] == "héllo\n'x'" and not turn.steps[0]["is_error"]


@pytest.mark.parametrize(
    "program, others, says",
    [
        ("import sys\nsys.exit('no such thing')", {}, "exit code 1: no such thing"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", {}, "signal 9"),
        ("import time\ntime.sleep(600)", {"timeout": 1}, "longer than 1 s"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", {}, "more than 8388608 bytes"),
        ("print('{\"error\": \"not today\"}')", {}, "not today"),
        ("", {"command": ["/nonexistent/program"]}, "cannot start"),
    ],
)
def test_errors_of_tools_of_ones_own(agents, program, others, says):
    tool = agents.tool("broken", program, **others)
    turn = agents.run([typed("broken"), report(contains=says)], *COMPUTE, *tool)
    assert turn.steps[0]["is_error"] and says in turn.results[0]


def test_what_a_tool_of_ones_own_leaves_behind_is_ended(agents):
    name = unique()
    program = f"""
import ctypes, os, time
if os.fork() == 0:
    ctypes.CDLL(None).prctl(15, {name.encode()!r})
    os.write(2, b'')
    while True: time.sleep(100)
print('left')
"""
    tool = agents.tool("leaves", program)
    turn = agents.run([typed("leaves"), report(contains="left")], *COMPUTE, *tool)
    assert turn.results[0] == "left" and turn.steps[0]["took_ms"] < 30000
    wait_until(lambda: not with_name(name), "the tool's child to be ended")


def test_a_tool_of_ones_own_that_draws(agents):
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 100).decode()
    tool = agents.tool("draw", f"import json\nprint(json.dumps({{'text': 'here', 'pictures': ['{picture}']}}))")
    turn = agents.run([typed("draw"), report()], *COMPUTE, *tool, "--out", "own")
    assert turn.steps[0]["pictures"] == ["own/picture-1.png"] and is_png(agents.adder.scratch / "own/picture-1.png")


@pytest.mark.parametrize(
    "changed, says",
    [
        ({"name": "no blanks"}, 'name must '),
        ({"name": "next_step"}, 'name must '),
        ({"description": 5}, 'description must '),
        ({"parameters": {"type": "string"}}, 'parameters must '),
        ({"command": []}, 'command must '),
        ({"command": "rm -rf /"}, 'command must '),
        ({"timeout": 0}, 'timeout must '),
        ({"shell": True}, 'there is no parameter "shell"'),
        ({"name": "report_completion"}, "two tools with the name report_completion"),
        ({"name": "compute_with_python"}, "two tools with the name compute_with_python"),
    ],
)
def test_descriptions_that_are_none(agents, changed, says):
    tool = agents.tool("echo", ECHO, **changed)
    ended = agents.show([report()], *COMPUTE, *tool)
    assert ended.returncode == 125 and says in ended.stderr and ended.stderr.count("\n") == 1


# ---- cancelling ----


@pytest.mark.quick
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_cancel_while_a_tool_runs(agents, number):
    name = unique()
    lines = [native(("run_python", {"code": named(name), "timeout": 600})), native_report()]
    with agents.start(lines) as process:
        wait_until(lambda: with_name(name), "the code to run")
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
    turn = Turn(out.decode())
    assert process.returncode == 130 and turn.reason == "cancelled"
    wait_until(lambda: not with_name(name), "the run to be cancelled")


def test_cancel_while_a_tool_of_ones_own_runs(agents):
    name = unique()
    tool = agents.tool("hangs", named(name, "import time\nwhile True: time.sleep(100)"))
    with agents.start([typed("hangs"), report()], *COMPUTE, *tool) as process:
        wait_until(lambda: with_name(name), "the tool to run")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and Turn(out.decode()).reason == "cancelled"
    assert not with_name(name)


def test_cancel_while_the_model_is_asked(agents):
    with agents.start([compute("1"), report(wait_ms=600000)], *COMPUTE) as process:
        assert json.loads(process.stdout.readline())["task"] == "Do it."
        assert json.loads(process.stdout.readline())["result"] == "1"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait() == 130
    assert json.loads(rest)["reason"] == "cancelled"


def test_cancel_while_an_approval_is_waited_for(own):
    with own.start([WRITES, native_report()], "--toolset", "workbench", "--wait-approval", "10m") as process:
        wait_until(lambda: waiting(own.adder), "the agent to ask for an approval")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and Turn(out.decode()).reason == "cancelled"


def test_nothing_is_left_in_this_process_either(agents):
    name = unique()
    lines = [native(("run_python", {"code": named(name), "timeout": 600})), native_report()]
    with agents.start(lines, "--no-daemon") as process:
        wait_until(lambda: with_name(name), "the code to run")
        left = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and Turn(out.decode()).reason == "cancelled"
    wait_until(lambda: not any(each.alive() for each in left), "all that it started to be gone")


# ---- what is written ----


@pytest.mark.quick
def test_transcript(agents):
    lines = [compute("1 + 1"), report("2")]
    shown = agents.show(lines, *COMPUTE, "--transcript", "steps.jsonl")
    assert shown.returncode == 0 and shown.stdout == "2\n"
    path = agents.adder.scratch / "steps.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    turn = Turn(path.read_text())
    assert turn.names == ["compute_with_python", "report_completion"] and turn.end["completed"]
    agents.show(lines, *COMPUTE, "--transcript", "steps.jsonl")
    assert path.read_text().count('"task"') == 2, "it is written on at the end"


def test_for_people_without_a_terminal(agents):
    shown = agents.show([compute("'x\\x1b[2Jy'", state="I\x1b[31m see"), report("Done\x1b[2J.")], *COMPUTE)
    assert shown.stdout == "Done<U+001B>[2J.\n"
    assert "step 1: compute_with_python\n" in shown.stderr and "code: 'x\\x1b[2Jy'" in shown.stderr
    assert "\x1b" not in shown.stderr and "\r" not in shown.stderr
    assert "the answers come from a replay of" in shown.stderr


def test_at_a_terminal_what_is_waited_for_is_shown(agents):
    script = agents.script([compute("1 + 1"), report("2")])
    ours, theirs = pty.openpty()
    variables = {**agents.adder.process_environment(), "TERM": "xterm"}
    with agents.adder.popen("agent", "x", *COMPUTE, "--model", script, stderr=theirs, env=variables) as process:
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 4096):
                seen += part
        except OSError:  # the last one who had it is gone
            pass
        assert process.wait() == 0 and process.stdout.read() == b"2\n"
    os.close(ours)
    assert b"step 1: asking" in seen and b"\r\x1b[K" in seen and b"\x1b[32mstep 1: compute_with_python" in seen


@pytest.mark.parametrize("task", ["", " \n"])
def test_a_task_that_says_nothing_is_refused(agents, task):
    ended = agents.adder.call("agent", task, "--model", agents.script([report()]))
    assert ended.returncode == 125 and "the TASK is empty" in ended.stderr and ended.stdout == ""


def test_recorded_once_it_plays_again(agents):
    agents.run([compute("6 * 7"), report("42", contains="42")], *COMPUTE, "--record", "again.jsonl")
    ended = agents.adder.call("agent", "Do it.", "--json", *COMPUTE, "--model", "replay:again.jsonl")
    turn = Turn(ended.stdout)
    assert turn.end["completed"] and turn.results[0] == "42" and turn.head["replay"]
    other = agents.adder.call("agent", "Something else.", "--json", *COMPUTE, "--model", "replay:again.jsonl")
    assert other.returncode == 125 and Turn(other.stdout).reason == "model"


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--toolset", "nothing"], "there is no toolset"),
        (["--steps", "some"], "typed or native"),
        (["--model", "nobody"], "adder model new"),
        (["--model", "replay:nothing.jsonl"], "nothing.jsonl"),
        (["--tool", "nothing.json"], "nothing.json"),
        (["--transcript", "no/such/folder"], "no/such/folder"),
        (["--role", "king"], "king"),
        (["--wait-approval", "soon"], "--wait-approval"),
    ],
)
def test_options_that_are_wrong(agents, arguments, says):
    model = [] if "--model" in arguments else ["--model", agents.script([report()])]
    ended = agents.adder.call("agent", "x", *model, *arguments)
    assert ended.returncode == 125 and says in ended.stderr and ended.stdout == ""
