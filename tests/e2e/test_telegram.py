# SPDX-License-Identifier: Apache-2.0
"""`adder telegram` as the people of its chats see it: the session cases of the assistant's contract, plain text with a model and
without one, pictures, files. The server is a double (telegram_server.py); daemon, sessions and tools are real."""
import pytest

import harness
import telegram_api
from agents import exchange, native
from harness import FOREVER, unique
from telegram_world import INDICATOR

THE_LAST_USER = pytest.mark.parametrize(
    "user", [user for user in harness.users() if not user.why_not][-1:], ids=lambda user: user.name, indirect=True
)
PLOT = "import matplotlib.pyplot as plt\nfor i in range({}):\n  plt.figure(figsize={})\n  plt.plot([1, 2, i])\n  plt.show()"


@pytest.fixture
def server(telegram):
    return telegram.server()


@pytest.fixture
def chat(telegram, server):
    """One person's chat with a bot that has no model."""
    alone = server.private()
    telegram.bot(server, [alone])
    return alone


@pytest.fixture
def model_chat(telegram, server):
    """A chat whose model answers with what it is made with."""

    def make(*lines):
        alone = server.private()
        telegram.bot(server, [alone], model=telegram.script(*lines))
        return alone

    return make


def cell(code, **others):
    return native(("run_python", {"code": code, "use_session": True}), **others)


def said(text, **others):
    return exchange(text=text, **others)


def output(message):
    """What code wrote, as it stands in the one block of MESSAGE."""
    (block,) = message.parts("pre")
    return block


# ---- code blocks and their session ----


@pytest.mark.quick
def test_a_code_block_runs_as_it_is(chat):
    first = chat.ask_run("x = 42")
    assert output(first) == "(no output)" and first.shown.endswith("[cell 1] 🐍 [session active, 1 var]")
    second = chat.ask_run("y = x + 1\n_hidden = 2\nprint(y)\nz = '<b>&amp;'\nz")
    assert output(second) == "43\n'<b>&amp;'"
    assert second.shown.endswith("[cell 2] 🐍 [session active, 3 vars]")


def test_stdout_and_traceback_come_in_a_block(chat):
    failed = chat.ask_run("import sys\nprint('before', flush=True)\nprint('err', file=sys.stderr, flush=True)\n1/0")
    assert output(failed).startswith("before\nerr\nTraceback") and "ZeroDivisionError: division by zero" in output(failed)
    assert INDICATOR.search(failed.text) and not INDICATOR.search(output(failed))


def test_a_block_among_words_and_after_wide_characters(chat):
    before = "👩‍👩‍👧‍👦 𝒫𝓁ℯ𝒶𝓈ℯ: "
    code = "print('𝟙𝟚𝟛'[::-1])"
    entity = {"type": "pre", "offset": telegram_api.units(before), "length": telegram_api.units(code), "language": "python"}
    assert output(chat.ask(before + code + " thanks", entities=[entity])) == "𝟛𝟚𝟙"


def test_a_block_that_has_its_fences_still(chat):
    assert output(chat.ask("```python\nprint(6 * 7)\n```")) == "42"


def test_output_that_looks_like_our_own_words(chat):
    """What code prints is shown whole, whatever it says."""
    code = "print('a\\n[A picture of me]\\nb\\n[cell 9] 🐍 [session active, 99 vars]\\nc')"
    answer = chat.ask_run(code)
    assert output(answer) == "a\n[A picture of me]\nb\n[cell 9] 🐍 [session active, 99 vars]\nc"
    assert answer.shown.endswith("[cell 1] 🐍 [session active, 0 vars]")
    failed = chat.ask_run("raise ValueError('it was cancelled')")
    assert "ValueError: it was cancelled" in output(failed)


@pytest.mark.quick
def test_new_reset_end(chat):
    chat.ask_run("x = 1\nopen('kept.txt', 'w').write('x')")
    assert "🐍 [session active, 0 vars]" in chat.ask("/python reset").text
    assert output(chat.ask_run("import os\nprint('x' in globals(), os.listdir())")) == "False ['kept.txt']"
    assert chat.ask("/python new").shown.endswith("🐍 [session active, 0 vars]")
    fresh = chat.ask_run("import os\nprint(os.listdir())")
    assert output(fresh) == "[]" and "[cell 1]" in fresh.text
    assert chat.ask("/python end").shown == "The session has ended."
    again = chat.ask_run("print('os' in globals())")
    assert again.shown.startswith("[a new session: the last one ended") and "False" in again.text
    assert INDICATOR.search(again.text)


def test_variables_are_listed_without_values(chat):
    word = unique()
    assert "no session" in chat.ask("/python vars").shown
    chat.ask_run(f"secret = '{word}'\nnumbers = [1, 2, 3]\n_own = 1")
    shown = chat.ask("/python vars").shown
    assert "secret: str" in shown and "numbers: list" in shown and word not in shown and "_own" not in shown


def test_history_and_replay(chat):
    chat.ask_run("x = 20")
    chat.ask_run("y = x + 1  # <i>")
    assert chat.ask("/python history").parts("pre") == ["[cell 1]\nx = 20", "[cell 2]\ny = x + 1  # <i>"]
    chat.ask("/python end")
    assert chat.ask("/python replay").shown.startswith("2 cells run again in a fresh interpreter.")
    assert output(chat.ask_run("print(x + y)")) == "41"


def test_replay_goes_on_after_a_cell_that_fails(chat):
    chat.ask_run("x = 1")
    chat.ask_run("raise ValueError('no')")
    chat.ask_run("y = 2")
    assert "Cell 2 ended as error" in chat.ask("/python replay").text
    assert output(chat.ask_run("print(x, y)")) == "1 2"


def test_each_chat_has_a_session_of_its_own(telegram, server):
    one, two = server.private(), server.group()
    telegram.bot(server, [one, two])
    one.ask_run("x = 'of one'")
    assert "NameError" in output(two.ask_run("print(x)"))
    two.ask_run("x = 'of two'", by=server.person("Barbara"))
    assert output(two.ask_run("print(x)", by=server.person("Edsger"))) == "of two"
    assert output(one.ask_run("print(x)")) == "of one"


@pytest.mark.slow
@THE_LAST_USER
def test_a_cell_has_thirty_seconds_and_its_memory(chat):
    chat.ask_run("x = 1")
    assert output(chat.ask_run("while True: pass")).endswith("[Timeout] Cell exceeded 30 s and was interrupted.")
    assert output(chat.ask_run("print(x)")) == "1"
    assert "memory" in chat.ask_run("x = bytearray(1 << 40)").text.lower()
    greedy = chat.ask_run("held = []\nwhile True: held.append(bytearray(1 << 24))").text
    assert "memory" in greedy.lower(), greedy
    assert INDICATOR.search(chat.ask_run("y = 2").text)


# ---- long and wide ----


def test_output_is_cut_and_split(chat):
    chat.run("print('x' * 5000)")
    first, second = chat.next(2)
    assert first.parts("pre") + second.parts("pre") == ["x" * 4096, "[Output truncated at 4096 bytes]"]
    assert INDICATOR.search(second.text)


@pytest.mark.quick
def test_long_answers_are_split_at_line_ends(model_chat):
    lines = [f"line {number} " + "𝒳" * (number % 40) for number in range(300)]
    code = "\n".join(f"print({number})  # <&>" for number in range(400))
    chat = model_chat(said("\n".join(lines) + f"\n```python\n{code}\n```\nThe end."), said("After."))
    chat.say("go")
    messages = chat.wait(lambda sent: sent and sent[-1].shown.endswith("The end.") and sent, "the end")
    assert all(telegram_api.units(message.text) <= 4096 for message in messages) and len(messages) > 3
    assert [line for message in messages for line in message.shown.split("\n")] == [*lines, *code.split("\n"), "The end."]
    assert "\n".join(block for message in messages for block in message.parts("pre")) == code


def test_very_long_lines_are_split_within_characters_never(model_chat):
    text = "😀" * 5000
    chat = model_chat(said(text))
    chat.say("go")
    messages = chat.next(3)
    assert [telegram_api.units(message.text) for message in messages] == [4096, 4096, 1808]
    assert "".join(message.text for message in messages) == text


def test_far_too_long_an_answer_is_a_file(model_chat):
    text = "".join(f"{number} " + "y" * 100 + "\n" for number in range(1000))
    chat = model_chat(said(text), said("After."))
    chat.say("go")
    (document,) = chat.wait(lambda sent: [message for message in sent if message.kind == "document"], "a file")
    assert document.file[0] == "reply.txt" and document.file[2].decode().strip() == text.strip()
    assert len(chat.sent) <= 3
    chat.say("next")
    chat.wait(lambda sent: sent[-1].shown == "After.")


def test_text_that_is_hard_to_send(chat):
    """Blanks, marks that turn lines around, zeros, half characters: there is an answer, and the next."""
    for code in (
        "print('\\u200b')",
        "print('\\u202e\\u202d\\u2066')",
        "print('\\xa0\\u3164')",
        "print('a\\0b\\x1b[31m\\x07')",
        "import sys; sys.stdout.buffer.write(b'\\xff\\xfe\\xed\\xa0\\x80')",
        "print('&lt;b&gt; </pre> <a href=x> &#60; &')",
    ):
        assert INDICATOR.search(chat.ask_run(code).text), code
    assert output(chat.sent[-1]) == "&lt;b&gt; </pre> <a href=x> &#60; &"


def test_tables(science, chat):
    small = output(chat.ask_run("import pandas as pd\npd.DataFrame({'n': range(20)})"))
    assert small.startswith("|  | n |\n| --- | --- |\n| 0 | 0 |") and "| 19 | 19 |" in small
    large = output(chat.ask_run("pd.DataFrame({'n': range(100)})"))
    assert "| 9 | 9 |" in large and "| 90 | 90 |" in large and "| 50 | 50 |" not in large
    assert "80" in large and "100 rows x 1 columns" in large
    assert "shape (4,)" in output(chat.ask_run("import numpy as np\nnp.arange(4)"))


# ---- pictures ----


@pytest.mark.quick
def test_a_picture_is_a_photo_and_several_an_album(science, chat):
    chat.run(PLOT.format(1, "(2, 2)"))
    text, photo = sorted(chat.next(2), key=lambda message: message.kind != "text")
    assert INDICATOR.search(text.text) and photo.kind == "photo" and photo.album is None
    assert photo.file[2].startswith(b"\x89PNG") and photo.file[1] == "image/png"
    chat.run(PLOT.format(3, "(2, 2)"))
    album = [message for message in chat.next(4) if message.kind == "photo"]
    assert len(album) == 3 and len({message.album for message in album}) == 1 and album[0].album
    assert len({message.file[2] for message in album}) == 3, "each is another"


def test_what_is_no_photo_is_a_document(science, chat):
    chat.run(PLOT.format(1, "(60, 1)"))
    assert {message.kind for message in chat.next(2)} == {"text", "document"}


def test_an_album_that_is_refused_comes_as_documents(science, telegram, server, chat):
    server.refuse("sendMediaGroup", 400, "Bad Request: PHOTO_INVALID_DIMENSIONS")
    chat.run(PLOT.format(2, "(2, 2)"))
    assert sorted(message.kind for message in chat.next(3)) == ["document", "document", "text"]


# ---- plain text ----


@pytest.mark.quick
def test_plain_text_without_a_model(chat):
    answer = chat.ask("What is 6 times 7?")
    assert "adder model new" in answer.text and "[telegram] model" in answer.text and "code block" in answer.text


@pytest.mark.quick
def test_plain_text_with_a_model(model_chat):
    chat = model_chat(said("It is `42`, *surely* <not> & more.", contains="6 times 7"), said("Well.", contains="and now?"))
    answer = chat.ask("What is 6 times 7?")
    assert answer.shown == "It is 42, *surely* <not> & more." and answer.parts("code") == ["42"]
    assert chat.ask("and now?").shown == "Well."


def test_a_model_that_calls_tools_shows_its_steps(model_chat, server):
    chat = model_chat(
        cell("x = 41", contains="begin"),
        cell("print(x + 1)"),
        said("It is:\n```\n42\n```", contains="42"),
    )
    chat.say("begin")
    steps, answer = chat.next(2)
    assert answer.parts("pre") == ["42"] and answer.shown.endswith("🐍 [session active, 1 var]")
    chat.server.wait(lambda: steps.shown == "1. run_python ✓\n2. run_python ✓", "the steps")
    assert steps.was and all(len(text) < len(steps.text) for text in steps.was), "one message, edited"
    assert output(chat.ask_run("print(x)")) == "41", "one session for the model and code blocks"


def test_pictures_of_a_model(science, model_chat):
    chat = model_chat(cell(PLOT.format(2, "(2, 2)")), said("Done."))
    chat.say("plot")
    found = chat.wait(lambda sent: sent and sent[-1].shown.startswith("Done.") and sent)
    assert [message.kind for message in found] == ["text", "photo", "photo", "text"] and found[1].album == found[2].album


def test_each_chat_has_a_conversation_of_its_own_with_the_model(telegram, server):
    script = telegram.script(said("First.", contains="one"), said("Second.", contains="two"))
    one, two = server.private(), server.private()
    telegram.bot(server, [one, two], model=script)
    assert one.ask("one").shown == "First." and two.ask("one").shown == "First."
    assert one.ask("two").shown == "Second."


def test_a_model_that_fails_is_told(model_chat):
    chat = model_chat(said("First."))
    chat.ask("one")
    word = unique()
    assert "replay" in chat.ask(word).text
    assert INDICATOR.search(chat.ask_run("x = 1").text), "code blocks go on"


def test_what_was_said_is_forgotten(model_chat):
    chat = model_chat(cell("x = 1"), said("First."), said("Second."))
    chat.say("one")
    chat.wait(lambda sent: sent and sent[-1].shown.startswith("First."))
    chat.say("/forget")
    chat.wait(lambda sent: "forgotten" in sent[-1].text)
    chat.say("/python vars")
    chat.wait(lambda sent: sent[-1].shown == "x: int")


# ---- what is under way ----


@pytest.mark.quick
def test_stop_ends_what_runs(chat):
    chat.ask_run("x = 1")
    chat.run(FOREVER)
    chat.server.wait(lambda: chat.server.count("sendChatAction", chat.id) >= 2, "the second to be under way")
    chat.say("/stop")
    assert "Stopped." in chat.next()[0].text
    assert INDICATOR.search(chat.ask_run("y = 2").text)
    assert chat.ask("/stop").shown == "Nothing is running."


def test_stop_that_comes_at_once_with_what_it_stops(chat):
    """One answer of the server brings both."""
    messages = [chat.block(FOREVER), chat.message("/stop")]
    chat.server.push_all([("message", message) for message in messages])
    assert "Stopped." in chat.next()[0].text
    assert INDICATOR.search(chat.ask_run("y = 2").text)


def test_stop_after_the_end_stops_nothing(chat):
    """The answer is on its way already when it comes."""
    gate = chat.server.hold("sendMessage", times=1, chat=chat.id)
    chat.run("print(1)")
    gate.wait_for_one()
    chat.say("/stop")
    chat.server.wait_polling()
    gate.open()
    chat.wait(lambda sent: len(sent) == 2)
    assert INDICATOR.search(chat.sent[0].text) and chat.sent[1].shown == "Nothing is running."


def test_stop_ends_a_model_at_work(model_chat):
    chat = model_chat(cell(FOREVER), said("Never."), said("Again."))
    chat.say("go")
    chat.wait(lambda sent: sent and "run_python" in sent[0].text)
    chat.say("/stop")
    chat.wait(lambda sent: "Stopped." in sent[-1].text)
    assert not any("Never" in text for text in chat.texts)


def test_stop_of_another_bot_stops_nothing(telegram, server):
    chat = server.group()
    telegram.bot(server, [chat])
    chat.run(FOREVER)
    server.wait(lambda: server.count("sendChatAction", chat.id), "it to be under way")
    chat.say("/stop@another_bot")
    chat.say(f"/stop@{server.name.upper()}")  # a name has no case; ours is stopped
    said_ = chat.next()[0].text
    assert "Stopped." in said_
    chat.run("print('whole')")
    chat.say("/stop@another_bot")
    chat.run("print('after')")
    assert [output(message) for message in chat.next(2)] == ["whole", "after"]


def test_messages_of_a_chat_keep_their_order(chat):
    blocks = [chat.block(f"print({number})") for number in range(6)]
    chat.server.push_all([("message", block) for block in blocks])
    assert [output(message) for message in chat.next(6)] == [str(number) for number in range(6)]


def test_chats_are_side_by_side(telegram, server):
    """One that works for ever holds up nobody; its own next message waits, and is stopped with it."""
    busy, other, third = server.private(), server.private(), server.group()
    telegram.bot(server, [busy, other, third])
    server.push_all([("message", busy.block(FOREVER)), ("message", busy.block("print('later')"))])
    server.wait(lambda: server.count("sendChatAction", busy.id), "it to be under way")
    assert output(other.ask_run("print(1)")) == "1" and output(third.ask_run("print(2)")) == "2"
    assert busy.sent == []
    assert busy.ask("/stop").text == "Stopped."
    assert output(busy.ask_run("print('after')")) == "after" and not any("later" in message.text for message in busy.sent)


# ---- files ----


@pytest.mark.quick
def test_a_document_is_there_for_the_code(chat):
    word = unique()
    chat.document("numbers.csv", f"a,b\n1,{word}\n".encode())
    assert "numbers.csv" in chat.next()[0].text and "/tmp/numbers.csv" in chat.sent[-1].text
    answer = chat.ask_run("print(open('/tmp/numbers.csv').read())")
    assert output(answer).strip() == f"a,b\n1,{word}"


def test_a_document_with_a_caption_for_the_model(model_chat):
    chat = model_chat(
        cell("print(open('/tmp/n.txt').read())", contains=["/tmp/n.txt", "What is in it?"]), said("Well.", contains="seven")
    )
    chat.document("n.txt", b"seven", caption="What is in it?")
    chat.wait(lambda sent: sent and sent[-1].shown.startswith("Well."))


def test_a_caption_that_is_code(chat):
    code = "print(open('/tmp/n.txt').read())"
    entity = {"type": "pre", "offset": 0, "length": len(code)}
    chat.document("n.txt", b"seven", caption=code, caption_entities=[entity])
    assert output(chat.next(2)[1]) == "seven"


def test_a_photo_is_a_file(chat):
    sizes = [
        {"file_id": chat.server.keep(content), "file_unique_id": "u", "width": side, "height": side, "file_size": len(content)}
        for side, content in ((90, b"small"), (800, b"large one"))
    ]
    chat.say(None, photo=sizes)
    path = chat.next()[0].text.partition(" is at ")[2].split()[0]
    assert output(chat.ask_run(f"print(open('{path}').read())")) == "large one"


def test_limits_of_what_is_sent_here(chat, server):
    limit = telegram_api.FETCH_BYTES
    chat.document("large.bin", b"x", said=limit + 1)
    assert "20 MB" in chat.next()[0].text
    assert server.count("getFile") == 0, "it is told first"
    chat.document("whole.bin", b"\0" * limit)
    assert "/tmp/whole.bin" in chat.next()[0].text
    assert output(chat.ask_run("import os\nprint(os.path.getsize('/tmp/whole.bin'))")) == str(limit)
    liar = {"file_id": server.keep(b"x" * (limit + 1), said=10), "file_unique_id": "u", "file_name": "liar.bin"}
    chat.say(None, document=liar)
    assert "liar.bin could not be taken" in chat.next()[0].text
    chat.say(None, document={"file_id": "nobody's", "file_unique_id": "u", "file_name": "none.txt"})
    assert "none.txt could not be taken" in chat.next()[0].text
    chat.document("empty.txt", b"")
    assert "empty.txt" in chat.next()[0].text


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "..", ".", "a/../b", "", " ", "-rf", "x" * 300, "a\nb\x1b[31m", "\u202etxt.exe", "né 𝒳.csv"]
)
def test_names_of_files_that_mean_harm(chat, name):
    chat.document(name, b"content")
    answer = chat.next()[0].text
    if "could not be taken" not in answer:
        path = answer.partition(" is at ")[2].partition(" for the code")[0]
        assert path.startswith("/tmp/") and "/.." not in path, answer
    assert output(chat.ask_run("print(open('/etc/hostname').read() if False else 'well')")) == "well"


@pytest.mark.quick
def test_files_are_listed_and_sent(chat):
    assert "there are none" in chat.ask("/files").text
    chat.ask_run("open('made.csv', 'wb').write(b'a,b\\n1,2\\n')\nopen('other <b>.txt', 'w').write('x')")
    listed = chat.ask("/files")
    assert "made.csv" in listed.text and "other <b>.txt" in listed.text
    replied = {"message_id": listed.id, "chat": chat.shape(), "date": 1, "text": listed.text}
    document = chat.ask("made.csv", reply_to_message=replied)
    assert document.kind == "document" and document.file[0] == "made.csv" and document.file[2] == b"a,b\n1,2\n"
    assert chat.ask("/files other <b>.txt").file[2] == b"x"
    assert "/files lists" in chat.ask("none.csv", reply_to_message=replied).text


def test_files_of_another_chat_are_not_to_be_had(telegram, server):
    one, two = server.private(), server.private()
    telegram.bot(server, [one, two])
    name = f"{unique()}.txt"
    one.ask_run(f"open('{name}', 'w').write('of one')")
    assert name in one.ask("/files").text
    assert name not in two.ask("/files").text
    assert two.ask(f"/files {name}").kind == "text"


def test_a_file_over_what_a_bot_can_send(chat):
    chat.ask_run("open('large.bin', 'wb').truncate((50 << 20) + 1)")
    answer = chat.ask("/files large.bin")
    assert answer.kind == "text" and ("50 MB" in answer.text or "/files lists" in answer.text), answer


# ---- commands ----


@pytest.mark.quick
def test_help_and_tools(chat):
    for command in ("/help", "/start"):
        assert all(word in chat.ask(command).text for word in ("/python", "/tools", "/files", "/stop", "20 MB"))
    tools = chat.ask("/tools").text
    assert "run_python: " in tools and "python_new: " in tools
    assert "new, reset, end, vars, history and replay" in chat.ask("/python old").text
    assert "/help" in chat.ask("/hlep").text
    assert "run_python" in chat.ask(f"/tools@{chat.server.name}").text


def test_commands_for_another_bot_are_not_ours(telegram, server):
    chat = server.group()
    bot = telegram.bot(server, [chat])
    chat.say("/help@another_bot")
    chat.say("/nothing@another_bot")
    assert "run_python" in chat.ask("/tools").text
    bot.stop()
    assert len(chat.sent) == 1


def test_what_is_no_text(chat):
    chat.say(None, sticker={"file_id": "s", "file_unique_id": "u"})
    assert "/help" in chat.next()[0].text
