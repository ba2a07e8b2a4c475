# SPDX-License-Identifier: Apache-2.0
"""What a tool has to ask a person, through a client that can: in both eras, and never answered by anybody else."""
import base64
import signal

import pytest

from harness import named, strict_json, unique, wait_until, with_name
from mcp_asked import CAN_ASK, CAN_TASKS, AnotherUser, Asked
from mcp_lines import LEGACY, MODERN, text

CODE = {"code": "print('it', 'ran')"}
TOOL = "execute_python"


@pytest.fixture
def asked(adder):
    """A modern client that can be asked, of a toolset whose profile wants approvals."""
    with Asked(adder, "--toolset", "workbench", can=CAN_ASK) as lines:
        yield lines


def begin(lines, arguments=None):
    """A call that has to be approved; its result and the key of the one question."""
    result = lines.result("tools/call", {"name": TOOL, "arguments": arguments or CODE})
    assert result["resultType"] == "input_required", result
    [(key, question)] = result["inputRequests"].items()
    assert question["method"] == "elicitation/create" and question["params"]["mode"] == "form"
    return result, key, question["params"]


def yes(decision="yes", **more):
    return {"action": "accept", "content": {"decision": decision, **more}}


def check_ran(result):
    assert text(result) == "it ran" and not result["isError"], result


def approvals(adder):
    return strict_json(adder.call("approval", "list", "--json").stdout)["approvals"]


# ---- the modern era ----


@pytest.mark.quick
def test_yes(asked):
    result, key, params = begin(asked, {**CODE, "description": "says that it ran"})
    assert "1 | print('it', 'ran')" in params["message"] and "says that it ran" in params["message"]
    assert "workbench" in params["message"] and "wall_ms" in params["message"]
    assert params["requestedSchema"]["properties"]["decision"]["enum"] == ["yes", "no"]
    arguments = {**CODE, "description": "says that it ran"}
    check_ran(asked.again(TOOL, arguments, result, {key: yes()})["result"])
    # It was for once: with the old state there is nothing to be had, and another question is asked.
    other = asked.again(TOOL, arguments, result, {key: yes()})["result"]
    assert other["resultType"] == "input_required" and key not in other["inputRequests"]


def test_no(asked):
    result, key, _ = begin(asked)
    told = asked.again(TOOL, CODE, result, {key: yes("no", reason="use the copy")})["result"]
    assert told["isError"] and "use the copy" in text(told) and "it ran" not in text(told)


def test_declined(asked):
    result, key, _ = begin(asked)
    told = asked.again(TOOL, CODE, result, {key: {"action": "decline"}})["result"]
    assert told["isError"] and "declined" in text(told)


def test_cancelled(asked):
    """Nobody decided: it stays open, and the model is told how a person can."""
    result, key, _ = begin(asked)
    told = asked.again(TOOL, CODE, result, {key: {"action": "cancel"}})["result"]
    approval = key.removeprefix("approval-")
    assert told["isError"] and "did not decide" in text(told)
    assert f"adder approval approve {approval}" in text(told)
    assert asked.adder.call("approval", "approve", approval).returncode == 0
    check_ran(asked.again(TOOL, CODE, result, {})["result"])


def test_always(adder):
    conversation = unique()
    with Asked(adder, "--toolset", "workbench", "--conversation", conversation, can=CAN_ASK) as lines:
        result, key, params = begin(lines)
        assert params["requestedSchema"]["properties"]["decision"]["enum"] == ["yes", "no", "always"]
        check_ran(lines.again(TOOL, CODE, result, {key: yes("always")})["result"])
        assert text(lines.call(TOOL, {"code": "print(6 * 7)"})) == "42"


WRONG = {
    "no object": 12345,
    "null": None,
    "no action": {},
    "no content": {"action": "accept"},
    "another word": {"action": "accept", "content": {"decision": "certainly"}},
    "another type": {"action": "accept", "content": {"decision": True}},
    "a long reason": {"action": "accept", "content": {"decision": "no", "reason": "x" * 501}},
}


@pytest.mark.parametrize("answer", WRONG)
def test_wrong_answer(asked, answer):
    """Is none: the same is asked again."""
    result, key, _ = begin(asked)
    again = asked.again(TOOL, CODE, result, {key: WRONG[answer]})["result"]
    assert list(again["inputRequests"]) == [key]
    check_ran(asked.again(TOOL, CODE, again, {key: yes(), "and": "more", "that nobody": ["asked for"]})["result"])


def test_answered_ahead(asked):
    """Nobody can say yes to what they have not been asked yet."""
    for key in ("approval", "decision", "approval-"):
        params = {"name": TOOL, "arguments": CODE, "inputResponses": {key: yes()}}
        assert asked.result("tools/call", params)["resultType"] == "input_required"


def bend(state, index):
    other = "A" if state[index] != "A" else "B"
    return state[:index] + other + state[index + 1 :]


@pytest.mark.quick
def test_state_of_another_request(asked):
    result, key, _ = begin(asked)
    state = result["requestState"]
    body = base64.b64decode(state.split(".")[0])
    forged = base64.b64encode(body.replace(b"approval", b"approvaI")).decode() + "." + state.split(".")[1]
    bent = [bend(state, 5), bend(state, len(state) - 3), state[:-1], "", "x.y", forged, state + "A", 7, None]
    for each in bent:
        params = {"name": TOOL, "arguments": CODE, "requestState": each, "inputResponses": {key: yes()}}
        problem = asked.problem("tools/call", params)
        assert problem["code"] == -32602 and "requestState" in problem["message"]
    others = {"name": TOOL, "arguments": {"code": "print('other')"}}, {"name": "peek_result", "arguments": CODE}
    for other in others:
        params = {**other, "requestState": state, "inputResponses": {key: yes()}}
        assert asked.problem("tools/call", params)["code"] == -32602
    problem = asked.problem("tools/call", {"name": TOOL, "arguments": CODE, "inputResponses": None})
    assert problem["code"] == -32602
    check_ran(asked.again(TOOL, CODE, result, {key: yes()})["result"])


@pytest.mark.both_users
def test_state_of_another_owner(adder, asked, installation):
    result, key, _ = begin(asked)
    with Asked(AnotherUser(adder, installation), "--toolset", "workbench", can=CAN_ASK) as other:
        problem = other.again(TOOL, CODE, result, {key: yes()})["error"]
        assert problem["code"] == -32602
        own = begin(other)[0]
    assert asked.again(TOOL, CODE, own, {key: yes()})["error"]["code"] == -32602
    check_ran(asked.again(TOOL, CODE, result, {key: yes()})["result"])


def test_old_state(make_adder):
    own = make_adder("[mcp]\nstate_age_ms = 1s\n")
    with Asked(own, "--toolset", "workbench", can=CAN_ASK) as lines:
        result, key, _ = begin(lines)

        def too_old():
            return lines.again(TOOL, CODE, result, {}).get("error")

        problem = wait_until(too_old, "the state is too old")
        assert problem["code"] == -32602 and "too old" in problem["message"]


# ---- clients that cannot be asked, or are not ----


def check_told(adder, lines):
    told = lines.call(TOOL, CODE)
    approval = told["structuredContent"]["approval_id"]
    assert told["isError"] and f"adder approval approve {approval}" in text(told)
    assert adder.call("approval", "approve", approval).returncode == 0
    check_ran(lines.call(TOOL, CODE))


@pytest.mark.parametrize("version", [MODERN, LEGACY[0]])
def test_without_elicitation(adder, version):
    with Asked(adder, "--toolset", "workbench", version=version) as lines:
        check_told(adder, lines)


def test_only_by_url(adder):
    """A client that elicits in another way than forms cannot be shown one."""
    with Asked(adder, "--toolset", "workbench", can={"elicitation": {"url": {}}}) as lines:
        check_told(adder, lines)


def test_switched_off(make_adder):
    own = make_adder("[mcp]\nelicit_approvals = false\n")
    with Asked(own, "--toolset", "workbench", can=CAN_ASK) as lines:
        check_told(own, lines)


def test_too_long_to_be_shown(asked):
    """A yes is for what was seen: code that is not shown whole is not asked about here."""
    told = asked.call(TOOL, {"code": "x = 1\n" * 20000 + "print('it', 'ran')"})
    assert told["isError"] and "too long to be shown" in text(told)


def test_hostile_code_is_shown_as_what_it_is(asked):
    code = "print(1)  # \x1b[2J\u202eseY\r\n\nprofile        standard\n"
    message = begin(asked, {"code": code})[2]["message"]
    assert "\x1b" not in message and "\u202e" not in message and "\r" not in message
    assert "\nprofile        standard" not in message and "\nprofile        workbench" in message


# ---- the legacy era ----


def answering(answer):
    return lambda _question: {"result": answer}


@pytest.mark.quick
@pytest.mark.parametrize("version", LEGACY)
def test_legacy_yes(adder, version):
    with Asked(
        adder, "--toolset", "workbench", version=version, can=CAN_ASK, answer=answering(yes())
    ) as lines:
        check_ran(lines.call(TOOL, CODE))
        [question] = lines.questions
        assert "1 | print('it', 'ran')" in question["params"]["message"]


LEGACY_ANSWERS = {
    "no": ({"result": yes("no", reason="not today")}, "not today"),
    "declined": ({"result": {"action": "decline"}}, "declined"),
    "cancelled": ({"result": {"action": "cancel"}}, "did not decide"),
    "wrong": ({"result": {"action": "accept", "content": {}}}, "decision must be given"),
    "an error": ({"error": {"code": -1, "message": "nobody is here"}}, "nobody is here"),
}


@pytest.mark.parametrize("kind", LEGACY_ANSWERS)
def test_legacy_others(adder, kind):
    answer, words = LEGACY_ANSWERS[kind]
    with Asked(
        adder, "--toolset", "workbench", version=LEGACY[0], can=CAN_ASK, answer=lambda _: answer
    ) as lines:
        told = lines.call(TOOL, CODE)
        assert told["isError"] and words in text(told) and "it ran" not in text(told)


def test_legacy_never_answered(make_adder):
    own = make_adder("[mcp]\ninput_wait_ms = 100ms\n")
    with Asked(own, "--toolset", "workbench", version=LEGACY[0], can=CAN_ASK) as lines:
        told = lines.call(TOOL, CODE)
        assert told["isError"] and "nobody answered in time" in text(told)


def test_legacy_client_goes(adder):
    """While it was asked. The approval is still there, and nothing ran."""
    line = f"print('{unique()}')"
    with Asked(adder, "--toolset", "workbench", version=LEGACY[0], can=CAN_ASK) as lines:
        lines.start("tools/call", {"name": TOOL, "arguments": {"code": line}})
        lines.until(lambda message: message.get("method") == "elicitation/create")
        assert lines.end()[1] == 0
    assert [each["state"] for each in approvals(adder) if each["first_line"] == line] == ["pending"]


# ---- with tasks ----


def test_asked_before_the_task(make_adder):
    """A client that knows tasks is asked as well, and the call runs then, as a task where it takes long."""
    own = make_adder("[mcp]\ntask_after_ms = 5s\n")  # enough for the question
    name, told_to = unique(), "[signal.SIGUSR1]"
    code = named(name, f"signal.sigwait({told_to})\nprint('it', 'ran')")
    arguments = {"code": f"import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {told_to})\n{code}"}
    with Asked(own, "--toolset", "workbench", can={**CAN_ASK, **CAN_TASKS}) as lines:
        result, key, _ = begin(lines, arguments)
        assert "taskId" not in result
        task = lines.again(TOOL, arguments, result, {key: yes()})["result"]
        assert task["resultType"] == "task" and "requestState" not in task
        [process] = wait_until(lambda: with_name(name), "the code to run")
        process.signal(signal.SIGUSR1)

        def ended():
            shown = lines.result("tasks/get", {"taskId": task["taskId"]})
            return shown if shown["status"] != "working" else None

        check_ran(wait_until(ended, "the task has ended")["result"])
