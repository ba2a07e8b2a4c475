# SPDX-License-Identifier: Apache-2.0
"""The double of the Bot API held against the description that is published (types that others make of it), and `adder telegram`
with a server that others wrote."""
import http.client
import json
import re
import subprocess

import pytest

import harness
import ports
import telegram_api
import telegram_world

PACKAGES = harness.REPOSITORY / "build/node-packages/node_modules"
NODE = harness.REPOSITORY / "build/node/bin/node"
KINDS = {"number": "integer", "string": "text", "boolean": "truth", "number | string": "chat", "F | string": "file"}


@pytest.fixture(scope="module")
def published():
    """Each method's parameters as they are published: {method: {name: (type, required)}}, without those that are out of use."""
    path = PACKAGES / "@grammyjs/types/methods.d.ts"
    if not path.exists():
        pytest.skip("no description of the Bot API: . scripts/common.sh && node_packages")
    found = {}
    for method in re.finditer(r"\n    (\w+)\((?:args\??: \{(.*?)\n    \}|args\??: \{\}|)\):", path.read_text(), re.S):
        body = re.sub(r"/\*\*(?:(?!\*/).)*@deprecated.*?\*/\s*\w+\??:.*?;(?=\n|$)", "", method[2] or "", flags=re.S)
        body = re.sub(r"/\*\*.*?\*/", "", body, flags=re.S)
        members = re.findall(r"^\s*(\w+)(\??):\s*(.*?);\s*$", body, re.M | re.S)
        found[method[1]] = {name: (" ".join(kind.split()), not optional) for name, optional, kind in members}
    return found


@pytest.mark.parametrize("method", telegram_api.METHODS)
def test_the_double_takes_what_is_published(published, method):
    table = telegram_api.METHODS[method]
    assert {name: required for name, (_, required) in table.items()} == {
        name: required for name, (_, required) in published[method].items()
    }
    for name, (kind, _) in table.items():
        said = published[method][name][0]
        if kind != "other" and said in KINDS:
            assert KINDS[said] == kind, name


def test_the_kinds_of_chat_actions(published):
    assert set(re.findall(r'"(\w+)"', published["sendChatAction"]["action"][0])) == set(telegram_api.ACTIONS)


# ---- what the double refuses ----


@pytest.mark.quick
@pytest.mark.parametrize(
    "html, text, entities",
    [
        ("a &lt;b&gt; &amp; &quot;&#x1F600;", 'a <b> & "😀', []),
        ("😀<b>x</b>", "😀x", [("bold", 2, 1)]),
        ("<pre>a\n</pre>\n", "a", [("pre", 0, 1)]),
        ("<b>a<i>b</i></b>", "ab", [("bold", 0, 2), ("italic", 1, 1)]),
    ],
)
def test_markup_that_can_be_read(html, text, entities):
    found = telegram_api.read_text({"text": html, "parse_mode": "HTML"})
    assert found == (text, [dict(zip(("type", "offset", "length"), entity)) for entity in entities])


@pytest.mark.parametrize("html", ["<b>a", "a</b>", "<b>a</i>", "<x>a</x>", "a < b", "<b", "", " \n ", "x" * 4097, "😀" * 2049])
def test_markup_that_can_not(html):
    with pytest.raises(telegram_api.Refused):
        telegram_api.read_text({"text": html, "parse_mode": "HTML"})


# ---- a server of others ----

SERVER = """
const { TelegramServer } = require("telegram-test-api/lib/telegramServer");
const port = Number(process.argv[1]);
const server = new TelegramServer({ port, host: "127.0.0.1", protocol: "http", storage: "RAM", storeTimeout: 600 });
server.start().then(() => console.log("up"));
process.stdin.on("end", () => process.exit(0)).resume();
"""


class Others:
    """That server, and one who writes to the bot through it."""

    def __init__(self):
        self.reserved = ports.reserve()
        self.port = ports.number_of(self.reserved)
        self.url, self.token, self.secret = f"http://127.0.0.1:{self.port}", "12345:" + "A" * 35, "A" * 35
        self.number, self.polls, self.calls, self.said = 12345, 0, [], set()
        self.process = subprocess.Popen(
            [NODE, "-e", SERVER, str(self.port)], cwd=PACKAGES.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout.readline() == b"up\n"

    def ask(self, path, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.DEADLINE)
        connection.request("POST", path, json.dumps(fields), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        assert answer["ok"], answer
        return answer["result"]

    def say(self, chat, text, **fields):
        person = {"id": chat, "is_bot": False, "first_name": "Ada"}
        about = {"from": person, "chat": {"id": chat, "type": "private"}, "date": 1, "message_id": 1}
        self.ask("/sendMessage", botToken=self.token, text=text, **about, **fields)

    def next(self, chat):
        """What the bot says next."""
        return harness.wait_until(lambda: self.ask("/getUpdates", token=self.token, chatId=chat), "a message of the bot")[0]["message"]

    def end(self):
        self.process.stdin.close()
        self.process.wait(harness.DEADLINE)
        self.process.stdout.close()
        self.reserved.close()


@pytest.fixture
def others():
    if not NODE.exists() or not (PACKAGES / "telegram-test-api").exists():
        pytest.skip("no telegram-test-api: . scripts/common.sh && node_packages")
    server = Others()
    yield server
    server.end()


def test_a_server_that_others_wrote(telegram, others):
    """It has no long polling and no pictures: what goes over it are words, code and commands."""
    chat = telegram.server().private()
    bot = telegram_world.Bot(telegram.adder, others, [chat])
    telegram.bots.append(bot)
    bot.start(wait=False)
    code = "x = 6\nprint(x * 7)"
    others.say(chat.id, code, entities=[{"type": "pre", "offset": 0, "length": len(code)}])
    answer = others.next(chat.id)
    assert answer["parse_mode"] == "HTML" and answer["text"].startswith("<pre>42</pre>")
    assert "🐍 [session active, 1 var]" in answer["text"]
    for command, word in (("/python vars", "x: int"), ("/tools", "run_python"), ("/help", "/python"), ("plain words", "adder model new")):
        others.say(chat.id, command)
        assert word in others.next(chat.id)["text"]
    others.say(chat.id + 1, "/help")
    others.say(chat.id, "/python end")
    assert "ended" in others.next(chat.id)["text"]
    assert others.ask("/getUpdates", token=others.token, chatId=chat.id + 1) == []
