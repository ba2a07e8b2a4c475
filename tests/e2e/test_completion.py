# SPDX-License-Identifier: Apache-2.0
"""Completion in the shells that people use, typed into each at a terminal of its own, and what is behind it."""
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import time

import pytest

import harness

# What is typed before the tab, and the line after it.
TYPED = [
    ("adder sess", "adder session"),
    ("adder session checkp", "adder session checkpoint"),
    ("adder run --iso", "adder run --isolation"),
    ("adder run --isolation names", "adder run --isolation namespaces"),
    ("adder run --isolation=names", "adder run --isolation=namespaces"),
    ("adder run -p stand", "adder run -p standard"),
    ("adder run --limit wal", "adder run --limit wall_ms="),
    ("adder history list --outcome mem", "adder history list --outcome memory_limit"),
    ("adder env image bu", "adder env image build"),
    ("adder tool call adder.run_p", "adder tool call adder.run_python"),
    ("adder mcp inst", "adder mcp install"),
    ("adder mcp install --client vs", "adder mcp install --client vscode"),
    ("adder --url http://127.0.0.1:9 run --work", "adder --url http://127.0.0.1:9 run --workdir"),
    ("adder run data/sal", "adder run data/sales.py"),
    ("adder run --workdir da", "adder run --workdir data/"),
]

# The key that shows the line and empties it.
SHOW = b"\x18s"
SHELLS = {
    "bash": (
        ["--norc", "--noprofile", "-i"],
        """PS1=; source {share}/bash-completion/completions/adder; bind 'set bell-style none'
        shown() {{ printf 'LINE:%s:END\\n' "$READLINE_LINE"; READLINE_LINE=; }}; bind -x '"\\C-xs": shown'""",
    ),
    "zsh": (
        ["-f", "-i"],
        """PS1=; fpath=({share}/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D
        shown() {{ print -r -- "LINE:$BUFFER:END"; BUFFER=; }}; zle -N shown; bindkey '^Xs' shown
        bindkey '^I' complete-word""",
    ),
}


def complete(adder, *words):
    ended = adder.call("complete", *words)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.split()


@pytest.mark.quick
def test_every_command_offers_its_own(adder):
    for command in complete(adder, ""):
        if not command.startswith("-"):
            assert "--help" in complete(adder, command, "--") or complete(adder, command, "")
    assert not {"record", "status", "tools", "guard"} & set(complete(adder, "")), "former names are not offered"


@pytest.mark.quick
def test_names(adder):
    assert adder.call("session", "new", "--name", "alpha").returncode == 0
    assert "alpha" in complete(adder, "session", "show", "")
    assert "alpha" in complete(adder, "run", "-s", "")


@pytest.mark.quick
@pytest.mark.parametrize(
    "words",
    [[], ["nonsense", ""], ["run", "--nonsense", ""], ["serve", "stop", ""], ["--help", ""], ["help", ""], ["session", "help", ""],
     ["run", "--", ""], ["env", "no", ""], ["env", "list", ""], ["token", "list", ""], ["search", "--providers", ""]],
    ids=" ".join,
)
def test_whatever_is_typed(adder, words):
    """Only words are offered, standard error stays empty, and no daemon is started for it."""
    before = adder.daemon()
    ended = adder.call("complete", *words)
    assert (ended.returncode, ended.stderr) == (0, "") and all(" " not in line for line in ended.stdout.splitlines())
    assert adder.daemon() == before
    if words[1:] == ["list", ""] or words == ["session", "help", ""]:
        assert ended.stdout == ""


@pytest.mark.parametrize(
    "words, offered",
    [
        (["--url", "http://127.0.0.1:9", "run", "--iso"], "--isolation"),
        (["--url=http://127.0.0.1:9", "run", "--iso"], "--isolation"),
        (["--url", "''", "run", "-p", ""], "standard"),
        (["run", "--url", '""', "-p", ""], "standard"),
        (["run", "s.py", "--", "--iso"], ":files"),
        (["env", "image", "build", "--ba"], "--base"),
        (["history", "export", "--format", ""], "jsonl"),
        (["history", "table", "--format", ""], "parquet"),
    ],
)
def test_where_a_daemon_is_named(adder, words, offered):
    assert offered in complete(adder, *words)


def test_nobody_waits_for_a_daemon_that_says_nothing(adder):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        variables = {**adder.process_environment(), "ADDER_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        ended = adder.call("complete", "run", "-p", "st", env=variables)
        assert ended.returncode == -signal.SIGALRM and ended.stdout == ""


class Terminal:
    """A shell that believes a person sits before it."""

    def __init__(self, adder, name, before="/usr/bin"):
        path = shutil.which(name)
        if not path:
            pytest.skip(f"{name} is not installed")
        arguments, setup = SHELLS[name]
        prefix = adder.installation.prefix
        variables = {**adder.process_environment(), "TERM": "dumb"}
        variables["PATH"] = f"{before}:{prefix}/bin:{variables['PATH']}"
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [*adder.user.prefix, "setsid", "--ctty", "--wait", path, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=adder.scratch,
            env=variables,
        )
        os.close(slave)
        self.type(setup.format(share=prefix / "share").encode() + b"\necho RE''ADY\n")
        self.wait_for(rb"READY")

    def type(self, keys):
        os.write(self.master, keys)

    def wait_for(self, pattern):
        text, end = b"", time.monotonic() + harness.DEADLINE
        while not re.search(pattern, text, re.DOTALL):
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            assert ready, f"no {pattern} in {text}"
            text += os.read(self.master, 4096)
        return re.search(pattern, text, re.DOTALL)

    def close(self):
        os.close(self.master)  # the shell's terminal hangs up
        self.process.wait(harness.DEADLINE)


@pytest.mark.parametrize("name", SHELLS)
def test_what_is_offered_is_text(adder, name):
    """Whatever a daemon elsewhere calls its things; and the program of the current directory is not run for a tab."""
    hostile = "x;touch${IFS}harmed;#"
    adder.file(f"{name}/adder", f"""#!/bin/sh
if [ "$1" = complete ]; then echo '{hostile}'; else printf '%s' "$3" >"{adder.scratch}/{name}/given"; fi
""").chmod(0o755)
    adder.file("adder", "#!/bin/sh\ntouch harmed\n").chmod(0o755)
    terminal = Terminal(adder, name, before=adder.scratch / name)
    try:
        terminal.type(b"./adder session show x\t" + SHOW)
        terminal.wait_for(rb"LINE:.*?:END")
        terminal.type(b"adder session show x\t\n")
        given = adder.scratch / name / "given"
        harness.wait_until(lambda: given.exists() and given.read_text() == hostile, "the word to arrive as it is")
        assert not (adder.scratch / "harmed").exists()
    finally:
        terminal.close()


@pytest.mark.parametrize("name", SHELLS)
def test_typed(adder, name):
    adder.file("data/sales.py", "1")
    terminal = Terminal(adder, name)
    try:
        for typed, completed in TYPED:
            terminal.type(typed.encode() + b"\t" + SHOW)
            line = terminal.wait_for(rb"LINE:(.*?):END")[1].decode()
            assert line.rstrip() == completed, typed
    finally:
        terminal.close()


def test_fish(adder):
    path = shutil.which("fish")
    if not path:
        pytest.skip("fish is not installed")
    adder.file("data/sales.py", "1")
    prefix = adder.installation.prefix
    variables = {**adder.process_environment(), "PATH": f"{prefix}/bin:/usr/bin:/bin"}
    script = f"source {prefix}/share/fish/vendor_completions.d/adder.fish; for line in $argv; complete -C $line; echo ENDS; end"
    ended = subprocess.run(
        [*adder.user.prefix, path, "--no-config", "-c", script, *(typed for typed, _ in TYPED)],
        cwd=adder.scratch,
        env=variables,
        capture_output=True,
        text=True,
        timeout=2 * harness.DEADLINE,
    )
    assert ended.returncode == 0, ended.stderr
    for (typed, completed), offered in zip(TYPED, ended.stdout.split("ENDS\n")[:-1], strict=True):
        words = [line.split("\t")[0] for line in offered.split("\n")]
        assert completed.split(" ")[-1] in words, typed
