# SPDX-License-Identifier: Apache-2.0
"""What people see at a terminal: tables, figures, activity, lists, and that nothing of a sandbox drives it."""
import base64
import json
import os
import re
import struct
import zlib

import pytest

from harness import unique
from terminal import Terminal, read_all

NO_PICTURES = dict.fromkeys(("TMUX", "STY", "KITTY_WINDOW_ID", "TERM_PROGRAM", "LC_TERMINAL"), "")
FRAME = """
import pandas as pd
frame = pd.DataFrame({"name": ["a", "b|c"], "n": [1, 22], "long": ["x" * 90, "y"]})
"""


def seen(adder, *arguments, env=None, columns=80, **others):
    """What a terminal gets, and the exit code."""
    return read_all(Terminal(adder, *arguments, columns=columns, env={**NO_PICTURES, **(env or {})}, **others))


def run(adder, code, **options):
    return seen(adder, "run", "-c", code, **options)


def plain(text):
    """TEXT as it stands in the end: what was erased is gone."""
    return re.sub(r"[^\n]*\r\x1b\[K|\x1b\[[0-9;]*m|\r", "", text)


def png(width, height=1):
    """A PNG of WIDTH pixels on a side, the smallest that there is."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((width + 7) // 8 + 1) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def shows(content):
    """Code that displays CONTENT as a PNG."""
    return f"display({{'image/png': {base64.b64encode(content).decode()!r}, 'text/plain': 'a figure'}}, raw=True)"


# ---- tables ----


def test_tables_are_aligned_and_cut_to_the_width(science):
    text, code = run(science, FRAME + "display(frame)\nframe", columns=40)
    lines = [line for line in plain(text).splitlines() if line]
    assert code == 0 and lines[:4] == lines[4:]  # display() and the value
    assert lines[0] == "   name   n  long"
    assert lines[1].startswith("0  a      1  xxxx") and lines[1].endswith("…") and len(lines[1]) == 40
    assert lines[2] == "1  b|c   22  y"
    assert lines[3] == "[2 rows x 3 columns]"


def test_columns_that_have_no_room_are_left_out(science):
    text, _ = run(science, FRAME + "pd.DataFrame({f'column{i}': [i] for i in range(30)})", columns=40)
    lines = plain(text).splitlines()
    assert lines[0].endswith("…") and lines[1].endswith("…") and max(map(len, lines[:2])) <= 40


def test_a_series_is_a_table_too(science):
    text, _ = run(science, FRAME + "frame.n")
    assert plain(text).splitlines()[:3] == ["    n", "0   1", "1  22"]


def test_wide_characters_keep_columns_aligned(science):
    text, _ = run(science, "import pandas as pd\npd.DataFrame({'w': ['日本', 'ab'], 'n': [1, 2]})")
    assert plain(text).splitlines()[1:3] == ["0  日本  1", "1  ab    2"]


def test_through_a_pipe_they_are_markdown(science):
    assert science.call("run", "-c", FRAME + "frame").stdout.startswith("|  | name | n | long |\n| --- |")


def test_markdown_that_is_no_table_stays(adder):
    text, _ = run(adder, "display({'text/markdown': '# Title\\n| no | table'}, raw=True)")
    assert plain(text) == "# Title\n| no | table\n"


# ---- figures ----


@pytest.mark.parametrize(
    "env, head",
    [
        ({"KITTY_WINDOW_ID": "1"}, "\x1b_Ga=T,f=100,q=2,m=0;"),
        ({"TERM_PROGRAM": "iTerm.app"}, "\x1b]1337;File=inline=1;size="),
        ({"TERM": "xterm-kitty"}, "\x1b_Ga=T,f=100,q=2,m=0;"),
    ],
)
def test_figures_are_shown_where_the_terminal_can(adder, env, head):
    picture = png(2)
    text, code = run(adder, shows(picture), env=env, cwd=adder.folder(unique()))
    assert code == 0 and head in text
    assert base64.b64encode(picture).decode() in text and "picture" not in text


def test_kitty_gets_pieces_and_the_width(adder):
    picture = png(2000, 2000)
    picture = picture[:-12] + struct.pack(">I", 9000) + b"teXt" + os.urandom(9000) + bytes(4) + picture[-12:]
    text, _ = run(adder, shows(picture), env={"KITTY_WINDOW_ID": "1"})
    pieces = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", text)
    assert pieces[0][0] == "a=T,f=100,q=2,c=80,m=1" and [head for head, _ in pieces[1:]] == ["m=1", "m=1", "m=0"]
    assert base64.b64decode("".join(data for _, data in pieces)) == picture


@pytest.mark.parametrize(
    "content",
    [b"no picture", png(2) + b"\x1b]0;x\x07", png(2)[:-12], png(9000)],
    ids=["text", "tail", "cut", "large"],
)
def test_what_is_no_bounded_png_never_reaches_the_terminal(adder, content):
    folder = adder.folder(unique())
    text, code = run(adder, shows(content), env={"KITTY_WINDOW_ID": "1"}, cwd=folder)
    assert code == 0 and "\x1b_G" not in text and "picture saved: picture-1.png" in text
    assert (folder / "picture-1.png").read_bytes() == content


@pytest.mark.parametrize("env", [{}, {"KITTY_WINDOW_ID": "1", "TMUX": "x"}])
def test_elsewhere_they_are_saved_under_a_free_name(adder, env):
    folder = adder.folder(unique())
    (folder / "picture-1.png").write_bytes(b"mine")
    text, code = run(adder, shows(png(2)), env=env, cwd=folder)
    assert code == 0 and plain(text).splitlines()[0] == "a figure"
    assert "adder: picture saved: picture-2.png, " in text
    assert (folder / "picture-1.png").read_bytes() == b"mine" and (folder / "picture-2.png").read_bytes() == png(2)


def test_through_a_pipe_nothing_is_saved(adder):
    folder = adder.folder(unique())
    ended = adder.call("run", "-c", shows(png(2)), cwd=folder)
    assert ended.stdout == "a figure\n" and not list(folder.iterdir())


# ---- activity ----


def test_a_long_run_shows_activity_and_erases_it(adder):
    text, code = run(adder, "import time\ntime.sleep(2.5)\nprint('done')")
    assert code == 0 and re.search(r"running \(Ctrl-C ends it\), \d s\x1b\[0m", text)
    assert re.search(r"\r\x1b\[K(done)\r\n$", text)


def test_a_line_that_is_not_ended_is_not_written_over(adder):
    text, _ = run(adder, "import time\nprint('half', end='', flush=True)\ntime.sleep(2.5)\nprint('whole')")
    assert "halfwhole" in text and "half\r" not in text


@pytest.mark.parametrize("how", ["pipe", "dumb", "json"])
def test_no_activity_where_it_could_not_be_erased(adder, how):
    code = "import time\ntime.sleep(2)"
    if how == "pipe":
        assert adder.call("run", "-c", code).stderr == ""
    elif how == "dumb":
        assert run(adder, code, env={"TERM": "dumb"})[0] == ""
    else:
        assert "running" not in seen(adder, "run", "--json", "-c", code)[0]


# ---- what the sandbox sends ----


@pytest.mark.quick
def test_output_cannot_drive_the_terminal(adder):
    code = "import sys\nfor stream in sys.stdout, sys.stderr:\n    print(chr(27) + ']0;title' + chr(7), file=stream)\nraise ValueError(chr(27) + '[2J')"
    text, _ = run(adder, code)
    assert text.count("<U+001B>]0;title<U+0007>") == 2
    assert "\x1b]" not in text and "\x1b[2J" not in text and "ValueError" in text


@pytest.mark.parametrize("command", [("output",), ("peek",), ("peek", "--grep", "title")], ids=" ".join)
def test_kept_output_cannot_either(adder, command):
    result = adder.run("print(chr(27) + ']0;title' + chr(7) + 'x' * 200000)")
    text, code = seen(adder, "history", command[0], result.run_id, *command[1:])
    assert code == 0 and "<U+001B>]0;title<U+0007>x" in text and "\x1b]" not in text
    assert "\x1b]0;title\x07x" in adder.call("history", command[0], result.run_id, *command[1:]).stdout


def test_it_may_draw_its_own_line_again(adder):
    text, _ = run(adder, "print('10%', end='\\r')\nprint('20%')")
    assert text.endswith("10%\r20%\r\n")


def test_cells_of_tables_cannot_drive_the_terminal(science):
    text, _ = run(science, "import pandas as pd\npd.DataFrame({chr(27) + '[31m': [chr(27) + ']0;x' + chr(7)]})")
    assert "\x1b]" not in text and "\x1b[31m" not in text


def test_through_a_pipe_output_is_as_it_is(adder):
    assert adder.call("run", "-c", "print(chr(27) + '[31mred')").stdout == "\x1b[31mred\n"


# ---- help ----


@pytest.mark.parametrize("command", [["run", "--help"], ["session", "--help"], ["help", "--all"]])
@pytest.mark.parametrize("columns", [60, 80, 300])
def test_help_is_wrapped_and_its_texts_stay_aligned(adder, command, columns):
    """Through a pipe each option is a line, whose words are the same."""
    text, code = seen(adder, *command, columns=columns)
    piped = adder.call(*command).stdout
    assert code == 0 and plain(text).split() == piped.split()
    told = plain(text).split("\nExamples:")[0].split("\n\n", 1)[1]
    assert max(map(len, told.splitlines())) <= min(columns, 100)
    indents = {len(re.match(" *", line)[0]) for line in told.splitlines()}
    assert indents <= {0, 2, 30 if "run" in command else 13}


def test_what_doctor_found_is_wrapped_too(adder):
    """But not how to get what is lacking, which is copied, nor a path."""
    text, _ = seen(adder, "doctor", columns=64)
    rows = [line for line in plain(text).split("\n\n")[1].splitlines() if not re.search("to get it|to change it|/", line)]
    assert max(map(len, rows)) <= 64 and any(re.match(r" {21}\S", row) for row in rows)


# ---- lists ----


@pytest.mark.quick
@pytest.mark.parametrize("columns, shown", [(80, 13), (200, 36)])
def test_a_narrow_terminal_shows_the_beginning_of_ids(own_adder, columns, shown):
    """So that the code has room; commands take the beginning."""
    whole = own_adder.run("print('the code is seen')").run_id
    listed, _ = seen(own_adder, "history", "list", columns=columns)
    assert f" {whole[:shown]} " in plain(listed) and "print('the code" in plain(listed)
    assert own_adder.call("history", "show", whole[:shown]).returncode == 0
    assert f" {whole} " in own_adder.call("history", "list").stdout


def test_a_narrow_terminal_shows_the_names_of_files(own_adder):
    kept = own_adder.call("file", "put", own_adder.file("sales.csv", "a,b\n")).stdout.split()[0]
    listed, _ = seen(own_adder, "file", "list", columns=80)
    assert f"{kept}  sales.csv  4 bytes" in plain(listed)


def test_lists_skip_comments_of_the_code(own_adder):
    own_adder.call("run", "-c", "# SPDX-License-Identifier: MIT\n# why\n\nx = 7")
    assert own_adder.call("history", "list").stdout.splitlines()[1].endswith("  x = 7")


@pytest.mark.parametrize(
    "what, command, makes",
    [
        ("sessions", "session", "adder session new"),
        ("files", "file", "adder file put FILE"),
        ("data sets", "data", "adder data import FILE --name NAME"),
        ("records", "history", None),
        ("approvals", "approval", None),
        ("models", "model", "adder model new NAME --provider PROVIDER --model MODEL"),
        ("tokens", "token", "adder token new NAME"),
    ],
)
def test_empty_lists_say_so_in_one_wording(own_adder, what, command, makes):
    ended = own_adder.call(command, "list")
    said = f"No {what}." + (f" Make one: {makes}" if makes else "") + "\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", said)


def test_the_columns_of_tools_are_aligned(adder):
    rows = adder.call("tool", "list").stdout.splitlines()
    assert {re.search(" (guest|user|admin) ", row).start() for row in rows if not row.startswith(" ")} == {39}


@pytest.mark.parametrize("command", ["env", "profile"])
def test_lists_have_heads(adder, command):
    assert adder.call(command, "list").stdout.startswith("NAME  ")


def test_times_are_for_people(own_adder):
    assert own_adder.call("model", "new", "m", "--provider", "ollama", "--model", "x").returncode == 0
    shown = own_adder.call("model", "show", "m").stdout
    assert re.search(r"^timeout +5 min$", shown, re.MULTILINE) and re.search(r"^answer +8 MiB$", shown, re.MULTILINE)
    assert isinstance(json.loads(own_adder.call("model", "show", "m", "--json").stdout)["timeout_ms"], int)
