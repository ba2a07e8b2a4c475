# SPDX-License-Identifier: Apache-2.0
"""The contract of the toolset `compute`: one expression, exactly, and what a conversation remembers."""
import json
import time

import pytest

from harness import Tools, unique, wait_until


@pytest.fixture
def tools(adder):
    return Tools(adder, "compute")


@pytest.fixture
def compute(tools):
    """The text of a call that must end with STATUS."""

    def call(code, status=0, *options, **arguments):
        reply = tools.call("compute_with_python", {"code": code, **arguments}, *options, status=status)
        assert set(reply) == {"text", "run_id"}, reply
        return reply["text"]

    return call


@pytest.fixture
def chat(compute):
    """compute in a conversation of its own."""
    options = ("--conversation", unique())
    return lambda code, status=0, **arguments: compute(code, status, *options, **arguments)


def test_its_parameters(tools):
    properties = tools.table["compute_with_python"]["inputSchema"]["properties"]
    assert list(properties) == ["code", "description", "store_as"]


EXAMPLES = {
    "'NcS9euQa'[::-1]": "aQue9ScN",
    "'apple,banana,cherry'.split(',')[1]": "banana",
    "123456789 * 987654321": "121932631112635269",
    "2 ** 200": str(2**200),
    "'strawberry'.count('r')": "3",
    "sorted([3, 1, 2], reverse=True)": "[3, 2, 1]",
    "None": "None",
    "'two\\nlines'": "two\nlines",
    "''": "",
    "'ü€🐍'": "ü€🐍",
    "[x * x for x in range(4)]": "[0, 1, 4, 9]",
    "(lambda x: x + 1)(41)": "42",
    "{k: v for k, v in zip('ab', [1, 2])}": "{'a': 1, 'b': 2}",
    "'{:,}'.format(1234567)": "1,234,567",
    "(datetime.date(2024, 3, 1) - datetime.date(2024, 2, 1)).days": "29",
    "fractions.Fraction(1, 3) + fractions.Fraction(1, 6)": "1/2",
    "decimal.Decimal('0.1') + decimal.Decimal('0.2')": "0.3",
    "math.comb(10, 3), statistics.median([1, 3, 2])": "(120, 2)",
    "re.findall('[0-9]+', 'a1b22')": "['1', '22']",
    "json.loads('{\"a\": [1, 2]}')['a'][1]": "2",
}


@pytest.mark.parametrize("code", EXAMPLES)
def test_values_come_as_text(compute, code):
    assert compute(code, description="An example.") == EXAMPLES[code]


@pytest.mark.quick
def test_the_promised_example(compute):
    assert compute("'NcS9euQa'[::-1]", description="Reverse the secret.") == "aQue9ScN"


NAMES = (
    "len str int float list dict tuple set reversed sorted enumerate sum max min abs round range zip map filter "
    "bool any all divmod pow chr ord repr format bin hex oct frozenset bytes complex isinstance "
    "math statistics re json datetime decimal fractions"
).split()


@pytest.mark.parametrize("name", NAMES)
def test_the_names_that_exist(compute, name):
    assert compute(f"{name} is not None") == "True"


@pytest.mark.parametrize("name", "print open eval exec compile input globals locals vars getattr setattr os sys type".split())
def test_the_names_that_do_not(compute, name):
    status = 126 if name in ("os", "sys") else None
    for expected in (126, 1) if status is None else (status,):
        try:
            text = compute(name, expected)
            break
        except AssertionError:
            continue
    else:
        pytest.fail(f"{name} exists")
    assert text.startswith("PythonError: ") and name in text


def test_errors_have_their_form(compute):
    assert compute("1 / 0", 1) == "PythonError: ZeroDivisionError: division by zero"
    assert compute("int('x')", 1) == "PythonError: ValueError: invalid literal for int() with base 10: 'x'"
    assert compute("[1][5]", 1) == "PythonError: IndexError: list index out of range"
    assert compute("1 +", 1).startswith("PythonError: SyntaxError: ")
    assert compute("(1 +\n 2 * * 3)", 1) == "PythonError: SyntaxError: invalid syntax (line 2, column 6)"


REFUSED = {
    "__import__('os').system('ls')": "import",
    "import os": "import",
    "x = 1": "expression",
    "print(1); print(2)": "expression",
    "().__class__.__bases__[0].__subclasses__()": "__class__",
    "'{0.__class__}'.format(1)": "__class__",
    "for x in [1]: x": "expression",
}


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_refused_before_it_runs(compute, code):
    text = compute(code, 126)
    assert text.startswith("PythonError: ") and REFUSED[code] in text.lower()


BOUNDED = ["9 ** 9 ** 9", "'a' * 10 ** 12", "[0] * 10 ** 10", "math.factorial(10 ** 6)", "sum(range(10 ** 12))", "re.match('(a+)+$', 'a' * 50 + 'b')"]


@pytest.mark.parametrize("code", BOUNDED)
def test_what_is_bounded(tools, code):
    ended = tools.adder.call("tool", "call", "compute_with_python", json.dumps({"code": code}))
    reply = json.loads(ended.stdout)
    assert ended.returncode in (1, 126) and reply["text"].startswith("PythonError: "), ended


# Python stops at 4300 digits, unless it is told otherwise.
LONG_NUMBERS = {
    "10 ** 5000": "1" + "0" * 5000,
    "int('9' * 5000) + 1": "1" + "0" * 5000,
    "9" * 5000 + " + 1": "1" + "0" * 5000,
    "len(str(2 ** 100000))": "30103",
    "str(2 ** 100000)[:10]": "9990020930",
    "2 ** 100000 % 10 ** 10": "9883109376",
}


@pytest.mark.parametrize("code", LONG_NUMBERS, ids=lambda code: code[:24])
def test_numbers_of_many_digits(compute, code):
    assert compute(code) == LONG_NUMBERS[code]


def test_a_number_that_is_too_long_comes_with_advice_that_works(compute):
    advice = compute("2 ** 100000", 1)
    assert advice.startswith("PythonError: ValueTooLong: ") and "sys." not in advice
    assert "its length" in advice and "a slice of its text" in advice
    assert compute("len(str(2 ** 100000)), str(2 ** 100000)[:10], str(2 ** 100000)[-10:]") == "(30103, '9990020930', '9883109376')"


def test_a_long_number_goes_on_in_the_conversation(chat):
    assert chat("10 ** 5000") == "1" + "0" * 5000
    assert chat("int(last_result) // 10 ** 4998") == "100"


def test_a_value_that_is_too_long_is_no_value(compute, chat):
    assert compute("'x' * 100000", 1).startswith("PythonError: ValueTooLong: ")
    assert chat("1 + 1") == "2"
    assert chat("'x' * 100000", 1).startswith("PythonError: ")
    assert chat("last_result") == "2", "an error is no result"


# ---- conversation state ----


def test_the_last_result(chat):
    assert chat("'abc'[::-1]") == "cba"
    assert chat("last_result.upper()") == "CBA"
    assert chat("6 * 7") == "42"
    assert chat("last_result + '!'") == "42!", "it is text"
    assert chat("int(last_result[:2]) * 2") == "84"


def test_an_error_is_no_result(chat):
    assert chat("40 + 2") == "42"
    chat("1 / 0", 1)
    assert chat("last_result") == "42"


def test_values_under_names(chat):
    assert chat("'secret'[::-1]", store_as="reversed_secret") == "terces"
    assert chat("1 + 1") == "2"
    assert chat("reversed_secret + last_result") == "terces2"
    assert chat("'new'", store_as="reversed_secret") == "new"
    assert chat("reversed_secret") == "new"


def test_text_stays_what_it_is(chat):
    for text in ("'", '"', "\\", "\\n", "ü€🐍", "{x}", "</script>", " "):
        assert chat(repr(text), store_as="kept") == text
        assert chat("kept") == text and chat("len(last_result)") == str(len(text))


def test_conversations_are_apart(compute, chat):
    chat("'mine'", store_as="kept")
    for name, options in (("kept", ["--conversation", unique()]), ("last_result", []), ("last_result", ["--conversation", unique()])):
        assert compute(name, 1, *options) == f"PythonError: NameError: name '{name}' is not defined"


@pytest.mark.parametrize("name", ["last_result", "len", "math", "lambda", "None"])
def test_names_that_are_taken(tools, name):
    refusal = tools.refused("compute_with_python", {"code": "1", "store_as": name}, "--conversation", "c")
    assert f"cannot be {name}" in refusal


@pytest.mark.parametrize("name", ["", "a b", "1a", "__class__", "a" * 65, "a.b", "ä"])
def test_names_that_are_none(tools, name):
    assert "store_as must be" in tools.refused("compute_with_python", {"code": "1", "store_as": name}, "--conversation", "c")


def test_a_name_needs_a_conversation(tools):
    assert "conversation" in tools.refused("compute_with_python", {"code": "1", "store_as": "x"})


def test_states_are_bounded(make_adder):
    adder = make_adder("[tools]\ncontext_values = 2\ncontext_bytes = 1KiB\n")
    tools = Tools(adder, "compute")

    def call(code, name=None, status=0):
        arguments = {"code": code, **({"store_as": name} if name else {})}
        return tools.call("compute_with_python", arguments, "--conversation", "c", status=status)

    call("1", "a")
    call("2", "b")
    assert "2 values" in call("3", "c", 125)["error"]
    assert "1 KiB" in call("'x' * 900", "a", 125)["error"]
    assert call("'x' * 900")["text"] == "x" * 900
    assert call("'x' * 2000")["text"] == "x" * 2000, "what cannot be kept is computed"
    assert "NameError" in call("last_result", status=1)["text"], "and nothing older stands for it"
    assert call("a + b")["text"] == "12"


def test_states_expire(make_adder):
    adder = make_adder("[tools]\ncontext_idle_ms = 10\n")
    tools = Tools(adder, "compute")
    tools.call("compute_with_python", {"code": "'first'"}, "--conversation", "c")

    def forgotten():
        ended = adder.call("tool", "call", "compute_with_python", '{"code": "last_result"}', "--conversation", "c")
        return ended.returncode == 1 and "NameError" in ended.stdout

    wait_until(forgotten, "the conversation to be forgotten")


def test_a_daemon_stays_for_its_conversations(make_adder):
    adder = make_adder("[daemon]\nidle_exit_ms = 300\n[tools]\ncontext_idle_ms = 3s\n")
    tools = Tools(adder, "compute")

    def lived(*options):
        """How long a call and its daemon lived."""
        begun = time.monotonic()
        tools.call("compute_with_python", {"code": "'kept'"}, *options)
        adder.wait_ended()
        return time.monotonic() - begun

    assert lived("--conversation", "c") >= 3
    assert adder.daemon() is None
    lived()


# ---- the prompt and the switch ----


def test_the_switch_takes_it_from_list_and_prompt(own_adder):
    def listed(*options):
        return own_adder.call("tool", "list", "--toolset", "compute", *options).stdout

    assert "compute_with_python" in listed() and "'NcS9euQa'[::-1]" in listed("--prompt")
    own_adder.call("tool", "disable", "compute_with_python")
    assert listed() == "" and listed("--prompt") == ""
    own_adder.call("tool", "enable", "compute_with_python")
    assert "compute_with_python" in listed("--prompt")
