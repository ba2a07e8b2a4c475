# SPDX-License-Identifier: Apache-2.0
"""The check of prose: that docs/prose/vocabulary.yml is heeded in pages, and that messages are found where C has them. The rules'
own examples are tried whenever they are read."""
import os
import re
import subprocess
import sys

from harness import REPOSITORY, build_directory

PACKAGES = REPOSITORY / "build/prose-packages"
PAGE = """# Whoever

A file that can be had, `whoever`, [such that](whoever.md).

    whoever runs this
"""


def found_in(*paths):
    command = [REPOSITORY / "build/node/bin/node", PACKAGES / "node_modules/textlint/bin/textlint.js"]
    command += ["--config", REPOSITORY / "docs/prose/textlintrc.json", "--format", "unix", *paths]
    ended = subprocess.run(command, cwd=PACKAGES, capture_output=True, text=True)
    found = re.findall(r"([^/]*):(\d+):(\d+): (.*) => ", ended.stdout)
    assert ended.returncode == (1 if found else 0), ended.stderr
    return [(name, int(line), text) for name, line, _, text in found]


def test_words_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert found_in(page) == [("page.md", 1, "Whoever"), ("page.md", 3, "be had"), ("page.md", 3, "such that")]
    page.write_text("# A page\n\nA file that is available.\n")
    assert found_in(page) == []


def test_messages_and_help(tmp_path):
    """A sentence that goes on in the next line is one, comments are none, and short strings are names."""
    source = tmp_path / "src/part/file.c"
    source.parent.mkdir(parents=True)
    source.write_text('/* "as ever it is so" */\nconst char *text =\n  "It is shown as "\n  "ever, or not.";\nconst char *name = "as ever";\n')
    directory = tmp_path / "prose"
    subprocess.run([sys.executable, "-I", REPOSITORY / "docs/prose/gather.py", build_directory() / "adder", directory], cwd=tmp_path, check=True)
    assert (directory / "src/part/file.c.txt").read_text() == "\n\nIt is shown as ever, or not.\n"
    assert found_in(directory / "src") == [("file.c.txt", 3, "as ever")]
    helped = {name.removesuffix(".txt") for name in os.listdir(directory / "help")}
    assert {"adder", "run", "session-new", "session-checkpoint", "token-new"} <= helped
    assert "--file" in (directory / "help/run.txt").read_text()
