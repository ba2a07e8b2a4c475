# SPDX-License-Identifier: Apache-2.0
"""`adder model`: which models there are to ask, and where their keys come from. docs/models.md"""
import contextlib
import http.server
import json
import os
import pathlib
import stat
import subprocess
import threading

import pytest

import harness

SECRET = "sk-not-for-anybody-0123456789"

READY = [
    '{"answer": {"text": "ready"}}',
    '{"ask": {"tools": ["add"], "tool": "add"}, "answer": {"calls": [{"name": "add", "arguments": {"a": 17, "b": 25}}]}}',
    '{"answer": {"text": "one two three four five six seven eight nine ten"}}',
]


def add(adder, *arguments, **options):
    ended = adder.call("model", "new", *arguments, **options)
    assert (ended.returncode, ended.stdout) == (0, "")
    return ended


def listed(adder):
    return json.loads(adder.call("model", "list", "--json").stdout)


def conf(adder):
    return adder.config / "models.conf"


def replay(adder, *lines, name="replay.jsonl"):
    return f"replay:{adder.file(name, ''.join(line + chr(10) for line in lines))}"


@pytest.mark.quick
def test_models_are_added_listed_and_removed(make_adder):
    adder = make_adder()
    assert "adder model new" in adder.call("model", "list").stderr
    ended = add(adder, "gpt", "--provider", "openai", "--model", "gpt-x", "--input-price", "1.25")
    assert "$OPENAI_API_KEY, which is not set; it is the default" in ended.stderr
    add(
        adder,
        "local",
        "--provider",
        "ollama",
        "--model",
        "qwen3:8b",
        "--sees",
        "--no-stream",
        "--timeout",
        "10min",
    )
    assert stat.S_IMODE(os.stat(conf(adder)).st_mode) == 0o600
    gpt, local = listed(adder)
    assert (gpt["name"], gpt["dialect"], gpt["base_url"], gpt["input_price"], gpt["is_default"]) == (
        "gpt",
        "responses",
        "https://api.openai.com/v1",
        1.25,
        True,
    )
    assert (local["model"], local["sees"], local["stream"], local["timeout_ms"], local["key_is"]) == (
        "qwen3:8b",
        True,
        False,
        600000,
        "none",
    )
    assert adder.call("model", "list", "--names").stdout == "gpt\nlocal\n"
    assert adder.call("model", "default").stdout == "gpt\n"
    assert adder.call("model", "default", "local").returncode == 0
    assert adder.call("model", "default").stdout == "local\n"
    assert json.loads(adder.call("model", "show", "local", "--json").stdout)["is_default"]
    assert adder.call("model", "rm", "local", "nobody").returncode == 125, "all of them or none"
    assert adder.call("model", "rm", "local").returncode == 0
    assert adder.call("model", "list", "--names").stdout == "gpt\n"
    ended = adder.call("model", "default")
    assert ended.returncode == 125 and "adder model default NAME" in ended.stderr


def test_which_model_is_asked(make_adder):
    """--model, then ADDER_MODEL, then the default one; a replay may stand for each."""
    adder = make_adder()
    played = replay(adder, *READY)
    ended = adder.call("model", "check")
    assert ended.returncode == 125 and "adder model new" in ended.stderr
    assert adder.call("model", "default", played).returncode == 0
    assert json.loads(adder.call("model", "check", "--json").stdout)["model"] == played
    other = replay(adder, *READY, name="other.jsonl")
    adder.variables["ADDER_MODEL"] = other
    assert json.loads(adder.call("model", "check", "--json").stdout)["model"] == other
    assert json.loads(adder.call("model", "check", played, "--json").stdout)["model"] == played


@pytest.mark.quick
def test_a_check_says_what_works(make_adder):
    adder = make_adder()
    found = json.loads(adder.call("model", "check", replay(adder, *READY), "--json").stdout)
    assert found["works"] and found["replay"] and found["provider"].startswith("a replay of ")
    assert [(check["check"], check["works"]) for check in found["checks"]] == [
        ("answers", True),
        ("calls tools", True),
        ("streams", True),
    ]
    poor = replay(
        adder,
        '{"answer": {"text": "ready"}}',
        '{"answer": {"text": "42"}}',
        '{"error": {"kind": "rate", "message": "wait a minute"}}',
    )
    ended = adder.call("model", "check", poor)
    assert ended.returncode == 1 and ended.stderr == ""
    lines = ended.stdout.splitlines()
    assert "a replay of" in lines[0] and "yes" in lines[1]
    assert "no" in lines[2] and "it did not call the tool" in lines[2]
    assert "no" in lines[3] and "wait a minute" in lines[3]


def test_a_replay_says_where_it_was_left(make_adder):
    adder = make_adder()
    ended = adder.call(
        "model",
        "check",
        replay(
            adder, READY[0], READY[0].replace('{"answer"', '{"ask": {"contains": ["Subtract"]}, "answer"', 1)
        ),
    )
    assert (
        'answers another question: "Subtract" does not occur in "Add 17 and 25 with the tool."'
        in ended.stdout
    )
    assert "line 2 of the replay" in ended.stdout
    wrong = adder.call("model", "check", replay(adder, "{}"))
    assert (
        wrong.returncode == 125
        and "line 1 of the replay" in wrong.stderr
        and '"answer" or an "error"' in wrong.stderr
    )


def test_the_example_of_the_documentation_is_complete(make_adder):
    adder = make_adder()
    text = (harness.REPOSITORY / "docs" / "models.md").read_text()
    lines = [line[4:] for line in text.splitlines() if line.startswith(('    {"', "    # "))]
    assert len(lines) == 5
    model = replay(adder, *lines)
    ended = adder.call("model", "check", model)
    assert "line 3 of the replay" in ended.stdout and '"stressed" does not occur in' in ended.stdout
    ended = adder.call(
        "agent", "What is 'stressed' reversed?", "--toolset", "compute", "--steps", "native", "--model", model
    )
    assert ended.returncode == 0 and ended.stdout == "It is desserts.\n", ended.stderr


def test_every_setting_is_documented(make_adder):
    adder = make_adder()
    add(adder, "m", "--provider", "vllm", "--model", "x")
    text = (harness.REPOSITORY / "docs" / "models.md").read_text()
    for key in listed(adder)[0]:
        assert f"| `{key}` |" in text or key in ("name", "key_is", "is_default"), key


# ---- keys ----


def everything_written(adder):
    """All that Adder wrote for its user, but for the folder of keys."""
    for path in adder.directory.rglob("*"):
        if path.is_file() and path.parent.name != "keys" and adder.scratch not in path.parents:
            yield path, path.read_bytes()


@pytest.mark.quick
def test_a_key_from_standard_input_is_kept_and_never_shown(make_adder):
    adder = make_adder()
    ended = add(
        adder, "claude", "--provider", "anthropic", "--model", "c", "--key-stdin", input=SECRET + "\n"
    )
    kept = adder.config / "keys" / "claude"
    assert kept.read_text() == SECRET + "\n" and stat.S_IMODE(os.stat(kept).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(kept.parent).st_mode) == 0o700
    told = [ended.stderr]
    for command in (["list"], ["list", "--json"], ["show", "claude"], ["show", "claude", "--json"]):
        shown = adder.call("model", *command)
        assert shown.returncode == 0 and "claude" in shown.stdout
        told.append(shown.stdout + shown.stderr)
    assert SECRET not in "".join(told)
    assert [path for path, text in everything_written(adder) if SECRET.encode() in text] == []
    assert adder.call("model", "rm", "claude").returncode == 0
    assert not kept.exists()


def test_a_key_stands_in_no_command_line(make_adder):
    """While the key is read, what everybody can see of the process does not have it."""
    adder = make_adder()
    with adder.popen(
        "model", "new", "m", "--provider", "openai", "--model", "x", "--key-stdin", stdin=subprocess.PIPE
    ) as process:
        process.stdin.write(SECRET[:10].encode())
        harness.wait_until(lambda: (adder.config / "models.conf.lock").exists(), "the key being read")
        seen = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
                seen.append(path.read_bytes())
        process.stdin.write((SECRET[10:] + "\n").encode())
        process.stdin.close()
        assert process.wait() == 0
    assert any(b"--key-stdin" in line for line in seen)
    assert not any(SECRET[:10].encode() in line for line in seen)
    assert (adder.config / "keys" / "m").read_text() == SECRET + "\n"


@pytest.mark.parametrize(
    "mode, told",
    [(0o644, "may be read by others (its mode is 0644): chmod 600"), (0o640, "chmod 600"), (0o600, None)],
)
def test_a_key_that_others_may_read_is_refused(make_adder, mode, told):
    adder = make_adder()
    path = adder.file("key", SECRET + "\n")
    path.chmod(mode)
    ended = adder.call("model", "new", "m", "--provider", "openai", "--model", "x", "--key-file", path)
    assert SECRET not in ended.stdout + ended.stderr
    if told:
        assert ended.returncode == 125 and told in ended.stderr
        assert not conf(adder).exists(), "a model that could not be asked was not added"
    else:
        assert ended.returncode == 0 and listed(adder)[0]["key_file"] == str(path)


def test_a_key_that_becomes_readable_is_refused_when_it_is_needed(make_adder):
    adder = make_adder()
    add(adder, "m", "--provider", "openai", "--model", "x", "--key-stdin", input=SECRET)
    (adder.config / "keys" / "m").chmod(0o644)
    ended = adder.call("model", "check", "m")
    assert ended.returncode == 125 and "chmod 600" in ended.stderr and SECRET not in ended.stderr


def test_a_key_that_is_not_there(make_adder):
    adder = make_adder()
    add(adder, "m", "--provider", "openai", "--model", "x", "--key-env", "MY_KEY")
    ended = adder.call("model", "check")
    assert ended.returncode == 125 and "from the variable MY_KEY, which is not set" in ended.stderr
    adder.variables["MY_KEY"] = SECRET + "\nX-More: 1"
    ended = adder.call("model", "check")
    assert (
        ended.returncode == 125
        and "one word of printable ASCII" in ended.stderr
        and SECRET not in ended.stderr
    )


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["m", "--model", "x"], "has no base_url"),
        (["m", "--provider", "openai"], "has no model"),
        (["m", "--provider", "opnai", "--model", "x"], "known are openai, anthropic"),
        (["replay:x", "--provider", "openai", "--model", "x"], "is no name of a model"),
        (["models", "--provider", "openai", "--model", "x"], "is no name of a model"),
        (
            ["m", "--provider", "openai", "--model", "x", "--key-env", SECRET],
            "the key itself belongs into it",
        ),
        (["m", "--base-url", f"https://u:{SECRET}@host/", "--model", "x"], "neither a user nor a password"),
        (["m", "--provider", "vllm", "--model", "x", "--timeout", "3h"], "from 100 ms to 2 h"),
        (["m", "--provider", "vllm", "--model", "x", "--key-stdin", "--key-env", "K"], "from one place"),
        (["taken", "--provider", "vllm", "--model", "x"], "--replace"),
    ],
)
def test_what_cannot_be_added(make_adder, arguments, told):
    adder = make_adder()
    add(adder, "taken", "--provider", "vllm", "--model", "before")
    ended = adder.call("model", "new", *arguments)
    assert ended.returncode == 125 and told in ended.stderr and ended.stderr.count("\n") == 1
    assert SECRET not in ended.stderr
    assert [model["model"] for model in listed(adder)] == ["before"]


# ---- the file ----


def test_models_that_are_added_at_once_are_all_there(make_adder):
    adder = make_adder()
    names = [f"m{number}" for number in range(12)]
    started = [adder.popen("model", "new", name, "--provider", "vllm", "--model", name) for name in names]
    for process in started:
        process.communicate()
        assert process.returncode == 0
    assert sorted(model["name"] for model in listed(adder)) == sorted(names)
    assert sum(model["is_default"] for model in listed(adder)) == 1
    left = {path.name for path in adder.config.iterdir()} - {"adder.conf"}
    assert left == {"models.conf", "models.conf.lock"}


def test_a_change_keeps_what_was_written_by_hand(make_adder):
    adder = make_adder()
    path = conf(adder)
    path.write_text(
        "# those of the lab\n[big]\n# the new one\nmodel = x\nbase_url = http://127.0.0.1:1/v1\ntimeout_ms = 10min\n"
    )
    path.chmod(0o600)
    adder.own(path)
    add(adder, "small", "--provider", "vllm", "--model", "y")
    text = path.read_text()
    assert "# those of the lab\n" in text and "# the new one\nmodel" in text and "10min" in text
    path.chmod(0o622)
    ended = adder.call("model", "list")
    assert (
        ended.returncode == 125 and "may be changed by others" in ended.stderr and "chmod 600" in ended.stderr
    )


def test_a_server_that_is_not_there_is_asked_once(make_adder):
    adder = make_adder()
    add(
        adder,
        "away",
        "--dialect",
        "chat",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--model",
        "x",
        "--retries",
        "0",
    )
    found = json.loads(adder.call("model", "check", "away", "--json").stdout)
    assert [check["check"] for check in found["checks"]] == ["answers"] and not found["works"]
    assert "cannot be reached" in found["checks"][0]["says"]


# ---- a server that repeats what it was sent ----


class Parrot(http.server.BaseHTTPRequestHandler):
    """Refuses the key that it repeats, or, as the path says, answers with a conversation."""

    def do_POST(self):
        key = self.headers["Authorization"]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.keys.append(key)
        if self.path.startswith("/refuses/"):
            self.reply(
                401, {"error": {"message": f"Incorrect API key provided: {key}", "code": "invalid_api_key"}}
            )
        else:
            self.reply(200, self.answer(body))

    @staticmethod
    def answer(body):
        message = {"role": "assistant", "content": "ready"}
        if body.get("tools"):
            call = {"name": "add", "arguments": '{"a": 17, "b": 25}'}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "type": "function", "function": call}],
            }
        return {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1},
        }

    def reply(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def parrot():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Parrot)
    server.keys = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def add_parrot(adder, parrot, path, *options):
    url = f"http://127.0.0.1:{parrot.server_address[1]}/{path}"
    add(
        adder,
        path,
        "--dialect",
        "chat",
        "--base-url",
        url,
        "--model",
        "x",
        "--key-stdin",
        "--no-stream",
        *options,
        input=SECRET,
    )


def test_a_key_that_a_server_repeats_is_not_shown(make_adder, parrot):
    adder = make_adder()
    add_parrot(adder, parrot, "refuses")
    ended = adder.call("model", "check", "refuses")
    assert parrot.keys == [f"Bearer {SECRET}"]
    assert ended.returncode == 1 and "key" in ended.stdout and SECRET not in ended.stdout + ended.stderr
    asked = adder.call(
        "chat", "--model", "refuses", "--json", "--record", "recorded", "--transcript", "told", input="hi\n"
    )
    assert asked.returncode == 125 and SECRET not in asked.stdout + asked.stderr
    assert '"kind":"key"' in (adder.scratch / "recorded").read_text()
    for path in adder.directory.rglob("*"):
        if path.is_file() and path.parent.name != "keys":
            assert SECRET.encode() not in path.read_bytes(), path


def test_what_an_api_answers_can_be_played(make_adder, parrot):
    adder = make_adder()
    add_parrot(adder, parrot, "answers")
    found = json.loads(adder.call("model", "check", "answers", "--json").stdout)
    assert [check["works"] for check in found["checks"]] == [True, True, False], "it does not stream"
    asked = adder.call(
        "chat",
        "--model",
        "answers",
        "--toolset",
        "compute",
        "--record",
        "recorded",
        "--max-steps",
        "1",
        input="hi\n",
    )
    played = adder.call(
        "chat", "--model", "replay:recorded", "--toolset", "compute", "--max-steps", "1", input="hi\n"
    )
    assert asked.stdout == played.stdout and asked.returncode == played.returncode
    text = (adder.scratch / "recorded").read_text()
    assert (
        SECRET not in text and '"model":"answers"' in text and "OpenAI Chat Completions at 127.0.0.1" in text
    )
