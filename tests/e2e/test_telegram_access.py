# SPDX-License-Identifier: Apache-2.0
"""Who gets an answer of `adder telegram`, who decides about approvals, and where the token and the words of a chat are not."""
import pathlib

import pytest

import telegram_server
from harness import REPOSITORY, unique
from telegram_world import INDICATOR, World


@pytest.fixture
def server(telegram):
    return telegram.server()


# ---- strangers ----


def nothing_came(bot, server, *chats):
    """When all is done, and the bot has ended."""
    server.wait_polling()
    bot.stop()
    for chat in chats:
        assert [call for call in server.calls if call.chat == chat.id] == [] and chat.sent == []


@pytest.mark.quick
def test_strangers_get_nothing(telegram, server):
    known, stranger, group, listed = server.private(), server.private(), server.group(), server.group()
    bot = telegram.bot(server, [known, listed])
    word = unique()
    for chat, by in ((stranger, None), (group, None), (group, known.owner)):
        for text in (f"hello {word}", "/help", "/stop", "/python new"):
            chat.say(text, by)
        chat.run(f"open('{word}', 'w')", by)
        chat.document("x.txt", b"x")
    assert "run_python" in known.ask("/tools").text
    assert "run_python" in listed.ask("/tools", by=stranger.owner).text, "in a group on the list, everybody is answered"
    nothing_came(bot, server, stranger, group)
    assert server.count("getFile") == 0


def test_whoever_says_that_he_is_another(telegram, server):
    """Who has written is who the update says, and a private chat is one with themselves."""
    known, stranger = server.private(), server.private()
    bot = telegram.bot(server, [known])
    odd = [
        {"from": known.owner, "chat": {"id": stranger.id, "type": "channel"}},
        {"from": known.owner, "chat": {"id": stranger.id, "type": "group"}},
        {"from": known.owner, "chat": {"id": stranger.id}},
        {"from": known.owner, "chat": {"id": stranger.id, "type": None}},
        {"from": known.owner, "chat": {"id": stranger.id, "type": "private"}},
        {"from": {**stranger.owner, "id": str(known.id)}, "chat": stranger.shape()},
        {"from": {**stranger.owner, "id": float(known.id)}, "chat": stranger.shape()},
        {"from": [known.owner], "chat": stranger.shape()},
        {"chat": stranger.shape()},
        {"sender_chat": known.owner, "chat": stranger.shape()},
    ]
    for fields in odd:
        server.push("message", {**stranger.message("/help"), "from": None, **fields})
    assert "run_python" in known.ask("/tools").text
    nothing_came(bot, server, stranger)


KINDS = ["edited_message", "channel_post", "edited_channel_post", "business_message", "edited_business_message", "guest_message"]


def test_only_new_messages_are_answered(telegram, server):
    """Whatever else comes though it was not asked for."""
    known = server.private()
    bot = telegram.bot(server, [known])
    word = unique()
    for kind in KINDS:
        server.push(kind, known.block(f"print('{word}')"))
    query = {"id": "1", "from": known.owner, "query": word, "offset": ""}
    server.push("inline_query", query)
    server.push("my_chat_member", {"chat": known.shape(), "from": known.owner, "date": 1})
    assert "run_python" in known.ask("/tools").text
    assert INDICATOR.search(known.ask_run("x = 1").text)
    bot.stop()
    assert len(known.sent) == 2
    asked = [call.given["allowed_updates"] for call in server.calls if call.method == "getUpdates"]
    assert asked[0] == ["message", "callback_query"]


def test_service_messages_of_a_group_are_not_answered(telegram, server):
    chat = server.group()
    bot = telegram.bot(server, [chat])
    for fields in (
        {"new_chat_members": [server.person()]},
        {"left_chat_member": server.person()},
        {"pinned_message": chat.message("x")},
        {"new_chat_title": "x"},
        {"migrate_to_chat_id": -1},
    ):
        chat.say(None, **fields)
    assert "run_python" in chat.ask("/tools").text
    bot.stop()
    assert len(chat.sent) == 1


# ---- the configuration ----


def fails(bot, *words, **variables):
    bot.start(wait=False, **variables)
    log = bot.ended(125)
    assert log.startswith("adder: ") and log.count("\n") == 1, log
    assert all(word in log for word in words), log


@pytest.fixture
def still(telegram, server):
    """A bot that was not started."""
    return telegram.bot(server, [server.private()], start=False)


@pytest.mark.quick
def test_a_token_is_needed(still, server):
    fails(still, "ADDER_TELEGRAM_TOKEN", "token_file", ADDER_TELEGRAM_TOKEN="")
    for token in ("nonsense", "123:", ":abc", "123:a b", "123:../../x", "123:a?b", "١٢٣:abc", "1" * 300 + ":a"):
        fails(still, "token", ADDER_TELEGRAM_TOKEN=token)
        assert token not in still.log.partition("adder:")[2], "it is not shown"
    assert server.calls == []


def test_a_file_with_the_token(still, server):
    path = still.adder.file("token", server.token + "\n")
    still.lines = f"token_file = {path}\n"
    still.write()
    path.chmod(0o644)
    fails(still, "token", ADDER_TELEGRAM_TOKEN="")
    path.chmod(0o600)
    still.start(ADDER_TELEGRAM_TOKEN="")
    still.check_processes()
    still.stop()
    path.unlink()
    fails(still, "token", ADDER_TELEGRAM_TOKEN="")


def test_somebody_must_be_answered(still):
    still.chats = []
    still.write()
    fails(still, "users", "chats")
    for lines in ("users = all\n", "users = 99999999999999999999\n", "chats = 1.5\n"):
        still.lines = lines
        still.write()
        fails(still, "number", "[telegram]")


def test_where_the_server_is(still):
    address = still.server.url
    for url in ("http://192.0.2.1", "ftp://127.0.0.1", "file:///etc/passwd", "127.0.0.1"):
        still.server.url = url
        still.write()
        fails(still, "api")
    still.server.url = address


def test_a_token_that_is_refused(still, server):
    """It ends, and says so; nothing of the token is shown."""
    server.refuse(None, 401, "Unauthorized", times=99)
    still.start(wait=False)
    log = still.ended(125)
    assert "token" in log.splitlines()[-1] or "Unauthorized" in log.splitlines()[-1]


def test_one_bot_at_a_time(telegram, still, server):
    """Two of one user would take each other's updates."""
    still.start()
    second = telegram.bot(server, still.chats, start=False, name="second")
    fails(second, "telegram")
    assert "run_python" in still.chats[0].ask("/tools").text


# ---- secrets ----


def test_where_the_token_is_not(make_adder):
    """Not with the daemon that the bot starts, and not in a command line; the words of a chat neither."""
    adder = make_adder()
    world = World(adder)
    try:
        server = world.server()
        chat = server.private()
        bot = world.bot(server, [chat])
        word = unique()
        assert word in chat.ask_run(f"import os, time\nprint('{word}', dict(os.environ))").text
        assert server.secret not in chat.sent[-1].text
        assert adder.daemon() is not None
        bot.check_processes()
        bot.wait_done()
        modes = {path.name: path.stat().st_mode & 0o777 for path in adder.state.iterdir() if "telegram" in path.name}
        assert modes and all(mode & 0o077 == 0 for mode in modes.values()), modes
        bot.stop()
        for path in (path for path in pathlib.Path(adder.directory).rglob("*") if path.is_file()):
            assert server.secret.encode() not in path.read_bytes(), path
        left = [path for path in adder.state.glob("telegram*.json") if word.encode() in path.read_bytes()]
        assert left == [], "what is done is forgotten"
        world.check()
        assert adder.daemon() is not None, "sessions outlive the bot"
    finally:
        world.end()


@pytest.mark.parametrize("url", [True, False])
def test_a_server_that_repeats_what_it_heard(telegram, server, url):
    """Its words are logged by those who debug; they hold the token, and parts of messages."""
    chat = server.private()
    telegram.bot(server, [chat])
    word = unique()

    def repeat(_handler, call):
        said = f"/bot{server.token}/{call.method}" if url else str(call.given.get("text"))
        raise telegram_server.Refused(400, f"Bad Request: strange: {said}")

    server.fault("sendMessage", repeat)
    chat.run(f"print('{word}')")
    server.wait(lambda: server.count("sendMessage"), "a try")
    chat.say("/tools")
    chat.wait(lambda sent: sent and "run_python" in sent[-1].text)


# ---- approvals ----

@pytest.fixture
def asking(make_adder):
    """A world whose daemon wants a yes for each cell."""
    adder = make_adder()
    folder = adder.config / "profiles"
    folder.mkdir(mode=0o755)
    text = (REPOSITORY / "profiles/notebook.conf").read_text()
    (folder / "notebook.conf").write_text(text.replace("[profile]\n", "[profile]\napproval = always\n", 1))
    adder.own(folder / "notebook.conf"), adder.own(folder)
    world = World(adder)
    assert adder.call("run", "-c", "0").returncode == 0
    yield world
    world.check()
    world.end()


@pytest.fixture
def group(asking):
    server = asking.server()
    chat = server.group()
    chat.bot = asking.bot(server, [chat])
    return chat


@pytest.mark.quick
def test_a_yes_of_who_asked(group):
    question = group.ask_run("print(6 * 7)")
    assert "print(6 * 7)" in question.text and [button["text"] for button in question.buttons][:2] == ["Yes", "No"]
    press = group.press(question, "Yes")
    assert group.server.answer_to(press) == "Allowed."
    assert group.next()[0].parts("pre") == ["42"]
    group.wait(lambda sent: not sent[0].buttons and "Allowed" in sent[0].text)


def test_a_no_and_a_yes_for_all(group):
    first = group.ask_run("print(1)")
    group.press(first, "No")
    answer = group.next()[0]
    assert "1" not in answer.parts("pre") and "refused" in answer.text.lower(), answer
    group.press(group.ask_run("print(2)"), "Always")
    assert group.next()[0].parts("pre") == ["2"]
    assert group.ask_run("print(2)").parts("pre") == ["2"]


def test_nobody_else_decides(group):
    """Neither others of the group, nor strangers, nor by what they make up."""
    server, other = group.server, group.server.person("Eve")
    question = group.ask_run("print('ran')")
    assert "Only the sender" in server.answer_to(group.press(question, "Yes", by=other))
    outside = server.group()
    data = question.buttons[0]["callback_data"]
    silent = outside.press_data(question.id, data, by=group.owner)
    for odd in ("yes", "yes:", ":", "", "yes:" + "0" * 36, data[:-1], data + "x", "maybe" + data[data.index(":") :]):
        server.answer_to(group.press_data(question.id, odd))
    group.press_data(question.id, None)
    group.press_data(question.id, 7)
    assert group.sent == [question] and question.buttons
    group.press(question, "No")
    group.next()
    group.server.wait_polling()
    assert silent not in server.answered
    assert not any("ran" == part for message in group.sent for part in message.parts("pre"))


def test_what_was_decided_is_over(group):
    server = group.server
    question = group.ask_run("print('ran')")
    yes = question.buttons[0]["callback_data"]
    group.press(question, "No")
    group.next()
    late = server.answer_to(group.press_data(question.id, yes))
    assert "over" in late or "decided" in late
    assert "denied" in group.ask_run("print('ran')").text, "the same is not asked twice"
    second = group.ask_run("print('ran')  # again")
    assert "over" in server.answer_to(group.press_data(question.id, yes)), "of the question before"
    group.press(second, "No")
    group.next()
    assert not any("ran" == part for message in group.sent for part in message.parts("pre"))


def test_a_button_of_before_the_restart(group):
    question = group.ask_run("print('ran')")
    yes = question.buttons[0]["callback_data"]
    group.bot.stop()
    group.bot.start()
    assert "over" in group.server.answer_to(group.press_data(question.id, yes))
    assert not any("ran" == part for message in group.sent for part in message.parts("pre"))


def test_stop_ends_the_question(group):
    question = group.ask_run("print('ran')")
    data = question.buttons[0]["callback_data"]
    group.say("/stop")
    group.wait(lambda sent: "Nobody decided" in sent[0].text)
    assert "over" in group.server.answer_to(group.press_data(question.id, data))
    assert not any("ran" == part for message in group.sent for part in message.parts("pre"))


def test_code_in_a_question_is_shown_as_it_is(group):
    code = "print('<b>')  # </pre> \u202e &amp; 😀"
    question = group.ask_run(code)
    assert "print('<b>')  # </pre>" in question.text and "&amp; 😀" in question.text
    group.press(question, "No")
    group.next()


def test_a_long_question_has_its_buttons_at_the_end(group):
    code = "\n".join(f"print({number})  # {'x' * 80}" for number in range(150))
    group.run(code)
    question = group.wait(lambda sent: [message for message in sent if message.buttons])[0]
    shown = "".join(message.text for message in group.sent)
    assert question is group.sent[-1] and "print(0)" in shown
    group.press(question, "No")
    group.wait(lambda sent: "Refused" in question.text or "refused" in sent[-1].text.lower())
