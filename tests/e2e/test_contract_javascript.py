# SPDX-License-Identifier: Apache-2.0
"""The contract of compute_with_javascript: one expression, exactly, once the tool was switched on; and the profile behind it."""
import json

import pytest

from harness import Tools, skip_without, unique

TOOL = "compute_with_javascript"


@pytest.fixture(scope="module")
def tools(make_shared_adder):
    adder = make_shared_adder()
    if not adder.has_environment("javascript"):
        skip_without("javascript")
    assert adder.call("tool", "enable", TOOL).returncode == 0
    return Tools(adder, "compute")


@pytest.fixture
def compute(tools):
    """The text of a call that must end with STATUS."""

    def call(code, status=0, *options, tool=TOOL, **arguments):
        return tools.call(tool, {"code": code, **arguments}, *options, status=status)["text"]

    return call


@pytest.fixture
def chat(compute):
    """compute in a conversation of its own."""
    options = ("--conversation", unique())
    return lambda code, status=0, **arguments: compute(code, status, *options, **arguments)


def test_it_is_off_until_it_is_switched_on(own_adder):
    def listed(*options):
        return own_adder.call("tool", "list", "--toolset", "compute", *options).stdout

    assert TOOL not in listed() and TOOL not in listed("--prompt") and "compute_with_python" in listed()
    assert "adder tool enable compute.compute_with_javascript" in Tools(own_adder, "compute").refused(TOOL, {"code": "1"}, status=126)
    own_adder.call("tool", "disable", "compute_with_python")
    own_adder.call("tool", "enable", TOOL)
    assert TOOL in listed() and "compute_with_python" not in listed()
    own_adder.call("tool", "disable", TOOL)
    assert listed() == ""


def test_its_parameters(tools):
    properties = tools.table[TOOL]["inputSchema"]["properties"]
    assert list(properties) == ["code", "description", "store_as"]


EXAMPLES = {
    "[...'NcS9euQa'].reverse().join('')": "aQue9ScN",
    "123456789n * 987654321n": "121932631112635269",
    "2n ** 200n": str(2**200),
    "[3, 1, 2].sort()": "[1, 2, 3]",
    "'strawberry'.split('r').length - 1": "3",
    "0.1 + 0.2": "0.30000000000000004",
    "2 ** 53 + 1": "9007199254740992",
    "1 / 3;": "0.3333333333333333",
    "-0": "-0",
    "NaN": "NaN",
    "null": "null",
    "undefined": "undefined",
    "''": "",
    "'two\\nlines'": "two\nlines",
    "'ü€🐍'.length": "4",
    "'\\ud800'": "\ufffd",
    "({a: [1, NaN, undefined, -0, 2n, 'x'], b: null})": '{"a": [1, NaN, undefined, -0, 2, "x"], "b": null}',
    "{a: 1}": '{"a": 1}',
    "new Map([[1, new Set(['x'])]])": 'Map {1 => Set {"x"}}',
    "new Uint8Array([1, 2])": "[1, 2]",
    "new Date(0)": "1970-01-01T00:00:00.000Z",
    "new Date(NaN)": "Invalid Date",
    "/a/g": "/a/g",
    "x => x + 1": "x => x + 1",
    "Symbol('s')": "Symbol(s)",
    "(() => { let sum = 0; for (const n of [1, 2, 3]) sum += n; return sum })()": "6",
    "'a1b22'.match(/[0-9]+/g)": '["1", "22"]',
    "JSON.parse('{\"a\": [1, 2]}').a[1]": "2",
    "`${1 + 1} // no comment`": "2 // no comment",
    "1 // a comment": "1",
    "1,\n2": "2",
}


@pytest.mark.parametrize("code", EXAMPLES)
def test_values_come_as_text(compute, code):
    assert compute(code, description="An example.") == EXAMPLES[code]


ERRORS = {
    "foo.bar": "ReferenceError: foo is not defined",
    "null.x": "TypeError: cannot read property 'x' of null",
    "(1).toFixed(1000)": "RangeError: invalid number of digits",
    "1 +": "SyntaxError: unexpected end of the expression",
    "(() => { throw 5 })()": "Thrown: 5",
    "(() => { throw new Error('two\\nlines') })()": "Error: two\nlines",
    "(function f() { return f() })()": "RangeError: Maximum call stack size exceeded",
    "(async () => 1)()": "TypeError: the value is a promise, and nothing is waited for here",
    "(() => { const a = []; a[0] = a; return a })()": "RangeError: Maximum call stack size exceeded",
}


@pytest.mark.parametrize("code", ERRORS)
def test_errors_have_their_form(compute, code):
    assert compute(code, 1) == f"JavaScriptError: {ERRORS[code]}"


NOT_THERE = "require process console document window fetch setTimeout std os eval Function WebAssembly Atomics SharedArrayBuffer performance gc print"


@pytest.mark.parametrize("name", NOT_THERE.split())
def test_there_are_no_modules_and_nothing_outside(compute, name):
    assert compute(name, 1) == f"JavaScriptError: ReferenceError: {name} is not defined"
    assert compute(f"'{name}' in globalThis") == "false"


def test_nothing_can_be_imported(compute):
    assert compute("import('os')", 1) == "JavaScriptError: TypeError: the value is a promise, and nothing is waited for here"
    assert "SyntaxError" in compute("import.meta", 1)
    assert compute("import os from 'os'", 1).startswith("JavaScriptError: SyntaxError: ")


STATEMENTS = [
    "let x = 1; x",
    "var x = 1",
    "while (true);",
    "for (;;) {}",
    "1; 2",
    "throw 1",
    "return 1",
    "",
    " ;",
    "// nothing",
    "function f() {} f()",
]


@pytest.mark.parametrize("code", STATEMENTS)
def test_it_is_one_expression(compute, code):
    text = compute(code, 126)
    assert text.startswith("JavaScriptError: Refused: ") and "Write one expression" in text


@pytest.mark.parametrize("code", ["1); (2", "1]; [2", "1) + (2", "1], [2", "1})(); (() => {2"])
def test_no_bracket_gets_around_that(compute, code):
    assert compute(code, 1).startswith("JavaScriptError: SyntaxError: ")


BOUNDED = [
    "(() => { for (;;); })()",
    "/(a+)+$/.test('a'.repeat(50) + 'b')",
    "'a'.repeat(2 ** 29)",
    "Array.from({length: 1e9}, (_, n) => [n])",
    "10n ** 100000000n",
    "JSON.parse('['.repeat(10 ** 6))",
    "(() => { const all = []; for (;;) all.push(new ArrayBuffer(2 ** 20)); })()",
]


@pytest.mark.parametrize("code", BOUNDED)
def test_what_is_bounded(tools, code):
    ended = tools.adder.call("tool", "call", TOOL, json.dumps({"code": code}))
    reply = json.loads(ended.stdout)
    assert ended.returncode == 1 and reply["text"].startswith("JavaScriptError: "), ended
    assert tools.call(TOOL, {"code": "1 + 1"})["text"] == "2"


def test_deep_nesting_ends_well(compute):
    assert compute("(" * 7000 + "1" + ")" * 7000, 1).startswith("JavaScriptError: ")


def test_a_value_that_is_too_long_is_no_value(chat):
    assert chat("1 + 1") == "2"
    assert chat("'x'.repeat(100000)", 1).startswith("JavaScriptError: ValueTooLong: ")
    assert chat("last_result") == "2", "an error is no result"


def test_a_conversation_goes_on_in_both_languages(chat):
    assert chat("[...'secret'].reverse().join('')", store_as="kept") == "terces"
    assert chat("kept + len(kept).__str__()", 126, tool="compute_with_python").startswith("PythonError: ")
    assert chat("kept.upper() + last_result", tool="compute_with_python") == "TERCESterces"
    assert chat("last_result.length + kept") == "12terces"


def test_a_name_of_the_other_language_is_no_danger(chat):
    assert chat("'python'", tool="compute_with_python", store_as="Math") == "python"
    assert chat("'python'", tool="compute_with_python", store_as="new") == "python"
    assert chat("Math.max(1, 2)") == "2"
    assert chat("'script'", store_as="len") == "script"
    assert chat("len('abc')", tool="compute_with_python") == "3"


@pytest.mark.parametrize("name", ["last_result", "Math", "undefined", "typeof", "globalThis"])
def test_names_that_are_taken(tools, name):
    refusal = tools.refused(TOOL, {"code": "1", "store_as": name}, "--conversation", "c")
    assert f"cannot be {name}" in refusal


def test_random_numbers_are_each_call_s_own(compute):
    assert len({compute("Math.random()") for _ in range(5)}) == 5


# ---- the profile ----


def test_as_a_run(javascript):
    result = javascript.run("\n\n  foo.bar", "--profile", "javascript", env="javascript")
    assert result.outcome == "error" and result.error["line"] == 3
    assert "no require" in result.error["hint"] and "<input>:3:3" in result.error["traceback"]
    assert javascript.run("name + 1", "--profile", "javascript", "--value", 'name=[1, "two"]', env="javascript").value == {"text/plain": "1,two1"}


def test_it_is_checked_without_running(javascript):
    for code, status in (("(() => { for (;;); })()", 0), ("let x", 126), ("1 +", 1)):
        assert javascript.call("run", "--check", "-", "--profile", "javascript", input=code).returncode == status


def test_python_is_not_run_by_it(javascript, sessions):
    """A profile of somebody's own, with what JavaScript has no use for."""
    folder = javascript.own(javascript.config) / "profiles"
    folder.mkdir(exist_ok=True)
    (folder / "open.conf").write_text("[profile]\nenvironment = javascript\n[guard]\nmode = javascript\n")
    assert javascript.run("__import__('os').getpid()", "--profile", "open", env="javascript").error["type"] == "ReferenceError"
    session = sessions.new("--profile", "open", env="javascript")
    assert "JavaScript is for runs alone" in sessions.cell(session, "1 + 1").error["message"]


def test_where_there_is_no_such_environment(make_adder, tmp_path):
    adder = make_adder("", {"ADDER_ENVIRONMENTS_DIR": str(tmp_path)})
    adder.call("tool", "enable", TOOL)
    assert "adder env new javascript" in json.loads(adder.call("tool", "call", TOOL, '{"code": "1"}').stdout)["error"]
